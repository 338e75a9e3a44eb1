//! glTF files, rule by rule, made here by hand.

use std::io;

use serde_json::{Value, json};

use super::*;

/// The chunk of numbers of [`document`].
fn numbers() -> Vec<u8> {
    let mut bytes = Vec::new();
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    for [x, y] in corners {
        bytes.extend([x, y, 0.0, x, 1.0 - y].iter().flat_map(|n: &f32| n.to_le_bytes()));
    }
    bytes.extend([0_u16, 1, 2, 0xABCD].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([0_u8, 2, 3, 3, 1, 0xAB, 0xAB, 0xAB]);
    bytes.extend([1_u8, 2, 3, 0xAB]);
    bytes.extend([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0_f32].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend([0, 0, 65535, 0, 65535, 65535, 0, 65535_u16].iter().flat_map(|n| n.to_le_bytes()));
    bytes
}

/// Two meshes: a list and a strip that share interleaved points, and a fan with sparse points; nodes with every kind of transform.
fn document() -> Value {
    let half = 0.5_f64.sqrt();
    json!({
        "asset": { "version": "2.0", "generator": "by hand" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [
            { "children": [1, 2], "translation": [10, 0, 0] },
            { "mesh": 0, "scale": [2, 2, 2], "rotation": [0, 0, half, half] },
            { "mesh": 1, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1] },
            { "mesh": 99, "name": "in no scene" }
        ],
        "meshes": [
            { "primitives": [
                { "attributes": { "POSITION": 0, "TEXCOORD_0": 1, "NORMAL": 99 }, "indices": 2 },
                { "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 3, "mode": 5 }
            ] },
            { "primitives": [{ "attributes": { "POSITION": 4, "TEXCOORD_0": 5 }, "mode": 6, "targets": [{}] }] }
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 4, "type": "VEC2" },
            { "bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR" },
            { "bufferView": 2, "componentType": 5121, "count": 5, "type": "SCALAR" },
            { "componentType": 5126, "count": 4, "type": "VEC3", "sparse": {
                "count": 3, "indices": { "bufferView": 3, "componentType": 5121 }, "values": { "bufferView": 4 } } },
            { "bufferView": 5, "componentType": 5123, "normalized": true, "count": 4, "type": "VEC2" }
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 80, "byteStride": 20 },
            { "buffer": 0, "byteOffset": 80, "byteLength": 6 },
            { "buffer": 0, "byteOffset": 88, "byteLength": 5 },
            { "buffer": 0, "byteOffset": 96, "byteLength": 3 },
            { "buffer": 0, "byteOffset": 100, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 136, "byteLength": 16 }
        ],
        "buffers": [{ "byteLength": 152 }]
    })
}

/// A GLB file of chunks, each with its kind.
fn glb(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, bytes) in chunks {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        body.extend(((bytes.len() + padding) as u32).to_le_bytes());
        body.extend(*kind);
        body.extend(*bytes);
        body.extend([b' '].repeat(padding));
    }
    [b"glTF", &2_u32.to_le_bytes()[..], &(12 + body.len() as u32).to_le_bytes(), &body].concat()
}

/// A document with the numbers as a GLB file.
fn glb_of(document: &Value) -> Vec<u8> {
    glb(&[(b"JSON", document.to_string().as_bytes()), (b"BIN\0", &numbers())])
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().chain(&[0, 0]).take(3).fold(0, |bits, byte| bits << 8 | *byte as usize);
        text.extend((0..=group.len()).map(|k| digits[bits >> (18 - 6 * k) & 63] as char));
        text.extend(['='].repeat(3 - group.len()));
    }
    text
}

/// The same file as text with its numbers in base64.
fn text() -> Vec<u8> {
    let mut document = document();
    document["buffers"][0]["uri"] =
        format!("data:application/octet-stream;base64,{}", base64(&numbers())).into();
    serde_json::to_vec_pretty(&document).unwrap()
}

/// Reads a file that has no other beside it.
pub fn read_alone(bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    read_gltf(bytes, &|_| Err(io::ErrorKind::NotFound.into()))
}

