//! Mesh files: round trips, odd files of every rule, damaged files, other people's files.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use taffeta::math::{DVec3, random::Random};
use taffeta::scene::Mesh;
use taffeta_io::mesh::*;

/// Counts the memory that the current thread holds, so that the bounds of the readers can be tested.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    HELD.set(HELD.get() + change);
    PEAK.set(PEAK.get().max(HELD.get()));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `read` and asserts that it holds to the bounds for untrusted files: 64 bytes a byte, 1 s a megabyte.
fn bounded<T>(size: usize, what: &str, read: impl FnOnce() -> T) -> T {
    let (start, held) = (Instant::now(), HELD.get());
    PEAK.set(held);
    let result = read();
    let (peak, megabytes) = (PEAK.get() - held, size as f64 / 1e6);
    assert!(peak <= 64 * size as isize + (1 << 20), "{what}: {peak} bytes of memory for {size} bytes");
    assert!(start.elapsed() < Duration::from_secs_f64(1.0 + megabytes), "{what}: took {:?}", start.elapsed());
    result
}

type Reader = fn(&[u8]) -> Result<MeshFile, MeshFaults>;

/// Asserts that the indices of a file that was read are those of its points.
fn assert_sound(file: &MeshFile, what: &str) {
    let mesh = &file.mesh;
    let indices = mesh
        .triangles
        .as_flattened()
        .iter()
        .chain(mesh.quads.as_flattened())
        .chain(file.lines.as_flattened());
    assert!(indices.copied().all(|i| (i as usize) < mesh.positions.len()), "{what}: index out of range");
    assert!(mesh.positions.iter().all(|p| p.is_finite()), "{what}: not finite");
    assert!(mesh.material.is_empty() || mesh.material.len() == mesh.positions.len(), "{what}: material");
    assert!(mesh.material.iter().flatten().all(|c| c.is_finite()), "{what}: material not finite");
}

fn obj(text: &str) -> MeshFile {
    read_obj(text.as_bytes()).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// The first fault of a text, as line, value and reason.
fn fault(read: Reader, bytes: &[u8]) -> MeshFault {
    let faults = read(bytes).expect_err(&String::from_utf8_lossy(bytes));
    assert!(
        faults.count >= faults.first.len()
            && !faults.first[0].reason.is_empty()
            && !faults.first[0].remedy.is_empty()
    );
    faults.first[0].clone()
}

/// Numbers that are hard to print: of every size, with and without sign.
fn hard_mesh(material: bool) -> Mesh {
    let mut random = Random::new(7);
    let mut number = || match random.below(8) {
        0 => -0.0,
        1 => f64::MIN_POSITIVE / 8.0,
        2 => f64::MAX,
        3 => 0.1,
        _ => f64::from_bits(random.bits() & !(1 << 62) | 1 << 61),
    };
    let positions: Vec<DVec3> = (0..500).map(|_| DVec3::new(number(), number(), number())).collect();
    let material = if material { (0..500).map(|_| [number(), number()]).collect() } else { Vec::new() };
    let triangles = (0..166).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let quads = (0..125).map(|k| [4 * k, 4 * k + 3, 4 * k + 2, 4 * k + 1]).collect();
    Mesh { positions, triangles, quads, material }
}

fn bits(mesh: &Mesh) -> Vec<u64> {
    let points = mesh.positions.iter().flat_map(|p| p.to_array());
    points.chain(mesh.material.iter().flatten().copied()).map(f64::to_bits).collect()
}

#[test]
fn obj_and_ply_keep_every_bit() {
    for mesh in [hard_mesh(false), hard_mesh(true)] {
        let mut files: Vec<(Reader, Vec<u8>)> = vec![(read_obj, Vec::new())];
        write_obj(&mesh, &mut files[0].1).unwrap();
        for encoding in [PlyEncoding::Ascii, PlyEncoding::LittleEndian, PlyEncoding::BigEndian] {
            let mut bytes = Vec::new();
            write_ply(&mesh, encoding, &mut bytes).unwrap();
            files.push((read_ply, bytes));
        }
        for (read, bytes) in files {
            let back = read(&bytes).unwrap();
            assert_eq!((&back.mesh.triangles, &back.mesh.quads), (&mesh.triangles, &mesh.quads));
            assert_eq!(bits(&back.mesh), bits(&mesh));
            assert_eq!(back.notes, Vec::<String>::new());
        }
    }
}

#[test]
fn stl_keeps_the_corners_of_triangles() {
    let mut mesh = hard_mesh(false);
    let corners = |mesh: &Mesh| -> Vec<DVec3> {
        let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [a, b, c, a, c, d]);
        mesh.triangles
            .as_flattened()
            .iter()
            .copied()
            .chain(halves)
            .map(|i| mesh.positions[i as usize])
            .collect()
    };
    let mut bytes = Vec::new();
    write_stl(&mesh, StlEncoding::Ascii, &mut bytes).unwrap();
    assert_eq!(corners(&read_stl(&bytes).unwrap().mesh), corners(&mesh));

    assert!(write_stl(&mesh, StlEncoding::Binary, &mut Vec::new()).is_err(), "f64::MAX is no f32");
    mesh.positions
        .iter_mut()
        .for_each(|p| *p = p.clamp(DVec3::splat(-9.0), DVec3::splat(9.0)).as_vec3().as_dvec3());
    let mut bytes = Vec::new();
    write_stl(&mesh, StlEncoding::Binary, &mut bytes).unwrap();
    let back = read_stl(&bytes).unwrap().mesh;
    assert_eq!(corners(&back), corners(&mesh));
    // The slow way to join: compare every corner with all points so far.
    let mut joined: Vec<DVec3> = Vec::new();
    for corner in corners(&mesh) {
        if !joined.contains(&corner) {
            joined.push(corner);
        }
    }
    assert_eq!(back.positions, joined);
}

