//! How many sub-steps a step takes: so many that added mass stays a small share of what moves.
//!
//! Added mass stands for stiffness across tense edges (`solve::strips::predict`). Where it moves fast the motion is wrong: energy comes and goes with it. Its share of
//! the kinetic energy is the measure; it grows with the square of the sub-step. Sub-steps of one step are equal: kept tensions balance at one length.

use crate::math::DVec3;
use crate::model::memory::ImpulseMemory;
use crate::model::params::ImpulseParams;
use crate::model::{ClothPiece, Method, Model};
use crate::solve::strips::predict::Sums;
use crate::step::driver::Verdict;

/// What stands for gravity where there is none [m/s²].
const ON_EARTH: f64 = 9.81;

/// The number of sub-steps.
#[derive(Debug, Clone, Default)]
pub struct SubstepController {
    params: ImpulseParams,
    count: f64,
    fewest: f64,
    many_sweeps: u32,
    /// Whether the scene gives the number.
    fixed: bool,
    /// Whether the scene gives the most iterations: no step is then taken again. And how many sub-steps they are enough for at most, and as usual.
    capped: bool,
    most: f64,
    enough_for: f64,
    tries: u32,
    /// Whether the step before missed its tolerance: then trying again is not worth it; and whether this one does.
    missed_before: bool,
    missed: bool,
    /// Whether pins forbid the lengths that are asked for: then it is of no use.
    hopeless: bool,
    /// The largest share of added mass in this step.
    worst: f64,
    /// Twice the kinetic energy of all cloth at the speed that does not count [J].
    slow: f64,
}

impl SubstepController {
    /// From what the last step remembered. `shear_time` is √(m / k) of shear [s]; a sub-step takes up to `iterations`.
    pub fn new(
        model: &Model,
        gravity: DVec3,
        shear_time: f64,
        iterations: u32,
        memory: &ImpulseMemory,
    ) -> Self {
        let params = model.params.impulse;
        let falls = gravity.length();
        let gravity = if falls > 0.0 { falls } else { ON_EARTH };
        let mass = |cloth: &ClothPiece| -> f64 { model.mass[cloth.particles.clone()].iter().sum() };
        let size = |cloth: &ClothPiece| (mass(cloth) / (1e-3 * cloth.fabric.density)).sqrt();
        let swing = |cloth: &ClothPiece| params.swing_substep * (size(cloth) / gravity).sqrt();
        let slow =
            |cloth: &ClothPiece| mass(cloth) * params.slow_speed * params.slow_speed * size(cloth) * gravity;
        let dear = model.touches() || model.method == Method::ImpulseIterative;
        let longest = model.cloths.iter().map(swing).fold(params.longest_substep, f64::min);
        let longest = longest.min((params.shear_substep * shear_time).max(params.shortest_for_shear));
        let fewest = (model.step_time / longest * (1.0 - 1e-9)).ceil().max(1.0);
        let count = model
            .substeps
            .map_or(memory.substeps.max(fewest).min(f64::from(params.most_substeps)), f64::from);
        let most = model.max_iterations.map_or(f64::INFINITY, f64::from);
        Self {
            params,
            count,
            fewest,
            many_sweeps: if dear { params.many_dear_sweeps } else { params.many_sweeps },
            fixed: model.substeps.is_some(),
            capped: model.max_iterations.is_some(),
            most: most
                .min(f64::from(params.most_substeps))
                .min(model.budget.map_or(f64::INFINITY, f64::from)),
            enough_for: most / f64::from(iterations),
            tries: 0,
            missed_before: memory.missed,
            missed: false,
            hopeless: false,
            worst: 0.0,
            slow: model.cloths.iter().map(slow).sum::<f64>().max(f64::MIN_POSITIVE),
        }
    }

    /// No fewer sub-steps than these, unless the scene gives the number.
    pub fn at_least(&mut self, count: u32) {
        if !self.fixed {
            self.count = self.count.max(f64::from(count));
        }
    }

    /// No state at the end of the step has all lengths: it is taken once, in as many sub-steps as usual.
    pub fn give_up(&mut self) {
        self.hopeless = true;
        if !self.fixed {
            self.count = self.fewest;
        }
    }

    /// Writes down what the next step starts from.
    pub fn remember(&self, memory: &mut ImpulseMemory) {
        (memory.substeps, memory.missed) = (self.count, self.missed);
    }

    /// Whether a step that misses its tolerance may yet reach it: pins and the scene allow it.
    pub fn may_reach(&self) -> bool {
        !self.hopeless && !self.capped
    }

    /// Notes whether the step reached its tolerance in the end.
    pub fn reached(&mut self, reached: bool) {
        self.missed = !reached;
    }

    /// Whether no further try follows one that is lost.
    pub fn takes_what_is_lost(&self) -> bool {
        self.is_last_try(Verdict::Lost)
    }

    /// Twice the kinetic energy of all cloth at the speed that does not count [J].
    pub fn slow(&self) -> f64 {
        self.slow
    }

    /// Sub-steps in this step. Iterations that are too few do most as one in each.
    pub fn substeps(&self) -> u32 {
        let count = if self.is_early() && !self.fixed { self.most } else { self.count.min(self.most) };
        count.ceil() as u32
    }

    /// Whether the scene allows fewer iterations than are needed.
    pub fn is_early(&self) -> bool {
        self.count > self.enough_for
    }

    /// Looks at a sub-step.
    pub fn judge(&mut self, sums: &Sums) -> Verdict {
        self.judge_share(sums.added / (sums.moving + self.slow))
    }

    /// Looks at the share of added mass in what moves [1].
    pub fn judge_share(&mut self, share: f64) -> Verdict {
        self.worst = self.worst.max(share);
        if share <= self.params.added_mass_lost || self.is_last_try(Verdict::Lost) {
            Verdict::Good
        } else {
            Verdict::Lost
        }
    }

    /// Looks at the whole step: the strain before the last sweeps, how many there were, and whether they kept lengths and closed seams.
    pub fn conclude(&mut self, before: f64, sweeps: u32, [kept, closed]: [bool; 2]) -> Verdict {
        let whole = before <= self.params.infeasible_end;
        if !whole && !self.is_last_try(Verdict::Lost) {
            return Verdict::Lost;
        }
        let reached = kept && closed;
        if !reached && !self.missed_before && !self.is_last_try(Verdict::Missed) {
            return Verdict::Missed;
        }
        self.missed = !reached;
        let lag = (self.worst / self.params.added_mass).sqrt().clamp(0.8, 1.5);
        let factor = match () {
            // More were of no use.
            () if !kept => 1.0 / self.params.retry_factor,
            () if !whole || sweeps > self.many_sweeps => 1.5,
            () => lag,
        };
        if !self.fixed {
            self.count = (self.count * factor).clamp(self.fewest, f64::from(self.params.most_substeps));
        }
        Verdict::Good
    }

    fn is_last_try(&self, why: Verdict) -> bool {
        let most = if why == Verdict::Lost { self.params.retries_lost } else { self.params.retries_missed };
        let no_more = self.count >= f64::from(self.params.most_substeps);
        self.fixed || self.capped || self.hopeless || no_more || self.tries >= most
    }

    /// The step is taken again as it was.
    pub fn start_over(&mut self) {
        self.worst = 0.0;
    }

    /// The step is taken again, in more sub-steps.
    pub fn again(&mut self) {
        self.start_over();
        self.tries += 1;
        self.count = (self.params.retry_factor * self.count).min(f64::from(self.params.most_substeps));
    }
}
