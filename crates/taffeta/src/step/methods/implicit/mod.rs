//! Implicit integration: backward Euler (P4; Baraff & Witkin 1998) and BDF2 (P3 eq. 8 and 9; Choi & Ko 2002).
//!
//! Both ask for velocities v⁺ with M v⁺ = M ṽ + h f(x⁺, v⁺) at the end x⁺ = x̃ + h v⁺. For backward Euler x̃ and ṽ are the state and h is the
//! sub-step; for BDF2 they reach back one sub-step, with the weights of a sub-step that may change (P3 has a constant one): ω is the
//! sub-step over the one before, x̃ = ((1+ω)² x - ω² x⁻)/(1+2ω), h = (1+ω)/(1+2ω) of the sub-step, which are 4/3, 1/3 and 2/3 for equal ones.
//! The first sub-step has no past and is one of backward Euler. How v⁺ is found stands in `newton.rs`.

mod contact;
mod contact_row;
mod features;
mod forces;
mod newton;
mod particles;
mod undo;

use super::Integrator;
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::memory::{HeldContact, ImplicitMemory};
use crate::model::params::Params;
use crate::model::{Environment, Memory, Model, State, StepChoice};
use crate::step::boundary::Boundary;
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::report::{Shortfall, StepError, StepReport};
use crate::step::{pressing, rigid_bodies};
use contact::keep_out;
use newton::{Goal, Unknowns};
use particles::OrderedParticles;
use undo::Undo;

/// How a sub-step reaches back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Backward Euler.
    First,
    /// BDF2.
    Second,
}

/// Scratch of the method.
#[derive(Debug)]
pub struct Implicit {
    order: Order,
    particles: OrderedParticles,
    unknowns: Unknowns,
    x: Vec<Vec4>,
    v: Vec<Vec4>,
    /// Positions and velocities one sub-step ago, for BDF2.
    past: [Vec<Vec4>; 2],
    /// x̃ and ṽ.
    start: [Vec<Vec4>; 2],
    /// The part of every particle's motion that something holds.
    held: Vec<DMat3>,
    /// Positions before and after a sub-step, in the order of the model, those of free bodies too [m].
    before: Vec<Vec4>,
    after: Vec<Vec4>,
    /// Forces that a sub-step holds, in the order of the model [N].
    outside: Vec<Vec4>,
    /// Velocities of the particles of free bodies, in the order of the model [m/s].
    flight: Vec<Vec4>,
    /// Forces of bodies along their normals, in the own order [N].
    pushed: Vec<f64>,
    /// Mean length of an edge [m].
    edge: f64,
    /// Sub-steps in a step, if they are equal.
    equal: Option<u32>,
    /// What is remembered; its past stands in `past` while a step is under way.
    memory: ImplicitMemory,
    /// The sub-step before it was taken.
    undo: Undo,
    touching: u32,
    retry: Retry,
}

/// How often a step was taken again, and why.
#[derive(Debug, Default)]
struct Retry {
    /// In how many times as many sub-steps, as a power of 2.
    doublings: u32,
    /// Sub-steps taken in this attempt.
    taken: u32,
    /// The largest jump of an edge's strain that ended an attempt [1].
    jump: f64,
    /// Whether the step is taken as it comes: shorter sub-steps did not help.
    forced: bool,
    /// The largest jump that CCD has made in this attempt, and of which edge [1].
    by_ccd: (f64, usize),
}

impl Retry {
    /// Whether a step in which the strain of an edge has jumped so far, or that has not converged, is to be taken again. Where shorter sub-steps jump nearly as
    /// far, led things force it.
    fn is_worth_while(&mut self, model: &Model, jump: f64) -> bool {
        let params = &model.params.implicit;
        let may = model.substeps.is_none() && !self.forced && self.doublings < params.retries;
        if may {
            let jumps = jump > params.strain_jump;
            self.forced = jumps && self.doublings >= 2 && jump > params.forced_jump * self.jump;
            self.jump = self.jump.max(jump);
        }
        may
    }
}

