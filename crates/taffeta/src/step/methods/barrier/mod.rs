//! A barrier method (IPC, Li et al. 2020; C-IPC, Li, Kaufman and Jiang 2021): backward Euler as the least of one energy, in which bounds of lengths and of distances
//! are infinite. The state before a sub-step keeps them, and no Newton step leaves them: slower than other methods, and never infeasible.

mod contacts;
mod elements;
mod newton;

use super::Integrator;
use crate::collide::contact::near_features::NearFeatures;
use crate::math::{DVec3, Vec4};
use crate::model::{Environment, Model, State};
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::report::{Leader, Shortfall, StepError};
use crate::step::rigid_bodies;
use contacts::BarrierContacts;
use newton::{BarrierGoal, Found, Minimiser};

/// Strain beyond the tolerance by less than this share of it is a rounding [1].
const ROUNDED: f64 = 1e-9;

/// Scratch of the method.
#[derive(Debug)]
pub struct Barrier {
    minimiser: Minimiser,
    /// All points at the start of the sub-step, and where what is led ends [m].
    start: Vec<Vec4>,
    led: Vec<Vec4>,
    /// Where inertia leads particles [m], and the mass with which it does [kg].
    inertia: Vec<Vec4>,
    mass: Vec<f64>,
    /// Particles [m], [m/s].
    x: Vec<Vec4>,
    v: Vec<Vec4>,
    /// The sub-step [s].
    h: f64,
    /// In how many times as many sub-steps the step is taken, as a power of 2, and how many of them were.
    doublings: u32,
    taken: u32,
    /// Whether CCD has found something to push on the straight way of a sub-step.
    disturbed: bool,
    touching: u32,
}

impl Barrier {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let room = vec![Vec4::ZERO; model.particle_count()];
        let near = || NearFeatures::new(model, environment, model.params.barrier.contact_load);
        let contacts = model.touches().then(|| BarrierContacts::new(model, near()));
        let minimiser = Minimiser::new(model, environment, contacts);
        let points = minimiser.x.clone();
        Self {
            minimiser,
            start: points.clone(),
            led: points,
            inertia: room.clone(),
            mass: vec![0.0; room.len()],
            x: room.clone(),
            v: room,
            h: 0.0,
            doublings: 0,
            taken: 0,
            disturbed: false,
            touching: 0,
        }
    }

    /// Sub-steps of a step.
    fn count(&self, model: &Model) -> u32 {
        let longest = model.params.barrier.longest_substep;
        let usual = || (model.step_time / longest - 1e-9).ceil().max(1.0) as u32;
        model.substeps.unwrap_or_else(usual) << self.doublings
    }

    /// Whether the step is to be taken again, in shorter sub-steps.
    fn may_try_again(&self, model: &Model) -> bool {
        model.substeps.is_none() && self.doublings < model.params.barrier.retries
    }

    /// What was led furthest in the sub-step, and how far [m].
    fn led_furthest(&self) -> (Leader, f64) {
        let ways = self.led.iter().zip(&self.start).map(|(end, start)| (*end - *start).xyz().length());
        let furthest = |most: (usize, f64), own: (usize, f64)| if own.1 > most.1 { own } else { most };
        let (point, moved) = ways.enumerate().fold((0, 0.0), furthest);
        let contacts = self.minimiser.contacts.as_ref().filter(|_| point >= self.x.len());
        let body = contacts.and_then(|contacts| contacts.near.body_of(point as u32));
        (body.map_or(Leader::Pin(point as u32), Leader::Body), moved)
    }

    /// Tells which edge is strained too much, if one is; what is led may have forced it.
    fn tell_strain(&self, step: &mut StepContext, forced: bool) {
        let (model, tolerance) = (step.model, step.model.tolerance);
        let strain = |ends: &[u32; 2], rest: f64| {
            let [a, b] = ends.map(|i| self.x[i as usize].xyz());
            a.distance(b) / rest - 1.0
        };
        let strains =
            model.edges.iter().zip(&model.rest_lengths).map(|(ends, rest)| (*ends, strain(ends, *rest)));
        let (ends, strain) = strains.fold(([0; 2], 0.0), |most, own| if own.1 > most.1 { own } else { most });
        if strain <= tolerance * (1.0 + ROUNDED) {
            return;
        }
        let (by, moved) = self.led_furthest();
        step.report.fall_short(match forced {
            true => Shortfall::Led { ends, strain, tolerance, by, moved },
            false => Shortfall::Strain { ends, strain, tolerance },
        });
    }
}

impl Integrator for Barrier {
    fn begin(&mut self, _: &mut StepContext, _: &State) -> Result<(), StepError> {
        self.doublings = 0;
        Ok(())
    }

    fn load(&mut self, _: &mut StepContext, state: &State) {
        self.x.iter_mut().zip(&state.positions).for_each(|(x, from)| *x = (*from).into());
        self.v.iter_mut().zip(&state.velocities).for_each(|(v, from)| *v = (*from).into());
        (self.taken, self.disturbed) = (0, false);
    }

