//! Bodies that deform: skins, shapes and clips of glTF files, point caches.

mod made;
mod others;

use made::{Made, arm};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use taffeta::Simulation;
use taffeta::math::random::Random;
use taffeta::math::{DAffine3, DVec3, Pose};
use taffeta::model::{BodyMesh, Form};
use taffeta_io::mesh::read_gltf_animated;
use taffeta_io::scene_file::{LoadedScene, SceneFaults, SceneSource, load};
use taffeta_scene::build::clip;

/// Loads and builds a scene with the body `body.glb` of these bytes, moved as `animation` says.
fn simulate(bytes: &[u8], mesh: &str) -> Result<(LoadedScene, Simulation), SceneFaults> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("body.glb"), bytes).unwrap();
    in_folder(folder.path(), &format!("file = \"body.glb\", {mesh}"))
}

fn in_folder(folder: &Path, mesh: &str) -> Result<(LoadedScene, Simulation), SceneFaults> {
    let scene = folder.join("scene.toml");
    let sheet = "position = [0.0, 9.0, 0.0]\nsheet = { width = 1.0, height = 1.0, columns = 3, rows = 3 }";
    fs::write(&scene, format!("[[cloth]]\n{sheet}\n[[collider]]\nmesh = {{ {mesh} }}\n")).unwrap();
    let loaded = load(&SceneSource::File(scene), &[])?;
    match taffeta_scene::simulation(&loaded.scene, &loaded.meshes) {
        Ok(simulation) => Ok((loaded, simulation)),
        Err(faults) => Err(loaded.refuse(faults)),
    }
}

fn body(simulation: &Simulation) -> &BodyMesh {
    match &simulation.model().colliders[0].form {
        Form::Mesh(mesh) => mesh,
        Form::Closed(_) => panic!("a mesh"),
    }
}

fn points(made: Made, animation: &str, time: f64) -> Vec<DVec3> {
    let simulated = simulate(&made.bytes(), &format!("animation = {{ {animation} }}"));
    let (_, simulation) = simulated.unwrap_or_else(|faults| panic!("{faults}"));
    let mesh = body(&simulation);
    let pose = Pose::from_degrees(DVec3::X, DVec3::new(0.0, 30.0, 0.0));
    let points = mesh.points(time, &pose);
    for (k, p) in points.iter().enumerate() {
        assert_eq!(mesh.point(k, time, &pose), *p, "one point as all points");
    }
    points.iter().map(|p| pose.to_local(*p)).collect()
}

fn assert_at(p: DVec3, want: [f64; 3]) {
    assert!(p.distance(DVec3::from(want)) < 2e-4, "{p} and not {want:?}");
}

#[test]
fn joints_bend_the_skin_and_shapes_the_rest() {
    let now = points(arm(), "clip = \"bend\"", 0.5);
    let [sine, cosine] = [std::f64::consts::FRAC_PI_4.sin(), std::f64::consts::FRAC_PI_4.cos()];
    assert_at(now[0], [0.0, 0.0, 0.0]);
    // What is held by one joint turns with it about (0, 1, 0); the node of a skinned mesh counts for nothing.
    assert_at(now[4], [-sine, 1.0 + cosine, 0.0]);
    assert_at(now[5], [cosine - sine, 1.0 + sine + cosine, 0.0]);
    // What is held by both in the ratio 128 to 127 is in between.
    let part = 127.0 / 255.0;
    assert_at(now[3], [1.0 - part + part * cosine, 1.0 + part * sine, 0.0]);
    // Without a skin: its node's place, half of the shape.
    assert_at(now[6], [5.0, 0.0, 0.0]);
    assert_at(now[8], [5.0, 2.0, 0.0]);
    // A quarter at the end, and for ever; twice as fast; starting later; again and again.
    for (animation, time, angle) in [
        ("clip = \"0\"", 9.0, 90.0),
        ("speed = 2.0", 0.25, 45.0),
        ("start = 1.0", 1.5, 45.0),
        ("start = 1.0", 0.9, 0.0),
        ("clip = \"sway\", repeat = true", 3.25, 45.0),
    ] {
        let turned = f64::to_radians(angle);
        assert_at(points(arm(), animation, time)[4], [-turned.sin(), 1.0 + turned.cos(), 0.0]);
    }
}

