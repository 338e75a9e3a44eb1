//! What pulls: per element an energy, a force, a derivative; and how elements are gathered onto particles.

pub mod air;
pub mod around;
pub mod baraff_witkin;
pub mod bend;
pub mod choi_ko;
pub mod element;
pub mod gather;
pub mod inflated;
pub mod link;
pub mod plate;
pub mod pressure;
pub mod slider;
pub mod spring;
pub mod stable_step;
pub mod strain_barrier;
pub mod twist;
pub mod wind;

use crate::math::DVec3;
use crate::model::{AirModel, Balloon, Model, State};
use baraff_witkin::MembraneTriangle;
use choi_ko::{Buckle, Damper, Stretch};
use element::Element;
use pressure::PressureFilling;
use wind::{GustField, Wind, WindSurface};

/// Pressure of the air around [Pa].
const ATMOSPHERE: f64 = 101_325.0;

/// Energy stored in all elements that do not change with time [J].
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
    let twists = &model.twists;
    let twist: f64 = (0..twists.points.len())
        .map(|t| twist::energy(twists.points[t].map(x), twists.weights(t), twists.stiffness[t]))
        .sum();
    let at = |i: u32| x(i);
    let membranes = &model.membranes.points;
    let triangles: f64 = (0..membranes.len()).map(|t| membrane(model, t).energy(&membranes[t].map(at))).sum();
    let plates: f64 = model.plates.patches().map(|patch| plate::energy(&patch, at)).sum();
    let pulls: f64 = (0..model.stretches.ends.len())
        .map(|s| self::stretch(model, s).energy(&model.stretches.ends[s].map(at)))
        .sum();
    let buckles: f64 =
        (0..model.buckles.ends.len()).map(|s| buckle(model, s).energy(&model.buckles.ends[s].map(at))).sum();
    // That of a gas that stays in counts from its start: what it takes to make room for it there is none of the cloth's.
    let inflated = |b: &Balloon| {
        let volume = pressure::volume(positions, &model.triangles[b.triangles.clone()]);
        filling(b).energy(volume) - b.sealed.map_or(0.0, |start| filling(b).energy(start))
    };
    let gas: f64 = model.balloons.iter().map(inflated).sum();
    stretch + bend + twist + triangles + plates + pulls + buckles + gas
}

/// Membrane `t` of a model.
pub fn membrane(model: &Model, t: usize) -> MembraneTriangle {
    let m = &model.membranes;
    // The model's triangles have an area; one that has none would pull at nothing.
    let nothing = || MembraneTriangle::new([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0; 3], 0.0);
    let made = MembraneTriangle::new(m.material[t], m.stiffness[t], m.damping_time[t]);
    made.or_else(nothing).expect("a triangle with an area")
}

/// Choi & Ko's stretch spring `s` of a model.
pub fn stretch(model: &Model, s: usize) -> Stretch {
    let m = &model.stretches;
    let damper = Damper { along: m.damping[s], whole: 0.0 };
    Stretch { rest_length: m.rest_length[s], stiffness: m.stiffness[s], damper }
}

/// Choi & Ko's buckling strip `s` of a model.
pub fn buckle(model: &Model, s: usize) -> Buckle {
    let m = &model.buckles;
    let damper = Damper { along: m.damping[s], whole: 0.0 };
    Buckle::new(m.rest_length[s], m.bending[s], m.ramp[s], damper)
}

/// What fills a balloon.
pub fn filling(balloon: &Balloon) -> PressureFilling {
    match balloon.sealed {
        Some(volume) => PressureFilling::gas(ATMOSPHERE + balloon.pressure, volume, ATMOSPHERE),
        None => PressureFilling::Constant { pressure: balloon.pressure },
    }
}

/// How triangles answer to the air, if there is any.
pub fn surface(air: &AirModel) -> Option<WindSurface> {
    let AirModel { density, drag, skin_friction, lift, .. } = *air;
    (density > 0.0).then_some(WindSurface { density, drag, skin_friction, lift })
}

/// The wind with its gusts.
pub fn wind(air: &AirModel) -> Wind {
    let [amplitude, frequency, length] = air.gust;
    Wind { mean: air.wind, gust: GustField { amplitude, frequency, length, seed: air.seed } }
}

/// Forces of all springs, bends, twists, sliders, links and triangles on all particles [N], one element after the other: the slow twin of [`gather`] and of what is held.
pub fn all_forces(model: &Model, air: &AirModel, state: &State, h: f64) -> Vec<DVec3> {
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
    let twists = &model.twists;
    for (t, points) in twists.points.iter().enumerate() {
        let (k, c) = (twists.stiffness[t], twists.damping[t]);
        let f = twist::forces(points.map(x), points.map(v), twists.weights(t), k, c);
        (0..4).for_each(|i| forces[points[i] as usize] += f[i]);
    }
    let normals = slider::normals(model, &state.positions);
    for (slider, anchor) in model.sliders.iter().zip(&state.anchors) {
        let (_, [first, second]) = slider::measure(model, slider.of, x, |i| normals[i as usize]);
        let force = slider::of_rest(model, slider) + slider.stiffness * anchor;
        for (i, [a, b]) in slider::weights(model, slider.of) {
            forces[i as usize] += (first * a + second * b) * force;
        }
    }
    for (l, ends) in model.links.ends.iter().enumerate() {
        let f = link::link(model, l, state.time).forces(&ends.map(x));
        (0..2).for_each(|i| forces[ends[i] as usize] += f[i]);
    }
    for cloth in &model.cloths {
        let area_mass = 1e-3 * cloth.fabric.density;
        for triangle in &model.triangles[cloth.triangles.clone()] {
            let third = air_on(triangle.map(x), triangle.map(v), air, area_mass, state.time, h) / 3.0;
            triangle.iter().for_each(|i| forces[*i as usize] += third);
        }
    }
    forces
}

/// Force of the air on a triangle with these corners and velocities at a time [N].
fn air_on(
    [a, b, c]: [DVec3; 3],
    [va, vb, vc]: [DVec3; 3],
    air: &AirModel,
    area_mass: f64,
    time: f64,
    h: f64,
) -> DVec3 {
    let stream = wind(air).at((a + b + c) / 3.0, time) - (va + vb + vc) / 3.0;
    air::force((b - a).cross(c - a), stream, air, area_mass, h)
}
