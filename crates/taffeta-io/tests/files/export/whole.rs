//! Exports: what every format holds is what was recorded, whole or not there at all.

use super::readers::{
    Abc, Glb, Mesh, Points, SIZES, files, header, numbers, record, recorded, run, single, target,
};
use super::readers::{read_mdd, read_obj, read_pc2, read_ply, usd_points, usd_prim, usd_samples};
use serde_json::{Value, json};
use std::path::Path;
use taffeta::math::DVec3;
use taffeta_io::export::{Bodies, Format, Options, Precision, UpAxis, export};
use taffeta_io::recording::{Frame, Reader};

/// The parts of a list that belong to the first and the second cloth.
fn parts<T: Clone>(list: &[T]) -> [Vec<T>; 2] {
    let (first, second) = list.split_at(SIZES[0].0 * SIZES[0].1);
    [first.to_vec(), second.to_vec()]
}

fn smooth_normals(frame: &Frame) -> Vec<DVec3> {
    let positions: Vec<DVec3> = frame.absolute().collect();
    // Another way to the same: for every particle, all triangles.
    let around = |i: usize| {
        let own = header()
            .triangles
            .into_iter()
            .map(|t| t.map(|k| k as usize))
            .filter(|t| t.contains(&i))
            .collect::<Vec<_>>();
        let area =
            |t: &[usize; 3]| (positions[t[1]] - positions[t[0]]).cross(positions[t[2]] - positions[t[0]]);
        own.iter().map(area).sum::<DVec3>().normalize()
    };
    (0..positions.len()).map(around).collect()
}

fn close(a: &[[f64; 3]], b: &[DVec3], bound: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert!((DVec3::from(*a) - *b).length() < bound, "{a:?} {b}"));
}

#[test]
fn sequences_hold_every_frame() {
    let (folder, recording, frames) = recorded();
    let options = Options { normals: Some(true), bodies: Bodies::None, ..Options::default() };
    for (format, up) in [(Format::Obj, None), (Format::Ply, Some(UpAxis::Y))] {
        let to = folder.path().join(format.name());
        let done = run(&recording, format, &to, &Options { up, ..options.clone() }).unwrap();
        let mut written = files(&to);
        assert_eq!(done.bytes, written.iter().map(|file| file.metadata().unwrap().len()).sum::<u64>());
        if format == Format::Obj {
            let materials = std::fs::read_to_string(written.pop().unwrap()).unwrap();
            assert!(materials.starts_with("newmtl flag\nKd 1 0.2158605 0\n"), "{materials}");
        }
        assert_eq!((written.len(), done.frames, done.paths, done.complete), (5, 5, vec![to.clone()], true));
        for (frame, file) in frames.iter().zip(written) {
            let name = format!("{format}.{:04}.{format}", frame.number);
            assert_eq!(file, to.join(name));
            let bytes = std::fs::read(file).unwrap();
            let mesh = if format == Format::Ply {
                read_ply(&bytes)
            } else {
                read_obj(str::from_utf8(&bytes).unwrap())
            };
            let points: Points = mesh.points.iter().map(|p| p.map(|x| x as f32)).collect();
            assert_eq!(points, single(frame));
            assert_eq!(mesh.triangles, header().triangles);
            assert_eq!(
                mesh.texture.iter().map(|uv| uv.map(|x| x as f32)).collect::<Vec<_>>(),
                header().material.iter().map(|uv| uv.map(|x| x as f32)).collect::<Vec<_>>()
            );
            close(&mesh.normals, &smooth_normals(frame), 1e-7);
            if format == Format::Obj {
                assert_eq!(mesh.groups, ["flag", "hand_\"ker\"_chief"]);
            }
        }
    }
}