/// The arm with a third clip: bent by a quarter, straight after half a second, bent again after another.
fn bent_arm() -> Made {
    let mut made = arm();
    let animations = made.document["animations"].as_array_mut().unwrap();
    animations.push(json!({ "name": "bent", "channels": [], "samplers": [] }));
    let half = 0.5_f32.sqrt();
    let turns = [[0.0, 0.0, half, half], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]].concat();
    made.channel(2, 2, "rotation", "LINEAR", &[0.0, 0.5, 1.0], &turns);
    made.channel(2, 3, "weights", "LINEAR", &[0.0], &[1.0]);
    made
}

#[test]
fn a_body_goes_from_where_it_rests_to_the_first_pose_before_the_clip_starts() {
    let animation = "clip = \"bent\", start = 2.0, rest_until = 1.0, repeat = true";
    let at = |time: f64, angle: f64, part: f64| {
        let now = points(bent_arm(), animation, time);
        let turned = f64::to_radians(angle);
        assert_at(now[4], [-turned.sin(), 1.0 + turned.cos(), 0.0]);
        assert_at(now[8], [5.0, 1.0 + 2.0 * part, 0.0]);
    };
    // At rest until then, half of the way in between, in the first pose when the clip starts.
    at(0.0, 0.0, 0.5);
    at(1.0, 0.0, 0.5);
    at(1.5, 45.0, 0.75);
    at(2.0, 90.0, 1.0);
    // The clip alone starts again.
    at(2.25, 45.0, 1.0);
    at(3.0, 90.0, 1.0);
    at(14.25, 45.0, 1.0);
    // Softly: it starts and arrives without speed, and is nowhere faster than half as fast again as at constant speed.
    let (_, simulation) = simulate(&bent_arm().bytes(), &format!("animation = {{ {animation} }}")).unwrap();
    let place = |time: f64| body(&simulation).point(4, time, &Pose::IDENTITY);
    let speed = |time: f64| 100.0 * place(time).distance(place(time + 0.01));
    assert!(speed(1.0) < 0.1 && speed(1.99) < 0.1, "{} and {} m/s", speed(1.0), speed(1.99));
    let fastest = (0..100).map(|k| speed(1.0 + 0.01 * f64::from(k))).fold(0.0, f64::max);
    assert!(fastest < 1.501 * std::f64::consts::FRAC_PI_2, "{fastest} m/s");
    // The pose of the clip from the start on, where nothing else is asked for.
    assert_at(points(bent_arm(), "clip = \"bent\", start = 2.0", 0.0)[4], [-1.0, 1.0, 0.0]);
    let late = "animation = { clip = \"bent\", start = 1.0, rest_until = 1.0 }";
    let faults = simulate(&bent_arm().bytes(), late).unwrap_err().to_string();
    assert!(faults.contains("rest_until = 1 is not before the clip starts, at 1 s"), "{faults}");
    let short = "animation = { clip = \"bent\", start = 1.0, rest_until = 0.95 }";
    let faults = simulate(&bent_arm().bytes(), short).unwrap_err().to_string();
    assert!(
        faults.contains("collider[0].mesh.animation.rest_until") && faults.contains("6 moments"),
        "{faults}"
    );
}

