//! Explicit integration of spring-dampers (P3 eq. 6 with Δt², P5 eq. 4), in sub-steps below the stability limit.
//!
//! P3 and P5 write x⁺ = 2x - x⁻ + a Δt². With v = (x - x⁻)/Δt that is v⁺ = v + a Δt, x⁺ = x + v⁺ Δt, which is what
//! stands here: the same positions, and the sub-step may change. P3's implicit variant without a matrix shares all but the move itself, which
//! stands in `secant.rs`.

mod secant;

use crate::collide::{self, CcdStats, ContactParams, ContactPipeline, Corners, MovingBody};
use crate::forces::gather::{self, Chunk};
use crate::forces::stable_step::StableStep;
use crate::math::{DVec3, Vec4};
use crate::model::Method;
use crate::model::{Led, Model, State};
use crate::parallel;
use crate::step::report::{Shortfall, Stages, StepError, StepReport};
use crate::step::rigid_bodies;
use secant::{Bdf2Start, Iterate, MOST_ITERATIONS, SETTLED, Secant};
use std::time::Instant;

/// Share of the stability limit that is used; the limit is renewed every `BURST` sub-steps, in between the cloth moves on.
const SAFETY: f64 = 0.9;
const BURST: u32 = 64;
/// Sub-steps over which forces of the air are held: they change within milliseconds, springs within microseconds.
const AIR_HELD: u32 = 8;
/// The most sub-steps in a step.
const MOST_SUBSTEPS: u32 = 1_000_000;

/// Scratch of the method.
#[derive(Debug)]
pub struct Verlet {
    workers: Vec<ChunkWorker>,
    stable: StableStep,
    /// The state of the sub-step under way, and of the next.
    now: Moving,
    next: Moving,
    bodies: Vec<MovingBody>,
    led: Vec<Led>,
    /// What P3's implicit variant needs, if it is that.
    secant: Option<Secant>,
}

/// Positions [m] and velocities [m/s], padded for SIMD.
#[derive(Debug, Clone, Default)]
pub(super) struct Moving {
    pub x: Vec<Vec4>,
    pub v: Vec<Vec4>,
}

/// A chunk, what it meets, its pinned particles, and what it spent and touched.
#[derive(Debug)]
struct ChunkWorker {
    chunk: Chunk,
    contact_params: Vec<ContactParams>,
    /// Place in the chunk, group of pins, place in the group.
    pinned: Vec<(usize, usize, usize)>,
    contacts: u32,
    seconds: [f64; 3],
    iterate: Iterate,
}

/// What all chunks read during a sub-step.
struct ChunkInputs<'a> {
    model: &'a Model,
    moving: &'a Moving,
    time: f64,
    h: f64,
    renew_air: bool,
    bodies: &'a [MovingBody],
    led: &'a [Led],
}

