//! What a step tells: the truth about itself.

use crate::collide::CcdStats;
use crate::forces;
use crate::math::DVec3;
use crate::model::{Model, State};

/// What one step did, or the steps of a frame together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Sub-steps taken.
    pub substeps: u32,
    /// Iterations of the solver over all sub-steps; an explicit method has one in each.
    pub iterations: u32,
    /// Whether the step reached what its method promises.
    pub converged: bool,
    /// Why not, where the method can tell.
    pub shortfall: Option<Shortfall>,
    /// Structural edges whose lengths at the end follow from those of the others, where the method can tell.
    pub redundant: Option<u32>,
    /// Particles that touch a collider at the end.
    pub contacts: u32,
    /// The shortest sub-step taken [s].
    pub shortest_substep: f64,
    /// Particles that were split or came off their pins at the end.
    pub parted: u32,
    /// What the contact pipeline did; all zero where nothing can touch.
    pub ccd: CcdStats,
    /// Steps that a device left to the host.
    #[cfg_attr(feature = "serde", serde(default))]
    pub left_to_host: u32,
}

/// Why a step did not reach what its method promises.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Shortfall {
    /// An edge is too long or too short.
    #[error(
        "the edge between particles {} and {} has the strain {strain:.3e}, the tolerance is {tolerance:.3e}; \
         allow more sub-steps or iterations, or a larger tolerance", ends[0], ends[1]
    )]
    Strain {
        /// Its particles, numbered through all cloths.
        ends: [u32; 2],
        /// Its strain [1].
        strain: f64,
        /// The strain that the scene allows [1].
        tolerance: f64,
    },
    /// A seam that is sewn is open.
    #[error(
        "the seam between particles {} and {} is open by {:.2} mm, {:.2} mm are allowed; it is held open by what it goes around, or by \
         a fold that is caught in it: make the garment wider, start it where it fits, or sew more slowly", ends[0], ends[1],
        1e3 * open, 1e3 * tolerance
    )]
    Seam {
        /// The two particles of its worst stitch, numbered through all cloths.
        ends: [u32; 2],
        /// How much further they are apart than their thread is long [m].
        open: f64,
        /// How much is allowed [m].
        tolerance: f64,
    },
    /// A linear system was not solved as well as was asked for.
    #[error(
        "a linear system has the residual {residual:.1e} after {iterations} iterations, {tolerance:.1e} was asked for; \
         take more sub-steps or lower the stiffness"
    )]
    Linear {
        /// Iterations made.
        iterations: u32,
        /// Its residual, relative to that of unchanged velocities.
        residual: f64,
        /// What was asked for.
        tolerance: f64,
    },
    /// Contacts did not find out which of them push, stick and slide.
    #[error(
        "forces of contacts are wrong by {:.1} % after {passes} passes; take more sub-steps, or less friction", 100.0 * wrong
    )]
    Contacts {
        /// Passes made.
        passes: u32,
        /// The share of all forces by which they are wrong [1].
        wrong: f64,
    },
    /// Newton's steps did not come near a solution.
    #[error(
        "{steps} Newton steps leave {residual:.1e} of the residual; allow more of them, or take more sub-steps"
    )]
    Newton {
        /// Steps made.
        steps: u32,
        /// What is left of the residual of unchanged velocities.
        residual: f64,
    },
    /// The iteration of a sub-step did not settle.
    #[error(
        "velocities still change by {change:.1e} of what forces do after {iterations} iterations; take more sub-steps"
    )]
    Secant {
        /// Iterations made.
        iterations: u32,
        /// The last change, relative to that by all forces.
        change: f64,
    },
    /// The last iteration still moved particles.
    #[error(
        "the last of {iterations} iterations still moves a particle by {moved:.1e} m; take more sub-steps or iterations"
    )]
    Iterations {
        /// Iterations made.
        iterations: u32,
        /// The longest way in the last of them [m].
        moved: f64,
    },
    /// Pins are further apart than the cloth between them is long.
    #[error(
        "the pinned particles {} and {} are {distance:.6} m apart, but the cloth between them is only {reach:.6} m long; \
         bring the pins closer or make the cloth larger", ends[0], ends[1]
    )]
    Pins {
        /// The particles, numbered through all cloths.
        ends: [u32; 2],
        /// How far they are apart [m].
        distance: f64,
        /// The shortest way between them along edges [m].
        reach: f64,
    },
    /// Pins or bodies that are led keep the cloth from its lengths: it cannot keep them even where nothing else moves.
    #[error(
        "the edge between particles {} and {} has the strain {strain:.3e}, the tolerance is {tolerance:.3e}: {by}, which went {:.1} mm in this \
         step, leaves the cloth no way to follow; lead it less far, or more slowly", ends[0], ends[1], 1e3 * moved
    )]
    Led {
        /// Its particles, numbered through all cloths.
        ends: [u32; 2],
        /// Its strain [1].
        strain: f64,
        /// The strain that the scene allows [1].
        tolerance: f64,
        /// What was led furthest in the step.
        by: Leader,
        /// How far, of a body at this edge [m].
        moved: f64,
    },
    /// The sides of a crack that has opened press edges beside it together.
    #[error(
        "the edge between particles {} and {} has the strain {strain:.3e}, the tolerance is {tolerance:.3e}: cloth has torn beside it, and the sides of a crack \
         start apart; the next steps put it right, more of them in a frame do so sooner", ends[0], ends[1]
    )]
    Torn {
        /// Its particles, numbered through all cloths.
        ends: [u32; 2],
        /// Its strain [1].
        strain: f64,
        /// The strain that the scene allows [1].
        tolerance: f64,
    },
    /// Led things leave the cloth no room.
    #[error(
        "{pairs} pairs of features are pressed through one another by bodies or pins that leave the cloth no room; \
         give their ways more distance, or less speed"
    )]
    Pinched {
        /// The pairs.
        pairs: u32,
    },
}

