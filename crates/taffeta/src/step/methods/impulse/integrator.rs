//! The stages of a step by impulses, in the order in which the driver asks for them.

use super::drift;
use super::elements::RubbingEdge;
use super::rest::is_at_rest;
use super::substeps::SubstepController;
use super::workers::CHUNK;
use super::{Impulse, SHARE_AS_PRINTED};
use crate::math::lanes::{LANES, Lanes};
use crate::math::{DVec3, Vec4};
use crate::model::{Memory, Model, State, Velocities};
use crate::parallel;
use crate::solve::strips::twists;
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::methods::Integrator;
use crate::step::report::StepError;

impl Integrator for Impulse {
    fn begin(&mut self, step: &mut StepContext, state: &State) -> Result<(), StepError> {
        let Memory::Impulse(memory) = &state.memory else { return Ok(()) };
        let iterations = if self.as_printed.is_some() { 1 } else { self.lengths.iterations_per_substep };
        self.controller =
            SubstepController::new(step.model, step.gravity, self.shear_time, iterations, memory);
        self.controller.follow_bends(step.model, self.bend_time);
        if let Some(springs) = &self.as_printed {
            self.controller.at_least(springs.fewest(step.model)?);
        }
        if let Some(pipeline) = &mut step.pipeline {
            let (time, duration) = (state.time, step.model.step_time);
            let (times, way) = ([time, time + duration], |i: usize| duration * state.velocities[i]);
            let haste = pipeline.haste_of_bodies(step.model, times, |i| state.positions[i], way);
            self.controller.at_least(haste.ceil() as u32);
        }
        self.drift = drift::of(step.model, step.environment, state);
        self.fallback.begin();
        self.hands.begin(step.model, step.environment, state);
        if self.are_pins_too_far(step, state, memory.missed) || self.is_forced_on(step, state, memory.missed)
        {
            self.controller.give_up();
        }
        Ok(())
    }

    fn load(&mut self, step: &mut StepContext, state: &State) {
        let Memory::Impulse(memory) = &state.memory else { return };
        self.make_room();
        self.hands.tie(&mut self.lengths.strips);
        self.early = self.controller.is_early();
        self.h = step.model.step_time / f64::from(self.controller.substeps());
        self.bent.as_mut().unwrap_or(&mut self.lengths.strips).pace_bends(self.h);
        self.ladders.pace_bends(self.h);
        for (i, (x, v)) in state.positions.iter().zip(&state.velocities).enumerate() {
            (self.x[i], self.y[i]) = ((*x).into(), (*x + self.h * *v).into());
            self.y[i].0[3] = 1.0;
        }
        if self.as_printed.is_none() {
            let set = self.set;
            self.ladders.sweep(&mut self.x, &mut self.twists, &mut self.scratch, |x, twists, _| {
                twists::measure(set, &x, twists);
            });
        }
        // Edges that stand for none have tensions too, which no state remembers.
        self.tension.fill(Lanes::ZERO);
        let slots = self.lengths.edge_slots().iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(memory.tension.iter().chain(&memory.shear)) {
            self.tension[*slot as usize / LANES].0[*slot as usize % LANES] = *tension;
        }
        if self.as_printed.is_some() {
            return self.share.fill(SHARE_AS_PRINTED);
        }
        self.infeasible_start = self.lengths.strain(&self.x) >= self.params.infeasible_strain;
        self.at_rest = is_at_rest(step.model, step.environment, state, memory, &self.controller);
        if let Some(pipeline) = &mut step.pipeline {
            pipeline.list_all_near(self.at_rest);
        }
        self.step_share = if self.infeasible_start || self.early || self.lengths.iterations_per_substep > 1 {
            1.0
        } else if self.at_rest {
            self.params.share_at_rest
        } else {
            self.params.displacement_share
        };
        // A state at the start has no contacts and remembers zeros.
        let of = |kept: f64| if kept == 1.0 { 1.0 } else { self.step_share };
        self.share.iter_mut().zip(&memory.share).for_each(|(to, from)| *to = of(*from));
        // As `predict::update_velocities` has it.
        let of_cloths = self.workers.workers.last().map_or(0, |worker| worker.particles.end);
        let touched = self.x[..of_cloths].iter_mut().zip(&memory.share);
        touched.for_each(|(x, kept)| x.0[3] = f64::from(u8::from(*kept != 1.0)));
    }

