//! Bodies and pins at both ends of a sub-step, and forces that are held over it: the same for every method.

use crate::collide::{self, ContactParams, Corners, MovingBody};
use crate::forces::air::HeldForces;
use crate::math::DVec3;
use crate::model::{Environment, Led, Model};

/// Bodies and pins in the sub-step under way, and forces that are held over it.
#[derive(Debug)]
pub struct Boundary {
    /// How particles meet solids, and how they do while cloth lies in one.
    contact_params: [Vec<Vec<ContactParams>>; 2],
    /// Whether cloth lies in a solid: then particles leave all of them on their own, for features do not know which side is out.
    pub any_inside: bool,
    /// Solids with a closed form that are led.
    pub bodies: Vec<MovingBody>,
    led: Vec<Led>,
    /// How far in the sub-step what starts inside a solid comes out of it [m].
    pub parting: f64,
    /// Forces of the air and from outside.
    pub forces: HeldForces,
    /// Where all particles are, and how far they would move in a sub-step [m]: room for the driver.
    pub positions: Vec<DVec3>,
    pub ways: Vec<DVec3>,
}

impl Boundary {
    /// Room for a model. `corners` says which solids particles keep out of on their own.
    pub fn new(model: &Model, environment: &Environment, corners: Corners) -> Self {
        let room = vec![DVec3::ZERO; if model.touches() { model.particle_count() } else { 0 }];
        Self {
            contact_params: [collide::contact_params(model, corners), slow_contact_params(model)],
            any_inside: false,
            bodies: Vec::with_capacity(model.colliders.len()),
            led: Vec::with_capacity(environment.pins.len()),
            parting: 0.0,
            forces: HeldForces::new(model, environment),
            positions: room.clone(),
            ways: room,
        }
    }

    /// Bodies and pins from `time` to `time + h` [s].
    pub fn advance(&mut self, model: &Model, environment: &Environment, time: f64, h: f64) {
        self.parting = model.params.collision.parting_speed * h;
        self.bodies.clear();
        self.bodies.extend(collide::bodies(model, time, h));
        self.led.clear();
        self.led.extend(environment.pins.iter().map(|pin| pin.led(time + h, &model.colliders)));
    }

    /// Bodies rest where they are, while the end of a step is corrected.
    pub fn stop(&mut self) {
        self.bodies.iter_mut().for_each(|body| body.before = body.after);
    }

    /// Particles that are held, and where they are at the end of the sub-step [m].
    pub fn held<'a>(
        &'a self,
        model: &'a Model,
        environment: &'a Environment,
    ) -> impl Iterator<Item = (usize, DVec3)> + 'a {
        environment.pins.iter().zip(&self.led).flat_map(move |(pin, led)| {
            let place =
                move |(member, i): (usize, &u32)| (*i as usize, pin.place(member, led, &model.colliders));
            pin.particles.iter().enumerate().map(place)
        })
    }

    /// The solids that particles of a cloth keep out of on their own, with their places in `bodies`.
    pub fn solids(&self, cloth: usize) -> impl Iterator<Item = (usize, &MovingBody, &ContactParams)> {
        let solids =
            self.bodies.iter().zip(&self.contact_params[usize::from(self.any_inside)][cloth]).enumerate();
        solids
            .filter(|(_, (_, params))| params.meets_particles())
            .map(|(c, (body, params))| (c, body, params))
    }
}

/// Of all solids, for cloth that lies in one: what has only just left it goes on slowly.
fn slow_contact_params(model: &Model) -> Vec<Vec<ContactParams>> {
    let mut params = collide::contact_params(model, Corners::OfAll);
    params.iter_mut().flatten().for_each(|params| params.inside = params.distance);
    params
}
