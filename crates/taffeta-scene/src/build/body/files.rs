//! Bodies from files that have been read: one file, a file for each moment, a cache of points, or a clip of a skeleton.

use super::clip;
use crate::build::import::{self, Imported};
use crate::rules::{FASTEST_BODY, Fault};
use crate::scene::rig::{Bone, Morph, Rig};
use crate::scene::{Animation, Mesh, MeshBody, MeshShape};
use std::collections::BTreeMap;
use std::iter::successors;
use taffeta::math::{DAffine3, DMat3, DVec3, Pose};
use taffeta::model::body_mesh::{BodyMesh, Moments, Pace};
use taffeta::model::skin::{Skin, SkinJoint};

/// Points further out than this are not positions of anything [m].
const FURTHEST: f64 = 1e5;
/// The least moments of the way from where a skeleton rests to the first pose of a clip, and the most.
const WAY: std::ops::RangeInclusive<f64> = 20.0..=1e5;
/// A clip whose last pose is as near to its first as this is closed [m].
const CLOSED: f64 = 1e-3;

/// The files of a scene that have been read, by name.
type Files = BTreeMap<String, Mesh>;

/// The surface of a body that does not deform and keeps no distance of its own.
pub fn rigid_surface(asked: &MeshShape, meshes: &Files, key: &str) -> Result<BodyMesh, Fault> {
    let MeshShape { file, scale, up, weld } = asked.clone();
    let (thickness, sequence, animation, cache) = (0.0, None, None, None);
    surface(&MeshBody { file, scale, up, weld, thickness, sequence, animation, cache }, meshes, key)
}

/// The surface that a scene asks for, of files that have been read; or what is wrong with one of them.
pub fn surface(asked: &MeshBody, meshes: &Files, key: &str) -> Result<BodyMesh, Fault> {
    let source = Source { asked, meshes, key };
    let files = asked.files();
    let first_file = files.first().map_or("", String::as_str);
    let first = source.read(first_file)?;
    let points = first.positions.len();
    let corners = first.triangles.as_flattened().iter().chain(first.quads.as_flattened());
    if let Some(corner) = corners.copied().find(|corner| *corner as usize >= points) {
        let reason = format!("cannot be a body: a face names point {corner} of {points}");
        return Err(source.fault(first_file, reason, "export the mesh anew"));
    }
    let imported = import::import(first, &asked.shape());
    let triangles = faces(&imported.mesh);
    if triangles.is_empty() {
        let reason = "cannot be a body: no face has three different corners".into();
        return Err(source.fault(first_file, reason, "name a file with faces, or lower `weld`"));
    }
    let (moments, pace) = match (&asked.animation, &asked.cache) {
        (Some(animation), _) => source.clip(first_file, animation, &imported)?,
        (None, Some(cache)) => {
            let lists = source.cached(&cache.file, first_file, points, &imported)?;
            let (start, interval) = (cache.start, 1.0 / cache.rate);
            (lists, Pace { start, interval, repeats: cache.repeat, once: 0 })
        }
        (None, None) => {
            let lists = source.sequence(&files, first, &imported)?;
            (lists, Pace { interval: asked.interval(), ..Pace::default() })
        }
    };
    BodyMesh::new(triangles, moments, pace, asked.thickness)
        .map_err(|reason| source.fault(first_file, reason, "export the mesh anew"))
}

/// What a body is made of.
struct Source<'a> {
    asked: &'a MeshBody,
    meshes: &'a Files,
    key: &'a str,
}

