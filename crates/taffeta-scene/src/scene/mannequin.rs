//! A body that the program makes itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mannequin that stands on its position and looks along +z, arms out; it may do one of `walk`, `pose` and `dance`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mannequin {
    /// From the floor to the top of the head [m].
    #[schemars(range(min = 0.1, max = 10.0))]
    pub height: f64,
    /// Whose proportions it has.
    pub build: Build,
    /// Girth of the chest, under the arms [m]; left out, the usual one of its build and height.
    #[schemars(range(min = 0.03, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chest: Option<f64>,
    /// Girth of the waist [m].
    #[schemars(range(min = 0.03, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waist: Option<f64>,
    /// Girth of the hips [m].
    #[schemars(range(min = 0.03, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hips: Option<f64>,
    /// How far the arms hang below the horizontal [degrees].
    #[schemars(range(min = 0.0, max = 65.0))]
    pub arms: f64,
    /// How many edges of its triangles make its height: it has about 2.7 times the square of that in triangles.
    #[schemars(range(min = 40, max = 300))]
    pub detail: u32,
    /// Cloth keeps half of this from the surface, on either side [m].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub thickness: f64,
    /// How it walks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    /// Poses that it takes one after the other; times must increase. It stands until a second before the first, and stays in the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pose: Vec<Posing>,
    /// How it dances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dance: Option<Dance>,
}

impl Default for Mannequin {
    fn default() -> Self {
        Self {
            height: 1.75,
            build: Build::Neutral,
            chest: None,
            waist: None,
            hips: None,
            arms: 45.0,
            detail: 56,
            thickness: 1e-3,
            walk: None,
            pose: Vec::new(),
            dance: None,
        }
    }
}

impl Mannequin {
    /// Until when it stands [s].
    pub fn moves_from(&self) -> f64 {
        let posing = self.pose.first().map(|first| (first.time - 1.0).max(0.0));
        let acts =
            [self.walk.as_ref().map(|walk| walk.start), posing, self.dance.as_ref().map(|dance| dance.start)];
        acts.into_iter().flatten().next().unwrap_or(f64::INFINITY)
    }
}

/// Proportions of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Build {
    /// Between the two others.
    #[default]
    Neutral,
    /// Narrower shoulders and waist, wider hips.
    Woman,
    /// Wider shoulders, a deeper chest.
    Man,
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

/// A pose that is reached at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Posing {
    /// When it is reached [s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub time: f64,
    /// Which.
    pub pose: PoseName,
}

/// How a body holds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoseName {
    /// As it was made.
    Stand,
    /// The arms beside the trunk.
    ArmsDown,
    /// The arms level to both sides.
    ArmsOut,
    /// The arms over the head.
    ArmsUp,
    /// On a seat of a quarter of its height behind its feet, which is another collider's business.
    Sit,
}

/// A dance in its place, the arms over the head in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dance {
    /// When it begins [s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub start: f64,
    /// How long it dances, beginning and coming to rest included [s].
    #[schemars(range(min = 3.0, max = 120.0))]
    pub duration: f64,
    /// Beats in a minute [1/min].
    #[schemars(range(min = 20.0, max = 200.0))]
    pub tempo: f64,
}

impl Default for Dance {
    fn default() -> Self {
        Self { start: 1.0, duration: 10.0, tempo: 100.0 }
    }
}
