//! Implicit integration: backward Euler (P4; Baraff & Witkin 1998) and BDF2 (P3 eq. 8 and 9; Choi & Ko 2002).
//!
//! Both ask for velocities v⁺ with M v⁺ = M ṽ + h f(x⁺, v⁺) at the end x⁺ = x̃ + h v⁺. For backward Euler x̃ and ṽ are the state and h is the
//! sub-step; for BDF2 they reach back one sub-step, with the weights of a sub-step that may change (P3 has a constant one): ω is the
//! sub-step over the one before, x̃ = ((1+ω)² x - ω² x⁻)/(1+2ω), h = (1+ω)/(1+2ω) of the sub-step, which are 4/3, 1/3 and 2/3 for equal ones.
//! The first sub-step has no past and is one of backward Euler. Linearised around positions y (P4: one Newton step, y = x) that is
//! (M + h C + h² K) v⁺ = M ṽ + h (f(y) + K (y - x̃)): one sparse system for the velocities themselves.

use super::implicit_pull::{Around, Pull};
use super::implicit_touch::{Reach, Touch};
use super::report::{StepError, StepReport};
use crate::math::{DVec3, Pose, Vec4};
use crate::model::{Model, State};
use crate::solve::block_matrix::BlockMatrix;
use crate::solve::pcg::{Error, Params, Pcg};
use std::time::Instant;

/// The longest sub-step that is taken unasked [s]: implicit methods are stable at any, but the shorter the less they damp.
const LONGEST_SUBSTEP: f64 = 1.0 / 120.0;
/// Residual of the linear system at which it is taken for solved, relative to that of unchanged velocities (P4's stopping rule).
const TOLERANCE: f64 = 1e-3;
const MOST_ITERATIONS: u32 = 1000;
/// How often contacts are asked again whether they push, stick or slide.
const MOST_PASSES: u32 = 4;

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
    pull: Pull,
    touch: Touch,
    matrix: BlockMatrix,
    pcg: Pcg,
    pinned: Vec<bool>,
    pin_poses: Vec<Pose>,
    x: Vec<Vec4>,
    v: Vec<Vec4>,
    /// Positions and velocities one sub-step ago, for BDF2.
    past: [Vec<Vec4>; 2],
    /// x̃ and ṽ.
    start: [Vec<Vec4>; 2],
    /// Velocities at the end, as far as they are known.
    end: Vec<Vec4>,
    rhs: Vec<Vec4>,
    diagonal: Vec<f64>,
}

/// A sub-step: from when on and how long [s], and the duration h by which velocities lead to the end [s].
#[derive(Debug, Clone, Copy)]
struct SubStep {
    time: f64,
    duration: f64,
    h: f64,
}

impl Implicit {
    /// Room for a model.
    pub fn new(model: &Model, order: Order) -> Self {
        let (pull, pattern) = Pull::new(model);
        let room = vec![Vec4::ZERO; model.particle_count()];
        let past = if order == Order::Second { room.clone() } else { Vec::new() };
        let params = Params { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, ..Params::default() };
        Self {
            order,
            pull,
            touch: Touch::new(model),
            pcg: Pcg::new(&pattern, params),
            matrix: BlockMatrix::new(pattern),
            pinned: model.inverse_mass.iter().map(|w| *w == 0.0).collect(),
            pin_poses: Vec::with_capacity(model.pins.len()),
            x: room.clone(),
            v: room.clone(),
            past: [past.clone(), past],
            start: [room.clone(), room.clone()],
            end: room.clone(),
            diagonal: vec![0.0; room.len()],
            rhs: room,
        }
    }

    /// How many numbers are remembered from step to step: contacts, and for BDF2 the past and how long ago it was.
    pub fn memory(&self, model: &Model) -> usize {
        let past = if self.order == Order::Second { 6 * model.particle_count() + 1 } else { 0 };
        Touch::memory(model) + past
    }