impl Source<'_> {
    fn fault(&self, file: &str, reason: String, remedy: &str) -> Fault {
        let key = if self.asked.cache.as_ref().is_some_and(|cache| cache.file == file) {
            "cache.file"
        } else {
            "file"
        };
        Fault::new(format!("{}.mesh.{key}", self.key), file, reason, remedy)
    }

    fn read(&self, file: &str) -> Result<&Mesh, Fault> {
        let unread = || {
            let reason = "the mesh was not handed in".into();
            self.fault(file, reason, "read it and pass it under this name")
        };
        self.meshes.get(file).ok_or_else(unread)
    }

    /// A file for each moment.
    fn sequence(&self, files: &[String], first: &Mesh, imported: &Imported) -> Result<Moments, Fault> {
        let mut lists: Vec<Vec<DVec3>> = Vec::with_capacity(files.len());
        for file in files {
            let mesh = self.read(file)?;
            if (mesh.positions.len(), &mesh.triangles, &mesh.quads)
                != (first.positions.len(), &first.triangles, &first.quads)
            {
                let reason = format!("has other points or faces than {}", files[0]);
                return Err(self.fault(file, reason, "write all files of a sequence from one mesh"));
            }
            let now = self.placed(&mesh.positions, imported);
            self.check(file, lists.last().map(Vec::as_slice), &now, self.asked.interval(), imported)?;
            lists.push(now);
        }
        Ok(Moments::Points(lists))
    }

    /// A cache with all points of all moments.
    fn cached(&self, file: &str, first: &str, points: usize, imported: &Imported) -> Result<Moments, Fault> {
        let all = &self.read(file)?.positions;
        if all.is_empty() || !all.len().is_multiple_of(points) {
            let reason = format!("holds {} points, no multiple of the {points} of {first}", all.len());
            return Err(self.fault(file, reason, "write mesh and cache from one object"));
        }
        let interval = self.asked.cache.as_ref().map_or(1.0, |cache| 1.0 / cache.rate);
        let mut lists: Vec<Vec<DVec3>> = Vec::with_capacity(all.len() / points);
        for then in all.chunks_exact(points) {
            let now = self.placed(then, imported);
            self.check(file, lists.last().map(Vec::as_slice), &now, interval, imported)?;
            lists.push(now);
        }
        if self.asked.cache.as_ref().is_some_and(|cache| cache.repeat) {
            let closed = lists[0].clone();
            self.check(file, lists.last().map(Vec::as_slice), &closed, interval, imported)?;
            lists.push(closed);
        }
        Ok(Moments::Points(lists))
    }

    /// A clip of the file's skeleton.
    fn clip(&self, file: &str, asked: &Animation, imported: &Imported) -> Result<(Moments, Pace), Fault> {
        let of_clip = |reason: String, remedy: &str| {
            let key = format!("{}.mesh.animation.clip", self.key);
            Fault::new(key, format!("{:?}", asked.clip), reason, remedy)
        };
        let none = || of_clip(format!("{file} holds no animations"), "name a glTF file with animations");
        let mesh = self.read(file)?;
        let rig = mesh.rig.as_deref().ok_or_else(none)?;
        if !rig.fits(mesh.positions.len()) {
            let reason = "has a skeleton whose parts do not fit together".into();
            return Err(self.fault(file, reason, "hand in points, bones and nodes that name one another"));
        }
        let remedy = "name a clip of the file, or give its number from 0 on";
        let found = clip::find(rig, &asked.clip).map_err(|error| of_clip(error.to_string(), remedy))?;
        let turned = |axis: DVec3| import::placed(axis, &self.asked.shape());
        let outer = DAffine3 {
            matrix3: DMat3::from_cols(turned(DVec3::X), turned(DVec3::Y), turned(DVec3::Z)),
            translation: DVec3::ZERO,
        };
        let (moments, interval) = clip::moments(rig, found, outer)
            .map_err(|error| of_clip(error.to_string(), "choose another clip, or cut it shorter"))?;
        let mut skin = skin(rig, imported);
        let interval = interval / asked.speed;
        let once = self.way(asked, interval)?;
        skin.moments = clip::way_to(rig, found, once, outer);
        skin.moments.extend(moments);
        let mut points = [vec![DVec3::ZERO; skin.rest.len()], vec![DVec3::ZERO; skin.rest.len()]];
        for k in 0..skin.moments.len() {
            points.swap(0, 1);
            skin.place(k, k, 0.0, &Pose::IDENTITY, &mut points[1]);
            let before = (k > 0).then_some(&points[0][..]);
            self.check(file, before, &points[1], interval, imported)?;
        }
        if asked.repeat {
            skin.place(once, once, 0.0, &Pose::IDENTITY, &mut points[0]);
            let apart = |(a, b): (&DVec3, &DVec3)| a.distance(*b) > CLOSED;
            let closed = !points[0].iter().zip(&points[1]).any(apart);
            self.check(file, Some(&points[1]), &points[0], interval, imported)?;
            // What does not end where it began goes there within one moment.
            if closed {
                skin.moments.pop();
            }
            skin.moments.push(skin.moments[once].clone());
        }
        let start = asked.start - once as f64 * interval;
        let pace = Pace { start, interval, repeats: asked.repeat, once };
        Ok((Moments::Skin(Box::new(skin)), pace))
    }

    /// How many moments the way from the rest pose to the first of a clip has, whose moments are so far apart [s].
    fn way(&self, asked: &Animation, interval: f64) -> Result<usize, Fault> {
        let Some(until) = asked.rest_until else { return Ok(0) };
        let moments = ((asked.start - until) / interval).floor();
        if WAY.contains(&moments) {
            return Ok(moments as usize);
        }
        let key = format!("{}.mesh.animation.rest_until", self.key);
        let reason = if until < asked.start {
            let (least, most) = (WAY.start(), WAY.end());
            format!(
                "leaves {moments} moments of {interval:.3e} s until the clip starts, where {least} to {most} are needed"
            )
        } else {
            format!("is not before the clip starts, at {} s", asked.start)
        };
        Err(Fault::new(
            key,
            until,
            reason,
            "move `rest_until` or `start`; a clip of higher `speed` has more of them",
        ))
    }

    /// The points of a file as the first file was imported: joined and left out alike.
    fn placed(&self, points: &[DVec3], first: &Imported) -> Vec<DVec3> {
        let shape: MeshShape = self.asked.shape();
        first.point_of.iter().map(|k| import::placed(points[*k as usize], &shape)).collect()
    }

    /// That all points are somewhere, and not further from where they were than a body gets in a moment.
    fn check(
        &self,
        file: &str,
        before: Option<&[DVec3]>,
        now: &[DVec3],
        interval: f64,
        imported: &Imported,
    ) -> Result<(), Fault> {
        let lost = |p: &DVec3| !p.abs().cmple(DVec3::splat(FURTHEST)).all();
        if let Some(k) = now.iter().position(lost) {
            let reason = format!("cannot be a body: point {} is at {} m", imported.point_of[k], now[k]);
            return Err(self.fault(file, reason, "keep all points within 100000 m; check `scale`"));
        }
        let Some(before) = before else { return Ok(()) };
        let far = |k: &usize| {
            now[*k].distance_squared(before[*k]) > (FASTEST_BODY * interval) * (FASTEST_BODY * interval)
        };
        match (0..now.len()).find(far) {
            None => Ok(()),
            Some(k) => {
                let far = now[k].distance(before[k]);
                let reason = format!(
                    "jumps: point {} moves {far:.3} m in {interval} s, where {FASTEST_BODY} m/s is the most",
                    imported.point_of[k]
                );
                let remedy = match (&self.asked.animation, &self.asked.cache) {
                    (Some(_), _) => {
                        "lower `speed`, or leave `repeat` out where the clip does not end as it began"
                    }
                    (None, Some(_)) => {
                        "lower `rate`, or leave `repeat` out where the cache does not end as it began"
                    }
                    (None, None) => "lower `rate`, or add files in between",
                };
                Err(self.fault(file, reason, remedy))
            }
        }
    }
}