#[test]
fn point_caches_hold_every_frame_and_the_rest_mesh() {
    let (folder, recording, frames) = recorded();
    for format in [Format::Pc2, Format::Mdd] {
        let to = target(&folder, format);
        let options = Options { replace: true, bodies: Bodies::None, ..Options::default() };
        let done = run(&recording, format, &to, &options).unwrap();
        let (bytes, mesh) =
            (std::fs::read(&to).unwrap(), std::fs::read_to_string(to.with_extension("obj")).unwrap());
        assert_eq!(done.paths, [to.clone(), to.with_extension("obj")]);
        assert_eq!(done.bytes, (bytes.len() + mesh.len()) as u64);
        let samples = if format == Format::Pc2 {
            let (first, samples) = read_pc2(&bytes);
            assert_eq!(first, 0.0);
            samples
        } else {
            let (times, samples) = read_mdd(&bytes);
            assert_eq!(times, frames.iter().map(|frame| frame.time as f32).collect::<Vec<_>>());
            samples
        };
        assert_eq!(samples, frames.iter().map(single).collect::<Vec<_>>());
        let mesh = read_obj(&mesh);
        close(&mesh.points, &header().rest_positions, 1e-7);
        assert_eq!(mesh.triangles, header().triangles);
    }
}

#[test]
fn usd_holds_points_normals_and_colliders() {
    let (folder, recording, frames) = recorded();
    let to = target(&folder, Format::Usd);
    run(&recording, Format::Usd, &to, &Options { floor: true, ..Options::default() }).unwrap();
    let text = std::fs::read_to_string(to).unwrap();
    for line in [
        "startTimeCode = 0",
        "endTimeCode = 4",
        "timeCodesPerSecond = 30",
        "metersPerUnit = 1",
        "upAxis = \"Y\"",
        "defaultPrim = \"World\"",
    ] {
        assert!(text.contains(&format!("    {line}\n")), "{line}");
    }
    for (k, name) in ["flag", "hand__ker__chief"].into_iter().enumerate() {
        let prim = usd_prim(&text, "Mesh", name);
        let truth: Vec<Points> = frames.iter().map(|frame| parts(&single(frame))[k].clone()).collect();
        assert_eq!(usd_points(prim), truth);
        for ((code, extent), (frame, points)) in
            usd_samples(prim, "float3[] extent").iter().zip(frames.iter().zip(&truth))
        {
            assert_eq!((*code, extent.len()), (frame.number, 6));
            for axis in 0..3 {
                let values = || points.iter().map(|p| p[axis]);
                let ends = [values().reduce(f32::min), values().reduce(f32::max)].map(Option::unwrap);
                assert_eq!([extent[axis] as f32, extent[axis + 3] as f32], ends);
            }
        }
        for ((_, normals), frame) in usd_samples(prim, "normal3f[] normals").iter().zip(&frames) {
            close(normals.as_chunks::<3>().0, &parts(&smooth_normals(frame))[k], 1e-7);
        }
        let line = |key: &str| numbers(prim.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap());
        let first = [0, 12][k];
        let local: Vec<f64> =
            header().triangles.as_flattened().iter().map(|i| f64::from(*i) - f64::from(first)).collect();
        let local: Vec<f64> = if k == 0 { local[..36].to_vec() } else { local[36..].to_vec() };
        assert_eq!(line("int[] faceVertexIndices = "), local);
        assert_eq!(line("int[] faceVertexCounts = "), vec![3.0; local.len() / 3]);
        assert_eq!(line("bool[] primvars:pinned = ").iter().sum::<f64>(), [2.0, 0.0][k]);
        assert!(prim.contains("subdivisionScheme = \"none\"") && prim.contains("primvars:st"));
    }
    for (kind, name, body) in [("Sphere", "ball", 0), ("Capsule", "collider", 3)] {
        let prim = usd_prim(&text, kind, name);
        for (k, (_, at)) in usd_samples(prim, "double3 xformOp:translate").into_iter().enumerate() {
            assert_eq!(DVec3::from_slice(&at), frames[k].bodies[body].position);
        }
        for (k, (_, turn)) in usd_samples(prim, "quatd xformOp:orient").into_iter().enumerate() {
            assert_eq!([turn[1], turn[2], turn[3], turn[0]], frames[k].bodies[body].rotation.to_array());
        }
    }
    let cube = usd_prim(&text, "Cube", "box");
    assert!(
        cube.contains("xformOp:translate = (1, -0.5, 0.25)")
            && cube.contains("xformOp:scale = (0.1, 0.2, 0.3)")
    );
    assert!(usd_prim(&text, "Plane", "floor").contains("axis = \"Y\""));
    assert!(text.contains("        displayName = \"hand \\\"ker\\\" chief\"\n"));
    // Every surface has the material of its colour.
    assert!(usd_prim(&text, "Mesh", "flag").contains("rel material:binding = </World/Materials/flag>"));
    assert!(cube.contains("rel material:binding = </World/Materials/Bodies>"));
    let flag = text.split("def Material \"flag\"").nth(1).unwrap();
    assert!(flag.split("def Material").next().unwrap().contains("inputs:diffuseColor = (1, 0.2158605, 0)\n"));
}