#[test]
fn tracks_go_straight_in_steps_and_on_curves() {
    let moved = |between: &str, values: &[f32], time: f64| {
        let mut made = arm();
        made.channel(0, 3, "translation", between, &[0.0, 0.5, 1.0], values);
        points(made, "", time)[6].x
    };
    let keys = [0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.1, 0.0, 0.0_f32];
    assert!((moved("LINEAR", &keys, 0.75) - 0.2).abs() < 1e-6);
    assert!((moved("STEP", &keys, 0.75) - 0.3).abs() < 1e-6);
    // Slopes before and behind every key; by hand at a quarter of the second piece.
    let curve: Vec<f32> = keys
        .chunks(3)
        .flat_map(|key| [[0.4, 0.0, 0.0], [key[0], 0.0, 0.0], [0.8, 0.0, 0.0]].concat())
        .collect();
    let s: f64 = 0.5;
    let want = (2.0 * s.powi(3) - 3.0 * s * s + 1.0) * 0.3
        + 0.5 * (s.powi(3) - 2.0 * s * s + s) * 0.8
        + (3.0 * s * s - 2.0 * s.powi(3)) * 0.1
        + 0.5 * (s.powi(3) - s * s) * 0.4;
    assert!((moved("CUBICSPLINE", &curve, 0.75) - want).abs() < 1e-6);
    let mut made = arm();
    made.channel(0, 3, "weights", "LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    made.channel(0, 3, "scale", "LINEAR", &[0.0], &[3.0, 3.0, 3.0]);
    assert_at(points(made, "", 0.25)[8], [5.0, 3.0 * 1.5, 0.0]);
}

#[test]
fn welding_scaling_and_turning_go_with_the_motion() {
    let (_, simulation) =
        simulate(&arm().bytes(), "scale = 0.1, up = \"z\", animation = { clip = \"bend\" }").unwrap();
    let now = body(&simulation).points(0.5, &Pose::IDENTITY);
    let s = 0.5_f64.sqrt();
    assert_at(now[4], [-0.1 * s, 0.0, -0.1 * (1.0 + s)]);
}

#[test]
fn weights_that_do_not_add_up_are_normalised_and_told() {
    let mut made = arm();
    let weights = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0];
    let weights = made.floats("VEC4", 4, &[&weights[..], &[0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]].concat());
    made.document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = weights.into();
    let (loaded, simulation) = simulate(&made.bytes(), "animation = {}").unwrap();
    let told = "body.glb: meshes[0].primitives[0]: weights of 3 points did not add up to 1 and were normalised; point 4 had 2.000";
    assert_eq!(loaded.notes, [told]);
    let s = 0.5_f64.sqrt();
    let now = body(&simulation).points(0.5, &Pose::IDENTITY);
    assert_at(now[4], [-s, 1.0 + s, 0.0]);
    assert_at(now[3], [0.5 + 0.5 * s, 1.0 + 0.5 * s, 0.0]);

    let mut made = arm();
    made.document["skins"][0]["inverseBindMatrices"] = Value::Null;
    let (loaded, _) = simulate(&made.bytes(), "animation = {}").unwrap();
    assert!(loaded.notes[0].contains("skins[0] has no inverse bind matrices"), "{:?}", loaded.notes);
}

