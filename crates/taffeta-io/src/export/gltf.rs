//! Binary glTF 2.0 (`.glb`): the first frame as a mesh, every other as a morph target, and weights that go through them.
//!
//! Every frame costs a whole mesh in the reader's memory, so this is for short clips; longer ones are refused.

use super::film::{Film, Moment};
use super::pending::{Pending, settle};
use super::solid::{self, Solid};
use super::subject::{Cloth, Subject, bounds, single};
use super::{ExportError, Format, Job};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use taffeta::math::{DVec3, Pose};

/// The most frames: ten seconds at 30 per second.
const MOST_FRAMES: u32 = 300;
/// The largest file [bytes].
const MOST_BYTES: u64 = 256 << 20;
/// More than the mesh of any collider takes [bytes].
const MOST_SOLID: u64 = 64 << 10;

/// Codes of the standard for what a buffer view holds and what a number is.
const ELEMENT_ARRAY: u32 = 34963;
const ARRAY: u32 = 34962;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Buffer views, in the order in which they lie in the file.
const INDICES: usize = 0;
const VERTICES: usize = 1;
const KEYS: usize = 2;
const TEXTURE: usize = 3;

/// Writes the file.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let (frames, subject) = (job.film.survey.count, &job.subject);
    let (points, triangles) = (subject.rest_positions.len() as u64, subject.triangles.len() as u64);
    let moving = u64::from(frames) * points * if job.normals { 24 } else { 12 };
    let bytes = moving + 8 * points + 12 * triangles + MOST_SOLID * subject.colliders.len() as u64;
    if frames > MOST_FRAMES || bytes > MOST_BYTES {
        let (most_frames, most_bytes) = (MOST_FRAMES, MOST_BYTES);
        return Err(ExportError::TooLarge { format: Format::Gltf, frames, bytes, most_frames, most_bytes });
    }
    job.film.plan(2);
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    let failed = job.film.failed();
    let clip = Clip::look(&mut job.film, &job.subject, job.normals)?;
    let document = Document::of(&job.subject, &clip);
    write_head(&mut out, &document).map_err(&failed)?;
    write_constants(&mut out, &job.subject, &clip).map_err(&failed)?;
    let mut shape = Shape::new(job.normals);
    job.film.play(&mut |moment| {
        shape.take(&job.subject, moment);
        for cloth in &job.subject.cloths {
            shape.lists().try_for_each(|list| put(&mut out, list[cloth.particles.clone()].as_flattened()))?;
        }
        Ok(())
    })?;
    clip.write_keys(&mut out).and_then(|()| write_texture(&mut out, &job.subject)).map_err(&failed)?;
    let bytes = settle(out).map_err(&failed)?;
    Ok((vec![pending.commit()?], bytes))
}

/// Positions and normals of a frame as they are stored: those of the first frame, then differences from it.
struct Shape {
    base: Option<Vec<Vec<[f32; 3]>>>,
    now: Vec<Vec<[f32; 3]>>,
    scratch: Vec<DVec3>,
    normals: bool,
}

impl Shape {
    fn new(normals: bool) -> Shape {
        Shape { base: None, now: vec![Vec::new(); if normals { 2 } else { 1 }], scratch: Vec::new(), normals }
    }

    fn take(&mut self, subject: &Subject, moment: &Moment) {
        self.now[0].clear();
        self.now[0].extend(moment.positions.iter().map(|p| single(*p)));
        if self.normals {
            subject.normals(&moment.positions, &mut self.scratch);
            self.now[1].clear();
            self.now[1].extend(self.scratch.iter().map(|n| single(*n)));
        }
        match &self.base {
            None => self.base = Some(self.now.clone()),
            Some(base) => {
                let pairs = self.now.iter_mut().flatten().zip(base.iter().flatten());
                pairs.for_each(|(now, base)| *now = std::array::from_fn(|k| now[k] - base[k]));
            }
        }
    }

    /// Positions and, if wanted, normals.
    fn lists(&self) -> impl Iterator<Item = &[[f32; 3]]> {
        self.now.iter().map(Vec::as_slice)
    }
}