pub fn samples() -> [(&'static str, Reader, Vec<u8>); 2] {
    [("gltf", read_alone, text()), ("glb binary", read_alone, glb_of(&document()))]
}

#[test]
fn every_feature_gives_the_surface_that_was_meant() {
    let file = read_alone(&glb_of(&document())).unwrap();
    let flat = [[10.0, 0.0, 0.0], [10.0, 2.0, 0.0], [8.0, 2.0, 0.0], [8.0, 0.0, 0.0]];
    let mirrored = [[10.0, 0.0, 5.0], [9.0, 0.0, 5.0], [9.0, 1.0, 5.0], [10.0, 1.0, 5.0]];
    assert_eq!(file.mesh.positions.len(), 8, "parts share their points");
    for (p, want) in file.mesh.positions.iter().zip(flat.iter().chain(&mirrored)) {
        assert!(p.distance(DVec3::from_array(*want)) < 1e-12, "{p} {want:?}");
    }
    // The mirrored fan turns round, and is then as the square before it: seen from +z.
    assert_eq!(file.mesh.triangles, [[0, 1, 2], [0, 2, 3], [5, 4, 6], [6, 4, 7]]);
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let upside = corners.map(|[u, v]| [u, 1.0 - v]);
    assert_eq!(file.mesh.material, [corners, upside].concat(), "v runs up");
    assert_eq!(file.notes, ["morph targets are not followed"]);
    assert_eq!(read_alone(&text()).unwrap(), file, "text and binary are one");
}

#[test]
fn buffers_come_from_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("sub/my numbers.bin"), numbers()).unwrap();
    std::fs::write(folder.path().join("outside.bin"), numbers()).unwrap();
    let read_with = |uri: &str, path: &str| {
        let mut document = document();
        document["buffers"][0]["uri"] = uri.into();
        let path = folder.path().join(path);
        std::fs::write(&path, document.to_string()).unwrap();
        read(&path)
    };
    let want = read_alone(&text()).unwrap();
    assert_eq!(read_with("sub/my%20numbers.bin", "mesh.gltf").unwrap(), want);
    assert_eq!(read_with("my numbers.bin", "sub/mesh.gltf").unwrap(), want);
    for (uri, reason) in [
        ("../outside.bin", "not a file in the folder"),
        ("missing.bin", "cannot be read: No such file"),
        ("http://example.org/a.bin", "not a file in the folder"),
        ("", "not a file in the folder"),
        ("data:text/plain,hello", "not base64"),
    ] {
        let error = read_with(uri, "sub/mesh.gltf").unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("mesh.gltf"), "{uri}: {error}");
    }
}

/// Changes one value of the document and reads it.
fn with(change: impl FnOnce(&mut Value)) -> Result<MeshFile, MeshFaults> {
    let mut document = document();
    change(&mut document);
    read_alone(&glb_of(&document))
}

