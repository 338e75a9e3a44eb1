//! What the cloth meets: closed-form shapes and surfaces from files, at rest or following keyframes.

use super::body_mesh::BodyMesh;
use super::motion::Motion;
use crate::math::{DVec3, Pose};

/// A solid with a closed form, in its own axes, centred on its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

impl Shape {
    /// The distance of a point in its own axes [m], negative inside.
    pub fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Shape::Plane => p.y,
            Shape::Sphere { radius } => p.length() - radius,
            Shape::Capsule { radius, half_length } => {
                (p - DVec3::Y * p.y.clamp(-half_length, half_length)).length() - radius
            }
            Shape::Box { half_size } => {
                let beyond = p.abs() - half_size;
                beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
            }
        }
    }
}

/// A shape somewhere in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosedShape {
    /// The solid in its own axes.
    pub shape: Shape,
    /// Where it is now.
    pub pose: Pose,
}

/// What a collider is made of.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Form {
    /// A solid with a closed form.
    Closed(Shape),
    /// A surface of triangles.
    Mesh(BodyMesh),
}

/// A thing that cloth cannot pass, where it was placed, and how it moves from there.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// Its name in messages and reports.
    pub name: String,
    /// What it is, in its own axes.
    pub form: Form,
    /// Where it was placed.
    pub placed: Pose,
    /// How it moves from there.
    pub motion: Motion,
    /// Coulomb friction; `None` is the fabric's own [1].
    pub friction: Option<f64>,
    /// Its number among the bodies that move freely, if it is one: then it only starts where it was placed.
    pub free: Option<usize>,
}

impl Collider {
    /// Where its own axes are led at `time` [s].
    pub fn pose(&self, time: f64) -> Pose {
        let moved = self.motion.at(time);
        Pose {
            position: self.placed.position + moved.position,
            rotation: moved.rotation * self.placed.rotation,
        }
    }

    /// Whether its points stay where they are.
    pub fn rests(&self) -> bool {
        let deforms = matches!(&self.form, Form::Mesh(mesh) if mesh.deforms());
        self.free.is_none() && self.motion.rests() && !deforms
    }

    /// Where it is led at `time` [s], if it has a closed form and does not move freely.
    pub fn at(&self, time: f64) -> Option<PosedShape> {
        match self.form {
            Form::Closed(shape) if self.free.is_none() => Some(PosedShape { shape, pose: self.pose(time) }),
            _ => None,
        }
    }
}
