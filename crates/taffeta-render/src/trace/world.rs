//! Everything that rays can meet, made ready from a view: pooled vertices with smooth normals, the tree, the solids.

use super::{Plane, Ray, Solid, Tree};
use crate::colour;
use crate::view::{BodyView, ClothView, SceneView, Values};
use glam::{Vec2, Vec3};
use taffeta::math::{DQuat, DVec3, Pose};
use taffeta::model::{PosedShape, Shape};

/// Threads across the longer side of a cloth when no distance is given: fewer look like sackcloth, more do not show.
const THREADS: f64 = 300.0;
/// The finest distance of threads when none is given [m].
const FINEST_THREAD: f64 = 2e-3;
/// What colours a value that is not a number, linear.
const NO_VALUE: Vec3 = Vec3::splat(0.3);

/// Everything that rays can meet. Positions are relative to [`World::new`]'s origin, where single precision is best.
#[derive(Debug)]
pub struct World {
    tree: Tree,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    material: Vec<Vec2>,
    faces: Vec<Face>,
    /// What every surface of triangles looks like.
    pub coats: Vec<Coat>,
    solids: Vec<Solid>,
    /// Floors, walls and slopes.
    pub planes: Vec<Plane>,
}

/// A triangle of a surface.
#[derive(Debug, Clone, Copy)]
pub struct Face {
    corners: [u32; 3],
    /// Its number within its surface.
    pub index: u32,
    /// The surface.
    pub surface: u32,
}

/// What a surface of triangles looks like; colours are linear.
#[derive(Debug)]
pub enum Coat {
    /// Woven cloth.
    Fabric {
        /// Of its threads.
        colour: Vec3,
        /// From thread to thread [m]; 0 shows none.
        thread: f32,
    },
    /// A number in 0..1 of every pooled vertex from `first` on.
    Values {
        /// The surface's first vertex.
        first: u32,
        /// The numbers.
        values: Vec<f32>,
    },
    /// A colour of every pooled vertex from `first` on.
    Corners {
        /// The surface's first vertex.
        first: u32,
        /// The colours.
        colours: Vec<Vec3>,
    },
    /// A colour of every triangle.
    Faces(Vec<Vec3>),
    /// A body.
    Clay,
}

/// Where a ray meets something.
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    /// Distance along the ray [m].
    pub t: f32,
    /// What it meets.
    pub what: What,
}

/// What a ray meets.
#[derive(Debug, Clone, Copy)]
pub enum What {
    /// A triangle, and the weights of its second and third corner.
    Face(u32, [f32; 2]),
    /// A solid, and its outward normal.
    Solid(u32, Vec3),
    /// A plane.
    Plane(u32),
}

impl World {
    /// From a checked view, relative to `origin`; values are mapped from `range` to 0..1.
    pub fn new(view: &SceneView, origin: DVec3, range: [f64; 2]) -> Self {
        let mut world = World {
            tree: Tree::new(&[]),
            positions: Vec::new(),
            normals: Vec::new(),
            material: Vec::new(),
            faces: Vec::new(),
            coats: Vec::new(),
            solids: Vec::new(),
            planes: Vec::new(),
        };
        for cloth in &view.cloths {
            let first = world.add_surface(cloth.positions, cloth.triangles, cloth.material, origin);
            world.coats.push(coat(cloth, first, range));
        }
        let edge = world.typical_edge();
        for body in &view.bodies {
            match body {
                BodyView::Mesh { positions, triangles } => {
                    world.add_surface(positions, triangles, &[], origin);
                    world.coats.push(Coat::Clay);
                }
                BodyView::Shape(PosedShape { shape: Shape::Plane, pose }) => {
                    world.planes.extend(Plane::new(pose, origin));
                }
                BodyView::Shape(shape) => world.solids.extend(Solid::new(shape, origin, edge)),
            }
        }
        if let Some(height) = view.ground.filter(|height| height.is_finite()) {
            let floor = Pose { position: DVec3::Y * height, rotation: DQuat::IDENTITY };
            world.planes.extend(Plane::new(&floor, origin));
        }
        let corners: Vec<[Vec3; 3]> = world.faces.iter().map(|face| world.corners(face)).collect();
        world.tree = Tree::new(&corners);
        world
    }

    /// Pools a surface's points and triangles; returns the number that its point 0 has in the pool.
    fn add_surface(
        &mut self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        material: &[[f64; 2]],
        origin: DVec3,
    ) -> Pooled {
        let used = triangles.iter().flatten();
        let low = used.clone().min().copied().unwrap_or(0);
        let high = used.max().map_or(0, |high| high + 1);
        let (start, surface) = (self.positions.len(), self.coats.len() as u32);
        let own = low as usize..high as usize;
        self.positions.extend(positions[own.clone()].iter().map(|p| (*p - origin).as_vec3()));
        let uv = |i: usize| material.get(i).map_or(Vec2::ZERO, |uv| Vec2::new(uv[0] as f32, uv[1] as f32));
        self.material.extend(own.clone().map(uv));
        self.normals.resize(self.positions.len(), Vec3::ZERO);
        for (index, triangle) in triangles.iter().enumerate() {
            let face = Face {
                corners: triangle.map(|corner| corner - low + start as u32),
                index: index as u32,
                surface,
            };
            let [a, b, c] = self.corners(&face);
            // Its length is twice the area, which is the weight.
            let normal = (b - a).cross(c - a);
            if normal.is_finite() {
                face.corners.iter().for_each(|corner| self.normals[*corner as usize] += normal);
            }
            self.faces.push(face);
        }
        self.normals[start..].iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        Pooled { start: start as u32, own }
    }

