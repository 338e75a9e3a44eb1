//! The methods: each predicts, solves and updates in a file or folder of its own. What they share stands in `step::driver`.

mod barrier;
pub(super) mod implicit;
pub(super) mod impulse;
mod position_based;
mod projective;
mod vbd;
pub(super) mod verlet;
mod xpbd;

use super::driver::{Plan, StepContext, Substep, Verdict, Window};
use super::report::StepError;
use crate::collide::Corners;
use crate::math::DVec3;
use crate::model::{Environment, Memory, Method, Model, State};
use barrier::Barrier;
use implicit::{Implicit, Order};
use impulse::Impulse;
use position_based::PositionBased;
use projective::Projective;
use std::fmt::Debug;
use vbd::Vbd;
use verlet::Verlet;
use xpbd::Xpbd;

/// A method as the driver sees it. Between [`Integrator::load`] and [`Integrator::store`] it has the particles, in its own layout.
pub trait Integrator: Debug + Send + Sync {
    /// Begins a step from a state.
    fn begin(&mut self, step: &mut StepContext, state: &State) -> Result<(), StepError>;

    /// Takes up the state anew for every attempt, where a step may be taken again.
    fn load(&mut self, _: &mut StepContext, _: &State) {}

    /// Cuts the time that is `left` at `time` [s]. A method that has to solve to know how far it can go does so here.
    fn plan(&mut self, step: &mut StepContext, time: f64, left: f64) -> Result<Plan, StepError>;

    /// Where all particles are, and how far they would move in a sub-step [m].
    fn motion(&mut self, model: &Model, positions: &mut [DVec3], ways: &mut [DVec3]);

    /// The motion without what keeps lengths and distances.
    fn predict(&mut self, step: &mut StepContext, substep: &Substep);

    /// What keeps lengths and distances.
    fn solve(&mut self, step: &mut StepContext, substep: &Substep) -> Result<(), StepError>;

    /// New positions and velocities, and whether they can be trusted.
    fn update(&mut self, step: &mut StepContext, substep: &Substep) -> Verdict;

    /// Before the last window is proven: what has to hold at the end of a step, in sub-steps of `h` [s].
    fn finish(&mut self, _: &mut StepContext, _h: f64) -> Verdict {
        Verdict::Good
    }

    /// Where all particles are at the end of a window [m].
    fn ends(&mut self, model: &Model, ends: &mut [DVec3]);

    /// Answers contacts that CCD has found at the end of a window, together with all else that has to hold there; whether the method can. If the answer before
    /// `gains`, or there was none, what is around them may be enough.
    fn answer_learned(&mut self, _: &mut StepContext, _: &Window, _gains: bool) -> bool {
        false
    }

    /// Goes on from where CCD lets particles end [m].
    fn accept(&mut self, model: &Model, ends: &[DVec3], window: &Window);

    /// After the last window, at a time [s]: mends what CCD has disturbed, and looks at the step again.
    fn mend(&mut self, _: &mut StepContext, _time: f64) -> Verdict {
        Verdict::Good
    }

    /// The step is taken again, in shorter sub-steps.
    fn again(&mut self) {}

    /// Proposes another end of a step that has missed its tolerance, nearer to the state before; `false` if there is no need, or all was tried.
    fn fall_back(&mut self, _: &mut StepContext, _: &State, _round: usize) -> bool {
        false
    }

    /// Keeps lengths and distances of what was proposed; returns the window that proves it.
    fn settle(&mut self, step: &mut StepContext) -> Window {
        Window { substeps: 1, h: step.model.step_time, last: true }
    }

    /// Mends what CCD has disturbed of it, at a time [s].
    fn mend_proposal(&mut self, _: &mut StepContext, _time: f64) {}

    /// Hands the particles back to the state.
    fn store(&mut self, step: &mut StepContext, state: &mut State);

    /// Particles that touch a solid at the end.
    fn touching(&self) -> u32;
}

/// The method of a model, and what it remembers at the start.
pub fn integrator(model: &Model, environment: &Environment) -> (Box<dyn Integrator>, Memory) {
    match model.method {
        Method::BackwardEuler | Method::Bdf2 => {
            let order = if model.method == Method::Bdf2 { Order::Second } else { Order::First };
            let implicit = Implicit::new(model, environment, order);
            let memory = implicit.memory(model);
            (Box::new(implicit), Memory::Implicit(memory))
        }
        Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect => {
            let impulse = Impulse::new(model, environment);
            let memory = impulse.memory();
            (Box::new(impulse), Memory::Impulse(memory))
        }
        Method::Verlet | Method::Bdf2Secant => {
            let verlet = Verlet::new(model);
            let memory = verlet.memory();
            (Box::new(verlet), memory)
        }
        Method::Xpbd => {
            let xpbd = Xpbd::new(model, environment);
            (Box::new(PositionBased::new(model, environment, xpbd)), Memory::Nothing)
        }
        Method::Projective => {
            let projective = Projective::new(model, environment);
            (Box::new(PositionBased::new(model, environment, projective)), Memory::Nothing)
        }
        Method::Vbd => {
            let vbd = Vbd::new(model, environment);
            (Box::new(PositionBased::new(model, environment, vbd)), Memory::Nothing)
        }
        Method::Barrier => (Box::new(Barrier::new(model, environment)), Memory::Nothing),
    }
}

/// Which solids particles keep out of on their own.
pub fn corners(method: Method) -> Corners {
    if method.is_implicit() { Corners::OfAll } else { Corners::OfSmooth }
}
