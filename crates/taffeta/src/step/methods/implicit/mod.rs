//! Implicit integration: backward Euler (P4; Baraff & Witkin 1998) and BDF2 (P3 eq. 8 and 9; Choi & Ko 2002).
//!
//! Both ask for velocities v⁺ with M v⁺ = M ṽ + h f(x⁺, v⁺) at the end x⁺ = x̃ + h v⁺. For backward Euler x̃ and ṽ are the state and h is the
//! sub-step; for BDF2 they reach back one sub-step, with the weights of a sub-step that may change (P3 has a constant one): ω is the
//! sub-step over the one before, x̃ = ((1+ω)² x - ω² x⁻)/(1+2ω), h = (1+ω)/(1+2ω) of the sub-step, which are 4/3, 1/3 and 2/3 for equal ones.
//! The first sub-step has no past and is one of backward Euler. How v⁺ is found stands in `newton.rs`.

mod contact;
mod features;
mod forces;
mod newton;
mod particles;

use crate::collide::{CcdStats, ContactPipeline};
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::StepChoice;
use crate::model::{Model, State};
use crate::step::report::{StepError, StepReport};
use crate::step::rigid_bodies;
use contact::ContactRows;
use newton::{Goal, Unknowns};
use particles::Particles;
use std::time::Instant;

/// The longest sub-step that is taken unasked [s]: implicit methods are stable at any, but the shorter the less they damp.
const LONGEST_SUBSTEP: f64 = 1.0 / 90.0;
/// The same where bodies move freely: cloth learns only in the next sub-step how heavy they are.
const LONGEST_WITH_BODIES: f64 = 1.0 / 2000.0;
/// Sweeps over contacts of features after a sub-step.
const CONTACT_SWEEPS: u32 = 8;
/// The most sub-steps that a step is cut into where the program chooses.
const MOST_SUBSTEPS: u32 = 4096;

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
    particles: Particles,
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
    /// Velocities of the particles of free bodies, in the order of the model [m/s].
    flight: Vec<Vec4>,
    /// Mean length of an edge [m].
    edge: f64,
}

/// What is remembered from step to step, in `State::memory`.
struct Memory<'a> {
    contacts: &'a mut [f64],
    past: &'a mut [f64],
    /// How long the last sub-step was, 0 before the first, and how long the next is to be [s].
    last: f64,
    next: f64,
    times: &'a mut [f64],
}

impl<'a> Memory<'a> {
    fn read(numbers: &'a mut [f64], contacts: usize) -> Self {
        let (contacts, rest) = numbers.split_at_mut(contacts);
        let (times, past) = rest.split_at_mut(2);
        Self { contacts, past, last: times[0], next: times[1], times }
    }
}

impl Implicit {
    /// Room for a model.
    pub fn new(model: &Model, order: Order) -> Self {
        let particles = Particles::new(model);
        let room = vec![Vec4::ZERO; model.cloth_particle_count()];
        let all = vec![Vec4::ZERO; model.particle_count()];
        let past = if order == Order::Second { room.clone() } else { Vec::new() };
        let edges = model.rest_lengths.iter().chain(&model.springs.rest_length);
        let count = (model.rest_lengths.len() + model.springs.rest_length.len()).max(1);
        Self {
            order,
            unknowns: Unknowns::new(model, &particles),
            particles,
            x: room.clone(),
            v: room.clone(),
            past: [past.clone(), past],
            held: vec![DMat3::ZERO; room.len()],
            start: [room.clone(), room],
            before: all.clone(),
            flight: all.clone(),
            after: all,
            edge: edges.sum::<f64>() / count as f64,
        }
    }

    /// How many numbers are remembered from step to step: contacts, two times, and for BDF2 the past.
    pub fn memory(&self, model: &Model) -> usize {
        let past = if self.order == Order::Second { 6 * model.cloth_particle_count() } else { 0 };
        ContactRows::memory(model) + 2 + past
    }

