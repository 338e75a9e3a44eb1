//! One step: check, move by the chosen method, check again, report. Only this folder sees all the others.

mod implicit;
mod implicit_particles;
mod implicit_pull;
mod implicit_solve;
mod implicit_touch;
mod impulse;
mod impulse_around;
mod impulse_pace;
mod impulse_parts;
mod impulse_shortfall;
mod impulse_touch;
pub mod report;
mod verlet;

pub use report::{Energy, Shortfall, Stages, StepError, StepReport, momentum};

use crate::check::{self, Certificate};
use crate::math::DVec3;
use crate::model::state::StateMismatch;
use crate::model::{self, Model, State};
use crate::scene::{Fault, Mesh, Method, Scene};
use crate::solve::limit::Limiter;
use implicit::{Implicit, Order};
use impulse::Impulse;
use std::collections::BTreeMap;
use verlet::Verlet;

/// No position may be further from the origin than this [m].
const FURTHEST: f64 = 1e6;

/// A running simulation: the model, the state, and the scratch of its method.
///
/// ```
/// use taffeta::{Simulation, scene::{Cloth, Scene, Sheet}};
///
/// let sheet = Sheet { width: 1.0, height: 1.0, columns: 10, rows: 10, slack: 1.0 };
/// let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
/// let mut simulation = Simulation::new(&scene, &Default::default()).expect("the scene has no faults");
/// let report = simulation.step().expect("the step is finite");
/// assert!(report.converged && simulation.state().positions[0].y < 0.0);
/// ```
#[derive(Debug)]
pub struct Simulation {
    model: Model,
    state: State,
    /// The step is taken here, so that a failed one leaves the state as it was.
    attempt: State,
    solver: Solver,
    limiter: Option<Limiter>,
}

/// Scratch of the chosen method.
#[derive(Debug)]
enum Solver {
    Implicit(Box<Implicit>),
    Impulse(Box<Impulse>),
    Verlet(Box<Verlet>),
}

impl Simulation {
    /// From a scene and the meshes its files hold, or everything that is wrong with it.
    pub fn new(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<Self, Vec<Fault>> {
        let (model, mut state) = model::build(scene, meshes)?;
        let solver = match model.method {
            Method::BackwardEuler | Method::Bdf2 => {
                let order = if model.method == Method::Bdf2 { Order::Second } else { Order::First };
                let implicit = Box::new(Implicit::new(&model, order));
                state.memory = vec![0.0; implicit.memory(&model)];
                Solver::Implicit(implicit)
            }
            Method::ImpulseStrips => {
                let impulse = Box::new(Impulse::new(&model));
                state.memory = vec![0.0; impulse.memory()];
                Solver::Impulse(impulse)
            }
            Method::Verlet => Solver::Verlet(Box::new(Verlet::new(&model))),
        };
        let limiter = model.limit.as_ref().map(|_| Limiter::new(&model));
        Ok(Self { attempt: state.clone(), model, state, solver, limiter })
    }

    /// Moves on by one step. On an error the state stays the last good one.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.attempt.copy_from(&self.state);
        let report = match &mut self.solver {
            Solver::Implicit(implicit) => implicit.step(&self.model, &mut self.attempt)?,
            Solver::Impulse(impulse) => impulse.step(&self.model, &mut self.attempt)?,
            Solver::Verlet(verlet) => verlet.step(&self.model, &mut self.attempt)?,
        };
        self.limit_strain();
        self.attempt.step += 1;
        self.attempt.time = self.attempt.step as f64 * self.model.step_time;
        self.check_finite()?;
        std::mem::swap(&mut self.state, &mut self.attempt);
        Ok(report)
    }

    /// Shortens edges that are too long, as far as the scene asks for it. Contacts are answered in the next step.
    fn limit_strain(&mut self) {
        if let (Some(limit), Some(limiter)) = (&self.model.limit, &mut self.limiter) {
            let State { positions, velocities, .. } = &mut self.attempt;
            limiter.run(limit, positions, velocities);
        }
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
        self.state.read_bytes(bytes)
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
                let (cloth, first) = self.model.cloth_of(i).map_or(("", 0), |c| (&c.name, c.particles.start));
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
