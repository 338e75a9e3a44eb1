//! Inextensible cloth by impulses that look one step ahead (P1, P2), in sub-steps that the program chooses.

mod ccd;
mod drift;
mod elements;
mod fall_back;
mod final_sweeps;
mod hands;
mod lengths;
mod nearby;
mod rest;
mod shortfall;
mod springs;
mod stitches;
mod substeps;
mod workers;

use super::Integrator;
use crate::collide::rigid::touch::Asked;
use crate::math::lanes::{InstructionSet, LANES, Lanes};
use crate::math::{DVec3, Vec4};
use crate::model::memory::ImpulseMemory;
use crate::model::params::ImpulseParams;
use crate::model::{Direction, Environment, Memory, Method, Model, State, Velocities};
use crate::parallel;
use crate::solve::strips::bends;
use crate::solve::strips::blocks::Strips;
use crate::solve::strips::predict::{self, PredictInputs, Predictor, Sums, VelocityUpdate};
use crate::solve::strips::tridiagonal::{self, Limits, Start};
use crate::solve::strips::twists::{self, RowTwist};
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::report::StepError;
use crate::step::{pressing, rigid_bodies, solid_contact};
use elements as parts;
use elements::RubbingEdge;
pub use elements::{ImpulseCut, StripCut};
use fall_back::FallBack;
use hands::YieldingHands;
use lengths::{Lengths, StripScratch, numbers};
use nearby::Nearby;
use rest::is_at_rest;
pub use shortfall::Reaches;
use springs::ExplicitSprings;
use stitches::StitchSolver;
pub use substeps::SubstepController;
use workers::ParticleWorkers;

/// With impulses along the edges at the start of a sub-step: h²/2 f / m (P1 eq. 1), and impulses as they are. With velocity impulses that is RATTLE.
const SHARE_AS_PRINTED: f64 = 0.5;
/// In a sub-step edges that push start again from 0: what is pressed gives way sideways.
const KEEP_PULLS: Limits = Limits { least_tension: 0.0, ..Limits::NONE };

/// Scratch of the method.
#[derive(Debug)]
pub struct Impulse {
    params: ImpulseParams,
    set: InstructionSet,
    pub(super) lengths: Lengths,
    soft: Strips,
    /// Diagonals with a slider beside them.
    rubbing: Vec<RubbingEdge>,
    /// Strips for bends, if those of `lengths` are too short; and bends that no strip has.
    bent: Option<Strips>,
    lone_bends: Vec<usize>,
    /// Quads in ladders, and the twists that they had a sub-step ago.
    ladders: Strips,
    twists: Vec<RowTwist>,
    pull: Predictor,
    /// Tension per length of every edge, hard rows first [N/m]; and what it was before the last sweeps.
    pub(super) tension: Vec<Lanes>,
    pub(super) saved_tension: Vec<Lanes>,
    /// Positions at the start of a sub-step, after free motion (with a fourth number 1), and at its end with mobilities [m, m/N]. Particles that
    /// stand for none come last.
    pub(super) x: Vec<Vec4>,
    pub(super) y: Vec<Vec4>,
    pub(super) q: Vec<Vec4>,
    /// Ends before they were changed at the end of a window [m].
    saved_ends: Vec<Vec4>,
    /// Those at the end before the last sweeps; empty without seams.
    pub(super) before_sweeps: Vec<Vec4>,
    /// What contacts have done in this sub-step: tangential correction, and push in the fourth number [m].
    pub(super) grip: Vec<Vec4>,
    /// Whether friction holds nothing any more: it comes after lengths.
    pub(super) slips: bool,
    /// Per particle the share of this step, or 1 where it was in contact.
    share: Vec<f64>,
    step_share: f64,
    /// Whether cloth that touches something is as good as at rest.
    at_rest: bool,
    /// How many of the last sweeps came before lengths were within their tolerance: shorter sub-steps take fewer of these, but do not close seams.
    pub(super) sweeps_for_lengths: u32,
    /// The largest strain before them [1].
    strain_before: f64,
    /// Whether lengths are within their tolerance.
    pub(super) lengths_kept: bool,
    /// Whether edges were beyond repair by a sub-step when the step began.
    infeasible_start: bool,
    /// Whether the scene allows fewer iterations than sub-steps are needed: nothing is kept then, which is soft and stable.
    early: bool,
    /// As P1 and P2 print it: impulses along the edges at the start of a sub-step, from nothing in every one, and explicit springs.
    as_printed: Option<ExplicitSprings>,
    pub(super) links: StitchSolver,
    workers: ParticleWorkers,
    scratch: Vec<StripScratch>,
    /// Whether bends of the last group of strips wait until its lengths are kept.
    bends_wait: bool,
    /// √(m / k) of shear [s].
    shear_time: f64,
    reaches: Reaches,
    hands: YieldingHands,
    /// Where pins will be [m].
    ends: Vec<(u32, DVec3)>,
    fallback: FallBack,
    nearby: Nearby,
    controller: SubstepController,
    /// The sub-step of this step [s].
    h: f64,
    /// Velocity of what the motion is seen from [m/s].
    drift: DVec3,
    /// Energies of the sub-step under way.
    sums: Sums,
}