#[test]
fn writers_refuse_what_no_reader_takes() {
    let good = Mesh { positions: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() };
    let nan = Mesh { positions: vec![DVec3::NAN; 3], ..good.clone() };
    let index = Mesh { triangles: vec![[0, 1, 3]], ..good.clone() };
    let short = Mesh { material: vec![[0.0; 2]], ..good.clone() };
    let flat = Mesh { material: vec![[f64::INFINITY; 2]; 3], ..good.clone() };
    assert!(write_obj(&good, &mut Vec::new()).is_ok());
    for bad in [nan, index, short, flat] {
        assert!(write_obj(&bad, &mut Vec::new()).is_err());
        assert!(write_ply(&bad, PlyEncoding::Ascii, &mut Vec::new()).is_err());
        assert!(write_stl(&bad, StlEncoding::Ascii, &mut Vec::new()).is_err());
    }
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";

#[test]
fn obj_takes_all_forms_of_faces_and_lines() {
    let uv = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let forms = [
        ("1 2 3 4", false),
        ("1/1 2/2 3/3 4/4", true),
        ("1//1 2//1 3//1 4//1", false),
        ("1/1/1 2/2/1 3/3/1 4/4/1", true),
        ("1/1/ 2/2/ 3/3/ 4/4/", true),
        ("-4 -3 -2 -1", false),
        ("-4/-4 -3/-3 -2/-2 -1/-1", true),
    ];
    for (face, has_uv) in forms {
        let file = obj(&format!("{SQUARE}f {face}"));
        assert_eq!(file.mesh.quads, [[0, 1, 2, 3]], "{face}");
        assert_eq!(file.mesh.material, if has_uv { uv.clone() } else { vec![] }, "{face}");
        assert_eq!(file.notes.len(), usize::from(!has_uv), "{face}");
    }
    let file = obj(&format!("{SQUARE}l 1 2 -1\nl 3/1 4/2\nl 1\np 1 2"));
    assert_eq!(file.lines, [[0, 1], [1, 3], [2, 3]]);
    assert!(file.notes.iter().any(|n| n.contains("no faces")));
    let file = obj("f 1/1 2/2 3/3\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 1\nvt 2 3\nvt 4 5 6");
    assert_eq!(file.mesh.triangles, [[0, 1, 2]], "faces may come first");
    assert_eq!(file.mesh.material, [[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]]);
}

#[test]
fn obj_takes_lines_of_any_style() {
    let plain = obj("v 1 2 3\nv 4 5 6\nv 7 8 9\nf 1 2 3\n").mesh;
    let odd = [
        "v 1 2 3\r\nv 4 5 6\r\nv 7 8 9\r\nf 1 2 3",
        "v 1 2 3\rv 4 5 6\rv 7 8 9\rf 1 2 3\r",
        "\u{feff}# a comment \\\n\t v\t1 2\t3 # another\n\n\nv 4 5 6 \nv 7 8 9\nf 1 2 3",
        "v 1 \\\n2 3\nv 4 5\\\r\n 6\nv 7 8 9\nf 1 2\\\n\\\n 3\n",
        "v 1 2 3 1\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 0.1 0.2 0.3 1.0\nf 1 2 3",
        "v 1.0e0 +2. 3E0\nv 400e-2 .5e+1 6\nv 7 8 9\nf 1 2 3",
        "mtllib C:\\dir\\\nv 1 2 3\ng a\\\nv 4 5 6\no # b\nv 7 8 9\ns off\nusemtl x\nvn 1 2 \\\n 3\nvp 1\nf 1 2 3",
    ];
    for text in odd {
        assert_eq!(obj(text), MeshFile { mesh: plain.clone(), ..MeshFile::default() }, "{text}");
    }
    let mut latin = b"# caf\xE9 \xFF\xFE\n".to_vec();
    latin.extend(b"g caf\xE9\nv 1 2 3\nv 4 5 6\nv 7 8 9\nf 1 2 3");
    assert_eq!(read_obj(&latin).unwrap().mesh, plain);
}

#[test]
fn obj_notes_name_what_was_skipped_or_lost() {
    let note = |text: &str, words: &[&str]| {
        let file = obj(text);
        let found = file.notes.iter().any(|n| words.iter().all(|w| n.contains(w)));
        assert!(found, "{words:?} not in {:?}", file.notes);
        file.mesh
    };
    note(&format!("{SQUARE}vu 1 2\nvv 1\nvv 2\nt 1\nf 1 2 3"), &["vu (1)", "vv (2)", "t (1)"]);
    let many: String = (0..100).map(|k| format!("key{k} 1\n")).collect();
    note(&format!("{SQUARE}{many}"), &["key0 (1)", "key7 (1)", "others (92)"]);
    let seam = format!("{SQUARE}f 1/1 2/2 3/3\nf 1/2 3/3 4/4");
    assert_eq!(note(&seam, &["1 points", "seams"]).material.len(), 0);
    assert_eq!(note(&seam, &["1 points", "seams"]).positions.len(), 4);
    assert_eq!(note(&format!("{SQUARE}f 1/1 2/2 3/3\nf 1 3 4"), &["1 corners"]).material.len(), 0);
    let twin = obj(&format!("{SQUARE}vt 0 0\nf 1/1 2/2 3/3\nf 1/5 3/3 4/4"));
    assert_eq!((twin.mesh.material.len(), twin.notes.len()), (4, 0), "equal coordinates are no seam");
    let spare = obj(&format!("{SQUARE}v 9 9 9\nf 1/1 2/2 3/3 4/4"));
    assert_eq!((spare.mesh.positions.len(), spare.mesh.material[4]), (5, [0.0, 0.0]), "unused points stay");
    let mesh = note("v 3.1+e2 3.1-e2 -3.1-E2", &["3 numbers"]);
    assert_eq!(mesh.positions, [DVec3::new(310.0, 0.031, -0.031)]);
}

#[test]
fn obj_faults_have_line_value_reason() {
    let cases: &[(&str, usize, &str, &str)] = &[
        ("v 1 2\n", 1, "end of line", "missing"),
        ("v 1 2 x\n", 1, "x", "not a number"),
        ("v 1 2 1,5\n", 1, "1,5", "not a number"),
        ("v 1 2 nan\n", 1, "nan", "not finite"),
        ("v 1 2 -inf\n", 1, "-inf", "not finite"),
        ("v 1 2 1e999\n", 1, "1e999", "not finite"),
        ("v 1 2 3 0.5\n", 1, "0.5", "weight"),
        ("v 1 2 3 1 1\n", 1, "5 numbers", "unclear"),
        ("v 1 2 3 1 1 1 1 1\n", 1, "8 numbers", "unclear"),
        ("v 1 2 3\nvt nan 0\n", 2, "nan", "not finite"),
        ("v 1 2 3\nvt\n", 2, "end of line", "missing"),
        ("v 1 2 3\n\nf 1 1 2\n", 3, "2", "out of range of the 1 points"),
        ("v 1 2 3\nf 1 1 0\n", 2, "0", "out of range"),
        ("v 1 2 3\nf 1 1 \\\n -2\n", 3, "-2", "out of range"),
        ("v 1 2 3\nf 1 1 4294967297\n", 2, "4294967297", "out of range"),
        ("v 1 2 3\nf 1 1 99999999999999999999\n", 2, "99999999999999999999", "not an integer"),
        ("v 1 2 3\nf 1 1 -9223372036854775808\n", 2, "-9223372036854775808", "out of range"),
        ("v 1 2 3\nf 1/1 1/1 1/1\n", 2, "1", "0 texture"),
        ("v 1 2 3\nf 1 1 1.5\n", 2, "1.5", "not an integer"),
        ("v 1 2 3\nf 1 1 /1\n", 2, "/1", "not an integer"),
        ("v 1 2 3\nf 1 1 1/1/1/1\n", 2, "1/1/1/1", "out of range|more than three"),
        ("v 1 2 3\nf 1 1\n", 2, "2 corners", "three corners"),
        ("v 1 2 3\nf\n", 2, "0 corners", "three corners"),
        ("v 1 2 3\nl 1 2\n", 2, "2", "out of range"),
        ("v 1 2 3\n\0\0\0\0", 2, "\\0\\0\\0\\0", "not text"),
    ];
    for (text, line, value, reasons) in cases {
        let fault = fault(read_obj, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(*line), *value), "{text:?}: {fault}");
        assert!(reasons.split('|').any(|r| fault.reason.contains(r)), "{text:?}: {fault}");
    }
    for nothing in ["", "\n\n", "# only a comment", "vt 1 2"] {
        assert!(fault(read_obj, nothing.as_bytes()).reason.contains("no points"), "{nothing:?}");
    }
    let many = read_obj("v x\n".repeat(1000).as_bytes()).unwrap_err();
    assert_eq!((many.first.len(), many.count, many.first[19].line), (MeshFaults::MOST, 1000, Some(20)));
    assert!(many.to_string().ends_with("and 980 more faults"));
    let wide: Vec<u8> = "v 1 2 3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [0xFF, 0xFE].into_iter().chain(wide.clone()).collect();
    let swapped: Vec<u8> = "v 1 2 3\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [wide, marked, swapped] {
        assert!(fault(read_obj, &bytes).reason.contains("UTF-16"));
        assert!(fault(read_ply, &bytes).reason.contains("UTF-16"));
        assert!(fault(read_stl, &bytes).reason.contains("UTF-16"));
    }
}