    /// Moves `state` on by one step of the model.
    pub fn step(&mut self, model: &Model, state: &mut State) -> Result<StepReport, StepError> {
        let asked = (model.step_time / LONGEST_SUBSTEP - 1e-9).ceil().max(1.0) as u32;
        let count = model.substeps.unwrap_or(asked);
        let duration = model.step_time / f64::from(count);
        let mut report = StepReport {
            substeps: count,
            converged: true,
            shortest_substep: duration,
            ..StepReport::default()
        };
        load(&state.positions, &mut self.x);
        load(&state.velocities, &mut self.v);
        let (contacts, past) = state.memory.split_at_mut(Touch::memory(model));
        let mut before = self.recall(past);
        for k in 0..count {
            let time = state.time + f64::from(k) * duration;
            let h = self.reach_back(duration, before);
            let substep = SubStep { time, duration, h };
            self.solve(model, &substep, contacts, &mut report)?;
            report.contacts = self.move_on(model, &substep, contacts, &mut report);
            before = duration;
        }
        self.write_down(past, before);
        store(&self.x, &mut state.positions);
        store(&self.v, &mut state.velocities);
        Ok(report)
    }

    /// Sets x̃ and ṽ; returns h. `before` is how long the sub-step before was, 0 if there was none.
    fn reach_back(&mut self, duration: f64, before: f64) -> f64 {
        let [x, v] = &mut self.start;
        if self.order == Order::First || before == 0.0 {
            x.copy_from_slice(&self.x);
            v.copy_from_slice(&self.v);
            return duration;
        }
        let ratio = duration / before;
        let (now, then) = ((1.0 + ratio).powi(2) / (1.0 + 2.0 * ratio), ratio * ratio / (1.0 + 2.0 * ratio));
        let [x_past, v_past] = &self.past;
        for (start, now_is, past) in [(x, &self.x, x_past), (v, &self.v, v_past)] {
            for ((s, n), p) in start.iter_mut().zip(now_is).zip(past) {
                *s = *n * now - *p * then;
            }
        }
        duration * (1.0 + ratio) / (1.0 + 2.0 * ratio)
    }

    /// Finds the velocities at the end.
    fn solve(
        &mut self,
        model: &Model,
        substep: &SubStep,
        contacts: &[f64],
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let clock = Instant::now();
        self.assemble(model, substep);
        report.stages.add("assemble", clock.elapsed().as_secs_f64());

        let clock = Instant::now();
        self.touch.move_bodies(model, substep.time, substep.duration);
        let reach = Reach { h: substep.h, x: &self.x, start: &self.start[0] };
        // Whoever falls on may touch, whoever rests goes on touching.
        let fall = Vec4::from(model.gravity * substep.duration);
        self.end.iter_mut().zip(&self.v).for_each(|(end, v)| *end = *v + fall);
        self.touch.begin(model, &reach, &self.end, contacts, &self.matrix);
        report.stages.add("contact", clock.elapsed().as_secs_f64());

        self.end.copy_from_slice(&self.v);
        self.lead_pins(model, substep);
        let mut scale = 0.0;
        for _ in 0..MOST_PASSES {
            let clock = Instant::now();
            self.touch.press(substep.h, &mut self.matrix, &mut self.rhs);
            let prepared = self.pcg.prepare(&self.matrix, &self.pinned);
            prepared.map_err(|error| StepError::Unsolvable { reason: error.to_string() })?;
            report.stages.add("precondition", clock.elapsed().as_secs_f64());

            let clock = Instant::now();
            match self.pcg.improve(&self.matrix, &self.rhs, &mut self.end, scale) {
                Ok(info) => {
                    report.iterations += info.iterations;
                    scale = info.scale;
                }
                Err(Error::NotConverged { iterations, .. }) => {
                    report.iterations += iterations;
                    report.converged = false;
                }
                Err(error) => return Err(StepError::Unsolvable { reason: error.to_string() }),
            }
            report.stages.add("solve", clock.elapsed().as_secs_f64());

            let clock = Instant::now();
            self.touch.lift(&mut self.matrix, &mut self.rhs);
            let reach = Reach { h: substep.h, x: &self.x, start: &self.start[0] };
            let holds = self.touch.judge(model, &reach, &self.end, contacts, &self.matrix);
            report.stages.add("contact", clock.elapsed().as_secs_f64());
            if std::env::var("DBG").is_ok() {
                let most = self.end.iter().map(|v| v.xyz().length()).fold(0.0, f64::max);
                eprintln!("t {:.4} its {} most v {most:.4} holds {holds} scale {scale:.3e} {}", substep.time, report.iterations, self.touch.describe());
            }
            if holds {
                break;
            }
        }
        Ok(())
    }

