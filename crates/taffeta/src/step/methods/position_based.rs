//! What methods share that move particles to where constraints or energies want them: prediction by inertia, iterations with contacts between them,
//! velocities from positions.
//!
//! A sub-step of h goes from x to y = x + h v + h² a by inertia, from there by iterations to x⁺, and has the velocity (x⁺ - x)/h.

use super::Integrator;
use super::implicit::{jump, largest, strain};
use crate::collide::rigid::touch::Asked;
use crate::forces::slider::HeldSliders;
use crate::math::{DVec3, Vec4};
use crate::model::{Environment, Model, State};
use crate::step::driver::{Plan, StepContext, Substep, Verdict, Window};
use crate::step::report::{Shortfall, StepError};
use crate::step::{pressing, rigid_bodies, solid_contact};
use std::fmt::Debug;

/// What a method does itself.
pub trait PositionSolver: Debug + Send + Sync {
    /// The longest sub-step that it takes unasked [s].
    fn longest_substep(&self) -> f64;

    /// Iterations in a sub-step, unless the scene gives a number.
    fn iterations(&self) -> u32;

    /// Begins a sub-step, when inertia has led particles on and sliders have followed.
    fn begin(&mut self, model: &Model, substep: &Substep, sliders: &HeldSliders, particles: &mut Particles);

    /// One iteration from where particles are; returns how far it moved one at most [m].
    fn iterate(&mut self, model: &Model, substep: &Substep, particles: &mut Particles) -> f64;
}

/// All particles in the order of the model.
#[derive(Debug)]
pub struct Particles {
    /// Where they are at the start of the sub-step [m].
    pub start: Vec<Vec4>,
    /// Where inertia leads them, y [m].
    pub inertia: Vec<Vec4>,
    /// Where they are so far [m].
    pub x: Vec<Vec4>,
    /// Their velocities [m/s].
    pub v: Vec<Vec4>,
    /// One over their masses, 0 for those that are held [1/kg].
    pub inverse_mass: Vec<f64>,
    /// What the damping d of the air adds to inertia: it weighs 1 + h d times as much.
    pub drag: f64,
    /// Forces that sliders hold [N].
    held: Vec<Vec4>,
}

impl Particles {
    /// Lets y go with the forces that sliders hold over a sub-step of `h` [s], where inertia weighs so many times the mass. Iterations do not start there: it is far
    /// from where these forces and the elements that they hold against balance.
    pub fn hold(&mut self, sliders: &HeldSliders, h: f64, weighs: f64) {
        if sliders.is_empty() {
            return;
        }
        self.held.clear();
        self.held.resize(self.x.len(), Vec4::ZERO);
        sliders.push(&mut self.held);
        let pushed = self.held.iter().zip(&self.inverse_mass).map(|(force, w)| *force * (h * h * w / weighs));
        self.inertia.iter_mut().zip(pushed).for_each(|(y, way)| *y += way);
    }
}

/// A method of this kind, as the driver sees it.
#[derive(Debug)]
pub struct PositionBased<S> {
    solver: S,
    particles: Particles,
    /// What contacts have done in this sub-step: tangential correction, and push in the fourth number [m].
    grip: Vec<Vec4>,
    /// The sub-step of this step [s], and the one under way.
    h: f64,
    substep: Option<Substep>,
    /// Ends of a window before what CCD has found in it was answered, or moved by itself [m].
    before_ccd: Vec<Vec4>,
    /// By how much CCD alone has strained an edge more, in this attempt and in that before [1].
    disturbed: [f64; 2],
    retries: u32,
    /// Mean length of an edge [m].
    edge: f64,
    touching: u32,
}

impl<S: PositionSolver> PositionBased<S> {
    /// A method for a model.
    pub fn new(model: &Model, environment: &Environment, solver: S) -> Self {
        let room = || vec![Vec4::ZERO; model.particle_count()];
        let inverse_mass = environment.inverse_mass.clone();
        Self {
            solver,
            particles: Particles {
                start: room(),
                inertia: room(),
                x: room(),
                v: room(),
                inverse_mass,
                drag: 1.0,
                held: Vec::new(),
            },
            grip: room(),
            h: 0.0,
            substep: None,
            before_ccd: room(),
            disturbed: [0.0; 2],
            retries: 0,
            edge: model.rest_lengths.iter().sum::<f64>() / model.rest_lengths.len().max(1) as f64,
            touching: 0,
        }
    }