#[test]
fn faults_name_the_part_and_the_reason() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str, &str); 26] = [
        (|d| d["asset"]["version"] = "1.0".into(), "1.0", "version"),
        (|d| d["asset"]["minVersion"] = "2.1".into(), "2.1", "version"),
        (|d| d["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]), "KHR_draco", "extension"),
        (|d| d["scene"] = 3.into(), "scenes[3]", "no such scene"),
        (|d| d["scenes"][0]["nodes"][0] = 9.into(), "nodes[9]", "no such node"),
        (|d| d["nodes"][1]["children"] = json!([0]), "nodes[0]", "own ancestor"),
        (|d| d["nodes"][1]["children"] = json!([2]), "nodes[2]", "two parents"),
        (|d| d["nodes"][1]["rotation"] = json!([0, 0, 0, 0]), "nodes[1]", "not finite"),
        (|d| d["nodes"][1]["mesh"] = 2.into(), "meshes[2]", "no such mesh"),
        (|d| d["nodes"][0]["scale"] = json!([1e308, 1, 1]), "nodes[1]", "not finite"),
        (|d| d["meshes"][0]["primitives"][0]["attributes"] = json!({}), "primitives[0]", "POSITION"),
        (|d| d["meshes"][0]["primitives"][0]["mode"] = 7.into(), "primitives[0]", "mode"),
        (|d| d["meshes"][0]["primitives"][0]["indices"] = 8.into(), "accessors[8]", "no such accessor"),
        (|d| d["meshes"][0]["primitives"][0]["indices"] = 0.into(), "accessors[0]", "indices"),
        (
            |d| d["meshes"][0]["primitives"][0]["indices"] = 3.into(),
            "primitives[0]",
            "whole number of triangles",
        ),
        (|d| d["accessors"][0]["type"] = "VEC2".into(), "accessors[0]", "POSITION"),
        (|d| d["accessors"][0]["componentType"] = 5122.into(), "accessors[0]", "POSITION"),
        (|d| d["accessors"][0]["componentType"] = 5124.into(), "accessors[0]", "unknown"),
        (|d| d["accessors"][0]["count"] = 5.into(), "accessors[0]", "do not fit"),
        (|d| d["accessors"][0]["count"] = u64::MAX.into(), "accessors[0]", "do not fit"),
        (|d| d["accessors"][1]["count"] = 3.into(), "accessors[1]", "texture coordinates for 4 points"),
        (|d| d["accessors"][2]["bufferView"] = Value::Null, "accessors[2]", "no data"),
        (|d| d["accessors"][2]["byteOffset"] = 2.into(), "accessors[2]", "do not fit"),
        (|d| d["accessors"][4]["sparse"]["count"] = 5.into(), "accessors[4]", "sparse"),
        (|d| d["bufferViews"][0]["byteLength"] = 9999.into(), "bufferViews[0]", "9999 bytes"),
        (|d| d["buffers"][0]["byteLength"] = 9999.into(), "buffers[0]", "claims 9999 bytes"),
    ];
    for (k, (change, place, reason)) in cases.into_iter().enumerate() {
        let faults = with(change).expect_err(reason);
        let fault = &faults.first[0];
        assert!(fault.value.contains(place) && fault.reason.contains(reason), "case {k}: {fault}");
        assert!(!fault.remedy.is_empty());
    }
}

#[test]
fn whole_numbers_may_be_written_as_fractions() {
    let plain = with(|_| {}).unwrap();
    let text = serde_json::to_string(&document()).unwrap();
    for (from, to) in [("\"componentType\":5126", "\"componentType\":5126.0"), ("\"mesh\":0", "\"mesh\":0e0")]
    {
        assert!(text.contains(from), "{text}");
        let bytes = glb(&[(b"JSON", text.replace(from, to).as_bytes()), (b"BIN\0", &numbers())]);
        assert_eq!(read_alone(&bytes).unwrap(), plain, "{to}");
    }
    assert!(with(|document| document["accessors"][0]["componentType"] = 5126.5.into()).is_err());
}

#[test]
fn indices_and_numbers_out_of_range_are_refused() {
    let damaged = |at: usize, raw: &[u8], reason: &str| {
        let mut numbers = numbers();
        numbers[at..at + raw.len()].copy_from_slice(raw);
        let file = glb(&[(b"JSON", document().to_string().as_bytes()), (b"BIN\0", &numbers)]);
        let faults = read_alone(&file).expect_err(reason);
        assert!(faults.to_string().contains(reason), "{faults}");
    };
    damaged(82, &[4, 0], "index 4 of 4 points");
    damaged(89, &[255], "index 255 of 4 points");
    damaged(98, &[4], "stands at 4, but there are 4 elements");
    damaged(4, &f32::NAN.to_le_bytes(), "coordinates of element 0");
    damaged(12, &f32::INFINITY.to_le_bytes(), "coordinates of element 0");
    // A strip restarts at the largest number, even where so many points exist.
    let mut document = json!({
        "asset": { "version": "2.0" },
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 256, "type": "VEC3" },
            { "bufferView": 0, "componentType": 5121, "count": 3, "type": "SCALAR" }
        ],
        "bufferViews": [{ "buffer": 0, "byteLength": 3072 }],
        "buffers": [{ "byteLength": 3072 }]
    });
    let file =
        |document: &Value| glb(&[(b"JSON", document.to_string().as_bytes()), (b"BIN\0", &[255; 3072])]);
    assert!(read_alone(&file(&document)).is_err(), "NaN");
    let zeros = glb(&[(b"JSON", document.to_string().as_bytes()), (b"BIN\0", &[0; 3072])]);
    let loose = read_alone(&zeros).unwrap();
    assert_eq!(loose.notes, ["the file has no nodes; every mesh is taken once, as it is"]);
    let restart = [&[0; 3069][..], &[255; 3]].concat();
    document["bufferViews"][0] = json!({ "buffer": 0, "byteLength": 3072 });
    document["accessors"][0]["count"] = 255.into();
    document["accessors"][1]["byteOffset"] = 3069.into();
    let file = glb(&[(b"JSON", document.to_string().as_bytes()), (b"BIN\0", &restart)]);
    assert!(read_alone(&file).unwrap_err().to_string().contains("index 255 of 255 points"));
}

