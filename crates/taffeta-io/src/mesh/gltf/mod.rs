//! glTF 2.0, as JSON or GLB: the triangles of the default scene, each node in its place, as one surface.
//!
//! The document is walked twice. The first walk checks every range and counts, the second fills lists of that size: a small file
//! whose nodes repeat a mesh again and again is refused before it takes any memory.

mod accessor;
mod buffers;
mod container;
mod document;
mod moving;
mod part;
mod rig;
mod skin;
mod tracks;
mod walk;

use std::io;

use glam::{DAffine3, DVec3};
use serde::de::DeserializeOwned;
use serde_json::Value;
use taffeta_scene as scene;

use super::{MeshFault, MeshFaults, MeshFile, Place, text};
use accessor::Elements;
use buffers::Buffers;
use container::Container;
use document::Document;
use moving::Moving;
use part::{Mode, Part};
use rig::RigReader;
use skin::Skins;
use walk::Draw;

pub(super) use container::MAGIC;

/// What helps against most faults of a program's export.
const DAMAGED: &str = "export the mesh again: the file is damaged or its writer is at fault";

/// Points, triangles and parts that a file of any size may have; beyond it they must not be more than half its bytes.
const FREE: u64 = 10_000;

/// Starts of the names of extensions that say how a surface looks, not where it is, and of the one that is followed.
const KNOWN: [&str; 5] =
    ["KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "KHR_mesh_quantization"];

/// Reads a glTF or GLB file; `load_buffer` reads a file that it names, relative to its own folder.
///
/// Nodes of the default scene stand where their transforms put them. Skins and morph targets are not followed: the surface stands in
/// the pose that it was bound in, where the first joint of its skin puts it. Texture coordinates become material coordinates if every part has them, v upwards.
pub fn read_gltf(
    bytes: &[u8],
    load_buffer: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<MeshFile, MeshFaults> {
    read_surface(bytes, load_buffer, false)
}

/// Reads a glTF or GLB file with its skeleton: joints, shapes and clips.
pub fn read_gltf_animated(
    bytes: &[u8],
    load_buffer: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<MeshFile, MeshFaults> {
    read_surface(bytes, load_buffer, true)
}

fn read_surface(
    bytes: &[u8],
    load_buffer: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    animated: bool,
) -> Result<MeshFile, MeshFaults> {
    let container = Container::open(bytes)?;
    let document = parse(&container)?;
    // Where joints go round in a circle, that is told first.
    let tree = if animated { Some(rig::tree(&document)?) } else { None };
    let buffers = Buffers::new(&document, container.numbers, load_buffer);
    let skins = Skins::new(&document, &buffers);
    let mut tally = Tally::default();
    walk::walk(&document, &skins, &mut |draw| tally.count(&document, &buffers, draw, bytes.len()))?;
    let mut surface = Surface::new(&tally);
    walk::walk(&document, &skins, &mut |draw| surface.add(&document, &buffers, draw))?;
    let mut notes = tally.notes(animated);
    if let Some(tree) = tree {
        let moving: Moving = from_json(&container)?;
        let mut reader = RigReader::new(&document, &moving, &buffers, tree, bytes.len());
        walk::walk(&document, &skins, &mut |draw| reader.add(draw))?;
        reader.add_clips()?;
        notes.append(&mut reader.notes);
        surface.mesh.rig = Some(Box::new(reader.rig));
    }
    if container.beyond > 0 {
        notes.push(format!("skipped {} bytes behind the end that the header tells", container.beyond));
    }
    MeshFile::whole(surface.mesh, notes)
}

/// The document, of a version and with extensions that are known here.
fn parse(container: &Container) -> Result<Document, MeshFault> {
    let document: Document = from_json(container)?;
    let asset = &document.asset;
    let wanted = asset.min_version.as_ref().unwrap_or(&asset.version);
    if !asset.version.starts_with("2.") || (asset.min_version.is_some() && wanted != "2.0") {
        let version = text::excerpt(wanted.as_bytes());
        return Err(refuse(version, "the version is not 2", "export the mesh as glTF 2.0"));
    }
    let unknown = |name: &&String| !KNOWN.iter().any(|known| name.starts_with(known));
    match document.extensions_required.iter().find(unknown) {
        Some(name) => {
            let remedy = "export the mesh without compression and without extensions";
            Err(refuse(
                text::excerpt(name.as_bytes()),
                "the file needs an extension that is unknown here",
                remedy,
            ))
        }
        None => Ok(document),
    }
}

/// Parts of the document. The standard lets whole numbers be written as `1.0` and `1e0`: where such stand in the way, all are made plain.
fn from_json<T: DeserializeOwned>(container: &Container) -> Result<T, MeshFault> {
    let plain = || {
        let mut value: Value = serde_json::from_slice(container.json).ok()?;
        make_whole(&mut value);
        serde_json::from_value(value).ok()
    };
    let read = serde_json::from_slice(container.json);
    read.or_else(|error| if error.is_data() { plain().ok_or(error) } else { Err(error) }).map_err(|error| {
        // The message ends with line and column, which are told apart from it.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let before: usize = container
            .json
            .split(|b| *b == b'\n')
            .take(error.line().saturating_sub(1))
            .map(|l| l.len() + 1)
            .sum();
        let at = (before + error.column().saturating_sub(1)).min(container.json.len());
        let place = container.json_offset.map_or(Place::Line(error.line()), |start| Place::Byte(start + at));
        let near = container.json.get(at.saturating_sub(8)..).unwrap_or_default();
        MeshFault::at(place, text::excerpt(near), format!("not the JSON of a glTF file: {reason}"), DAMAGED)
    })
}

/// Writes numbers that are whole as such.
fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Above this not all whole numbers are told apart.
            let whole = number.as_f64().filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x));
            if let Some(whole) = whole.filter(|_| number.is_f64()) {
                *number = (whole as u64).into();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(make_whole),
        Value::Object(map) => map.values_mut().for_each(make_whole),
        _ => {}
    }
}

