//! A recording to export, and the smallest readers of every format: they know the standard, not the writer.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use taffeta::math::{DQuat, DVec3, Pose};
use taffeta_io::export::{ExportError, ExportSummary, Format, Options, export};
use taffeta_io::recording::{Frame, Header, Reader, Writer};
use tempfile::TempDir;

/// Particles of the two cloths: sheets of 3 by 4 and 2 by 3.
pub const SIZES: [(usize, usize); 2] = [(3, 4), (2, 3)];

/// Two sheets, one of them pinned, and four colliders of which the ball and the capsule move.
pub fn header() -> Header {
    let (mut rest_positions, mut triangles, mut material, mut cloths) = (vec![], vec![], vec![], vec![]);
    let names = ["flag", "hand \"ker\"\nchief"];
    for (k, ((columns, rows), name)) in SIZES.into_iter().zip(names).enumerate() {
        let (first, first_triangle) = (rest_positions.len(), triangles.len());
        for j in 0..rows {
            for i in 0..columns {
                rest_positions.push(DVec3::new(0.1 * i as f64, k as f64, -0.1 * j as f64));
                material.push([0.1 * i as f64, 0.1 * j as f64]);
                if i > 0 && j > 0 {
                    let at = |i: usize, j: usize| (first + j * columns + i) as u32;
                    triangles.push([at(i - 1, j - 1), at(i, j - 1), at(i, j)]);
                    triangles.push([at(i - 1, j - 1), at(i, j), at(i - 1, j)]);
                }
            }
        }
        cloths.push(json!({
            "name": name, "colour": "#ff8000",
            "particles": [first, rest_positions.len()], "triangles": [first_triangle, triangles.len()],
        }));
    }
    let colliders = json!([
        { "name": "ball", "shape": { "Sphere": { "radius": 0.5 } } },
        { "name": "floor", "shape": "Plane" },
        { "name": "box", "shape": { "Box": { "half_size": [0.1, 0.2, 0.3] } } },
        { "shape": { "Capsule": { "radius": 0.25, "half_length": 1.0 } } },
    ]);
    Header {
        scene: String::new(),
        about: json!({ "version": "0", "cloths": cloths, "colliders": colliders }),
        frame_time: 1.0 / 30.0,
        triangles,
        edges: vec![],
        rest_lengths: vec![],
        rest_positions,
        material,
        pinned: vec![0, 2],
    }
}

/// A frame in which everything waves.
pub fn frame(number: u32, rest: &[DVec3]) -> Frame {
    let time = f64::from(number) / 30.0;
    // A parabola of time and place instead of a sine, whose bits the platform chooses.
    let wave = |p: &DVec3| 3.0 * p.x * p.x - p.z * time + 0.25 * time * time;
    let moved: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::new(0.01 * time, wave(p), p.x * time)).collect();
    let turn = DQuat::from_xyzw(0.6 * time, 0.0, 0.8 * time, 1.0).normalize();
    let still =
        Pose { position: DVec3::new(1.0, -0.5, 0.25), rotation: DQuat::from_xyzw(0.6, 0.0, 0.0, 0.8) };
    let moving = Pose { position: DVec3::new(time, 1.0, -time), rotation: turn };
    let report = json!({
        "strain": { "largest": 0.1 * time, "mean": null }, "stages": [number, true], "note": "a, \"b\"", "time": "own"
    });
    let mut frame =
        Frame { number, time, state_hash: u64::from(number) << 60 | 7, report, ..Frame::default() };
    frame.bodies = vec![moving, Pose::IDENTITY, still, moving];
    frame.set_positions(&moved);
    frame
}

/// Records frames of these numbers.
pub fn record(path: &Path, header: &Header, numbers: impl Iterator<Item = u32>) -> Vec<Frame> {
    let mut writer = Writer::create(path, header).unwrap();
    let frames: Vec<Frame> = numbers.map(|number| frame(number, &header.rest_positions)).collect();
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    writer.finish().unwrap();
    frames
}

/// A folder with a recording of frames 0 to 4.
pub fn recorded() -> (TempDir, PathBuf, Vec<Frame>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.taffeta");
    let frames = record(&path, &header(), 0..5);
    (folder, path, frames)
}

/// Exports a recording.
pub fn run(
    recording: &Path,
    format: Format,
    to: &Path,
    options: &Options,
) -> Result<ExportSummary, ExportError> {
    export(&mut Reader::open(recording).unwrap(), format, to, options, &mut |_, _| {})
}

/// Where a format is exported to.
pub fn target(folder: &TempDir, format: Format) -> PathBuf {
    folder.path().join(format!("{format}_out.{}", format.extension()))
}