#[test]
fn a_package_is_an_archive_of_the_layer() {
    let (folder, recording, _) = recorded();
    let [layer, package] = [Format::Usd, Format::Usdz].map(|format| {
        let to = target(&folder, format);
        let done = run(&recording, format, &to, &Options::default()).unwrap();
        let bytes = std::fs::read(to).unwrap();
        assert_eq!(done.bytes, bytes.len() as u64);
        bytes
    });
    let number =
        |at: usize, size: usize| package[at..at + size].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    // The end of the directory, the directory, the head that it names, as APPNOTE.TXT of PKWARE lays them out.
    let end = package.len() - 22;
    let directory = number(end + 16, 4);
    assert_eq!(
        (&package[end..end + 4], &package[directory..directory + 4]),
        (&b"PK\x05\x06"[..], &b"PK\x01\x02"[..])
    );
    assert_eq!((number(end + 8, 2), number(end + 12, 4)), (1, end - directory));
    let head = number(directory + 42, 4);
    assert_eq!((&package[head..head + 4], number(head + 8, 2)), (&b"PK\x03\x04"[..], 0));
    let start = head + 30 + number(head + 26, 2) + number(head + 28, 2);
    assert_eq!((start % 64, number(head + 18, 4), number(directory + 24, 4)), (0, layer.len(), layer.len()));
    assert!(package[start..start + layer.len()] == layer[..]);
    assert_eq!(number(head + 14, 4), crc32(&layer) as usize);
}

/// CRC-32 bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}

#[test]
fn strain_and_certificate_are_where_the_format_has_a_place_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run");
    let header = taffeta_io::recording::Header {
        edges: vec![[0, 1], [1, 2]],
        rest_lengths: vec![0.05, 0.1],
        ..header()
    };
    let frames = record(&recording, &header, 0..2);
    let truth: Vec<f32> = frames
        .iter()
        .map(|frame| {
            let at: Vec<DVec3> = frame.absolute().take(3).collect();
            (at[0].distance(at[1]) / 0.05 - 1.0) as f32
        })
        .collect();
    let options = Options { certificate: true, bodies: Bodies::None, replace: true, ..Options::default() };
    let to = target(&folder, Format::Usd);
    run(&recording, Format::Usd, &to, &options).unwrap();
    let text = std::fs::read_to_string(to).unwrap();
    let strain = usd_samples(usd_prim(&text, "Mesh", "flag"), "float[] primvars:strain");
    for (frame, (_, strain)) in strain.iter().enumerate() {
        assert_eq!((strain[0] as f32, strain[1] as f32, strain.len()), (truth[frame], truth[frame], 12));
    }
    assert!(
        text.contains("custom double taffeta:max_strain.timeSamples = {\n            0: None,"),
        "{}",
        &text[..900]
    );
    let to = target(&folder, Format::Alembic);
    run(&recording, Format::Alembic, &to, &options).unwrap();
    let abc = Abc::read(std::fs::read(to).unwrap());
    for (frame, sample) in abc.samples("/flag/flagShape/.geom/.arbGeomParams/strain").iter().enumerate() {
        assert_eq!((sample[..4].to_vec(), sample.len()), (truth[frame].to_le_bytes().to_vec(), 48));
    }
    let done = run(&recording, Format::Gltf, &target(&folder, Format::Gltf), &options).unwrap();
    assert_eq!(done.left_out, ["gltf does not carry pins, strain, the certificate of frames"]);
}