#[test]
fn bad_files_are_refused_by_name_and_part() {
    type Change = fn(&mut Made);
    fn attribute(made: &mut Made, name: &str, list: usize) {
        made.document["meshes"][0]["primitives"][0]["attributes"][name] = list.into();
    }
    let cases: [(Change, &str, &str); 15] = [
        (|m| m.document["nodes"][2]["children"] = json!([1]), "nodes[1]", "own ancestor"),
        (|m| m.document["nodes"][0]["children"] = json!([2]), "nodes[2]", "two parents"),
        (|m| m.document["skins"][0]["joints"] = json!([1, 2, 3]), "skins[0]", "2 inverse bind matrices"),
        (|m| m.document["skins"][0]["joints"] = json!([1, 9]), "skins[0]", "no node 9"),
        (|m| m.document["skins"][0]["inverseBindMatrices"] = 99.into(), "accessors[99]", "no such accessor"),
        (
            |m| {
                let k = m.list("VEC4", 5121, 6, [7, 7, 0, 0].repeat(6));
                attribute(m, "JOINTS_0", k)
            },
            "accessors",
            "element 0 names joint 7 of a skin of 2 joints",
        ),
        (
            |m| {
                let k = m.list("VEC4", 5121, 5, [0, 1, 0, 0].repeat(5));
                attribute(m, "JOINTS_0", k)
            },
            "accessors",
            "5 JOINTS of kind Vec4 for 6 points",
        ),
        (
            |m| {
                let k = m.floats("VEC4", 4, &[0.0; 24]);
                attribute(m, "WEIGHTS_0", k)
            },
            "meshes[0].primitives[0]",
            "weights of point 0 are all 0",
        ),
        (
            |m| {
                let k = m.floats("VEC4", 4, &[-1.0; 24]);
                attribute(m, "WEIGHTS_0", k)
            },
            "accessors",
            "a weight of element 0 is -1",
        ),
        (
            |m| m.channel(0, 2, "translation", "LINEAR", &[0.0, 0.5, 0.5], &[0.0; 9]),
            "accessors",
            "key 2 is at 0.5 s, not later",
        ),
        (
            |m| m.channel(0, 2, "translation", "LINEAR", &[0.0, 1.0], &[0.0; 9]),
            "animations[0].channels[1]",
            "9 numbers for 2 keys",
        ),
        (
            |m| m.channel(0, 2, "translation", "WAVY", &[0.0], &[0.0; 3]),
            "animations[0].channels[1]",
            "interpolation `WAVY` is unknown",
        ),
        (
            |m| m.channel(0, 9, "translation", "LINEAR", &[0.0], &[0.0; 3]),
            "animations[0].channels[1]",
            "no node 9",
        ),
        (
            |m| m.document["animations"][0]["channels"][0]["sampler"] = 4.into(),
            "animations[0].channels[0]",
            "no sampler 4",
        ),
        (
            |m| {
                m.document["nodes"][2] = json!({ "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1] })
            },
            "animations[0].channels[0]",
            "nodes[2] is placed by a matrix",
        ),
    ];
    for (change, part, reason) in cases {
        let mut made = arm();
        change(&mut made);
        let Err(faults) = simulate(&made.bytes(), "animation = {}") else { panic!("taken: {reason}") };
        let told = faults.to_string();
        assert!(
            told.contains(part) && told.contains(reason) && told.contains("body.glb"),
            "{reason}: {told}"
        );
    }
}

#[test]
fn clips_that_cannot_be_played_are_refused_at_their_key() {
    let still = |made: &mut Made| {
        made.document["animations"] = json!([{ "name": "still", "channels": [], "samplers": [] }])
    };
    let mut empty = arm();
    still(&mut empty);
    empty.channel(0, 2, "translation", "LINEAR", &[0.0], &[0.0; 3]);
    let mut none = arm();
    still(&mut none);
    let mut long = arm();
    long.channel(0, 2, "translation", "LINEAR", &[0.0, 1e9], &[0.0; 6]);
    let mut jump = arm();
    jump.channel(0, 2, "translation", "STEP", &[0.0, 0.5], &[0.0, 0.0, 0.0, 90.0, 0.0, 0.0]);
    for (made, clip, key, reason) in [
        (arm(), "wave", "animation.clip", "is no clip of this file, which has 2: \"bend\", \"sway\""),
        (arm(), "2", "animation.clip", "is no clip of this file"),
        (empty, "still", "animation.clip", "length zero: its last key is at 0 s"),
        (none, "0", "animation.clip", "length zero"),
        (long, "0", "animation.clip", "is a clip of 1000000000 s"),
        (jump, "0", "file", "jumps: point 2 moves"),
    ] {
        let Err(faults) = simulate(&made.bytes(), &format!("animation = {{ clip = \"{clip}\" }}")) else {
            panic!("taken: {reason}")
        };
        assert!(faults.to_string().contains(reason), "{reason}: {faults}");
        assert_eq!(faults.faults[0].fault.key, format!("collider[0].mesh.{key}"));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let faults = in_folder(folder.path(), "file = \"one.obj\", animation = {}").unwrap_err();
    assert!(faults.to_string().contains("one.obj holds no animations"), "{faults}");
}

#[test]
fn damaged_files_are_read_or_refused_and_never_break() {
    let whole = arm().bytes();
    let alone = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let mut random = Random::new(11);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + (random.unit() * 3.0) as usize {
            let at = (random.unit() * bytes.len() as f64) as usize;
            bytes[at] = match random.unit() {
                x if x < 0.5 => b'0' + (random.unit() * 10.0) as u8,
                _ => (random.unit() * 256.0) as u8,
            };
        }
        match read_gltf_animated(&bytes, &alone) {
            Err(_) => refused += 1,
            Ok(file) => {
                let rig = file.mesh.rig.as_deref().unwrap();
                assert!(rig.fits(file.mesh.positions.len()));
                for clip in &rig.clips {
                    // Long clips are for others: here it is only that nothing breaks.
                    let last = clip
                        .tracks
                        .iter()
                        .filter_map(|track| track.times.last())
                        .fold(0.0, |a: f64, b| a.max(*b));
                    if last < 10.0 {
                        let _ = clip::moments(rig, clip, DAffine3::IDENTITY);
                    }
                }
                read += 1;
            }
        }
    }
    assert!(read > 300 && refused > 300, "{read} {refused}");
}

/// A cache of these points.
fn pc2(points: i32, samples: i32, numbers: &[f32]) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend([1, points].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([0.0_f32, 1.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(samples.to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

#[test]
fn a_point_cache_moves_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let numbers: Vec<f32> =
        (0..3).flat_map(|k| [0.0, 0.0, k as f32, 1.0, 0.0, k as f32, 0.0, 1.0, k as f32]).collect();
    let write = |bytes: &[u8]| fs::write(folder.path().join("one.pc2"), bytes).unwrap();
    write(&pc2(3, 3, &numbers));
    let mesh =
        |more: &str| format!("file = \"one.obj\", cache = {{ file = \"one.pc2\", rate = 10.0{more} }}");
    let (_, simulation) = in_folder(folder.path(), &mesh("")).unwrap_or_else(|faults| panic!("{faults}"));
    let z = |simulation: &Simulation, time: f64| body(simulation).points(time, &Pose::IDENTITY)[1].z;
    let at = |simulation: &Simulation| [0.0, 0.05, 0.15, 0.2, 9.0].map(|time| z(simulation, time));
    assert!(at(&simulation).iter().zip([0.0, 0.5, 1.5, 2.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-9));
    let (_, again) = in_folder(folder.path(), &mesh(", start = 1.0, repeat = true")).unwrap();
    for (time, want) in [(0.5, 0.0), (1.1, 1.0), (1.25, 1.0), (1.3, 0.0), (1.4, 1.0)] {
        assert!((z(&again, time) - want).abs() < 1e-6, "{time}: {}", z(&again, time));
    }
    let lost: Vec<f32> = numbers.iter().map(|n| if *n == 2.0 { f32::NAN } else { *n }).collect();
    for (bytes, reason) in [
        (pc2(3, 3, &numbers[1..]), "the header claims 9 points in all, but 104 bytes follow"),
        (pc2(i32::MAX, i32::MAX, &numbers), "the header claims 4611686014132420609 points"),
        (pc2(0, 3, &[]), "holds nothing"),
        (pc2(-3, 3, &numbers), "holds nothing"),
        (pc2(3, 3, &numbers)[..20].to_vec(), "the header is cut off"),
        (b"no cache".to_vec(), "does not start as a PC2 cache"),
        (pc2(2, 2, &numbers[..12]), "holds 4 points, no multiple of the 3 of one.obj"),
        (pc2(3, 3, &lost), "point 0 of sample 2 is not finite"),
    ] {
        write(&bytes);
        let Err(faults) = in_folder(folder.path(), &mesh("")) else { panic!("taken: {reason}") };
        assert!(faults.to_string().contains(reason), "{reason}: {faults}");
        assert_eq!(faults.faults[0].fault.key, "collider[0].mesh.cache.file");
    }
}
