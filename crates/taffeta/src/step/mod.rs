//! One step: check, move by the chosen method, check again, report. Only this folder sees all the others.

mod interaction;
mod methods;
pub mod report;
mod rigid_bodies;
mod tearing;

pub use interaction::Hands;
pub use report::{Energy, Shortfall, Stages, StepError, StepReport, momentum};

use crate::check::{self, Certificate};
use crate::collide::contact::untangle::ways_apart;
use crate::collide::{CcdStats, ContactPipeline};
use crate::math::{DVec3, Pose};
use crate::model::state::StateMismatch;
use crate::model::{self, Method, Model, State, TornModels};
use crate::solve::limit::Limiter;
use interaction::Gripped;
use methods::implicit::{Implicit, Order};
use methods::impulse::Impulse;
use methods::verlet::Verlet;
use std::sync::Arc;
use tearing::Parting;

/// No position may be further from the origin than this [m].
const FURTHEST: f64 = 1e6;

/// Cloth that intersects is pulled apart at this speed [m/s].
const PULLED_APART: f64 = 0.1;

/// A running simulation: the model, the state, and the scratch of its method.
///
/// ```
/// use taffeta_scene::{Cloth, Scene, Sheet};
///
/// let sheet = Sheet { width: 1.0, height: 1.0, columns: 10, rows: 10, slack: 1.0 };
/// let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
/// let mut simulation = taffeta_scene::simulation(&scene, &Default::default()).expect("the scene has no faults");
/// let report = simulation.step().expect("the step is finite");
/// assert!(report.converged && simulation.state().positions[0].y < 0.0);
/// ```
#[derive(Debug)]
pub struct Simulation {
    model: Model,
    state: State,
    /// The step is taken here, so that a failed one leaves the state as it was.
    attempt: State,
    solver: MethodSolver,
    pipeline: Option<Box<ContactPipeline>>,
    /// Pairs of triangles of cloth that intersect.
    tangled: Vec<[u32; 2]>,
    /// What hands have done, once they have.
    gripped: Option<Gripped>,
    limiter: Option<Limiter>,
    /// Who tears or lets go, if anything can.
    parting: Option<Box<Parting>>,
}

/// Scratch of the chosen method.
#[derive(Debug)]
enum MethodSolver {
    Implicit(Box<Implicit>),
    Impulse(Box<Impulse>),
    Verlet(Box<Verlet>),
}

impl MethodSolver {
    /// Scratch for a model. A state that does not remember what the method needs starts to.
    fn new(model: &Model, state: &mut State) -> Self {
        match model.method {
            Method::BackwardEuler | Method::Bdf2 => {
                let order = if model.method == Method::Bdf2 { Order::Second } else { Order::First };
                let implicit = Box::new(Implicit::new(model, order));
                state.memory.resize(implicit.memory(model), 0.0);
                MethodSolver::Implicit(implicit)
            }
            Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect => {
                let impulse = Box::new(Impulse::new(model));
                state.memory.resize(impulse.memory(), 0.0);
                MethodSolver::Impulse(impulse)
            }
            Method::Verlet | Method::Bdf2Secant => {
                let verlet = Box::new(Verlet::new(model));
                state.memory.resize(verlet.memory(), 0.0);
                MethodSolver::Verlet(verlet)
            }
        }
    }
}

impl Simulation {
    /// Of a model and a state of it. A model that can tear also needs [`Simulation::with_torn_models`].
    pub fn new(model: Model, mut state: State) -> Self {
        let solver = MethodSolver::new(&model, &mut state);
        let pipeline = ContactPipeline::new(&model).map(Box::new);
        let limiter = model.limit.as_ref().map(|_| Limiter::new(&model));
        let mut simulation = Self {
            attempt: state.clone(),
            model,
            state,
            solver,
            pipeline,
            tangled: Vec::new(),
            gripped: None,
            limiter,
            parting: None,
        };
        simulation.tell_tangles();
        simulation
    }

    /// Lets cloth tear and pins come off, as the model says, with `torn_models` to make the models that follow.
    pub fn with_torn_models(mut self, torn_models: Arc<dyn TornModels>) -> Self {
        self.parting = Parting::new(&self.model, torn_models);
        self
    }