#[test]
fn gltf_plays_every_frame() {
    let (folder, recording, frames) = recorded();
    let to = target(&folder, Format::Gltf);
    run(&recording, Format::Gltf, &to, &Options { floor: true, ..Options::default() }).unwrap();
    let glb = Glb::read(&std::fs::read(&to).unwrap());
    // The reader of meshes sees the first frame, cloths before colliders.
    let back = taffeta_io::mesh::read(&to).unwrap().mesh;
    let first: Vec<DVec3> = parts(&frames[0].absolute().collect::<Vec<_>>()).concat();
    let shown: Vec<[f64; 3]> = back.positions.iter().take(first.len()).map(|p| p.to_array()).collect();
    close(&shown, &first, 3e-7);
    for (node, name) in ["flag", "hand \"ker\"_chief"].into_iter().enumerate() {
        assert_eq!(glb.root["nodes"][node]["name"], name);
        let shown = glb.played(node, "POSITION");
        assert_eq!(shown.len(), 5);
        for (k, frame) in frames.iter().enumerate() {
            let truth: Vec<DVec3> = parts(&frame.absolute().collect::<Vec<_>>())[node].clone();
            // The first frame is stored as it is, the others as differences.
            let wide = |points: &Points| points.iter().map(|p| p.map(f64::from)).collect::<Vec<_>>();
            close(&wide(&shown[k]), &truth, 3e-7);
            close(&wide(&glb.played(node, "NORMAL")[k]), &parts(&smooth_normals(frame))[node], 3e-7);
        }
        let (times, _) = glb.channel(node, "weights");
        assert_eq!(times, frames.iter().map(|frame| frame.time as f32).collect::<Vec<_>>());
        let primitive = &glb.root["meshes"][node]["primitives"][0];
        let texture = glb.floats(&primitive["attributes"]["TEXCOORD_0"]);
        assert_eq!(texture[..4], [0.0, 1.0, 0.1, 1.0]);
        let indices = glb.words(&primitive["indices"]);
        assert_eq!(indices.len(), [36, 12][node]);
        assert_eq!(indices.iter().map(|w| u32::from_le_bytes(*w)).max(), Some([11, 5][node]));
    }
    let (_, shifts) = glb.channel(2, "translation");
    let (_, turns) = glb.channel(2, "rotation");
    for (k, frame) in frames.iter().enumerate() {
        assert_eq!(shifts[3 * k..][..3], frame.bodies[0].position.to_array().map(|x| x as f32));
        assert_eq!(turns[4 * k..][..4], frame.bodies[0].rotation.to_array().map(|x| x as f32));
    }
    // Nothing else is animated but the capsule; the box stands where it was put.
    assert_eq!(glb.root["animations"][0]["channels"].as_array().unwrap().len(), 2 + 2 * 2);
    assert_eq!(glb.root["nodes"][4]["translation"], json!([1.0, -0.5, 0.25]));
    let ball = glb.floats(&glb.root["meshes"][2]["primitives"][0]["attributes"]["POSITION"]);
    let off = |p: &[f32; 3]| (p.iter().map(|x| x * x).sum::<f32>().sqrt() - 0.5).abs();
    assert!(ball.as_chunks::<3>().0.iter().all(|p| off(p) < 1e-6));
}