    fn plan(&mut self, _: &mut StepContext, _: f64, _: f64) -> Result<Plan, StepError> {
        Ok(Plan { h: self.h, count: self.controller.substeps(), renewed_after: None })
    }

    fn motion(&mut self, _: &Model, positions: &mut [DVec3], ways: &mut [DVec3]) {
        let (x, y) = (&self.x, &self.y);
        parallel::each_two(positions, ways, CHUNK, |i, position, way| {
            (*position, *way) = (x[i].xyz(), (y[i] - x[i]).xyz());
        });
    }

    /// Free motion with all that pulls (P1 eq. 1-2), then bends, twist and shear, which are implicit in time.
    fn predict(&mut self, step: &mut StepContext, substep: &Substep) {
        let (model, Substep { time, h, k, count, .. }) = (step.model, *substep);
        step.observer.enter("air");
        let every = if self.rests.are_bent { 1 } else { count.div_ceil(self.params.air_renewals) };
        if k.is_multiple_of(every) {
            let way = |i: usize| self.y[i] - self.x[i];
            let held = (time, f64::from(every.min(count - k)) * h);
            step.boundary.forces.renew(model, step.environment, held, &self.x, (way, 3.0 * h));
            for RubbingEdge { edge, slider, rest, compliance } in &self.rubbing {
                let aside = step.boundary.forces.sliders.aside(model, *slider, *compliance);
                self.soft.set_rest(*edge, rest + aside);
            }
            for RubbingEdge { edge, slider, rest, compliance } in &self.rubbing_edges {
                let aside = step.boundary.forces.sliders.aside(model, *slider, *compliance);
                self.lengths.set_aside(*edge, *rest, aside);
            }
            let strips = self.bent.as_mut().unwrap_or(&mut self.lengths.strips);
            self.rests.hand_over(&step.boundary.forces.sliders, strips);
        }
        for (i, end) in step.boundary.held(model, step.environment) {
            self.y[i] = Vec4([end.x, end.y, end.z, 1.0]);
        }
        self.hands.slow_down(model, &self.x, &mut self.y, h);
        self.hands.keep_out(model, &step.boundary.bodies, &mut self.y);
        self.links.begin(model, time, h, &self.x);
        step.observer.enter("pull");
        if let Some(springs) = &mut self.as_printed {
            self.tension.fill(Lanes::ZERO);
            springs.renew(model, (&self.x, &self.y), step.boundary.forces.on_particles(), h);
        }
        self.sums = self.pull(step, h);
        self.hands.loosen(model, &mut self.q, h);
        if self.as_printed.is_none() {
            step.observer.enter("bend");
            self.bend(model, &step.boundary.forces.sliders, h);
            step.observer.enter("twist");
            self.twist();
            step.observer.enter("shear");
            self.shear();
        }
    }

    /// Position impulses (P1 §3.3) and contacts.
    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError> {
        step.observer.enter("lengths and contact");
        let left = step.model.max_iterations.unwrap_or(u32::MAX) - step.report.iterations;
        step.report.iterations += self.keep_lengths(step, substep.h, left / (substep.count - substep.k));
        Ok(())
    }

    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict {
        step.observer.enter("move");
        self.press(step, substep.h);
        self.advance(step, substep.h);
        if step.model.velocities == Velocities::Corrected {
            let tension = &mut self.saved_tension[..self.lengths.strips.rows];
            self.lengths.project_velocities(&self.q, &mut self.y, tension, &mut self.scratch);
        }
        self.controller.judge(&self.sums)
    }

    /// Sweeps until every hard edge is within the tolerance; velocities stay.
    fn finish(&mut self, step: &mut StepContext, h: f64) -> Verdict {
        step.observer.enter("last sweeps");
        self.links.end(step.model, &self.q);
        let before = self.lengths.strain(&self.q);
        self.sweeps_for_lengths = 0;
        self.lengths_kept = self.sweep_to_tolerance(step, h) <= step.model.tolerance;
        self.strain_before = before;
        Verdict::Good
    }

