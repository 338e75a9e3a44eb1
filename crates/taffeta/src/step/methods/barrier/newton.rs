//! The end of a sub-step: where the incremental potential is least, by projected Newton steps that stay feasible (IPC, Li et al. 2020, Alg. 1).
//!
//! E(x) = ½ (1 + h r) |x - x̃|²_M / h² + Ψ(x) + B(x) + D(x): inertia, what is elastic with the barriers of edges, the barriers of contact, friction. A step
//! solves (h² ∇²E) δ = -h ∇E for the change δ of velocities, second derivatives projected one by one, and goes a share of the way h δ: no further than
//! where edges or features meet their bounds, and then only as far as E is lower.
//!
//! What is led takes part as unknowns that are known. A step leads it the rest of its way, and cloth with it; where only a share of that is free it is led on
//! by the next step. While it is under way it works on the cloth, and E may rise.

use super::contacts::{BarrierContacts, PlacedPoints};
use super::elements::{Derivative, Elastic, Placed};
use crate::math::Vec4;
use crate::model::params::BarrierParams;
use crate::model::{Environment, Model};
use crate::solve::pcg::{Error, Pcg, PcgParams};
use crate::solve::sparse::matrix::BlockMatrix;
use crate::step::driver::StepContext;
use crate::step::report::StepError;

/// Changes of energy below this share of what it is made of are roundings [1].
const ROUNDING: f64 = 1e-13;

/// Where less than this share of the rest of their ways is free, led things are stuck [1].
const LEAST_LED: f64 = 1e-4;

/// One in so many Newton steps leads on what is led; in between cloth follows, lest it be drawn ever nearer to its bounds.
const LEADS_EVERY: u32 = 3;

/// A sub-step to be found.
#[derive(Clone, Copy)]
pub(super) struct BarrierGoal<'a> {
    /// Its duration [s].
    pub h: f64,
    /// All points at its start, and where what is led ends [m]; for all else the same place.
    pub start: &'a [Vec4],
    pub led: &'a [Vec4],
    /// Where inertia leads particles, x̃ [m], and the mass with which it does [kg].
    pub inertia: &'a [Vec4],
    /// Velocities at its start [m/s].
    pub v: &'a [Vec4],
    pub mass: &'a [f64],
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found {
    /// At the end of the sub-step.
    End,
    /// The last Newton step would still move a particle by so much [m], after so many of them.
    Unsettled { steps: u32, moved: f64 },
    /// Friction was still wrong by such a share of all that there can be, after so many rounds [1].
    Rubbing { rounds: u32, wrong: f64 },
    /// What is led could not go all of its way.
    Stuck,
}

/// The potential of a sub-step and room to minimise it.
#[derive(Debug)]
pub(super) struct Minimiser {
    params: BarrierParams,
    elastic: Elastic,
    pub contacts: Option<BarrierContacts>,
    matrix: BlockMatrix,
    pcg: Pcg,
    pinned: Vec<bool>,
    /// All points, where a share of a step leads, the step itself, and the way of particles since the start [m].
    pub x: Vec<Vec4>,
    ahead: Vec<Vec4>,
    ways: Vec<Vec4>,
    moved: Vec<Vec4>,
    /// Forces [N], right-hand side and change of velocities [m/s].
    forces: Vec<Vec4>,
    rhs: Vec<Vec4>,
    change: Vec<Vec4>,
    /// Which share of its way what is led has gone [1], and whether the step at hand leads it on.
    led: f64,
    leads: bool,
}

impl Minimiser {
    pub fn new(model: &Model, environment: &Environment, contacts: Option<BarrierContacts>) -> Self {
        let gravity = environment.gravity.length();
        let gravity = if gravity > 0.0 { gravity } else { model.params.common.weightless };
        let (elastic, pattern) = Elastic::new(model, gravity);
        let params = model.params.barrier;
        let pcg = PcgParams {
            tolerance: params.linear_tolerance,
            max_iterations: params.most_iterations,
            ..PcgParams::default()
        };
        let room = vec![Vec4::ZERO; model.particle_count()];
        let points = contacts.as_ref().map_or(room.len(), |contacts| contacts.near.points());
        let all = vec![Vec4::ZERO; points];
        Self {
            params,
            elastic,
            contacts,
            pcg: Pcg::new(&pattern, pcg),
            matrix: BlockMatrix::new(pattern),
            pinned: environment.inverse_mass.iter().map(|w| *w == 0.0).collect(),
            x: all.clone(),
            ahead: all.clone(),
            ways: all,
            moved: room.clone(),
            forces: room.clone(),
            rhs: room.clone(),
            change: room,
            led: 0.0,
            leads: false,
        }
    }

