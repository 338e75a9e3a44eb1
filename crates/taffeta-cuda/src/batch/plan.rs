//! What a batch needs of a model, found without a card: strips for teams of one warp, rules of pace, how much memory, and what is refused.

use super::layout::Rules;
use crate::compile::Blocks;
use crate::layout::Pace;
use crate::pace::{Attempt, MOMENT_ERROR};
use crate::plan::{Lanes, Plan, Shape};
use crate::refusal::refused;
use taffeta::model::memory::ImpulseMemory;
use taffeta::model::pins::Lead;
use taffeta::model::{Environment, Model};
use taffeta::step::DeviceRefusal;
use taffeta::step::device::{DeviceStep, SubstepController};

/// Threads of a warp: a team.
const TEAM: usize = 32;
/// Positions of a lane for each thread at most; more would not go into its registers.
const MOST_EACH: usize = 8;
/// Threads of a multiprocessor that are worth having, and of a block.
const THREADS: [usize; 2] = [1024, 512];
/// Bytes that a block has beside what it asks for.
const BESIDE: usize = 3 << 10;

/// A model for a batch.
#[derive(Debug, Clone)]
pub struct BatchPlan {
    /// Its lists, with all particles free.
    pub plan: Plan,
    /// Particles that can be held: first those that the scene pins.
    pub handles: Vec<u32>,
    /// How many of them the scene pins.
    pub pinned: usize,
    pub(crate) rules: Rules,
    pub(crate) pace: Pace,
}

impl BatchPlan {
    /// Makes the lists of a model whose members can be held by its pins and some more particles, or says what does not run there.
    pub fn new(model: &Model, environment: &Environment, handles: &[u32]) -> Result<Self, DeviceRefusal> {
        if let Some(refusal) = refused(model).or_else(|| refused_of_batch(model, environment)) {
            return Err(refusal);
        }
        let wrong = |reason: String| DeviceRefusal {
            reason,
            remedy: format!("give particles of cloth, 0 to {}", model.cloth_particle_count() - 1),
        };
        if let Some(handle) = handles.iter().find(|i| **i as usize >= model.cloth_particle_count()) {
            return Err(wrong(format!("there is no particle {handle} for a handle")));
        }
        let mut all: Vec<u32> = environment.pins().iter().flat_map(|pin| &pin.particles).copied().collect();
        let pinned = all.len();
        handles.iter().for_each(|handle| {
            if !all.contains(handle) {
                all.push(*handle);
            }
        });
        // What is held is free for a moment: edges between handles are edges.
        let free = Model { pins: Vec::new(), ..model.clone() };
        let loose = Environment::new(&free);
        let mut plan = Plan::in_lanes(&free, &loose, team, TEAM * MOST_EACH, |shape| shape.each)?;
        all.iter().zip(0..).for_each(|(particle, number)| plan.pin[*particle as usize] = number);
        let step = DeviceStep { model, environment, gravity: environment.gravity, goes_on: false };
        let controller =
            SubstepController::new(model, step.gravity, plan.shear_time, 1, &ImpulseMemory::default());
        let attempt = Attempt {
            time: 0.0,
            count: 1,
            slow: controller.slow(),
            may_be_lost: true,
            pins_move: false,
            held: environment.air.density > 0.0,
            most_sweeps: model.params.impulse.last_sweeps,
            longest_window: 1,
        };
        let pace = Pace::new(&step, &plan, &attempt);
        let params = &model.params.impulse;
        let rules = Rules {
            step_time: model.step_time,
            fewest: f64::from(controller.substeps()),
            most: f64::from(params.most_substeps),
            fixed: model.substeps.map_or(0.0, f64::from),
            added_mass: params.added_mass,
            added_mass_lost: params.added_mass_lost,
            infeasible_end: params.infeasible_end,
            retry_factor: params.retry_factor,
            error_time: params.error_time_at(model.tolerance),
            damping: environment.air.damping,
            wind: environment.air.wind.to_array(),
            stiffest: plan.stiffest,
            moment_error: MOMENT_ERROR,
            retries_lost: params.retries_lost as i32,
            retries_missed: params.retries_missed as i32,
            many_sweeps: params.many_sweeps as i32,
            air_renewals: params.air_renewals as i32,
        };
        Ok(Self { plan, handles: all, pinned, rules, pace })
    }