#[test]
fn alembic_holds_every_frame() {
    let (folder, recording, frames) = recorded();
    let to = target(&folder, Format::Alembic);
    let options = Options { normals: Some(true), floor: true, ..Options::default() };
    run(&recording, Format::Alembic, &to, &options).unwrap();
    let abc = Abc::read(std::fs::read(to).unwrap());
    for (k, name) in ["flag", "hand \"ker\"_chief"].into_iter().enumerate() {
        let geom = |property: &str| format!("/{name}/{name}Shape/.geom/{property}");
        let truth: Vec<Points> = frames.iter().map(|frame| parts(&single(frame))[k].clone()).collect();
        assert_eq!(abc.points(&geom("P")), truth);
        for (normals, frame) in abc.points(&geom("N")).iter().zip(&frames) {
            let wide: Vec<[f64; 3]> = normals.iter().map(|n| n.map(f64::from)).collect();
            close(&wide, &parts(&smooth_normals(frame))[k], 1e-7);
        }
        let first = [0, 12][k];
        let part = if k == 0 { 0..12 } else { 12..16 };
        let clockwise: Vec<u8> = header().triangles[part]
            .iter()
            .flat_map(|t| [t[2], t[1], t[0]].map(|i| i - first))
            .flat_map(u32::to_le_bytes)
            .collect();
        assert_eq!(abc.samples(&geom(".faceIndices")), std::slice::from_ref(&clockwise));
        assert_eq!(abc.samples(&geom("uv/.indices")), [clockwise]);
        let colour = [1.0f32, 0.2158605, 0.0].iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(abc.samples(&geom(".arbGeomParams/Cd")), [colour.repeat(truth[0].len())]);
        assert_eq!(abc.samples(&geom("uv/.vals"))[0].len(), 8 * truth[0].len());
        let low = f64::from_le_bytes(abc.samples(&geom(".selfBnds"))[4][..8].try_into().unwrap());
        assert_eq!(low as f32, truth[4].iter().map(|p| p[0]).reduce(f32::min).unwrap());
    }
    let constant = |path: &str| abc.properties.iter().find(|p| p.0 == path).unwrap().2;
    assert!(!constant("/flag/flagShape/.geom/P") && constant("/flag/flagShape/.geom/.faceCounts"));
    for (k, matrix) in abc.samples("/ball/.xform/.vals").iter().enumerate() {
        let m: Vec<f64> = matrix.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        // For row vectors: the image of a local point.
        let pose = frames[k].bodies[0];
        let image = DVec3::from_array(std::array::from_fn(|c| {
            0.1 * m[c] + 0.2 * m[4 + c] + 0.3 * m[8 + c] + m[12 + c]
        }));
        assert!((image - pose.to_world(DVec3::new(0.1, 0.2, 0.3))).length() < 1e-15);
    }
    assert_eq!(
        (abc.samples("/box/.xform/.vals").len(), abc.points("/floor/floorShape/.geom/P")[0].len()),
        (1, 4)
    );
    // Samples, step, one stored time, and that time, of the second sampling.
    let sampling = &abc.samplings[24..];
    assert_eq!(sampling[..4], 5u32.to_le_bytes());
    assert_eq!(sampling[4..12], (1.0f64 / 30.0).to_le_bytes());
    assert!(abc.about.starts_with("FramesPerTimeUnit=30;"));
}

#[test]
fn reports_become_a_table() {
    let (folder, recording, _) = recorded();
    let to = target(&folder, Format::Csv);
    run(&recording, Format::Csv, &to, &Options { frames: Some(3..=9), ..Options::default() }).unwrap();
    let text = std::fs::read_to_string(to).unwrap();
    let want = "frame,time,state_hash,strain.largest,strain.mean,stages.0,stages.1,note,report.time\n\
        3,0.1,3000000000000007,0.010000000000000002,,3,true,\"a, \"\"b\"\"\",own\n\
        4,0.13333333333333333,4000000000000007,0.013333333333333334,,4,true,\"a, \"\"b\"\"\",own\n";
    assert_eq!(text, want);
}