/// All that the document says about the frames.
struct Clip {
    /// Time of every frame, from the first on [s].
    times: Vec<f32>,
    /// Numbers of the frames.
    numbers: Vec<u32>,
    /// Smallest and largest stored position of every cloth in every frame.
    bounds: Vec<Vec<[[f32; 3]; 2]>>,
    /// Colliders that move, by their place among the colliders, with all their poses.
    motions: Vec<(usize, Vec<Pose>)>,
    /// Poses of all colliders in the first frame.
    poses: Vec<Pose>,
    solids: Vec<Solid>,
    normals: bool,
}

impl Clip {
    fn look(film: &mut Film, subject: &Subject, normals: bool) -> Result<Clip, ExportError> {
        let survey = &film.survey;
        let size = solid::plane_size(survey.low, survey.high);
        let colliders = || subject.colliders.iter().enumerate();
        let moving = colliders().filter(|(_, collider)| survey.moving[collider.body]);
        let mut clip = Clip {
            times: Vec::new(),
            numbers: Vec::new(),
            bounds: Vec::new(),
            motions: moving.map(|(i, _)| (i, Vec::new())).collect(),
            poses: colliders().map(|(_, collider)| survey.poses[collider.body]).collect(),
            solids: colliders().map(|(_, collider)| collider.shape.solid(size)).collect(),
            normals,
        };
        let (first_time, mut shape) = (survey.first_time, Shape::new(false));
        film.play(&mut |moment| {
            clip.times.push((moment.time - first_time) as f32);
            clip.numbers.push(moment.number);
            shape.take(subject, moment);
            let of_cloth = |cloth: &Cloth| single_bounds(&shape.now[0][cloth.particles.clone()]);
            clip.bounds.push(subject.cloths.iter().map(of_cloth).collect());
            let motions = clip.motions.iter_mut();
            motions.for_each(|(i, poses)| poses.push(moment.poses[subject.colliders[*i].body]));
            Ok(())
        })?;
        Ok(clip)
    }

    /// Writes times, weights and the colliders' keys.
    fn write_keys(&self, out: &mut impl Write) -> io::Result<()> {
        put(out, &self.times)?;
        // At its own key a target has all the weight; the first frame is the mesh itself.
        let targets = self.times.len() - 1;
        for key in 0..self.times.len() {
            (0..targets).try_for_each(|target| put(out, &[if target + 1 == key { 1.0 } else { 0.0 }]))?;
        }
        for (_, poses) in &self.motions {
            poses.iter().try_for_each(|pose| put(out, &single(pose.position)))?;
            poses.iter().try_for_each(|pose| put(out, &pose.rotation.to_array().map(|x| x as f32)))?;
        }
        Ok(())
    }
}

/// The JSON part, made in the order in which the binary part is written.
struct Document {
    accessors: Vec<Value>,
    /// Bytes in every buffer view so far.
    used: [usize; 4],
    json: String,
}

