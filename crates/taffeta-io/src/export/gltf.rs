//! Binary glTF 2.0 (`.glb`): one frame as a mesh, every other as a morph target, and weights that go through them;
//! bodies on skeletons as skins.
//!
//! Every frame costs a whole mesh in the reader's memory, so this is for short clips; longer ones are refused.

use super::film::{Film, Moment};
use super::pending::{Pending, settle};
use super::skeleton::{JointPlace, Skinned};
use super::solid::{self, Solid};
use super::subject::{GREY, Piece, Subject, bounds, linear_light, single};
use super::usd_materials::ROUGHNESS;
use super::{ExportError, Format, Job, weave};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use taffeta::math::{DMat4, DVec3, Pose};

/// The most frames: ten seconds at 30 per second.
const MOST_FRAMES: u32 = 300;
/// The largest file [bytes].
const MOST_BYTES: u64 = 256 << 20;
/// More than the mesh of any collider takes [bytes].
const MOST_SOLID: u64 = 64 << 10;

/// Codes of the standard for what a buffer view holds and what a number is.
const ELEMENT_ARRAY: u32 = 34963;
const ARRAY: u32 = 34962;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;
const REPEAT: u32 = 10497;

/// Buffer views, in the order in which they lie in the file.
const INDICES: usize = 0;
const VERTICES: usize = 1;
const KEYS: usize = 2;
const TEXTURE: usize = 3;
const ORIGINS: usize = 4;
const JOINTS: usize = 5;
const SHARES: usize = 6;
const BINDS: usize = 7;
const PICTURE: usize = 8;
const VIEWS: usize = 9;
/// A vertex lists its joints in sets of so many.
const SET: usize = 4;

/// Writes the file.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    check_size(job)?;
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    fill(job, &mut out)?;
    let bytes = settle(out).map_err(job.film.failed())?;
    Ok((vec![pending.commit()?], bytes))
}

/// Refuses what no reader would take.
pub(super) fn check_size(job: &Job) -> Result<(), ExportError> {
    let (frames, subject) = (job.film.survey.count, &job.subject);
    let (points, triangles) = (subject.point_count() as u64, subject.triangles.len() as u64);
    let lists = 1 + u64::from(job.normals) + u64::from(job.film.shaping.maps.is_coloured());
    let moving = u64::from(frames) * points * 12 * lists;
    let on_bones = |body: &Skinned| {
        let held = 12 * SET * body.width.div_ceil(SET) * body.rest.len();
        held + 24 * body.rest.len()
            + 12 * body.triangles.len()
            + (64 + 40 * frames as usize) * body.joints.len()
    };
    let on_bones: usize = subject.skinned.iter().map(on_bones).sum();
    let bytes =
        moving + 12 * points + 12 * triangles + MOST_SOLID * subject.colliders.len() as u64 + on_bones as u64;
    if frames > MOST_FRAMES || bytes > MOST_BYTES {
        let (most_frames, most_bytes) = (MOST_FRAMES, MOST_BYTES);
        return Err(ExportError::TooLarge { format: Format::Gltf, frames, bytes, most_frames, most_bytes });
    }
    Ok(())
}

/// Writes all of it.
pub(super) fn fill(job: &mut Job, out: &mut impl Write) -> Result<(), ExportError> {
    job.film.plan(3);
    let failed = job.film.failed();
    let coloured = job.film.shaping.maps.is_coloured();
    let mut shape = Shape::of_least_flat(&mut job.film, &job.subject, job.normals, coloured)?;
    let clip = Clip::look(&mut job.film, &job.subject, &mut shape)?;
    let picture = if job.weave { weave::picture() } else { Vec::new() };
    let document = Document::of(&job.subject, &clip, &picture);
    write_head(out, &document).map_err(&failed)?;
    write_constants(out, &job.subject, &clip).map_err(&failed)?;
    job.film.play(&mut |moment| {
        shape.take(&job.subject, moment);
        for piece in &job.subject.pieces {
            shape.lists().try_for_each(|list| put(out, list[piece.points.clone()].as_flattened()))?;
        }
        Ok(())
    })?;
    clip.write_keys(out, &job.subject)
        .and_then(|()| write_texture(out, &job.subject))
        .and_then(|()| put(out, &job.subject.origins.iter().map(|i| *i as f32).collect::<Vec<_>>()))
        .and_then(|()| write_holds(out, &job.subject))
        .and_then(|()| out.write_all(&picture))
        .and_then(|()| out.write_all(&[0; 3][..picture.len().next_multiple_of(4) - picture.len()]))
        .map_err(&failed)
}