#[test]
fn containers_are_taken_apart_with_care() {
    let json = document().to_string();
    let (json, bin) = (json.as_bytes(), &numbers()[..]);
    let good = glb(&[(b"JSON", json), (b"BIN\0", bin), (b"XTRA", b"more")]);
    assert!(read_alone(&good).is_ok(), "unknown chunks are passed over");
    let longer = [&good[..], b"!"].concat();
    let notes = read_alone(&longer).unwrap().notes;
    assert!(
        notes.iter().any(|note| note == "skipped 1 bytes behind the end that the header tells"),
        "{notes:?}"
    );
    let mut version = good.clone();
    version[4] = 1;
    let mut long_chunk = good.clone();
    long_chunk[12..16].fill(0xFF);
    for (file, offset, reason) in [
        (b"glTF".to_vec(), 0, "cut off"),
        (version, 4, "version"),
        (good[..good.len() - 1].to_vec(), 8, "length"),
        (glb(&[]), 12, "JSON is missing"),
        (glb(&[(b"BIN\0", bin)]), 16, "first chunk is not JSON"),
        (
            glb(&[(b"JSON", json), (b"BIN\0", bin), (b"BIN\0", bin)]),
            20 + json.len().next_multiple_of(4) + 8 + 152 + 4,
            "second chunk",
        ),
        (long_chunk, 12, "chunk is cut off"),
        (glb(&[(b"JSON", b"{\n\"asset\":7}")]), 30, "JSON"),
    ] {
        let fault = fault(read_alone, &file);
        assert_eq!(fault.offset, Some(offset), "{fault}");
        assert!(fault.reason.contains(reason), "{fault}");
    }
    let text = fault(read_alone, b"{\n\"asset\": { \"version\": 2 }}");
    assert_eq!((text.line, text.reason.contains("invalid type: integer `2`")), (Some(2), true), "{text}");
    assert!(
        fault(read_alone, b"\xEF\xBB\xBF{}").reason.contains("JSON"),
        "a mark before JSON is not allowed"
    );
}

#[test]
fn integers_stand_for_positions_where_the_extension_says_so() {
    let mut document = json!({
        "asset": { "version": "2.0" },
        "extensionsRequired": ["KHR_mesh_quantization"],
        "nodes": [{ "mesh": 0, "scale": [2, 2, 2] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5120, "normalized": true, "count": 3, "type": "VEC3" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 12, "byteStride": 4 }],
        "buffers": [{ "byteLength": 12 }]
    });
    let bytes = [127_i8, 0, -127, 0, -128, 0, 0, 0, 0, 127, 0, 0].map(|n| n as u8);
    let file = |document: &Value| {
        read_alone(&glb(&[(b"JSON", document.to_string().as_bytes()), (b"BIN\0", &bytes)]))
    };
    let mesh = file(&document).unwrap().mesh;
    assert_eq!(
        mesh.positions,
        [DVec3::new(2.0, 0.0, -2.0), DVec3::new(-2.0, 0.0, 0.0), DVec3::new(0.0, 2.0, 0.0)]
    );
    document["accessors"][0]["componentType"] = 5123.into();
    assert!(file(&document).is_err(), "too short");
    document["extensionsRequired"] = json!([]);
    document["accessors"][0]["componentType"] = 5120.into();
    assert!(file(&document).unwrap_err().to_string().contains("POSITION"));
}

