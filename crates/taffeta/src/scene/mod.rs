//! What the user asks for: plain data with units and defaults. It is the scene file, word for word.
//!
//! The rules of every key (type, range, default, meaning) stand here once, as attributes and doc comments; the JSON
//! Schema, the check of a scene and the scene reference are all made from them.

pub mod body;
pub mod cloth;
pub mod collider;
pub mod collider_mesh;
pub mod fabric;
pub mod fault;
pub mod garment;
mod garment_sense;
pub mod mannequin;
pub mod mesh;
pub mod outline;
mod particles;
pub mod place;
pub mod presets;
pub mod rig;
pub mod rules;
mod sense;
mod sense_fabrics;
mod sense_motions;
mod sense_pins;

pub use body::Body;
pub use cloth::{
    Ball, Cloth, ClothModel, Corner, Disc, Filling, FillingKind, Kick, Lattice, MeshShape, Pin, Sheet, Side,
    SoftSolid, Strip, Tube, UpAxis,
};
pub use collider::{BoxShape, CapsuleShape, Collider, Ease, Keyframe, PlaneShape, SphereShape};
pub use collider_mesh::{Animation, MeshBody, PointCache, Sequence};
pub use fabric::{Fabric, FabricChange};
pub use fault::Fault;
pub use garment::{Dart, Garment, GarmentPin, Panel, PanelEdge, PanelPlace, Seam, Wrap};
pub use mannequin::{Mannequin, Walk};
pub use mesh::Mesh;
pub use presets::{Preset, preset, presets};
pub use rig::Rig;
pub use rules::{Rule, faults_of_value};
pub use sense::MOST_PARTICLES;
pub use sense_motions::FASTEST_BODY;

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
    /// Iterations of the impulse methods in one step at most. A step that needs more is marked as not converged; left out, it takes them.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
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
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: Method::ImpulseStrips,
            steps_per_frame: 1,
            substeps: None,
            tolerance: 0.01,
            max_iterations: None,
            direction: Direction::Preview,
            velocities: Velocities::Kept,
            step: StepChoice::default(),
            newton: 1,
            order: ParticleOrder::default(),
            limit: None,
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

/// Where impulses take the directions of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Where the sub-step leads, anew in every iteration: stable.
    Preview,
    /// Where the sub-step starts, as P1 and P2 print it: for gentle motion of small scenes.
    Start,
}

/// What is done with velocities along edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Velocities {
    /// They are those of the motion.
    Kept,
    /// Velocity impulses (P1, P2) take away what would change lengths.
    Corrected,
}

/// How sub-steps are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepChoice {
    /// Equal ones, as long as is usual for the method.
    #[default]
    Usual,
    /// As long as the motion allows: long ones at rest, short ones where much happens.
    Auto,
}

/// The order of particles (P4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParticleOrder {
    /// As the scene has them.
    #[default]
    Given,
    /// Along the longest side of each piece of cloth.
    Striped,
    /// By halves that are halved again.
    Recursive,
}

/// Edges that are too long are shortened (P5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StrainLimit {
    /// Strain above which an edge is shortened [1].
    #[schemars(range(min = 0.0, max = 10.0))]
    pub strain: f64,
    /// Which end moves.
    pub way: LimitWay,
    /// The most sweeps over all edges in a step; 0 is none.
    #[schemars(range(min = 0, max = 100_000))]
    pub sweeps: u32,
}

impl Default for StrainLimit {
    fn default() -> Self {
        Self { strain: 0.1, way: LimitWay::default(), sweeps: 20 }
    }
}

/// Which end of an edge that is too long moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitWay {
    /// Both by half, or the free one by all (Selle's way in P5).
    Half,
    /// The one that was moved less often (P5's way).
    #[default]
    Priority,
}

/// The methods that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Implicit Euler with one Newton step and preconditioned conjugate gradients (P4).
    BackwardEuler,
    /// Implicit, of second order: it keeps a swing longer (P3).
    Bdf2,
    /// The same without a matrix: every component of every particle has its own secant for a derivative (P3). Sub-stepped below the limit of `verlet`.
    Bdf2Secant,
    /// Edges kept at their length by impulses, one edge after the other (P2).
    ImpulseIterative,
    /// Edges kept at their length by impulses along strips, solved in linear time (P1).
    ImpulseStrips,
    /// Edges kept at their length by impulses, all in one sparse system (P2).
    ImpulseDirect,
    /// Explicit Verlet integration of spring-dampers, sub-stepped below its stability limit (P3, P5).
    Verlet,
}

impl Method {
    /// Every method, in the order of the list that users see.
    pub const ALL: &[Method] = &[
        Method::BackwardEuler,
        Method::Bdf2,
        Method::Bdf2Secant,
        Method::ImpulseIterative,
        Method::ImpulseStrips,
        Method::ImpulseDirect,
        Method::Verlet,
    ];

    /// The name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::BackwardEuler => "backward-euler",
            Method::Bdf2 => "bdf2",
            Method::Bdf2Secant => "bdf2-secant",
            Method::ImpulseIterative => "impulse-iterative",
            Method::ImpulseStrips => "impulse-strips",
            Method::ImpulseDirect => "impulse-direct",
            Method::Verlet => "verlet",
        }
    }

    /// Whether it solves for all particles together: stable at any step, for all kinds of elements.
    pub fn is_implicit(self) -> bool {
        matches!(self, Method::BackwardEuler | Method::Bdf2)
    }

    /// Whether impulses hold lengths to the tolerance, whatever the stiffness of the fabric.
    pub fn keeps_lengths(self) -> bool {
        matches!(self, Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect)
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::BackwardEuler => "implicit springs, stable at any step, one sparse system in each (P4)",
            Method::Bdf2 => "implicit springs of second order, which keep a swing longer (P3 eq. 8, 9)",
            Method::Bdf2Secant => {
                "springs of second order without a matrix, one secant for each component of a particle (P3)"
            }
            Method::ImpulseIterative => {
                "edges keep their length by impulses, one edge after the other (P2 Alg. 1)"
            }
            Method::ImpulseDirect => {
                "edges keep their length by impulses, all in one sparse system (P2 §3.4.2)"
            }
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
