//! Where the points of a file come from: particles of the recording, then points of bodies.

use super::film::Placement;
use super::maps::FitMaps;
use super::solid::Solid;
use crate::recording::Frame;
use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{Mul, Range};
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

    /// Adds a point that is a mean of points of `others`.
    pub fn push_mean(&mut self, others: &Means, points: impl IntoIterator<Item = (u32, f64)>) {
        let mut sum: BTreeMap<u32, f64> = BTreeMap::new();
        for (point, share) in points {
            let parts = others.parts(point as usize).iter();
            parts.for_each(|(particle, part)| *sum.entry(*particle).or_default() += share * part);
        }
        self.push(sum);
    }

    /// The particle that a point is most of.
    fn origin(&self, point: usize) -> u32 {
        let most = |a: (u32, f64), b: (u32, f64)| if b.1 > a.1 { b } else { a };
        self.parts(point).iter().copied().reduce(most).map_or(0, |(particle, _)| particle)
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

    /// What all points have of something that every particle has.
    fn of<T: Copy + Mul<f64, Output = T> + Sum>(&self, particles: &[T]) -> Vec<T> {
        let mean = |point: usize| match self.parts(point) {
            &[(particle, _)] => particles[particle as usize],
            parts => parts.iter().map(|(particle, share)| particles[*particle as usize] * *share).sum(),
        };
        (0..self.len()).map(mean).collect()
    }
}

/// Cloth with two sides.
pub(super) struct Shell {
    /// Triangles of the points between the sides, whose normals tell the way to the upper side.
    pub triangles: Vec<[u32; 3]>,
    /// The points of every piece, before they were doubled.
    pub pieces: Vec<Range<usize>>,
    /// How far either side is from the middle, in the file's units.
    pub half: f64,
}

/// Two particles that are sewn together.
pub(super) struct Seam {
    pub ends: [u32; 2],
    /// The largest distance of a seam that is closed [m].
    pub limit: f64,
    /// Whether it was closed in every frame so far.
    pub closed: bool,
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
    pub shell: Option<Shell>,
    /// Of every point the one that it was before texture coordinates parted them; empty if nothing has.
    pub split: Vec<u32>,
    pub bodies: Vec<PosedBody>,
    /// Seams to watch.
    pub seams: Vec<Seam>,
    /// What is written of the fit.
    pub maps: FitMaps,
    scratch: Vec<DVec3>,
}

impl Shaping {
    /// From particles that are as given.
    pub fn new(cloth: Means) -> Shaping {
        Shaping { cloth, ..Shaping::default() }
    }

    /// All points of a frame in the file's axes and units, and the numbers of every map of the fit.
    /// A body that the frame has no pose for stands where it was made.
    pub fn place(
        &mut self,
        frame: &Frame,
        placement: Placement,
        points: &mut Vec<DVec3>,
        maps: &mut Vec<Vec<f64>>,
    ) {
        let particles: Vec<DVec3> = frame.absolute().collect();
        let placed: Vec<DVec3> = particles.iter().map(|p| placement.point(*p)).collect();
        *points = self.cloth_points(&placed);
        for PosedBody { body, points: own } in &self.bodies {
            let pose = frame.bodies.get(*body).copied().unwrap_or(Pose::IDENTITY);
            match own {
                BodyPoints::Deforming(mesh) => {
                    self.scratch.resize(mesh.point_count(), DVec3::ZERO);
                    mesh.place(frame.time, &pose, &mut self.scratch);
                    points.extend(self.scratch.iter().map(|p| placement.point(*p)));
                }
                BodyPoints::Rigid(solid) => {
                    let placed = placement.pose(&pose);
                    points.extend(solid.points.iter().map(|p| placed.to_world(*p)));
                }
            }
        }
        maps.clear();
        for map in &self.maps.which {
            let of_particles = self.maps.numbers(*map, frame.number, &particles);
            let mut numbers = self.parted(self.doubled(self.cloth.of(&of_particles)));
            numbers.resize(points.len(), 0.0);
            maps.push(numbers);
        }
        self.maps.survey(maps);
        for seam in &mut self.seams {
            let [a, b] = seam.ends.map(|i| particles[i as usize]);
            seam.closed &= a.distance(b) <= seam.limit;
        }
    }

    /// sRGB of all points by their numbers, where one of the maps is shown so.
    pub fn colours(&self, maps: &[Vec<f64>]) -> Vec<[f32; 3]> {
        let doubled = if self.shell.is_some() { 2 * self.cloth.len() } else { self.cloth.len() };
        let cloth = if self.split.is_empty() { doubled } else { self.split.len() };
        self.maps.colours(maps, cloth)
    }

    /// All points of cloth whose particles are at `positions`.
    pub fn cloth_points(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let middle = self.cloth.of(positions);
        let Some(shell) = &self.shell else { return self.parted(middle) };
        let mut normals = vec![DVec3::ZERO; middle.len()];
        for t in &shell.triangles {
            let [a, b, c] = t.map(|i| middle[i as usize]);
            t.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
        }
        let offset = |i: usize| shell.half * normals[i].normalize_or_zero();
        let both = |piece: &Range<usize>| {
            let upper = piece.clone().map(|i| middle[i] + offset(i));
            upper.chain(piece.clone().map(|i| middle[i] - offset(i))).collect::<Vec<_>>()
        };
        self.parted(shell.pieces.iter().flat_map(both).collect())
    }

    /// The particle of the recording that every point of cloth comes from; of several that with the largest share.
    pub fn origins(&self) -> Vec<u32> {
        self.parted(self.doubled((0..self.cloth.len()).map(|point| self.cloth.origin(point)).collect()))
    }

    /// A list of points with both sides of a shell.
    fn doubled<T: Copy>(&self, middle: Vec<T>) -> Vec<T> {
        let Some(shell) = &self.shell else { return middle };
        shell
            .pieces
            .iter()
            .flat_map(|piece| [piece.clone(), piece.clone()])
            .flatten()
            .map(|i| middle[i])
            .collect()
    }

    /// A list of points as texture coordinates part them.
    fn parted<T: Copy>(&self, whole: Vec<T>) -> Vec<T> {
        if self.split.is_empty() { whole } else { self.split.iter().map(|i| whole[*i as usize]).collect() }
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
        match self.origins().get(point) {
            Some(particle) => format!("particle {particle}"),
            None => "a point of a body".into(),
        }
    }
}
