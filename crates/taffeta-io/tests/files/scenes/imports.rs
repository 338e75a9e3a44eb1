//! Mesh files as cloth: options of the scene, what is noted, what is refused, and how long files of others take.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use taffeta::Simulation;
use taffeta_io::mesh;
use taffeta_io::scene_file::{LoadedScene, SceneFaults, SceneSource, load};
use taffeta_scene::build::import::import;
use taffeta_scene::{MeshShape, UpAxis};

/// Loads and builds a scene of one mesh.
fn simulate(obj: &str, options: &str, pins: &str) -> Result<(LoadedScene, Simulation), SceneFaults> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("coat.obj"), obj).unwrap();
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, format!("[[cloth]]\nmesh = {{ file = \"coat.obj\"{options} }}\n{pins}")).unwrap();
    let loaded = load(&SceneSource::File(scene), &[])?;
    match taffeta_scene::simulation(&loaded.scene, &loaded.meshes) {
        Ok(simulation) => Ok((loaded, simulation)),
        Err(faults) => Err(loaded.refuse(faults)),
    }
}

/// Two squares in the plane x, y, each with its own points, and a point that no face uses.
const TORN: &str = "v 9 9 9\nv 0 0 0\nv 100 0 0\nv 100 100 0\nv 0 100 0\nv 100 0 0\nv 200 0 0\nv 200 100 0\nv 100 100 0\n\
                    f 2 3 4 5\nf 6 7 8 9\n";

#[test]
fn options_make_one_cloth_of_a_torn_file() {
    let pins = "[[cloth.pin]]\nvertices = [1, 5, 8]\n";
    let (loaded, simulation) = simulate(TORN, ", scale = 0.01, up = \"z\", weld = 1e-3", pins).unwrap();
    assert_eq!(
        loaded.notes,
        [
            "coat.obj: points joined to others within 0.001 m: 2",
            "coat.obj: points that no face uses, left out: 1"
        ]
    );
    let model = simulation.model();
    assert_eq!((model.particle_count(), model.triangles.len()), (6, 4));
    // Pins name points as the file counts them: 5 was joined to 2, 8 to 3, and 0 is left out.
    assert_eq!(model.pins[0].particles, [0, 1, 2]);
    assert_eq!(
        model.rest_positions[2].to_array(),
        [1.0, 0.0, -1.0],
        "y of the file points away from z, which is up"
    );
    assert!(
        simulation.environment().inverse_mass()[3..].iter().all(|w| *w > 0.0),
        "what is not pinned is free"
    );

    let (loaded, simulation) = simulate(TORN, "", "").unwrap();
    assert_eq!(simulation.model().particle_count(), 8);
    let touching = "coat.obj: triangles that cross or touch others beside their own corners: ";
    assert!(loaded.notes[1].starts_with(touching) && loaded.notes.len() == 2, "{:?}", loaded.notes);
}

#[test]
fn pins_of_points_that_are_not_there_are_refused() {
    for (vertex, reason) in [(0, "no face uses this point"), (9, "only the points 0 to 8")] {
        let pins = format!("[[cloth.pin]]\nvertices = [{vertex}]\n");
        let faults = simulate(TORN, ", weld = 0.001", &pins).unwrap_err();
        assert!(faults.to_string().contains(reason), "{faults}");
        assert_eq!(faults.faults[0].fault.key, "cloth[0].pin[0].vertices");
    }
}

#[test]
fn a_particle_obeys_one_moving_pin() {
    let pins = "[[cloth.pin]]\nvertices = [2]\n[[cloth.pin]]\nvertices = [5]\nkeyframe = [{ time = 0.0 }]\n";
    assert!(simulate(TORN, "", pins).is_ok(), "two points");
    let faults = simulate(TORN, ", weld = 0.001", pins).unwrap_err();
    assert!(faults.to_string().contains("a particle of `pin[0]` is pinned here too"), "one point: {faults}");
    assert_eq!(faults.faults[0].fault.key, "cloth[0].pin[1]");
}

#[test]
fn a_surface_that_crosses_itself_is_accepted_and_told() {
    let crossing = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.2 0.2 1\nv 2 2 0\nf 1 2 3\nf 4 5 6\n";
    let (loaded, _) = simulate(crossing, "", "").unwrap();
    let note = "coat.obj: triangles that cross or touch others beside their own corners: 1 pairs; `weld` joins double points";
    assert_eq!(loaded.notes, [note]);
}

