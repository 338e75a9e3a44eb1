//! Inextensible cloth by impulses that look one step ahead (P1, P2), in sub-steps that the program chooses.

use super::impulse_pace::{Pace, Verdict};
use super::impulse_parts as parts;
use super::impulse_shortfall::Reaches;
use super::impulse_touch::touch;
use super::report::{Stages, StepError, StepReport};
use crate::collide::{self, Meeting, MovingBody};
use crate::forces::air;
use crate::math::lanes::{LANES, Lanes};
use crate::math::{DVec3, Pose, Vec4};
use crate::model::{Model, State};
use crate::parallel;
use crate::solve::pull::{self, Chunk, Pull, SubStep, Sums};
use crate::solve::strips::{self, Block, Particles, Row, Strips};
use std::time::Instant;

/// Where in the sub-step kept tensions pull: 0 at its start, 1 at the end of the free motion.
const AHEAD: f64 = 1.0;
/// Bending below this share of the stability limit needs no implicit treatment.
const EXPLICIT_BEND: f64 = 0.5;
/// Particles from which threads pay, and the most parts for them.
const LARGE: usize = 20_000;
const MOST_LOTS: usize = 16;
/// Forces of the air are renewed so many times in a step.
const AIR_RENEWALS: f64 = 4.0;
/// The most sweeps that bring the end of a step to its tolerance, and how many may pass without gaining a tenth.
const MOST_SWEEPS: u32 = 300;
const STALLED: u32 = 60;

/// Where tensions start in the memory of a state; the pace stands before them.
const FIRST_TENSION: usize = 2;

/// Scratch of the method.
#[derive(Debug)]
pub struct Impulse {
    hard: Strips,
    soft: Strips,
    pull: Pull,
    workers: Vec<Worker>,
    meetings: Vec<Vec<Meeting>>,
    /// Tension per length of every edge, hard rows first [N/m]; what it was before the last correction.
    tension: Vec<Lanes>,
    kept: Vec<Lanes>,
    /// State under way; particles that stand for none at the end.
    x: Vec<Vec4>,
    v: Vec<Vec4>,
    at: Vec<Vec4>,
    bent: Vec<Vec4>,
    q: Vec<Vec4>,
    /// What contacts have done in this sub-step: tangential correction, and push in the fourth number [m].
    grip: Vec<Vec4>,
    /// Forces of the air [N]; empty in a vacuum.
    held: Vec<Vec4>,
    triangle_force: Vec<Vec4>,
    scratch: Vec<Vec<Row>>,
    bodies: Vec<MovingBody>,
    pin_poses: Vec<Pose>,
    largest_bend: [f64; 2],
    /// The shortest period of shear, over 2π [s].
    shear_time: f64,
    reaches: Reaches,
    stages: Stages,
}

/// A chunk of particles and what came of it.
#[derive(Debug)]
struct Worker {
    chunk: Chunk,
    sums: Sums,
    contacts: u32,
}

