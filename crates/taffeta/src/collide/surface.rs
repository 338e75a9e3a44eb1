//! All that can touch: points, edges and faces of cloths and bodies, numbered through.
//!
//! Particles come first, in the numbering of the model, then the points of bodies. Round bodies are thin things with a radius: a sphere is a
//! point, a capsule an edge. They stand among the triangles as `[a, a, a]` and `[a, b, b]`, so that one tree over triangles finds all that is near.
//! A plane has no place here: it is met point by point.

use crate::math::{DVec3, Pose};
use crate::model::params::CollisionParams;
use crate::model::{Collider, Form, Model, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// Cloth may come as near to cloth as this share of its shortest edge even if it is thicker: neighbours always are.
const NEAREST_OF_EDGE: f64 = 0.25;
/// Cloth can be squeezed to this share of its thickness.
const SQUEEZED: f64 = 0.2;

/// Friction between bodies that have none given [1].
const BODY_FRICTION: f64 = 0.5;

/// The constant part of all that can touch.
#[derive(Debug, Clone)]
pub struct CollisionSurface {
    /// How many points are particles of the model; those of bodies follow.
    pub particles: usize,
    /// How many points there are.
    pub points: usize,
    /// Where every point is when nothing pulls, those of a body in its own frame [m]; tells what lies side by side, and nothing else.
    pub rest: Vec<DVec3>,
    /// Triangles: those of the model, then those of bodies, where equal corners make a point or an edge.
    pub triangles: Vec<[u32; 3]>,
    /// Edges, each once, smaller end first.
    pub edges: Vec<[u32; 2]>,
    /// What each triangle stands for in pairs; every point and every edge stands with one triangle only.
    pub owned: Vec<Owned>,
    /// Whether cloth meets cloth, itself and others.
    pub cloth_meets_cloth: bool,
    /// Cloths, then bodies.
    pub objects: Vec<Object>,
    /// Every two particles that a stitch joins, in both orders, sorted.
    pub sewn: Vec<[u32; 2]>,
    /// What bodies keep from one another beyond their radii [m].
    pub body_skin: f64,
}

/// The features that stand with a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owned {
    /// Which of its corners.
    pub corners: [bool; 3],
    /// Its edges (numbers in [`CollisionSurface::edges`]), from corner k to corner k + 1; [`NO_EDGE`] if another triangle has it.
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

/// What two objects keep between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// The distance they have when nothing presses [m].
    pub distance: f64,
    /// The distance that is never undercut [m].
    pub floor: f64,
    /// What of it is the radius of a body [m].
    pub solid: f64,
    /// Coulomb friction [1].
    pub friction: f64,
}

impl Kept {
    /// Where CCD puts what would meet: half way between the distance and its floor [m].
    pub fn parted(&self) -> f64 {
        0.5 * (self.distance + self.floor)
    }
}