/// Asserts that the triangles of the only face of `points` tile it: right count, no fold, all of its area.
fn assert_tiled(points: &[DVec3], normal: DVec3, area: f64) {
    let mut text: String = points.iter().map(|p| format!("v {:?} {:?} {:?}\n", p.x, p.y, p.z)).collect();
    text.push('f');
    (1..=points.len()).for_each(|k| text.push_str(&format!(" {k}")));
    let file = obj(&text);
    assert_eq!(file.notes, ["1 faces of more than four corners were split into triangles"], "{text}");
    assert_eq!(file.mesh.triangles.len(), points.len() - 2);
    let mut sum = 0.0;
    for t in &file.mesh.triangles {
        let [a, b, c] = t.map(|i| points[i as usize]);
        let part = 0.5 * (b - a).cross(c - a).dot(normal);
        assert!(part > 0.0, "triangle {t:?} has area {part}: {text}");
        sum += part;
    }
    // A fold would add area to the sum, a gap would take some from it.
    assert!((sum - area).abs() < 1e-9 * area, "{sum} instead of {area}: {text}");
}

#[test]
fn concave_faces_are_tiled_by_their_triangles() {
    let flat = |corners: &[[f64; 2]]| -> Vec<DVec3> {
        corners.iter().map(|[x, y]| DVec3::new(*x, *y, 0.0)).collect()
    };
    let l_shape = flat(&[[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]]);
    assert_tiled(&l_shape, DVec3::Z, 3.0);
    let comb = flat(&[[0., 0.], [5., 0.], [5., 3.], [4., 1.], [3., 3.], [2., 1.], [1., 3.], [0., 1.]]);
    assert_tiled(&comb, DVec3::Z, 10.0);
    // Corners on straight sides make no triangle without area.
    let straight =
        flat(&[[0., 0.], [1., 0.], [2., 0.], [3., 0.], [3., 3.], [2., 3.], [1., 3.], [0., 3.], [0., 1.]]);
    assert_tiled(&straight, DVec3::Z, 9.0);
    // A square hole joined to the outline by a bridge that is walked twice.
    let hole =
        [[0., 0.], [4., 0.], [4., 4.], [0., 4.], [0., 0.], [1., 1.], [1., 3.], [3., 3.], [3., 1.], [1., 1.]];
    assert_tiled(&flat(&hole), DVec3::Z, 12.0);
    let mut random = Random::new(3);
    for _ in 0..500 {
        // A star around the origin never crosses itself; a plane of any direction must do.
        let n = 5 + random.below(60);
        let radii: Vec<f64> = (0..n).map(|_| random.between(0.05, 1.0)).collect();
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        let axis = DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0))).normalize();
        let (u, v) = axis.any_orthonormal_pair();
        let star: Vec<DVec3> = (0..n).map(|k| (u * angle(k).cos() + v * angle(k).sin()) * radii[k]).collect();
        let area: f64 = (0..n).map(|k| 0.5 * radii[k] * radii[(k + 1) % n] * angle(1).sin()).sum();
        assert_tiled(&star, axis, area);
    }
}

