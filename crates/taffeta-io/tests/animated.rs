//! Bodies that deform: skins, shapes and clips of glTF files made here by hand, point caches, and the bodies of others held against another reader.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use taffeta::Simulation;
use taffeta::math::random::Random;
use taffeta::math::{DAffine3, DVec3, Pose};
use taffeta::model::skin::Skin;
use taffeta::model::{BodyMesh, Form, clip};
use taffeta_io::mesh::{read_animated, read_gltf_animated};
use taffeta_io::scene_file::{LoadedScene, SceneFaults, SceneSource, load};

/// A document and its numbers.
struct Made {
    document: Value,
    numbers: Vec<u8>,
}

impl Made {
    /// Appends an accessor over numbers of a type that `code` names.
    fn list(&mut self, kind: &str, code: u32, count: usize, bytes: Vec<u8>) -> usize {
        let views = self.document["bufferViews"].as_array_mut().unwrap();
        views.push(json!({ "buffer": 0, "byteOffset": self.numbers.len(), "byteLength": bytes.len() }));
        let view = views.len() - 1;
        self.numbers.extend(&bytes);
        self.numbers.resize(self.numbers.len().next_multiple_of(4), 0);
        let accessors = self.document["accessors"].as_array_mut().unwrap();
        accessors.push(json!({ "bufferView": view, "componentType": code, "count": count, "type": kind }));
        accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, numbers: &[f32]) -> usize {
        self.list(kind, 5126, numbers.len() / width, numbers.iter().flat_map(|n| n.to_le_bytes()).collect())
    }

    /// Adds a channel that moves a part of a node.
    fn channel(&mut self, clip: usize, node: u32, path: &str, between: &str, times: &[f32], values: &[f32]) {
        let (kind, width) = match path {
            "rotation" => ("VEC4", 4),
            "weights" => ("SCALAR", 1),
            _ => ("VEC3", 3),
        };
        let (input, output) = (self.floats("SCALAR", 1, times), self.floats(kind, width, values));
        let clip = &mut self.document["animations"][clip];
        let samplers = clip["samplers"].as_array_mut().unwrap();
        samplers.push(json!({ "input": input, "output": output, "interpolation": between }));
        let sampler = samplers.len() - 1;
        let target = json!({ "node": node, "path": path });
        clip["channels"].as_array_mut().unwrap().push(json!({ "sampler": sampler, "target": target }));
    }

    fn bytes(mut self) -> Vec<u8> {
        self.document["buffers"] = json!([{ "byteLength": self.numbers.len() }]);
        let json = self.document.to_string();
        let json = json.clone() + &" ".repeat(json.len().next_multiple_of(4) - json.len());
        let chunk = |kind: &[u8], bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), kind, bytes].concat();
        let body = [chunk(b"JSON", json.as_bytes()), chunk(b"BIN\0", &self.numbers)].concat();
        [b"glTF", &2_u32.to_le_bytes()[..], &(12 + body.len() as u32).to_le_bytes(), &body].concat()
    }
}