/// What leads cloth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Leader {
    /// The pin of this particle, numbered through all cloths.
    Pin(u32),
    /// The collider of this number.
    Body(usize),
}

impl std::fmt::Display for Leader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Leader::Pin(particle) => write!(f, "the pin of particle {particle}"),
            Leader::Body(collider) => write!(f, "collider {collider}, counted from 0"),
        }
    }
}

impl StepReport {
    /// Takes in what the next step of the same frame did.
    pub fn follow(&mut self, next: &StepReport) {
        self.substeps = self.substeps.saturating_add(next.substeps);
        self.iterations = self.iterations.saturating_add(next.iterations);
        self.converged &= next.converged;
        self.shortfall = next.shortfall.or(self.shortfall);
        self.shortest_substep = self.shortest_substep.min(next.shortest_substep);
        self.parted += next.parted;
        self.ccd += next.ccd;
        self.left_to_host += next.left_to_host;
        (self.redundant, self.contacts) = (next.redundant, next.contacts);
    }

    /// What is left of an attempt that is made again: what it cost.
    pub(super) fn tried_again(self) -> Self {
        Self { converged: true, shortfall: None, ccd: CcdStats::default(), ..self }
    }

    /// Notes that the step did not reach what its method promises, and why.
    pub(super) fn fall_short(&mut self, why: Shortfall) {
        self.converged = false;
        self.shortfall = Some(why);
    }
}

/// Why a step could not be taken. The state is still the one before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Who watches the step has ended it.
    #[error("the step was cancelled; the state before is kept")]
    Cancelled,
    /// A particle left the numbers.
    #[error(
        "particle {particle} of `{cloth}` is at {position} after the step to {time:.6} s; the state before is kept. \
         Lower the speeds or stiffnesses in the scene, or take more steps per frame"
    )]
    NotFinite {
        /// The particle, in the numbering of its cloth.
        particle: usize,
        /// Its cloth.
        cloth: String,
        /// Where it went [m].
        position: DVec3,
        /// When [s].
        time: f64,
    },
    /// The step would take more sub-steps than anyone will wait for.
    #[error(
        "the largest stable step is {stable:.3e} s, so that a step of {step:.3e} s takes more than {limit} sub-steps; \
         lower stiffness or damping, or make the cells of the cloth larger"
    )]
    TooManySubsteps {
        /// The largest stable step [s].
        stable: f64,
        /// The step asked for [s].
        step: f64,
        /// The most sub-steps that are taken.
        limit: u32,
    },
    /// The equations of the step have no solution that can be trusted.
    #[error("the equations of the step were not solved: {reason}")]
    Unsolvable {
        /// Why, and what to do.
        reason: String,
    },
    /// What takes the steps cannot go on.
    #[error("the device took no step: {reason}")]
    Device {
        /// Why, and what to do.
        reason: String,
    },
    /// The sub-steps that the scene asks for are too few.
    #[error(
        "substeps = {asked} makes sub-steps of {substep:.3e} s, but the largest stable one is {stable:.3e} s; \
         ask for at least {least} or leave `solver.substeps` out"
    )]
    Unstable {
        /// The sub-steps asked for.
        asked: u32,
        /// Their duration [s].
        substep: f64,
        /// The largest stable one [s].
        stable: f64,
        /// The fewest that are stable now.
        least: u32,
    },
}

/// Energies of a state [J].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of height; 0 at the origin.
    pub gravity: f64,
    /// Of springs and bends.
    pub elastic: f64,
}

impl Energy {
    /// The energies of a state under a gravity [m/s²].
    pub fn of(model: &Model, gravity: DVec3, state: &State) -> Self {
        let particles = || model.mass.iter().zip(state.positions.iter().zip(&state.velocities));
        Self {
            kinetic: particles().map(|(m, (_, v))| 0.5 * m * v.length_squared()).sum(),
            gravity: particles().map(|(m, (x, _))| -m * gravity.dot(*x)).sum(),
            elastic: forces::elastic_energy(model, &state.positions)
                + forces::link::energy(model, state)
                + forces::slider::energy(model, state),
        }
    }

    /// Their sum [J].
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.elastic
    }
}

/// Momentum of all particles [kg·m/s].
pub fn momentum(model: &Model, state: &State) -> DVec3 {
    model.mass.iter().zip(&state.velocities).map(|(m, v)| *m * *v).sum()
}
