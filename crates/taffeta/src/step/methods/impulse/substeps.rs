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

/// Share of the kinetic energy that does not count below which cloth is as good as at rest [1].
const AT_REST: f64 = 0.1;
/// Strain before the last sweeps, as a share of the tolerance, that sub-steps longer by a quarter would bring beyond it: it goes with their square [1].
const NEARLY_MISSED: f64 = 0.64;

/// Share of the sub-steps up to which last sweeps are few [1].
const FEW_SWEEPS: f64 = 0.2;
/// The number of sub-steps.
#[derive(Debug, Clone, Default)]
pub struct SubstepController {
    params: ImpulseParams,
    count: f64,
    fewest: f64,
    /// How many last sweeps ask for shorter sub-steps, if there are no more sub-steps than that is worth.
    many_sweeps: u32,
    /// Whether a last sweep costs about as much as a sub-step.
    dear: bool,
    /// The largest strain that a frame may have [1].
    tolerance: f64,
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
    /// Twice the kinetic energy of all cloth at the speed that does not count [J], and the most there was in this step, where that is told.
    slow: f64,
    most_moving: Option<f64>,
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
        let gravity = model.strength_of(gravity);
        let swing = |cloth: &ClothPiece| params.swing_substep * (cloth.size(model) / gravity).sqrt();
        let slow = |cloth: &ClothPiece| {
            cloth.mass(model) * params.slow_speed * params.slow_speed * cloth.size(model) * gravity
        };
        let dear = model.touches() || model.method == Method::ImpulseIterative;
        let longest = model.cloths.iter().map(swing).fold(params.longest_substep, f64::min);
        let longest = longest.min((params.shear_substep * shear_time).max(params.shortest_for_shear));
        let fewest =
            (model.step_time / longest * (1.0 - 1e-9)).ceil().clamp(1.0, f64::from(params.most_substeps));
        let count = model
            .substeps
            .map_or(memory.substeps.max(fewest).min(f64::from(params.most_substeps)), f64::from);
        let most = model.max_iterations.map_or(f64::INFINITY, f64::from);
        Self {
            params,
            count,
            fewest,
            many_sweeps: if dear { params.many_dear_sweeps } else { params.many_sweeps },
            dear,
            tolerance: model.tolerance,
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
            most_moving: None,
        }
    }

    /// No longer sub-steps than bends with sliders bear, whose √(m / k) is `bend_time` [s]: strips that cross are answered one after the other, and what one bends back
    /// before it knows of the other is more the longer the sub-step. Other bends forget that; anchors follow it.
    pub fn follow_bends(&mut self, model: &Model, bend_time: f64) {
        let fewest = model.step_time / (self.params.rubbing_bend_substep * bend_time) * (1.0 - 1e-9);
        self.fewest = self.fewest.max(fewest.ceil().min(f64::from(self.params.most_substeps)));
        if !self.fixed {
            self.count = self.count.max(self.fewest);
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

    /// Whether cloth with twice this kinetic energy [J] is as good as at rest.
    pub fn is_slow(&self, moving: f64) -> bool {
        moving < AT_REST * self.slow
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
        self.most_moving = Some(self.most_moving.map_or(sums.moving, |most| most.max(sums.moving)));
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
            () if !whole || self.are_many(sweeps) => 1.5,
            () if self.dear && self.nearly_misses_at_rest(before) => lag.max(self.in_place_of(sweeps)),
            () => lag,
        };
        if !self.fixed {
            self.count = (self.count * factor).clamp(self.fewest, f64::from(self.params.most_substeps));
        }
        Verdict::Good
    }

    /// Whether so many last sweeps ask for shorter sub-steps: not where these cost much more than the sweeps do, which do not go with them where led things press cloth.
    fn are_many(&self, sweeps: u32) -> bool {
        sweeps > self.many_sweeps && f64::from(sweeps) > self.params.sweeps_worth_substeps * self.count
    }

    /// Whether cloth at rest, strained so `before` the last sweeps, is better off with no fewer sub-steps. Where it lies depends on their length, and what last
    /// sweeps move it by it falls back in the next step: were their number to rise and fall with the sweeps it would never come to rest.
    fn nearly_misses_at_rest(&self, before: f64) -> bool {
        self.most_moving.is_some_and(|most| self.is_slow(most)) && before > NEARLY_MISSED * self.tolerance
    }

    /// More sub-steps for as much as last sweeps have cost, if that was worth mentioning.
    fn in_place_of(&self, sweeps: u32) -> f64 {
        let share = f64::from(sweeps) / self.count;
        if share < FEW_SWEEPS { 1.0 } else { (1.0 + share).min(1.5) }
    }

    fn is_last_try(&self, why: Verdict) -> bool {
        let most = if why == Verdict::Lost { self.params.retries_lost } else { self.params.retries_missed };
        let no_more = self.count >= f64::from(self.params.most_substeps);
        self.fixed || self.capped || self.hopeless || no_more || self.tries >= most
    }

    /// The step is taken again as it was.
    pub fn start_over(&mut self) {
        (self.worst, self.most_moving) = (0.0, None);
    }

    /// The step is taken again, in more sub-steps.
    pub fn again(&mut self) {
        self.start_over();
        self.tries += 1;
        self.count = (self.params.retry_factor * self.count).min(f64::from(self.params.most_substeps));
    }
}
