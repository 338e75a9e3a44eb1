//! Inextensible cloth by impulses that look one step ahead (P1, P2), in sub-steps that the program chooses.

use super::impulse_around::Around;
use super::impulse_pace::{Pace, Verdict};
use super::impulse_parts as parts;
use super::impulse_shortfall::Reaches;
use super::report::{Stages, StepError, StepReport};
use crate::math::Vec4;
use crate::math::lanes::{InstructionSet, LANES, Lanes};
use crate::model::{Model, State};
use crate::parallel;
use crate::solve::blocks::{self, Block, Strips};
use crate::solve::pull::{self, Lead, Pull, SubStep, Sums};
use crate::solve::strips::{self, Limits, Particles, Row};
use std::ops::Range;
use std::time::Instant;

/// Particles from which threads pay, those in the part of one thread, and the most parts of strips.
const LARGE: usize = 20_000;
const CHUNK: usize = 2048;
const MOST_LOTS: usize = 16;
/// Share of h² f / m by which a force displaces a particle in a sub-step, while its velocity changes by h f / m. With 1 (as in P1 and P2, and for
/// particles in contact or torn apart) a swing of angular frequency ω loses the share ω h of its energy per radian, with less as much less.
const SHARE: f64 = 0.6;
/// Strain at the start of a step beyond which edges are put right without giving their error a velocity to spare.
const TORN: f64 = 0.1;
/// The most sweeps that bring the end of a step to its tolerance, and how many may pass without gaining a tenth.
const MOST_SWEEPS: u32 = 300;
const STALLED: u32 = 60;
/// In a sub-step edges that push start again from 0: what is pressed gives way sideways.
const KEEP_PULLS: Limits = Limits { least_tension: 0.0, ..Limits::NONE };
/// In the last sweeps edges may give by this share of the tolerance.
const LAST_GIVE: f64 = 0.5;
/// Where tensions start in the memory of a state; the pace stands before them.
const FIRST_TENSION: usize = 2;

/// Scratch of the method.
#[derive(Debug)]
pub struct Impulse {
    set: InstructionSet,
    hard: Strips,
    soft: Strips,
    /// Bends that no strip has.
    lone_bends: Vec<usize>,
    pull: Pull,
    /// Tension per length of every edge, hard rows first [N/m]; and what it was before the last sweeps.
    tension: Vec<Lanes>,
    kept: Vec<Lanes>,
    /// Positions at the start of a sub-step, after free motion (with a fourth number 1), and at its end with mobilities [m, m/N]. Particles that
    /// stand for none come last.
    x: Vec<Vec4>,
    y: Vec<Vec4>,
    q: Vec<Vec4>,
    /// What contacts have done in this sub-step: tangential correction, and push in the fourth number [m].
    grip: Vec<Vec4>,
    /// Per particle the share of this step, or 1 where it was in contact.
    share: Vec<f64>,
    step_share: f64,
    around: Around,
    workers: Vec<Worker>,
    scratch: Vec<Vec<Row>>,
    /// √(m / k) of shear [s].
    shear_time: f64,
    reaches: Reaches,
    stages: Stages,
}

/// Some particles of one cloth, and what came of them.
#[derive(Debug)]
struct Worker {
    particles: Range<usize>,
    cloth: usize,
    sums: Sums,
    contacts: u32,
}

