//! A body that the program makes itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mannequin that stands on its position and looks along +z, arms out; it may walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mannequin {
    /// From the floor to the top of the head [m].
    #[schemars(range(min = 0.1, max = 10.0))]
    pub height: f64,
    /// How far the arms hang below the horizontal [degrees].
    #[schemars(range(min = 0.0, max = 65.0))]
    pub arms: f64,
    /// How many edges of its triangles make its height: it has about 1.5 times the square of that in triangles.
    #[schemars(range(min = 40, max = 300))]
    pub detail: u32,
    /// Cloth keeps half of this from the surface, on either side [m].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub thickness: f64,
    /// How it walks; left out, it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
}

impl Default for Mannequin {
    fn default() -> Self {
        Self { height: 1.75, arms: 45.0, detail: 64, thickness: 1e-3, walk: None }
    }
}

/// A walk: it lowers its arms and sets out, walks, and comes to rest again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Walk {
    /// When it sets out [s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub start: f64,
    /// How long it walks, setting out and coming to rest included [s].
    #[schemars(range(min = 2.0, max = 120.0))]
    pub duration: f64,
    /// How fast, for a height of 1.75 m [m/s].
    #[schemars(range(min = 0.1, max = 2.0))]
    pub speed: f64,
    /// How far below the horizontal the arms hang [degrees]. Clothes need room between arms and trunk.
    #[schemars(range(min = 0.0, max = 75.0))]
    pub arms: f64,
    /// Whether it stays in its place, as on a treadmill.
    pub in_place: bool,
}

impl Default for Walk {
    fn default() -> Self {
        Self { start: 1.0, duration: 10.0, speed: 1.1, arms: 74.0, in_place: false }
    }
}
