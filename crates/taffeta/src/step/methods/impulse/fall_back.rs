//! The last resort of a step by impulses. The state before it keeps all lengths and distances, so what goes back towards that state far enough does too, unless led
//! things forbid it.

use super::Impulse;
use crate::check;
use crate::math::{DVec3, Vec4};
use crate::model::{Collider, Model, State};
use crate::step::driver::{StepContext, Window};
use crate::step::report::{Leader, Shortfall};

/// Shares of their ways that cloths go which are strained too much; then nothing moves but what is led.
const SHARES: [f64; 3] = [0.75, 0.25, 0.0];

/// What a step came to, and what is proposed instead.
#[derive(Debug, Default)]
pub struct FallBack {
    /// Whether something was proposed in this step.
    is_used: bool,
    /// The strain before the step [1], the particle whose pin was led furthest in it and how far [m], and whether bodies were led.
    before: f64,
    led: (u32, f64),
    bodies_led: bool,
    /// Whether it was tried to move nothing but what is led, or need not be.
    stands: bool,
    /// The ends of the step as it was tried, and how far they lead on in a sub-step [m].
    tried: Vec<[DVec3; 2]>,
    /// Of every particle the share of its way that is proposed [1].
    shares: Vec<f64>,
    /// The least strain of all ends so far [1], and these [m].
    least: f64,
    best: Vec<[DVec3; 2]>,
}

impl FallBack {
    /// Begins a step.
    pub fn begin(&mut self) {
        (self.is_used, self.stands) = (false, false);
    }

    /// Looks at ends and where they lead [m], with their strain [1]. Those before the first proposal are what the step came to.
    fn look_at(&mut self, model: &Model, state: &State, strain: f64, now: impl Iterator<Item = [DVec3; 2]>) {
        self.best.resize(state.positions.len(), [DVec3::ZERO; 2]);
        if !self.is_used || strain < self.least {
            self.least = strain;
            self.best.iter_mut().zip(now).for_each(|(best, now)| *best = now);
        }
        if !self.is_used {
            self.is_used = true;
            self.tried.clone_from(&self.best);
            self.before = check::strain(&state.positions, &model.edges, &model.rest_lengths).max;
            self.shares.clear();
            self.shares.resize(state.positions.len(), 1.0);
        }
    }

    /// Proposes ways of a round; whether there are any. Cloths that are strained too much go less far; then all stands still but what is led, if anything moved. Where
    /// lengths were not kept before led things forbid it, most likely: then nothing else is tried, and only if strain grows.
    fn choose(&mut self, model: &Model, state: &State, strain: f64, round: usize) -> bool {
        let Some(share) = SHARES.get(round).filter(|_| self.before <= model.tolerance) else {
            self.shares.fill(0.0);
            let moves =
                self.led.1 > 0.0 || self.bodies_led || state.velocities.iter().any(|v| *v != DVec3::ZERO);
            return moves && strain > self.before && !std::mem::replace(&mut self.stands, true);
        };
        for cloth in &model.cloths {
            let is_strained = |e: usize| {
                let [a, b] = model.edges[e].map(|i| self.best[i as usize][0]);
                (a.distance(b) / model.rest_lengths[e] - 1.0).abs() > model.tolerance
            };
            let is_slowed = self.shares[cloth.particles.clone()].first().is_some_and(|share| *share < 1.0);
            if is_slowed || cloth.edges.clone().any(is_strained) {
                self.shares[cloth.particles.clone()].fill(*share);
            }
        }
        true
    }
}

impl Impulse {
    /// Whether lengths are far out of tolerance and the step before could not keep them: led things force it or have forced it, and to try again would most likely be
    /// of no use, unless cloth tears.
    pub(super) fn is_forced_on(&mut self, step: &mut StepContext, state: &State, missed: bool) -> bool {
        let model = step.model;
        let most = self.params.forced_strain.max(2.0 * model.tolerance);
        let is_far = || check::strain(&state.positions, &model.edges, &model.rest_lengths).max > most;
        let is_forced = missed && model.tearing.is_empty() && is_far();
        if is_forced {
            self.note_led(step, state);
            self.fallback.stands = true;
        }
        is_forced
    }

    /// Notes which pin is led furthest in the step.
    fn note_led(&mut self, step: &mut StepContext, state: &State) {
        let (model, environment) = (step.model, step.environment);
        step.boundary.advance(model, environment, state.time, model.step_time);
        let firm = |(i, _): &(usize, DVec3)| !self.hands.give_way_at(*i);
        let ways = step.boundary.held(model, environment).filter(firm);
        let ways = ways.map(|(i, end)| (i as u32, end.distance(state.positions[i])));
        self.fallback.led = ways.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    }

