//! A surface from files that cloth meets from either side: rigid, or deforming from one moment to the next.

use super::import::{self, Imported};
use crate::math::{DVec3, Pose};
use crate::scene::{FASTEST_BODY, Fault, Mesh, MeshBody, MeshShape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Points further out than this are not positions of anything [m].
const FURTHEST: f64 = 1e5;

/// A surface of triangles in its own axes. It has no inside: what is on one side of it stays there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct BodyMesh {
    triangles: Vec<[u32; 3]>,
    moments: Vec<Vec<DVec3>>,
    interval: f64,
    thickness: f64,
}

/// A surface as it stands in a file, not to be trusted.
#[derive(Deserialize)]
struct Parts {
    triangles: Vec<[u32; 3]>,
    moments: Vec<Vec<DVec3>>,
    interval: f64,
    thickness: f64,
}

impl TryFrom<Parts> for BodyMesh {
    type Error = String;

    fn try_from(parts: Parts) -> Result<Self, String> {
        let Parts { triangles, moments, interval, thickness } = parts;
        let points = moments.first().ok_or("a body without points")?.len();
        if let Some(other) = moments.iter().find(|points_then| points_then.len() != points) {
            return Err(format!("a body of {points} points has {} later", other.len()));
        }
        if let Some(corner) = triangles.as_flattened().iter().find(|corner| **corner as usize >= points) {
            return Err(format!("a body names point {corner} of {points}"));
        }
        if !(interval > 0.0 && interval.is_finite() && thickness >= 0.0 && thickness.is_finite()) {
            return Err(format!("a body of {thickness} m has its points every {interval} s"));
        }
        Ok(Self { triangles, moments, interval, thickness })
    }
}

impl BodyMesh {
    /// The surface that a scene asks for, of files that have been read; or what is wrong with one of them.
    pub fn new(asked: &MeshBody, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<Self, Fault> {
        let files = asked.files();
        let fault = |file: &str, reason: String, remedy: &str| {
            Fault::new(format!("{key}.mesh.file"), file, reason, remedy)
        };
        let read = |file: &String| {
            let remedy = "read it and pass it under this name";
            meshes.get(file).ok_or_else(|| fault(file, "the mesh was not handed in".into(), remedy))
        };
        let first_file = files.first().map_or("", String::as_str);
        let first = read(&files[0])?;
        let corners = first.triangles.as_flattened().iter().chain(first.quads.as_flattened());
        let points = first.positions.len();
        if let Some(corner) = corners.copied().find(|corner| *corner as usize >= points) {
            let reason = format!("cannot be a body: a face names point {corner} of {points}");
            return Err(fault(first_file, reason, "export the mesh anew"));
        }
        let shape = asked.shape();
        let imported = import::import(first, &shape);
        let triangles = faces(&imported.mesh);
        if triangles.is_empty() {
            let reason = "cannot be a body: no face has three different corners".into();
            return Err(fault(first_file, reason, "name a file with faces, or lower `weld`"));
        }
        let mut moments: Vec<Vec<DVec3>> = Vec::with_capacity(files.len());
        for file in &files {
            let mesh = read(file)?;
            if (mesh.positions.len(), &mesh.triangles, &mesh.quads)
                != (points, &first.triangles, &first.quads)
            {
                let reason = format!("has other points or faces than {first_file}");
                return Err(fault(file, reason, "write all files of a sequence from one mesh"));
            }
            let now = placed(mesh, &shape, &imported);
            let lost = |p: &DVec3| !p.abs().cmple(DVec3::splat(FURTHEST)).all();
            if let Some(k) = now.iter().position(lost) {
                let reason = format!("cannot be a body: point {} is at {} m", imported.point_of[k], now[k]);
                return Err(fault(file, reason, "keep all points within 100000 m; check `scale`"));
            }
            if let Some(before) = moments.last()
                && let Some(k) =
                    (0..now.len()).find(|&k| now[k].distance(before[k]) > FASTEST_BODY * asked.interval())
            {
                let far = now[k].distance(before[k]);
                let reason = format!(
                    "jumps: point {} moves {far:.3} m in {} s, where {FASTEST_BODY} m/s is the most",
                    imported.point_of[k],
                    asked.interval()
                );
                return Err(fault(file, reason, "lower `rate`, or add files in between"));
            }
            moments.push(now);
        }
        Ok(Self { triangles, moments, interval: asked.interval(), thickness: asked.thickness })
    }

    /// The surface of a body that does not deform and keeps no distance of its own.
    pub fn rigid(asked: &MeshShape, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<Self, Fault> {
        let MeshShape { file, scale, up, weld } = asked.clone();
        Self::new(&MeshBody { file, scale, up, weld, thickness: 0.0, sequence: None }, meshes, key)
    }

    /// Its triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether its points move against each other.
    pub fn bends(&self) -> bool {
        self.moments.len() > 1
    }

    /// How many points it has.
    pub fn point_count(&self) -> usize {
        self.moments[0].len()
    }

    /// Cloth keeps half of this from it, on either side [m].
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Whether its points move against each other.
    pub fn deforms(&self) -> bool {
        self.moments.len() > 1
    }

    /// Puts its points where they are at `time` [s] under `pose`: on straight lines between moments, at rest after the last.
    pub fn place(&self, time: f64, pose: &Pose, out: &mut [DVec3]) {
        let last = self.moments.len() - 1;
        let passed = (time / self.interval).clamp(0.0, last as f64);
        let number = (passed as usize).min(last);
        let (before, after) = (&self.moments[number], &self.moments[(number + 1).min(last)]);
        let share = passed - number as f64;
        for ((p, from), to) in out.iter_mut().zip(before).zip(after) {
            *p = pose.to_world(*from + share * (*to - *from));
        }
    }

    /// Its points at `time` [s] under `pose`.
    pub fn points(&self, time: f64, pose: &Pose) -> Vec<DVec3> {
        let mut points = vec![DVec3::ZERO; self.point_count()];
        self.place(time, pose, &mut points);
        points
    }
}

/// The points of a file as the first file was imported: joined and left out alike.
fn placed(mesh: &Mesh, shape: &MeshShape, first: &Imported) -> Vec<DVec3> {
    first.point_of.iter().map(|k| import::placed(mesh.positions[*k as usize], shape)).collect()
}

/// All faces as triangles; those with a corner twice are edges of others.
fn faces(mesh: &Mesh) -> Vec<[u32; 3]> {
    let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let all = mesh.triangles.iter().copied().chain(halves);
    all.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}
