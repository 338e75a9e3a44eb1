//! Files of other programs, and how long reading takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::*;

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