    /// Moves on by one step. On an error the state stays the last good one.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.attempt.copy_from(&self.state);
        self.pipeline.iter_mut().for_each(|pipeline| pipeline.begin_step());
        let gravity = self.model.gravity;
        if self.state.time < self.model.weightless {
            self.model.gravity = DVec3::ZERO;
        }
        let moved = self.move_on();
        self.model.gravity = gravity;
        let mut report = moved?;
        report.settled += self.limit_strain();
        report.settled += self.pull_apart();
        if report.settled.pinched > 0 {
            report.converged = false;
            report.shortfall = Some(Shortfall::Pinched { pairs: report.settled.pinched });
        }
        self.attempt.step += 1;
        self.attempt.time = self.attempt.step as f64 * self.model.step_time;
        self.check_finite()?;
        std::mem::swap(&mut self.state, &mut self.attempt);
        if report.settled.pinched > 0 || self.pipeline.as_ref().is_some_and(|pipeline| pipeline.is_tangled())
        {
            self.tell_tangles();
        }
        report.parted = self.part();
        Ok(report)
    }

    /// Lets the method take the step.
    fn move_on(&mut self) -> Result<StepReport, StepError> {
        let (model, state, pipeline) = (&self.model, &mut self.attempt, self.pipeline.as_deref_mut());
        match &mut self.solver {
            MethodSolver::Implicit(implicit) => implicit.step(model, state, pipeline),
            MethodSolver::Impulse(impulse) => impulse.step(model, state, pipeline),
            MethodSolver::Verlet(verlet) => verlet.step(model, state, pipeline),
        }
    }

    /// Makes the scratch anew for a model that has changed.
    fn renew(&mut self) {
        self.solver = MethodSolver::new(&self.model, &mut self.state);
        self.pipeline = ContactPipeline::new(&self.model).map(Box::new);
        self.limiter = self.model.limit.as_ref().map(|_| Limiter::new(&self.model));
        self.tell_tangles();
    }

    /// Lets the contact pipeline know what intersects: nothing, unless the scene started so or led things pinched the cloth.
    fn tell_tangles(&mut self) {
        if let Some(pipeline) = &mut self.pipeline {
            let (model, state) = (&self.model, &self.state);
            self.tangled = match model.cloth_meets_cloth {
                true => check::self_intersections(&state.positions, &model.triangles),
                false => Vec::new(),
            };
            let cloth = check::Surface { positions: &state.positions, triangles: &model.triangles };
            let into = |(c, pose): (&model::Collider, Pose)| {
                check::against_form(cloth, &c.form, &pose, state.time).intersecting
            };
            pipeline.tangle(&self.tangled, model.colliders.iter().zip(model.poses(state)).flat_map(into));
        }
    }

    /// Shortens edges that are too long, as far as the scene asks for it, and lets the contact pipeline see to it that nothing passes through anything.
    fn limit_strain(&mut self) -> CcdStats {
        let (Some(limit), Some(limiter)) = (&self.model.limit, &mut self.limiter) else {
            return CcdStats::default();
        };
        let State { positions, velocities, .. } = &mut self.attempt;
        let time = self.state.time + self.model.step_time;
        if let Some(pipeline) = &mut self.pipeline {
            let still = positions.iter().map(|_| DVec3::ZERO);
            pipeline.place(&self.model, [time; 2], positions.iter().copied(), still);
        }
        if limiter.run(limit, positions, velocities).sweeps == 0 {
            return CcdStats::default();
        }
        self.pipeline.as_mut().map_or(CcdStats::default(), |pipeline| {
            let settled = pipeline.resolve(positions.iter().copied());
            positions.copy_from_slice(pipeline.ends());
            settled
        })
    }

    /// Moves cloth that intersects apart, slowly and under the contact pipeline: what passes freely is what intersects already.
    fn pull_apart(&mut self) -> CcdStats {
        let Some(pipeline) = self.pipeline.as_mut().filter(|_| !self.tangled.is_empty()) else {
            return CcdStats::default();
        };
        let (model, positions) = (&self.model, &mut self.attempt.positions);
        let mut ways = vec![DVec3::ZERO; positions.len()];
        ways_apart(positions, &model.triangles, &self.tangled, &mut ways);
        let most = PULLED_APART * model.step_time;
        let time = self.state.time + model.step_time;
        pipeline.place(model, [time; 2], positions.iter().copied(), positions.iter().map(|_| DVec3::ZERO));
        let movable = |w: f64| if w > 0.0 { 1.0 } else { 0.0 };
        let ends = positions.iter().zip(&ways).zip(&model.inverse_mass);
        let ends = ends.map(|((x, way), w)| *x + movable(*w) * (most * *way).clamp_length_max(most));
        let settled = pipeline.resolve(ends);
        positions.copy_from_slice(pipeline.ends());
        settled
    }

    /// All that is constant.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// All that changes.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes to a state of this model that [`State::to_bytes`] has kept, such as one from a recording.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateMismatch> {
        match self.state.parted_in(bytes).filter(|parted| *parted != self.state.parted) {
            None => self.state.read_bytes(bytes)?,
            Some(parted) => {
                let before = self.state.clone();
                self.take_parted(parted)?;
                if let Err(mismatch) = self.state.read_bytes(bytes) {
                    // A state that is refused changes nothing.
                    self.take_parted(before.parted.clone())?;
                    self.state = before;
                    return Err(mismatch);
                }
            }
        }
        self.tell_tangles();
        Ok(())
    }

    /// Strain and intersections of the present state, measured by code that is not the solver.
    pub fn certificate(&self) -> Certificate {
        check::certify(&self.model, &self.state)
    }

    fn check_finite(&self) -> Result<(), StepError> {
        let inside = |v: &DVec3| v.is_finite() && v.abs().max_element() < FURTHEST;
        let lost = |(x, v): (&DVec3, &DVec3)| !inside(x) || !v.is_finite();
        let state = &self.attempt;
        match state.positions.iter().zip(&state.velocities).position(lost) {
            None => Ok(()),
            Some(i) => {
                let body = self.model.bodies.iter().find(|body| body.nodes.contains(&i));
                let body = body.map_or(("", 0), |b| (&*self.model.colliders[b.collider].name, b.nodes.start));
                let (cloth, first) = self.model.cloth_of(i).map_or(body, |c| (&c.name, c.particles.start));
                Err(StepError::NotFinite {
                    particle: i - first,
                    cloth: cloth.to_string(),
                    position: state.positions[i],
                    time: state.time,
                })
            }
        }
    }
}