#[test]
fn faces_without_a_right_answer_are_noted_or_refused() {
    let crossing = obj("v 0 0 0\nv 2 2 0\nv 2 0 0\nv 0 2 0\nv -1 1 0\nf 1 2 3 4 5");
    assert_eq!(crossing.mesh.triangles.len(), 3);
    assert!(crossing.notes[0].contains("1 of them cross"), "{:?}", crossing.notes);
    assert_eq!(obj("v 1 1 1\nf 1 1 1 1 1 1").mesh.triangles.len(), 4);
    assert_eq!(
        obj("v 1e308 0 0\nv 0 1e308 0\nv -1e308 0 0\nv 0 -1e308 0\nv 1 0 1e308\nf 1 2 3 4 5")
            .mesh
            .triangles
            .len(),
        3
    );
    // A saw of many teeth: as many as allowed take milliseconds, more are refused by name.
    let saw = |teeth: usize| {
        let points: String =
            (0..teeth).map(|k| format!("v {k} {} 0\nv {k}.5 {} 0\n", 1 + k % 7, 100 + k % 5)).collect();
        let corners: String = (1..=2 * teeth).rev().map(|k| format!(" {k}")).collect();
        format!("{points}v 0 -1 0\nv {teeth} -1 0\nf{corners} {} {}", 2 * teeth + 1, 2 * teeth + 2)
    };
    let text = saw(700);
    let file = bounded(text.len(), "saw", || obj(&text));
    assert_eq!((file.mesh.triangles.len(), file.notes[0].contains("cross")), (1400, false));
    let fault = fault(read_obj, saw(5000).as_bytes());
    assert!(fault.reason.contains("intricate") && fault.line == Some(10003), "{fault}");
    let ring = format!("v 0 0 0\nv 1 0 0\nv 1 1 0\nf{}", " 1 2 3".repeat(100_000));
    assert!(bounded(ring.len(), "ring", || read_obj(ring.as_bytes())).is_err());
    // The worst that a file of intricate faces can cost.
    let face = saw(700).lines().last().unwrap().to_string();
    let text = format!("{}{}", saw(700).replace(&face, ""), format!("{face}\n").repeat(300));
    let file = bounded(text.len(), "saws", || obj(&text));
    assert_eq!(file.mesh.triangles.len(), 300 * 1400);
}

/// A PLY file of three points and a triangle with every type of number, unknown things between.
fn odd_ply(encoding: PlyEncoding) -> Vec<u8> {
    let format = ["ascii", "binary_little_endian", "binary_big_endian"][encoding as usize];
    let mut out = format!(
        "ply\r\nformat {format} 1.0 \r\ncomment caf\r\nobj_info x\r\nelement camera 2\r\nproperty short a\r\n\
         property list ushort int b\r\nelement face 1\r\nproperty list int uchar vertex_index\r\nproperty char c\r\n\
         element nothing 1000000000000000\r\nelement vertex 3\r\nproperty float x\r\nproperty double y\r\n\
         property uint u\r\nproperty int z\r\nproperty int8 v\r\nproperty list uchar double w\r\nend_header\r\n"
    )
    .into_bytes();
    // Each number with its size in bytes and whether it is floating.
    let rows: [&[(f64, usize, bool)]; 6] = [
        &[(-300.0, 2, false), (2.0, 2, false), (1e9, 4, false), (-1e9, 4, false)],
        &[(7.0, 2, false), (0.0, 2, false)],
        &[(3.0, 4, false), (0.0, 1, false), (1.0, 1, false), (2.0, 1, false), (-5.0, 1, false)],
        &[
            (0.5, 4, true),
            (0.1, 8, true),
            (4e9, 4, false),
            (-2e9, 4, false),
            (-7.0, 1, false),
            (0.0, 1, false),
        ],
        &[
            (1.5, 4, true),
            (0.2, 8, true),
            (0.0, 4, false),
            (1.0, 4, false),
            (1.0, 1, false),
            (1.0, 1, false),
            (0.3, 8, true),
        ],
        &[(2.5, 4, true), (0.3, 8, true), (1.0, 4, false), (2.0, 4, false), (2.0, 1, false), (0.0, 1, false)],
    ];
    for row in rows {
        for (value, size, floating) in row {
            let mut raw = match (floating, size) {
                (true, 4) => (*value as f32).to_le_bytes().to_vec(),
                (true, _) => value.to_le_bytes().to_vec(),
                _ => (*value as i64).to_le_bytes()[..*size].to_vec(),
            };
            match encoding {
                PlyEncoding::Ascii => raw = format!("{value} ").into_bytes(),
                PlyEncoding::LittleEndian => {}
                PlyEncoding::BigEndian => raw.reverse(),
            }
            out.extend(raw);
        }
        out.extend(if encoding == PlyEncoding::Ascii { b"\r\n".as_slice() } else { b"" });
    }
    out
}