    /// Begins a sub-step until a time [s] at positions `start` [m].
    pub fn begin(&mut self, model: &Model, until: f64, start: &[Vec4]) {
        self.elastic.begin(model, self.matrix.pattern(), until, start);
    }

    /// Finds the end of a sub-step, in `x`: Newton steps until the largest of them is settled, and friction follows the pushes until both agree.
    pub fn find(&mut self, step: &mut StepContext, goal: &BarrierGoal) -> Result<Found, StepError> {
        self.x.copy_from_slice(goal.start);
        self.led = if goal.start == goal.led { 1.0 } else { 0.0 };
        if let Some(contacts) = &mut self.contacts {
            let at = PlacedPoints { x: &self.x, start: goal.start, led: self.led };
            contacts.begin(self.params.friction_speed * goal.h, &at);
        }
        self.coast(goal);
        let params = self.params;
        let (mut moved, mut under_way, mut renewed, mut wrong) = (f64::INFINITY, 0, 0, f64::INFINITY);
        for steps in 0..params.most_steps {
            // Where much has to be found out, less has to be right.
            let late = steps >= params.patience;
            let settled = goal.h * if late { params.settled_late } else { params.settled_speed };
            let error = if late { params.friction_told } else { params.friction_error };
            if moved <= params.nearly_settled * goal.h && renewed < params.friction_rounds {
                (wrong, renewed) = (self.renew_friction(goal), renewed + 1);
            }
            self.leads = self.led < 1.0 && steps % LEADS_EVERY == 0;
            if self.find_step(step, goal).is_err() {
                // Between led things and bounds that they press against, numbers end.
                return Ok(if self.led < 1.0 { Found::Stuck } else { Found::Unsettled { steps, moved } });
            }
            moved = self.ways.iter().map(|way| way.xyz().length_squared()).fold(0.0, f64::max).sqrt();
            if self.led == 1.0 && moved <= settled && (wrong <= error || renewed == params.friction_rounds) {
                return Ok(if wrong <= params.friction_told {
                    Found::End
                } else {
                    Found::Rubbing { rounds: renewed, wrong }
                });
            }
            step.observer.enter("line search");
            if self.leads {
                let free = self.free_share();
                under_way += 1;
                if self.go(free, goal) < LEAST_LED || under_way > params.most_led_steps {
                    return Ok(Found::Stuck);
                }
            } else if !self.descend(goal) || step.iterations_left() == 0 {
                return Ok(Found::Unsettled { steps: steps + 1, moved });
            }
        }
        Ok(Found::Unsettled { steps: params.most_steps, moved })
    }

    /// Goes on with the velocities before, if that is free: what slid goes on sliding, what rests goes on resting, and friction finds out sooner which is which.
    fn coast(&mut self, goal: &BarrierGoal) {
        self.leads = true;
        self.lead_on(goal);
        let free = self.ways.iter_mut().zip(goal.v).zip(&self.pinned).filter(|(_, pinned)| !**pinned);
        free.for_each(|((way, v), _)| *way = *v * goal.h);
        let share = self.free_share();
        if share == 1.0 {
            self.go(share, goal);
        }
    }

    /// Sets the rest of the ways of all that is led, if it is led on.
    fn lead_on(&mut self, goal: &BarrierGoal) {
        let rest = if self.leads { 1.0 - self.led } else { 0.0 };
        for ((way, end), start) in self.ways.iter_mut().zip(goal.led).zip(goal.start) {
            *way = (*end - *start) * rest;
        }
    }

    /// The share of its way that what is led has gone after a share of the step at hand.
    fn led_on(&self, share: f64) -> f64 {
        match self.leads {
            true if share == 1.0 => 1.0,
            true => self.led + (1.0 - self.led) * share,
            false => self.led,
        }
    }