/// A strip of two squares that stands on the floor, 2 m high; the lower joint is at the floor, the upper one at 1 m. Node 3 carries a triangle without a skin,
/// with a shape that lifts its last point.
fn arm() -> Made {
    let document = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1, 3] }],
        "nodes": [
            { "mesh": 0, "skin": 0, "translation": [50, 0, 0] },
            { "children": [2], "translation": [0, 0, 0] },
            { "translation": [0, 1, 0] },
            { "mesh": 1, "translation": [5, 0, 0], "weights": [0.5] }
        ],
        "skins": [{ "joints": [1, 2] }], "meshes": [], "accessors": [], "bufferViews": [],
        "animations": [{ "name": "bend", "channels": [], "samplers": [] }]
    });
    let mut made = Made { document, numbers: vec![] };
    let corners = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0_f32];
    let points: Vec<f32> = corners.chunks(2).flat_map(|c| [c[0], c[1], 0.0]).collect();
    let (points, faces) = (
        made.floats("VEC3", 3, &points),
        made.list("SCALAR", 5121, 12, vec![0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4]),
    );
    let joints = made.list("VEC4", 5121, 6, [0, 1, 0, 0].repeat(6));
    let weights = made.list(
        "VEC4",
        5121,
        6,
        [
            [255, 0, 0, 0],
            [255, 0, 0, 0],
            [128, 127, 0, 0],
            [128, 127, 0, 0],
            [0, 255, 0, 0],
            [0, 255, 0, 0_u8],
        ]
        .concat(),
    );
    made.document["accessors"][weights]["normalized"] = true.into();
    let one = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0];
    let unbound = made.floats("MAT4", 16, &[one(0.0), one(-1.0)].concat());
    made.document["skins"][0]["inverseBindMatrices"] = unbound.into();
    let attributes = json!({ "POSITION": points, "JOINTS_0": joints, "WEIGHTS_0": weights });
    let triangle = made.floats("VEC3", 3, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let lifted = made.floats("VEC3", 3, &[0.0, 2.0, 0.0]);
    let place = made.list("SCALAR", 5121, 1, vec![2]);
    let [of_place, of_ways] = [place, lifted].map(|k| made.document["accessors"][k]["bufferView"].clone());
    let accessors = made.document["accessors"].as_array_mut().unwrap();
    accessors.push(json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": { "count": 1,
        "indices": { "bufferView": of_place, "componentType": 5121 }, "values": { "bufferView": of_ways } } }));
    let shape = accessors.len() - 1;
    made.document["meshes"] = json!([
        { "primitives": [{ "attributes": attributes, "indices": faces }] },
        { "primitives": [{ "attributes": { "POSITION": triangle }, "targets": [{ "POSITION": shape }] }] }
    ]);
    let half = 0.5_f32.sqrt();
    // The upper half turns to -x by a quarter within a second.
    made.channel(0, 2, "rotation", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]);
    // And back within another half of one.
    let animations = made.document["animations"].as_array_mut().unwrap();
    animations.push(json!({ "name": "sway", "channels": [], "samplers": [] }));
    let turns = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half, 0.0, 0.0, 0.0, 1.0];
    made.channel(1, 2, "rotation", "LINEAR", &[0.0, 0.5, 1.0], &turns);
    made
}

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
    match Simulation::new(&loaded.scene, &loaded.meshes) {
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

fn shared(folder: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("TAFFETA_SHARED").map_or(repository.join("../shared"), PathBuf::from);
    let found = shared.join("data").join(folder);
    if !found.is_dir() {
        eprintln!("SKIPPED: bodies of others: no folder {}", found.display());
        return None;
    }
    Some(found.canonicalize().unwrap())
}

/// File, clip, moment and points as `interop/gltf_pose.py` has them, which shares no code with this.
type Known = (&'static str, &'static str, u32, [(usize, [f64; 3]); 3]);

#[rustfmt::skip]
const KNOWN: [Known; 10] = [
    ("CesiumMan", "0", 45, [(0, [0.019517740, 0.974102159, 0.107019211]), (1500, [0.118514974, 1.373083818, 0.161127380]), (3000, [0.113618228, 1.421944669, 0.160684389])]),
    ("CesiumMan", "0", 205, [(0, [0.007872902, 0.942823214, 0.130860450]), (1500, [0.004908117, 1.353166089, 0.245448689]), (3000, [-0.014299264, 1.398073356, 0.250766216])]),
    ("Fox", "Survey", 148, [(0, [2.055216071, 32.954076740, -20.403960902]), (800, [-7.069062734, 29.221297739, -13.269761114]), (1700, [7.015659483, 16.575025288, -39.102125404])]),
    ("Fox", "Run", 68, [(0, [2.929318709, 30.532623599, -30.215498559]), (800, [-9.482792399, 24.166460342, -40.618545462]), (1700, [7.263528636, 42.980006600, -52.303568208])]),
    ("RiggedFigure", "0", 93, [(0, [-0.097041288, 1.124861970, -0.091728719]), (100, [-0.043486070, 1.125123614, 0.042060579]), (360, [-0.057637807, 0.041881763, 0.177901230])]),
    ("RiggedSimple", "0", 133, [(0, [-0.000000044, -4.575077057, 0.999999583]), (80, [2.085605348, 4.109521815, -0.172236812]), (159, [2.291760274, 3.979782551, 0.415819799])]),
    ("RobotExpressive", "Dance", 281, [(10, [0.376025638, -0.020304409, -0.076345739]), (3000, [-0.012607523, 3.269969501, -0.738400591]), (7000, [0.996830256, 1.111891420, -0.384914780])]),
    ("RobotExpressive", "Yes", 60, [(10, [0.376025638, -0.020304409, -0.076345739]), (3000, [0.986495309, 2.984570904, -0.700889423]), (7000, [1.118351052, 0.950703901, 0.940731888])]),
    ("RobotExpressive", "Death", 48, [(10, [0.376025804, -0.010366553, 0.477539329]), (3000, [1.003619460, 0.157506906, -5.234099100]), (7000, [2.307810300, 0.596153811, -0.577604320])]),
    ("Michelle", "TPose", 4, [(0, [0.057486898, 1.457731123, 0.077757818]), (8000, [0.069029219, 1.514866591, 0.056598682]), (16000, [0.037062151, 1.441760416, 0.078472043])]),
];

#[test]
fn bodies_of_others_move_as_another_reader_has_them() {
    let Some(folder) = shared("gltf-bodies") else { return };
    let scenes = tempfile::tempdir().unwrap();
    for (name, clip, moment, known) in KNOWN {
        let file = folder.join(name).join(format!("{name}.glb"));
        // The fox is in centimetres.
        let scale = if name == "Fox" { 0.01 } else { 1.0 };
        let mesh = format!("file = {file:?}, scale = {scale}, animation = {{ clip = \"{clip}\" }}");
        let (_, simulation) = in_folder(scenes.path(), &mesh).unwrap_or_else(|faults| panic!("{faults}"));
        let body = body(&simulation);
        let points = body.points(f64::from(moment) * body.pace().interval, &Pose::IDENTITY);
        for (k, want) in known {
            let off = points[k].distance(scale * DVec3::from(want));
            assert!(off < 2e-6, "{name} {clip} {k}: {} and not {want:?}", points[k]);
        }
    }
}

/// All clips of all bodies load. In the middle between two moments they are off by little; `docs/import.md` has what this prints.
#[test]
fn all_clips_load_and_are_near_their_true_way_between_moments() {
    let Some(folder) = shared("gltf-bodies") else { return };
    println!("| body | clip | s | moments | off [mm] |\n|---|---|---:|---:|---:|");
    // The long dance is for optimised builds.
    let long = if cfg!(debug_assertions) { "SambaDance" } else { "" };
    for name in ["CesiumMan", "Fox", "RiggedFigure", "RiggedSimple", "RobotExpressive", "Michelle"] {
        let file = read_animated(&folder.join(name).join(format!("{name}.glb"))).unwrap();
        let rig = file.mesh.rig.as_deref().unwrap();
        // A robot of 4.7 m and a fox in centimetres, as tall as the others.
        let scale = match name {
            "Fox" => 0.01,
            "RobotExpressive" => 0.35,
            "RiggedSimple" => 0.1,
            _ => 1.0,
        };
        let outer = DAffine3::from_scale(DVec3::splat(scale));
        for clip in rig.clips.iter().filter(|clip| clip.name != long) {
            let (moments, interval) = clip::moments(rig, clip, outer).unwrap();
            let mut skin = Skin {
                rest: rig.points.clone(),
                ends: rig.ends.clone(),
                shares: rig.shares.clone(),
                morphs: rig.shapes.iter().map(|shape| shape.morph.clone()).collect(),
                moments,
            };
            let count = skin.moments.len() - 1;
            let mut off: f64 = 0.0;
            let mut places = [vec![DVec3::ZERO; skin.rest.len()], vec![DVec3::ZERO; skin.rest.len()]];
            for k in (0..count).step_by(3) {
                let [straight, exact] = &mut places;
                skin.place(k, k + 1, 0.5, &Pose::IDENTITY, straight);
                skin.moments.push(clip::pose(rig, clip, (k as f64 + 0.5) * interval, outer));
                skin.place(count + 1, count + 1, 0.0, &Pose::IDENTITY, exact);
                skin.moments.pop();
                off = straight.iter().zip(exact).fold(off, |off, (a, b)| off.max(a.distance(*b)));
            }
            let length = count as f64 * interval;
            println!("| {name} | {} | {length:.2} | {count} | {:.2} |", clip.name, 1e3 * off);
            // The robot is a cartoon: its fists change their velocity by metres in a second from one key to the next.
            let most = if name == "RobotExpressive" { 1e-2 } else { 1e-3 };
            assert!(off < most, "{name} {}: {off} m", clip.name);
        }
    }
}

#[test]
fn a_dancer_of_raw_numbers_moves_as_a_cache_and_bodies_of_others_on_keyframes() {
    let (Some(sequence), Some(bodies)) = (shared("body-sequence"), shared("bodies-obj")) else { return };
    let raw = fs::read(sequence.join("Rumba_Dancing.f32")).unwrap();
    let numbers: Vec<f32> = raw.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rumba.pc2"), pc2(12811, 40, &numbers)).unwrap();
    let file = sequence.join("Rumba_Dancing_frame0.obj");
    let mesh = format!("file = {file:?}, cache = {{ file = \"rumba.pc2\", rate = 12.5 }}");
    let (_, simulation) = in_folder(folder.path(), &mesh).unwrap_or_else(|faults| panic!("{faults}"));
    let dancer = body(&simulation);
    assert_eq!((dancer.point_count(), dancer.triangles().len(), dancer.moment_count()), (12811, 25472, 40));
    for (moment, point) in [(0, 0), (7, 5000), (39, 12810)] {
        let at = 3 * (12811 * moment + point);
        let want = DVec3::new(numbers[at].into(), numbers[at + 1].into(), numbers[at + 2].into());
        let now = dancer.point(point, 0.08 * moment as f64, &Pose::IDENTITY);
        assert!(now.distance(want) < 1e-9, "{moment} {point}: {now} and not {want}");
    }
    for (name, points) in [("f_smpl_average_A40.obj", 6890), ("mean_all.obj", 23752)] {
        let mesh = format!(
            "file = {:?} }}\nkeyframe = [{{ time = 0 }}, {{ time = 1, move = [0, 0, 1]",
            bodies.join(name)
        );
        let (_, simulation) =
            in_folder(folder.path(), &(mesh + " }]\n#")).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(body(&simulation).point_count(), points);
        assert_eq!(simulation.model().colliders[0].pose(0.5).position, DVec3::new(0.0, 0.0, 0.5));
    }
}
