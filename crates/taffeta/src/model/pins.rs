//! Particles that are held, or led: by keyframes, or by the body that they sit on.

use super::body_mesh::BodyMesh;
use super::collider::{Collider, Form};
use super::motion::Motion;
use crate::math::{DVec3, Pose};

/// Particles that are held, or led together.
#[derive(Debug, Clone, PartialEq)]
pub struct PinGroup {
    /// The particles.
    pub particles: Vec<u32>,
    /// What leads each of them, from where it starts.
    pub seats: Vec<Seat>,
    /// What leads them all.
    pub lead: Lead,
    /// Whether it gives way where the cloth cannot follow, as a hand does. Methods that keep lengths let it; others stretch the cloth.
    pub yields: bool,
}

/// What leads a group of particles.
#[derive(Debug, Clone, PartialEq)]
pub enum Lead {
    /// A motion.
    Motion {
        /// What they turn about [m].
        centre: DVec3,
        /// How they move.
        motion: Motion,
    },
    /// The collider of this number.
    Body(usize),
}

/// Where a particle is on what leads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seat {
    /// At a point: where it starts, or in the axes of a body [m].
    Point(DVec3),
    /// Over a triangle of a surface.
    Face {
        /// The corners of the triangle.
        corners: [u32; 3],
        /// Along two of its sides [1] and along its normal [m], from the first corner.
        at: DVec3,
    },
}

/// What leads a group, at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Led {
    pose: Pose,
    time: f64,
}

impl PinGroup {
    /// Particles that start at these places [m], led by a motion.
    pub fn moved(particles: Vec<u32>, start: Vec<DVec3>, motion: Motion) -> Self {
        let centre = start.iter().sum::<DVec3>() / start.len().max(1) as f64;
        let seats = start.into_iter().map(Seat::Point).collect();
        Self { particles, seats, lead: Lead::Motion { centre, motion }, yields: false }
    }

    /// Particles that are at these places [m] at a time [s], each led by the nearest point of a collider from then on.
    pub fn seated(
        particles: Vec<u32>,
        start: &[DVec3],
        (number, collider): (usize, &Collider),
        time: f64,
    ) -> Self {
        let pose = collider.pose(time);
        let seats = match &collider.form {
            Form::Mesh(mesh) if mesh.deforms() => {
                let points = mesh.points(time, &pose);
                start.iter().map(|p| seat(mesh, &points, *p)).collect()
            }
            _ => start.iter().map(|p| Seat::Point(pose.to_local(*p))).collect(),
        };
        Self { particles, seats, lead: Lead::Body(number), yields: false }
    }

    /// What leads it at `time` [s].
    pub fn led(&self, time: f64, colliders: &[Collider]) -> Led {
        let pose = match &self.lead {
            Lead::Motion { motion, .. } => motion.at(time),
            Lead::Body(number) => colliders[*number].pose(time),
        };
        Led { pose, time }
    }

    /// Where one of its particles is then [m].
    pub fn place(&self, member: usize, led: &Led, colliders: &[Collider]) -> DVec3 {
        match (&self.lead, self.seats[member]) {
            (Lead::Motion { motion, .. }, Seat::Point(start)) if motion.rests() => start,
            (Lead::Motion { centre, .. }, Seat::Point(start)) => *centre + led.pose.to_world(start - *centre),
            (_, Seat::Point(local)) => led.pose.to_world(local),
            (Lead::Body(number), Seat::Face { corners, at }) => match &colliders[*number].form {
                Form::Mesh(mesh) => {
                    let [a, b, c] = corners.map(|corner| mesh.point(corner as usize, led.time, &led.pose));
                    let normal = (b - a).cross(c - a).normalize_or_zero();
                    a + at.x * (b - a) + at.y * (c - a) + at.z * normal
                }
                Form::Closed(_) => led.pose.to_world(at),
            },
            (Lead::Motion { centre, .. }, Seat::Face { .. }) => *centre,
        }
    }

    /// Lets go of all particles but those that stay.
    pub fn retain(&mut self, stays: impl Fn(u32) -> bool) {
        let kept = self.particles.iter().map(|particle| stays(*particle));
        let kept: Vec<bool> = kept.collect();
        let mut keep = kept.iter();
        self.particles.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.seats.retain(|_| keep.next() == Some(&true));
    }
}

/// How far points are from a collider at the start [m]; negative inside closed forms.
pub fn distances(collider: &Collider, points: &[DVec3]) -> Vec<f64> {
    let pose = collider.pose(0.0);
    match &collider.form {
        Form::Closed(shape) => points.iter().map(|p| shape.distance(pose.to_local(*p))).collect(),
        Form::Mesh(mesh) => {
            let corners = mesh.points(0.0, &pose);
            let far = |p: &DVec3| nearest(mesh, &corners, *p).map_or(f64::INFINITY, |(_, distance)| distance);
            points.iter().map(far).collect()
        }
    }
}

/// The seat of a point over the nearest triangle.
fn seat(mesh: &BodyMesh, points: &[DVec3], p: DVec3) -> Seat {
    let Some((corners, _)) = nearest(mesh, points, p) else { return Seat::Point(p) };
    let [a, b, c] = corners.map(|corner| points[corner as usize]);
    let (u, v, d) = (b - a, c - a, p - a);
    let (uu, uv, vv, du, dv) = (u.dot(u), u.dot(v), v.dot(v), d.dot(u), d.dot(v));
    let area = uu * vv - uv * uv;
    let normal = u.cross(v).normalize_or_zero();
    let at = DVec3::new((vv * du - uv * dv) / area, (uu * dv - uv * du) / area, d.dot(normal));
    Seat::Face { corners, at }
}

/// The nearest triangle that has an area, and its distance [m]; the first of several.
fn nearest(mesh: &BodyMesh, points: &[DVec3], p: DVec3) -> Option<([u32; 3], f64)> {
    let mut best: Option<([u32; 3], f64)> = None;
    for corners in mesh.triangles() {
        let triangle = corners.map(|corner| points[corner as usize]);
        let [a, b, c] = triangle;
        let least = best.map_or(f64::INFINITY, |(_, distance)| distance);
        // Most triangles are further away than their boxes allow to matter.
        let beyond = (a.min(b).min(c) - p).max(p - a.max(b).max(c)).max(DVec3::ZERO);
        if beyond.length_squared() >= least * least || flat(triangle) {
            continue;
        }
        let distance = from_triangle(p, triangle);
        if distance < least {
            best = Some((*corners, distance));
        }
    }
    best
}

/// Whether a triangle has no area to speak of.
fn flat([a, b, c]: [DVec3; 3]) -> bool {
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    (b - a).cross(c - a).length() <= 1e-6 * longest
}

/// The distance of a point from a triangle [m].
fn from_triangle(p: DVec3, triangle: [DVec3; 3]) -> f64 {
    let [a, b, c] = triangle;
    let normal = (b - a).cross(c - a);
    let (mut inside, mut least) = (true, f64::INFINITY);
    for k in 0..3 {
        let (from, along) = (triangle[k], triangle[(k + 1) % 3] - triangle[k]);
        inside &= normal.cross(along).dot(p - from) >= 0.0;
        let t = ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        least = least.min((from + t * along).distance(p));
    }
    if inside { (p - a).dot(normal).abs() / normal.length() } else { least }
}