/// A fault of a part of the document, named as a path in it.
fn refuse(part: impl Into<String>, reason: impl Into<String>, remedy: &str) -> MeshFault {
    MeshFault::whole(part, reason, remedy)
}

/// What the file holds, counted before anything is read.
#[derive(Default)]
struct Tally {
    parts: u64,
    points: u64,
    triangles: u64,
    /// Parts with points of their own, and those of them that have texture coordinates.
    surfaces: u64,
    textured: u64,
    /// Parts that are points or lines.
    skipped: u64,
    skinned: bool,
    morphs: bool,
    loose: bool,
}

impl Tally {
    fn count(
        &mut self,
        document: &Document,
        buffers: &Buffers,
        draw: &Draw,
        size: usize,
    ) -> Result<u64, MeshFault> {
        self.parts += 1;
        self.loose |= draw.loose;
        let part = Part::find(document, buffers, draw)?;
        if let Some(part) = &part {
            self.skinned |= draw.skin.is_some();
            self.morphs |= !draw.primitive.targets.is_empty();
            self.triangles = self.triangles.saturating_add(part.triangles());
            if draw.first_use {
                self.points = self.points.saturating_add(part.points.count as u64);
                self.surfaces += 1;
                self.textured += u64::from(part.texture.is_some());
            }
        } else {
            self.skipped += 1;
        }
        let most = (size as u64).saturating_add(buffers.beside.get()) / 2 + FREE;
        let asked = self.parts.saturating_add(self.points).saturating_add(self.triangles);
        // Triangles of a surface number their points by 32 bits.
        if asked > most.min(u64::from(u32::MAX)) {
            let reason = format!(
                "{} points, {} triangles and {} parts so far, more than {most}: too many for the size of \
                the file",
                self.points, self.triangles, self.parts
            );
            return Err(refuse(
                &draw.place,
                reason,
                "repeat the mesh in fewer nodes, or write them as meshes of their own",
            ));
        }
        Ok(part.map_or(0, |part| part.points.count as u64))
    }