impl Document {
    fn of(subject: &Subject, clip: &Clip) -> Document {
        let mut document = Document { accessors: Vec::new(), used: [0; 4], json: String::new() };
        let cloth_indices = document.indices(subject.cloths.iter().map(|cloth| cloth.triangles.len()));
        let solid_indices = document.indices(clip.solids.iter().map(|solid| solid.triangles.len()));
        let mut meshes = Vec::new();
        for (solid, indices) in clip.solids.iter().zip(solid_indices) {
            let position = document.vertices(solid.points.len(), Some(bounds(&solid.points)));
            let normal = document.vertices(solid.points.len(), None);
            let attributes = json!({ "POSITION": position, "NORMAL": normal });
            // Materials of the cloths come first, then one for all colliders.
            let material = subject.cloths.len();
            meshes.push(json!({ "primitives": [{ "attributes": attributes, "indices": indices, "material": material }] }));
        }
        let cloths = document.cloths(subject, clip, cloth_indices);
        let nodes = nodes(subject, clip);
        let animations = document.animations(subject, clip);
        let materials = materials(subject);
        meshes.splice(0..0, cloths);
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "Taffeta" },
            "scene": 0,
            "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
            "nodes": nodes,
            "meshes": meshes,
            "materials": materials,
        });
        if let Some(animation) = animations {
            root["animations"] = json!([animation]);
        }
        root["accessors"] = json!(document.accessors);
        root["bufferViews"] = document.views();
        root["buffers"] = json!([{ "byteLength": document.used.iter().sum::<usize>() }]);
        document.json = root.to_string();
        document
    }

    /// Accessors for triangles.
    fn indices(&mut self, counts: impl Iterator<Item = usize>) -> Vec<usize> {
        counts.map(|count| self.accessor(INDICES, 3 * count, "SCALAR", U32, 4)).collect()
    }

    /// An accessor for points or directions.
    fn vertices(&mut self, count: usize, bounds: Option<[[f32; 3]; 2]>) -> usize {
        let accessor = self.accessor(VERTICES, count, "VEC3", F32, 12);
        if let Some([low, high]) = bounds {
            self.accessors[accessor]["min"] = json!(low);
            self.accessors[accessor]["max"] = json!(high);
        }
        accessor
    }

    /// An accessor for what is written next into a view.
    fn accessor(&mut self, view: usize, count: usize, kind: &str, number: u32, size: usize) -> usize {
        let offset = self.used[view];
        self.used[view] += count * size;
        self.accessors.push(json!({
            "bufferView": view, "byteOffset": offset, "componentType": number, "count": count, "type": kind
        }));
        self.accessors.len() - 1
    }

    /// The cloths' meshes, whose frames lie behind each other.
    fn cloths(&mut self, subject: &Subject, clip: &Clip, indices: Vec<usize>) -> Vec<Value> {
        let mut attributes = vec![Vec::new(); subject.cloths.len()];
        for bounds in &clip.bounds {
            for ((cloth, bounds), list) in subject.cloths.iter().zip(bounds).zip(&mut attributes) {
                let mut entry = json!({ "POSITION": self.vertices(cloth.particles.len(), Some(*bounds)) });
                if clip.normals {
                    entry["NORMAL"] = json!(self.vertices(cloth.particles.len(), None));
                }
                list.push(entry);
            }
        }
        let names: Vec<String> =
            clip.numbers.iter().skip(1).map(|number| format!("frame {number}")).collect();
        let meshes = subject.cloths.iter().zip(attributes).zip(indices).enumerate();
        meshes
            .map(|(i, ((cloth, mut frames), indices))| {
                let mut attributes = frames.remove(0);
                if !subject.material.is_empty() {
                    attributes["TEXCOORD_0"] =
                        json!(self.accessor(TEXTURE, cloth.particles.len(), "VEC2", F32, 8));
                }
                let mut primitive = json!({ "attributes": attributes, "indices": indices, "material": i });
                if frames.is_empty() {
                    return json!({ "name": cloth.name, "primitives": [primitive] });
                }
                let weights = vec![0; frames.len()];
                primitive["targets"] = json!(frames);
                json!({ "name": cloth.name, "primitives": [primitive], "weights": weights, "extras": { "targetNames": names } })
            })
            .collect()
    }

    /// The one animation, unless there is but one frame.
    fn animations(&mut self, subject: &Subject, clip: &Clip) -> Option<Value> {
        let keys = clip.times.len();
        let input = self.accessor(KEYS, keys, "SCALAR", F32, 4);
        self.accessors[input]["min"] = json!([clip.times.first()]);
        self.accessors[input]["max"] = json!([clip.times.last()]);
        if keys < 2 {
            return None;
        }
        let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
        let sampler = |output: usize| json!({ "input": input, "interpolation": "LINEAR", "output": output });
        let mut samplers = vec![sampler(self.accessor(KEYS, keys * (keys - 1), "SCALAR", F32, 4))];
        let cloths = subject.cloths.len();
        let mut channels: Vec<Value> = (0..cloths).map(|node| channel(0, node, "weights")).collect();
        for (collider, _) in &clip.motions {
            for (path, kind, size) in [("translation", "VEC3", 12), ("rotation", "VEC4", 16)] {
                channels.push(channel(samplers.len(), cloths + collider, path));
                samplers.push(sampler(self.accessor(KEYS, keys, kind, F32, size)));
            }
        }
        Some(json!({ "name": "simulation", "samplers": samplers, "channels": channels }))
    }

    /// Where every view lies; an empty one, which the standard forbids, is the last and left out.
    fn views(&self) -> Value {
        let mut offset = 0;
        let kinds =
            [(Some(ELEMENT_ARRAY), None), (Some(ARRAY), Some(12)), (None, None), (Some(ARRAY), Some(8))];
        let views =
            self.used.iter().zip(kinds).filter(|(used, _)| **used > 0).map(|(used, (target, stride))| {
                let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": used });
                if let Some(target) = target {
                    view["target"] = json!(target);
                }
                if let Some(stride) = stride {
                    view["byteStride"] = json!(stride);
                }
                offset += used;
                view
            });
        views.collect()
    }
}

