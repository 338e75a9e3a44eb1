//! Inextensible cloth by impulses that look one step ahead (P1, P2), in sub-steps that the program chooses.

mod ccd;
mod contact;
mod elements;
mod environment;
mod final_sweeps;
mod lengths;
mod shortfall;
mod springs;
mod stitches;
mod substeps;
mod workers;

use crate::collide::{CcdStats, ContactPipeline};
use crate::math::lanes::{InstructionSet, LANES, Lanes};
use crate::math::{DVec3, Vec4};
use crate::model::{Model, State};
use crate::scene::{Direction, Method, Velocities};
use crate::solve::strips::bends::{self, Fold};
use crate::solve::strips::blocks::Strips;
use crate::solve::strips::predict::{self, PredictInputs, Predictor, Sums, VelocityUpdate};
use crate::solve::strips::tridiagonal::{self, Limits, Start, StripRow};
use crate::step::report::{Stages, StepError, StepReport};
use crate::step::rigid_bodies;
use elements as parts;
use environment::Boundary;
use final_sweeps::MOST_SWEEPS;
use lengths::{Lengths, numbers};
use shortfall::Reaches;
use springs::ExplicitSprings;
use std::time::Instant;
use stitches::StitchSolver;
use substeps::{SubstepController, Verdict};
use workers::{LARGE, ParticleWorker, each_chunk, workers};

/// The most parts of strips.
const MOST_LOTS: usize = 16;
/// With impulses along the edges at the start of a sub-step: h²/2 f / m (P1 eq. 1), and impulses as they are. With velocity impulses that is RATTLE.
const SHARE_AS_PRINTED: f64 = 0.5;
/// Share of h² f / m by which a force displaces a particle in a sub-step, while its velocity changes by h f / m. With 1 (as in P1 and P2, and for
/// particles in contact, torn apart, corrected edge by edge or too seldom) a swing of angular frequency ω loses the share ω h of its energy per radian, with less as much less.
const SHARE: f64 = 0.6;
/// Share of its tension that an edge keeps from sub-step to sub-step; what is missing is found again. What else holds a strip, its bends or friction, answers a pull
/// only after it has moved the strip, and what has to stop what it moved meanwhile must not last: kept whole, a strip that hangs trembles for ever, and a belt is
/// shaken off its drum. With three tenths a taut row between two pins is lost.
const WARM_START: f64 = 0.5;
/// The same where edges are corrected one by one, which finds less of it again.
const WARM_START_BY_EDGES: f64 = 0.9;
/// Strain at the start of a step beyond which edges are put right without giving their error a velocity to spare.
pub(super) const INFEASIBLE: f64 = 0.1;
/// Sweeps over contacts of features in one over edges: through a stack a push goes layer by layer.
const CONTACT_SWEEPS: u32 = 4;
/// An error that edges have at the start of a sub-step goes within this time [s]: at once it would make the more velocity the shorter the sub-step.
const MENDING: f64 = 1e-3;
/// In a sub-step edges that push start again from 0: what is pressed gives way sideways.
const KEEP_PULLS: Limits = Limits { least_tension: 0.0, ..Limits::NONE };
/// Where tensions start in the memory of a state; what the sub-step controller remembers stands before them.
pub(in crate::step) const FIRST_TENSION: usize = 2;

/// Scratch of the method.
#[derive(Debug)]
pub struct Impulse {
    set: InstructionSet,
    pub(super) lengths: Lengths,
    soft: Strips,
    /// Strips for bends, if those of `lengths` are too short; and bends that no strip has.
    bent: Option<Strips>,
    lone_bends: Vec<usize>,
    pull: Predictor,
    /// Tension per length of every edge, hard rows first [N/m]; and what it was before the last sweeps.
    pub(super) tension: Vec<Lanes>,
    pub(super) saved_tension: Vec<Lanes>,
    /// Positions at the start of a sub-step, after free motion (with a fourth number 1), and at its end with mobilities [m, m/N]. Particles that
    /// stand for none come last.
    pub(super) x: Vec<Vec4>,
    pub(super) y: Vec<Vec4>,
    pub(super) q: Vec<Vec4>,
    /// What contacts have done in this sub-step: tangential correction, and push in the fourth number [m].
    pub(super) grip: Vec<Vec4>,
    /// Per particle the share of this step, or 1 where it was in contact.
    share: Vec<f64>,
    step_share: f64,
    /// Whether edges were beyond repair by a sub-step when the step began.
    infeasible_start: bool,
    /// Whether the scene allows fewer iterations than sub-steps are needed: nothing is kept then, which is soft and stable.
    early: bool,
    /// As P1 and P2 print it: impulses along the edges at the start of a sub-step, from nothing in every one, and explicit springs.
    as_printed: Option<ExplicitSprings>,
    pub(super) around: Boundary,
    pub(super) links: StitchSolver,
    workers: Vec<ParticleWorker>,
    scratch: Vec<Vec<StripRow>>,
    folds: Vec<Vec<Fold>>,
    /// √(m / k) of shear [s].
    shear_time: f64,
    reaches: Reaches,
    pub(super) stages: Stages,
}

