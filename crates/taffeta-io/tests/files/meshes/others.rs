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

/// Every mesh file below a folder, in the order of the names.
fn mesh_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files.extend(mesh_files(&entry));
        } else if entry
            .extension()
            .is_some_and(|e| ["obj", "ply", "stl", "gltf", "glb"].iter().any(|x| e == *x))
        {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// Points and triangles (a quad counts as two) that the notes beside the files promise.
const PROMISED: [(&str, usize, usize); 48] = [
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
    ("gltf-bodies/CesiumMan/CesiumMan.glb", 3273, 4672),
    ("gltf-bodies/CesiumMan/separate/CesiumMan.gltf", 3273, 4672),
    ("gltf-bodies/Fox/Fox.glb", 1728, 576),
    ("gltf-bodies/Michelle/Michelle.glb", 16340, 28106),
    ("gltf-bodies/RiggedFigure/RiggedFigure.glb", 370, 256),
    ("gltf-bodies/RiggedSimple/RiggedSimple.glb", 160, 188),
    ("gltf-bodies/RobotExpressive/RobotExpressive.glb", 7214, 3237),
    ("malformed/gltf-asset-generator/valid-odd/Accessor_SparseType_00.gltf", 8, 4),
    ("malformed/gltf-asset-generator/valid-odd/Animation_SkinType_00.gltf", 6, 4),
    ("malformed/gltf-asset-generator/valid-odd/Animation_Skin_01.gltf", 6, 4),
    ("malformed/gltf-asset-generator/valid-odd/Buffer_Interleaved_00.gltf", 4, 2),
    ("malformed/gltf-rs/box_sparse.glb", 8, 12),
    ("malformed/gltf-rs/minimal_accessor_invalid.gltf", 3, 1),
];

/// Files that must be refused, with a word of the reason.
const REFUSED: [(&str, &str); 11] = [
    ("malformed/assimp/glTF2/IndexOutOfRange/IndexOutOfRange.gltf", "index 255 of 24 points"),
    ("malformed/assimp/glTF2/MissingBin/BoxTextured.gltf", "cannot be read: No such file"),
    ("malformed/assimp/glTF2/wrongTypes/badArray.gltf", "line 44: not the JSON of a glTF file"),
    ("malformed/gltf-asset-generator/Mesh_NoPosition/Mesh_NoPosition_00.gltf", "the part has no POSITION"),
    ("malformed/gltf-asset-generator/Mesh_PrimitiveRestart/Mesh_PrimitiveRestart_00.gltf", "no points"),
    ("malformed/assimp/invalid/crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", "type of the property"),
    ("malformed/assimp/invalid/empty.obj", "no points"),
    ("malformed/assimp/invalid/malformed.obj", "line 23: an index is out of range of the 8 points (`12`)"),
    ("malformed/assimp/odd/box_UTF16BE.obj", "UTF-16"),
    ("malformed/assimp/odd/issue623.ply", "missing"),
    ("malformed/tobj/invalid_index.obj", "line 12: an index is out of range of the 6 points (`7`)"),
];

/// The files that the validator of glTF is tested with, against the table beside them.
#[test]
fn files_of_the_gltf_validator_get_their_verdict() {
    let Some(data) = testing::reference_data("") else { return };
    let folder = data.join("malformed/gltf-validator");
    let table = fs::read_to_string(folder.join("expected.csv")).unwrap();
    let mut seen = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split(',').collect();
        let (name, verdict) = (columns[0], columns[5]);
        let size = fs::metadata(folder.join(name)).unwrap().len() as usize;
        let result = bounded(size, name, || read(&folder.join(name)));
        match (&result, verdict) {
            (Ok(file), "must_load" | "must_not_crash") => assert_sound(file, name),
            (Err(error), "must_reject" | "reject_if_used" | "must_not_crash") => {
                assert!(error.to_string().contains(name), "{error}");
            }
            _ => panic!("{name}: {verdict}, but {result:?}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 108);
    // Broken things that the surface needs are named.
    for (name, reason) in [
        ("mesh/unresolved_positions.gltf", "no such accessor (`accessors[0]`)"),
        ("node/node_loop_scene.gltf", "its own ancestor (`nodes[0]`)"),
        ("node/unresolved_mesh.gltf", "no such mesh (`meshes[0]`)"),
        ("scene/unresolved_child_node.gltf", "no such node (`nodes[5]`)"),
        ("scene/unresolved_default_scene.gltf", "no such scene (`scenes[0]`)"),
    ] {
        let error = read(&folder.join(name)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Nodes turn and scale the bodies to where their notes say they are.
#[test]
fn bodies_stand_upright_in_their_size() {
    let Some(data) = testing::reference_data("") else { return };
    for (name, height) in [("CesiumMan/CesiumMan.glb", 1.507), ("Michelle/Michelle.glb", 1.664)] {
        let points = read(&data.join("gltf-bodies").join(name)).unwrap().mesh.positions;
        let top = points.iter().map(|p| p.y).fold(f64::MIN, f64::max);
        let bottom = points.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        assert!((top - bottom - height).abs() < 1e-3, "{name}: {}", top - bottom);
    }
}

#[test]
fn files_of_others_get_their_verdict() {
    let Some(data) = testing::reference_data("") else { return };
    println!("{:70} {:>8} {:>8} {:>8} {:>9}", "file", "bytes", "points", "faces", "ms");
    let mut files = mesh_files(&data);
    // They have a table of their own.
    files.retain(|path| !path.starts_with(data.join("malformed/gltf-validator")));
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
    if name.ends_with("separate/CesiumMan.gltf") {
        let binary = path.with_file_name("../CesiumMan.glb");
        assert_eq!(read(&binary).unwrap().mesh, file.mesh, "{name}");
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