    /// Mean of the longest edges of all triangles so far [m].
    fn typical_edge(&self) -> f64 {
        let longest = |face: &Face| {
            let [a, b, c] = self.corners(face);
            f64::from(a.distance(b).max(b.distance(c)).max(c.distance(a)))
        };
        let lengths = self.faces.iter().map(longest).filter(|length| length.is_finite());
        lengths.sum::<f64>() / self.faces.len().max(1) as f64
    }

    /// The first thing that a ray meets.
    #[inline]
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        let mut best = None;
        let mut far = f32::INFINITY;
        for (i, solid) in self.solids.iter().enumerate() {
            if let Some((t, normal)) = solid.meet(ray, 0.0, far) {
                (best, far) = (Some(Hit { t, what: What::Solid(i as u32, normal) }), t);
            }
        }
        for (i, plane) in self.planes.iter().enumerate() {
            if let Some(t) = plane.meet(ray, 0.0, far) {
                (best, far) = (Some(Hit { t, what: What::Plane(i as u32) }), t);
            }
        }
        match self.tree.closest(ray, 0.0, far) {
            Some(hit) => Some(Hit { t: hit.t, what: What::Face(hit.triangle, hit.weights) }),
            None => best,
        }
    }

    /// Whether a ray that is `spread` wide at distance 1 can meet nothing but a plane.
    pub fn is_bare(&self, ray: &Ray, spread: f32) -> bool {
        self.planes.len() < 2
            && !self.tree.near(ray, spread)
            && !self.solids.iter().any(|solid| solid.near(ray, spread))
    }

    /// Whether a ray meets anything before `far` [m].
    #[inline]
    pub fn occluded(&self, ray: &Ray, far: f32) -> bool {
        self.solids.iter().any(|solid| solid.meet(ray, 0.0, far).is_some())
            || self.planes.iter().any(|plane| plane.meet(ray, 0.0, far).is_some())
            || self.tree.occluded(ray, 0.0, far)
    }

    /// A triangle by number.
    pub fn face(&self, number: u32) -> &Face {
        &self.faces[number as usize]
    }

    /// The corners of a triangle [m].
    pub fn corners(&self, face: &Face) -> [Vec3; 3] {
        face.corners.map(|corner| self.positions[corner as usize])
    }

    /// Smooth normals at the corners of a triangle, area-weighted over the triangles that meet there.
    pub fn normals(&self, face: &Face) -> [Vec3; 3] {
        face.corners.map(|corner| self.normals[corner as usize])
    }

    /// Material coordinates at the corners of a triangle [m].
    pub fn material(&self, face: &Face) -> [Vec2; 3] {
        face.corners.map(|corner| self.material[corner as usize])
    }

    /// Colour of a painted surface at weights of a triangle's corners; `None` if it is cloth or clay.
    pub fn painted(&self, face: &Face, weights: [f32; 3]) -> Option<Vec3> {
        match self.coats.get(face.surface as usize)? {
            Coat::Fabric { .. } | Coat::Clay => None,
            Coat::Faces(colours) => colours.get(face.index as usize).copied(),
            Coat::Corners { first, colours } => {
                let [a, b, c] = weights;
                let nearest = if a >= b && a >= c {
                    0
                } else if b >= c {
                    1
                } else {
                    2
                };
                colours.get((face.corners[nearest] - first) as usize).copied()
            }
            Coat::Values { first, values } => {
                let value = |corner: u32| values.get((corner - first) as usize).copied().unwrap_or(f32::NAN);
                let [a, b, c] = face.corners.map(value);
                Some(value_colour(weights[0] * a + weights[1] * b + weights[2] * c))
            }
        }
    }
}

/// Where a surface's points lie in the pool.
struct Pooled {
    /// In the pool, its first point.
    start: u32,
    /// Which of its points are used.
    own: std::ops::Range<usize>,
}

fn value_colour(t: f32) -> Vec3 {
    if t.is_finite() { colour::linear(colour::viridis(t)) } else { NO_VALUE }
}

fn coat(cloth: &ClothView, pooled: Pooled, range: [f64; 2]) -> Coat {
    let Pooled { start: first, own } = pooled;
    let width = (range[1] - range[0]).max(f64::MIN_POSITIVE);
    let unit = |value: &f64| {
        if value.is_nan() { f32::NAN } else { ((value - range[0]) / width).clamp(0.0, 1.0) as f32 }
    };
    let group = |group: &u32| colour::linear(colour::category(*group));
    match cloth.values {
        Some(Values::Particles(values)) => {
            Coat::Values { first, values: values[own].iter().map(unit).collect() }
        }
        Some(Values::ParticleGroups(groups)) => {
            Coat::Corners { first, colours: groups[own].iter().map(group).collect() }
        }
        Some(Values::Triangles(values)) => {
            Coat::Faces(values.iter().map(|value| value_colour(unit(value))).collect())
        }
        Some(Values::TriangleGroups(groups)) => Coat::Faces(groups.iter().map(group).collect()),
        None => Coat::Fabric { colour: Vec3::from_array(cloth.colour), thread: thread(cloth) as f32 },
    }
}

/// Distance from thread to thread [m]; 0 without material coordinates.
fn thread(cloth: &ClothView) -> f64 {
    let corners = cloth.triangles.iter().flatten().filter_map(|corner| cloth.material.get(*corner as usize));
    let (low, high) = corners.fold(([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]), |(low, high), uv| {
        ([low[0].min(uv[0]), low[1].min(uv[1])], [high[0].max(uv[0]), high[1].max(uv[1])])
    });
    let size = (high[0] - low[0]).max(high[1] - low[1]);
    let chosen = cloth.thread.unwrap_or((size / THREADS).max(FINEST_THREAD));
    if size.is_finite() && size > 0.0 && chosen.is_finite() && chosen > 0.0 { chosen } else { 0.0 }
}
