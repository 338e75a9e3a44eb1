//! The velocities at the end of an implicit sub-step: M v⁺ = M ṽ + h f(x̃ + h v⁺, v⁺), by Newton steps.
//!
//! Linearised around positions y that is (M + h C + h² K) v⁺ = M ṽ + h (f(y) + K (y - x̃)), one sparse system for the velocities themselves. P4
//! and P3 take one Newton step, with y where the sub-step starts. More of them start from the end so far, and each goes only as
//! far as it makes the residual smaller. Unasked they follow where edges have turned so far that straight ways have stretched them.

use super::contact::ContactRows;
use super::contact_row::{ContactPoint, ContactReach};
use super::forces::{Pull, Surroundings};
use super::particles::OrderedParticles;
use crate::math::Vec4;
use crate::model::memory::HeldContact;
use crate::model::params::ImplicitParams;
use crate::model::{Environment, Model};
use crate::solve::pcg::{Error, Pcg, PcgParams};
use crate::solve::sparse::matrix::BlockMatrix;
use crate::step::driver::StepContext;
use crate::step::report::{Shortfall, StepError};
use std::ops::RangeInclusive;

/// A sub-step: from `time` on, of a duration; velocities lead from x̃ = `start` to the end within `h` [s].
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub time: f64,
    pub duration: f64,
    pub h: f64,
    /// Positions and velocities at the start.
    pub x: &'a [Vec4],
    pub v: &'a [Vec4],
    /// x̃ and ṽ.
    pub start: &'a [Vec4],
    pub speed: &'a [Vec4],
    /// How far what is too near parts at most [m].
    pub parting: f64,
    /// What contacts remember.
    pub contacts: &'a [HeldContact],
}

impl<'a> Goal<'a> {
    fn reach(&self) -> ContactReach<'a> {
        ContactReach { h: self.h, x: self.x, start: self.start, parting: self.parting }
    }
}

/// The system and its solution.
#[derive(Debug)]
pub(super) struct Unknowns {
    params: ImplicitParams,
    pub pull: Pull,
    pub touch: ContactRows,
    matrix: BlockMatrix,
    pcg: Pcg,
    /// Velocities at the end, as far as they are known.
    pub end: Vec<Vec4>,
    /// Velocities before a Newton step, and positions around which it is taken.
    before: Vec<Vec4>,
    y: Vec<Vec4>,
    /// Positions around which the Newton step before was taken.
    around: Vec<Vec4>,
    /// Velocities before a pass, and room for a product with the matrix.
    pass_start: Vec<Vec4>,
    product: Vec<Vec4>,
    rhs: Vec<Vec4>,
    /// Forces from outside [N]; empty where there are none.
    pub outside: Vec<Vec4>,
    /// The duration by which velocities lead to the end [s].
    pub h: f64,
    /// The square of what residuals of the linear system are relative to.
    scale: f64,
    /// Whether contacts do as the solution asks for.
    pub holds: bool,
}

impl Unknowns {
    pub fn new(model: &Model, environment: &Environment, particles: &OrderedParticles) -> Self {
        let (pull, pattern) = Pull::new(model, &environment.air, particles);
        let room = vec![Vec4::ZERO; model.cloth_particle_count()];
        let params = model.params.implicit;
        let pcg = PcgParams {
            tolerance: params.linear_tolerance,
            max_iterations: params.most_iterations,
            ..PcgParams::default()
        };
        Self {
            params,
            pull,
            touch: ContactRows::new(model),
            pcg: Pcg::new(&pattern, pcg),
            matrix: BlockMatrix::new(pattern),
            end: room.clone(),
            before: room.clone(),
            y: room.clone(),
            around: room.clone(),
            pass_start: room.clone(),
            product: room.clone(),
            rhs: room,
            outside: Vec::new(),
            h: 0.0,
            scale: 0.0,
            holds: false,
        }
    }

    /// Positions at the end.
    pub fn ends(&mut self, start: &[Vec4]) -> &[Vec4] {
        for ((y, start), v) in self.y.iter_mut().zip(start).zip(&self.end) {
            *y = *start + *v * self.h;
        }
        &self.y
    }

