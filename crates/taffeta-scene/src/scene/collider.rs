//! What the cloth meets.

use super::Keyframe;
use super::collider_mesh::MeshBody;
use super::mannequin::Mannequin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What cloth cannot pass: one of `plane`, `sphere`, `capsule`, `box`, `mesh`, `mannequin`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Collider {
    /// Its name in messages and reports.
    pub name: String,
    /// Where its centre (for a mesh: its origin) lies [m].
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: [f64; 3],
    /// Turns about x, then y, then z [degrees].
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: [f64; 3],
    /// Coulomb friction [1]; with the fabric's it counts as the geometric mean. Left out: the fabric's own.
    #[schemars(range(min = 0.0, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// All that lies below its local y = 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<PlaneShape>,
    /// A ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<SphereShape>,
    /// A cylinder along y with round ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capsule: Option<CapsuleShape>,
    /// A cuboid.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<BoxShape>,
    /// A surface from a file, or from a file for each moment. It is met from either side, closed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshBody>,
    /// A body that the program makes itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mannequin: Option<Mannequin>,
    /// How it moves, at most at 100 m/s; times must increase.
    pub keyframe: Vec<Keyframe>,
}

/// A half-space has no numbers of its own: position and rotation say all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaneShape {}

/// A ball.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereShape {
    /// Radius [m].
    #[schemars(range(min = 1e-4, max = 1e4))]
    pub radius: f64,
}

/// A cylinder along y with round ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapsuleShape {
    /// Radius [m].
    #[schemars(range(min = 1e-4, max = 1e4))]
    pub radius: f64,
    /// Length of the straight part [m].
    #[schemars(range(min = 0.0, max = 1e4))]
    pub length: f64,
}

/// A cuboid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxShape {
    /// Its size along x, y and z [m].
    #[schemars(inner(range(min = 1e-4, max = 1e4)))]
    pub size: [f64; 3],
}