/// Positions in single precision.
pub type Points = Vec<[f32; 3]>;

/// All positions of a frame in single precision.
pub fn single(frame: &Frame) -> Points {
    frame.absolute().map(|p| p.to_array().map(|x| x as f32)).collect()
}

/// All files under a folder, by name, hidden ones too.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.iter().flat_map(|path| if path.is_dir() { files(path) } else { vec![path.clone()] }).collect()
}

/// Numbers in a text, whatever stands between them.
pub fn numbers(text: &str) -> Vec<f64> {
    let number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    text.split(|c| !number(c)).filter_map(|word| word.parse().ok()).collect()
}

fn triples(numbers: &[f64]) -> Points {
    numbers.as_chunks::<3>().0.iter().map(|p| p.map(|x| x as f32)).collect()
}

/// A mesh as text or bytes hold it.
#[derive(Debug, Default, PartialEq)]
pub struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub normals: Vec<[f64; 3]>,
    pub texture: Vec<[f64; 2]>,
    /// Corners counted from 0.
    pub triangles: Vec<[u32; 3]>,
    pub groups: Vec<String>,
}

pub fn read_obj(text: &str) -> Mesh {
    let mut mesh = Mesh::default();
    for line in text.lines() {
        let (key, rest) = line.split_once(' ').unwrap();
        let list = numbers(rest);
        match key {
            "v" => mesh.points.push(list.try_into().unwrap()),
            "vn" => mesh.normals.push(list.try_into().unwrap()),
            "vt" => mesh.texture.push(list.try_into().unwrap()),
            "g" => mesh.groups.push(rest.into()),
            "f" => {
                let corners = rest.split(' ').map(|corner| {
                    let named = numbers(&corner.replace('/', " "));
                    assert!(named.iter().all(|i| *i == named[0]));
                    named[0] as u32 - 1
                });
                mesh.triangles.push(corners.collect::<Vec<_>>().try_into().unwrap());
            }
            _ => assert!(matches!(key, "#" | "o" | "s" | "mtllib" | "usemtl"), "{line}"),
        }
    }
    mesh
}

pub fn read_ply(bytes: &[u8]) -> Mesh {
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let text = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = text.lines();
    assert_eq!([lines.next(), lines.next()], [Some("ply"), Some("format binary_little_endian 1.0")]);
    let count =
        |what: &str| text.split(what).nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let (vertices, faces): (usize, usize) = (count("element vertex"), count("element face"));
    let wide: Vec<bool> = lines
        .filter_map(|line| line.strip_prefix("property "))
        .filter(|line| !line.starts_with("list"))
        .map(|line| line.starts_with("double"))
        .collect();
    let has = |name: &str| text.contains(&format!(" {name}\n"));
    let (mut mesh, mut rest) = (Mesh::default(), &bytes[end..]);
    let mut take = |size: usize| {
        let (taken, left) = rest.split_at(size);
        rest = left;
        taken
    };
    for _ in 0..vertices {
        let row = wide.iter().map(|wide| match wide {
            true => f64::from_le_bytes(take(8).try_into().unwrap()),
            false => f64::from(f32::from_le_bytes(take(4).try_into().unwrap())),
        });
        let row: Vec<f64> = row.collect();
        mesh.points.push([row[0], row[1], row[2]]);
        if has("nx") {
            mesh.normals.push([row[3], row[4], row[5]]);
        }
        if let (true, [.., s, t]) = (has("s"), &row[..]) {
            mesh.texture.push([*s, *t]);
        }
    }
    for _ in 0..faces {
        assert_eq!(take(1), [3]);
        mesh.triangles.push(std::array::from_fn(|_| u32::from_le_bytes(take(4).try_into().unwrap())));
    }
    assert!(rest.is_empty());
    mesh
}

/// First frame and all samples.
pub fn read_pc2(bytes: &[u8]) -> (f32, Vec<Points>) {
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    let [version, points, samples] = [12, 16, 28].map(|at| i32::from_le_bytes(word(at)) as usize);
    let [first, rate] = [20, 24].map(|at| f32::from_le_bytes(word(at)));
    assert_eq!((version, rate, bytes.len()), (1, 1.0, 32 + 12 * points * samples));
    (first, vectors(&bytes[32..], f32::from_le_bytes).chunks(points).map(<[_]>::to_vec).collect())
}

/// Times and all samples.
pub fn read_mdd(bytes: &[u8]) -> (Vec<f32>, Vec<Points>) {
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    let [samples, points] = [0, 4].map(|at| i32::from_be_bytes(word(at)) as usize);
    assert_eq!(bytes.len(), 8 + 4 * samples + 12 * points * samples);
    let times = (0..samples).map(|k| f32::from_be_bytes(word(8 + 4 * k))).collect();
    let positions = vectors(&bytes[8 + 4 * samples..], f32::from_be_bytes);
    (times, positions.chunks(points).map(<[_]>::to_vec).collect())
}