    /// Finds the velocities at the end, with one Newton step as far as a first pass over contacts; [`Unknowns::keep_clear`] does the rest.
    pub fn solve(
        &mut self,
        step: &mut StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
    ) -> Result<(), StepError> {
        let model = step.model;
        self.h = goal.h;
        self.pull.renew_links(model, goal.time + goal.duration);
        self.end.copy_from_slice(goal.v);
        self.lead_pins(step, particles, goal);
        self.y.copy_from_slice(goal.x);
        let mut first = f64::INFINITY;
        for newton in 0..model.newton {
            self.before.copy_from_slice(&self.end);
            step.observer.enter("assemble");
            self.assemble(step, particles, goal);
            let fall = if newton == 0 { Vec4::from(step.gravity * goal.duration) } else { Vec4::ZERO };
            // The first pass alone tells which features meet; contacts are then settled together.
            let passes = if model.newton == 1 { 1 } else { self.params.most_passes };
            self.solve_linear(step, particles, goal, (fall, passes))?;
            if model.newton == 1 {
                break;
            }
            step.observer.enter("line search");
            let residual = self.line_search(step, particles, goal, &mut first);
            if residual <= self.params.newton_solved * first {
                break;
            }
            if newton + 1 == model.newton && residual > self.params.newton_needed * first {
                step.report.fall_short(Shortfall::Newton { steps: model.newton, residual: residual / first });
            }
            self.ends(goal.start);
        }
        Ok(())
    }

    /// Takes in contacts of features, if any of them pushes where the solution so far leads; whether one does.
    pub fn add_features(&mut self, goal: &Goal, features: impl Iterator<Item = ContactPoint>) -> bool {
        self.touch.add_features(features, &goal.reach(), &self.end, &self.matrix)
    }

    /// Solves until all contacts do as they should; `pushed` tells whether some were added that push.
    pub fn keep_clear(
        &mut self,
        step: &mut StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
        pushed: bool,
    ) -> Result<(), StepError> {
        let model = step.model;
        if model.newton > 1 {
            if !pushed {
                return Ok(());
            }
            // The search for a residual has overwritten the right-hand side.
            self.before.copy_from_slice(&self.end);
            self.ends(goal.start);
            self.assemble(step, particles, goal);
        }
        if self.holds && !pushed {
            return Ok(());
        }
        if pushed {
            self.start_over(goal);
        }
        self.settle_contacts(step, particles, goal, 2..=self.params.most_passes)
    }

    /// Linearises again where the solution leads, as long as edges turn on the way there: within a Newton step particles move straight, and an
    /// edge that turns by an angle θ is longer by θ²/2 after it than the system knows.
    pub fn straighten(
        &mut self,
        step: &mut StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
    ) -> Result<(), StepError> {
        self.around.copy_from_slice(goal.x);
        for _ in 0..if self.holds { self.params.newton_unasked } else { 0 } {
            self.ends(goal.start);
            if self.turn(step.model, particles) <= self.params.newton_turn {
                break;
            }
            self.around.copy_from_slice(&self.y);
            self.before.copy_from_slice(&self.end);
            step.observer.enter("assemble");
            self.assemble(step, particles, goal);
            self.touch.doubt();
            self.settle_contacts(step, particles, goal, 1..=self.params.most_passes - 1)?;
            if !self.holds {
                // Contacts had found their forces before.
                self.end.copy_from_slice(&self.before);
                break;
            }
        }
        Ok(())
    }

    /// By which share of its length an edge is longer at y than linearised where the last Newton step was taken, at most [1].
    fn turn(&self, model: &Model, particles: &OrderedParticles) -> f64 {
        let lengthened = |(edge, rest): (&[u32; 2], &f64)| {
            let [a, b] = edge.map(|i| particles.place[i as usize] as usize);
            let [from, to] = [&self.around, &self.y].map(|x| (x[b] - x[a]).xyz());
            (to.length() - to.dot(from.normalize_or_zero())) / rest
        };
        model.edges.iter().zip(&model.rest_lengths).map(lengthened).fold(0.0, f64::max)
    }

    /// Finds what may touch, and solves the system at hand in so many passes.
    fn solve_linear(
        &mut self,
        step: &mut StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
        (fall, passes): (Vec4, u32),
    ) -> Result<(), StepError> {
        step.observer.enter("contact");
        // Whoever falls on may touch, whoever rests goes on touching.
        self.end.iter_mut().for_each(|v| *v += fall);
        let ways = [&self.before[..], &self.end];
        self.touch.begin(step.boundary, particles, &goal.reach(), ways, goal.contacts, &self.matrix);
        self.start_over(goal);
        (self.scale, self.holds) = (0.0, false);
        self.settle_contacts(step, particles, goal, 1..=passes)
    }