impl Implicit {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment, order: Order) -> Self {
        let particles = OrderedParticles::new(model, environment);
        let room = vec![Vec4::ZERO; model.cloth_particle_count()];
        let all = vec![Vec4::ZERO; model.particle_count()];
        let past = if order == Order::Second { room.clone() } else { Vec::new() };
        let edges = model.rest_lengths.iter().chain(&model.springs.rest_length);
        let count = (model.rest_lengths.len() + model.springs.rest_length.len()).max(1);
        Self {
            order,
            unknowns: Unknowns::new(model, environment, &particles),
            particles,
            x: room.clone(),
            v: room.clone(),
            past: [past.clone(), past.clone()],
            held: vec![DMat3::ZERO; room.len()],
            pushed: vec![0.0; room.len()],
            undo: Undo::new(&room, &past, all.len() - room.len()),
            start: [room.clone(), room],
            before: all.clone(),
            outside: Vec::new(),
            flight: all.clone(),
            after: all,
            edge: edges.sum::<f64>() / count as f64,
            equal: None,
            memory: ImplicitMemory::default(),
            touching: 0,
            retry: Retry::default(),
        }
    }

    /// What is remembered at the start: no contacts and no past.
    pub fn memory(&self, model: &Model) -> ImplicitMemory {
        let contacts = if model.colliders.is_empty() { 0 } else { model.cloth_particle_count() };
        let past = vec![DVec3::ZERO; self.past[0].len()];
        let contacts = vec![HeldContact::default(); contacts];
        ImplicitMemory { contacts, past: [past.clone(), past], ..ImplicitMemory::default() }
    }

    /// Forces that a sub-step holds: those from outside, and those of internal friction.
    fn renew_outside(&mut self, step: &mut StepContext) {
        let (forces, sliders) = (&step.environment.forces, &mut step.boundary.forces.sliders);
        let Self { particles, before, outside, unknowns, .. } = self;
        outside.clear();
        outside.extend(forces.iter().map(|force| Vec4::from(*force)));
        if !sliders.is_empty() {
            outside.resize(step.model.particle_count(), Vec4::ZERO);
            sliders.follow(step.model, before);
            sliders.push(outside);
        }
        unknowns.outside.resize(outside.len(), Vec4::ZERO);
        let own = outside.iter().zip(&particles.place);
        own.for_each(|(force, place)| unknowns.outside[*place as usize] = *force);
    }

    /// Finds the end of a sub-step of a `duration`, of a shorter one if this is too long where the program chooses; returns how long it is [s].
    fn find_end(&mut self, step: &mut StepContext, time: f64, mut duration: f64) -> Result<f64, StepError> {
        let model = step.model;
        let shortest = model.step_time / f64::from(model.params.implicit.most_substeps);
        let before = step.report;
        loop {
            step.boundary.advance(model, step.environment, time, duration);
            let h = self.reach_back(duration, self.memory.last);
            let Self { unknowns, particles, x, v, start: [start, speed], memory, .. } = self;
            let parting = model.params.collision.parting_speed * duration;
            let goal = Goal { time, duration, h, x, v, start, speed, parting, contacts: &memory.contacts };
            unknowns.solve(step, particles, &goal)?;
            if self.equal.is_some() {
                return Ok(duration);
            }
            let error = self.error(duration) / (model.tolerance * self.edge);
            self.memory.next = duration * (0.9 / error.max(1e-6).sqrt()).clamp(0.3, 2.0);
            if (error <= 2.0 && step.report.converged == before.converged) || duration <= 2.0 * shortest {
                return Ok(duration);
            }
            // Tried in vain: it cost iterations and nothing else.
            step.report = StepReport { iterations: step.report.iterations, ..before };
            duration = self.memory.next.min(0.5 * duration).max(shortest);
        }
    }

    /// How far positions differ from those of the velocities at the start [m], in the mean of squares: what a sub-step cannot know.
    fn error(&self, duration: f64) -> f64 {
        let changes = self.unknowns.end.iter().zip(&self.v).zip(&self.particles.mass);
        let (sum, mass) = changes.fold((0.0, 0.0), |(sum, all), ((end, v), mass)| {
            (sum + mass * (*end - *v).xyz().length_squared(), all + mass)
        });
        duration * (sum / mass.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// Sets x̃ and ṽ; returns h. `before` is how long the sub-step before was, 0 if there was none.
    fn reach_back(&mut self, duration: f64, before: f64) -> f64 {
        let [x, v] = &mut self.start;
        if self.order == Order::First || before == 0.0 {
            x.copy_from_slice(&self.x);
            v.copy_from_slice(&self.v);
            return duration;
        }
        let (now, then, h) = bdf2_weights(duration, before);
        let [x_past, v_past] = &self.past;
        for (start, now_is, past) in [(x, &self.x, x_past), (v, &self.v, v_past)] {
            for ((s, n), p) in start.iter_mut().zip(now_is).zip(past) {
                *s = *n * now - *p * then;
            }
        }
        h
    }

    /// Whether a sub-step can be trusted: not one in which something touches and an edge is strained much further than it was, or whose contacts
    /// have not found their forces.
    fn judge(&mut self, step: &mut StepContext) -> Verdict {
        let (model, params) = (step.model, &step.model.params.implicit);
        if !self.unknowns.touch.any() {
            return Verdict::Good;
        }
        let (jump, edge) = jump(model, &self.before, &self.after);
        let jumps = jump > params.strain_jump;
        if (jumps || !step.report.converged) && self.retry.is_worth_while(model, jump) {
            return Verdict::Lost;
        }
        let (most, strained) = largest(model, |e| strain(model, &self.after, e).abs());
        if most > params.largest_strain {
            tell(step, &self.after, strained, params.largest_strain);
        } else if jumps {
            tell(step, &self.after, edge, params.strain_jump);
        }
        Verdict::Good
    }

    /// Moves to the end of a sub-step; contacts of features correct what the system has left of them.
    fn go_to_end(&mut self, step: &mut StepContext, duration: f64) {
        self.move_on(step.boundary, &step.model.params, duration);
        let Some(pipeline) = &mut step.pipeline else { return };
        self.particles.gather(&self.x, &mut self.after);
        let params = &step.model.params.implicit;
        let alone = step.model.bodies.is_empty();
        for _ in 0..if alone { params.contact_sweeps } else { params.contact_sweeps_with_bodies } {
            let flight = &mut self.flight;
            let moved = |i: usize, way: DVec3| flight[i] += Vec4::from(way / duration);
            if !pipeline.project_contacts(&self.before, &mut self.after, duration, moved) {
                break;
            }
        }
        rigid_bodies::stiffen(step.model, &mut self.after, &mut self.flight);
        self.press(step, duration);
    }

    /// Adds up what bodies have pushed in a sub-step of a `duration` [s], in the system and after it.
    fn press(&mut self, step: &mut StepContext, duration: f64) {
        let Self { unknowns, particles, pushed, .. } = self;
        pushed.fill(0.0);
        unknowns.touch.pushes_of_bodies(|i, force| pushed[i] += force);
        for (pressed, place) in step.pressed.iter_mut().zip(&particles.place) {
            *pressed += pushed[*place as usize] * duration;
        }
        pressing::add_of_features(step, duration, |_| 1.0);
    }

    /// x⁺ = x̃ + h v⁺.
    fn move_on(&mut self, boundary: &Boundary, params: &Params, duration: f64) {
        for (past, now) in self.past.iter_mut().zip([&self.x, &self.v]) {
            past.iter_mut().zip(now).for_each(|(past, now)| *past = *now);
        }
        let ends = self.unknowns.ends(&self.start[0]);
        self.start[0].copy_from_slice(&self.x);
        self.x.copy_from_slice(ends);
        self.v.copy_from_slice(&self.unknowns.end);
        self.touching = self.unknowns.touch.remember(&mut self.memory.contacts);
        if self.order == Order::Second {
            self.forget_impacts(duration);
        }
        let parting = params.collision.parting_speed * duration;
        let Self { particles, start: [before, _], x, v, .. } = self;
        keep_out(boundary, params.implicit.allowed_depth, particles, before, [x, v], (duration, parting));
    }

    /// An impact is no smooth past: whoever is held moves on from there as if it always had, or BDF2 would throw it back.
    fn forget_impacts(&mut self, duration: f64) {
        self.held.fill(DMat3::ZERO);
        self.unknowns.touch.hold(duration, &mut self.v, |i, held| self.held[i] = held);
        let [x_past, v_past] = &mut self.past;
        for (i, held) in self.held.iter().enumerate().filter(|(_, held)| **held != DMat3::ZERO) {
            let (x, v) = (self.x[i].xyz(), self.v[i].xyz());
            let (x_then, v_then) = (x_past[i].xyz(), v_past[i].xyz());
            v_past[i] = (v_then + *held * (v - v_then)).into();
            x_past[i] = (x_then + *held * (x - v * duration - x_then)).into();
        }
    }
}

impl Integrator for Implicit {
    fn begin(&mut self, step: &mut StepContext, _: &State) -> Result<(), StepError> {
        self.unknowns.pull.renew_air(&step.environment.air);
        self.retry = Retry::default();
        Ok(())
    }

    fn load(&mut self, step: &mut StepContext, state: &State) {
        let model = step.model;
        self.particles.load(&state.positions, &mut self.x);
        self.particles.load(&state.velocities, &mut self.v);
        for node in model.cloth_particle_count()..model.particle_count() {
            (self.after[node], self.flight[node]) =
                (state.positions[node].into(), state.velocities[node].into());
        }
        if let Memory::Implicit(memory) = &state.memory {
            (self.memory.last, self.memory.next) = (memory.last, memory.next);
            self.memory.contacts.clone_from(&memory.contacts);
            for (own, past) in self.past.iter_mut().zip(&memory.past) {
                own.iter_mut().zip(past).for_each(|(own, past)| *own = (*past).into());
            }
        }
        let params = &model.params.implicit;
        self.equal = match (model.substeps, model.step) {
            (Some(count), _) => Some(count),
            (None, StepChoice::Usual) => {
                let longest =
                    if model.bodies.is_empty() { params.longest_substep } else { params.longest_with_bodies };
                Some((model.step_time / longest - 1e-9).ceil().max(1.0) as u32)
            }
            (None, StepChoice::Auto) => None,
        };
        (self.retry.taken, self.retry.by_ccd) = (0, (0.0, 0));
        self.equal = self.equal.map(|count| count << self.retry.doublings);
        self.memory.next /= f64::from(1 << self.retry.doublings);
    }

    /// How long a sub-step can be shows when it has been solved, without contacts of features as yet.
    fn plan(&mut self, step: &mut StepContext, time: f64, left: f64) -> Result<Plan, StepError> {
        let whole = step.model.step_time;
        let count = match self.equal {
            Some(count) => count - self.retry.taken,
            None => (left
                / self.memory.next.max(whole / f64::from(step.model.params.implicit.most_substeps)).min(left))
            .ceil() as u32,
        };
        let duration = if count <= 1 { left } else { left / f64::from(count) };
        self.particles.gather(&self.x, &mut self.before);
        self.renew_outside(step);
        let h = self.find_end(step, time, duration)?;
        self.memory.last = h;
        if step.pipeline.is_some() {
            let n = step.model.cloth_particle_count();
            self.before[n..].copy_from_slice(&self.after[n..]);
            rigid_bodies::fly(step, &mut self.after, &mut self.flight, h);
        }
        Ok(Plan { h, count: if h == left { 1 } else { count.max(2) }, renewed_after: Some(1) })
    }

    fn motion(&mut self, _: &Model, positions: &mut [DVec3], ways: &mut [DVec3]) {
        let Self { unknowns, particles, start: [start, _], before, after, .. } = self;
        particles.gather(unknowns.ends(start), after);
        for ((from, to), (position, way)) in before.iter().zip(&*after).zip(positions.iter_mut().zip(ways)) {
            (*position, *way) = (from.xyz(), (*to - *from).xyz());
        }
    }

    fn predict(&mut self, _: &mut StepContext, _: &Substep) {}

    /// Contacts in the system: those of features too, where any of them pushes.
    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError> {
        let Substep { time, h: duration, .. } = *substep;
        let Self { unknowns, particles, x, v, start: [start, speed], memory, .. } = self;
        let parting = step.model.params.collision.parting_speed * duration;
        let goal =
            Goal { time, duration, h: unknowns.h, x, v, start, speed, parting, contacts: &memory.contacts };
        let features = |pipeline| features::contacts(pipeline, step.model, particles, x, duration);
        let pushed = unknowns.add_features(&goal, step.pipeline.as_deref().into_iter().flat_map(features));
        unknowns.keep_clear(step, particles, &goal, pushed)?;
        if step.model.newton == 1 {
            unknowns.straighten(step, particles, &goal)?;
        }
        Ok(())
    }

    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict {
        step.observer.enter("move");
        self.retry.taken += 1;
        self.keep_undo(step, substep.time);
        self.go_to_end(step, substep.h);
        if step.pipeline.is_some() { self.judge(step) } else { Verdict::Good }
    }

    /// Solves the sub-step again, with what CCD has found in the system, which has no free bodies.
    fn answer_learned(&mut self, step: &mut StepContext, window: &Window, _: bool) -> bool {
        let Self { unknowns, particles, start: [_, speed], undo, .. } = self;
        let (Undo { time, x, v, start, contacts, .. }, duration) = (&*undo, window.h);
        let parting = step.model.params.collision.parting_speed * duration;
        let goal = Goal { time: *time, duration, h: unknowns.h, x, v, start, speed, parting, contacts };
        let alone = step.model.bodies.is_empty();
        let Some(pipeline) = step.pipeline.as_deref().filter(|pipeline| alone && !pipeline.is_tangled())
        else {
            return false;
        };
        unknowns.touch.drop_features();
        let pushed =
            unknowns.add_features(&goal, features::contacts(pipeline, step.model, particles, x, duration));
        let before = step.report;
        if !pushed || unknowns.keep_clear(step, particles, &goal, true).is_err() || !unknowns.holds {
            // The solution before stands, whose contacts had found their forces; CCD pushes.
            step.report = StepReport { iterations: step.report.iterations, ..before };
            return false;
        }
        self.take_back(step);
        self.go_to_end(step, duration);
        true
    }

    /// What CCD has strained is no better than what the system has.
    fn mend(&mut self, step: &mut StepContext, _: f64) -> Verdict {
        let (jump, edge) = self.retry.by_ccd;
        let allowed = step.model.params.implicit.strain_jump;
        if jump <= allowed {
            return Verdict::Good;
        }
        if self.retry.is_worth_while(step.model, jump) {
            return Verdict::Lost;
        }
        tell(step, &self.after, edge, allowed);
        Verdict::Good
    }

    fn again(&mut self) {
        self.retry.doublings = if self.retry.forced { 0 } else { self.retry.doublings + 1 };
    }

    fn ends(&mut self, _: &Model, ends: &mut [DVec3]) {
        ends.iter_mut().zip(&self.after).for_each(|(end, x)| *end = x.xyz());
    }

    fn accept(&mut self, model: &Model, ends: &[DVec3], window: &Window) {
        let duration = window.h;
        if ends.iter().zip(&self.after).any(|(end, x)| *end != x.xyz()) {
            self.after.iter_mut().zip(ends).take(self.x.len()).for_each(|(x, end)| *x = (*end).into());
            let jump = jump(model, &self.before, &self.after);
            if jump.0 > self.retry.by_ccd.0 {
                self.retry.by_ccd = jump;
            }
        }
        for (place, end) in self.particles.place.iter().zip(ends) {
            let k = *place as usize;
            let way = *end - self.x[k].xyz();
            if way != DVec3::ZERO {
                self.x[k] = (*end).into();
                self.v[k] += Vec4::from(way / duration);
                // An impact is no smooth past: along the push, the past becomes one that leads here, but moves no further than the push did.
                if self.order == Order::Second {
                    let (along, far) = (way.normalize_or_zero(), way.length());
                    let past = [(self.x[k] - self.v[k] * duration, far), (self.v[k], far / duration)];
                    for (own, (past, most)) in self.past.iter_mut().zip(past) {
                        let lacks = along.dot((past - own[k]).xyz());
                        own[k] += Vec4::from(along * lacks.clamp(0.0, most));
                    }
                }
            }
        }
        for (node, end) in ends.iter().enumerate().skip(model.cloth_particle_count()) {
            self.flight[node] += Vec4::from((*end - self.after[node].xyz()) / duration);
            self.after[node] = (*end).into();
        }
        rigid_bodies::stiffen_velocities(model, &self.after, &mut self.flight);
    }

    fn store(&mut self, step: &mut StepContext, state: &mut State) {
        self.particles.store(&self.x, &mut state.positions);
        self.particles.store(&self.v, &mut state.velocities);
        for node in step.model.cloth_particle_count()..step.model.particle_count() {
            (state.positions[node], state.velocities[node]) =
                (self.after[node].xyz(), self.flight[node].xyz());
        }
        if let Memory::Implicit(memory) = &mut state.memory {
            (memory.last, memory.next) = (self.memory.last, self.memory.next);
            memory.contacts.copy_from_slice(&self.memory.contacts);
            for (past, own) in memory.past.iter_mut().zip(&self.past) {
                past.iter_mut().zip(own).for_each(|(past, own)| *past = own.xyz());
            }
        }
    }

    fn touching(&self) -> u32 {
        self.touching
    }
}

/// By how much more an edge is strained than `before`, at most, and which [1].
pub(super) fn jump(model: &Model, before: &[Vec4], after: &[Vec4]) -> (f64, usize) {
    largest(model, |e| strain(model, after, e).abs() - strain(model, before, e).abs())
}

/// Tells that an edge is strained further than is allowed.
fn tell(step: &mut StepContext, positions: &[Vec4], edge: usize, tolerance: f64) {
    let (ends, strain) = (step.model.edges[edge], strain(step.model, positions, edge).abs());
    step.report.fall_short(Shortfall::Strain { ends, strain, tolerance });
}

/// The edge of which something is largest, and how large; at least 0.
pub(super) fn largest(model: &Model, of: impl Fn(usize) -> f64) -> (f64, usize) {
    let edges = (0..model.edges.len()).map(|edge| (of(edge), edge));
    edges.fold((0.0, 0), |most, own| if own.0 > most.0 { own } else { most })
}

/// The strain of an edge [1].
pub(super) fn strain(model: &Model, positions: &[Vec4], edge: usize) -> f64 {
    let [a, b] = model.edges[edge].map(|i| positions[i as usize].xyz());
    a.distance(b) / model.rest_lengths[edge] - 1.0
}

/// Weights of now and of one sub-step ago in x̃ and ṽ, and h [s], for a sub-step after one of the duration `before`, 0 if there was none.
pub(super) fn bdf2_weights(duration: f64, before: f64) -> (f64, f64, f64) {
    if before == 0.0 {
        return (1.0, 0.0, duration);
    }
    let ratio = duration / before;
    let whole = 1.0 + 2.0 * ratio;
    ((1.0 + ratio).powi(2) / whole, ratio * ratio / whole, duration * (1.0 + ratio) / whole)
}
