//! All that can touch: points, edges and faces of cloths and bodies, numbered through.
//!
//! Particles come first, in the numbering of the model, then the points of bodies. Round bodies are thin things with a radius: a sphere is a
//! point, a capsule an edge. They stand among the triangles as `[a, a, a]` and `[a, b, b]`, so that one tree over triangles finds all that is near.
//! A plane has no place here: it is met point by point.

use crate::math::{DVec3, Pose};
use crate::model::{Model, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// Cloth may come as near to cloth as this share of its shortest edge even if it is thicker: neighbours always are.
const NEAREST_OF_EDGE: f64 = 0.25;

/// The constant part of all that can touch.
#[derive(Debug, Clone)]
pub struct Surface {
    /// How many points are particles of the model; those of bodies follow.
    pub particles: usize,
    /// How many points there are.
    pub points: usize,
    /// Triangles: those of the model, then those of bodies, where equal corners make a point or an edge.
    pub triangles: Vec<[u32; 3]>,
    /// Edges, each once, smaller end first.
    pub edges: Vec<[u32; 2]>,
    /// What each triangle stands for in pairs; every point and every edge stands with one triangle only.
    pub owned: Vec<Owned>,
    /// Cloths, then bodies.
    pub objects: Vec<Object>,
}

/// The features that stand with a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owned {
    /// Which of its corners.
    pub corners: [bool; 3],
    /// Its edges (numbers in [`Surface::edges`]), from corner k to corner k + 1; [`NO_EDGE`] if another triangle has it.
    pub edges: [u32; 3],
    /// Whether it is a face, and not a point or an edge.
    pub is_face: bool,
}

/// No edge.
pub const NO_EDGE: u32 = u32::MAX;

/// A cloth or a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its points.
    pub points: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Thickness around its points, edges and faces [m].
    pub radius: f64,
    /// Least distance that it keeps from itself [m].
    pub self_distance: f64,
    /// Coulomb friction; `None` takes that of what it meets [1].
    pub friction: Option<f64>,
    /// The collider that it is, if it is one.
    pub body: Option<usize>,
}

impl Surface {
    /// All cloths and colliders of a model.
    pub fn new(model: &Model) -> Self {
        let particles = model.particle_count();
        let mut surface = Self {
            particles,
            points: particles,
            triangles: model.triangles.clone(),
            edges: Vec::new(),
            owned: Vec::new(),
            objects: Vec::new(),
        };
        for cloth in &model.cloths {
            let shortest =
                model.rest_lengths[cloth.edges.clone()].iter().copied().fold(f64::INFINITY, f64::min);
            let thickness = 1e-3 * cloth.fabric.thickness;
            surface.objects.push(Object {
                points: cloth.particles.clone(),
                triangles: cloth.triangles.clone(),
                radius: 0.5 * thickness,
                self_distance: thickness.min(NEAREST_OF_EDGE * shortest),
                friction: Some(cloth.fabric.friction),
                body: None,
            });
        }
        for (number, collider) in model.colliders.iter().enumerate() {
            let (radius, count, triangles) = outline(&collider.shape);
            let (first, first_triangle) = (surface.points, surface.triangles.len());
            surface.points += count;
            surface.triangles.extend(triangles.iter().map(|t| t.map(|i| i + first as u32)));
            surface.objects.push(Object {
                points: first..surface.points,
                triangles: first_triangle..surface.triangles.len(),
                radius,
                self_distance: 0.0,
                friction: collider.friction,
                body: Some(number),
            });
        }
        surface.share_out();
        surface
    }

    /// Where the points of all bodies are at `time` [s]; `out` holds those after the particles.
    pub fn place_bodies(&self, model: &Model, time: f64, out: &mut [DVec3]) {
        for object in &self.objects {
            if let Some(collider) = object.body.map(|b| &model.colliders[b]) {
                let posed = collider.at(time);
                let range = object.points.start - self.particles..object.points.end - self.particles;
                place(&posed.shape, &posed.pose, &mut out[range]);
            }
        }
    }

    /// The object that a point belongs to.
    pub fn object_of_point(&self, point: u32) -> usize {
        self.objects.partition_point(|o| o.points.end <= point as usize)
    }

    /// The distance that two objects keep, and their friction.
    pub fn between(&self, a: usize, b: usize) -> (f64, f64) {
        let (first, second) = (&self.objects[a], &self.objects[b]);
        let friction = match (first.friction, second.friction) {
            (Some(f), Some(g)) => (f * g).sqrt(),
            (f, g) => f.or(g).unwrap_or(0.0),
        };
        (if a == b { first.self_distance } else { first.radius + second.radius }, friction)
    }

    /// Gives every point and every edge to the first triangle that has it.
    fn share_out(&mut self) {
        let mut taken = vec![false; self.points];
        let mut edges = BTreeMap::new();
        for t in &self.triangles {
            let mut owned =
                Owned { edges: [NO_EDGE; 3], is_face: t[0] != t[1] && t[1] != t[2], ..Owned::default() };
            for k in 0..3 {
                owned.corners[k] = !std::mem::replace(&mut taken[t[k] as usize], true);
                let (from, to) = (t[k], t[(k + 1) % 3]);
                let edge = [from.min(to), from.max(to)];
                if from != to && !edges.contains_key(&edge) {
                    let number = self.edges.len() as u32;
                    edges.insert(edge, number);
                    self.edges.push(edge);
                    owned.edges[k] = number;
                }
            }
            self.owned.push(owned);
        }
    }
}

/// Radius [m], number of points and triangles of a shape.
fn outline(shape: &Shape) -> (f64, usize, Vec<[u32; 3]>) {
    match *shape {
        Shape::Plane => (0.0, 0, vec![]),
        Shape::Sphere { radius } => (radius, 1, vec![[0; 3]]),
        Shape::Capsule { radius, .. } => (radius, 2, vec![[0, 1, 1]]),
        Shape::Box { .. } => (0.0, 8, BOX.to_vec()),
    }
}

/// Corner k of a box lies on the side of x, y, z that the bits 0, 1, 2 of k tell; triangles look outwards.
const BOX: [[u32; 3]; 12] = [
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
];

fn place(shape: &Shape, pose: &Pose, out: &mut [DVec3]) {
    let local = |k: usize| match *shape {
        Shape::Capsule { half_length, .. } => DVec3::Y * if k == 0 { -half_length } else { half_length },
        Shape::Box { half_size } => {
            let side = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
            half_size * DVec3::new(side(0), side(1), side(2))
        }
        Shape::Plane | Shape::Sphere { .. } => DVec3::ZERO,
    };
    out.iter_mut().enumerate().for_each(|(k, p)| *p = pose.to_world(local(k)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_closed_and_looks_outwards_and_its_features_stand_once() {
        let mut surface = Surface {
            particles: 0,
            points: 8,
            triangles: BOX.to_vec(),
            edges: vec![],
            owned: vec![],
            objects: vec![],
        };
        surface.share_out();
        let half_size = DVec3::new(0.5, 1.0, 1.5);
        let mut points = [DVec3::ZERO; 8];
        place(&Shape::Box { half_size }, &Pose::IDENTITY, &mut points);
        let volume: f64 =
            BOX.iter().map(|t| t.map(|i| points[i as usize])).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
        assert!((volume - 8.0 * 0.75).abs() < 1e-12);
        assert_eq!(surface.edges.len(), 18);
        assert_eq!(surface.owned.iter().flat_map(|o| o.corners).filter(|c| *c).count(), 8);
        assert_eq!(surface.owned.iter().flat_map(|o| o.edges).filter(|e| *e != NO_EDGE).count(), 18);
    }
}