    /// Begins from velocities that lead no further into anything than those before, so that every pass can tell by the energy how far to go.
    fn start_over(&mut self, goal: &Goal) {
        self.end.copy_from_slice(&self.before);
        self.touch.go_along(&goal.reach(), &mut self.end);
        self.touch.restart(&goal.reach(), &self.end);
    }

    /// Solves until contacts push, stick and slide as the solution asks for.
    fn settle_contacts(
        &mut self,
        step: &mut StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
        passes: RangeInclusive<u32>,
    ) -> Result<(), StepError> {
        let params = self.params;
        for pass in passes {
            step.observer.enter("precondition");
            self.touch.add_rows(goal.h, &mut self.matrix, &mut self.rhs);
            let prepared = self.pcg.prepare(&self.matrix, &particles.pinned);
            prepared.map_err(|error| StepError::Unsolvable { reason: error.to_string() })?;

            step.observer.enter("solve");
            self.pass_start.copy_from_slice(&self.end);
            self.pcg.params.tolerance =
                if self.touch.any() { params.linear_tolerance_in_contact } else { params.linear_tolerance };
            match self.pcg.improve(&self.matrix, &self.rhs, &mut self.end, self.scale) {
                Ok(info) => {
                    step.report.iterations += info.iterations;
                    self.scale = info.scale;
                }
                Err(Error::NotConverged { iterations, residual, tolerance }) => {
                    step.report.iterations += iterations;
                    step.report.fall_short(Shortfall::Linear { iterations, residual, tolerance });
                }
                Err(error) => return Err(StepError::Unsolvable { reason: error.to_string() }),
            }

            step.observer.enter("contact");
            self.touch.remove_rows(&mut self.matrix, &mut self.rhs);
            let share = if self.touch.any() { self.backtrack(goal) } else { 1.0 };
            let (wrong, settled) = self.touch.update_active_set(
                step.boundary,
                particles,
                &goal.reach(),
                &self.end,
                &self.matrix,
                share,
            );
            self.holds = settled && wrong <= params.contact_error;
            if self.holds {
                break;
            }
            if pass == params.most_passes {
                step.report.fall_short(Shortfall::Contacts { passes: pass, wrong });
            }
        }
        Ok(())
    }