#[test]
fn ply_takes_every_type_and_skips_the_unknown() {
    for encoding in [PlyEncoding::Ascii, PlyEncoding::LittleEndian, PlyEncoding::BigEndian] {
        let file = read_ply(&odd_ply(encoding)).unwrap();
        let points = [[0.5, 0.1, -2e9], [1.5, 0.2, 1.0], [2.5, 0.3, 2.0]].map(DVec3::from_array);
        assert_eq!(file.mesh.positions, points, "{encoding:?}");
        assert_eq!(file.mesh.triangles, [[0, 1, 2]]);
        assert_eq!(file.mesh.material, [[4e9, -7.0], [0.0, 1.0], [1.0, 2.0]]);
        let skipped =
            ["`camera`: a, b", "`face`: c", "`vertex`: w"].map(|s| format!("skipped properties of {s}"));
        assert_eq!(file.notes, skipped);
        let mut longer = odd_ply(encoding);
        longer.extend(b"junk");
        assert_eq!(read_ply(&longer).unwrap().notes[3], "skipped 4 bytes after the last element");
    }
    let polygon = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
                   element face 2\nproperty list uchar int vertex_indices\nend_header\n\n0 0 0\n2 0 0\n2 2 0\n1 1 0\n0 2 0\n\n\
                   5 0 1 2 3 4\n4 0 1 2 3";
    let file = read_ply(polygon.as_bytes()).unwrap();
    assert_eq!((file.mesh.triangles.len(), file.mesh.quads.len(), file.notes.len()), (3, 1, 1));
}

#[test]
fn ply_faults_have_place_value_reason() {
    let head =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    let full = format!("{head}element face 1\nproperty list uchar int vertex_indices\nend_header\n");
    let points = "0 0 0\n1 0 0\n1 1 0\n";
    let cases = [
        ("plx\n".to_string(), 1, "plx", "starts with `ply`"),
        ("ply\nformat ascii 2.0\n".into(), 2, "ascii", "format is unknown"),
        ("ply\nend_header\n".into(), 3, "end_header", "format is missing"),
        ("ply\nformat ascii 1.0\n".into(), 3, "end of file", "does not end"),
        ("ply\nproperty float x\n".into(), 2, "x", "belongs to no element"),
        ("ply\nwhat\n".into(), 2, "what", "keyword is unknown"),
        ("ply\nelement vertex -1\n".into(), 2, "-1", "no whole number"),
        (
            "ply\nelement vertex 99999999999999999999999\n".into(),
            2,
            "99999999999999999999999",
            "no whole number",
        ),
        ("ply\nelement a 1\nproperty quad x\n".into(), 3, "quad", "type of the property"),
        ("ply\nelement a 1\nproperty list char quad x\n".into(), 3, "list", "type of the property"),
        (format!("{head}element vertex 3\n"), 7, "vertex", "declared twice"),
        (
            "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n".into(),
            3,
            "vertex",
            "x, y or z",
        ),
        (format!("{head}element face 0\nend_header\n{points}"), 7, "face", "vertex_indices"),
        (full.replace("vertex 3", "vertex 1000000000"), 3, "1000000000", "claims 1000000000 rows"),
        (full.replace("vertex 3", "vertex 18446744073709551615"), 3, "18446744073709551615", "claims"),
        (format!("{full}0 0 0\n1 0\n1 1 0\n3 0 1 2"), 11, "end of line", "missing"),
        (format!("{full}0 0 0\n1 0 nan\n1 1 0\n3 0 1 2"), 11, "nan", "not a finite number"),
        (format!("{full}0 0 0\n1 0 x\n1 1 0\n3 0 1 2"), 11, "x", "not a finite number"),
        (format!("{full}0 0 0\n1 0 0 0\n1 1 0\n3 0 1 2"), 11, "0", "more numbers"),
        (format!("{full}{points}3 0 1 3"), 13, "3", "below 3"),
        (format!("{full}{points}3 0 1 -1"), 13, "-1", "below 3"),
        (format!("{full}{points}3 0 1 1.5"), 13, "1.5", "whole number"),
        (format!("{full}{points}3.5 0 1 1"), 13, "3.5", "length of a list"),
        (format!("{full}{points}4000000000 0 1 1"), 13, "end of line", "missing"),
        (format!("{full}{points}2 0 1"), 13, "2 corners", "three corners"),
        (format!("{full}{points}"), 7, "1", "claims 1 rows of `face`, but 0 bytes"),
    ];
    for (text, line, value, reason) in cases {
        let fault = fault(read_ply, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(line), value), "{text:?}: {fault}");
        assert!(fault.reason.contains(reason), "{text:?}: {fault}");
    }
    let mut binary = Vec::new();
    let mesh = Mesh { positions: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() };
    write_ply(&mesh, PlyEncoding::LittleEndian, &mut binary).unwrap();
    let start = binary.len() - 3 * 24 - 13;
    let put = |at: usize, bytes: &[u8]| {
        let mut copy = binary.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        fault(read_ply, &copy)
    };
    let nan = put(start + 32, &f64::NAN.to_le_bytes());
    assert_eq!((nan.offset, nan.value.as_str()), (Some(start + 32), "NaN"));
    let index = put(start + 77, &7u32.to_le_bytes());
    assert_eq!((index.offset, index.value.as_str()), (Some(start + 77), "7"));
    assert_eq!(put(start + 72, &[200]).value, "end of file");
}

