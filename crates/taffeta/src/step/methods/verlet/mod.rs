//! Explicit integration of spring-dampers (P3 eq. 6 with Δt², P5 eq. 4), in sub-steps below the stability limit.
//!
//! P3 and P5 write x⁺ = 2x - x⁻ + a Δt². With v = (x - x⁻)/Δt that is v⁺ = v + a Δt, x⁺ = x + v⁺ Δt, which is what
//! stands here: the same positions, and the sub-step may change. P3's implicit variant without a matrix shares all but the move itself, which
//! stands in `secant.rs`.

mod secant;

use super::Integrator;
use crate::collide;
use crate::forces::gather::{self, Chunk};
use crate::forces::stable_step::StableStep;
use crate::math::{DVec3, Vec4};
use crate::model::{Memory, Method, Model, State};
use crate::parallel::{self, Cut};
use crate::step::boundary::Boundary;
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::report::{Shortfall, StepError};
use crate::step::{pressing, rigid_bodies};
use secant::{Bdf2Start, Iterate, Secant};

/// Scratch of the method.
#[derive(Debug)]
pub struct Verlet {
    workers: Vec<ChunkWorker>,
    /// Particles of cloths by worker.
    cut: Cut,
    stable: StableStep,
    /// The state of the sub-step under way, and of the next.
    now: Moving,
    next: Moving,
    /// The sub-step that was planned [s].
    h: f64,
    /// Sub-steps over which forces of air and sliders are held.
    held: u32,
    /// What P3's implicit variant needs, if it is that.
    secant: Option<Secant>,
}

/// Positions [m] and velocities [m/s], padded for SIMD.
#[derive(Debug, Clone, Default)]
pub(super) struct Moving {
    pub x: Vec<Vec4>,
    pub v: Vec<Vec4>,
}

/// A chunk, and what it touched.
#[derive(Debug)]
struct ChunkWorker {
    chunk: Chunk,
    contacts: u32,
    /// Speeds that contacts have taken from its particles along their normals in this sub-step [m/s].
    taken: Vec<f64>,
    iterate: Iterate,
}