#[test]
fn axes_units_precision_and_range_are_those_asked_for() {
    let (folder, recording, frames) = recorded();
    let options = Options {
        up: Some(UpAxis::Z),
        scale: 100.0,
        frames: Some(2..=3),
        precision: Precision::F64,
        normals: Some(true),
        bodies: Bodies::None,
        ..Options::default()
    };
    let turned = |p: DVec3| DVec3::new(p.x, -p.z, p.y);
    let check = |mesh: &Mesh, frame: &Frame| {
        let truth: Vec<[f64; 3]> = frame.absolute().map(|p| (turned(p) * 100.0).to_array()).collect();
        assert_eq!(mesh.points, truth);
        close(&mesh.normals, &smooth_normals(frame).into_iter().map(turned).collect::<Vec<_>>(), 1e-7);
    };
    for format in [Format::Obj, Format::Ply] {
        let to = folder.path().join(format.name());
        let done = run(&recording, format, &to, &options).unwrap();
        assert_eq!((done.frames, done.first, done.last), (2, 2, 3));
        let meshes = files(&to).into_iter().filter(|file| file.extension().unwrap() != "mtl");
        for (file, frame) in meshes.zip(&frames[2..]) {
            let bytes = std::fs::read(file).unwrap();
            check(
                &if format == Format::Ply {
                    read_ply(&bytes)
                } else {
                    read_obj(str::from_utf8(&bytes).unwrap())
                },
                frame,
            );
        }
    }
    let single = Options { precision: Precision::F32, bodies: Bodies::Points, ..options };
    let to = target(&folder, Format::Usd);
    run(&recording, Format::Usd, &to, &single).unwrap();
    let text = std::fs::read_to_string(to).unwrap();
    assert!(
        text.contains("metersPerUnit = 0.01\n")
            && text.contains("upAxis = \"Z\"")
            && text.contains("startTimeCode = 2\n")
    );
    let ball = usd_prim(&text, "Sphere", "ball");
    assert!(ball.contains("double radius = 50\n"));
    let (code, at) = &usd_samples(ball, "double3 xformOp:translate")[0];
    assert_eq!((*code, DVec3::from_slice(at)), (2, turned(frames[2].bodies[0].position) * 100.0));
    // The ball's own axes turn with the world: a local point goes where the world takes it.
    let turn = usd_samples(ball, "quatd xformOp:orient")[0].1.clone();
    let rotation = taffeta::math::DQuat::from_xyzw(turn[1], turn[2], turn[3], turn[0]);
    let local = DVec3::new(0.1, 0.2, 0.3);
    assert!((rotation * local - turned(frames[2].bodies[0].rotation * local)).length() < 1e-15);
    let to = target(&folder, Format::Pc2);
    run(&recording, Format::Pc2, &to, &single).unwrap();
    let (first, samples) = read_pc2(&std::fs::read(to).unwrap());
    assert_eq!((first, samples.len()), (2.0, 2));
    assert_eq!(
        samples[1][7],
        (turned(frames[3].absolute().nth(7).unwrap()) * 100.0).to_array().map(|x| x as f32)
    );
}

#[test]
fn one_frame_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run");
    let frames = record(&recording, &header(), 7..8);
    for format in Format::ALL {
        let done = run(
            &recording,
            format,
            &target(&folder, format),
            &Options { replace: true, ..Options::default() },
        );
        assert_eq!(done.unwrap().frames, 1);
    }
    let glb = Glb::read(&std::fs::read(target(&folder, Format::Gltf)).unwrap());
    assert_eq!(
        (&glb.root["animations"], &glb.played(0, "POSITION")[0]),
        (&Value::Null, &parts(&single(&frames[0]))[0])
    );
    let abc = Abc::read(std::fs::read(target(&folder, Format::Alembic)).unwrap());
    assert_eq!(abc.points("/flag/flagShape/.geom/P"), [parts(&single(&frames[0]))[0].clone()]);
    assert!(abc.properties.iter().all(|p| p.2));
}

#[test]
fn equal_recordings_give_equal_bytes_everywhere() {
    // Of all formats together; only a change of a format may change this.
    const BYTES: u64 = 14247274620275709291;
    let mut sums = Vec::new();
    for _ in 0..2 {
        let (folder, recording, _) = recorded();
        for format in Format::ALL {
            run(
                &recording,
                format,
                &target(&folder, format).with_file_name(format!("{format}.{}", format.extension())),
                &Options { replace: true, ..Options::default() },
            )
            .unwrap();
        }
        let mut all = Vec::new();
        for file in files(folder.path()) {
            all.extend(file.file_name().unwrap().as_encoded_bytes());
            all.extend(std::fs::read(&file).unwrap());
        }
        sums.push(xxhash_rust::xxh3::xxh3_64(&all));
    }
    assert_eq!(sums, [BYTES; 2]);
}