#[test]
fn stl_takes_odd_texts_and_headers() {
    let facet = "FACET normal nan nan nan\nouter loop\nvertex 0 0 0\n  Vertex 1 0 -0\nvertex 0 1 -0.0\nendloop\nendfacet\n";
    let other =
        "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\n";
    let file = read_stl(
        format!("\n solid facet of # cloth\r\n{facet}endsolid\nsolid b\n{other}endsolid b\nsolid\nendsolid")
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(file.mesh.triangles, [[0, 1, 2], [1, 3, 2]], "0 and -0 are one coordinate");
    assert_eq!(file.notes, ["6 corners were joined to 4 points of equal coordinates"]);
    let cases = [
        (format!("solid\n{facet}"), 9, "end of file", "endsolid"),
        (facet.to_string(), 1, "FACET", "starts with `solid`"),
        (
            format!("solid\n{}endsolid", facet.replace("endloop\nendfacet\n", "")),
            7,
            "endsolid",
            "three corners",
        ),
        (format!("solid\n{}endsolid", facet.replace("vertex 0 0 0\n", "")), 6, "endloop", "three corners"),
        (
            format!("solid\n{}endsolid", facet.replace("endloop", "vertex 1 1 1")),
            7,
            "vertex",
            "three corners",
        ),
        (format!("solid\n{}endsolid", facet.replace("1 0 -0", "1 inf 0")), 5, "inf", "finite"),
        (format!("solid\n{}endsolid", facet.replace("1 0 -0", "1 0")), 5, "end of line", "finite"),
        (format!("solid\n{facet}ende"), 9, "ende", "keyword"),
    ];
    for (text, line, value, reason) in cases {
        let fault = fault(read_stl, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(line), value), "{text}: {fault}");
        assert!(fault.reason.contains(reason), "{text}: {fault}");
    }
    assert!(fault(read_stl, b"solid\nendsolid").reason.contains("no points"));
    assert!(fault(read_stl, b"").reason.contains("no points"));

    let mut binary = Vec::new();
    write_stl(&file.mesh, StlEncoding::Binary, &mut binary).unwrap();
    binary[..13].copy_from_slice(b"solid of lies");
    binary[20..80].fill(b' ');
    assert_eq!(read_stl(&binary).unwrap().mesh, file.mesh, "the size shows that it is binary");
    let cut = fault(read_stl, &binary[..binary.len() - 1]);
    assert_eq!((cut.offset, cut.value.as_str()), (Some(80), "2"), "{cut}");
    binary.push(0);
    assert_eq!(read_stl(&binary).unwrap().notes[0], "skipped 1 bytes after the last triangle");
    binary[84 + 50 + 16..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(fault(read_stl, &binary).offset, Some(150));
    binary[80..84].fill(255);
    assert_eq!(bounded(binary.len(), "huge count", || fault(read_stl, &binary)).value, "4294967295");
}

/// Small files of every format, each with many of its features.
fn samples() -> Vec<(&'static str, Reader, Vec<u8>)> {
    let text = format!(
        "# c\nmtllib a\n{SQUARE}v 2 .5 1e-1 1\nv 3 3 3 0 0 1\nl 1 2 -1\nf 1/1 2/2 3/3\nf 1/1/1 \\\n 3/3/1 4/4/1\n\
         f 1 2 5 6\nf -1 -2 -3 -4 -5 -6\nvu 1\nvn 0 0 1\n"
    );
    let mut samples: Vec<(&str, Reader, Vec<u8>)> = vec![("obj", read_obj, text.into_bytes())];
    let names = ["ply ascii", "ply little", "ply big"];
    for (name, encoding) in
        names.into_iter().zip([PlyEncoding::Ascii, PlyEncoding::LittleEndian, PlyEncoding::BigEndian])
    {
        samples.push((name, read_ply, odd_ply(encoding)));
    }
    let mesh = read_obj(&samples[0].2).unwrap().mesh;
    for (name, encoding) in [("stl ascii", StlEncoding::Ascii), ("stl binary", StlEncoding::Binary)] {
        let mut bytes = Vec::new();
        write_stl(&mesh, encoding, &mut bytes).unwrap();
        samples.push((name, read_stl, bytes));
    }
    samples
}

#[test]
fn files_cut_anywhere_are_refused_or_sound() {
    for (name, read, bytes) in samples() {
        for length in 0..bytes.len() {
            let what = format!("{name} cut at {length}");
            let result = bounded(length, &what, || read(&bytes[..length]));
            // Binary files tell their length, so nothing may be missing; texts may lose their last blanks or digits.
            assert!(
                result.is_err()
                    || !what.contains("little") && !what.contains("big") && !what.contains("binary"),
                "{what}"
            );
            result.iter().for_each(|file| assert_sound(file, &what));
        }
    }
}

#[test]
fn damaged_files_are_refused_or_sound() {
    for (name, read, bytes) in samples() {
        let (mut random, mut taken) = (Random::new(11), 0);
        for round in 0..10_000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(5) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.bits() as u8,
                    2 => bytes[at] = b"0123456789+-./e \n\\#"[random.below(19)],
                    3 => bytes.insert(at, b"0123456789+-./e \n\\#"[random.below(19)]),
                    _ => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
                }
            }
            let what = format!("{name}, mutation {round}");
            let result = bounded(bytes.len(), &what, || read(&bytes));
            result.iter().for_each(|file| assert_sound(file, &what));
            taken += usize::from(result.is_ok());
        }
        println!("{name}: {taken} of 10000 damaged files still read");
        assert!((1..10_000).contains(&taken), "{name}: mutations must both pass and fail");
    }
}

