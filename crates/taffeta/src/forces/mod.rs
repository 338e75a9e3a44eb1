//! What pulls: per element an energy, a force, a derivative; and how elements are gathered onto particles.

pub mod air;
pub mod baraff_witkin;
pub mod bend;
pub mod choi_ko;
pub mod element;
pub mod gather;
pub mod hinge;
pub mod pressure;
pub mod spring;
pub mod stable_step;
pub mod wind;

use crate::math::DVec3;
use crate::model::{AirModel, Model, State};

/// Energy stored in all springs and bends [J].
pub fn elastic_energy(model: &Model, positions: &[DVec3]) -> f64 {
    let x = |i: u32| positions[i as usize];
    let (springs, bends) = (&model.springs, &model.bends);
    let stretch: f64 = (0..springs.ends.len())
        .map(|s| {
            let [a, b] = springs.ends[s];
            spring::energy(x(b) - x(a), springs.rest_length[s], springs.stiffness[s])
        })
        .sum();
    let bend: f64 = (0..bends.points.len())
        .map(|b| bend::energy(bends.points[b].map(x), bends.inverse_lengths[b], bends.stiffness[b]))
        .sum();
    stretch + bend
}

/// Forces of all springs, bends and triangles on all particles [N], one element after the other: the slow twin of [`gather`].
pub fn all_forces(model: &Model, state: &State, h: f64) -> Vec<DVec3> {
    let (x, v) = (|i: u32| state.positions[i as usize], |i: u32| state.velocities[i as usize]);
    let mut forces = vec![DVec3::ZERO; state.positions.len()];
    let springs = &model.springs;
    for (s, &[a, b]) in springs.ends.iter().enumerate() {
        let (k, c) = (springs.stiffness[s], springs.damping[s]);
        let f = spring::force(x(b) - x(a), v(b) - v(a), springs.rest_length[s], k, c);
        forces[a as usize] += f;
        forces[b as usize] -= f;
    }
    let bends = &model.bends;
    for (b, points) in bends.points.iter().enumerate() {
        let (k, c) = (bends.stiffness[b], bends.damping[b]);
        let f = bend::forces(points.map(x), points.map(v), bends.inverse_lengths[b], k, c);
        (0..3).for_each(|i| forces[points[i] as usize] += f[i]);
    }
    for cloth in &model.cloths {
        let area_mass = 1e-3 * cloth.fabric.density;
        for triangle in &model.triangles[cloth.triangles.clone()] {
            let third = air_on(triangle.map(x), triangle.map(v), &model.air, area_mass, h) / 3.0;
            triangle.iter().for_each(|i| forces[*i as usize] += third);
        }
    }
    forces
}

/// Force of the air on a triangle with these corners and velocities [N].
fn air_on([a, b, c]: [DVec3; 3], [va, vb, vc]: [DVec3; 3], air: &AirModel, area_mass: f64, h: f64) -> DVec3 {
    let stream = air.wind - (va + vb + vc) / 3.0;
    air::force((b - a).cross(c - a), stream, air, area_mass, h)
}