/// One node for every cloth, then one for every collider.
fn nodes(subject: &Subject, clip: &Clip) -> Vec<Value> {
    let cloths = subject.cloths.iter().map(|cloth| cloth.name.as_str());
    let names = cloths.chain(subject.colliders.iter().map(|collider| collider.name.as_str()));
    let mut nodes: Vec<Value> =
        names.enumerate().map(|(mesh, name)| json!({ "name": name, "mesh": mesh })).collect();
    for (node, pose) in nodes.iter_mut().skip(subject.cloths.len()).zip(&clip.poses) {
        node["translation"] = json!(pose.position.to_array());
        node["rotation"] = json!(pose.rotation.to_array());
    }
    nodes
}

/// One material for every cloth, then one for all colliders.
fn materials(subject: &Subject) -> Vec<Value> {
    let colours = subject.cloths.iter().map(|cloth| (cloth.name.as_str(), cloth.colour, true));
    let collider = (!subject.colliders.is_empty()).then_some(("colliders", None, false));
    let material = |(name, colour, double): (&str, Option<[f64; 3]>, bool)| {
        let [r, g, b] = colour.unwrap_or([0.5; 3]);
        let surface =
            json!({ "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8 });
        json!({ "name": name, "pbrMetallicRoughness": surface, "doubleSided": double })
    };
    colours.chain(collider).map(material).collect()
}

/// Writes the heads of file and chunks, and the JSON chunk, padded to whole words.
fn write_head(out: &mut impl Write, document: &Document) -> io::Result<()> {
    let padding = document.json.len().next_multiple_of(4) - document.json.len();
    let text = (document.json.len() + padding) as u32;
    // Far below 4 GiB by the limits above.
    let binary = document.used.iter().sum::<usize>() as u32;
    out.write_all(b"glTF")?;
    [2, 12 + 8 + text + 8 + binary, text].iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
    out.write_all(b"JSON")?;
    out.write_all(document.json.as_bytes())?;
    out.write_all(&b"   "[..padding])?;
    out.write_all(&binary.to_le_bytes())?;
    out.write_all(b"BIN\0")
}

/// Writes the triangles of all meshes, then the colliders' points and normals.
fn write_constants(out: &mut impl Write, subject: &Subject, clip: &Clip) -> io::Result<()> {
    let cloths = subject.cloths.iter().flat_map(|cloth| subject.local_triangles(cloth));
    let solids = clip.solids.iter().flat_map(|solid| solid.triangles.iter().copied());
    cloths.chain(solids).flatten().try_for_each(|i| out.write_all(&i.to_le_bytes()))?;
    for solid in &clip.solids {
        solid.points.iter().chain(&solid.normals).try_for_each(|v| put(out, &single(*v)))?;
    }
    Ok(())
}

/// Writes texture coordinates, which run down from the upper edge.
fn write_texture(out: &mut impl Write, subject: &Subject) -> io::Result<()> {
    let parts = subject.cloths.iter().filter_map(|cloth| subject.material.get(cloth.particles.clone()));
    parts.flatten().try_for_each(|[u, v]| put(out, &[*u as f32, (1.0 - v) as f32]))
}

fn put(out: &mut impl Write, numbers: &[f32]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

fn single_bounds(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let extreme = |pick: fn(f32, f32) -> f32, from: f32| {
        std::array::from_fn(|k| points.iter().fold(from, |so_far, p| pick(so_far, p[k])))
    };
    [extreme(f32::min, f32::INFINITY), extreme(f32::max, f32::NEG_INFINITY)]
}