    fn ends(&mut self, model: &Model, ends: &mut [DVec3]) {
        self.stiffen_bodies(model);
        let q = &self.q;
        parallel::each(ends, CHUNK, |i, end| *end = q[i].xyz());
    }

    fn answer_learned(&mut self, step: &mut StepContext, window: &Window, gains: bool) -> bool {
        let allowed = step.model.max_iterations.is_none();
        if allowed && !(gains && self.answer_nearby(step, window)) {
            self.sweep_learned(step, window);
        }
        allowed
    }

    /// What CCD moves changes velocities too.
    fn accept(&mut self, model: &Model, ends: &[DVec3], window: &Window) {
        parallel::each_two(&mut self.saved_ends, &mut self.q, CHUNK, |i, saved, q| {
            *saved = *q;
            if let Some(end) = ends.get(i) {
                *q = Vec4([end.x, end.y, end.z, q.0[3]]);
            }
        });
        self.follow(1.0 / f64::from(window.substeps));
        self.stiffen_bodies(model);
        if !window.last {
            let n = model.particle_count();
            let q = &self.q;
            parallel::each(&mut self.x[..n], CHUNK, |i, x| *x = q[i].xyz().into());
        }
    }

    /// What CCD has stretched comes back to tolerance where there is room: sweeps that take no time, under CCD. Velocities stay.
    fn mend(&mut self, step: &mut StepContext, time: f64) -> Verdict {
        if step.pipeline.is_some() {
            step.observer.enter("mend");
            let kept = self.lengths_kept;
            self.mend_lengths(step, time);
            step.disturbed += u32::from(kept && !self.lengths_kept);
        }
        if !self.lengths_kept && self.hands.are_firm() {
            return Verdict::Missed;
        }
        let closed = self.links.open(step.model, &self.q) <= self.params.seam_tolerance;
        step.report.converged = self.lengths_kept && closed;
        let sweeps = self.sweeps_for_lengths / self.lengths.iterations_per_substep;
        self.controller.conclude(self.strain_before, sweeps, [self.lengths_kept, closed])
    }

    /// Hands give way first; then shorter sub-steps are tried.
    fn again(&mut self) {
        if self.hands.give_way() {
            self.controller.start_over();
        } else {
            self.controller.again();
        }
    }

    fn fall_back(&mut self, step: &mut StepContext, state: &State, round: usize) -> bool {
        let missed = !self.lengths_kept && self.as_printed.is_none() && self.controller.may_reach();
        missed && self.propose(step, state, round)
    }

    fn settle(&mut self, step: &mut StepContext) -> Window {
        step.observer.enter("last sweeps");
        self.settle_proposal(step)
    }

    fn mend_proposal(&mut self, step: &mut StepContext, time: f64) {
        if step.pipeline.is_some() {
            self.mend_lengths(step, time);
        }
    }

    fn store(&mut self, step: &mut StepContext, state: &mut State) {
        self.take_best(step);
        for i in 0..state.positions.len() {
            state.positions[i] = self.q[i].xyz();
            state.velocities[i] = (self.y[i] - self.x[i]).xyz() / self.h;
        }
        step.report.shortest_substep = self.h;
        step.report.redundant = self.lengths.redundant(&self.q);
        if !step.report.converged {
            let of_lengths = || self.reaches.shortfall(step.model, step.environment, &state.positions);
            let of_seams = self.links.shortfall(step.model, &self.q).filter(|_| self.lengths_kept);
            let why = of_seams.unwrap_or_else(of_lengths);
            step.report.shortfall = Some(self.forbidden(step, state.time, why));
        }
        let Memory::Impulse(memory) = &mut state.memory else { return };
        self.controller.remember(memory);
        let slots = self.lengths.edge_slots().iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(memory.tension.iter_mut().chain(&mut memory.shear)) {
            *tension = self.tension[*slot as usize / LANES].0[*slot as usize % LANES];
        }
        // A whole share tells a contact, unless all particles had it.
        let all = self.step_share == 1.0;
        let kept = |share: f64| if all { 0.0 } else { share };
        memory.share.iter_mut().zip(&self.share).for_each(|(to, share)| *to = kept(*share));
    }

    fn touching(&self) -> u32 {
        self.workers.workers.iter().map(|w| w.contacts).sum()
    }
}