/// Positions, normals and colours of a frame as they are stored: those of one frame, of all others differences from it.
struct Shape {
    normals: bool,
    coloured: bool,
    /// Number of the frame that is stored as it is.
    base: u32,
    stored: Vec<Vec<[f32; 3]>>,
    now: Vec<Vec<[f32; 3]>>,
    scratch: Vec<DVec3>,
}

impl Shape {
    /// Differences from the first of the frames with the fewest flat triangles: readers take what is flat in the mesh itself
    /// for facets that are never smooth.
    fn of_least_flat(
        film: &mut Film,
        subject: &Subject,
        normals: bool,
        coloured: bool,
    ) -> Result<Shape, ExportError> {
        let mut shape =
            Shape { normals, coloured, base: 0, stored: Vec::new(), now: Vec::new(), scratch: Vec::new() };
        let mut fewest = usize::MAX;
        film.play(&mut |moment| {
            shape.fill(subject, moment);
            let flat = if normals { flat_triangles(subject, &moment.positions, &shape.scratch) } else { 0 };
            if flat < fewest {
                (fewest, shape.base) = (flat, moment.number);
                shape.stored.clone_from(&shape.now);
            }
            Ok(())
        })?;
        Ok(shape)
    }

    fn fill(&mut self, subject: &Subject, moment: &Moment) {
        self.now.clear();
        self.now.push(moment.positions.iter().map(|p| single(*p)).collect());
        if self.normals {
            subject.normals(&moment.positions, &mut self.scratch);
            self.now.push(self.scratch.iter().map(|n| single(*n)).collect());
        }
        if self.coloured {
            self.now.push(moment.colours.iter().map(|c| linear_light(*c)).collect());
        }
    }

    fn take(&mut self, subject: &Subject, moment: &Moment) {
        self.fill(subject, moment);
        if moment.number != self.base {
            let pairs = self.now.iter_mut().flatten().zip(self.stored.iter().flatten());
            pairs.for_each(|(now, base)| *now = std::array::from_fn(|k| now[k] - base[k]));
        }
    }

    /// Positions and, if wanted, normals and colours.
    fn lists(&self) -> impl Iterator<Item = &[[f32; 3]]> {
        self.now.iter().map(Vec::as_slice)
    }
}

