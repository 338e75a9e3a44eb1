//! Mesh files as colliders: read by name and by number, refused by name, recorded with every bit.

use std::fs;
use std::path::Path;
use taffeta::Simulation;
use taffeta::check::certify;
use taffeta::model::Form;
use taffeta_io::recording::{Header, Reader, Writer};
use taffeta_io::scene_file::{LoadedScene, SceneFaults, SceneSource, load};

/// A wedge in centimetres, z up, whose edge is at this height.
fn wedge(height: f64) -> String {
    let points =
        format!("v -50 -20 0\nv 50 -20 0\nv 50 20 0\nv -50 20 0\nv -50 0.1 {height}\nv 50 0.1 {height}\n");
    points + "f 1 4 3 2\nf 1 2 6 5\nf 3 4 5 6\nf 2 3 6\nf 4 1 5\n"
}

/// Loads and builds a scene of a sheet half a metre above one body.
fn simulate(folder: &Path, mesh: &str) -> Result<(LoadedScene, Simulation), SceneFaults> {
    let scene = folder.join("scene.toml");
    let sheet = "position = [0.0, 0.5, 0.0]\nsheet = { width = 1.0, height = 1.0, columns = 11, rows = 11 }";
    fs::write(&scene, format!("[[cloth]]\n{sheet}\n[[collider]]\n[collider.mesh]\n{mesh}\n")).unwrap();
    let loaded = load(&SceneSource::File(scene), &[])?;
    match taffeta_scene::simulation(&loaded.scene, &loaded.meshes) {
        Ok(simulation) => Ok((loaded, simulation)),
        Err(faults) => Err(loaded.refuse(faults)),
    }
}

#[test]
fn a_wedge_from_a_file_is_a_body() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wedge.obj"), wedge(30.1)).unwrap();
    let asked = "file = \"wedge.obj\"\nscale = 0.01\nup = \"z\"\nthickness = 0.002";
    let (_, simulation) = simulate(folder.path(), asked).unwrap();
    let told = certify(simulation.model(), simulation.state());
    assert!((told.min_gap - 0.199).abs() < 1e-12 && told.cloth_body == 0, "{told:?}");
    let Form::Mesh(mesh) = &simulation.model().colliders[0].form else { panic!("a mesh") };
    assert_eq!((mesh.point_count(), mesh.triangles().len(), mesh.deforms()), (6, 8, false));
}

#[test]
fn the_ring_of_the_scenes_is_a_closed_body() {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/meshes/ring.toml");
    let loaded = load(&SceneSource::File(scene), &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let simulation = taffeta_scene::simulation(&loaded.scene, &loaded.meshes).unwrap();
    let Form::Mesh(mesh) = &simulation.model().colliders[0].form else { panic!("a mesh") };
    // As many edges as faces and points together: a ring has one hole.
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        edges.extend([[a, b], [b, c], [c, a]].map(|[from, to]| [from.min(to), from.max(to)]));
    }
    edges.sort_unstable();
    assert!(edges.chunk_by(|a, b| a == b).all(|same| same.len() == 2));
    edges.dedup();
    assert_eq!(mesh.point_count() + mesh.triangles().len(), edges.len());
    let told = certify(simulation.model(), simulation.state());
    assert!((told.min_gap - 0.09).abs() < 1e-6, "{told:?}");
}

#[test]
fn a_sequence_is_read_by_number_and_recorded_with_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    for k in 8..=11 {
        fs::write(folder.path().join(format!("wedge{k:03}.obj")), wedge(0.1 + f64::from(k))).unwrap();
    }
    let asked =
        "file = \"wedge###.obj\"\nscale = 0.01\nup = \"z\"\nsequence = { first = 8, last = 11, rate = 24.0 }";
    let (loaded, simulation) = simulate(folder.path(), asked).unwrap();
    assert_eq!(loaded.meshes.len(), 4);
    let form = &simulation.model().colliders[0].form;
    let Form::Mesh(mesh) = form else { panic!("a mesh") };
    let top = mesh.points(2.5 / 24.0, &taffeta::math::Pose::IDENTITY)[4];
    assert!((top.y - 0.106).abs() < 1e-12, "{top}");

    let path = folder.path().join("recording.taffeta");
    let header = Header {
        scene: String::new(),
        about: serde_json::json!({ "colliders": [{ "shape": form }] }),
        frame_time: 0.02,
        triangles: vec![],
        edges: vec![],
        rest_lengths: vec![],
        rest_positions: vec![],
        material: vec![],
        pinned: vec![],
    };
    Writer::create(&path, &header).unwrap().finish().unwrap();
    let read = Reader::open(&path).unwrap();
    let recorded: Form =
        serde_json::from_value(read.header().about["colliders"][0]["shape"].clone()).unwrap();
    assert!(recorded == *form);
}

#[test]
fn files_that_are_no_bodies_are_refused_at_their_key() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a1.obj"), wedge(30.0)).unwrap();
    fs::write(folder.path().join("a2.obj"), wedge(30.0).replace("f 4 1 5\n", "")).unwrap();
    fs::write(folder.path().join("a3.obj"), wedge(5000.0)).unwrap();
    fs::write(folder.path().join("nan.obj"), wedge(f64::NAN)).unwrap();
    let sequence = |first, last| {
        format!("file = \"a#.obj\"\nsequence = {{ first = {first}, last = {last}, rate = 25.0 }}")
    };
    for (asked, reason) in [
        ("file = \"nan.obj\"".to_string(), "nan.obj"),
        (sequence(1, 2), "other points or faces than a1.obj"),
        (sequence(3, 9), "a4.obj"),
        (sequence(1, 1).replace('#', "#-#"), "no place for the number"),
    ] {
        let Err(faults) = simulate(folder.path(), &asked) else { panic!("taken: {asked}") };
        assert_eq!(faults.faults.len(), 1, "{faults}");
        assert_eq!(faults.faults[0].fault.key, "collider[0].mesh.file", "{faults}");
        assert!(faults.to_string().contains(reason) && faults.faults[0].span.is_some(), "{faults}");
    }
}
