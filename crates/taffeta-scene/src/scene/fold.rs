//! A fold that was pressed in: a line across cloth, along which it rests at an angle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A straight line along which cloth rests at an angle, as a crease or a pleat that was pressed in. On cells of any size and at any angle to them: what the line
/// passes between two particles is shared by both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Where it starts, on the cloth laid flat (for a panel: in its drawing) [m].
    #[schemars(inner(range(min = -1e4, max = 1e4)))]
    pub from: [f64; 2],
    /// Where it ends [m].
    #[schemars(inner(range(min = -1e4, max = 1e4)))]
    pub to: [f64; 2],
    /// By how much the cloth turns there at rest, above 0 towards its outside [degrees]. 180 would be folded flat.
    #[schemars(range(min = -170.0, max = 170.0))]
    pub angle: f64,
    /// How many times as stiff as the fabric it is there, as pleats that are set with resin or heat are [1].
    #[serde(default = "super::cloth::one")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub stiffness: f64,
}