    /// M (1 + h r) + h C + h² K, and M ṽ + h (f + K (y - x̃)); r is the rate at which all velocity is lost to the air.
    fn assemble(&mut self, model: &Model, substep: &SubStep) {
        let h = substep.h;
        let steady = (model.gravity + model.air.damping * model.air.wind) * h;
        let [start, speed] = &self.start;
        let sides = self.diagonal.iter_mut().zip(&mut self.rhs);
        for (((diagonal, rhs), mass), speed) in sides.zip(&model.mass).zip(speed) {
            *diagonal = mass * (1.0 + h * model.air.damping);
            *rhs = (*speed + steady.into()) * *mass;
        }
        self.matrix.set_diagonal(&self.diagonal);
        let around = Around { h, time: substep.time + substep.duration, y: &self.x, v: &self.v, start };
        self.pull.assemble(model, &around, &mut self.matrix, &mut self.rhs);
    }

    /// Velocities of pinned particles lead them to where they are to be.
    fn lead_pins(&mut self, model: &Model, substep: &SubStep) {
        self.pin_poses.clear();
        let end = substep.time + substep.duration;
        self.pin_poses.extend(model.pins.iter().map(|pin| pin.motion.at(end)));
        for (pin, moved) in model.pins.iter().zip(&self.pin_poses) {
            for (&i, &start) in pin.particles.iter().zip(&pin.start) {
                let target = Vec4::from(pin.place(start, moved));
                self.end[i as usize] = (target - self.start[0][i as usize]) * (1.0 / substep.h);
            }
        }
    }

    /// x⁺ = x̃ + h v⁺; returns how many points touch.
    fn move_on(
        &mut self,
        model: &Model,
        substep: &SubStep,
        contacts: &mut [f64],
        report: &mut StepReport,
    ) -> u32 {
        let clock = Instant::now();
        for (past, now) in self.past.iter_mut().zip([&self.x, &self.v]) {
            past.iter_mut().zip(now).for_each(|(past, now)| *past = *now);
        }
        for ((x, start), v) in self.x.iter_mut().zip(&self.start[0]).zip(&self.end) {
            *x = *start + *v * substep.h;
        }
        self.v.copy_from_slice(&self.end);
        let touching = self.touch.remember(contacts);
        if self.order == Order::Second {
            self.forget_impacts(substep.duration);
        }
        self.touch.guard(model, &mut self.x, &mut self.v, substep.duration);
        report.stages.add("move", clock.elapsed().as_secs_f64());
        touching
    }

    /// An impact is no smooth past: whoever is held moves on from there as if it always had, or BDF2 would throw it back.
    fn forget_impacts(&mut self, duration: f64) {
        let (x, [x_past, v_past]) = (&self.x, &mut self.past);
        let mut held = std::mem::take(&mut self.diagonal);
        held.fill(0.0);
        self.touch.hold(duration, &mut self.v, |i| held[i] = 1.0);
        for i in (0..x.len()).filter(|i| held[*i] > 0.0) {
            v_past[i] = self.v[i];
            x_past[i] = x[i] - self.v[i] * duration;
        }
        self.diagonal = held;
    }

    /// Reads the past; returns how long ago it was [s], 0 if there is none.
    fn recall(&mut self, memory: &[f64]) -> f64 {
        let Some((before, numbers)) = memory.split_last() else { return 0.0 };
        let places = self.past.iter_mut().flatten();
        for (place, n) in places.zip(numbers.chunks_exact(3)) {
            *place = Vec4([n[0], n[1], n[2], 0.0]);
        }
        *before
    }

    fn write_down(&self, memory: &mut [f64], before: f64) {
        let Some((last, numbers)) = memory.split_last_mut() else { return };
        *last = before;
        for (n, place) in numbers.chunks_exact_mut(3).zip(self.past.iter().flatten()) {
            n.copy_from_slice(&place.0[..3]);
        }
    }
}

fn load(from: &[DVec3], to: &mut [Vec4]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = (*f).into());
}

fn store(from: &[Vec4], to: &mut [DVec3]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = f.xyz());
}
