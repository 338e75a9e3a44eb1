//! Every fast thing against its slow twin.

use crate::common::{free_sheet, simulation};
use taffeta::forces::air::HeldForces;
use taffeta::forces::{self, gather, stable_step::StableStep};
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta::model::{Environment, Model, State};
use taffeta_scene::{Cloth, Disc, Method, Scene, Tube};

/// A scene of two sheets, a disc and a tube, crumpled at random.
fn crumpled() -> (Model, State) {
    let mut scene: Scene = free_sheet(Method::Verlet, 40);
    scene.air.density = 1.2;
    scene.air.wind = [3.0, -1.0, 2.0];
    scene.cloth.push(Cloth {
        disc: Some(Disc { radius: 0.4, rings: 9 }),
        fabric: "wool".into(),
        ..Cloth::default()
    });
    let tube = Tube { radius: 0.2, length: 0.5, segments: 30, rows: 25 };
    scene.cloth.push(Cloth { tube: Some(tube), fabric: "silk".into(), ..Cloth::default() });
    let built = simulation(&scene);
    let (model, mut state) = (Model::clone(built.model()), built.state().clone());
    let mut random = Random::new(9);
    let mut anywhere = |scale: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-scale, scale)));
    state.positions.iter_mut().for_each(|x| *x += anywhere(0.01));
    state.velocities.iter_mut().for_each(|v| *v = anywhere(2.0));
    (model, state)
}

fn padded(vectors: &[DVec3]) -> Vec<Vec4> {
    vectors.iter().map(|v| Vec4::from(*v)).collect()
}

#[test]
fn gathered_forces_are_those_of_one_element_after_the_other() {
    let (model, state) = crumpled();
    let h = 1e-3;
    let slow = forces::all_forces(&model, &model.air, &state, h);
    let (x, v) = (padded(&state.positions), padded(&state.velocities));
    let largest = slow.iter().map(|f| f.length()).fold(0.0, f64::max);
    let environment = Environment::new(&model);
    let mut air = HeldForces::new(&model, &environment);
    air.renew(&model, &environment, (state.time, h), &x, (|i| v[i], 3.0));
    let mut chunks = gather::chunks(&model);
    assert!(chunks.len() > 3);
    for chunk in &mut chunks {
        let particles = chunk.particles.clone();
        for (fast, i) in chunk.forces(&x, &v, air.on_particles()).iter().zip(particles) {
            assert!((fast.xyz() - slow[i]).length() < 1e-12 * largest, "particle {i}");
        }
    }
    let covered: usize = chunks.iter().map(|c| c.particles.len()).sum();
    assert_eq!(covered, model.particle_count());
}

#[test]
fn the_stable_step_is_below_that_of_the_stiffest_mode_and_not_far_below() {
    // The stiffest mode of K by power iteration, K applied as a difference of forces around a flat sheet.
    let scene = free_sheet(Method::Verlet, 12);
    let built = simulation(&scene);
    let (mut model, state) = (Model::clone(built.model()), built.state().clone());
    model.springs.damping.fill(0.0);
    model.bends.damping.fill(0.0);
    let environment = Environment::new(&model);
    let estimate = StableStep::new(&model).at(&model, &environment, &padded(&state.positions));

    let mut random = Random::new(4);
    let mut mode: Vec<DVec3> = state
        .positions
        .iter()
        .map(|_| DVec3::from_array(std::array::from_fn(|_| random.unit() - 0.5)))
        .collect();
    let (mut omega2, step) = (0.0, 1e-7);
    for _ in 0..500 {
        let mut moved = state.clone();
        moved.positions.iter_mut().zip(&mode).for_each(|(x, u)| *x += step * *u);
        let force = forces::all_forces(&model, &model.air, &moved, 1.0);
        mode = force.iter().zip(environment.inverse_mass()).map(|(f, w)| -*f * *w / step).collect();
        omega2 = mode.iter().map(|u| u.length_squared()).sum::<f64>().sqrt();
        mode.iter_mut().for_each(|u| *u /= omega2);
    }
    let exact = 2.0 / f64::sqrt(omega2);
    assert!(estimate <= exact * (1.0 + 1e-3), "estimate {estimate}, exact {exact}");
    assert!(estimate > 0.8 * exact, "estimate {estimate}, exact {exact}");
}