fn vectors(bytes: &[u8], number: impl Fn([u8; 4]) -> f32) -> Points {
    bytes
        .as_chunks::<12>()
        .0
        .iter()
        .map(|v| v.as_chunks::<4>().0)
        .map(|w| [number(w[0]), number(w[1]), number(w[2])])
        .collect()
}

/// The text of a prim between its braces.
pub fn usd_prim<'a>(text: &'a str, kind: &str, name: &str) -> &'a str {
    let body = text.split(&format!("    def {kind} \"{name}\" (\n")).nth(1).unwrap();
    let body = body.split_once("    {\n").unwrap().1;
    body.split("\n    }\n").next().unwrap()
}

/// Time codes and numbers of an attribute's samples.
pub fn usd_samples(prim: &str, attribute: &str) -> Vec<(u32, Vec<f64>)> {
    let body = prim.split(&format!("        {attribute}.timeSamples = {{\n")).nth(1).unwrap();
    let body = body.split("        }").next().unwrap();
    let sample = |line: &str| {
        let (code, value) = line.split_once(": ").unwrap();
        (code.trim().parse().unwrap(), numbers(value))
    };
    body.lines().map(sample).collect()
}

pub fn usd_points(prim: &str) -> Vec<Points> {
    usd_samples(prim, "point3f[] points").iter().map(|(_, list)| triples(list)).collect()
}

/// A binary glTF file in parts.
pub struct Glb {
    pub root: Value,
    binary: Vec<u8>,
}

impl Glb {
    pub fn read(bytes: &[u8]) -> Glb {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let text = word(12);
        assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
        assert_eq!((&bytes[16..20], &bytes[24 + text..28 + text]), (&b"JSON"[..], &b"BIN\0"[..]));
        assert_eq!((text % 4, word(20 + text)), (0, bytes.len() - 28 - text));
        let root: Value = serde_json::from_slice(&bytes[20..20 + text]).unwrap();
        assert_eq!(root["buffers"][0]["byteLength"], bytes.len() - 28 - text);
        Glb { root, binary: bytes[28 + text..].to_vec() }
    }

    /// Words of an accessor, which must lie within its view and agree with its bounds.
    pub fn words(&self, accessor: &Value) -> Vec<[u8; 4]> {
        let accessor = &self.root["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            _ => 4,
        };
        let (offset, size) = (number(&accessor["byteOffset"]), 4 * width * number(&accessor["count"]));
        assert!(offset + size <= number(&view["byteLength"]));
        let words = self.binary[number(&view["byteOffset"]) + offset..][..size].as_chunks::<4>().0.to_vec();
        if let (Some(low), Some(high)) = (accessor["min"].as_array(), accessor["max"].as_array()) {
            for k in 0..width {
                let values = || words.iter().skip(k).step_by(width).map(|w| f32::from_le_bytes(*w));
                assert_eq!(low[k].as_f64(), values().reduce(f32::min).map(f64::from));
                assert_eq!(high[k].as_f64(), values().reduce(f32::max).map(f64::from));
            }
        }
        words
    }

    pub fn floats(&self, accessor: &Value) -> Vec<f32> {
        self.words(accessor).into_iter().map(f32::from_le_bytes).collect()
    }

    /// A channel's times and values.
    pub fn channel(&self, node: usize, path: &str) -> (Vec<f32>, Vec<f32>) {
        let animation = &self.root["animations"][0];
        let channels = animation["channels"].as_array().unwrap();
        let wanted = |c: &&Value| c["target"]["node"] == node && c["target"]["path"] == path;
        let sampler = channels.iter().find(wanted).unwrap()["sampler"].as_u64().unwrap() as usize;
        let sampler = &animation["samplers"][sampler];
        (self.floats(&sampler["input"]), self.floats(&sampler["output"]))
    }

    /// An attribute of a mesh at every key: the base and what the weights add.
    pub fn played(&self, node: usize, attribute: &str) -> Vec<Points> {
        let mesh = self.root["nodes"][node]["mesh"].as_u64().unwrap() as usize;
        let primitive = &self.root["meshes"][mesh]["primitives"][0];
        let base = self.floats(&primitive["attributes"][attribute]);
        let Some(targets) = primitive["targets"].as_array() else {
            return vec![base.as_chunks::<3>().0.to_vec()];
        };
        let deltas: Vec<Vec<f32>> = targets.iter().map(|target| self.floats(&target[attribute])).collect();
        let (times, weights) = self.channel(node, "weights");
        assert_eq!(weights.len(), times.len() * targets.len());
        let at = |weights: &[f32]| {
            let mut sum = base.clone();
            for (delta, weight) in deltas.iter().zip(weights) {
                sum.iter_mut().zip(delta).for_each(|(sum, delta)| *sum += weight * delta);
            }
            sum.as_chunks::<3>().0.to_vec()
        };
        weights.chunks(targets.len()).map(at).collect()
    }
}

