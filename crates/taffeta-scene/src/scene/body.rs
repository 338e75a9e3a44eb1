//! Bodies that move freely: they fall, turn, meet cloth, colliders and each other.

use super::cloth::MeshShape;
use super::collider::{BoxShape, CapsuleShape, SphereShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body that moves freely: one of `sphere`, `capsule`, `box`, `mesh`. Cloth carries it, and it carries cloth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Body {
    /// Its name in messages and reports.
    pub name: String,
    /// Where its centre (for a mesh: its origin) lies [m].
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: [f64; 3],
    /// Turns about x, then y, then z [degrees].
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: [f64; 3],
    /// Velocity of its centre of mass at the start [m/s].
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub velocity: [f64; 3],
    /// How fast it turns at the start, about axes of the world through its centre of mass [rad/s].
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub spin: [f64; 3],
    /// Mass per volume [kg/m³]. Left out: 500, as of wood, unless `mass` is given.
    #[schemars(range(min = 1e-3, max = 1e5))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Mass [kg], instead of `density`; spread evenly over the volume.
    #[schemars(range(min = 1e-9, max = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Coulomb friction [1]; with that of what it meets it counts as the geometric mean. Left out: that of what it meets.
    #[schemars(range(min = 0.0, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Share of the speed of an impact that is left after it [1]; between two bodies the geometric mean counts. Cloth bounces by its own forces.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: f64,
    /// A ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<SphereShape>,
    /// A cylinder along y with round ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capsule: Option<CapsuleShape>,
    /// A cuboid.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<BoxShape>,
    /// A closed surface from a file, its triangles counter-clockwise seen from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshShape>,
}