#[test]
fn content_decides_where_the_name_lies() {
    let folder = tempfile::tempdir().unwrap();
    for (name, reader, bytes) in samples() {
        let right = &name[..3];
        for extension in ["obj", "PLY", "stl", "txt", ""] {
            let path = folder.path().join("mesh").with_extension(extension);
            fs::write(&path, &bytes).unwrap();
            let file = read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(file.mesh, reader(&bytes).unwrap().mesh);
            let lies = extension.to_lowercase() != right && !extension.is_empty();
            assert_eq!(
                file.notes.iter().any(|n| n.contains("the name ends in")),
                lies,
                "{name} as {extension}"
            );
        }
    }
    let path = folder.path().join("mesh.txt");
    fs::write(&path, "hello").unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("mesh.txt: neither the name nor the content"), "{error}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_sensible_size_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.obj");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is needed for this test");
    let huge = folder.path().join("huge.obj");
    fs::File::create(&huge).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.obj")).unwrap();
    let cases = [
        (folder.path().to_path_buf(), "only regular files"),
        (pipe, "only regular files"),
        (folder.path().join("zero.obj"), "only regular files"),
        (huge, "larger than 4294967296 bytes"),
        (folder.path().join("missing.obj"), "No such file"),
    ];
    for (path, reason) in cases {
        let error = bounded(0, reason, || read(&path)).unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// The slow twin of the OBJ reader: points and corners of plain files, split by the standard library.
fn plain_obj(text: &str) -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => points
                .push(DVec3::from_array(std::array::from_fn(|_| words.next().unwrap().parse().unwrap()))),
            Some("f") => {
                faces.push(words.map(|w| w.split('/').next().unwrap().parse::<u32>().unwrap() - 1).collect())
            }
            _ => {}
        }
    }
    (points, faces)
}

/// Every OBJ, PLY and STL file below a folder, in the order of the names.
fn mesh_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files.extend(mesh_files(&entry));
        } else if entry.extension().is_some_and(|e| ["obj", "ply", "stl"].iter().any(|x| e == *x)) {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// Points and triangles (a quad counts as two) that the notes beside the files promise.
const PROMISED: [(&str, usize, usize); 35] = [
    ("bodies-obj/mean_all.obj", 23752, 47500),
    ("bodies-obj/f_smpl_average_A40.obj", 6890, 13776),
    ("garments/codim-ipc/square21.obj", 441, 800),
    ("garments/codim-ipc/square41.obj", 1681, 3200),
    ("garments/codim-ipc/square81.obj", 6561, 12800),
    ("garments/codim-ipc/skirt16x64.obj", 1024, 1920),
    ("garments/codim-ipc/skirt4K.obj", 4004, 7496),
    ("garments/codim-ipc/tableCloth.obj", 14161, 27848),
    ("garments/codim-ipc/tableFloor.obj", 1600, 3042),
    ("garments/codim-ipc/table.obj", 6712, 13420),
    ("garments/codim-ipc/sphere1K.obj", 1239, 2474),
    ("garments/codim-ipc/card10.obj", 10, 8),
    ("garments/codim-ipc/stitchTest.obj", 6, 2),
    ("garments/codim-ipc/dress_knife/stage.obj", 15656, 29456),
    ("collision-meshes/cube.ply", 8, 12),
    ("collision-meshes/two-cubes-far.ply", 262, 480),
    ("collision-meshes/two-cubes-close.ply", 262, 480),
    ("collision-meshes/two-cubes-intersecting.ply", 262, 480),
    ("collision-meshes/height-field.ply", 2540, 4904),
    ("collision-meshes/thick-cloth/t0.ply", 233, 404),
    ("collision-meshes/thick-cloth/t1.ply", 233, 404),
    ("body-sequence/Rumba_Dancing_frame0.obj", 12811, 25472),
    ("malformed/assimp/odd/box.obj", 8, 12),
    ("malformed/assimp/odd/box_without_lineending.obj", 8, 12),
    ("malformed/assimp/odd/number_formats.obj", 15, 1),
    ("malformed/assimp/odd/concave_polygon.obj", 64, 64),
    ("malformed/assimp/odd/cube.ply", 8, 12),
    ("malformed/assimp/odd/cube_binary.ply", 8, 12),
    ("malformed/assimp/odd/cube_with_vertexcolors.obj", 8, 12),
    ("malformed/assimp/odd/point_cloud.obj", 3, 0),
    ("malformed/assimp/odd/testline.obj", 8, 0),
    ("malformed/assimp/odd/triangle.stl", 3, 1),
    ("malformed/assimp/odd/triangle_with_empty_solid.stl", 3, 1),
    ("malformed/tobj/lines.obj", 3, 0),
    ("malformed/tobj/quad.obj", 4, 5),
];

/// Files that must be refused, with a word of the reason.
const REFUSED: [(&str, &str); 6] = [
    ("malformed/assimp/invalid/crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", "type of the property"),
    ("malformed/assimp/invalid/empty.obj", "no points"),
    ("malformed/assimp/invalid/malformed.obj", "line 23: an index is out of range of the 8 points (`12`)"),
    ("malformed/assimp/odd/box_UTF16BE.obj", "UTF-16"),
    ("malformed/assimp/odd/issue623.ply", "missing"),
    ("malformed/tobj/invalid_index.obj", "line 12: an index is out of range of the 6 points (`7`)"),
];

#[test]
fn files_of_others_get_their_verdict() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("TAFFETA_SHARED").map_or(repository.join("../shared"), PathBuf::from);
    let data = shared.join("data");
    if !data.is_dir() {
        eprintln!("SKIPPED: files_of_others_get_their_verdict: no folder {}", data.display());
        return;
    }
    println!("{:70} {:>8} {:>8} {:>8} {:>9}", "file", "bytes", "points", "faces", "ms");
    let files = mesh_files(&data);
    for path in &files {
        let name = path.strip_prefix(&data).unwrap().to_str().unwrap();
        let bytes = fs::read(path).unwrap();
        let start = Instant::now();
        let result = bounded(bytes.len(), name, || read(path));
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let refused = REFUSED.iter().find(|(n, _)| *n == name);
        match (result, refused) {
            (Ok(file), None) => {
                assert_sound(&file, name);
                let mesh = &file.mesh;
                let faces = mesh.triangles.len() + 2 * mesh.quads.len();
                println!(
                    "{name:70} {:8} {:8} {faces:8} {ms:9.3} {}",
                    bytes.len(),
                    mesh.positions.len(),
                    file.notes.join("; ")
                );
                if let Some((_, points, triangles)) = PROMISED.iter().find(|(n, ..)| *n == name) {
                    assert_eq!((mesh.positions.len(), faces), (*points, *triangles), "{name}");
                }
                compare_with_twins(path, &bytes, &file, name);
            }
            (Err(error), Some((_, reason))) => {
                let text = error.to_string();
                println!("{name:70} {:8} refused {text}", bytes.len());
                assert!(text.contains(reason) && text.contains(name), "{text}");
            }
            (Ok(_), Some(_)) => panic!("{name} must be refused"),
            (Err(error), None) => panic!("{error}"),
        }
    }
    for (name, ..) in PROMISED {
        assert!(files.contains(&data.join(name)), "{name} is missing");
    }
    for (name, _) in REFUSED {
        assert!(files.contains(&data.join(name)), "{name} is missing");
    }
}