    /// Contacts with friction, of particles with solids and of features.
    fn touch(&mut self, step: &mut StepContext, h: f64) {
        let Particles { start, x, inverse_mass, .. } = &mut self.particles;
        self.touching = 0;
        let loads = step.pipeline.as_ref().map_or(&[][..], |pipeline| pipeline.loads());
        for (c, cloth) in step.model.cloths.iter().enumerate() {
            let own = cloth.particles.clone();
            let asked = Asked {
                x: &start[own.clone()],
                inverse_mass: &inverse_mass[own.clone()],
                loads: loads.get(own.clone()).unwrap_or_default(),
                touching: false,
                slips: false,
                parting: step.boundary.parting,
            };
            let grip = &mut self.grip[own.clone()];
            self.touching += solid_contact::touch(step.boundary, c, asked, &mut x[own], grip);
        }
        if let Some(pipeline) = &mut step.pipeline {
            pipeline.project_contacts(start, x, h, |_, _| ());
        }
    }
}

impl<S: PositionSolver> Integrator for PositionBased<S> {
    fn begin(&mut self, step: &mut StepContext, _: &State) -> Result<(), StepError> {
        (self.retries, self.disturbed) = (0, [0.0, f64::INFINITY]);
        let fewest = (step.model.step_time / self.solver.longest_substep() - 1e-9).ceil().max(1.0);
        self.h = step.model.step_time / step.model.substeps.map_or(fewest, f64::from);
        Ok(())
    }

    fn load(&mut self, _: &mut StepContext, state: &State) {
        let Particles { x, v, .. } = &mut self.particles;
        x.iter_mut().zip(&state.positions).for_each(|(x, from)| *x = (*from).into());
        v.iter_mut().zip(&state.velocities).for_each(|(v, from)| *v = (*from).into());
        self.disturbed[0] = 0.0;
    }

    fn plan(&mut self, _: &mut StepContext, _: f64, left: f64) -> Result<Plan, StepError> {
        Ok(Plan { h: self.h, count: (left / self.h).round() as u32, renewed_after: None })
    }

    fn motion(&mut self, _: &Model, positions: &mut [DVec3], ways: &mut [DVec3]) {
        let Particles { x, v, .. } = &self.particles;
        for ((x, v), (position, way)) in x.iter().zip(v).zip(positions.iter_mut().zip(ways)) {
            (*position, *way) = (x.xyz(), self.h * v.xyz());
        }
    }

    /// Inertia, gravity and air lead to y; pins go where they are led.
    fn predict(&mut self, step: &mut StepContext, substep: &Substep) {
        step.observer.enter("predict");
        let (h, Particles { start, inertia, x, v, inverse_mass, .. }) = (substep.h, &mut self.particles);
        step.boundary.forces.renew(step.model, step.environment, (substep.time, h), x, (|i| v[i], 3.0));
        let air = step.boundary.forces.on_particles();
        start.copy_from_slice(x);
        for (i, x) in x.iter_mut().enumerate() {
            let pushed = air.get(i).map_or(Vec4::ZERO, |force| *force * (h * inverse_mass[i]));
            if inverse_mass[i] > 0.0 {
                *x += (rigid_bodies::pulled(step, v[i], h) + pushed) * h;
            }
        }
        for (i, end) in step.boundary.held(step.model, step.environment) {
            x[i] = end.into();
        }
        inertia.copy_from_slice(x);
        self.particles.drag = 1.0 + h * step.environment.air.damping;
        self.grip.fill(Vec4::ZERO);
        self.solver.begin(step.model, substep, &step.boundary.forces.sliders, &mut self.particles);
    }

    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError> {
        let iterations = step.model.max_iterations.unwrap_or(self.solver.iterations());
        let mut moved = 0.0;
        for _ in 0..iterations {
            step.observer.enter("iterate");
            moved = self.solver.iterate(step.model, substep, &mut self.particles);
            step.observer.enter("contact");
            self.touch(step, substep.h);
        }
        step.report.iterations += iterations;
        if moved > step.model.tolerance * self.edge {
            step.report.fall_short(Shortfall::Iterations { iterations, moved });
        }
        Ok(())
    }

    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict {
        self.substep = Some(*substep);
        let Particles { start, x, v, .. } = &mut self.particles;
        let rate = 1.0 / substep.h;
        v.iter_mut().zip(&*x).zip(&*start).for_each(|((v, x), start)| *v = (*x - *start) * rate);
        rigid_bodies::stiffen(step.model, x, v);
        if !step.model.colliders.is_empty() {
            let impulses = step.model.mass.iter().zip(&self.grip).map(|(mass, grip)| mass * grip.0[3] * rate);
            pressing::add_of_solids(step, substep.h, impulses.enumerate());
            pressing::add_of_features(step, substep.h, |_| 1.0);
        }
        Verdict::Good
    }