impl CollisionSurface {
    /// All cloths and colliders of a model.
    pub fn new(model: &Model) -> Self {
        let particles = model.particle_count();
        let mut surface = Self {
            particles,
            points: particles,
            rest: model.rest_positions.clone(),
            triangles: model.triangles.clone(),
            edges: Vec::new(),
            owned: Vec::new(),
            cloth_meets_cloth: model.cloth_meets_cloth,
            objects: Vec::new(),
            sewn: model.links.ends.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect(),
            body_skin: model.params.collision.body_skin,
        };
        surface.sewn.sort_unstable();
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
            let (radius, count, triangles) = outline(&collider.form);
            let (first, first_triangle) = (surface.points, surface.triangles.len());
            surface.points += count;
            surface.rest.resize(surface.points, DVec3::ZERO);
            place_form(&collider.form, 0.0, &Pose::IDENTITY, &mut surface.rest[first..]);
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

    /// A surface of given parts, which must fit together.
    pub fn of_parts(
        particles: usize,
        rest: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        objects: Vec<Object>,
    ) -> Self {
        let (edges, owned) = (Vec::new(), Vec::new());
        let (points, cloth_meets_cloth, sewn) = (rest.len(), true, Vec::new());
        let body_skin = CollisionParams::default().body_skin;
        let mut surface =
            Self { particles, points, rest, triangles, edges, owned, cloth_meets_cloth, objects, sewn, body_skin };
        surface.share_out();
        surface
    }

    /// Where the points of all led bodies are at `time` [s]; `out` holds those after the particles.
    pub fn place_bodies(&self, model: &Model, time: f64, out: &mut [DVec3]) {
        self.place(model, time, out, |collider| collider.free.is_none());
    }

    /// The same for those that do not rest, where `out` has the others already.
    pub fn place_moving_bodies(&self, model: &Model, time: f64, out: &mut [DVec3]) {
        self.place(model, time, out, |collider| collider.free.is_none() && !collider.rests());
    }

    fn place(&self, model: &Model, time: f64, out: &mut [DVec3], asked: impl Fn(&Collider) -> bool) {
        for object in &self.objects {
            if let Some(collider) = object.body.map(|b| &model.colliders[b]).filter(|c| asked(c)) {
                let range = object.points.start - self.particles..object.points.end - self.particles;
                place_form(&collider.form, time, &collider.pose(time), &mut out[range]);
            }
        }
    }

    /// The object that a point belongs to.
    pub fn object_of_point(&self, point: u32) -> usize {
        self.objects.partition_point(|o| o.points.end <= point as usize)
    }

    /// What two objects keep between them.
    pub fn between(&self, a: usize, b: usize) -> Kept {
        let (first, second) = (&self.objects[a], &self.objects[b]);
        let friction = match (first.friction, second.friction) {
            (Some(f), Some(g)) => (f * g).sqrt(),
            (f, g) => f.or(g).unwrap_or(BODY_FRICTION),
        };
        let skin = if first.body.is_some() && second.body.is_some() { self.body_skin } else { 0.0 };
        let distance = if a == b { first.self_distance } else { first.radius + second.radius + skin };
        let solid: f64 = [first, second].iter().filter(|o| o.body.is_some()).map(|o| o.radius).sum();
        Kept { distance, floor: solid + SQUEEZED * (distance - solid), solid, friction }
    }

    /// Whether the object that a point belongs to has faces: round bodies are points and edges with a radius.
    pub fn has_faces(&self, point: u32) -> bool {
        let object = &self.objects[self.object_of_point(point)];
        object.triangles.clone().any(|t| self.owned[t].is_face)
    }

    /// Whether a stitch joins two features. They touch for good, and need not be pressed to: the distance that is never undercut is enough for them.
    pub fn are_sewn(&self, first: &[u32], second: &[u32]) -> bool {
        let sewn = |a: u32| second.iter().any(|b| self.sewn.binary_search(&[a, *b]).is_ok());
        !self.sewn.is_empty() && first.iter().any(|a| sewn(*a))
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

/// Points [m] and triangles of a body that has faces, at a time [s].
pub fn faces(form: &Form, time: f64, pose: &Pose) -> Option<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let (_, count, triangles) = outline(form);
    let has_faces = triangles.iter().any(|[a, b, c]| a != b && b != c);
    has_faces.then(|| {
        let mut points = vec![DVec3::ZERO; count];
        place_form(form, time, pose, &mut points);
        (points, triangles)
    })
}

/// Radius [m], number of points and triangles of a body.
fn outline(form: &Form) -> (f64, usize, Vec<[u32; 3]>) {
    match form {
        Form::Closed(Shape::Plane) => (0.0, 0, vec![]),
        Form::Closed(Shape::Sphere { radius }) => (*radius, 1, vec![[0; 3]]),
        Form::Closed(Shape::Capsule { radius, .. }) => (*radius, 2, vec![[0, 1, 1]]),
        Form::Closed(Shape::Box { .. }) => (0.0, 8, BOX.to_vec()),
        Form::Mesh(mesh) => (0.5 * mesh.thickness(), mesh.point_count(), mesh.triangles().to_vec()),
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

fn place_form(form: &Form, time: f64, pose: &Pose, out: &mut [DVec3]) {
    match form {
        Form::Closed(shape) => place(shape, pose, out),
        Form::Mesh(mesh) => mesh.place(time, pose, out),
    }
}

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