impl Verlet {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let room = vec![Vec4::ZERO; model.particle_count()];
        let room = Moving { x: room.clone(), v: room };
        let secant = (model.method == Method::Bdf2Secant).then(|| Secant::new(&room));
        let contact_params = collide::contact_params(model, Corners::OfSmooth);
        let worker = |chunk: Chunk| {
            let contact_params = contact_params[chunk.cloth].clone();
            let pinned = pinned_in(&chunk, model);
            ChunkWorker {
                chunk,
                contact_params,
                pinned,
                contacts: 0,
                seconds: [0.0; 3],
                iterate: Iterate::default(),
            }
        };
        Self {
            workers: gather::chunks(model).into_iter().map(worker).collect(),
            stable: StableStep::new(model),
            now: room.clone(),
            next: room,
            bodies: Vec::with_capacity(model.colliders.len()),
            led: Vec::with_capacity(model.pins.len()),
            secant,
        }
    }

    /// How many numbers are remembered from step to step.
    pub fn memory(&self) -> usize {
        self.secant.as_ref().map_or(0, Secant::memory)
    }

    /// Moves `state` on by one step of the model.
    pub fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        mut pipeline: Option<&mut ContactPipeline>,
    ) -> Result<StepReport, StepError> {
        let started = Instant::now();
        let mut report =
            StepReport { converged: true, shortest_substep: f64::INFINITY, ..Default::default() };
        let mut limit_time = 0.0;
        self.workers.iter_mut().for_each(|w| w.seconds = [0.0; 3]);

        load(&state.positions, &mut self.now.x);
        load(&state.velocities, &mut self.now.v);
        self.secant.iter_mut().for_each(|secant| secant.recall(&state.memory, &self.now));
        let (start, mut done) = (state.time, 0.0);
        while done < model.step_time {
            let estimated = Instant::now();
            let left = model.step_time - done;
            let count = self.substeps_for(model, left)?;
            limit_time += estimated.elapsed().as_secs_f64();

            let h = left / f64::from(count);
            let burst = count.min(BURST);
            let burst = self.burst(model, pipeline.as_deref_mut(), start + done, burst, h, &mut report);
            // The last burst ends exactly where the step ends.
            done = if burst == count { model.step_time } else { done + f64::from(burst) * h };
            report.substeps += burst;
            report.shortest_substep = report.shortest_substep.min(h);
        }
        store(&self.now.x, &mut state.positions);
        store(&self.now.v, &mut state.velocities);
        self.secant.iter_mut().for_each(|secant| secant.write_down(&self.now, &mut state.memory));
        report.contacts = self.workers.iter().map(|w| w.contacts).sum();
        report.contacts += pipeline.map_or(0, |pipeline| pipeline.touching());
        report.stages = self.stages(limit_time, started.elapsed().as_secs_f64());
        Ok(report)
    }

    /// Takes at most so many sub-steps of `h` [s] from `start` [s], and no more than the contact pipeline lets go at once; returns how many.
    fn burst(
        &mut self,
        model: &Model,
        mut pipeline: Option<&mut ContactPipeline>,
        start: f64,
        most: u32,
        h: f64,
        report: &mut StepReport,
    ) -> u32 {
        let count =
            pipeline.as_mut().map_or(most, |pipeline| self.begin_window(pipeline, model, start, most, h));
        for k in 0..count {
            let time = start + f64::from(k) * h;
            self.move_bodies(model, time, h);
            self.substep(model, time, h, k % AIR_HELD == 0, report);
            if let Some(pipeline) = &mut pipeline {
                self.part(pipeline, model, time, h);
            }
        }
        if let Some(pipeline) = pipeline {
            report.settled += self.settle(pipeline, model, f64::from(count) * h);
        }
        count
    }

    /// How many sub-steps the time `left` takes from here.
    fn substeps_for(&mut self, model: &Model, left: f64) -> Result<u32, StepError> {
        let stable = self.stable.at(model, &self.now.x);
        if let Some(asked) = model.substeps {
            let substep = model.step_time / f64::from(asked);
            if substep > stable {
                let least = (model.step_time / (SAFETY * stable)).ceil() as u32;
                return Err(StepError::Unstable { asked, substep, stable, least });
            }
            return Ok((left / substep).round().max(1.0) as u32);
        }
        let count = (left / (SAFETY * stable)).ceil().max(1.0);
        if count > f64::from(MOST_SUBSTEPS) {
            return Err(StepError::TooManySubsteps { stable, step: model.step_time, limit: MOST_SUBSTEPS });
        }
        Ok(count as u32)
    }

    fn move_bodies(&mut self, model: &Model, time: f64, h: f64) {
        self.bodies.clear();
        self.bodies.extend(collide::bodies(model, time, h));
        self.led.clear();
        self.led.extend(model.pins.iter().map(|pin| pin.led(time + h, &model.colliders)));
    }

    fn substep(&mut self, model: &Model, time: f64, h: f64, renew_air: bool, report: &mut StepReport) {
        let now = ChunkInputs {
            model,
            moving: &self.now,
            time,
            h,
            renew_air: renew_air && model.air.density > 0.0,
            bodies: &self.bodies,
            led: &self.led,
        };
        let n = model.cloth_particle_count();
        let own = |worker: &ChunkWorker| worker.chunk.particles.clone();
        let (x, v) = (&mut self.next.x[..n], &mut self.next.v[..n]);
        if let Some(secant) = &mut self.secant {
            let start = secant.reach_back(&self.now, h);
            report.iterations += iterate(&mut self.workers, &now, start, [&mut *x, &mut *v], report);
            secant.leave(x, v);
            parallel::for_each_chunk(&mut self.workers, own, x, v, |worker, x, v| worker.touch(&now, x, v));
        } else {
            parallel::for_each_chunk(&mut self.workers, own, x, v, |worker, x, v| worker.advance(&now, x, v));
            report.iterations += 1;
        }
        for (next, now) in [(&mut self.next.x, &self.now.x), (&mut self.next.v, &self.now.v)] {
            next[n..].copy_from_slice(&now[n..]);
        }
        rigid_bodies::fly(model, &mut self.next.x, &mut self.next.v, h);
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Starts a window of at most so many sub-steps for the contact pipeline and returns how many it has.
    fn begin_window(
        &self,
        pipeline: &mut ContactPipeline,
        model: &Model,
        time: f64,
        most: u32,
        h: f64,
    ) -> u32 {
        let ways = self.now.v.iter().map(|v| h * v.xyz());
        let substeps = pipeline.substeps(ways.clone()).min(most);
        let until = time + f64::from(substeps) * h;
        let ways = ways.map(|way| f64::from(substeps) * way);
        pipeline.begin(model, [time, until], self.now.x.iter().map(|x| x.xyz()), ways);
        substeps
    }

    /// Contacts of features in the sub-step that has just been taken: position and velocity (P5 §5).
    fn part(&mut self, pipeline: &mut ContactPipeline, model: &Model, time: f64, h: f64) {
        pipeline.begin_substep(model, [time, time + h]);
        let v = &mut self.now.v;
        pipeline.project_contacts(&self.next.x, &mut self.now.x, h, |i, way| v[i] += Vec4::from(way / h));
        rigid_bodies::stiffen(model, &mut self.now.x, &mut self.now.v);
    }

    /// Ends a window of that duration [s].
    fn settle(&mut self, pipeline: &mut ContactPipeline, model: &Model, duration: f64) -> CcdStats {
        let settled = pipeline.resolve(self.now.x.iter().map(|x| x.xyz()));
        for ((x, v), end) in self.now.x.iter_mut().zip(&mut self.now.v).zip(pipeline.ends()) {
            *v += Vec4::from((*end - x.xyz()) / duration);
            *x = (*end).into();
        }
        rigid_bodies::stiffen_velocities(model, &self.now.x, &mut self.now.v);
        settled
    }

    /// Threads work on different stages at once: the wall time is shared out by the time that all of them spent.
    fn stages(&self, limit_time: f64, total: f64) -> Stages {
        let spent = |i: usize| self.workers.iter().map(|w| w.seconds[i]).sum::<f64>();
        let all: f64 = (0..3).map(spent).sum();
        let mut stages = Stages::default();
        for (i, name) in ["air", "springs", "move"].into_iter().enumerate() {
            stages.add(name, (total - limit_time) * spent(i) / all.max(f64::MIN_POSITIVE));
        }
        stages.add("stability", limit_time);
        stages
    }
}