    /// Lets friction follow the pushes; by which share it was wrong before.
    fn renew_friction(&mut self, goal: &BarrierGoal) -> f64 {
        let Self { contacts: Some(contacts), x, led, .. } = self else { return 0.0 };
        let at = PlacedPoints { x, start: goal.start, led: *led };
        contacts.list_near(&at);
        contacts.renew_friction(&at)
    }

    /// Lists what is near, and sums up all forces.
    fn renew_forces(&mut self, goal: &BarrierGoal) {
        let Self { elastic, contacts, matrix, x, moved, forces, led, .. } = self;
        moved.iter_mut().zip(&*x).zip(goal.start).for_each(|((moved, x), start)| *moved = *x - *start);
        forces.fill(Vec4::ZERO);
        elastic.add_forces(&Placed { h: goal.h, x, start: goal.start, moved }, matrix.pattern(), forces);
        if let Some(contacts) = contacts {
            let points = PlacedPoints { x, start: goal.start, led: *led };
            contacts.list_near(&points);
            contacts.add_forces(&points, forces);
        }
    }

    /// The Newton step. The exact second derivative serves if it is positive definite, which compressed cloth that is about to buckle is not; it is projected
    /// if it is not, element by element.
    fn find_step(&mut self, step: &mut StepContext, goal: &BarrierGoal) -> Result<(), StepError> {
        self.renew_forces(goal);
        self.assemble(step, goal, Derivative::Exact);
        if self.solve(step, goal).is_ok() {
            return Ok(());
        }
        self.assemble(step, goal, Derivative::Projected);
        self.solve(step, goal)
    }

    /// M (1 + h r) + h C + h² K of all that is there, and -h ∇E.
    fn assemble(&mut self, step: &mut StepContext, goal: &BarrierGoal, derivative: Derivative) {
        step.observer.enter("assemble");
        self.lead_on(goal);
        let Self { elastic, contacts, matrix, x, ways, moved, forces, rhs, led, leads, .. } = self;
        let h = goal.h;
        let at = Placed { h, x, start: goal.start, moved };
        let points = PlacedPoints { x, start: goal.start, led: *led };
        elastic.assemble(&at, derivative, (matrix, rhs), |i| {
            (goal.mass[i], forces[i] * h - (x[i] - goal.inertia[i]) * (goal.mass[i] / h))
        });
        if let Some(contacts) = contacts {
            contacts.add_to(h, &points, (ways, *leads), (matrix, rhs));
        }
    }

    /// Solves for the step; what is led goes the rest of its way.
    fn solve(&mut self, step: &mut StepContext, goal: &BarrierGoal) -> Result<(), StepError> {
        step.observer.enter("solve");
        let Self { pcg, matrix, rhs, change, ways, pinned, .. } = self;
        let unsolvable = |reason: String| StepError::Unsolvable { reason };
        change.iter_mut().zip(&*ways).for_each(|(change, way)| *change = *way * (1.0 / goal.h));
        pcg.prepare(matrix, pinned).map_err(|error| unsolvable(error.to_string()))?;
        step.report.iterations += match pcg.improve(matrix, rhs, change, 0.0) {
            Ok(info) => info.iterations,
            // Any of its approximations leads down.
            Err(Error::NotConverged { iterations, .. }) => iterations,
            Err(error) => return Err(unsolvable(error.to_string())),
        };
        let free = ways.iter_mut().zip(change).zip(pinned).filter(|(_, pinned)| !**pinned);
        free.for_each(|((way, change), _)| *way = *change * goal.h);
        Ok(())
    }

    /// Which share of the step keeps clear of all bounds.
    fn free_share(&mut self) -> f64 {
        let backed_off = self.params.backed_off;
        let clear = |share: f64| if share < 1.0 { backed_off * share } else { 1.0 };
        let share = clear(self.elastic.free_share(&self.x, &self.ways));
        let led = [self.led, self.led_on(share)];
        let Self { contacts, x, ahead, ways, .. } = self;
        let Some(contacts) = contacts else { return share };
        ahead.iter_mut().zip(&*x).zip(&*ways).for_each(|((ahead, x), way)| *ahead = *x + *way * share);
        share * clear(contacts.near.free_share(x, ahead, led))
    }