/// The skin of a skeleton, points joined and left out as the surface was imported; without moments.
fn skin(rig: &Rig, imported: &Imported) -> Skin {
    let joints = joints(rig);
    let mut skin =
        Skin { rest: vec![], ends: vec![], shares: vec![], morphs: vec![], moments: vec![], joints };
    for k in imported.point_of.iter().map(|k| *k as usize) {
        let start = k.checked_sub(1).map_or(0, |before| rig.ends[before] as usize);
        skin.rest.push(rig.points[k]);
        skin.shares.extend(&rig.shares[start..rig.ends[k] as usize]);
        skin.ends.push(skin.shares.len() as u32);
    }
    let mut new_number = BTreeMap::new();
    imported.point_of.iter().enumerate().for_each(|(new, old)| _ = new_number.insert(*old, new as u32));
    for shape in &rig.shapes {
        let mut morph = Morph::default();
        // New numbers rise with the old ones.
        for (old, way) in shape.morph.points.iter().zip(&shape.morph.ways) {
            if let Some(new) = new_number.get(old) {
                morph.points.push(*new);
                morph.ways.push(*way);
            }
        }
        skin.morphs.push(morph);
    }
    skin
}

/// The bones of a skeleton, each on the nearest bone above it.
fn joints(rig: &Rig) -> Vec<SkinJoint> {
    let mut bone_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (k, bone) in rig.bones.iter().enumerate() {
        bone_of.entry(bone.node).or_insert(k as u32);
    }
    let joint = |bone: &Bone| {
        let node = &rig.nodes[bone.node as usize];
        let above = successors(node.parent, |above| rig.nodes[*above as usize].parent);
        let parent = { above }.find_map(|above| bone_of.get(&above)).copied();
        SkinJoint { name: node.name.clone(), parent, unbound: bone.unbound }
    };
    rig.bones.iter().map(joint).collect()
}

/// All faces as triangles; those with a corner twice are edges of others.
fn faces(mesh: &Mesh) -> Vec<[u32; 3]> {
    let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let all = mesh.triangles.iter().copied().chain(halves);
    all.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}