#[test]
fn a_skinned_mesh_stands_where_its_joints_put_it() {
    // Scales by 100, as exporters do that count in centimetres, and undoes half of it.
    let matrix: [f32; 16] =
        [50.0, 0.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 7.0, 1.0];
    let mut document = document();
    document["nodes"][2]["skin"] = 0.into();
    document["nodes"][0]["scale"] = json!([0.01, 0.01, 0.01]);
    document["nodes"][0]["children"] = json!([1, 2, 3]);
    document["nodes"][3] = json!({ "translation": [0, 300, 0] });
    document["skins"] = json!([{ "joints": [3, 98], "inverseBindMatrices": 6 }]);
    let data = base64(&matrix.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
    let list =
        |name: &str, document: &mut Value, item: Value| document[name].as_array_mut().unwrap().push(item);
    list(
        "accessors",
        &mut document,
        json!({ "bufferView": 6, "componentType": 5126, "count": 1, "type": "MAT4" }),
    );
    list("bufferViews", &mut document, json!({ "buffer": 1, "byteLength": 64 }));
    list("buffers", &mut document, json!({ "byteLength": 64, "uri": format!("data:;base64,{data}") }));
    let file = read_alone(&glb_of(&document)).unwrap();
    assert_eq!(file.notes[0], "skins are not followed; the mesh stands in the pose that it was bound in");
    // 10 + 0.01 * 50 x, 0.01 * (300 + 50 y), 0.01 * 7.
    let want = [[10.0, 3.0, 0.07], [10.5, 3.0, 0.07], [10.5, 3.5, 0.07], [10.0, 3.5, 0.07]];
    for (p, want) in file.mesh.positions[4..].iter().zip(want) {
        assert!(p.distance(DVec3::from_array(want)) < 1e-12, "{p} {want:?}");
    }
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 5] = [
        (|d| d["nodes"][2]["skin"] = 1.into(), "no such skin (`skins[1]`)"),
        (|d| d["skins"][0]["joints"] = json!([]), "no joints"),
        (|d| d["skins"][0]["joints"] = json!([98]), "no node 98"),
        (|d| d["skins"][0]["inverseBindMatrices"] = 0.into(), "no matrices of a skin (`accessors[0]`)"),
        (|d| d["nodes"][3]["children"] = json!([3]), "more than 1000 nodes"),
    ];
    for (change, reason) in cases {
        let mut document = document.clone();
        change(&mut document);
        let faults = read_alone(&glb_of(&document)).expect_err(reason);
        assert!(faults.to_string().contains(reason), "{faults}");
    }
}

/// Small files that stand for much: nodes that repeat a mesh, points without data, parts beyond number, deep trees.
#[test]
fn small_files_do_not_become_large_surfaces() {
    let mut repeated = document();
    let node = json!({ "mesh": 1 });
    repeated["nodes"] = vec![node; 20_000].into();
    repeated["scenes"][0]["nodes"] = (0..20_000).collect::<Vec<u32>>().into();
    repeated["accessors"][4]["count"] = 5_000.into();
    repeated["meshes"][1]["primitives"][0]["attributes"] = json!({ "POSITION": 4 });
    let mut zeros = document();
    zeros["accessors"][4]["count"] = 1_000_000_000_000_u64.into();
    zeros["meshes"][1]["primitives"][0]["attributes"] = json!({ "POSITION": 4 });
    let mut parts = document();
    let part = json!({ "attributes": {}, "mode": 0 });
    parts["meshes"][1]["primitives"] = vec![part; 3_000].into();
    parts["nodes"] = vec![json!({ "mesh": 1 }); 20_000].into();
    parts["scenes"][0]["nodes"] = (0..20_000).collect::<Vec<u32>>().into();
    for (what, document) in [("repeated", repeated), ("zeros", zeros), ("parts", parts)] {
        let file = glb_of(&document);
        let faults = bounded(file.len(), what, || read_alone(&file)).expect_err(what);
        assert!(faults.to_string().contains("too many for the size"), "{what}: {faults}");
    }
    let mut deep = document();
    let chain = |k: u32| json!({ "children": [k + 1], "mesh": 0 });
    deep["nodes"] = (0..30_000).map(chain).chain([json!({})]).collect::<Vec<_>>().into();
    let file = glb_of(&deep);
    let read = bounded(file.len(), "deep", || read_alone(&file)).unwrap();
    assert_eq!(read.mesh.positions.len(), 4 * 30_000);
    let mut empty = document();
    empty["nodes"] = vec![json!({}); 300_000].into();
    let file = glb_of(&empty);
    let faults = bounded(file.len(), "empty nodes", || read_alone(&file)).unwrap_err();
    assert!(faults.to_string().contains("no points"), "{faults}");
    let nested = [&b"{\"asset\":{\"version\":\"2.0\"},\"extras\":"[..], &b"[".repeat(1_000_000)].concat();
    assert!(bounded(nested.len(), "nested", || read_alone(&nested)).is_err());
}