    /// Goes a share of the step while things are led, half of it as often as a bound is passed; returns the share.
    fn go(&mut self, mut share: f64, goal: &BarrierGoal) -> f64 {
        let led = self.led;
        self.ahead.copy_from_slice(&self.x);
        for _ in 0..self.params.most_halvings {
            let all = self.x.iter_mut().zip(&self.ahead).zip(&self.ways);
            all.for_each(|((x, from), way)| *x = *from + *way * share);
            (self.led, self.leads) = (led, true);
            self.led = self.led_on(share);
            if self.energy(goal)[0].is_finite() {
                if self.led == 1.0 {
                    self.arrive(goal);
                }
                return share;
            }
            share *= 0.5;
        }
        self.x.copy_from_slice(&self.ahead);
        self.led = led;
        0.0
    }

    /// Puts all that is led where it ends.
    pub fn arrive(&mut self, goal: &BarrierGoal) {
        self.led = 1.0;
        let is_led = |i: usize| self.pinned.get(i).is_none_or(|pinned| *pinned);
        let all = self.x.iter_mut().zip(goal.led).enumerate();
        all.filter(|(i, _)| is_led(*i)).for_each(|(_, (x, end))| *x = *end);
    }

    /// Goes down along the step; whether E falls at all. Where all of it leaves most of the slope, twice as much follows: cloth about to buckle does so by far smaller
    /// steps than it could, because the projected derivative has none of what drives it.
    fn descend(&mut self, goal: &BarrierGoal) -> bool {
        let Some(mut left) = self.search_line(goal) else { return false };
        while left > self.params.steep_slope {
            self.ways.iter_mut().for_each(|way| *way = *way * 2.0);
            left = self.search_line(goal).unwrap_or(0.0);
        }
        true
    }

    /// Goes a share of the step to where E is lower and does not rise again, if there is such a place; returns how much of the slope is left after all of it, 0 after
    /// less.
    ///
    /// To be lower is not enough: friction that is overcome pulls no less beyond the place where it would hold, and steps would go to and fro across it.
    fn search_line(&mut self, goal: &BarrierGoal) -> Option<f64> {
        let free = self.free_share();
        let ([before, scale], slope) = (self.energy(goal), self.slope(goal));
        let (mut low, mut high, mut share) = (0.0, free, free);
        self.ahead.copy_from_slice(&self.x);
        for _ in 0..self.params.most_halvings {
            let all = self.x.iter_mut().zip(&self.ahead).zip(&self.ways);
            all.for_each(|((x, from), way)| *x = *from + *way * share);
            let (here, lower) = (self.slope(goal), self.energy(goal)[0] <= before + ROUNDING * scale);
            if lower && here <= self.params.flat_slope * slope.abs() {
                return Some(if share == 1.0 { here / slope } else { 0.0 });
            }
            if lower && here < 0.0 {
                low = share
            } else {
                high = share
            }
            share = 0.5 * (low + high);
        }
        self.x.copy_from_slice(&self.ahead);
        None
    }

    /// The slope of E along the step [J].
    fn slope(&mut self, goal: &BarrierGoal) -> f64 {
        self.renew_forces(goal);
        let Self { x, ways, forces, .. } = self;
        let all = x.iter().zip(goal.inertia).zip(goal.mass).zip(forces.iter().zip(&*ways));
        let rate = 1.0 / (goal.h * goal.h);
        all.map(|(((x, to), mass), (force, way))| ((*x - *to) * (mass * rate) - *force).xyz().dot(way.xyz()))
            .sum()
    }

    /// E, and the size of what it is made of [J].
    fn energy(&mut self, goal: &BarrierGoal) -> [f64; 2] {
        let Self { elastic, contacts, matrix, x, moved, led, .. } = self;
        let (h, start) = (goal.h, goal.start);
        moved.iter_mut().zip(&*x).zip(start).for_each(|((moved, x), start)| *moved = *x - *start);
        let lag = x.iter().zip(goal.inertia).zip(goal.mass);
        let inertia: f64 = lag.map(|((x, to), mass)| mass * (*x - *to).xyz().length_squared()).sum();
        let parts = [
            0.5 * inertia / (h * h),
            elastic.energy(&Placed { h, x, start, moved }, matrix.pattern()),
            contacts.as_ref().map_or(0.0, |contacts| contacts.energy(&PlacedPoints { x, start, led: *led })),
        ];
        [parts.iter().sum(), parts.iter().map(|part| part.abs()).sum()]
    }
}