/// Iterates the end of a sub-step until it settles, with all workers; returns how often.
fn iterate(
    workers: &mut [ChunkWorker],
    now: &ChunkInputs,
    (reach, at): (Bdf2Start, &mut Moving),
    [x, v]: [&mut [Vec4]; 2],
    report: &mut StepReport,
) -> u32 {
    let own = |worker: &ChunkWorker| worker.chunk.particles.clone();
    let mut settled = false;
    for iteration in 1..=MOST_ITERATIONS {
        let here = &*at;
        parallel::for_each_chunk(workers, own, x, v, |worker, x, v| {
            worker.iterate(now, &reach, here, [iteration == 1, settled], [x, v])
        });
        at.x[..x.len()].copy_from_slice(x);
        at.v[..v.len()].copy_from_slice(v);
        // The last time forces alone move: slopes are of one particle each, and know nothing of action and reaction.
        if settled {
            return iteration;
        }
        let most = |of: fn(&Iterate) -> f64| workers.iter().map(|w| of(&w.iterate)).fold(0.0, f64::max);
        let (change, whole) = (most(|i| i.change), most(|i| i.whole));
        settled = change <= SETTLED * whole;
        if !settled && iteration + 1 == MOST_ITERATIONS {
            settled = true;
            report.converged = false;
            report.shortfall = Some(Shortfall::Secant { iterations: iteration, change: change / whole });
        }
    }
    MOST_ITERATIONS
}

impl ChunkWorker {
    /// One sub-step of the own particles: forces, move, contacts.
    fn advance(&mut self, now: &ChunkInputs, next_x: &mut [Vec4], next_v: &mut [Vec4]) {
        let begun = Instant::now();
        let (model, h, Moving { x, v }) = (now.model, now.h, now.moving);
        if now.renew_air {
            self.chunk.renew_air(model, x, v, now.time, f64::from(AIR_HELD) * h);
        }
        let air_done = Instant::now();
        let first = self.chunk.particles.start;
        self.chunk.renew_links(model, now.time);
        let forces = self.chunk.forces(x, v);
        let forces_done = Instant::now();
        move_freely(now, first, forces, next_x, next_v);
        self.seconds[0] += (air_done - begun).as_secs_f64();
        self.seconds[1] += (forces_done - air_done).as_secs_f64();
        self.seconds[2] += forces_done.elapsed().as_secs_f64();
        self.touch(now, next_x, next_v);
    }