impl Impulse {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let n = model.particle_count();
        let (hard, lone_bends) = parts::hard(model);
        let (diagonals, soft) = parts::soft(model, &hard);
        let lots = if n < LARGE { 1 } else { MOST_LOTS };
        let mut room = vec![Vec4::ZERO; n + hard.idle + soft.idle];
        // Every second one that stands for none is a metre away, so that edges between them have their rest length.
        room[n..].iter_mut().skip(1).step_by(2).for_each(|p| p.0[0] = 1.0);
        Self {
            set: InstructionSet::available()[0],
            pull: Pull::new(n, ends(&model.edges, &hard).chain(ends(&diagonals, &soft))),
            tension: vec![Lanes::ZERO; hard.rows + soft.rows],
            kept: vec![Lanes::ZERO; hard.rows],
            x: room.clone(),
            y: vec![Vec4::ZERO; n],
            q: room,
            grip: vec![Vec4::ZERO; n],
            share: vec![SHARE; n],
            step_share: SHARE,
            around: Around::new(model),
            workers: workers(model),
            scratch: vec![vec![Row::default(); hard.longest.max(soft.longest)]; lots],
            shear_time: parts::shear_time(model),
            reaches: Reaches::default(),
            stages: Stages::default(),
            hard,
            soft,
            lone_bends,
        }
    }

    /// How many numbers a state remembers for this method: the pace, the tension of every edge, and the share of every particle.
    pub fn memory(&self) -> usize {
        FIRST_TENSION + self.hard.slots.len() + self.soft.slots.len() + self.share.len()
    }

    /// Moves `state` on by one step of the model; a step that went wrong is taken again in smaller sub-steps.
    pub fn step(&mut self, model: &Model, state: &mut State) -> Result<StepReport, StepError> {
        let mut report = StepReport { shortest_substep: f64::INFINITY, ..StepReport::default() };
        self.stages = Stages::default();
        let mut pace = Pace::new(model, self.shear_time, [state.memory[0], state.memory[1]]);
        while self.attempt(model, state, &mut pace, &mut report) != Verdict::Good {
            pace.again();
        }
        self.store(state, &pace, report.shortest_substep);
        if !report.converged {
            report.shortfall = Some(self.reaches.shortfall(model, &state.positions));
        }
        report.contacts = self.workers.iter().map(|w| w.contacts).sum();
        report.stages = self.stages;
        Ok(report)
    }

    /// All sub-steps of a step, and the sweeps that bring its end to the tolerance.
    fn attempt(&mut self, model: &Model, state: &State, pace: &mut Pace, report: &mut StepReport) -> Verdict {
        let count = pace.substeps();
        let h = model.step_time / f64::from(count);
        report.shortest_substep = h;
        self.load(state, h);
        for k in 0..count {
            let begun = Instant::now();
            let time = state.time + f64::from(k) * h;
            self.around.renew_air(model, (&self.x, &self.y), (k, count), time, h);
            self.around.move_bodies(model, time, h);
            self.around.lead_pins(model, &mut self.y);
            self.stages.add("air", begun.elapsed().as_secs_f64());
            let sums = self.substep(model, h);
            report.substeps += 1;
            report.iterations += 1;
            if pace.judge(&sums) == Verdict::Lost {
                return Verdict::Lost;
            }
        }
        self.reach_tolerance(model, pace, report)
    }

    /// One sub-step: free motion with all that pulls (P1 eq. 1-2), position impulses (P1 §3.3), contacts, new velocities.
    fn substep(&mut self, model: &Model, h: f64) -> Sums {
        let begun = Instant::now();
        let sums = self.pull(model, h);
        let pulled = Instant::now();
        self.bend(model, h);
        let bent = Instant::now();
        self.shear();
        let sheared = Instant::now();
        self.correct(KEEP_PULLS);
        let corrected = Instant::now();
        self.touch(model);
        self.advance(model, h);
        let stages = [
            ("pull", begun, pulled),
            ("bend", pulled, bent),
            ("shear", bent, sheared),
            ("lengths", sheared, corrected),
        ];
        stages.into_iter().for_each(|(name, from, to)| self.stages.add(name, (to - from).as_secs_f64()));
        self.stages.add("contact and move", corrected.elapsed().as_secs_f64());
        sums
    }

    /// The free motion under all that pulls.
    fn pull(&mut self, model: &Model, h: f64) -> Sums {
        let (held, tension) = (self.around.held(), numbers(&self.tension));
        let now = SubStep { model, h, x: &self.x, y: &self.y, held, tension, share: &self.share };
        let (pull, set) = (&self.pull, self.set);
        let n = model.particle_count();
        each_chunk(&mut self.workers, &mut self.q[..n], &mut self.grip, |worker, q, grip| {
            worker.sums = pull::apply(set, pull, worker.particles.clone(), &now, q);
            grip.fill(Vec4::ZERO);
        });
        self.workers.iter().fold(Sums::default(), |all, worker| Sums {
            moving: all.moving + worker.sums.moving,
            added: all.added + worker.sums.added,
        })
    }

    /// Bending along strips, then of bends that no strip has.
    fn bend(&mut self, model: &Model, h: f64) {
        let (set, x) = (self.set, Particles(self.x.as_mut_ptr()));
        let work = |block: &Block, q, _: &mut [Lanes], _: &mut [Row]| strips::bend(set, block, x, q, h);
        sweep(&self.hard, &mut self.q, &mut self.tension[..self.hard.rows], &mut self.scratch, work);
        self.lone_bends.iter().for_each(|b| parts::bend_one(model, *b, h, &self.x, &mut self.q));
    }

    /// Diagonals as implicit springs, one group of strips after the other.
    fn shear(&mut self) {
        let set = self.set;
        let work = |block: &Block, q, tension: &mut [Lanes], rows: &mut [Row]| {
            strips::soft(set, block, q, tension, rows)
        };
        sweep(&self.soft, &mut self.q, &mut self.tension[self.hard.rows..], &mut self.scratch, work);
    }

    /// Position impulses along all strips, one group after the other.
    fn correct(&mut self, limits: Limits) {
        let set = self.set;
        let work = |block: &Block, q, tension: &mut [Lanes], rows: &mut [Row]| {
            strips::hard(set, block, q, tension, rows, limits)
        };
        sweep(&self.hard, &mut self.q, &mut self.tension[..self.hard.rows], &mut self.scratch, work);
    }

    /// Contacts with friction inside the iteration.
    fn touch(&mut self, model: &Model) {
        let (around, x, n) = (&self.around, &self.x, model.particle_count());
        if !model.colliders.is_empty() {
            each_chunk(&mut self.workers, &mut self.q[..n], &mut self.grip, |worker, q, grip| {
                worker.contacts = around.touch(model, worker.particles.clone(), worker.cloth, x, q, grip);
            });
        }
    }

    /// The end of a sub-step is the start of the next, and its velocity leads on.
    fn advance(&mut self, model: &Model, h: f64) {
        let (set, n) = (self.set, model.particle_count());
        let now = Lead { model, h, q: &self.q, grip: &self.grip, share: &self.share };
        each_chunk(&mut self.workers, &mut self.x[..n], &mut self.y, |worker, x, y| {
            pull::lead_on(set, worker.particles.clone(), &now, x, y);
        });
        if !model.colliders.is_empty() {
            let free = self.step_share;
            let of = |grip: &Vec4| if grip.0[3] > 0.0 { 1.0 } else { free };
            self.share.iter_mut().zip(&self.grip).for_each(|(share, grip)| *share = of(grip));
        }
    }

    /// Sweeps until every hard edge at the end of the step is within the tolerance; velocities stay.
    fn reach_tolerance(&mut self, model: &Model, pace: &mut Pace, report: &mut StepReport) -> Verdict {
        let begun = Instant::now();
        let before = self.strain(&self.q);
        let reached = |strain: f64| strain <= model.tolerance;
        let (mut strain, mut best, mut sweeps, mut best_at) = (before, before, 0, 0);
        if !reached(strain) {
            let last = Limits { most_give: LAST_GIVE * model.tolerance, ..Limits::NONE };
            self.around.stop_bodies();
            self.grip.fill(Vec4::ZERO);
            self.kept.copy_from_slice(&self.tension[..self.hard.rows]);
            while !reached(strain) && sweeps < MOST_SWEEPS.min(best_at + STALLED) {
                self.correct(last);
                self.touch(model);
                strain = self.strain(&self.q);
                sweeps += 1;
                if strain < 0.9 * best {
                    (best, best_at) = (strain, sweeps);
                }
            }
            // What these sweeps moved without a velocity is not tension that the next step may start from.
            self.tension[..self.hard.rows].copy_from_slice(&self.kept);
        }
        self.stages.add("last sweeps", begun.elapsed().as_secs_f64());
        report.iterations += sweeps;
        report.converged = reached(strain);
        pace.conclude(before, sweeps, report.converged)
    }

    /// The largest strain of a hard edge at positions that end with those of no particle.
    fn strain(&self, positions: &[Vec4]) -> f64 {
        let q = Particles(positions.as_ptr().cast_mut());
        let (mut most, mut least, mut lost) = (1.0_f64, 1.0_f64, 0.0);
        for block in self.hard.groups.iter().flatten() {
            let [up, down] = strips::extent(self.set, block, q);
            (most, least, lost) = (most.max(up), least.min(down), lost + 0.0 * up);
        }
        (most.sqrt() - 1.0).max(1.0 - least.sqrt()) + lost
    }

    fn load(&mut self, state: &State, h: f64) {
        for (i, (x, v)) in state.positions.iter().zip(&state.velocities).enumerate() {
            (self.x[i], self.y[i]) = ((*x).into(), (*x + h * *v).into());
            self.y[i].0[3] = 1.0;
        }
        let slots = self.hard.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&state.memory[FIRST_TENSION..]) {
            self.tension[*slot as usize / LANES].0[*slot as usize % LANES] = *tension;
        }
        self.step_share = if self.strain(&self.x) < TORN { SHARE } else { 1.0 };
        // A state at the start has no contacts and remembers zeros.
        let shares = &state.memory[state.memory.len() - self.share.len()..];
        let of = |kept: f64| if kept == 1.0 { 1.0 } else { self.step_share };
        self.share.iter_mut().zip(shares).for_each(|(to, from)| *to = of(*from));
    }

    fn store(&self, state: &mut State, pace: &Pace, h: f64) {
        for i in 0..state.positions.len() {
            state.positions[i] = self.q[i].xyz();
            state.velocities[i] = (self.y[i] - self.x[i]).xyz() / h;
        }
        state.memory[..FIRST_TENSION].copy_from_slice(&pace.memory());
        let slots = self.hard.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&mut state.memory[FIRST_TENSION..]) {
            *tension = self.tension[*slot as usize / LANES].0[*slot as usize % LANES];
        }
        let first_share = state.memory.len() - self.share.len();
        state.memory[first_share..].copy_from_slice(&self.share);
    }
}

