//! A glTF file made by hand: an arm of two joints.

use serde_json::{Value, json};

/// A document and its numbers.
pub struct Made {
    pub document: Value,
    numbers: Vec<u8>,
}

impl Made {
    /// Appends an accessor over numbers of a type that `code` names.
    pub fn list(&mut self, kind: &str, code: u32, count: usize, bytes: Vec<u8>) -> usize {
        let views = self.document["bufferViews"].as_array_mut().unwrap();
        views.push(json!({ "buffer": 0, "byteOffset": self.numbers.len(), "byteLength": bytes.len() }));
        let view = views.len() - 1;
        self.numbers.extend(&bytes);
        self.numbers.resize(self.numbers.len().next_multiple_of(4), 0);
        let accessors = self.document["accessors"].as_array_mut().unwrap();
        accessors.push(json!({ "bufferView": view, "componentType": code, "count": count, "type": kind }));
        accessors.len() - 1
    }

    pub fn floats(&mut self, kind: &str, width: usize, numbers: &[f32]) -> usize {
        self.list(kind, 5126, numbers.len() / width, numbers.iter().flat_map(|n| n.to_le_bytes()).collect())
    }

    /// Adds a channel that moves a part of a node.
    pub fn channel(
        &mut self,
        clip: usize,
        node: u32,
        path: &str,
        between: &str,
        times: &[f32],
        values: &[f32],
    ) {
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

    pub fn bytes(mut self) -> Vec<u8> {
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
pub fn arm() -> Made {
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