#[test]
fn formats_have_names_and_extensions() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        assert_eq!(Format::of_path(Path::new(&format!("a.b/c.{}", format.extension()))), Ok(format));
    }
    assert_eq!("USD".parse(), Ok(Format::Usd));
    assert!(
        "fbx"
            .parse::<Format>()
            .unwrap_err()
            .to_string()
            .contains("obj, ply, pc2, mdd, usd, usdz, gltf, alembic, csv")
    );
    assert!(Format::of_path(Path::new("usd")).is_err());
}

#[test]
fn progress_goes_from_one_to_all() {
    let (folder, recording, _) = recorded();
    for format in Format::ALL {
        let mut seen = Vec::new();
        let mut reader = Reader::open(&recording).unwrap();
        let to = folder.path().join(format!("out_{format}"));
        export(
            &mut reader,
            format,
            &to,
            &Options { replace: true, ..Options::default() },
            &mut |done, of| seen.push((done, of)),
        )
        .unwrap();
        let of = seen[0].1;
        assert!(of.is_multiple_of(5));
        assert_eq!(seen, (1..=of).map(|k| (k, of)).collect::<Vec<_>>(), "{format}");
    }
}

#[test]
fn the_weave_is_a_picture_that_materials_of_cloth_name() {
    let (folder, recording, _) = recorded();
    let options = Options { weave: true, ..Options::default() };
    let png = b"\x89PNG\r\n\x1a\n";
    // Beside a layer,
    let to = target(&folder, Format::Usd);
    let done = run(&recording, Format::Usd, &to, &options).unwrap();
    let beside = to.with_file_name(format!("{}_weave.png", to.file_stem().unwrap().to_str().unwrap()));
    let picture = std::fs::read(&beside).unwrap();
    assert_eq!(done.paths, [to.clone(), beside.clone()]);
    assert_eq!(done.bytes, (picture.len() as u64) + to.metadata().unwrap().len());
    assert!(picture.starts_with(png));
    let text = std::fs::read_to_string(&to).unwrap();
    let name = beside.file_name().unwrap().to_str().unwrap();
    let flag = text.split("def Material \"flag\"").nth(1).unwrap().split("def Material").next().unwrap();
    assert!(flag.contains(&format!("asset inputs:file = @./{name}@")), "{flag}");
    let bodies = text.split("def Material \"Bodies\"").nth(1).unwrap();
    assert!(!bodies.contains("UsdUVTexture") && bodies.contains("inputs:diffuseColor = ("));
    // in a package behind it,
    let to = target(&folder, Format::Usdz);
    run(&recording, Format::Usdz, &to, &options).unwrap();
    let package = std::fs::read(to).unwrap();
    let number =
        |at: usize, size: usize| package[at..at + size].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    let end = package.len() - 22;
    assert_eq!(number(end + 8, 2), 2);
    let second = number(end + 16, 4) + 46 + "scene.usda".len();
    let head = number(second + 42, 4);
    let start = head + 30 + number(head + 26, 2) + number(head + 28, 2);
    assert_eq!((start % 64, &package[start..start + picture.len()]), (0, &picture[..]));
    assert_eq!(number(head + 14, 4), crc32(&picture) as usize);
    // and in a file of glTF.
    let to = target(&folder, Format::Gltf);
    run(&recording, Format::Gltf, &to, &options).unwrap();
    let bytes = std::fs::read(to).unwrap();
    let root = Glb::read(&bytes).root;
    let view = &root["bufferViews"][root["images"][0]["bufferView"].as_u64().unwrap() as usize];
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let at = 28 + length + view["byteOffset"].as_u64().unwrap() as usize;
    assert_eq!(bytes[at..at + picture.len()], picture[..]);
    assert_eq!(root["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"], 0);
    let error = run(&recording, Format::Alembic, &target(&folder, Format::Alembic), &options).unwrap_err();
    assert!(error.to_string().contains("alembic cannot have a weave"), "{error}");
}