/// Edges with the places of their tensions.
fn ends<'a>(edges: &'a [[u32; 2]], strips: &'a Strips) -> impl Iterator<Item = ([u32; 2], u32)> {
    edges.iter().copied().zip(strips.slots.iter().copied())
}

/// All particles in parts for threads; one part for each cloth where threads do not pay.
fn workers(model: &Model) -> Vec<Worker> {
    let size = if model.particle_count() < LARGE { LARGE } else { CHUNK };
    let mut workers = Vec::new();
    for (cloth, piece) in model.cloths.iter().enumerate() {
        let count = piece.particles.len().div_ceil(size).max(1);
        let cut = |k: usize| piece.particles.start + piece.particles.len() * k / count;
        let worker =
            |k: usize| Worker { particles: cut(k)..cut(k + 1), cloth, sums: Sums::default(), contacts: 0 };
        workers.extend((0..count).map(worker));
    }
    workers
}

/// Calls `work` for every part of the particles, on several threads where they pay.
fn each_chunk(
    workers: &mut [Worker],
    mut a: &mut [Vec4],
    mut b: &mut [Vec4],
    work: impl Fn(&mut Worker, &mut [Vec4], &mut [Vec4]) + Sync,
) {
    if a.len() >= LARGE {
        return parallel::for_each_chunk(workers, |w| w.particles.clone(), a, b, work);
    }
    for worker in workers {
        let (own_a, rest_a) = a.split_at_mut(worker.particles.len());
        let (own_b, rest_b) = b.split_at_mut(worker.particles.len());
        work(worker, own_a, own_b);
        (a, b) = (rest_a, rest_b);
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
        let (own, rest) = std::mem::take(&mut left).split_at_mut(group.iter().map(Block::rows).sum());
        blocks::each_block(group, own, scratch, &|block, tension, rows| work(block, q, tension, rows));
        left = rest;
    }
}

/// Tensions as one list of numbers.
fn numbers(lanes: &[Lanes]) -> &[f64] {
    // SAFETY: `Lanes` is `repr(C)` around eight numbers.
    unsafe { std::slice::from_raw_parts(lanes.as_ptr().cast(), LANES * lanes.len()) }
}
