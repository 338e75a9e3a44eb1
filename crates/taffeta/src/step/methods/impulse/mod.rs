//! Inextensible cloth by impulses that look one step ahead (P1, P2), in sub-steps that the program chooses.

mod ccd;
mod drift;
mod elements;
mod fall_back;
mod final_sweeps;
mod hands;
mod integrator;
mod lengths;
mod nearby;
mod rest;
mod rests;
mod shortfall;
mod springs;
mod stitches;
mod substeps;
mod workers;

use crate::collide::rigid::touch::Asked;
use crate::forces::slider::HeldSliders;
use crate::math::lanes::{InstructionSet, Lanes};
use crate::math::{DVec3, Vec4};
use crate::model::memory::ImpulseMemory;
use crate::model::params::ImpulseParams;
use crate::model::{Direction, Environment, Method, Model, State};
use crate::parallel;
use crate::solve::strips::bends;
use crate::solve::strips::blocks::Strips;
use crate::solve::strips::predict::{self, PredictInputs, Predictor, Sums, VelocityUpdate};
use crate::solve::strips::tridiagonal::{self, Limits, Start};
use crate::solve::strips::twists::{self, RowTwist};
use crate::step::driver::StepContext;
use crate::step::{pressing, rigid_bodies, solid_contact};
use elements as parts;
use elements::RubbingEdge;
pub use elements::{ImpulseCut, StripCut};
use fall_back::FallBack;
use hands::YieldingHands;
use lengths::{Lengths, StripScratch, numbers};
use nearby::Nearby;
use rests::Rests;
pub use shortfall::Reaches;
use springs::ExplicitSprings;
use stitches::StitchSolver;
pub use substeps::SubstepController;
use workers::{CHUNK, ParticleWorkers};

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
    /// Structural edges that stretch with internal friction.
    rubbing_edges: Vec<RubbingEdge>,
    /// Strips for bends, if those of `lengths` are too short; bends that no strip has, and those that do not rest straight.
    bent: Option<Strips>,
    rests: Rests,
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
    /// How far particles may go on by themselves in the next sub-step [m]; empty if anything goes.
    furthest: Vec<f64>,
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
    /// The same of bends that have sliders beside them [s]; endless without.
    bend_time: f64,
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
        let rests = Rests::new(model, &straight, &lone_bends);
        let (hard, bent) =
            if single { (parts::hard(model, environment, true).0, Some(straight)) } else { (straight, None) };
        let (diagonals, mut soft) = parts::soft(model, environment, &hard);
        let (rubbing, rubbing_edges) = (parts::rubbing_diagonals(model), parts::rubbing_edges(model));
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
        let mut lengths = Lengths::new(model, environment, hard, set);
        let hard_rows = lengths.strips.rows;
        if !rubbing_edges.is_empty() {
            lengths.make_offsets();
        }
        Self {
            params: model.params.impulse,
            set,
            pull: Predictor::new(n, ends(&model.edges, &lengths.strips).chain(ends(&diagonals, &soft))),
            tension: vec![Lanes::ZERO; hard_rows + soft.rows],
            saved_tension: vec![Lanes::ZERO; bent.as_ref().map_or(0, |b| b.rows).max(hard_rows)],
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
            furthest: Vec::with_capacity(model.cloth_particle_count()),
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
            bend_time: parts::rubbing_bend_time(model, environment),
            reaches: Reaches::default(),
            hands: YieldingHands::new(model, environment),
            ends: Vec::new(),
            fallback: FallBack::default(),
            nearby: Nearby::default(),
            controller: SubstepController::default(),
            h: 0.0,
            drift: DVec3::ZERO,
            sums: Sums::default(),
            lengths,
            rubbing,
            rubbing_edges,
            soft,
            bent,
            rests,
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
    fn bend(&mut self, model: &Model, sliders: &HeldSliders, h: f64) {
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
        self.rests.bend_lone(model, sliders, h, &self.x, &mut self.q);
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
        // Of edges that stretch, lengths within the tolerance tell nothing: what a sweep leaves of their law is energy that came from nowhere. So all sweeps are
        // made, and what presses an edge is kept from one to the next, or it would be pressed until it has its length.
        let gives = most > 1 && self.lengths.stretch.is_some();
        let limits = if gives { Limits::NONE } else { KEEP_PULLS };
        // Edge by edge nearly all of a tension is kept, and with it what errors that go at once leave in it.
        let eased = if self.lengths.iterations_per_substep > 1 { f64::INFINITY } else { model.tolerance };
        let left = if self.at_rest { 0.0 } else { self.params.error_left(h, eased) };
        let mut sweeps = 0;
        while sweeps < most {
            let warm_start = if sweeps == 0 { self.warm_start() } else { 1.0 };
            self.pull_stitches(model, sweeps == 0);
            self.correct(Limits { warm_start, ..limits }, self.infeasible_start, left, sweeps == 0);
            self.touch(step, h);
            sweeps += 1;
            if sweeps < most && !gives && self.lengths.strain(&self.q) <= model.tolerance {
                break;
            }
        }
        if gives {
            self.lengths.forget_pushes(&mut self.tension);
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
                parting: boundary.parting,
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
        pressing::add_of_solids_on_all(step, h, |i| impulse(&self.grip[i], &self.q[i]));
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
        self.furthest.clear();
        if self.at_rest && rest::is_weight_all(environment) {
            let fall = h * h * model.strength_of(step.gravity);
            let falls = [fall, self.params.weight_at_rest * fall];
            let ways = self.x[..n].iter().zip(&self.y[..n]).zip(&self.grip[..n]);
            rest::note_ways(falls, ways, &mut self.furthest);
        }
        let furthest = &self.furthest[..];
        self.workers.each(&mut self.x[..n], &mut self.y[..n], |worker, x, y| {
            predict::update_velocities(set, worker.particles.clone(), &now, x, y);
            if let Some(furthest) = furthest.get(worker.particles.clone()) {
                rest::hold_back(furthest, x, y);
            }
        });
        if model.touches() {
            let free = self.step_share;
            let grip = &self.grip;
            let of = |i: usize| if grip[i].0[3] > 0.0 { 1.0 } else { free };
            parallel::each(&mut self.share, CHUNK, |i, share| *share = of(i));
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

/// Tells that a particle touches, by a push however small.
fn touch_again(grip: &mut Vec4) {
    grip.0[3] = grip.0[3].max(f64::MIN_POSITIVE);
}

/// Edges with the places of their tensions.
fn ends<'a>(edges: &'a [[u32; 2]], strips: &'a Strips) -> impl Iterator<Item = ([u32; 2], u32)> {
    edges.iter().copied().zip(strips.slots.iter().copied())
}
