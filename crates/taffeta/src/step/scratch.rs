//! What follows from a model and its environment, and room to work in.

use super::boundary::Boundary;
use super::device::{Device, DeviceMethod, DeviceRefusal};
use super::methods::{self, Integrator};
use crate::collide::ContactPipeline;
use crate::model::{Environment, Memory, Model, PinGroup, State};
use crate::solve::limit::Limiter;
use std::sync::Arc;

/// What a simulation works with. No step depends on what was in it.
#[derive(Debug)]
pub struct Scratch {
    pub method: Box<dyn Integrator>,
    /// In place of the method.
    pub on_device: Option<Result<Box<dyn DeviceMethod>, DeviceRefusal>>,
    /// Whether the state is as the device has left it.
    pub as_device_left: bool,
    pub boundary: Boundary,
    pub pipeline: Option<Box<ContactPipeline>>,
    pub limiter: Option<Limiter>,
    /// Impulses by which bodies have pushed every particle along their normals in the last step [N·s].
    pub pressed: Vec<f64>,
    /// What the method remembers at the start.
    memory: Memory,
    made_for: MadeFor,
}

/// What of an environment it depends on.
#[derive(Debug, PartialEq)]
struct MadeFor {
    /// How strong gravity is [m/s²]: methods reckon with the weight of cloth.
    gravity: f64,
    /// Whether there is air.
    in_air: bool,
    /// Who is held, and by what; of hands, which go anywhere, only whom they hold.
    pins: Vec<(Vec<u32>, Option<PinGroup>)>,
}

impl MadeFor {
    fn new(environment: &Environment) -> Self {
        let pin = |pin: &PinGroup| (pin.particles.clone(), (!pin.yields).then(|| pin.clone()));
        Self {
            gravity: environment.gravity.length(),
            in_air: environment.air.density > 0.0,
            pins: environment.pins.iter().map(pin).collect(),
        }
    }
}

impl Scratch {
    /// Room for a model. A state that does not remember what the method needs starts to.
    pub fn new(
        model: &Model,
        environment: &Environment,
        state: &mut State,
        device: Option<&Arc<dyn Device>>,
    ) -> Self {
        let (method, memory) = methods::integrator(model, environment);
        let new = model.sliders.get(state.anchors.len()..).unwrap_or_default();
        state.anchors.extend(new.iter().map(|slider| slider.start(model)));
        state.anchors.truncate(model.sliders.len());
        let scratch = Self {
            method,
            on_device: device.map(|device| device.prepare(model, environment)),
            as_device_left: false,
            boundary: Boundary::new(model, environment, methods::corners(model.method)),
            pipeline: ContactPipeline::new(model, environment).map(Box::new),
            limiter: model.limit.as_ref().map(|_| Limiter::new(model, environment)),
            pressed: vec![0.0; model.particle_count()],
            memory,
            made_for: MadeFor::new(environment),
        };
        scratch.remember(state);
        scratch
    }

    /// Whether it serves in an environment as well.
    pub fn is_for(&self, environment: &Environment) -> bool {
        self.made_for == MadeFor::new(environment)
    }

    /// Lets a state that does not remember what the method needs start to.
    pub fn remember(&self, state: &mut State) {
        if !state.memory.is_like(&self.memory) {
            state.memory = self.memory.clone();
        }
    }
}