impl Impulse {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let n = model.particle_count();
        let single = model.method == Method::ImpulseIterative;
        let (straight, lone_bends) = parts::hard(model, false);
        let (hard, bent) =
            if single { (parts::hard(model, true).0, Some(straight)) } else { (straight, None) };
        let (diagonals, soft) = parts::soft(model, &hard);
        let set = InstructionSet::available()[0];
        let idle = bent.as_ref().map_or(0, |b| b.idle).max(hard.idle + soft.idle);
        let longest = bent.as_ref().map_or(0, |b| b.longest).max(hard.longest).max(soft.longest);
        let lots = if n < LARGE { 1 } else { MOST_LOTS };
        let mut room = vec![Vec4::ZERO; n + idle];
        // Every second one that stands for none is a metre away, so that edges between them have their rest length.
        room[n..].iter_mut().skip(1).step_by(2).for_each(|p| p.0[0] = 1.0);
        Self {
            set,
            pull: Predictor::new(n, ends(&model.edges, &hard).chain(ends(&diagonals, &soft))),
            tension: vec![Lanes::ZERO; hard.rows + soft.rows],
            saved_tension: vec![Lanes::ZERO; bent.as_ref().map_or(0, |b| b.rows).max(hard.rows)],
            x: room.clone(),
            y: room.clone(),
            q: room,
            grip: vec![Vec4::ZERO; n],
            share: vec![SHARE; n],
            step_share: SHARE,
            infeasible_start: false,
            early: false,
            as_printed: (model.direction == Direction::Start).then(|| ExplicitSprings::new(model)),
            around: Boundary::new(model),
            links: StitchSolver::new(model),
            workers: workers(model),
            scratch: vec![vec![StripRow::default(); longest]; lots],
            folds: vec![vec![Fold::default(); longest]; lots],
            shear_time: parts::shear_time(model),
            reaches: Reaches::default(),
            stages: Stages::default(),
            lengths: Lengths::new(model, hard, set),
            soft,
            bent,
            lone_bends,
        }
    }

    /// How many numbers a state remembers for this method: those of the sub-step controller, the tension of every edge, and the share of every particle.
    pub fn memory(&self) -> usize {
        FIRST_TENSION + self.lengths.strips.slots.len() + self.soft.slots.len() + self.share.len()
    }

    /// Moves `state` on by one step of the model; a step that went wrong is taken again in smaller sub-steps.
    pub fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        mut pipeline: Option<&mut ContactPipeline>,
    ) -> Result<StepReport, StepError> {
        let mut report = StepReport { shortest_substep: f64::INFINITY, ..StepReport::default() };
        self.stages = Stages::default();
        let iterations = if self.as_printed.is_some() { 1 } else { self.lengths.iterations_per_substep };
        let mut controller =
            SubstepController::new(model, self.shear_time, iterations, [state.memory[0], state.memory[1]]);
        if let Some(springs) = &self.as_printed {
            controller.at_least(springs.fewest(model)?);
        }
        while self.attempt(model, state, pipeline.as_deref_mut(), &mut controller, &mut report)
            != Verdict::Good
        {
            controller.again();
        }
        self.store(state, &controller, report.shortest_substep);
        if !report.converged {
            report.shortfall = Some(self.reaches.shortfall(model, &state.positions));
        }
        report.redundant = self.lengths.redundant(&self.q);
        report.contacts = self.workers.iter().map(|w| w.contacts).sum();
        report.contacts += pipeline.map_or(0, |pipeline| pipeline.touching());
        report.stages = self.stages;
        Ok(report)
    }

    /// All sub-steps of a step, and the sweeps that bring its end to the tolerance.
    fn attempt(
        &mut self,
        model: &Model,
        state: &State,
        mut pipeline: Option<&mut ContactPipeline>,
        controller: &mut SubstepController,
        report: &mut StepReport,
    ) -> Verdict {
        let count = controller.substeps();
        let h = model.step_time / f64::from(count);
        report.shortest_substep = h;
        report.settled = CcdStats::default();
        self.early = controller.is_early();
        self.bent.as_mut().unwrap_or(&mut self.lengths.strips).pace_bends(h);
        self.load(state, h);
        let (mut begun_at, mut ends_at) = (0, 0);
        for k in 0..count {
            if let Some(pipeline) = &mut pipeline {
                if k == ends_at {
                    begun_at = k;
                    ends_at = k + self.begin_window(pipeline, model, state.time, (k, count), h);
                }
                pipeline.begin_substep(model, [k, k + 1].map(|k| state.time + f64::from(k) * h));
            }
            let begun = Instant::now();
            let time = state.time + f64::from(k) * h;
            self.around.renew_air(model, (&self.x, &self.y), (k, count), time, h);
            self.around.move_bodies(model, time, h);
            self.around.lead_pins(model, &mut self.y);
            self.links.begin(model, time, h, &self.x);
            self.stages.add("air", begun.elapsed().as_secs_f64());
            let left = model.max_iterations.unwrap_or(u32::MAX) - report.iterations;
            let (sums, sweeps) = self.substep(model, h, pipeline.as_deref_mut(), left / (count - k));
            report.substeps += 1;
            report.iterations += sweeps;
            if controller.judge(&sums) == Verdict::Lost {
                return Verdict::Lost;
            }
            if let Some(pipeline) = pipeline.as_deref_mut().filter(|_| k + 1 == ends_at && ends_at < count) {
                report.settled += self.settle(pipeline, model, f64::from(ends_at - begun_at));
                let n = model.particle_count();
                self.x[..n].copy_from_slice(&self.q[..n]);
                self.x[..n].iter_mut().for_each(|x| x.0[3] = 0.0);
            }
        }
        let verdict = self.reach_tolerance(model, pipeline.as_deref_mut(), h, controller, report);
        if let Some(pipeline) = pipeline {
            report.settled += self.settle(pipeline, model, f64::from(count - begun_at));
            self.mend(pipeline, model, state.time + model.step_time, h, report);
        }
        verdict
    }

    /// One sub-step: free motion with all that pulls (P1 eq. 1-2), position impulses (P1 §3.3) and contacts, new velocities. Returns how many iterations
    /// it took, of `most`.
    fn substep(
        &mut self,
        model: &Model,
        h: f64,
        pipeline: Option<&mut ContactPipeline>,
        most: u32,
    ) -> (Sums, u32) {
        let begun = Instant::now();
        if let Some(springs) = &mut self.as_printed {
            self.tension.fill(Lanes::ZERO);
            springs.renew(model, (&self.x, &self.y), self.around.held(), h);
        }
        let sums = self.pull(model, h);
        let pulled = Instant::now();
        let implicit = self.as_printed.is_none();
        if implicit {
            self.bend(model, h);
        }
        let bent = Instant::now();
        if implicit {
            self.shear();
        }
        self.links.sew(model, &mut self.q);
        let sheared = Instant::now();
        let sweeps = self.keep_lengths(model, h, pipeline, most);
        let corrected = Instant::now();
        self.advance(model, h);
        if model.velocities == Velocities::Corrected {
            let tension = &mut self.saved_tension[..self.lengths.strips.rows];
            self.lengths.project_velocities(&self.q, &mut self.y, tension, &mut self.scratch);
        }
        let stages = [
            ("pull", begun, pulled),
            ("bend", pulled, bent),
            ("shear and seams", bent, sheared),
            ("lengths and contact", sheared, corrected),
            ("move", corrected, Instant::now()),
        ];
        stages.into_iter().for_each(|(name, from, to)| self.stages.add(name, (to - from).as_secs_f64()));
        (sums, sweeps)
    }

    /// The free motion under all that pulls.
    fn pull(&mut self, model: &Model, h: f64) -> Sums {
        let held = self.as_printed.as_ref().map_or(self.around.held(), ExplicitSprings::forces);
        let tension = numbers(&self.tension);
        let (x, y, share, warm_start) = (&self.x[..], &self.y[..], &self.share[..], self.warm_start());
        let now = PredictInputs { model, h, x, y, held, tension, warm_start, share };
        let (pull, set, touches) = (&self.pull, self.set, model.touches());
        let (n, all) = (model.cloth_particle_count(), model.particle_count());
        each_chunk(&mut self.workers, &mut self.q[..n], &mut self.grip, |worker, q, grip| {
            worker.sums = predict::apply(set, pull, worker.particles.clone(), &now, q);
            if touches {
                grip.fill(Vec4::ZERO);
            }
        });
        self.grip[n..].fill(Vec4::ZERO);
        for i in n..all {
            let v = Vec4::from((self.y[i] - self.x[i]).xyz() / h);
            self.q[i] = self.x[i] + rigid_bodies::pulled(model, v, h) * h;
        }
        self.workers.iter().fold(Sums::default(), |all, worker| Sums {
            moving: all.moving + worker.sums.moving,
            added: all.added + worker.sums.added,
        })
    }

    /// Share of the tensions at the end of the last sub-step that this one starts from.
    fn warm_start(&self) -> f64 {
        match () {
            () if self.early => 0.0,
            () if self.lengths.iterations_per_substep > 1 => WARM_START_BY_EDGES,
            () => WARM_START,
        }
    }

    /// Bending along strips, then of bends that no strip has.
    fn bend(&mut self, model: &Model, h: f64) {
        let (set, x) = (self.set, &self.x);
        let strips = self.bent.as_ref().unwrap_or(&self.lengths.strips);
        // Bends have no tensions: any room will do.
        strips.sweep(&mut self.q, &mut self.saved_tension, &mut self.folds, |q, _, folds| {
            bends::bend(set, x, q, folds)
        });
        self.lone_bends.iter().for_each(|b| parts::bend_one(model, *b, h, &self.x, &mut self.q));
    }

    /// Diagonals as implicit springs, one group of strips after the other.
    fn shear(&mut self) {
        let (set, warm_start) = (self.set, self.warm_start());
        let tension = &mut self.tension[self.lengths.strips.rows..];
        self.soft.sweep(&mut self.q, tension, &mut self.scratch, |q, tension, rows| {
            tridiagonal::soft(set, q, tension, rows, warm_start)
        });
    }

    /// One iteration of position impulses over all hard edges; `far` from their lengths, if so. The share `left` of the errors at the start of the sub-step stays.
    pub(super) fn correct(&mut self, limits: Limits, far: bool, left: f64) {
        let tension = &mut self.tension[..self.lengths.strips.rows];
        let start = match (&self.as_printed, left > 0.0) {
            (Some(_), _) => Start::Directions(&self.x[..]),
            (None, true) => Start::Errors(&self.x[..], left),
            (None, false) => Start::Unused,
        };
        self.lengths.correct(&mut self.q, start, tension, &mut self.scratch, limits, far);
    }

    /// Position impulses of a sub-step: one iteration, or several while the tolerance is missed. At most `most`; returns how many.
    fn keep_lengths(
        &mut self,
        model: &Model,
        h: f64,
        mut pipeline: Option<&mut ContactPipeline>,
        most: u32,
    ) -> u32 {
        let most = most.min(match &self.as_printed {
            Some(_) => MOST_SWEEPS,
            None if self.infeasible_start => 1,
            None => self.lengths.iterations_per_substep,
        });
        let mut sweeps = 0;
        while sweeps < most {
            let warm_start = if sweeps == 0 { self.warm_start() } else { 1.0 };
            self.correct(
                Limits { warm_start, ..KEEP_PULLS },
                self.infeasible_start,
                (1.0 - h / MENDING).max(0.0),
            );
            // Edges open seams again: at the end of a step they have the last word, here seams do.
            self.links.sew(model, &mut self.q);
            self.touch(model, h, pipeline.as_deref_mut());
            sweeps += 1;
            if sweeps < most && self.lengths.strain(&self.q) <= model.tolerance {
                break;
            }
        }
        sweeps
    }

    /// Contacts with friction inside the iteration.
    pub(super) fn touch(&mut self, model: &Model, h: f64, mut pipeline: Option<&mut ContactPipeline>) {
        let (around, x, n) = (&self.around, &self.x, model.particle_count());
        let of_cloths = model.cloth_particle_count();
        for sweep in 0..CONTACT_SWEEPS {
            if !model.colliders.is_empty() {
                each_chunk(&mut self.workers, &mut self.q[..of_cloths], &mut self.grip, |worker, q, grip| {
                    let of = (worker.particles.clone(), worker.cloth);
                    worker.contacts = around.touch(model, of, x, q, grip, sweep > 0);
                });
            }
            let grip = &mut self.grip;
            // A push however small tells that a particle touches.
            let touched = |i: usize, _| grip[i].0[3] = f64::max(grip[i].0[3], f64::MIN_POSITIVE);
            if !pipeline
                .as_mut()
                .is_some_and(|pipeline| pipeline.project_contacts(x, &mut self.q[..n], h, touched))
            {
                break;
            }
        }
    }

    /// The end of a sub-step is the start of the next, and its velocity leads on.
    fn advance(&mut self, model: &Model, h: f64) {
        self.lead_bodies(model);
        if self.as_printed.is_some() {
            return self.advance_as_printed(model, h);
        }
        let (set, n) = (self.set, model.cloth_particle_count());
        let grip = if model.touches() { &self.grip[..] } else { &[] };
        let now = VelocityUpdate { model, h, q: &self.q, grip, share: &self.share };
        each_chunk(&mut self.workers, &mut self.x[..n], &mut self.y[..n], |worker, x, y| {
            predict::update_velocities(set, worker.particles.clone(), &now, x, y);
        });
        if model.touches() {
            let free = self.step_share;
            let of = |grip: &Vec4| if grip.0[3] > 0.0 { 1.0 } else { free };
            self.share.iter_mut().zip(&self.grip).for_each(|(share, grip)| *share = of(grip));
        }
    }

    /// The same as P1 eq. 1-2 print it: forces have displaced by h²/2 f / m and give the velocity h f / m, impulses displace by h times their velocity.
    fn advance_as_printed(&mut self, model: &Model, h: f64) {
        let slower = 1.0 / (1.0 + h * model.air.damping);
        let forces = self.as_printed.as_ref().map_or(self.around.held(), ExplicitSprings::forces);
        for i in 0..model.cloth_particle_count() {
            let (way, w) = ((self.q[i] - self.x[i]).xyz(), model.inverse_mass[i]);
            let free = w > 0.0 && self.grip[i].0[3] == 0.0;
            let force = model.gravity + forces.get(i).map_or(DVec3::ZERO, |f| w * f.xyz());
            let way = if free { way + SHARE_AS_PRINTED * h * h * force } else { way };
            let wind = h * h * model.air.damping * model.air.wind;
            let way = if w > 0.0 { (way + wind) * slower } else { way };
            self.x[i] = self.q[i].xyz().into();
            self.y[i] = (self.q[i].xyz() + way).into();
            self.y[i].0[3] = 1.0;
        }
    }

    fn load(&mut self, state: &State, h: f64) {
        for (i, (x, v)) in state.positions.iter().zip(&state.velocities).enumerate() {
            (self.x[i], self.y[i]) = ((*x).into(), (*x + h * *v).into());
            self.y[i].0[3] = 1.0;
        }
        // Edges that stand for none have tensions too, which no state remembers.
        self.tension.fill(Lanes::ZERO);
        let slots = self.lengths.strips.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&state.memory[FIRST_TENSION..]) {
            self.tension[*slot as usize / LANES].0[*slot as usize % LANES] = *tension;
        }
        if self.as_printed.is_some() {
            return self.share.fill(SHARE_AS_PRINTED);
        }
        self.infeasible_start = self.lengths.strain(&self.x) >= INFEASIBLE;
        self.step_share = if self.infeasible_start || self.early || self.lengths.iterations_per_substep > 1 {
            1.0
        } else {
            SHARE
        };
        // A state at the start has no contacts and remembers zeros.
        let shares = &state.memory[state.memory.len() - self.share.len()..];
        let of = |kept: f64| if kept == 1.0 { 1.0 } else { self.step_share };
        self.share.iter_mut().zip(shares).for_each(|(to, from)| *to = of(*from));
        // As `predict::update_velocities` has it.
        let of_cloths = self.workers.last().map_or(0, |worker| worker.particles.end);
        let touched = self.x[..of_cloths].iter_mut().zip(shares);
        touched.for_each(|(x, kept)| x.0[3] = f64::from(u8::from(*kept != 1.0)));
    }

    fn store(&self, state: &mut State, controller: &SubstepController, h: f64) {
        for i in 0..state.positions.len() {
            state.positions[i] = self.q[i].xyz();
            state.velocities[i] = (self.y[i] - self.x[i]).xyz() / h;
        }
        state.memory[..FIRST_TENSION].copy_from_slice(&controller.memory());
        let slots = self.lengths.strips.slots.iter().chain(&self.soft.slots);
        for (slot, tension) in slots.zip(&mut state.memory[FIRST_TENSION..]) {
            *tension = self.tension[*slot as usize / LANES].0[*slot as usize % LANES];
        }
        let first_share = state.memory.len() - self.share.len();
        // A whole share tells a contact, unless all particles had it.
        let all = self.step_share == 1.0;
        let kept = |share: f64| if all { 0.0 } else { share };
        state.memory[first_share..].iter_mut().zip(&self.share).for_each(|(to, share)| *to = kept(*share));
    }
}

/// Edges with the places of their tensions.
fn ends<'a>(edges: &'a [[u32; 2]], strips: &'a Strips) -> impl Iterator<Item = ([u32; 2], u32)> {
    edges.iter().copied().zip(strips.slots.iter().copied())
}
