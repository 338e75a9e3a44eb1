//! Whether cloth that lies on something is as good as at rest: then what is left of its motion is to go, not to be followed.

use super::substeps::SubstepController;
use crate::math::{DVec3, Vec4};
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
        && !is_closing(model, [state.time, state.time + model.step_time])
        && model.colliders.iter().all(|collider| collider.free.is_none())
}

/// Whether nothing but weight acts on cloth from outside.
pub fn is_weight_all(environment: &Environment) -> bool {
    let air = &environment.air;
    air.wind == DVec3::ZERO && air.gust[0] == 0.0 && environment.forces.is_empty()
}

/// Notes how far particles of cloth at rest may go on in the next sub-step: as far as they would have in this one, from x to y, and what they fall in it if they are
/// free, or if the third number tells that they touch [m].
///
/// Nothing but weight sets cloth at rest in motion, and what touches is carried. What accelerates it more are errors of contacts that are listed anew and of lengths
/// that are put right, and they come again in every step.
pub fn note_ways<'a>(
    [free, carried]: [f64; 2],
    ways: impl Iterator<Item = ((&'a Vec4, &'a Vec4), &'a Vec4)>,
    furthest: &mut Vec<f64>,
) {
    furthest.extend(ways.map(|((x, y), grip)| {
        let falls = if grip.0[3] > 0.0 { carried } else { free };
        (*y - *x).xyz().length() + falls
    }));
}

/// Shortens the ways from `x` to `y` that are longer than noted [m].
pub fn hold_back(furthest: &[f64], x: &[Vec4], y: &mut [Vec4]) {
    for ((x, y), furthest) in x.iter().zip(y).zip(furthest) {
        let way = (*y - *x).xyz();
        let length = way.length();
        if length > *furthest {
            let end = x.xyz() + furthest / length * way;
            *y = Vec4([end.x, end.y, end.z, y.0[3]]);
        }
    }
}

/// Whether bodies or pins are led on between these times [s].
pub fn is_led(model: &Model, environment: &Environment, times: [f64; 2]) -> bool {
    let moves = |collider: &Collider| {
        let [from, until] = times.map(|time| collider.pose(time));
        let deforms = match &collider.form {
            Form::Mesh(mesh) => mesh.moments_at(times[0]) != mesh.moments_at(times[1]),
            Form::Closed(_) => false,
        };
        collider.free.is_none() && (from != until || deforms)
    };
    let pulls = environment.pins.iter().any(|pin| {
        let [from, until] = times.map(|time| pin.led(time, &model.colliders));
        let place = |member: usize, led| pin.place(member, led, &model.colliders);
        (0..pin.particles.len()).any(|member| place(member, &from) != place(member, &until))
    });
    pulls || model.colliders.iter().any(moves)
}

/// Whether seams are drawn together between these times [s].
fn is_closing(model: &Model, times: [f64; 2]) -> bool {
    (0..model.links.ends.len()).any(|link| {
        let [from, until] = times.map(|time| model.links.rest_length(link, time));
        from != until
    })
}
