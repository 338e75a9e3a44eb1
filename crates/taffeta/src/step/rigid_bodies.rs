//! The flight of free bodies between contacts, for every method: their four particles move straight, and are then made rigid again.
//!
//! A straight way is x + h v with the velocities of a rigid motion; the nearest rigid placement of where it ends turns by arctan(h ω) about every axis, and
//! the velocities after it are those with the linear and angular momentum before. So both momenta are kept to rounding, in flight and in contact.

use super::driver::StepContext;
use crate::math::{DVec3, Vec4};
use crate::model::Model;

/// Moves the particles of all free bodies for the time `h` [s] under gravity and the damping of the air: all positions [m] and velocities [m/s].
pub fn fly(step: &StepContext, x: &mut [Vec4], v: &mut [Vec4], h: f64) {
    let model = step.model;
    for node in model.cloth_particle_count()..model.particle_count() {
        v[node] = pulled(step, v[node], h);
        x[node] += v[node] * h;
    }
}

/// A velocity after the time `h` [s] under gravity and the damping of the air [m/s].
pub fn pulled(step: &StepContext, v: Vec4, h: f64) -> Vec4 {
    let air = &step.environment.air;
    let rate = h * air.damping;
    (v + Vec4::from(h * step.gravity + rate * air.wind)) * (1.0 / (1.0 + rate))
}

/// Makes all free bodies rigid again, and their velocities those of rigid motions.
pub fn stiffen(model: &Model, x: &mut [Vec4], v: &mut [Vec4]) {
    for body in &model.bodies {
        let nodes = body.nodes.clone();
        let [at, speeds] = [&*x, &*v].map(|list| four(&list[nodes.clone()]));
        let placed = body.placement(&at);
        put(&mut x[nodes.clone()], body.nodes_of(&placed));
        put(&mut v[nodes], body.rigid_velocities(&placed, &at, &speeds));
    }
}

/// Makes velocities of free bodies those of rigid motions.
pub fn stiffen_velocities(model: &Model, x: &[Vec4], v: &mut [Vec4]) {
    for body in &model.bodies {
        let nodes = body.nodes.clone();
        let [at, speeds] = [x, &*v].map(|list| four(&list[nodes.clone()]));
        let placed = body.placement(&at);
        put(&mut v[nodes], body.rigid_velocities(&placed, &at, &speeds));
    }
}

fn four(list: &[Vec4]) -> [DVec3; 4] {
    std::array::from_fn(|k| list[k].xyz())
}

/// Only the first three numbers: the fourth has a meaning of its own in some methods.
fn put(list: &mut [Vec4], vectors: [DVec3; 4]) {
    for (to, from) in list.iter_mut().zip(vectors) {
        *to = Vec4([from.x, from.y, from.z, to.0[3]]);
    }
}