/// How many triangles of cloth are level with all their normals, as nearly as readers look.
fn flat_triangles(subject: &Subject, positions: &[DVec3], normals: &[DVec3]) -> usize {
    let cloth = subject.pieces.iter().filter(|piece| piece.is_cloth);
    let triangles = cloth.flat_map(|piece| &subject.triangles[piece.triangles.clone()]);
    let flat = |t: &&[u32; 3]| {
        let [a, b, c] = t.map(|i| positions[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        t.iter().all(|i| normals[*i as usize].dot(normal) > 1.0 - 1e-6)
    };
    triangles.filter(flat).count()
}

/// All that the document says about the frames.
struct Clip {
    /// Time of every frame, from the first on [s].
    times: Vec<f32>,
    /// Numbers of the frames.
    numbers: Vec<u32>,
    /// Smallest and largest stored position of every piece in every frame.
    bounds: Vec<Vec<[[f32; 3]; 2]>>,
    /// Colliders that move, by their place among the colliders, with all their poses.
    motions: Vec<(usize, Vec<Pose>)>,
    /// Poses of all colliders in the first frame.
    poses: Vec<Pose>,
    solids: Vec<Solid>,
    /// Of every body on a skeleton the places of its joints in every frame.
    skeletons: Vec<Vec<Vec<JointPlace>>>,
    /// Which frame is the mesh itself, counted from the first.
    base: usize,
    normals: bool,
    coloured: bool,
}

impl Clip {
    fn look(film: &mut Film, subject: &Subject, shape: &mut Shape) -> Result<Clip, ExportError> {
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
            skeletons: vec![Vec::new(); subject.skinned.len()],
            base: 0,
            normals: shape.normals,
            coloured: shape.coloured,
        };
        let first_time = survey.first_time;
        film.play(&mut |moment| {
            if moment.number == shape.base {
                clip.base = clip.times.len();
            }
            clip.times.push((moment.time - first_time) as f32);
            clip.numbers.push(moment.number);
            shape.take(subject, moment);
            let of_piece = |piece: &Piece| single_bounds(&shape.now[0][piece.points.clone()]);
            clip.bounds.push(subject.pieces.iter().map(of_piece).collect());
            let motions = clip.motions.iter_mut();
            motions.for_each(|(i, poses)| poses.push(moment.poses[subject.colliders[*i].body]));
            for (body, frames) in subject.skinned.iter().zip(&mut clip.skeletons) {
                frames.push(body.pose(moment.time, &moment.poses[body.body]));
            }
            Ok(())
        })?;
        Ok(clip)
    }

    /// The frames that are targets.
    fn targets(&self) -> impl Iterator<Item = usize> {
        (0..self.times.len()).filter(|frame| *frame != self.base)
    }

    /// Weights of all targets that show a frame: its own has all, and none where the frame is the mesh itself.
    fn weights(&self, frame: usize) -> Vec<f32> {
        self.targets().map(|target| if target == frame { 1.0 } else { 0.0 }).collect()
    }

    /// Writes times, weights and the keys of colliders and joints.
    fn write_keys(&self, out: &mut impl Write, subject: &Subject) -> io::Result<()> {
        put(out, &self.times)?;
        for key in 0..self.times.len() {
            put(out, &self.weights(key))?;
        }
        for (_, poses) in &self.motions {
            poses.iter().try_for_each(|pose| put(out, &single(pose.position)))?;
            poses.iter().try_for_each(|pose| put(out, &pose.rotation.to_array().map(|x| x as f32)))?;
        }
        if self.times.len() < 2 {
            return Ok(());
        }
        for (body, frames) in subject.skinned.iter().zip(&self.skeletons) {
            for joint in 0..body.joints.len() {
                let places = || frames.iter().map(|places| &places[joint]);
                places().try_for_each(|place| put(out, &single(place.shift)))?;
                places().try_for_each(|place| put(out, &place.turn.to_array().map(|x| x as f32)))?;
                places().try_for_each(|place| put(out, &single(place.scale)))?;
            }
        }
        Ok(())
    }
}

/// The JSON part, made in the order in which the binary part is written.
struct Document {
    accessors: Vec<Value>,
    /// Bytes in every buffer view so far.
    used: [usize; VIEWS],
    json: String,
}

impl Document {
    fn of(subject: &Subject, clip: &Clip, picture: &[u8]) -> Document {
        let mut document = Document { accessors: Vec::new(), used: [0; VIEWS], json: String::new() };
        let piece_indices = document.indices(subject.pieces.iter().map(|piece| piece.triangles.len()));
        let solid_indices = document.indices(clip.solids.iter().map(|solid| solid.triangles.len()));
        let skinned_indices = document.indices(subject.skinned.iter().map(|body| body.triangles.len()));
        // Materials of the pieces come first, then one for all bodies.
        let of_bodies = subject.pieces.len();
        let mut meshes = Vec::new();
        for (solid, indices) in clip.solids.iter().zip(solid_indices) {
            let position = document.vertices(solid.points.len(), Some(bounds(&solid.points)));
            let normal = document.vertices(solid.points.len(), None);
            let attributes = json!({ "POSITION": position, "NORMAL": normal });
            meshes.push(json!({ "primitives": [{ "attributes": attributes, "indices": indices, "material": of_bodies }] }));
        }
        for (body, indices) in subject.skinned.iter().zip(skinned_indices) {
            let attributes = document.skinned(body);
            let primitive = json!({ "attributes": attributes, "indices": indices, "material": of_bodies });
            meshes.push(json!({ "name": body.name, "primitives": [primitive] }));
        }
        let pieces = document.pieces(subject, clip, piece_indices);
        let (nodes, roots) = nodes(subject, clip);
        let skins = document.skins(subject);
        let animations = document.animations(subject, clip);
        let materials = materials(subject, !picture.is_empty(), clip.coloured);
        // Files end with whole words.
        document.used[PICTURE] = picture.len().next_multiple_of(4);
        meshes.splice(0..0, pieces);
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "Taffeta" },
            "scene": 0,
            "scenes": [{ "nodes": roots }],
            "nodes": nodes,
            "meshes": meshes,
            "materials": materials,
        });
        if let Some(animation) = animations {
            root["animations"] = json!([animation]);
        }
        if !skins.is_empty() {
            root["skins"] = json!(skins);
        }
        let views = document.views();
        root["accessors"] = json!(document.accessors);
        if !picture.is_empty() {
            let last = views.as_array().map_or(0, Vec::len) - 1;
            root["images"] = json!([{ "name": "weave", "bufferView": last, "mimeType": "image/png" }]);
            root["samplers"] = json!([{ "wrapS": REPEAT, "wrapT": REPEAT }]);
            root["textures"] = json!([{ "sampler": 0, "source": 0 }]);
            root["extensionsUsed"] = json!(["KHR_texture_transform"]);
        }
        root["bufferViews"] = views;
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

    /// The pieces' meshes, whose frames lie behind each other.
    fn pieces(&mut self, subject: &Subject, clip: &Clip, indices: Vec<usize>) -> Vec<Value> {
        let mut attributes = vec![Vec::new(); subject.pieces.len()];
        for bounds in &clip.bounds {
            for ((piece, bounds), list) in subject.pieces.iter().zip(bounds).zip(&mut attributes) {
                let mut entry = json!({ "POSITION": self.vertices(piece.points.len(), Some(*bounds)) });
                if clip.normals {
                    entry["NORMAL"] = json!(self.vertices(piece.points.len(), None));
                }
                if clip.coloured {
                    entry["COLOR_0"] = json!(self.vertices(piece.points.len(), None));
                }
                list.push(entry);
            }
        }
        let names: Vec<String> =
            clip.targets().map(|frame| format!("frame {}", clip.numbers[frame])).collect();
        let meshes = subject.pieces.iter().zip(attributes).zip(indices).enumerate();
        meshes
            .map(|(i, ((piece, mut frames), indices))| {
                let mut attributes = frames.remove(clip.base);
                if subject.material.get(piece.points.clone()).is_some() {
                    attributes["TEXCOORD_0"] =
                        json!(self.accessor(TEXTURE, piece.points.len(), "VEC2", F32, 8));
                }
                if subject.origins.get(piece.points.clone()).is_some() {
                    attributes["_PARTICLE"] =
                        json!(self.accessor(ORIGINS, piece.points.len(), "SCALAR", F32, 4));
                }
                let mut primitive = json!({ "attributes": attributes, "indices": indices, "material": i });
                if frames.is_empty() {
                    return json!({ "name": piece.name, "primitives": [primitive] });
                }
                // Who plays no animation sees the first frame.
                let weights = clip.weights(0);
                primitive["targets"] = json!(frames);
                json!({ "name": piece.name, "primitives": [primitive], "weights": weights, "extras": { "targetNames": names } })
            })
            .collect()
    }

    /// What the points of a body on a skeleton have.
    fn skinned(&mut self, body: &Skinned) -> Value {
        let count = body.rest.len();
        let mut attributes = json!({
            "POSITION": self.vertices(count, Some(bounds(&body.rest))), "NORMAL": self.vertices(count, None)
        });
        for set in 0..body.width.div_ceil(SET) {
            attributes[format!("JOINTS_{set}")] = json!(self.accessor(JOINTS, count, "VEC4", U16, 8));
            attributes[format!("WEIGHTS_{set}")] = json!(self.accessor(SHARES, count, "VEC4", F32, 16));
        }
        attributes
    }

    /// The skeletons.
    fn skins(&mut self, subject: &Subject) -> Vec<Value> {
        let skin = |(body, first): (&Skinned, usize)| {
            let count = body.joints.len();
            let matrices = self.accessor(BINDS, count, "MAT4", F32, 64);
            let joints: Vec<usize> = (first..first + count).collect();
            json!({ "name": body.name, "inverseBindMatrices": matrices, "skeleton": first - 1, "joints": joints })
        };
        subject.skinned.iter().zip(first_joints(subject)).map(skin).collect()
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
        let pieces = subject.pieces.len();
        let mut channels: Vec<Value> = (0..pieces).map(|node| channel(0, node, "weights")).collect();
        for (collider, _) in &clip.motions {
            for (path, kind, size) in [("translation", "VEC3", 12), ("rotation", "VEC4", 16)] {
                channels.push(channel(samplers.len(), pieces + collider, path));
                samplers.push(sampler(self.accessor(KEYS, keys, kind, F32, size)));
            }
        }
        for (body, first) in subject.skinned.iter().zip(first_joints(subject)) {
            for joint in 0..body.joints.len() {
                for (path, kind, size) in
                    [("translation", "VEC3", 12), ("rotation", "VEC4", 16), ("scale", "VEC3", 12)]
                {
                    channels.push(channel(samplers.len(), first + joint, path));
                    samplers.push(sampler(self.accessor(KEYS, keys, kind, F32, size)));
                }
            }
        }
        Some(json!({ "name": "simulation", "samplers": samplers, "channels": channels }))
    }

    /// Where every view lies; an empty one, which the standard forbids, is left out.
    fn views(&mut self) -> Value {
        let mut offset = 0;
        let mut views = Vec::new();
        let kinds = [
            (Some(ELEMENT_ARRAY), None),
            (Some(ARRAY), Some(12)),
            (None, None),
            (Some(ARRAY), Some(8)),
            (Some(ARRAY), Some(4)),
            (Some(ARRAY), Some(8)),
            (Some(ARRAY), Some(16)),
            (None, None),
            (None, None),
        ];
        let mut number = [0; VIEWS];
        for (k, (used, (target, stride))) in self.used.iter().zip(kinds).enumerate() {
            number[k] = views.len();
            if *used == 0 {
                continue;
            }
            let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": used });
            if let Some(target) = target {
                view["target"] = json!(target);
            }
            if let Some(stride) = stride {
                view["byteStride"] = json!(stride);
            }
            offset += used;
            views.push(view);
        }
        for accessor in &mut self.accessors {
            let view = accessor["bufferView"].as_u64().unwrap_or(0) as usize;
            accessor["bufferView"] = json!(number[view]);
        }
        views.into()
    }
}