/// An Alembic archive: samples of properties by path, such as `/flag/flagShape/.geom/P`.
pub struct Abc {
    bytes: Vec<u8>,
    metadata: Vec<String>,
    /// Path, metadata, whether constant, samples without their digests.
    pub properties: Vec<(String, String, bool, Vec<Vec<u8>>)>,
    pub samplings: Vec<u8>,
    pub about: String,
}

impl Abc {
    pub fn read(bytes: Vec<u8>) -> Abc {
        assert_eq!(&bytes[..8], b"Ogawa\xff\0\x01");
        let (metadata, samplings) = (vec![String::new()], vec![]);
        let mut abc = Abc { bytes, metadata, properties: vec![], samplings, about: String::new() };
        let root = abc.group(abc.word(8));
        assert_eq!(abc.data(root[0]), 0i32.to_le_bytes());
        abc.about = String::from_utf8(abc.data(root[3]).to_vec()).unwrap();
        abc.samplings = abc.data(root[4]).to_vec();
        let mut table = abc.data(root[5]).to_vec().into_iter();
        while let Some(length) = table.next() {
            abc.metadata.push(table.by_ref().take(length.into()).map(char::from).collect());
        }
        abc.object(root[2], "");
        abc
    }

    fn word(&self, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes[at as usize..at as usize + 8].try_into().unwrap())
    }

    fn group(&self, child: u64) -> Vec<u64> {
        assert!(child >> 63 == 0);
        if child == 0 {
            vec![]
        } else {
            (0..self.word(child)).map(|k| self.word(child + 8 + 8 * k)).collect()
        }
    }

    fn data(&self, child: u64) -> &[u8] {
        assert!(child >> 63 == 1);
        let at = child << 1 >> 1;
        if at == 0 { &[] } else { &self.bytes[at as usize + 8..][..self.word(at) as usize] }
    }

    fn object(&mut self, child: u64, path: &str) {
        let group = self.group(child);
        self.compound(group[0], path);
        let headers = self.data(group[group.len() - 1]).to_vec();
        let (mut rest, mut k) = (&headers[..headers.len() - 32], 1);
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let (name, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
            let name = format!("{path}/{}", String::from_utf8_lossy(name));
            rest = &tail[1..];
            self.object(group[k], &name);
            k += 1;
        }
        assert_eq!(k, group.len() - 1);
    }

    fn compound(&mut self, child: u64, path: &str) {
        let group = self.group(child);
        let Some((headers, children)) = group.split_last() else { return };
        let headers = self.data(*headers).to_vec();
        let mut at = 0;
        let mut take = |size: usize| {
            at += size;
            headers[at - size..at].iter().rev().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte)) as usize
        };
        for child in children {
            let word = take(4);
            let (kind, width) = (word & 3, 1 << (word >> 2 & 3));
            let samples = if kind == 0 { 0 } else { take(width) };
            if word & 0x100 != 0 {
                assert_eq!(take(width), 1);
            }
            let length = take(width);
            let name: String = (0..length).map(|_| take(1) as u8 as char).collect();
            let path = format!("{path}/{name}");
            if kind == 0 {
                self.compound(*child, &path);
                continue;
            }
            let blocks = self.group(*child);
            let stride = if kind == 1 { 1 } else { 2 };
            assert_eq!(blocks.len(), stride * samples, "{path}");
            let values =
                blocks.iter().step_by(stride).map(|block| self.data(*block)[16..].to_vec()).collect();
            let metadata = self.metadata[word >> 20 & 255].clone();
            self.properties.push((path, metadata, word & 0x800 != 0, values));
        }
    }

    /// Samples of a property.
    pub fn samples(&self, path: &str) -> &[Vec<u8>] {
        let known = || self.properties.iter().map(|p| &p.0).collect::<Vec<_>>();
        &self.properties.iter().find(|p| p.0 == path).unwrap_or_else(|| panic!("{path} in {:?}", known())).3
    }

    pub fn points(&self, path: &str) -> Vec<Points> {
        self.samples(path).iter().map(|bytes| vectors(bytes, f32::from_le_bytes)).collect()
    }
}
