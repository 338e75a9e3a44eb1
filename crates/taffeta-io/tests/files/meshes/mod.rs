//! Mesh files: round trips, odd files of every rule, damaged files, other people's files.

mod corpus;
mod damage;
mod gltf;
mod obj;
mod others;
mod ply;
mod polygon;
mod reseal;
mod round_trip;
mod stl;

use taffeta::math::{DVec3, random::Random};
use taffeta_io::mesh::*;
use taffeta_scene::Mesh;
use testing::memory::used;

/// Runs `read` and asserts that it holds to the bounds for untrusted files: 64 bytes held for a byte, and work that grows no faster than the
/// file, counted in bytes that were asked for.
fn bounded<T>(size: usize, what: &str, read: impl FnOnce() -> T) -> T {
    let (result, used) = used(read);
    let peak = used.peak();
    assert!(peak <= 64 * size + (1 << 20), "{what}: {peak} bytes of memory for {size} bytes");
    let asked = used.asked;
    assert!(asked <= 256 * size + (4 << 20), "{what}: {asked} bytes asked for, for {size} bytes");
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
        .chain(mesh.lines.as_flattened());
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

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";

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
    samples.extend(gltf::samples());
    samples
}