/// Compares an OBJ file with the plain reader, and a PLY file with the OBJ file of the same mesh beside it.
fn compare_with_twins(path: &Path, bytes: &[u8], file: &MeshFile, name: &str) {
    if name.ends_with(".ply") && path.with_extension("obj").exists() {
        assert_eq!(read(&path.with_extension("obj")).unwrap().mesh, file.mesh, "{name}");
    }
    if name.ends_with(".obj") && !name.contains("number_formats") {
        let (points, faces) = plain_obj(&String::from_utf8_lossy(bytes));
        assert_eq!(points, file.mesh.positions, "{name}");
        let of = |n: usize| faces.iter().filter(move |f| f.len() == n).flatten().copied();
        let small = file.mesh.triangles.as_flattened();
        assert!(of(4).eq(file.mesh.quads.as_flattened().iter().copied()), "{name}");
        assert!(of(3).eq(small.iter().copied().take(of(3).count())), "{name}");
    }
}

/// How long the reading and writing of a million points takes; run with --release --nocapture --ignored.
#[test]
#[ignore = "a measurement of speed"]
fn a_million_points() {
    let side = 1000u32;
    let mut random = Random::new(1);
    let mut number = || random.between(-1.0, 1.0);
    let positions: Vec<DVec3> = (0..side * side).map(|_| DVec3::new(number(), number(), number())).collect();
    let material = positions.iter().map(|p| [p.x, p.y]).collect();
    let cells = (0..side - 1).flat_map(|y| (0..side - 1).map(move |x| y * side + x));
    let triangles = cells.flat_map(|k| [[k, k + 1, k + side], [k + 1, k + side + 1, k + side]]).collect();
    let mesh = Mesh { positions, triangles, material, ..Mesh::default() };
    let bare = Mesh { material: Vec::new(), ..mesh.clone() };
    type Writer = fn(&Mesh, &mut Vec<u8>) -> std::io::Result<()>;
    let cases: [(&str, &Mesh, Writer, Reader); 7] = [
        ("obj", &bare, |m, out| write_obj(m, out), read_obj),
        ("obj with uv", &mesh, |m, out| write_obj(m, out), read_obj),
        ("ply ascii", &bare, |m, out| write_ply(m, PlyEncoding::Ascii, out), read_ply),
        ("ply little", &bare, |m, out| write_ply(m, PlyEncoding::LittleEndian, out), read_ply),
        ("ply big", &bare, |m, out| write_ply(m, PlyEncoding::BigEndian, out), read_ply),
        ("stl ascii", &bare, |m, out| write_stl(m, StlEncoding::Ascii, out), read_stl),
        ("stl binary", &bare, |m, out| write_stl(m, StlEncoding::Binary, out), read_stl),
    ];
    for (name, mesh, write, read) in cases {
        let mut bytes = Vec::new();
        let start = Instant::now();
        write(mesh, &mut bytes).unwrap();
        let written = start.elapsed();
        let held = HELD.get();
        PEAK.set(held);
        let start = Instant::now();
        let back = read(&bytes).unwrap();
        let (elapsed, peak) = (start.elapsed(), (PEAK.get() - held) as f64 / bytes.len() as f64);
        println!(
            "{name:12} {:6.1} MB: read {elapsed:?} with {peak:.1} bytes a byte, written {written:?}",
            bytes.len() as f64 / 1e6
        );
        assert_eq!(back.mesh.triangles.len(), mesh.triangles.len());
    }
}