impl Impulse {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let n = model.particle_count();
        let single = model.method == Method::ImpulseIterative;
        let (straight, lone_bends) = parts::hard(model, environment, false);
        let (hard, bent) =
            if single { (parts::hard(model, environment, true).0, Some(straight)) } else { (straight, None) };
        let (diagonals, mut soft) = parts::soft(model, environment, &hard);
        let rubbing = parts::rubbing(model);
        if !rubbing.is_empty() {
            soft.make_lengths_change();
        }
        let ladders = parts::twists(model);
        let set = InstructionSet::available()[0];
        let idle = bent.as_ref().map_or(0, |b| b.idle).max(hard.idle + soft.idle).max(ladders.idle);
        let longest = bent.as_ref().map_or(0, |b| b.longest).max(hard.longest).max(soft.longest);
        let mut room = vec![Vec4::ZERO; n + idle];
        // Every second one that stands for none is a metre away, so that edges between them have their rest length.
        room[n..].iter_mut().skip(1).step_by(2).for_each(|p| p.0[0] = 1.0);
        Self {
            params: model.params.impulse,
            set,
            pull: Predictor::new(n, ends(&model.edges, &hard).chain(ends(&diagonals, &soft))),
            tension: vec![Lanes::ZERO; hard.rows + soft.rows],
            saved_tension: vec![Lanes::ZERO; bent.as_ref().map_or(0, |b| b.rows).max(hard.rows)],
            x: room.clone(),
            y: room.clone(),
            before_sweeps: if model.links.ends.is_empty() { Vec::new() } else { room.clone() },
            saved_ends: room.clone(),
            q: room,
            grip: vec![Vec4::ZERO; n],
            share: vec![model.params.impulse.displacement_share; n],
            slips: false,
            step_share: model.params.impulse.displacement_share,
            at_rest: false,
            sweeps_for_lengths: 0,
            strain_before: 0.0,
            lengths_kept: true,
            infeasible_start: false,
            early: false,
            as_printed: (model.direction == Direction::Start)
                .then(|| ExplicitSprings::new(model, environment)),
            links: StitchSolver::new(model, environment),
            workers: ParticleWorkers::new(model),
            scratch: vec![StripScratch::new(longest, ladders.longest)],
            bends_wait: model.method == Method::ImpulseStrips
                && model.direction != Direction::Start
                && model.max_iterations.is_none(),
            shear_time: parts::shear_time(model, environment),
            reaches: Reaches::default(),
            hands: YieldingHands::new(model, environment),
            ends: Vec::new(),
            fallback: FallBack::default(),
            nearby: Nearby::default(),
            controller: SubstepController::default(),
            h: 0.0,
            drift: DVec3::ZERO,
            sums: Sums::default(),
            lengths: Lengths::new(model, environment, hard, set),
            rubbing,
            soft,
            bent,
            lone_bends,
            twists: vec![RowTwist::default(); ladders.rows],
            ladders,
        }
    }

    /// Scratch for every member of the team.
    fn make_room(&mut self) {
        while self.scratch.len() < parallel::members() {
            self.scratch.push(self.scratch[0].clone());
        }
    }

    /// What is remembered at the start: no tension.
    pub fn memory(&self) -> ImpulseMemory {
        ImpulseMemory {
            tension: vec![0.0; self.lengths.edges],
            shear: vec![0.0; self.soft.slots.len()],
            share: vec![0.0; self.share.len()],
            ..ImpulseMemory::default()
        }
    }

    /// Whether pins will be further apart at the end of a step than the cloth between them is long. If they rest they are as they were, and that is known.
    fn are_pins_too_far(&mut self, step: &mut StepContext, state: &State, missed: bool) -> bool {
        let (model, environment) = (step.model, step.environment);
        if environment.pins.is_empty() {
            return false;
        }
        step.boundary.advance(model, environment, state.time, model.step_time);
        self.ends.clear();
        // Hands give way.
        let led = step.boundary.held(model, environment).filter(|(i, _)| !self.hands.hold(*i));
        self.ends.extend(led.map(|(i, end)| (i as u32, end)));
        if !missed && self.ends.iter().all(|(i, end)| state.positions[*i as usize] == *end) {
            return false;
        }
        self.ends.sort_unstable_by_key(|(i, _)| *i);
        let ends = &self.ends;
        let place = |i: usize| match ends.binary_search_by_key(&(i as u32), |(i, _)| *i) {
            Ok(k) => ends[k].1,
            Err(_) => state.positions[i],
        };
        self.reaches.too_far(model, environment, place).is_some()
    }

    /// The free motion under all that pulls.
    fn pull(&mut self, step: &StepContext, h: f64) -> Sums {
        let (model, gravity) = (step.model, step.gravity);
        let (mass, inverse_mass) = (&model.mass[..], &step.environment.inverse_mass[..]);
        let held =
            self.as_printed.as_ref().map_or(step.boundary.forces.on_particles(), ExplicitSprings::forces);
        let tension = numbers(&self.tension);
        let (x, y, share, warm_start) = (&self.x[..], &self.y[..], &self.share[..], self.warm_start());
        let drift = h * self.drift;
        let now =
            PredictInputs { mass, inverse_mass, gravity, h, x, y, held, tension, warm_start, share, drift };
        let (pull, set, touches) = (&self.pull, self.set, model.touches());
        let (n, all) = (model.cloth_particle_count(), model.particle_count());
        self.workers.each(&mut self.q[..n], &mut self.grip[..n], |worker, q, grip| {
            worker.sums = predict::apply(set, pull, worker.particles.clone(), &now, q);
            if touches {
                grip.fill(Vec4::ZERO);
            }
        });
        self.grip[n..].fill(Vec4::ZERO);
        for i in n..all {
            let v = Vec4::from((self.y[i] - self.x[i]).xyz() / h);
            self.q[i] = self.x[i] + rigid_bodies::pulled(step, v, h) * h;
        }
        self.workers.workers.iter().fold(Sums::default(), |all, worker| Sums {
            moving: all.moving + worker.sums.moving,
            added: all.added + worker.sums.added,
        })
    }

    /// Share of the tensions at the end of the last sub-step that this one starts from.
    fn warm_start(&self) -> f64 {
        match () {
            () if self.early => 0.0,
            () if self.lengths.iterations_per_substep > 1 => self.params.warm_start_by_edges,
            () => self.params.warm_start,
        }
    }

    /// Bending along strips that do not wait with it, then of bends that no strip has.
    fn bend(&mut self, model: &Model, h: f64) {
        let (set, x) = (self.set, &self.x);
        let strips = self.bent.as_ref().unwrap_or(&self.lengths.strips);
        for group in 0..strips.group_count().saturating_sub(usize::from(self.bends_wait)) {
            // Bends have no tensions: any room will do.
            strips.sweep_group(
                group,
                &mut self.q,
                &mut self.saved_tension,
                &mut self.scratch,
                |mut q, _, scratch| {
                    bends::bend(set, x, &mut q, &mut scratch.folds);
                },
            );
        }
        self.lone_bends.iter().for_each(|b| parts::bend_one(model, *b, h, &self.x, &mut self.q));
    }

    /// Twist of quads, one group of ladders after the other.
    fn twist(&mut self) {
        let set = self.set;
        self.ladders.sweep(&mut self.q, &mut self.twists, &mut self.scratch, |mut q, twists, scratch| {
            twists::twist(set, &mut q, twists, &mut scratch.rungs);
        });
    }

    /// Diagonals as implicit springs, one group of strips after the other.
    fn shear(&mut self) {
        let (set, warm_start) = (self.set, self.warm_start());
        let tension = &mut self.tension[self.lengths.strips.rows..];
        self.soft.sweep(&mut self.q, tension, &mut self.scratch, |q, tension, scratch| {
            tridiagonal::soft(set, q, tension, &mut scratch.rows, warm_start);
        });
    }

    /// Lets those stitches pull that are to; when they `start`, none does already.
    pub(super) fn pull_stitches(&mut self, model: &Model, start: bool) {
        let tension = &mut self.tension[..self.lengths.strips.rows];
        self.links.pull(model, &self.q, &mut self.lengths, tension, start);
    }

    /// One iteration of position impulses over all hard edges; `far` from their lengths, if so. The share `left` of the errors at the start of the sub-step stays.
    /// In the `first` of a sub-step bends come that have waited.
    pub(super) fn correct(&mut self, limits: Limits, far: bool, left: f64, first: bool) {
        let tension = &mut self.tension[..self.lengths.strips.rows];
        let start = match (&self.as_printed, left > 0.0) {
            (Some(_), _) => Start::Directions(&self.x[..]),
            (None, true) => Start::Errors(&self.x[..], left),
            (None, false) => Start::Unused,
        };
        let bends = (first && self.bends_wait).then_some(&self.x[..]);
        self.lengths.correct(&mut self.q, (start, bends), tension, &mut self.scratch, limits, far);
    }

    /// Position impulses of a sub-step: one iteration, or several while the tolerance is missed. At most `most`; returns how many.
    fn keep_lengths(&mut self, step: &mut StepContext, h: f64, most: u32) -> u32 {
        let model = step.model;
        let most = most.min(match &self.as_printed {
            Some(_) => self.params.last_sweeps,
            None if self.infeasible_start => 1,
            None => self.lengths.iterations_per_substep,
        });
        let mut sweeps = 0;
        while sweeps < most {
            let warm_start = if sweeps == 0 { self.warm_start() } else { 1.0 };
            self.pull_stitches(model, sweeps == 0);
            self.correct(
                Limits { warm_start, ..KEEP_PULLS },
                self.infeasible_start,
                if self.at_rest { 0.0 } else { (1.0 - h / self.params.error_time).max(0.0) },
                sweeps == 0,
            );
            self.touch(step, h);
            sweeps += 1;
            if sweeps < most && self.lengths.strain(&self.q) <= model.tolerance {
                break;
            }
        }
        sweeps
    }

    /// Contacts with friction inside the iteration.
    pub(super) fn touch(&mut self, step: &mut StepContext, h: f64) {
        let n = step.model.particle_count();
        self.hands.keep_out(step.model, &step.boundary.bodies, &mut self.q);
        for sweep in 0..self.params.contact_sweeps {
            // Once over all, only those are looked at again that touch or were moved since.
            self.touch_solids(step, sweep > 0);
            let (x, grip) = (&self.x, &mut self.grip);
            let touched = |i: usize| touch_again(&mut grip[i]);
            let (q, pipeline) = (&mut self.q[..n], step.pipeline.as_mut());
            if !pipeline.is_some_and(|pipeline| pipeline.project_contacts_at_once(x, q, h, touched)) {
                break;
            }
        }
    }

    /// Lets particles leave closed-form solids; those that are `touching` or were moved alone, if so.
    pub(super) fn touch_solids(&mut self, step: &StepContext, touching: bool) {
        let (model, boundary, x, slips) = (step.model, &*step.boundary, &self.x, self.slips);
        if model.colliders.is_empty() {
            return;
        }
        let (n, inverse_mass) = (model.cloth_particle_count(), &step.environment.inverse_mass_in_contact);
        let loads = step.pipeline.as_ref().map_or(&[][..], |pipeline| pipeline.loads());
        self.workers.each(&mut self.q[..n], &mut self.grip[..n], |worker, q, grip| {
            let own = worker.particles.clone();
            let asked = Asked {
                x: &x[own.clone()],
                inverse_mass: &inverse_mass[own.clone()],
                loads: loads.get(own).unwrap_or_default(),
                touching,
                slips,
            };
            worker.contacts = solid_contact::touch(boundary, worker.cloth, asked, q, grip);
        });
    }

    /// Adds up what bodies have pushed in a sub-step of `h` [s]: forces of contact are what moves ends by as much.
    fn press(&self, step: &mut StepContext, h: f64) {
        if step.model.colliders.is_empty() {
            return;
        }
        // A push that only tells that features touch is none of a solid.
        let by_solids = |grip: &Vec4| grip.0[3] > f64::MIN_POSITIVE;
        let impulse = |grip: &Vec4, q: &Vec4| if by_solids(grip) { h * grip.0[3] / q.0[3] } else { 0.0 };
        let impulses = self.grip.iter().zip(&self.q).map(|(grip, q)| impulse(grip, q));
        pressing::add_of_solids(step, h, impulses.enumerate());
        let mass = &step.model.mass;
        pressing::add_of_features(step, h, |i| self.q[i].0[3] * mass[i] / (h * h));
    }

    /// The end of a sub-step is the start of the next, and its velocity leads on.
    fn advance(&mut self, step: &StepContext, h: f64) {
        let (model, environment) = (step.model, step.environment);
        self.lead_bodies(model);
        if self.as_printed.is_some() {
            return self.advance_as_printed(step, h);
        }
        let (set, n) = (self.set, model.cloth_particle_count());
        let grip = if model.touches() { &self.grip[..] } else { &[] };
        let now = VelocityUpdate {
            inverse_mass: &environment.inverse_mass,
            wind: environment.air.wind,
            damping: environment.air.damping,
            h,
            q: &self.q,
            grip,
            share: &self.share,
        };
        self.workers.each(&mut self.x[..n], &mut self.y[..n], |worker, x, y| {
            predict::update_velocities(set, worker.particles.clone(), &now, x, y);
        });
        if model.touches() {
            let free = self.step_share;
            let of = |grip: &Vec4| if grip.0[3] > 0.0 { 1.0 } else { free };
            self.share.iter_mut().zip(&self.grip).for_each(|(share, grip)| *share = of(grip));
        }
    }

    /// The same as P1 eq. 1-2 print it: forces have displaced by h²/2 f / m and give the velocity h f / m, impulses displace by h times their velocity.
    fn advance_as_printed(&mut self, step: &StepContext, h: f64) {
        let (air, inverse_mass) = (&step.environment.air, &step.environment.inverse_mass);
        let slower = 1.0 / (1.0 + h * air.damping);
        let forces =
            self.as_printed.as_ref().map_or(step.boundary.forces.on_particles(), ExplicitSprings::forces);
        let of_cloths = step.model.cloth_particle_count();
        for (i, w) in inverse_mass[..of_cloths].iter().copied().enumerate() {
            let way = (self.q[i] - self.x[i]).xyz();
            let free = w > 0.0 && self.grip[i].0[3] == 0.0;
            let force = step.gravity + forces.get(i).map_or(DVec3::ZERO, |f| w * f.xyz());
            let way = if free { way + SHARE_AS_PRINTED * h * h * force } else { way };
            let wind = h * h * air.damping * air.wind;
            let way = if w > 0.0 { (way + wind) * slower } else { way };
            self.x[i] = self.q[i].xyz().into();
            self.y[i] = (self.q[i].xyz() + way).into();
            self.y[i].0[3] = 1.0;
        }
    }
}

