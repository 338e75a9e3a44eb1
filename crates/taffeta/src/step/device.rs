//! Steps that are taken elsewhere, as on a graphics card: what the engine asks of a device.

use super::observer::Observer;
use super::report::{StepError, StepReport};
use crate::math::DVec3;
use crate::model::{Environment, Model, State};
use std::fmt::Debug;

#[cfg(feature = "internals")]
pub use super::driver::Verdict;
#[cfg(feature = "internals")]
pub use super::methods::impulse::{ImpulseCut, Reaches, StripCut, SubstepController};

/// What takes whole steps in place of the methods of the engine.
pub trait Device: Debug + Send + Sync {
    /// Makes ready for a model, or says why it cannot take its steps.
    fn prepare(
        &self,
        model: &Model,
        environment: &Environment,
    ) -> Result<Box<dyn DeviceMethod>, DeviceRefusal>;
}

/// A model on a device. No step depends on what steps before have left there, but for the state itself where it goes on from it.
pub trait DeviceMethod: Debug + Send + Sync {
    /// One step of the model from a state: `to`, which was any state, becomes the state after it, but for its time. `None` leaves the step to the method of the
    /// engine, on the host.
    fn step(
        &mut self,
        step: &DeviceStep,
        from: &State,
        to: &mut State,
        observer: &mut dyn Observer,
    ) -> Result<Option<StepReport>, StepError>;
}

/// What a step on a device is given.
#[derive(Debug)]
pub struct DeviceStep<'a> {
    /// What is constant.
    pub model: &'a Model,
    /// What acts from outside.
    pub environment: &'a Environment,
    /// Acceleration of all that is free in this step [m/s²].
    pub gravity: DVec3,
    /// Whether the state that the step begins from is to the bit that which the step before of this method has made.
    pub goes_on: bool,
}

/// Why a device does not take the steps of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct DeviceRefusal {
    /// What is in the way.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}
