//! What the user asks for: plain data with units and defaults. It is the scene file, word for word.
//!
//! The rules of every key (type, range, default, meaning) stand here once, as attributes and doc comments; the JSON
//! Schema, the check of a scene and the scene reference are all made from them.

pub mod body;
pub mod cloth;
pub mod collider;
pub mod collider_mesh;
pub mod fabric;
pub mod fold;
pub mod garment;
pub mod mannequin;
mod memory;
pub mod mesh;
pub mod outline;
mod particles;
pub mod place;
pub mod presets;
pub mod rig;

pub use body::Body;
pub use cloth::{
    Ball, Cloth, ClothModel, Corner, Disc, Filling, FillingKind, Kick, Lattice, MeshShape, Pin, Sheet, Side,
    SoftSolid, Strip, Tube, UpAxis,
};
pub use collider::{BoxShape, CapsuleShape, Collider, PlaneShape, SphereShape};
pub use collider_mesh::{Animation, MeshBody, PointCache, Sequence};
pub use fabric::FabricChange;
pub use fold::Fold;
pub use garment::{
    Belt, Dart, Elastic, Garment, GarmentPin, Interfacing, Panel, PanelEdge, PanelPlace, Seam, Wrap,
};
pub use mannequin::{Build, Dance, Mannequin, PoseName, Posing, Walk};
pub use mesh::Mesh;
pub use presets::{Preset, preset, presets};
pub use rig::Rig;

pub use taffeta::model::{
    Direction, Ease, Fabric, Keyframe, LimitWay, Method, ParticleOrder, StepChoice, StrainLimit, Velocities,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

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
    #[schemars(range(min = 1e-6, max = 1000.0))]
    pub frame_time: f64,
    /// Acceleration of everything that is free [m/s²].
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub gravity: [f64; 3],
    /// Nothing has weight until then [s]: panels of a garment hang in the air while they are sewn.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub weightless: f64,
    /// Where random numbers start; equal seeds give equal scenes.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub seed: u64,
    /// How the motion is computed.
    pub solver: Solver,
    /// What is kept apart.
    pub contact: Contact,
    /// What the cloth moves through.
    pub air: Air,
    /// Fabrics of this scene by name: changes to a built-in fabric.
    pub fabrics: BTreeMap<String, FabricChange>,
    /// The pieces of cloth.
    #[schemars(length(max = 10_000))]
    pub cloth: Vec<Cloth>,
    /// Garments: panels that are sewn together.
    #[schemars(length(max = 100))]
    pub garment: Vec<Garment>,
    /// What the cloth meets.
    #[schemars(length(max = 10_000))]
    pub collider: Vec<Collider>,
    /// What moves freely among them.
    #[schemars(length(max = 10_000))]
    pub body: Vec<Body>,
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
            weightless: 0.0,
            seed: 1,
            solver: Solver::default(),
            contact: Contact::default(),
            air: Air::default(),
            fabrics: BTreeMap::new(),
            cloth: Vec::new(),
            garment: Vec::new(),
            collider: Vec::new(),
            body: Vec::new(),
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
    /// Iterations of the impulse methods in one step at most. A step that needs more is marked as not converged; left out, it takes them. Of methods that move
    /// positions, such as `xpbd`: iterations in every sub-step.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// What a step may cost at most, in iterations over all its attempts. A step that cannot keep its promise within it ends with what it has, without
    /// intersections, and is marked as not converged; left out, it takes what it needs. The viewer sets it.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Whether edges stretch as their fabric does, up to six tenths of the tolerance; there they stop. Otherwise methods that keep lengths take a
    /// fabric for inextensible; other methods let it stretch in any case.
    pub extensible: bool,
    /// Where the impulse methods take the directions of edges.
    pub direction: Direction,
    /// What the impulse methods do with velocities along edges.
    pub velocities: Velocities,
    /// How implicit methods choose their sub-steps where `substeps` does not.
    pub step: StepChoice,
    /// Newton steps at most in a sub-step of implicit methods; more than one follow large turns, each costs as much as the first.
    #[schemars(range(min = 1, max = 100))]
    pub newton: u32,
    /// In which order implicit methods work on particles (P4). It changes round-off and speed.
    pub order: ParticleOrder,
    /// Edges that are too long are shortened after every step (P5). Left out: `verlet` shortens those more than a tenth too long, by priority;
    /// others shorten none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<StrainLimit>,
    /// What computes the steps: `cpu`, or the first CUDA card by `cuda` and others by `cuda:1` and so on. Left out, the CPU. Bits are the same on one
    /// kind of card, not those of the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: Method::ImpulseStrips,
            steps_per_frame: 1,
            substeps: None,
            tolerance: 0.01,
            max_iterations: None,
            budget: None,
            extensible: false,
            direction: Direction::Preview,
            velocities: Velocities::Kept,
            step: StepChoice::default(),
            newton: 1,
            order: ParticleOrder::default(),
            limit: None,
            device: None,
        }
    }
}

/// What is kept apart. Cloth and colliders always are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// Whether cloth meets cloth, itself and others. Where it cannot, `false` saves the time to look.
    pub cloth_cloth: bool,
}

impl Default for Contact {
    fn default() -> Self {
        Self { cloth_cloth: true }
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
    /// Lift coefficient of a triangle at small angles to the stream [1/rad]: up to 2π for a thin wing.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub lift: f64,
    /// What is added to the wind at random.
    pub gust: Gust,
}

/// Smooth random air that travels with the wind; it depends on the scene's seed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gust {
    /// Largest velocity along any axis [m/s]; 0 is none.
    #[schemars(range(min = 0.0, max = 200.0))]
    pub speed: f64,
    /// How often it changes [1/s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub frequency: f64,
    /// Over what distance it changes [m].
    #[schemars(range(min = 1e-3, max = 1e6))]
    pub length: f64,
}

impl Default for Gust {
    fn default() -> Self {
        Self { speed: 0.0, frequency: 1.0, length: 1.0 }
    }
}

impl Default for Air {
    fn default() -> Self {
        // A flat plate across the stream has 1.2 (Hoerner, Fluid-Dynamic Drag, 1965, ch. 3); along it, turbulent, about 0.01.
        Self {
            density: 1.2,
            drag: 1.2,
            skin_friction: 0.01,
            wind: [0.0; 3],
            damping: 0.0,
            lift: 0.0,
            gust: Gust::default(),
        }
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

impl Scene {
    /// The scene as plain data. What it holds can always be put so.
    // Made here, once: everybody who reads and writes scenes would compile all of this again otherwise.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The scene that plain data describes.
    pub fn from_json(value: serde_json::Value) -> Result<Scene, serde_json::Error> {
        serde_json::from_value(value)
    }
}

/// The JSON Schema of the scene file.
pub fn schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(Scene).to_value())
}