impl Verlet {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let room = vec![Vec4::ZERO; model.particle_count()];
        let room = Moving { x: room.clone(), v: room };
        let worker = |chunk: Chunk| {
            let taken = vec![0.0; chunk.particles.len()];
            ChunkWorker { chunk, contacts: 0, taken, iterate: Iterate::default() }
        };
        // The force of a pulled edge is large and turns with it: held along where the edge was, it would give energy.
        let pulled = model.sliders.iter().any(|slider| slider.grip > 0.0);
        let workers: Vec<ChunkWorker> = gather::chunks(model).into_iter().map(worker).collect();
        Self {
            cut: Cut::new(workers.iter().map(|worker| worker.chunk.particles.len())),
            workers,
            stable: StableStep::new(model),
            secant: (model.method == Method::Bdf2Secant).then(|| Secant::new(&room)),
            now: room.clone(),
            next: room,
            h: 0.0,
            held: if pulled { 1 } else { model.params.verlet.air_held },
        }
    }

    /// What is remembered at the start.
    pub fn memory(&self) -> Memory {
        self.secant.as_ref().map_or(Memory::Nothing, |secant| Memory::Secant(secant.memory()))
    }

    /// Springs, gravity and air move all particles: v⁺ = v + h a, x⁺ = x + h v⁺.
    fn advance(&mut self, step: &StepContext, substep: &Substep) {
        let (now, n) = (&self.now, step.model.cloth_particle_count());
        let (x, v) = (&mut self.next.x[..n], &mut self.next.v[..n]);
        let (boundary, inputs) = (&*step.boundary, Inputs::of(step));
        parallel::each_part(&mut self.workers, &self.cut, x, v, |worker, x, v| {
            worker.chunk.renew_links(inputs.model, substep.time);
            let first = worker.chunk.particles.start;
            let forces = worker.chunk.forces(&now.x, &now.v, boundary.forces.on_particles());
            move_freely(&inputs, substep.h, now, first, forces, x, v);
        });
    }

    /// The same with the end of the sub-step iterated until it settles; returns how often.
    fn iterate(&mut self, step: &mut StepContext, substep: &Substep) -> u32 {
        let Self { workers, cut, now, next, secant: Some(secant), .. } = self else { return 0 };
        let n = step.model.cloth_particle_count();
        let (x, v) = (&mut next.x[..n], &mut next.v[..n]);
        let (start, at): (Bdf2Start, &mut Moving) = secant.reach_back(now, substep.h);
        let params = &step.model.params.verlet;
        let most = params.secant_iterations;
        let (mut settled, mut taken) = (false, most);
        for iteration in 1..=most {
            let (here, boundary, inputs) = (&*at, &*step.boundary, Inputs::of(step));
            // Slopes are of one particle each, and know nothing of action and reaction: the last time forces alone move.
            let use_slopes = iteration > 1 && !settled;
            parallel::each_part(workers, cut, x, v, |worker, x, v| {
                worker.chunk.renew_links(inputs.model, substep.time);
                let particles = worker.chunk.particles.clone();
                let forces = worker.chunk.forces(&here.x, &here.v, boundary.forces.on_particles());
                let at = [&here.x[particles.clone()], &here.v[particles.clone()]];
                worker.iterate.advance(&inputs, &start, (particles, use_slopes), forces, at, [x, v]);
            });
            hold(step, substep.h, now, [&mut *x, &mut *v]);
            at.x[..n].copy_from_slice(x);
            at.v[..n].copy_from_slice(v);
            if settled {
                taken = iteration;
                break;
            }
            let largest =
                |of: fn(&Iterate) -> f64| workers.iter().map(|w| of(&w.iterate)).fold(0.0, f64::max);
            let (change, whole) = (largest(|i| i.change), largest(|i| i.whole));
            settled = change <= params.secant_settled * whole;
            if !settled && iteration + 1 == most {
                settled = true;
                step.report.fall_short(Shortfall::Secant { iterations: iteration, change: change / whole });
            }
        }
        secant.leave(x, v);
        taken
    }

    /// Answers contacts with solids (P5 §5), and leads pins.
    fn touch(&mut self, step: &mut StepContext, substep: &Substep) {
        let (now, n) = (&self.now, step.model.cloth_particle_count());
        let [x, v] = [&mut self.next.x[..n], &mut self.next.v[..n]];
        let (boundary, inverse_mass) = (&*step.boundary, &step.environment.inverse_mass);
        if !boundary.bodies.is_empty() {
            parallel::each_part(&mut self.workers, &self.cut, x, v, |worker, x, v| {
                worker.touch(boundary, inverse_mass, substep.h, &now.x, [x, v]);
            });
        }
        hold(step, substep.h, now, [x, v]);
        self.press(step, substep.h);
    }

    /// Adds up what closed-form solids have pushed in a sub-step of `h` [s].
    fn press(&self, step: &mut StepContext, h: f64) {
        let mass = &step.model.mass;
        let touching = self.workers.iter().filter(|worker| worker.contacts > 0);
        let speeds = touching.flat_map(|worker| worker.chunk.particles.clone().zip(&worker.taken));
        pressing::add_of_solids(step, h, speeds.map(|(i, taken)| (i, mass[i] * taken)));
    }

    /// How many sub-steps the time `left` takes from here.
    fn substeps_for(&mut self, step: &StepContext, left: f64) -> Result<u32, StepError> {
        let (model, params) = (step.model, &step.model.params.verlet);
        let stable = self.stable.at(model, step.environment, &self.now.x);
        if let Some(asked) = model.substeps {
            let substep = model.step_time / f64::from(asked);
            if substep > stable {
                let least = (model.step_time / (params.safety * stable)).ceil() as u32;
                return Err(StepError::Unstable { asked, substep, stable, least });
            }
            return Ok((left / substep).round().max(1.0) as u32);
        }
        let count = (left / (params.safety * stable)).ceil().max(1.0);
        if count > f64::from(params.most_substeps) {
            return Err(StepError::TooManySubsteps {
                stable,
                step: model.step_time,
                limit: params.most_substeps,
            });
        }
        Ok(count as u32)
    }
}

impl Integrator for Verlet {
    fn begin(&mut self, _: &mut StepContext, state: &State) -> Result<(), StepError> {
        load(&state.positions, &mut self.now.x);
        load(&state.velocities, &mut self.now.v);
        if let (Some(secant), Memory::Secant(memory)) = (&mut self.secant, &state.memory) {
            secant.recall(memory, &self.now);
        }
        Ok(())
    }

    fn plan(&mut self, step: &mut StepContext, _: f64, left: f64) -> Result<Plan, StepError> {
        step.observer.enter("stability");
        let count = self.substeps_for(step, left)?;
        self.h = left / f64::from(count);
        Ok(Plan { h: self.h, count, renewed_after: Some(step.model.params.verlet.renewed_after) })
    }

    fn motion(&mut self, _: &Model, positions: &mut [DVec3], ways: &mut [DVec3]) {
        store(&self.now.x, positions);
        ways.iter_mut().zip(&self.now.v).for_each(|(way, v)| *way = self.h * v.xyz());
    }

    fn predict(&mut self, step: &mut StepContext, substep: &Substep) {
        step.observer.enter("air");
        if substep.k.is_multiple_of(self.held) {
            let Moving { x, v } = &self.now;
            let held = (substep.time, f64::from(self.held) * substep.h);
            step.boundary.forces.renew(step.model, step.environment, held, x, (|i| v[i], 3.0));
        }
        step.observer.enter("springs");
        step.report.iterations += match self.secant {
            Some(_) => self.iterate(step, substep),
            None => {
                self.advance(step, substep);
                1
            }
        };
    }

    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError> {
        step.observer.enter("contact");
        self.touch(step, substep);
        let n = step.model.cloth_particle_count();
        for (next, now) in [(&mut self.next.x, &self.now.x), (&mut self.next.v, &self.now.v)] {
            next[n..].copy_from_slice(&now[n..]);
        }
        rigid_bodies::fly(step, &mut self.next.x, &mut self.next.v, substep.h);
        Ok(())
    }

