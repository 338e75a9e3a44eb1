//! How a model is solved: the methods, and what can be chosen of them.

/// Where impulses take the directions of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Direction {
    /// Where the sub-step leads, anew in every iteration: stable.
    Preview,
    /// Where the sub-step starts, as P1 and P2 print it: for gentle motion of small scenes.
    Start,
}

/// What is done with velocities along edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Velocities {
    /// They are those of the motion.
    Kept,
    /// Velocity impulses (P1, P2) take away what would change lengths.
    Corrected,
}

/// How sub-steps are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepChoice {
    /// Equal ones, as long as is usual for the method.
    #[default]
    Usual,
    /// As long as the motion allows: long ones at rest, short ones where much happens.
    Auto,
}

/// The order of particles (P4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
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
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct StrainLimit {
    /// Strain above which an edge is shortened [1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 10.0)))]
    pub strain: f64,
    /// Which end moves.
    pub way: LimitWay,
    /// The most sweeps over all edges in a step; 0 is none.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100_000)))]
    pub sweeps: u32,
}

impl Default for StrainLimit {
    fn default() -> Self {
        Self { strain: 0.1, way: LimitWay::default(), sweeps: 20 }
    }
}

/// Which end of an edge that is too long moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LimitWay {
    /// Both by half, or the free one by all (Selle's way in P5).
    Half,
    /// The one that was moved less often (P5's way).
    #[default]
    Priority,
}

/// The methods that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
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
    /// Extended position-based dynamics in small steps (Macklin et al. 2016, 2019).
    Xpbd,
    /// Projective dynamics: elements go to rest one by one, then all together by a matrix that is factorised once (Bouaziz et al. 2014).
    Projective,
    /// Vertex block descent: backward Euler, one particle after the other (Chen et al. 2024).
    Vbd,
    /// Backward Euler as the least of one energy, with barriers for lengths, distances and friction (Li et al. 2020, 2021).
    Barrier,
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
        Method::Xpbd,
        Method::Projective,
        Method::Vbd,
        Method::Barrier,
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
            Method::Xpbd => "xpbd",
            Method::Projective => "projective",
            Method::Vbd => "vbd",
            Method::Barrier => "barrier",
        }
    }

    /// Whether it solves for all particles together: stable at any step, for all kinds of elements.
    pub fn is_implicit(self) -> bool {
        matches!(self, Method::BackwardEuler | Method::Bdf2 | Method::Barrier)
    }

    /// Whether impulses hold lengths to the tolerance, whatever the stiffness of the fabric.
    pub fn keeps_lengths(self) -> bool {
        matches!(self, Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect)
    }

    /// Whether no edge becomes longer than the tolerance allows, whatever the stiffness of the fabric.
    pub fn bounds_strain(self) -> bool {
        self.keeps_lengths() || self == Method::Barrier
    }

    /// Whether it moves bodies that move freely.
    pub fn takes_free_bodies(self) -> bool {
        self != Method::Barrier
    }

    /// Whether it answers one edge or particle after the other, once or few times: what an edge then pulls with tells nothing from step to step.
    pub fn goes_one_by_one(self) -> bool {
        matches!(self, Method::ImpulseIterative | Method::Xpbd | Method::Vbd)
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
            Method::Xpbd => {
                "springs as compliant constraints, one iteration in each of many sub-steps (Macklin et al. 2016, 2019)"
            }
            Method::Projective => {
                "implicit springs by local projections and one factorised matrix (Bouaziz et al. 2014, Liu et al. 2013)"
            }
            Method::Vbd => {
                "implicit springs, one particle after the other, in sub-steps of few iterations (Chen et al. 2024)"
            }
            Method::Barrier => {
                "one energy with barriers for lengths and distances, never infeasible, the reference (Li et al. 2020, 2021)"
            }
        }
    }
}