impl Integrator for Impulse {
    fn begin(&mut self, step: &mut StepContext, state: &State) -> Result<(), StepError> {
        let Memory::Impulse(memory) = &state.memory else { return Ok(()) };
        let iterations = if self.as_printed.is_some() { 1 } else { self.lengths.iterations_per_substep };
        self.controller =
            SubstepController::new(step.model, step.gravity, self.shear_time, iterations, memory);
        if let Some(springs) = &self.as_printed {
            self.controller.at_least(springs.fewest(step.model)?);
        }
        self.drift = drift::of(step.model, step.environment, state);
        self.fallback.begin();
        self.hands.begin(step.model, step.environment, state);
        if self.are_pins_too_far(step, state, memory.missed) {
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
        for ((x, y), (position, way)) in self.x.iter().zip(&self.y).zip(positions.iter_mut().zip(ways)) {
            (*position, *way) = (x.xyz(), (*y - *x).xyz());
        }
    }

    /// Free motion with all that pulls (P1 eq. 1-2), then bends, twist and shear, which are implicit in time.
    fn predict(&mut self, step: &mut StepContext, substep: &Substep) {
        let (model, Substep { time, h, k, count, .. }) = (step.model, *substep);
        step.observer.enter("air");
        let every = count.div_ceil(self.params.air_renewals);
        if k.is_multiple_of(every) {
            let way = |i: usize| (self.y[i] - self.x[i]).xyz();
            let mean = |[a, b, c]: [usize; 3]| (way(a) + way(b) + way(c)) / (3.0 * h);
            let held = (time, f64::from(every.min(count - k)) * h);
            step.boundary.forces.renew(model, step.environment, held, &self.x, mean);
            for RubbingEdge { edge, slider, rest, compliance } in &self.rubbing {
                let aside = step.boundary.forces.sliders.aside(model, *slider, *compliance);
                self.soft.set_rest(*edge, rest + aside);
            }
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
            self.bend(model, h);
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
        ends.iter_mut().zip(&self.q).for_each(|(end, q)| *end = q.xyz());
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
        self.saved_ends.clone_from(&self.q);
        for (q, end) in self.q.iter_mut().zip(ends) {
            *q = Vec4([end.x, end.y, end.z, q.0[3]]);
        }
        self.follow(1.0 / f64::from(window.substeps));
        self.stiffen_bodies(model);
        if !window.last {
            let n = model.particle_count();
            self.x[..n].copy_from_slice(&self.q[..n]);
            self.x[..n].iter_mut().for_each(|x| x.0[3] = 0.0);
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

/// Tells that a particle touches, by a push however small.
fn touch_again(grip: &mut Vec4) {
    grip.0[3] = grip.0[3].max(f64::MIN_POSITIVE);
}

/// Edges with the places of their tensions.
fn ends<'a>(edges: &'a [[u32; 2]], strips: &'a Strips) -> impl Iterator<Item = ([u32; 2], u32)> {
    edges.iter().copied().zip(strips.slots.iter().copied())
}
