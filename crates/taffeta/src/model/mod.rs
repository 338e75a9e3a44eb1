//! What a scene is made into: all that is constant in a run ([`Model`]) and all that changes ([`State`]).

pub mod bodies;
pub mod elements;
pub mod environment;
pub mod fabric;
pub mod memory;
pub mod options;
pub mod params;
pub mod parting;
pub mod pins;
pub mod reach;
pub mod scales;
pub mod sliders;
pub mod state;
pub mod stitches;
pub mod topology;

pub use bodies::{body_mesh, collider, motion, rigid, skin};
pub use body_mesh::BodyMesh;
pub use collider::{Collider, Form, PosedShape, Shape};
pub use elements::{Bends, Buckles, Membranes, PlatePatch, Plates, Springs, Twists};
pub use environment::{AirModel, Environment};
pub use fabric::Fabric;
pub use memory::Memory;
pub use motion::{Ease, Keyframe, Motion};
pub use options::{Direction, LimitWay, Method, ParticleOrder, StepChoice, StrainLimit, Velocities};
pub use params::Params;
pub use parting::{BreakingPin, Split, Tearing, TornModels};
pub use pins::{Led, PinGroup};
pub use rigid::RigidBody;
pub use scales::Scales;
pub use sliders::{Slider, Slides};
pub use state::State;
pub use stitches::Stitches;

use crate::math::{DVec3, Pose};
use std::ops::Range;

/// All that is constant in a run. Particles of all pieces of cloth are numbered through.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    // How it is solved.
    /// The method.
    pub method: Method,
    /// Duration of one step [s].
    pub step_time: f64,
    /// Steps in a frame.
    pub steps_per_frame: u32,
    /// Sub-steps asked for, if the method is not to choose.
    pub substeps: Option<u32>,
    /// Largest strain that a frame may have [1].
    pub tolerance: f64,
    /// Whether cloth meets cloth, itself and others.
    pub cloth_meets_cloth: bool,
    /// Iterations in a step at most, if the scene gives a number.
    pub max_iterations: Option<u32>,
    /// The most iterations of a step that has to be taken again or mended; it then ends with what it has.
    pub budget: Option<u32>,
    /// Whether edges whose lengths are kept stretch as their fabric does, within the tolerance.
    pub extensible: bool,
    /// Where impulses take the directions of edges.
    pub direction: Direction,
    /// What is done with velocities along edges.
    pub velocities: Velocities,
    /// How implicit methods choose their sub-steps.
    pub step: StepChoice,
    /// Newton steps at most in a sub-step.
    pub newton: u32,
    /// The order in which implicit methods work on particles.
    pub order: ParticleOrder,
    /// How edges that are too long are shortened, if they are.
    pub limit: Option<StrainLimit>,
    /// The tuned numbers of the methods.
    pub params: Params,

    // What acts on all at the start ([`Environment`]).
    /// Acceleration [m/s²].
    pub gravity: DVec3,
    /// Until then gravity is nothing [s].
    pub weightless: f64,
    /// What the cloth moves through.
    pub air: AirModel,

    // Particles.
    /// Where every particle is when nothing pulls [m].
    pub rest_positions: Vec<DVec3>,
    /// Material coordinates (u, v) of every particle [m].
    pub material: Vec<[f64; 2]>,
    /// Mass of every particle [kg].
    pub mass: Vec<f64>,

    // Surface and elements.
    /// All triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Structural edges, those whose strain is certified.
    pub edges: Vec<[u32; 2]>,
    /// Their rest lengths [m].
    pub rest_lengths: Vec<f64>,
    /// Springs along structural edges and diagonals.
    pub springs: Springs,
    /// Bends across particles.
    pub bends: Bends,
    /// Quads that resist twist.
    pub twists: Twists,
    /// Triangles that resist stretch and shear.
    pub membranes: Membranes,
    /// Triangles that resist bending and twist.
    pub plates: Plates,
    /// Springs that only pull.
    pub stretches: Springs,
    /// Strips that buckle.
    pub buckles: Buckles,
    /// Internal friction of bends, plates, diagonals and membranes.
    pub sliders: Vec<Slider>,
    /// Pairs of particles that are sewn together.
    pub links: Stitches,
    /// Closed pieces with something inside.
    pub balloons: Vec<Balloon>,

    // Objects.
    /// The pieces of cloth.
    pub cloths: Vec<ClothPiece>,
    /// Particles that are held or led.
    pub pins: Vec<PinGroup>,
    /// What the cloth meets.
    pub colliders: Vec<Collider>,
    /// Those of them that move freely; their particles come after those of all cloths.
    pub bodies: Vec<RigidBody>,

    // What can part.
    /// Pieces of cloth that tear.
    pub tearing: Vec<Tearing>,
    /// How they are torn, in the order of their spare particles.
    pub splits: Vec<Split>,
    /// Pinned particles that come off, of those that still hold.
    pub clips: Vec<BreakingPin>,
}

/// A closed piece of cloth with something inside.
#[derive(Debug, Clone, PartialEq)]
pub struct Balloon {
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Pressure above that of the outside, at the start [Pa].
    pub pressure: f64,
    /// The volume at the start, if the gas stays in [m³].
    pub sealed: Option<f64>,
}

/// A piece of cloth: its part of the common numbering, and its fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct ClothPiece {
    /// Its name in messages and reports.
    pub name: String,
    /// Its fabric.
    pub fabric: Fabric,
    /// Its particles.
    pub particles: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Its structural edges.
    pub edges: Range<usize>,
    /// Longest edge or diagonal at rest [m].
    pub longest_edge: f64,
    /// The most that one of its edges was let out or taken in by, as a share of the length that it was cut to [1].
    pub let_out: f64,
}

impl Model {
    /// How many particles there are.
    pub fn particle_count(&self) -> usize {
        self.mass.len()
    }

    /// How many of them are those of cloths; those of free bodies follow.
    pub fn cloth_particle_count(&self) -> usize {
        self.cloths.last().map_or(0, |cloth| cloth.particles.end)
    }

    /// Whether there is anything that cloth could touch.
    pub fn touches(&self) -> bool {
        !self.colliders.is_empty() || self.cloth_meets_cloth
    }

    /// Where every collider is in a state, in their order.
    pub fn poses<'a>(&'a self, state: &'a State) -> impl Iterator<Item = Pose> + 'a {
        (0..self.colliders.len()).map(|collider| self.pose(collider, &state.positions, state.time))
    }

    /// Where a collider is while all particles are at `positions` [m]: where its motion leads it at `time` [s], or where its particles are.
    pub fn pose(&self, collider: usize, positions: &[DVec3], time: f64) -> Pose {
        match self.colliders[collider].free {
            Some(body) => self.bodies[body].pose(&self.bodies[body].of(positions)),
            None => self.colliders[collider].pose(time),
        }
    }

    /// How strong gravity is, or what stands for it where there is none [m/s²].
    pub fn strength_of(&self, gravity: DVec3) -> f64 {
        let strength = gravity.length();
        if strength > 0.0 { strength } else { self.params.common.weightless }
    }

    /// The piece of cloth that a particle belongs to.
    pub fn cloth_of(&self, particle: usize) -> Option<&ClothPiece> {
        self.cloths.iter().find(|cloth| cloth.particles.contains(&particle))
    }
}
