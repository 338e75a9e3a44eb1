//! What the cloth meets: closed-form shapes that rest or follow keyframes.

use super::motion::Motion;
use crate::math::{DVec3, Pose};
use serde::{Deserialize, Serialize};

/// A solid with a closed form, in its own axes, centred on its origin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// The half-space y <= 0; its outward normal is +y.
    Plane,
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// All points within `radius` of the segment from (0, -half_length, 0) to (0, half_length, 0).
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the length of the segment [m].
        half_length: f64,
    },
    /// A cuboid.
    Box {
        /// Half its size along each axis [m].
        half_size: DVec3,
    },
}

/// A shape somewhere in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosedShape {
    /// The solid in its own axes.
    pub shape: Shape,
    /// Where it is now.
    pub pose: Pose,
}

/// A shape that cloth cannot enter, where it was placed, and how it moves from there.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// Its name in messages and reports.
    pub name: String,
    /// The solid in its own axes.
    pub shape: Shape,
    /// Where it was placed.
    pub placed: Pose,
    /// How it moves from there.
    pub motion: Motion,
    /// Coulomb friction; `None` is the fabric's own [1].
    pub friction: Option<f64>,
}

impl Collider {
    /// Where it is at `time` [s].
    pub fn at(&self, time: f64) -> PosedShape {
        let moved = self.motion.at(time);
        let pose = Pose {
            position: self.placed.position + moved.position,
            rotation: moved.rotation * self.placed.rotation,
        };
        PosedShape { shape: self.shape, pose }
    }
}
