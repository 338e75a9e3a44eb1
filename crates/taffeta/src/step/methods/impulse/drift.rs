//! What kinetic energies are seen from: a scene in a moving train is cut into as many sub-steps as one at rest.

use crate::math::DVec3;
use crate::model::{Environment, Model, State};

/// The mean velocity, over the step to come, of what leads the cloth [m/s]: of all particles that are held, or else of all colliders that are led, or else of all
/// cloth itself.
pub fn of(model: &Model, environment: &Environment, state: &State) -> DVec3 {
    let (from, until) = (state.time, state.time + model.step_time);
    let (mut way, mut count) = (DVec3::ZERO, 0.0);
    for pin in &environment.pins {
        let led = [from, until].map(|time| pin.led(time, &model.colliders));
        for member in 0..pin.particles.len() {
            let [start, end] = led.each_ref().map(|led| pin.place(member, led, &model.colliders));
            way += end - start;
            count += 1.0;
        }
    }
    if count == 0.0 {
        for collider in model.colliders.iter().filter(|collider| collider.free.is_none()) {
            let [start, end] = [from, until].map(|time| collider.pose(time));
            way += end.position - start.position;
            count += 1.0;
        }
    }
    if count > 0.0 {
        return way / (count * model.step_time);
    }
    let cloth = model.mass[..model.cloth_particle_count()].iter();
    let (momentum, mass) = cloth
        .zip(&state.velocities)
        .fold((DVec3::ZERO, 0.0), |(momentum, mass), (m, v)| (momentum + *m * *v, mass + m));
    if mass > 0.0 { momentum / mass } else { DVec3::ZERO }
}