/// Of every body on a skeleton the node of its first joint: its mesh and what its joints hang on are the two before.
fn first_joints(subject: &Subject) -> impl Iterator<Item = usize> {
    let mut next = subject.pieces.len() + subject.colliders.len();
    subject.skinned.iter().map(move |body| {
        let first = next + 2;
        next = first + body.joints.len();
        first
    })
}

/// One node for every piece, then one for every collider, then the skeletons; and those that hang on no other.
fn nodes(subject: &Subject, clip: &Clip) -> (Vec<Value>, Vec<usize>) {
    let pieces = subject.pieces.iter().map(|piece| piece.name.as_str());
    let names = pieces.chain(subject.colliders.iter().map(|collider| collider.name.as_str()));
    let mut nodes: Vec<Value> =
        names.enumerate().map(|(mesh, name)| json!({ "name": name, "mesh": mesh })).collect();
    for (node, pose) in nodes.iter_mut().skip(subject.pieces.len()).zip(&clip.poses) {
        node["translation"] = json!(pose.position.to_array());
        node["rotation"] = json!(pose.rotation.to_array());
    }
    let mut roots: Vec<usize> = (0..nodes.len()).collect();
    for (skin, (body, first)) in subject.skinned.iter().zip(first_joints(subject)).enumerate() {
        let children = |parent: Option<usize>| {
            let joints = body.joints.iter().enumerate().filter(|(_, joint)| joint.parent == parent);
            joints.map(|(joint, _)| first + joint).collect::<Vec<_>>()
        };
        let mesh = subject.pieces.len() + subject.colliders.len() + skin;
        roots.extend([nodes.len(), nodes.len() + 1]);
        nodes.push(json!({ "name": body.name, "mesh": mesh, "skin": skin }));
        nodes.push(json!({ "name": format!("{} skeleton", body.name), "children": children(None) }));
        // Who plays no animation sees the first frame.
        for (joint, place) in clip.skeletons[skin].first().into_iter().flatten().enumerate() {
            let mut node = json!({
                "name": body.joints[joint].name,
                "translation": place.shift.to_array(),
                "rotation": place.turn.to_array(),
                "scale": place.scale.to_array(),
            });
            let children = children(Some(joint));
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            nodes.push(node);
        }
    }
    (nodes, roots)
}