    /// Places of tensions of structural edges; those of diagonals follow them.
    pub fn hard_tensions(&self) -> usize {
        let shape = self.plan.shape;
        self.plan.hard.iter().map(|lanes| lanes.count * (shape.lane() + shape.each)).sum()
    }

    /// Bytes of what a block works on: places, ways, velocities, masses and tensions, each list rounded up.
    pub fn near(&self) -> usize {
        let n = self.plan.mass.len();
        let spread = n + n / TEAM;
        let lists =
            [24 * spread, 16 * spread, 16 * spread, 8 * n, 4 * self.plan.tensions, 4 * self.hard_tensions()];
        lists.into_iter().map(rounded).sum()
    }

    /// Bytes of every member beside that: ways of handles, forces of particles and triangles in air.
    pub fn far(&self, triangles: usize) -> usize {
        let (handles, held) = (24 * self.handles.len(), self.pace.held != 0);
        let in_air = if held { [16 * self.plan.mass.len(), 16 * triangles] } else { [0; 2] };
        [handles, handles].into_iter().chain(in_air).map(rounded).sum()
    }

    /// Blocks on a card whose blocks may share `most` bytes, and those of a multiprocessor `all` together.
    pub fn blocks(&self, most: usize, all: usize) -> Blocks {
        let needs = self.near() + BESIDE;
        let lanes = self.plan.hard.iter().chain(&self.plan.soft).map(|lanes| lanes.count).max().unwrap_or(1);
        let threads = (TEAM * lanes.next_power_of_two()).clamp(4 * TEAM, THREADS[1]);
        let shared = needs <= most;
        let room = if shared { all / needs } else { usize::MAX };
        let span = self.span();
        Blocks { threads, at_once: (THREADS[0] / threads).min(room).max(1), shared, span }
    }

    /// Threads at most that have rows of one strip: an edge is a row, and neighbouring rows depend on one another.
    fn span(&self) -> usize {
        let each = self.plan.shape.each;
        let of = |lanes: &Lanes| {
            let edges = lanes.edge.iter().map(|edge| edge[0] > 0.0).collect::<Vec<_>>();
            let mut first = 0;
            let spans = edges.iter().enumerate().map(|(place, is)| {
                if !is || place % self.plan.shape.lane() == 0 {
                    first = place + usize::from(!is);
                }
                if *is { place / each - first / each + 1 } else { 1 }
            });
            spans.max().unwrap_or(1)
        };
        self.plan.hard.iter().chain(&self.plan.soft).map(of).max().unwrap_or(1)
    }
}

/// A list takes so many bytes: all begin where the widest numbers may.
fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(32)
}

/// Lanes for a warp, for strips of up to so many particles; none if they are too long.
fn team(longest: usize) -> Option<Shape> {
    let each = longest.div_ceil(TEAM).next_power_of_two();
    (each <= MOST_EACH).then_some(Shape { threads: TEAM, each })
}

/// What a batch cannot do, of models that run on a card alone.
fn refused_of_batch(model: &Model, environment: &Environment) -> Option<DeviceRefusal> {
    let moves = environment.pins().iter().any(|pin| match &pin.lead {
        Lead::Motion { motion, .. } => !motion.rests(),
        Lead::Body(_) => true,
    });
    let with_remedies = [
        (!model.colliders.is_empty(), "a scene with colliders", "leave them out"),
        (model.cloth_meets_cloth, "cloth that meets cloth", "set contact.cloth_cloth = false"),
        (moves, "a pin that moves", "let it rest, and lead handles"),
        (model.limit.is_some(), "a limit of strain", "leave it out"),
        (
            !model.tearing.is_empty() || !model.clips.is_empty(),
            "cloth that tears, or a pin that lets go",
            "leave it out",
        ),
        (model.weightless > 0.0, "a start without weight", "leave it out"),
        (model.budget.is_some(), "solver.budget", "leave it out"),
    ];
    let (_, what, remedy) = with_remedies.into_iter().find(|(found, ..)| *found)?;
    Some(DeviceRefusal {
        reason: format!("{what} does not run in a batch on a CUDA device yet"),
        remedy: format!("{remedy}, or take a batch on the CPU"),
    })
}