    /// One iteration for the end of a sub-step, with forces where it is so far; the first and the last are told apart.
    fn iterate(
        &mut self,
        now: &ChunkInputs,
        reach: &Bdf2Start,
        at: &Moving,
        [is_first, is_last]: [bool; 2],
        [next_x, next_v]: [&mut [Vec4]; 2],
    ) {
        let begun = Instant::now();
        if is_first && now.renew_air {
            let Moving { x, v } = now.moving;
            self.chunk.renew_air(now.model, x, v, now.time, f64::from(AIR_HELD) * now.h);
        }
        self.chunk.renew_links(now.model, now.time);
        let particles = self.chunk.particles.clone();
        let forces = self.chunk.forces(&at.x, &at.v);
        let own = [&at.x[particles.clone()], &at.v[particles.clone()]];
        let use_slopes = !is_first && !is_last;
        self.iterate.advance(
            now.model,
            reach,
            (particles, use_slopes),
            forces,
            own,
            [&mut *next_x, &mut *next_v],
        );
        self.lead(now, next_x, next_v);
        self.seconds[1] += begun.elapsed().as_secs_f64();
    }

    /// Answers contacts with solids, and leads pins.
    fn touch(&mut self, now: &ChunkInputs, next_x: &mut [Vec4], next_v: &mut [Vec4]) {
        let begun = Instant::now();
        let first = self.chunk.particles.start;
        let x = &now.moving.x[first..];
        self.contacts = 0;
        for (body, meeting) in now.bodies.iter().zip(&self.contact_params) {
            for (k, (x1, v1)) in next_x.iter_mut().zip(next_v.iter_mut()).enumerate() {
                let (mut end, mut speed) = (x1.xyz(), v1.xyz());
                if now.model.inverse_mass[first + k] > 0.0
                    && collide::resolve_contact(x[k].xyz(), &mut speed, &mut end, now.h, body, meeting)
                {
                    (*x1, *v1) = (end.into(), speed.into());
                    self.contacts += 1;
                }
            }
        }
        self.lead(now, next_x, next_v);
        self.seconds[2] += begun.elapsed().as_secs_f64();
    }

    fn lead(&self, now: &ChunkInputs, next_x: &mut [Vec4], next_v: &mut [Vec4]) {
        let x = &now.moving.x[self.chunk.particles.start..];
        for &(k, group, member) in &self.pinned {
            let pin = &now.model.pins[group];
            next_x[k] = pin.place(member, &now.led[group], &now.model.colliders).into();
            next_v[k] = ((next_x[k].xyz() - x[k].xyz()) / now.h).into();
        }
    }
}

/// v⁺ = v + h (w f + g + r (wind - v)), x⁺ = x + h v⁺ of the particles from `first` on; pinned ones stay.
fn move_freely(now: &ChunkInputs, first: usize, forces: &[Vec4], next_x: &mut [Vec4], next_v: &mut [Vec4]) {
    let (model, h) = (now.model, now.h);
    let (gravity, wind) = (Vec4::from(model.gravity), Vec4::from(model.air.wind));
    let particles = first..first + next_x.len();
    let (x, v) = (&now.moving.x[particles.clone()], &now.moving.v[particles.clone()]);
    let before = x.iter().zip(v).zip(&model.inverse_mass[particles]).zip(forces);
    for ((x1, v1), (((x0, v0), w), f)) in next_x.iter_mut().zip(next_v).zip(before) {
        let moves = if *w > 0.0 { 1.0 } else { 0.0 };
        *v1 = (*v0 + (*f * *w + gravity + (wind - *v0) * model.air.damping) * h) * moves;
        *x1 = *x0 + *v1 * h;
    }
}

fn load(from: &[DVec3], to: &mut [Vec4]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = (*f).into());
}

fn store(from: &[Vec4], to: &mut [DVec3]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t = f.xyz());
}

fn pinned_in(chunk: &Chunk, model: &Model) -> Vec<(usize, usize, usize)> {
    let mut pinned = Vec::new();
    for (group, pin) in model.pins.iter().enumerate() {
        for (member, &particle) in pin.particles.iter().enumerate() {
            let particle = particle as usize;
            if chunk.particles.contains(&particle) {
                pinned.push((particle - chunk.particles.start, group, member));
            }
        }
    }
    pinned
}
