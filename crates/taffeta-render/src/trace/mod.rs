//! Rays against cloth and bodies: the box tree of triangles, the closed-form solids, and both together.

mod lanes;
mod solid;
mod tree;
mod world;

pub use solid::{Plane, Solid};
pub use tree::Tree;
pub use world::{Coat, Face, Hit, What, World};

use glam::Vec3;

/// A half-line.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Where it starts [m].
    pub origin: Vec3,
    /// Where it goes; of length 1.
    pub direction: Vec3,
    /// One over each part of the direction, finite.
    inverse: Vec3,
}

impl Ray {
    /// From `origin` along `direction`, whose length is 1.
    #[inline]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        // A ray along an axis must not make 0 times infinity in a box on its origin.
        let finite = |d: f32| if d.abs() < 1e-12 { 1e12_f32.copysign(d) } else { 1.0 / d };
        let inverse = Vec3::new(finite(direction.x), finite(direction.y), finite(direction.z));
        Self { origin, direction, inverse }
    }

    /// The point at distance `t` [m].
    #[inline]
    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + t * self.direction
    }
}