    /// The end becomes the start, and contacts of features correct it in position and velocity (P5 §5).
    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict {
        std::mem::swap(&mut self.now, &mut self.next);
        let (h, Moving { x, v }) = (substep.h, &mut self.now);
        if let Some(pipeline) = &mut step.pipeline {
            pipeline.project_contacts(&self.next.x, x, h, |i, way| v[i] += Vec4::from(way / h));
            rigid_bodies::stiffen(step.model, x, v);
            pressing::add_of_features(step, h, |_| 1.0);
        }
        Verdict::Good
    }

    fn ends(&mut self, _: &Model, ends: &mut [DVec3]) {
        store(&self.now.x, ends);
    }

    fn accept(&mut self, model: &Model, ends: &[DVec3], window: &Window) {
        let duration = f64::from(window.substeps) * window.h;
        for ((x, v), end) in self.now.x.iter_mut().zip(&mut self.now.v).zip(ends) {
            *v += Vec4::from((*end - x.xyz()) / duration);
            *x = (*end).into();
        }
        rigid_bodies::stiffen_velocities(model, &self.now.x, &mut self.now.v);
    }

    fn store(&mut self, _: &mut StepContext, state: &mut State) {
        store(&self.now.x, &mut state.positions);
        store(&self.now.v, &mut state.velocities);
        if let (Some(secant), Memory::Secant(memory)) = (&mut self.secant, &mut state.memory) {
            secant.write_down(&self.now, memory);
        }
    }

    fn touching(&self) -> u32 {
        self.workers.iter().map(|w| w.contacts).sum()
    }
}

impl ChunkWorker {
    /// Answers contacts of the own particles with solids.
    fn touch(
        &mut self,
        boundary: &Boundary,
        inverse_mass: &[f64],
        h: f64,
        x: &[Vec4],
        [next_x, next_v]: [&mut [Vec4]; 2],
    ) {
        let first = self.chunk.particles.start;
        self.contacts = 0;
        self.taken.fill(0.0);
        for (_, body, params) in boundary.solids(self.chunk.cloth) {
            for (k, (x1, v1)) in next_x.iter_mut().zip(next_v.iter_mut()).enumerate() {
                let (mut end, mut speed) = (x1.xyz(), v1.xyz());
                if inverse_mass[first + k] > 0.0
                    && let Some(taken) = collide::resolve_contact(
                        x[first + k].xyz(),
                        [&mut speed, &mut end],
                        (h, boundary.parting),
                        body,
                        params,
                    )
                {
                    (*x1, *v1) = (end.into(), speed.into());
                    self.taken[k] += taken;
                    self.contacts += 1;
                }
            }
        }
    }
}

/// What all chunks read.
struct Inputs<'a> {
    model: &'a Model,
    inverse_mass: &'a [f64],
    gravity: DVec3,
    wind: DVec3,
    damping: f64,
}

impl<'a> Inputs<'a> {
    fn of(step: &StepContext<'a>) -> Self {
        let (model, environment) = (step.model, step.environment);
        let (wind, damping) = (environment.air.wind, environment.air.damping);
        Self { model, inverse_mass: &environment.inverse_mass, gravity: step.gravity, wind, damping }
    }
}

/// Puts pinned particles where they are led.
fn hold(step: &StepContext, h: f64, now: &Moving, [x, v]: [&mut [Vec4]; 2]) {
    for (i, end) in step.boundary.held(step.model, step.environment) {
        x[i] = end.into();
        v[i] = ((end - now.x[i].xyz()) / h).into();
    }
}

/// v⁺ = v + h (w f + g + r (wind - v)), x⁺ = x + h v⁺ of the particles from `first` on; pinned ones stay.
fn move_freely(
    inputs: &Inputs,
    h: f64,
    now: &Moving,
    first: usize,
    forces: &[Vec4],
    next_x: &mut [Vec4],
    next_v: &mut [Vec4],
) {
    let (gravity, wind) = (Vec4::from(inputs.gravity), Vec4::from(inputs.wind));
    let particles = first..first + next_x.len();
    let (x, v) = (&now.x[particles.clone()], &now.v[particles.clone()]);
    let before = x.iter().zip(v).zip(&inputs.inverse_mass[particles]).zip(forces);
    for ((x1, v1), (((x0, v0), w), f)) in next_x.iter_mut().zip(next_v).zip(before) {
        let moves = if *w > 0.0 { 1.0 } else { 0.0 };
        *v1 = (*v0 + (*f * *w + gravity + (wind - *v0) * inputs.damping) * h) * moves;
        *x1 = *x0 + *v1 * h;
    }
}

fn load(from: &[DVec3], to: &mut [Vec4]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = (*f).into());
}

fn store(from: &[Vec4], to: &mut [DVec3]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = f.xyz());
}