    /// Goes from where a pass began towards its solution, all the way if the energy then is lower, or else to where it is lowest; the share of
    /// the way.
    ///
    /// With friction at the pressures so far, contacts and system are the slope of a convex energy, and a pass is a Newton step on it: it
    /// leads down, but past the bottom where contacts open, close or turn on the way.
    fn backtrack(&mut self, goal: &Goal) -> f64 {
        let Self { params, matrix, rhs, pass_start: from, end, product, .. } = self;
        let [first, last] = [&*from, &*end].map(|v| {
            matrix.multiply(v, product);
            let slopes = product.iter().zip(&*rhs).zip(from.iter().zip(&*end));
            slopes.map(|((p, b), (from, end))| (*p - *b).xyz().dot((*end - *from).xyz())).sum::<f64>()
        });
        let reach = goal.reach();
        let slope =
            |share: f64| (1.0 - share) * first + share * last - self.touch.work(&reach, from, end, share);
        let enough = params.flat_slope * slope(0.0).abs();
        // The system is quadratic: its energy is the mean of its slopes.
        let [start, full] = [&*from, &*end].map(|v| self.touch.energy(&reach, v));
        if slope(1.0) <= enough || 0.5 * (first + last) + full <= start + params.downhill * slope(0.0) {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..params.most_bisections {
            let middle = 0.5 * (low + high);
            let here = slope(middle);
            if here > 0.0 {
                high = middle
            } else {
                low = middle
            }
            if here.abs() <= enough {
                break;
            }
        }
        self.touch.note_overshoot(&reach, end);
        let share = 0.5 * (low + high);
        end.iter_mut().zip(from).for_each(|(end, from)| *end = *from + (*end - *from) * share);
        share
    }

    /// M (1 + h r) + h C + h² K, and M ṽ + h (f + K (y - x̃)); r is the rate at which all velocity is lost to the air.
    fn assemble(&mut self, step: &mut StepContext, particles: &OrderedParticles, goal: &Goal) {
        let time = goal.time + goal.duration;
        let around = Surroundings { h: goal.h, time, y: &self.y, v: &self.before, start: goal.start };
        let (steady, lost) = (steady(step, goal), 1.0 + goal.h * step.environment.air.damping);
        let outside = &self.outside;
        self.pull.assemble(&around, &mut self.matrix, &mut self.rhs, |i| {
            let mass = particles.mass[i];
            let momentum = (goal.speed[i] + steady) * mass;
            (mass * lost, outside.get(i).map_or(momentum, |force| momentum + *force * goal.h))
        });
    }

    /// M ṽ, and what gravity and wind add.
    fn begin_right(&mut self, step: &StepContext, particles: &OrderedParticles, goal: &Goal) {
        let steady = steady(step, goal);
        for ((rhs, mass), speed) in self.rhs.iter_mut().zip(&particles.mass).zip(goal.speed) {
            *rhs = (*speed + steady) * *mass;
        }
        self.rhs.iter_mut().zip(&self.outside).for_each(|(rhs, force)| *rhs += *force * goal.h);
    }

    /// Goes back half way towards where the Newton step began as long as that makes the residual smaller; returns it. `first` is that of
    /// unchanged velocities.
    fn line_search(
        &mut self,
        step: &StepContext,
        particles: &OrderedParticles,
        goal: &Goal,
        first: &mut f64,
    ) -> f64 {
        if first.is_infinite() {
            self.end.iter_mut().zip(&mut self.before).for_each(|(end, before)| std::mem::swap(end, before));
            *first = self.residual(step, particles, goal).max(f64::MIN_POSITIVE);
            self.end.iter_mut().zip(&mut self.before).for_each(|(end, before)| std::mem::swap(end, before));
        }
        let mut best = self.residual(step, particles, goal);
        for _ in 0..self.params.most_halvings {
            let towards = |end: &mut Vec4, before: &Vec4| *end = (*end + *before) * 0.5;
            self.end.iter_mut().zip(&self.before).for_each(|(end, before)| towards(end, before));
            let half = self.residual(step, particles, goal);
            if half >= best {
                // One halving too many.
                let back = |end: &mut Vec4, before: &Vec4| *end = *end * 2.0 - *before;
                self.end.iter_mut().zip(&self.before).for_each(|(end, before)| back(end, before));
                break;
            }
            best = half;
        }
        best
    }

    /// |M v⁺ - M ṽ - h f(x̃ + h v⁺, v⁺)|, in the metric of one over the masses.
    fn residual(&mut self, step: &StepContext, particles: &OrderedParticles, goal: &Goal) -> f64 {
        self.begin_right(step, particles, goal);
        for ((y, start), v) in self.y.iter_mut().zip(goal.start).zip(&self.end) {
            *y = *start + *v * goal.h;
        }
        let time = goal.time + goal.duration;
        let around = Surroundings { h: goal.h, time, y: &self.y, v: &self.end, start: goal.start };
        self.pull.forces(&around, self.matrix.pattern(), &mut self.rhs);
        self.touch.forces(&goal.reach(), &self.end, &mut self.rhs);
        let lost = 1.0 + goal.h * step.environment.air.damping;
        let mut sum = 0.0;
        for i in (0..self.rhs.len()).filter(|i| !particles.pinned[*i]) {
            let mass = particles.mass[i];
            sum += (self.rhs[i] - self.end[i] * (mass * lost)).xyz().length_squared() / mass;
        }
        sum.sqrt()
    }

    /// Velocities of pinned particles lead them to where they are to be.
    fn lead_pins(&mut self, step: &StepContext, particles: &OrderedParticles, goal: &Goal) {
        for (i, end) in step.boundary.held(step.model, step.environment) {
            let place = particles.place[i] as usize;
            self.end[place] = (Vec4::from(end) - goal.start[place]) * (1.0 / goal.h);
        }
    }
}

/// What gravity and wind add to all velocities [m/s].
fn steady(step: &StepContext, goal: &Goal) -> Vec4 {
    let air = &step.environment.air;
    Vec4::from((step.gravity + air.damping * air.wind) * goal.h)
}