#[test]
fn what_cannot_be_cloth_is_refused_with_places_and_a_remedy() {
    // Eight triangles without area, the last two points of each at one place, behind a point that no face uses.
    let mut flat = "v 5 5 5\nv 0 0 0\nv 1 0 0\n".to_string();
    (0..8).for_each(|k| flat += &format!("v {} 0 0\nf 2 3 {}\n", k + 2, k + 4));
    let fan = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n";
    for (obj, places, remedy) in [
        (flat.as_str(), "triangle [1, 2, 3] has no area; ", "Degenerate Dissolve"),
        (flat.as_str(), "and 3 more such places", "weld"),
        (fan, "the edge between points 0 and 1 has 3 faces", "Select Non Manifold"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\n", "face 0 uses point 1 twice", "weld"),
        ("v 0 0 0\n", "no triangles or quads", "with its faces"),
    ] {
        let faults = simulate(obj, "", "").unwrap_err();
        assert_eq!(faults.faults.len(), 1, "one for each kind: {faults}");
        let fault = &faults.faults[0].fault;
        assert!(fault.reason.contains(places) && fault.remedy.contains(remedy), "{fault}");
    }
}

#[test]
fn texture_coordinates_turn_the_warp() {
    // Stretched along the warp, which the texture lays along z: other springs than without it.
    let bare = "v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\n";
    let fabric = "fabric = \"mine\"\n[fabrics.mine]\nwarp = 3000.0\nweft = 1000.0\nbias = 500.0\n";
    let plain = simulate(&format!("{bare}f 1 2 3 4\n"), "", fabric).unwrap().1;
    let turned = format!("{bare}vt 0 0\nvt 0 .1\nvt .5 .1\nvt .5 0\nf 1/1 2/2 3/3 4/4\n");
    let (loaded, turned) = simulate(&turned, "", fabric).unwrap();
    assert_eq!(
        loaded.notes,
        ["coat.obj: texture coordinates in metres: one u is 2.0000 m, one v is 10.0000 m"]
    );
    let along_x = |s: &Simulation| {
        let springs = &s.model().springs;
        let at = springs.ends.iter().position(|ends| *ends == [0, 1]).unwrap();
        springs.stiffness[at]
    };
    let along_z = |s: &Simulation| {
        let springs = &s.model().springs;
        let at = springs.ends.iter().position(|ends| *ends == [1, 2]).unwrap();
        springs.stiffness[at]
    };
    assert!((along_x(&plain) / along_z(&turned) - 1.0).abs() < 1e-12);
    assert!((along_z(&plain) / along_x(&turned) - 1.0).abs() < 1e-12);
    assert!((along_x(&plain) / along_x(&turned) - 1.0).abs() > 0.5, "warp and weft differ");
}

/// Meshes that cannot be cloth as they are, with the reason.
const NO_CLOTH: [(&str, &str); 1] =
    [("gltf-bodies/RobotExpressive/RobotExpressive.glb", "face 16 uses point 28 twice")];

fn mesh_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(mesh_files(&entry));
        } else if entry.extension().is_some_and(|e| ["obj", "gltf", "glb"].iter().any(|known| e == *known)) {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// Bodies and garments of others are read, and are cloth or refused for a reason that is known here. Prints the table of `docs/import.md`.
#[test]
fn bodies_and_garments_of_others_are_read() {
    let Some(data) = testing::reference_data("") else { return };
    println!("| file | kB | points | triangles | read [ms] | as cloth |\n|---|---:|---:|---:|---:|---|");
    for folder in ["bodies-obj", "gltf-bodies", "garments", "arcsim/meshes"] {
        for path in mesh_files(&data.join(folder)) {
            let name = path.strip_prefix(&data).unwrap().to_str().unwrap();
            let file = mesh::read(&path).unwrap_or_else(|error| panic!("{error}"));
            // The best of three: others may use the machine too.
            let read = |_| {
                let start = Instant::now();
                assert!(mesh::read(&path).is_ok());
                1e3 * start.elapsed().as_secs_f64()
            };
            let ms = (0..3).map(read).fold(f64::INFINITY, f64::min);
            let triangles = file.mesh.triangles.len() + 2 * file.mesh.quads.len();
            let shape = MeshShape { file: name.into(), scale: 1.0, up: UpAxis::Y, weld: 0.0 };
            let verdict = match import(&file.mesh, &shape).mesh.topology() {
                Ok(_) => "yes".to_string(),
                Err(problems) => {
                    let known = NO_CLOTH.iter().find(|(known, _)| *known == name);
                    let all: Vec<String> = problems.iter().map(|p| p.to_string()).collect();
                    assert!(
                        known.is_some_and(|(_, reason)| all[0].contains(reason)),
                        "{name}: {}",
                        all.join("; ")
                    );
                    format!("no: {} ({} places)", all[0], all.len())
                }
            };
            let (kb, points) = (fs::metadata(&path).unwrap().len() / 1000, file.mesh.positions.len());
            println!("| {name} | {kb} | {points} | {triangles} | {ms:.1} | {verdict} |");
        }
    }
}
