//! What the user asks for: plain data with units and defaults. It is the scene file, word for word.
//!
//! The rules of every key (type, range, default, meaning) stand here once, as attributes and doc comments; the JSON
//! Schema, the check of a scene and the scene reference are all made from them.

pub mod cloth;
pub mod collider;
pub mod fabric;
pub mod fault;
pub mod mesh;
mod particles;
pub mod place;
pub mod presets;
pub mod rules;
mod sense;

pub use cloth::{Cloth, Corner, Disc, Kick, MeshShape, Pin, Sheet, Side, Strip, Tube, UpAxis};
pub use collider::{BoxShape, CapsuleShape, Collider, Ease, Keyframe, PlaneShape, SphereShape};
pub use fabric::{Fabric, FabricChange};
pub use fault::Fault;
pub use mesh::Mesh;
pub use presets::{Preset, preset, presets};
pub use rules::{Rule, faults_of_value};
pub use sense::MOST_PARTICLES;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A scene: cloth, what it meets, what acts on it, and how it is solved. SI units; y points up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// What the scene shows, in one line.
    pub title: String,
    /// How many frames to simulate.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frames: u32,
    /// Time from one frame to the next [s].
    #[schemars(range(min = 1e-6, max = 1.0))]
    pub frame_time: f64,
    /// Acceleration of everything that is free [m/s²].
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub gravity: [f64; 3],
    /// Where random numbers start; equal seeds give equal scenes.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub seed: u64,
    /// How the motion is computed.
    pub solver: Solver,
    /// What the cloth moves through.
    pub air: Air,
    /// Fabrics of this scene by name: changes to a built-in fabric.
    pub fabrics: BTreeMap<String, FabricChange>,
    /// The pieces of cloth.
    #[schemars(length(min = 1, max = 10_000))]
    pub cloth: Vec<Cloth>,
    /// What the cloth meets.
    #[schemars(length(max = 10_000))]
    pub collider: Vec<Collider>,
    /// What is written down.
    pub output: Output,
    /// From where pictures are taken. Left out, all of the motion is in the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            title: String::new(),
            frames: 120,
            frame_time: 1.0 / 30.0,
            gravity: [0.0, -9.81, 0.0],
            seed: 1,
            solver: Solver::default(),
            air: Air::default(),
            fabrics: BTreeMap::new(),
            cloth: Vec::new(),
            collider: Vec::new(),
            output: Output::default(),
            camera: None,
        }
    }
}

/// How the motion is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The method by name; `taffeta methods` lists them.
    pub method: Method,
    /// Steps of the method in one frame.
    #[schemars(range(min = 1, max = 100_000))]
    pub steps_per_frame: u32,
    /// Sub-steps in one step. Left out, the method takes as many as it needs; too few are refused.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substeps: Option<u32>,
    /// Largest strain of a structural edge that a frame may have [1]; 0.01 is 1 %. The certificate of every frame is held against it.
    #[schemars(range(min = 1e-9, max = 10.0))]
    pub tolerance: f64,
}

impl Default for Solver {
    fn default() -> Self {
        Self { method: Method::Verlet, steps_per_frame: 1, substeps: None, tolerance: 0.05 }
    }
}

/// The methods that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Implicit Euler with one Newton step and preconditioned conjugate gradients (P4).
    BackwardEuler,
    /// Implicit, of second order: it keeps a swing longer (P3).
    Bdf2,
    /// Edges kept at their length by impulses along strips, solved in linear time (P1).
    ImpulseStrips,
    /// Explicit Verlet integration of spring-dampers, sub-stepped below its stability limit (P3, P5).
    Verlet,
}

impl Method {
    /// Every method, in the order of the list that users see.
    pub const ALL: &[Method] = &[Method::BackwardEuler, Method::Bdf2, Method::ImpulseStrips, Method::Verlet];

    /// The name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::BackwardEuler => "backward-euler",
            Method::Bdf2 => "bdf2",
            Method::ImpulseStrips => "impulse-strips",
            Method::Verlet => "verlet",
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::BackwardEuler => "implicit springs, stable at any step, one sparse system in each (P4)",
            Method::Bdf2 => "implicit springs of second order, which keep a swing longer (P3 eq. 8, 9)",
            Method::ImpulseStrips => {
                "edges keep their length by impulses along strips, solved in linear time (P1)"
            }
            Method::Verlet => {
                "explicit springs and dampers, sub-stepped below the stability limit (P3 eq. 6, P5 eq. 4)"
            }
        }
    }
}

/// What the cloth moves through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Air {
    /// Density of the air [kg/m³]; 0 is a vacuum.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub density: f64,
    /// Drag coefficient of a triangle that moves against its normal [1].
    #[schemars(range(min = 0.0, max = 10.0))]
    pub drag: f64,
    /// Friction coefficient of air that streams along a triangle [1].
    #[schemars(range(min = 0.0, max = 10.0))]
    pub skin_friction: f64,
    /// Velocity of the air [m/s].
    #[schemars(inner(range(min = -200.0, max = 200.0)))]
    pub wind: [f64; 3],
    /// Rate at which every particle loses velocity relative to the wind [1/s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub damping: f64,
}

impl Default for Air {
    fn default() -> Self {
        // A flat plate across the stream has 1.2 (Hoerner, Fluid-Dynamic Drag, 1965, ch. 3); along it, turbulent, about 0.01.
        Self { density: 1.2, drag: 1.2, skin_friction: 0.01, wind: [0.0; 3], damping: 0.0 }
    }
}

/// What is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Frames from one full state in the recording to the next: an interrupted run resumes from the last of them.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub full_state_every: u32,
}

impl Default for Output {
    fn default() -> Self {
        Self { full_state_every: 10 }
    }
}

/// From where pictures are taken; y is up in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Where it stands [m].
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub position: [f64; 3],
    /// What is in the middle of the picture [m].
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub target: [f64; 3],
    /// Angle from the lower to the upper edge of the picture [degrees].
    #[serde(default = "long_lens")]
    #[schemars(range(min = 1.0, max = 170.0))]
    pub field_of_view: f64,
}

fn long_lens() -> f64 {
    28.0
}

/// The JSON Schema of the scene file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}
