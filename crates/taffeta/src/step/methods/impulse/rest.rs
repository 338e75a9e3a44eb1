//! Whether cloth that lies on something is as good as at rest: then what is left of its motion is to go, not to be followed.

use super::substeps::SubstepController;
use crate::model::memory::ImpulseMemory;
use crate::model::{Collider, Environment, Form, Model, State};

/// Whether cloth touches something, is slow, and nothing leads it during the step to come.
pub fn is_at_rest(
    model: &Model,
    environment: &Environment,
    state: &State,
    memory: &ImpulseMemory,
    controller: &SubstepController,
) -> bool {
    // A whole share tells a contact.
    if !memory.share.contains(&1.0) {
        return false;
    }
    let cloth = model.mass[..model.cloth_particle_count()].iter().zip(&state.velocities);
    controller.is_slow(cloth.map(|(m, v)| m * v.length_squared()).sum())
        && !is_led(model, environment, [state.time, state.time + model.step_time])
}

/// Whether bodies, pins or seams move anything between these times [s].
fn is_led(model: &Model, environment: &Environment, times: [f64; 2]) -> bool {
    let moves = |collider: &Collider| {
        let [from, until] = times.map(|time| collider.pose(time));
        let deforms = match &collider.form {
            Form::Mesh(mesh) => mesh.moments_at(times[0]) != mesh.moments_at(times[1]),
            Form::Closed(_) => false,
        };
        collider.free.is_some() || from != until || deforms
    };
    let pulls = environment.pins.iter().any(|pin| {
        let [from, until] = times.map(|time| pin.led(time, &model.colliders));
        let place = |member: usize, led| pin.place(member, led, &model.colliders);
        (0..pin.particles.len()).any(|member| place(member, &from) != place(member, &until))
    });
    let closes = |link: usize| {
        let [from, until] = times.map(|time| model.links.rest_length(link, time));
        from != until
    };
    pulls || model.colliders.iter().any(moves) || (0..model.links.ends.len()).any(closes)
}
