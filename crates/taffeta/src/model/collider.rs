//! What the cloth meets: closed-form shapes that rest or follow keyframes.

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