/// One material for every piece, then one for all other bodies.
fn materials(subject: &Subject, weave: bool, coloured: bool) -> Vec<Value> {
    let woven = |piece: &Piece| weave && subject.weaves(piece);
    // Colours of points are multiplied by that of their material.
    let colour = |piece: &Piece| if coloured { [1.0; 3] } else { piece.colour };
    let colours = subject.pieces.iter().map(|piece| (piece.name.as_str(), colour(piece), true, woven(piece)));
    let others = !(subject.colliders.is_empty() && subject.skinned.is_empty());
    let collider = others.then_some(("bodies", GREY, false, false));
    let material = |(name, colour, double, woven): (&str, [f64; 3], bool, bool)| {
        let [r, g, b] = if woven { weave::brightened(colour) } else { colour };
        let mut surface =
            json!({ "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": ROUGHNESS });
        if woven {
            let placed = json!({ "KHR_texture_transform": { "scale": [weave::REPEATS, weave::REPEATS] } });
            surface["baseColorTexture"] = json!({ "index": 0, "extensions": placed });
        }
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

/// Writes the triangles of all meshes, then points and normals of colliders and of bodies on skeletons.
fn write_constants(out: &mut impl Write, subject: &Subject, clip: &Clip) -> io::Result<()> {
    let pieces = subject.pieces.iter().flat_map(|piece| subject.local_triangles(piece));
    let solids = clip.solids.iter().flat_map(|solid| solid.triangles.iter().copied());
    let skinned = subject.skinned.iter().flat_map(|body| body.triangles.iter().copied());
    pieces.chain(solids).chain(skinned).flatten().try_for_each(|i| out.write_all(&i.to_le_bytes()))?;
    let solids = clip.solids.iter().map(|solid| (&solid.points, &solid.normals));
    for (points, normals) in solids.chain(subject.skinned.iter().map(|body| (&body.rest, &body.normals))) {
        points.iter().chain(normals).try_for_each(|v| put(out, &single(*v)))?;
    }
    Ok(())
}

/// Writes the joints that hold the points of bodies, then their shares, then matrices of the joints.
fn write_holds(out: &mut impl Write, subject: &Subject) -> io::Result<()> {
    let sets =
        || subject.skinned.iter().flat_map(|body| (0..body.width.div_ceil(SET)).map(move |set| (body, set)));
    let of_set = |(body, set): (&Skinned, usize), put: &mut dyn FnMut((u16, f32)) -> io::Result<()>| {
        let points = body.held.chunks(body.width);
        points
            .flat_map(|held| (SET * set..SET * (set + 1)).map(|k| held.get(k).copied().unwrap_or((0, 0.0))))
            .try_for_each(put)
    };
    sets().try_for_each(|set| of_set(set, &mut |(joint, _)| out.write_all(&joint.to_le_bytes())))?;
    sets().try_for_each(|set| of_set(set, &mut |(_, share)| out.write_all(&share.to_le_bytes())))?;
    let mut joints = subject.skinned.iter().flat_map(|body| &body.joints);
    joints.try_for_each(|joint| put(out, &DMat4::from(joint.unbound).to_cols_array().map(|x| x as f32)))
}

/// Writes texture coordinates, which run down from the upper edge.
fn write_texture(out: &mut impl Write, subject: &Subject) -> io::Result<()> {
    let parts = subject.pieces.iter().filter_map(|piece| subject.material.get(piece.points.clone()));
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
