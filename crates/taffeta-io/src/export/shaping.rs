//! Where the points of a file come from: particles of the recording, then points of bodies.

use super::film::Placement;
use super::solid::Solid;
use crate::recording::Frame;
use taffeta::math::{DVec3, Pose};
use taffeta::model::BodyMesh;

/// Points that are means of particles.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Means {
    /// Where the parts of every point end.
    ends: Vec<u32>,
    /// Particles and their shares, which add up to 1 for every point.
    parts: Vec<(u32, f64)>,
}

impl Means {
    /// Points that are particles.
    pub fn of_particles(particles: impl Iterator<Item = u32>) -> Means {
        let mut means = Means::default();
        particles.for_each(|particle| means.push([(particle, 1.0)]));
        means
    }

    /// Adds a point.
    pub fn push(&mut self, parts: impl IntoIterator<Item = (u32, f64)>) {
        self.parts.extend(parts);
        self.ends.push(self.parts.len() as u32);
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The particles that a point is the mean of, and their shares.
    pub fn parts(&self, point: usize) -> &[(u32, f64)] {
        let start = point.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.parts[start..self.ends[point] as usize]
    }

    /// Appends all points of particles that are at `positions`.
    pub fn place(&self, positions: &[DVec3], out: &mut Vec<DVec3>) {
        let mean = |point: usize| match self.parts(point) {
            &[(particle, _)] => positions[particle as usize],
            parts => parts.iter().map(|(particle, share)| *share * positions[*particle as usize]).sum(),
        };
        out.extend((0..self.len()).map(mean));
    }
}

/// A body whose points are written, and its place among the frames' poses.
pub(super) struct PosedBody {
    pub body: usize,
    pub points: BodyPoints,
}

/// The points of a body in its own axes.
pub(super) enum BodyPoints {
    /// In metres, as they deform.
    Deforming(BodyMesh),
    /// In the file's units.
    Rigid(Solid),
}

/// Where all points of a file come from.
#[derive(Default)]
pub(super) struct Shaping {
    pub cloth: Means,
    pub bodies: Vec<PosedBody>,
    /// All particles of the present frame, in the file's axes and units.
    particles: Vec<DVec3>,
    scratch: Vec<DVec3>,
}

impl Shaping {
    /// From particles that are as given.
    pub fn new(cloth: Means) -> Shaping {
        Shaping { cloth, ..Shaping::default() }
    }

    /// All points of a frame in the file's axes and units. A body that the frame has no pose for stands where it was made.
    pub fn place(&mut self, frame: &Frame, placement: Placement, out: &mut Vec<DVec3>) {
        out.clear();
        self.particles.clear();
        self.particles.extend(frame.absolute().map(|p| placement.point(p)));
        self.cloth.place(&self.particles, out);
        for PosedBody { body, points } in &self.bodies {
            let pose = frame.bodies.get(*body).copied().unwrap_or(Pose::IDENTITY);
            match points {
                BodyPoints::Deforming(mesh) => {
                    self.scratch.resize(mesh.point_count(), DVec3::ZERO);
                    mesh.place(frame.time, &pose, &mut self.scratch);
                    out.extend(self.scratch.iter().map(|p| placement.point(*p)));
                }
                BodyPoints::Rigid(solid) => {
                    let placed = placement.pose(&pose);
                    out.extend(solid.points.iter().map(|p| placed.to_world(*p)));
                }
            }
        }
    }

    /// Points of bodies that stand at `poses`, which are in the file's axes and units, before anything moves.
    pub fn start_of_bodies(&self, poses: &[Pose], scale: f64) -> Vec<DVec3> {
        let start = |posed: &PosedBody| {
            let pose = poses.get(posed.body).copied().unwrap_or(Pose::IDENTITY);
            match &posed.points {
                BodyPoints::Deforming(mesh) => {
                    let points = mesh.points(0.0, &Pose::IDENTITY);
                    points.into_iter().map(|p| pose.to_world(p * scale)).collect::<Vec<_>>()
                }
                BodyPoints::Rigid(solid) => solid.points.iter().map(|p| pose.to_world(*p)).collect(),
            }
        };
        self.bodies.iter().flat_map(start).collect()
    }

    /// What a point is, in words.
    pub fn words(&self, point: usize) -> String {
        match point < self.cloth.len() {
            true => format!("particle {}", self.cloth.parts(point)[0].0),
            false => format!("point {} of the bodies", point - self.cloth.len()),
        }
    }
}