    fn ends(&mut self, _: &Model, ends: &mut [DVec3]) {
        ends.iter_mut().zip(&self.particles.x).for_each(|(end, x)| *end = x.xyz());
    }

    /// Goes on with the last sub-step, with what CCD has found among its contacts: what would meet is then kept apart together with all lengths around it,
    /// which what CCD pushes apart by itself does not know.
    fn answer_learned(&mut self, step: &mut StepContext, window: &Window, _: bool) -> bool {
        let Some(substep) = self.substep else { return false };
        self.before_ccd.clone_from(&self.particles.x);
        for _ in 0..step.model.params.common.learned_iterations {
            self.solver.iterate(step.model, &substep, &mut self.particles);
            self.touch(step, substep.h);
            step.report.iterations += 1;
        }
        let Particles { x, v, .. } = &mut self.particles;
        let rate = 1.0 / (f64::from(window.substeps) * window.h);
        for ((v, x), from) in v.iter_mut().zip(&*x).zip(&self.before_ccd) {
            *v += (*x - *from) * rate;
        }
        rigid_bodies::stiffen(step.model, x, v);
        true
    }

    fn accept(&mut self, model: &Model, ends: &[DVec3], window: &Window) {
        let Particles { x, v, .. } = &mut self.particles;
        if ends.iter().zip(&*x).all(|(end, x)| *end == x.xyz()) {
            return;
        }
        self.before_ccd.clone_from(x);
        let rate = 1.0 / (f64::from(window.substeps) * window.h);
        for ((x, v), end) in x.iter_mut().zip(&mut *v).zip(ends) {
            *v += Vec4::from((*end - x.xyz()) * rate);
            *x = (*end).into();
        }
        rigid_bodies::stiffen_velocities(model, x, v);
        self.disturbed[0] = self.disturbed[0].max(jump(model, &self.before_ccd, x).0);
    }

    /// Where CCD alone has strained cloth much, the step is taken again in shorter windows: what was not foreseen is then found before it meets.
    fn mend(&mut self, step: &mut StepContext, _: f64) -> Verdict {
        let params = &step.model.params.common;
        let [now, before] = self.disturbed;
        let helps = now <= params.disturbing_share * before;
        if now <= params.disturbing_strain {
            return Verdict::Good;
        }
        if !helps || self.retries == params.disturbed_retries {
            let (model, x) = (step.model, &self.particles.x);
            let (most, edge) = largest(model, |e| strain(model, x, e).abs());
            if most > model.tolerance {
                let (ends, tolerance) = (model.edges[edge], model.tolerance);
                step.report.fall_short(Shortfall::Strain { ends, strain: most, tolerance });
            }
            return Verdict::Good;
        }
        self.disturbed[1] = now;
        self.retries += 1;
        step.disturbed += 1;
        Verdict::Lost
    }

    fn store(&mut self, _: &mut StepContext, state: &mut State) {
        let Particles { x, v, .. } = &self.particles;
        state.positions.iter_mut().zip(x).for_each(|(to, x)| *to = x.xyz());
        state.velocities.iter_mut().zip(v).for_each(|(to, v)| *to = v.xyz());
    }

    fn touching(&self) -> u32 {
        self.touching
    }
}