    /// Moves `state` on by one step of the model.
    pub fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        mut pipeline: Option<&mut ContactPipeline>,
    ) -> Result<StepReport, StepError> {
        let mut report =
            StepReport { converged: true, shortest_substep: f64::INFINITY, ..StepReport::default() };
        self.unknowns.pull.renew_air(model);
        self.particles.load(&state.positions, &mut self.x);
        self.particles.load(&state.velocities, &mut self.v);
        for node in model.cloth_particle_count()..model.particle_count() {
            (self.after[node], self.flight[node]) =
                (state.positions[node].into(), state.velocities[node].into());
        }
        let mut memory = Memory::read(&mut state.memory, ContactRows::memory(model));
        recall(memory.past, &mut self.past);
        let equal = match (model.substeps, model.step) {
            (Some(count), _) => Some(count),
            (None, StepChoice::Usual) => {
                let longest = if model.bodies.is_empty() { LONGEST_SUBSTEP } else { LONGEST_WITH_BODIES };
                Some((model.step_time / longest - 1e-9).ceil().max(1.0) as u32)
            }
            (None, StepChoice::Auto) => None,
        };
        let mut done = 0.0;
        while done < model.step_time {
            let left = model.step_time - done;
            let count = match equal {
                Some(count) => count - report.substeps,
                None => (left / memory.next.max(model.step_time / f64::from(MOST_SUBSTEPS)).min(left)).ceil()
                    as u32,
            };
            let duration = if count <= 1 { left } else { left / f64::from(count) };
            let time = state.time + done;
            self.particles.gather(&self.x, &mut self.before);
            self.find_end(model, time, duration, equal.is_none(), &mut memory, &mut report)?;
            self.keep_clear(pipeline.as_deref_mut(), model, time, &memory, &mut report)?;
            let clock = Instant::now();
            report.contacts = self.move_on(memory.last, &mut memory);
            report.stages.add("move", clock.elapsed().as_secs_f64());
            if let Some(pipeline) = &mut pipeline {
                let clock = Instant::now();
                report.settled += self.keep_apart(pipeline, model, time, memory.last);
                report.contacts += pipeline.touching();
                report.stages.add("guard", clock.elapsed().as_secs_f64());
            }
            // The last sub-step ends exactly where the step ends.
            done = if memory.last == left { model.step_time } else { done + memory.last };
        }
        memory.times.copy_from_slice(&[memory.last, memory.next]);
        write_down(&self.past, memory.past);
        self.particles.store(&self.x, &mut state.positions);
        self.particles.store(&self.v, &mut state.velocities);
        for node in model.cloth_particle_count()..model.particle_count() {
            (state.positions[node], state.velocities[node]) =
                (self.after[node].xyz(), self.flight[node].xyz());
        }
        Ok(report)
    }

    /// Finds the end of a sub-step, of a shorter one if this is too long; `memory.last` tells how long it is.
    fn find_end(
        &mut self,
        model: &Model,
        time: f64,
        mut duration: f64,
        choose: bool,
        memory: &mut Memory,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let shortest = model.step_time / f64::from(MOST_SUBSTEPS);
        let mut before = StepReport { ..*report };
        loop {
            let h = self.reach_back(duration, memory.last);
            let Self { unknowns, particles, x, v, start: [start, speed], .. } = self;
            let goal = Goal { time, duration, h, x, v, start, speed, contacts: memory.contacts };
            unknowns.solve(model, particles, &goal, report)?;
            if !choose {
                break;
            }
            let error = self.error(duration) / (model.tolerance * self.edge);
            memory.next = duration * (0.9 / error.max(1e-6).sqrt()).clamp(0.3, 2.0);
            if (error <= 2.0 && report.converged == before.converged) || duration <= 2.0 * shortest {
                break;
            }
            // Tried in vain: it cost iterations and nothing else.
            before.iterations = report.iterations;
            before.stages = report.stages;
            *report = StepReport { ..before };
            duration = memory.next.min(0.5 * duration).max(shortest);
        }
        report.substeps += 1;
        report.shortest_substep = report.shortest_substep.min(duration);
        memory.last = duration;
        Ok(())
    }

    /// Lets the contact pipeline find what meets on the way, and settles contacts in the system: those of features too, where any of them pushes.
    fn keep_clear(
        &mut self,
        pipeline: Option<&mut ContactPipeline>,
        model: &Model,
        time: f64,
        memory: &Memory,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let duration = memory.last;
        let pipeline = pipeline.map(|pipeline| {
            let clock = Instant::now();
            self.meet(pipeline, model, time, duration);
            report.stages.add("guard", clock.elapsed().as_secs_f64());
            &*pipeline
        });
        let Self { unknowns, particles, x, v, start: [start, speed], .. } = self;
        let goal = Goal { time, duration, h: unknowns.h, x, v, start, speed, contacts: memory.contacts };
        // Around what intersects, contacts would hold both sides where they are.
        let clean = pipeline.into_iter().filter(|pipeline| !pipeline.is_tangled());
        let features = clean.flat_map(|pipeline| features::contacts(pipeline, model, particles, x, duration));
        unknowns.keep_clear(model, particles, &goal, features, report)
    }

    /// Lets the contact pipeline find what meets on the way to the end so far.
    fn meet(&mut self, pipeline: &mut ContactPipeline, model: &Model, time: f64, duration: f64) {
        let n = model.cloth_particle_count();
        self.before[n..].copy_from_slice(&self.after[n..]);
        rigid_bodies::fly(model, &mut self.after, &mut self.flight, duration);
        let Self { unknowns, particles, start: [start, _], before, after, .. } = self;
        particles.gather(unknowns.ends(start), after);
        let ways = before.iter().zip(&*after).map(|(from, to)| (*to - *from).xyz());
        pipeline.begin(model, [time, time + duration], before.iter().map(|x| x.xyz()), ways);
    }

    /// Answers what is left of contacts of features in the sub-step that has just been taken, in position and velocity, and lets the contact pipeline
    /// prove it.
    fn keep_apart(
        &mut self,
        pipeline: &mut ContactPipeline,
        model: &Model,
        time: f64,
        duration: f64,
    ) -> CcdStats {
        let n = model.cloth_particle_count();
        let before = &self.before;
        self.particles.gather(&self.x, &mut self.after);
        pipeline.begin_substep(model, [time, time + duration]);
        for _ in 0..CONTACT_SWEEPS {
            let flight = &mut self.flight;
            if !pipeline.project_contacts(before, &mut self.after, duration, |i, way| {
                flight[i] += Vec4::from(way / duration)
            }) {
                break;
            }
        }
        rigid_bodies::stiffen(model, &mut self.after, &mut self.flight);
        let settled = pipeline.resolve(self.after.iter().map(|x| x.xyz()));
        for (place, end) in self.particles.place.iter().zip(pipeline.ends()) {
            let k = *place as usize;
            let way = *end - self.x[k].xyz();
            if way != DVec3::ZERO {
                self.x[k] = (*end).into();
                self.v[k] += Vec4::from(way / duration);
                // An impact is no smooth past: that gets as much of the push as it lacks.
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
        for (node, end) in pipeline.ends().iter().enumerate().skip(n) {
            self.flight[node] += Vec4::from((*end - self.after[node].xyz()) / duration);
            self.after[node] = (*end).into();
        }
        rigid_bodies::stiffen_velocities(model, &self.after, &mut self.flight);
        settled
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

    /// x⁺ = x̃ + h v⁺; returns how many points touch.
    fn move_on(&mut self, duration: f64, memory: &mut Memory) -> u32 {
        for (past, now) in self.past.iter_mut().zip([&self.x, &self.v]) {
            past.iter_mut().zip(now).for_each(|(past, now)| *past = *now);
        }
        self.x.copy_from_slice(self.unknowns.ends(&self.start[0]));
        self.v.copy_from_slice(&self.unknowns.end);
        let touch = &self.unknowns.touch;
        let touching = touch.remember(memory.contacts);
        if self.order == Order::Second {
            self.forget_impacts(duration);
        }
        self.unknowns.touch.keep_out(&self.particles, &mut self.x, &mut self.v, duration);
        touching
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

/// Weights of now and of one sub-step ago in x̃ and ṽ, and h [s], for a sub-step after one of the duration `before`, 0 if there was none.
pub(super) fn bdf2_weights(duration: f64, before: f64) -> (f64, f64, f64) {
    if before == 0.0 {
        return (1.0, 0.0, duration);
    }
    let ratio = duration / before;
    let whole = 1.0 + 2.0 * ratio;
    ((1.0 + ratio).powi(2) / whole, ratio * ratio / whole, duration * (1.0 + ratio) / whole)
}

fn recall(numbers: &[f64], past: &mut [Vec<Vec4>; 2]) {
    for (place, n) in past.iter_mut().flatten().zip(numbers.chunks_exact(3)) {
        *place = Vec4([n[0], n[1], n[2], 0.0]);
    }
}

fn write_down(past: &[Vec<Vec4>; 2], numbers: &mut [f64]) {
    for (n, place) in numbers.chunks_exact_mut(3).zip(past.iter().flatten()) {
        n.copy_from_slice(&place.0[..3]);
    }
}