impl Impulse {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let n = model.particle_count();
        let hard = parts::hard(model);
        let (diagonals, soft) = parts::soft(model, &hard);
        let ends = |edges: &[[u32; 2]], strips: &Strips| -> Vec<([u32; 2], u32)> {
            edges.iter().copied().zip(strips.slots.iter().copied()).collect()
        };
        let pull = Pull::new(model, &ends(&model.edges, &hard), &ends(&diagonals, &soft));
        let room = vec![Vec4::ZERO; n];
        let lots = if n < LARGE { 1 } else { MOST_LOTS };
        let longest = hard.longest.max(soft.longest);
        let largest_bend = pull.chunks.iter().fold([0.0; 2], |[k, c]: [f64; 2], chunk| {
            let of = |i: usize| pull.bend_bound[i] * model.inverse_mass[i];
            let most = chunk.particles.clone().map(of).fold(0.0, f64::max);
            [k.max(most), c.max(most * chunk.bend_time)]
        });
        let mut q = vec![Vec4::ZERO; n + hard.idle + soft.idle];
        // Every second one is a metre away, so that edges between them have their rest length.
        q[n..].iter_mut().skip(1).step_by(2).for_each(|p| p.0[0] = 1.0);
        Self {
            workers: pull
                .chunks
                .iter()
                .map(|c| Worker { chunk: c.clone(), sums: Sums::default(), contacts: 0 })
                .collect(),
            meetings: collide::meetings(model),
            tension: vec![Lanes::ZERO; hard.rows + soft.rows],
            kept: vec![Lanes::ZERO; hard.rows],
            x: room.clone(),
            v: room.clone(),
            at: room.clone(),
            bent: room.clone(),
            q,
            held: if model.air.density > 0.0 { room.clone() } else { Vec::new() },
            triangle_force: if model.air.density > 0.0 {
                vec![Vec4::ZERO; model.triangles.len()]
            } else {
                Vec::new()
            },
            grip: room,
            scratch: vec![vec![Row::default(); longest]; lots],
            bodies: Vec::with_capacity(model.colliders.len()),
            pin_poses: Vec::with_capacity(model.pins.len()),
            largest_bend,
            shear_time: parts::shear_time(model),
            reaches: Reaches::default(),
            stages: Stages::default(),
            hard,
            soft,
            pull,
        }
    }

    /// How many numbers a state remembers for this method: the pace, and the tension of every edge.
    pub fn memory(&self) -> usize {
        FIRST_TENSION + self.hard.slots.len() + self.soft.slots.len()
    }

    /// Moves `state` on by one step of the model; a step that went wrong is taken again in smaller sub-steps.
    pub fn step(&mut self, model: &Model, state: &mut State) -> Result<StepReport, StepError> {
        let mut report = StepReport { shortest_substep: f64::INFINITY, ..StepReport::default() };
        self.stages = Stages::default();
        let mut pace = Pace::new(model, self.shear_time, [state.memory[0], state.memory[1]]);
        self.load(state);
        while self.attempt(model, state.time, &mut pace, &mut report) != Verdict::Good {
            pace.again();
            self.load(state);
        }
        self.store(state, &pace);
        if !report.converged {
            report.shortfall = Some(self.reaches.shortfall(model, &state.positions));
        }
        report.contacts = self.workers.iter().map(|w| w.contacts).sum();
        report.stages = self.stages;
        Ok(report)
    }

    /// All sub-steps of a step, and the sweeps that bring its end to the tolerance.
    fn attempt(&mut self, model: &Model, start: f64, pace: &mut Pace, report: &mut StepReport) -> Verdict {
        let count = pace.substeps();
        let h = model.step_time / f64::from(count);
        let air_held = (f64::from(count) / AIR_RENEWALS).ceil() as u32;
        for k in 0..count {
            if k % air_held == 0 && !self.held.is_empty() {
                let begun = Instant::now();
                self.renew_air(model, f64::from(air_held) * h);
                self.stages.add("air", begun.elapsed().as_secs_f64());
            }
            self.move_bodies(model, start + f64::from(k) * h, h);
            let sums = self.substep(model, h);
            report.substeps += 1;
            report.iterations += 1;
            report.shortest_substep = report.shortest_substep.min(h);
            if pace.judge(&sums) == Verdict::Lost {
                return Verdict::Lost;
            }
        }
        self.reach_tolerance(model, pace, report)
    }

    /// One sub-step: free motion with all that pulls (P1 eq. 1-2), position impulses (P1 §3.3), contacts, new velocities.
    fn substep(&mut self, model: &Model, h: f64) -> Sums {
        let begun = Instant::now();
        self.predict(model, h);
        let sums = self.pull(model, h);
        let pulled = Instant::now();
        self.shear();
        let sheared = Instant::now();
        self.correct(0.0);
        let corrected = Instant::now();
        self.touch(model);
        self.advance(h);
        self.stages.add("pull", (pulled - begun).as_secs_f64());
        self.stages.add("shear", (sheared - pulled).as_secs_f64());
        self.stages.add("lengths", (corrected - sheared).as_secs_f64());
        self.stages.add("contact and move", corrected.elapsed().as_secs_f64());
        sums
    }

    /// Diagonals as implicit springs, one group of strips after the other.
    fn shear(&mut self) {
        let tension = &mut self.tension[self.hard.rows..];
        sweep(&self.soft, &mut self.q, tension, &mut self.scratch, strips::soft);
    }

    /// Position impulses along all strips, one group after the other.
    fn correct(&mut self, least: f64) {
        let work = |block: &Block, q, tension: &mut [Lanes], rows: &mut [Row]| {
            strips::hard(block, q, tension, rows, least)
        };
        sweep(&self.hard, &mut self.q, &mut self.tension[..self.hard.rows], &mut self.scratch, work);
    }

    /// Where forces are taken, ahead of where particles are; where pins will be.
    fn predict(&mut self, model: &Model, h: f64) {
        let (x, v) = (&self.x, &mut self.v);
        if model.air.damping > 0.0 {
            let (wind, rate) = (Vec4::from(model.air.wind), h * model.air.damping);
            v.iter_mut()
                .zip(&model.inverse_mass)
                .filter(|(_, w)| **w > 0.0)
                .for_each(|(v, _)| *v = (*v + wind * rate) * (1.0 / (1.0 + rate)));
        }
        let v = &self.v;
        let each = |worker: &mut Worker, at: &mut [Vec4], bent: &mut [Vec4]| {
            let ahead = worker.chunk.bend_time;
            for ((at, bent), i) in at.iter_mut().zip(bent).zip(worker.chunk.particles.clone()) {
                *at = x[i] + v[i] * (AHEAD * h);
                *bent = *at + v[i] * ahead;
            }
        };
        parallel::for_each_chunk(
            &mut self.workers,
            |w| w.chunk.particles.clone(),
            &mut self.at,
            &mut self.bent,
            each,
        );
        for (pin, pose) in model.pins.iter().zip(&self.pin_poses) {
            for (&i, &start) in pin.particles.iter().zip(&pin.start) {
                let (i, end) = (i as usize, Vec4::from(pin.place(start, pose)));
                (self.at[i], self.bent[i]) = (end, end);
            }
        }
    }

    /// The free motion under all that pulls.
    fn pull(&mut self, model: &Model, h: f64) -> Sums {
        let [stiffness, damping] = self.largest_bend;
        let bend_explicit = h * h * stiffness + h * damping < EXPLICIT_BEND;
        let now = SubStep {
            model,
            h,
            x: &self.x,
            at: &self.at,
            bent: &self.bent,
            v: &self.v,
            held: &self.held,
            tension: numbers(&self.tension),
            bend_explicit,
        };
        let pull = &self.pull;
        let n = model.particle_count();
        let each = |worker: &mut Worker, q: &mut [Vec4], grip: &mut [Vec4]| {
            worker.sums = pull::apply(pull, &worker.chunk, &now, q);
            grip.fill(Vec4::ZERO);
        };
        parallel::for_each_chunk(
            &mut self.workers,
            |w| w.chunk.particles.clone(),
            &mut self.q[..n],
            &mut self.grip,
            each,
        );
        if !bend_explicit {
            pull::bend_back(model, h, &self.x, &self.v, &mut self.q);
        }
        let mut sums = Sums::default();
        for worker in &self.workers {
            sums.moving += worker.sums.moving;
            sums.added += worker.sums.added;
        }
        sums
    }

    /// New velocities and positions.
    fn advance(&mut self, h: f64) {
        let (q, inverse) = (&self.q, 1.0 / h);
        let each = |worker: &mut Worker, x: &mut [Vec4], v: &mut [Vec4]| {
            for ((x, v), i) in x.iter_mut().zip(v).zip(worker.chunk.particles.clone()) {
                let mut end = q[i];
                end.0[3] = 0.0;
                *v = (end - *x) * inverse;
                *x = end;
            }
        };
        parallel::for_each_chunk(
            &mut self.workers,
            |w| w.chunk.particles.clone(),
            &mut self.x,
            &mut self.v,
            each,
        );
    }

    /// Sweeps until every hard edge of the accepted positions is within the tolerance; velocities stay.
    fn reach_tolerance(&mut self, model: &Model, pace: &mut Pace, report: &mut StepReport) -> Verdict {
        let begun = Instant::now();
        let before = self.strain();
        let (mut strain, mut best, mut sweeps, mut best_at) = (before, before, 0, 0);
        self.kept.copy_from_slice(&self.tension[..self.hard.rows]);
        let reached = |strain: f64| strain <= model.tolerance;
        while !reached(strain) && sweeps < MOST_SWEEPS.min(best_at + STALLED) {
            self.correct(f64::NEG_INFINITY);
            self.touch(model);
            strain = self.strain();
            sweeps += 1;
            if strain < 0.9 * best {
                (best, best_at) = (strain, sweeps);
            }
        }
        // What the last sweeps moved without a velocity is not tension that the next step may start from.
        self.tension[..self.hard.rows].copy_from_slice(&self.kept);
        for (x, q) in self.x.iter_mut().zip(&self.q) {
            *x = *q;
            x.0[3] = 0.0;
        }
        self.stages.add("last sweeps", begun.elapsed().as_secs_f64());
        report.iterations += sweeps;
        report.converged = reached(strain);
        pace.conclude(before, sweeps, report.converged)
    }

    /// The largest strain of a hard edge at `q`.
    fn strain(&self) -> f64 {
        let q = Particles(self.q.as_ptr().cast_mut());
        let (mut most, mut least, mut lost) = (1.0_f64, 1.0_f64, 0.0);
        for block in self.hard.groups.iter().flatten() {
            let [up, down] = strips::extent(block, q);
            (most, least, lost) = (most.max(up), least.min(down), lost + 0.0 * up);
        }
        (most.sqrt() - 1.0).max(1.0 - least.sqrt()) + lost
    }

    fn move_bodies(&mut self, model: &Model, time: f64, h: f64) {
        self.bodies.clear();
        self.bodies
            .extend(model.colliders.iter().map(|c| MovingBody { before: c.at(time), after: c.at(time + h) }));
        self.pin_poses.clear();
        self.pin_poses.extend(model.pins.iter().map(|pin| pin.motion.at(time + h)));
    }

    /// Contacts with friction (P2 §3.5): particles stay out of solids and are held below the friction limit.
    fn touch(&mut self, model: &Model) {
        if model.colliders.is_empty() {
            return;
        }
        let (bodies, meetings, x, w) = (&self.bodies, &self.meetings, &self.x, &model.inverse_mass);
        let n = model.particle_count();
        let each = |worker: &mut Worker, q: &mut [Vec4], grip: &mut [Vec4]| {
            worker.contacts = 0;
            for ((q, grip), i) in q.iter_mut().zip(grip).zip(worker.chunk.particles.clone()) {
                if w[i] > 0.0 {
                    for (body, meeting) in bodies.iter().zip(&meetings[worker.chunk.cloth]) {
                        worker.contacts += u32::from(touch(x[i], q, grip, body, meeting));
                    }
                }
            }
        };
        parallel::for_each_chunk(
            &mut self.workers,
            |w| w.chunk.particles.clone(),
            &mut self.q[..n],
            &mut self.grip,
            each,
        );
    }

    /// Forces of the air on every triangle, held for the time `h`.
    fn renew_air(&mut self, model: &Model, h: f64) {
        for cloth in &model.cloths {
            let area_mass = 1e-3 * cloth.fabric.density;
            for t in cloth.triangles.clone() {
                let [a, b, c] = model.triangles[t].map(|i| i as usize);
                let x = |i: usize| self.x[i].xyz();
                let v = |i: usize| self.v[i].xyz();
                let stream = model.air.wind - (v(a) + v(b) + v(c)) / 3.0;
                let normal = (x(b) - x(a)).cross(x(c) - x(a));
                self.triangle_force[t] =
                    Vec4::from(air::force(normal, stream, &model.air, area_mass, h) / 3.0);
            }
        }
        self.held.fill(Vec4::ZERO);
        for (triangle, force) in model.triangles.iter().zip(&self.triangle_force) {
            triangle.iter().for_each(|i| self.held[*i as usize] += *force);
        }
    }

    fn load(&mut self, state: &State) {
        for (i, (x, v)) in state.positions.iter().zip(&state.velocities).enumerate() {
            (self.x[i], self.v[i]) = ((*x).into(), (*v).into());
        }
        let slots = self.hard.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&state.memory[FIRST_TENSION..]) {
            self.tension[*slot as usize / LANES].0[*slot as usize % LANES] = *tension;
        }
    }

    fn store(&self, state: &mut State, pace: &Pace) {
        let each = |from: &[Vec4], to: &mut [DVec3]| to.iter_mut().zip(from).for_each(|(t, f)| *t = f.xyz());
        each(&self.x, &mut state.positions);
        each(&self.v, &mut state.velocities);
        state.memory[..FIRST_TENSION].copy_from_slice(&pace.memory());
        let slots = self.hard.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&mut state.memory[FIRST_TENSION..]) {
            *tension = self.tension[*slot as usize / LANES].0[*slot as usize % LANES];
        }
    }
}

/// All blocks of all groups, one group after the other.
fn sweep(
    strips: &Strips,
    q: &mut [Vec4],
    tension: &mut [Lanes],
    scratch: &mut [Vec<Row>],
    work: impl Fn(&Block, Particles, &mut [Lanes], &mut [Row]) + Sync,
) {
    let q = Particles(q.as_mut_ptr());
    let mut left = tension;
    for group in &strips.groups {
        let rows = group.iter().map(|b| b.rows().len()).sum();
        let (own, rest) = std::mem::take(&mut left).split_at_mut(rows);
        strips::each_block(group, own, scratch, &|block, tension, rows| work(block, q, tension, rows));
        left = rest;
    }
}

/// Tensions as one list of numbers.
fn numbers(lanes: &[Lanes]) -> &[f64] {
    // SAFETY: `Lanes` is `repr(C)` around eight numbers.
    unsafe { std::slice::from_raw_parts(lanes.as_ptr().cast(), LANES * lanes.len()) }
}