    /// See [`Integrator::fall_back`](crate::step::methods::Integrator::fall_back). What intersects has nothing to go back to.
    pub(super) fn propose(&mut self, step: &mut StepContext, state: &State, round: usize) -> bool {
        let (model, environment) = (step.model, step.environment);
        if step.pipeline.as_ref().is_some_and(|pipeline| pipeline.is_tangled()) {
            return false;
        }
        let strain = self.lengths.strain(&self.q);
        let now = self.q.iter().zip(&self.x).zip(&self.y).map(|((q, x), y)| [q.xyz(), (*y - *x).xyz()]);
        self.fallback.look_at(model, state, strain, now);
        self.note_led(step, state);
        let until = state.time + model.step_time;
        let is_led = |c: &Collider| c.free.is_none() && c.pose(state.time) != c.pose(until);
        self.fallback.bodies_led = model.colliders.iter().any(is_led);
        if !self.fallback.choose(model, state, strain, round) {
            return false;
        }
        let ways = self.fallback.tried.iter().zip(&state.positions).zip(&self.fallback.shares);
        for (i, (([end, _], from), share)) in ways.enumerate() {
            let to = from.lerp(*end, *share);
            (self.x[i], self.y[i]) = ((*from).into(), Vec4([to.x, to.y, to.z, 1.0]));
        }
        let firm = |(i, _): &(usize, DVec3)| !self.hands.give_way_at(*i);
        for (i, end) in step.boundary.held(model, environment).filter(firm) {
            self.y[i] = Vec4([end.x, end.y, end.z, 1.0]);
        }
        for (q, y) in self.q.iter_mut().zip(&self.y).take(state.positions.len()) {
            *q = Vec4([y.0[0], y.0[1], y.0[2], q.0[3]]);
        }
        true
    }

    /// Keeps lengths and distances of what was proposed; what goes less far is so much slower.
    pub(super) fn settle_proposal(&mut self, step: &mut StepContext) -> Window {
        let (model, h) = (step.model, self.h);
        self.links.end(model, &self.q);
        self.lengths_kept = self.sweep_to_tolerance(step, h) <= model.tolerance;
        for (i, ([_, way], share)) in self.fallback.tried.iter().zip(&self.fallback.shares).enumerate() {
            let end = self.q[i].xyz();
            (self.x[i], self.y[i]) = (end.into(), (end + *share * *way).into());
            self.y[i].0[3] = 1.0;
        }
        Window { substeps: self.controller.substeps(), h, last: true }
    }

    /// Why lengths could not be kept: if they could not even where nothing moves but what is led, then that forbids it.
    pub(super) fn forbidden(&self, step: &StepContext, time: f64, why: Shortfall) -> Shortfall {
        let Shortfall::Strain { ends, strain, tolerance } = why else { return why };
        let place = self.q[ends[0] as usize].xyz();
        let until = time + step.model.step_time;
        let led = step.model.colliders.iter().enumerate().filter(|(_, collider)| collider.free.is_none());
        let ways = led.map(|(number, collider)| {
            let [before, after] = [time, until].map(|time| collider.pose(time));
            (Leader::Body(number), after.to_world(before.to_local(place)).distance(place))
        });
        let (particle, way) = self.fallback.led;
        let further = |a: (Leader, f64), b: (Leader, f64)| if b.1 > a.1 { b } else { a };
        let (by, moved) = ways.fold((Leader::Pin(particle), way), further);
        let is_forbidden = self.fallback.stands && moved > 0.0;
        if is_forbidden { Shortfall::Led { ends, strain, tolerance, by, moved } } else { why }
    }

    /// Takes the best end of all that were tried.
    pub(super) fn take_best(&mut self, step: &mut StepContext) {
        if !self.fallback.is_used {
            return;
        }
        let closed = self.links.open(step.model, &self.q) <= self.params.seam_tolerance;
        step.report.converged = self.lengths_kept && closed;
        self.controller.reached(step.report.converged);
        if !self.lengths_kept && self.lengths.strain(&self.q) > self.fallback.least {
            for (i, [end, way]) in self.fallback.best.iter().enumerate() {
                self.q[i] = Vec4([end.x, end.y, end.z, self.q[i].0[3]]);
                (self.x[i], self.y[i]) = ((*end).into(), (*end + *way).into());
            }
        }
    }
}