    fn plan(&mut self, step: &mut StepContext, _: f64, left: f64) -> Result<Plan, StepError> {
        let count = self.count(step.model) - self.taken;
        self.h = if count <= 1 { left } else { left / f64::from(count) };
        Ok(Plan { h: self.h, count, renewed_after: Some(1) })
    }

    fn motion(&mut self, _: &Model, positions: &mut [DVec3], ways: &mut [DVec3]) {
        for ((x, v), (position, way)) in self.x.iter().zip(&self.v).zip(positions.iter_mut().zip(ways)) {
            (*position, *way) = (x.xyz(), self.h * v.xyz());
        }
    }

    /// Inertia, gravity and forces that are held lead to x̃; pins and bodies have their ends.
    fn predict(&mut self, step: &mut StepContext, substep: &Substep) {
        step.observer.enter("predict");
        let Self { x, v, start, led, inertia, mass, minimiser, .. } = self;
        let (model, Substep { time, until, h, .. }) = (step.model, *substep);
        step.boundary.forces.renew(model, step.environment, (time, h), x, (|i| v[i], 3.0));
        let (held, drag) = (step.boundary.forces.on_particles(), 1.0 + h * step.environment.air.damping);
        for i in 0..x.len() {
            mass[i] = model.mass[i] * drag;
            let pushed = held.get(i).map_or(Vec4::ZERO, |force| *force * (h / mass[i]));
            inertia[i] = x[i] + (rigid_bodies::pulled(step, v[i], h) + pushed) * h;
        }
        start[..x.len()].copy_from_slice(x);
        led[..x.len()].copy_from_slice(x);
        for (i, end) in step.boundary.held(model, step.environment) {
            (led[i], inertia[i]) = (end.into(), end.into());
        }
        minimiser.begin(model, until, start);
        if let (Some(contacts), Some(pipeline)) = (&mut minimiser.contacts, &step.pipeline) {
            contacts.near.begin(model, [time, until], start, pipeline.tangles());
            let bodies = start[x.len()..].iter_mut().zip(&mut led[x.len()..]);
            for ((start, led), [first, last]) in bodies.zip(contacts.near.bodies()) {
                (*start, *led) = (first.into(), last.into());
            }
        }
    }

    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError> {
        let Self { minimiser, start, led, inertia, mass, v, .. } = self;
        let goal = BarrierGoal { h: substep.h, start, led, inertia, v, mass };
        let found = minimiser.find(step, &goal)?;
        minimiser.arrive(&goal);
        self.x.copy_from_slice(&minimiser.x[..self.mass.len()]);
        match found {
            Found::End => {}
            Found::Stuck => self.tell_strain(step, true),
            Found::Rubbing { rounds, wrong } => {
                step.report.fall_short(Shortfall::Contacts { passes: rounds, wrong })
            }
            Found::Unsettled { steps, moved } => {
                step.report.fall_short(Shortfall::Iterations { iterations: steps, moved })
            }
        }
        Ok(())
    }

    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict {
        self.taken += 1;
        let rate = 1.0 / substep.h;
        let ways = self.v.iter_mut().zip(&self.x).zip(&self.start);
        ways.for_each(|((v, x), start)| *v = (*x - *start) * rate);
        if let Some(contacts) = &self.minimiser.contacts {
            contacts.pushes_of_bodies(|i, force| step.pressed[i] += force * substep.h);
            self.touching = contacts.touching();
        }
        if step.report.converged || !self.may_try_again(step.model) { Verdict::Good } else { Verdict::Lost }
    }

    /// A straight way that is not free, though a bent one was: shorter sub-steps are straighter.
    fn answer_learned(&mut self, _: &mut StepContext, _: &Window, _: bool) -> bool {
        self.disturbed = true;
        false
    }

    fn ends(&mut self, _: &Model, ends: &mut [DVec3]) {
        ends.iter_mut().zip(&self.x).for_each(|(end, x)| *end = x.xyz());
    }

    fn accept(&mut self, _: &Model, ends: &[DVec3], window: &Window) {
        let rate = 1.0 / (f64::from(window.substeps) * window.h);
        for ((x, v), end) in self.x.iter_mut().zip(&mut self.v).zip(ends) {
            *v += Vec4::from((*end - x.xyz()) * rate);
            *x = (*end).into();
        }
    }

    fn mend(&mut self, step: &mut StepContext, _: f64) -> Verdict {
        if self.disturbed && self.may_try_again(step.model) {
            return Verdict::Lost;
        }
        if step.report.converged {
            self.tell_strain(step, false);
        }
        Verdict::Good
    }

    fn again(&mut self) {
        self.doublings += 1;
    }

    fn store(&mut self, _: &mut StepContext, state: &mut State) {
        state.positions.iter_mut().zip(&self.x).for_each(|(to, x)| *to = x.xyz());
        state.velocities.iter_mut().zip(&self.v).for_each(|(to, v)| *to = v.xyz());
    }

    fn touching(&self) -> u32 {
        self.touching
    }
}