    /// What is not as in the file; skins and shapes are followed where it is to move.
    fn notes(&self, animated: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if self.loose {
            notes.push("the file has no nodes; every mesh is taken once, as it is".into());
        }
        if self.skipped > 0 {
            notes.push(format!("skipped parts that are points or lines: {}", self.skipped));
        }
        if self.skinned && !animated {
            notes.push("skins are not followed; the mesh stands in the pose that it was bound in".into());
        }
        if self.morphs && !animated {
            notes.push("morph targets are not followed".into());
        }
        if (1..self.surfaces).contains(&self.textured) {
            let (with, all) = (self.textured, self.surfaces);
            notes.push(format!("no material coordinates; parts with texture coordinates: {with} of {all}"));
        }
        notes
    }
}

/// The surface as it grows, in lists whose size is known.
struct Surface {
    mesh: scene::Mesh,
    textured: bool,
}

impl Surface {
    fn new(tally: &Tally) -> Self {
        let textured = tally.textured == tally.surfaces;
        let mut mesh = scene::Mesh::default();
        // Checked against the size of the file.
        mesh.positions.reserve_exact(tally.points as usize);
        mesh.triangles.reserve_exact(tally.triangles as usize);
        mesh.material.reserve_exact(if textured { tally.points as usize } else { 0 });
        Self { mesh, textured }
    }

    fn add(&mut self, document: &Document, buffers: &Buffers, draw: &Draw) -> Result<u64, MeshFault> {
        let Some(part) = Part::find(document, buffers, draw)? else { return Ok(0) };
        if draw.first_use {
            self.add_points(&part, &draw.world)?;
        }
        self.add_triangles(&part, draw)?;
        Ok(part.points.count as u64)
    }

    fn add_points(&mut self, part: &Part, world: &DAffine3) -> Result<(), MeshFault> {
        let finite = |finite: bool, elements: &Elements, k: usize| {
            let reason = || format!("coordinates of element {k} are not finite once it is placed");
            let remedy = "find out how the mesh came to hold it";
            if finite { Ok(()) } else { Err(refuse(accessor::place(elements.index), reason(), remedy)) }
        };
        let start = self.mesh.positions.len();
        self.mesh.positions.resize(start + part.points.count, DVec3::ZERO);
        let to = self.mesh.positions.get_mut(start..).unwrap_or_default();
        part.points.read(|k, point: [f64; 3]| {
            let point = world.transform_point3(DVec3::from_array(point));
            if let Some(to) = to.get_mut(k) {
                *to = point;
            }
            finite(point.is_finite(), &part.points, k)
        })?;
        let Some(texture) = part.texture.as_ref().filter(|_| self.textured) else { return Ok(()) };
        self.mesh.material.resize(start + part.points.count, [0.0; 2]);
        let to = self.mesh.material.get_mut(start..).unwrap_or_default();
        texture.read(|k, [u, v]: [f64; 2]| {
            // Rows of a picture are counted from the top.
            if let Some(to) = to.get_mut(k) {
                *to = [u, 1.0 - v];
            }
            finite(u.is_finite() && v.is_finite(), texture, k)
        })
    }

    fn add_triangles(&mut self, part: &Part, draw: &Draw) -> Result<(), MeshFault> {
        let corners = part.corners()?;
        // A mirrored surface turns its inside out.
        let mirrored = draw.world.matrix3.determinant() < 0.0;
        let base = draw.first_point as u32;
        for k in 0..part.triangles() as usize {
            let [Some(a), Some(b), Some(c)] = part.mode.corners_of(k).map(|at| corners.get(at)) else {
                break;
            };
            // Strips turn by triangles without area.
            if part.mode != Mode::List && (a == b || b == c || c == a) {
                continue;
            }
            let [a, b, c] = [a + base, b + base, c + base];
            self.mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
        }
        Ok(())
    }
}
