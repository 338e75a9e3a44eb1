//! Windows of CCD: where nothing is near they are long, and what comes near meanwhile is kept apart all the same.

use taffeta::Simulation;
use taffeta::math::{DVec3, trig};
use taffeta::model::Model;
use taffeta::step::Hands;
use taffeta_scene::{Cloth, Collider, PlaneShape, Scene, Sheet, Solver, build};

/// A towel of 0.4 m on a table.
fn towel(particles: u32) -> Scene {
    let sheet = Sheet { width: 0.4, height: 0.4, columns: particles, rows: particles, slack: 1.0 };
    let table = Collider { plane: Some(PlaneShape::default()), friction: Some(0.6), ..Collider::default() };
    Scene {
        solver: Solver { tolerance: 0.05, ..Solver::default() },
        cloth: vec![Cloth { sheet: Some(sheet), position: [0.0, 0.004, 0.0], ..Cloth::default() }],
        collider: vec![table],
        ..Scene::default()
    }
}

#[test]
fn windows_are_longer_where_nothing_is_near_and_nothing_passes_through_anything() {
    let (side, frames) = (32, 36);
    let scene = towel(side);
    // Rounds of proofs: one for each window at least.
    let rounds = |free_further: f64| {
        let (model, state) = build(&scene, &Default::default()).unwrap();
        let mut model = Model::clone(&model);
        model.params.collision.free_further = free_further;
        let mut simulation = Simulation::new(model, state);
        let corners = [0, side - 1].map(|k| (k, simulation.positions()[k as usize]));
        let mut rounds = 0;
        for frame in 0..frames {
            // In an arc to the opposite side, where half of the towel comes down on the other half.
            let angle = std::f64::consts::PI * (f64::from(frame + 1) / 34.0).min(1.0);
            let turned = |x: DVec3| {
                let (up, along) = (x.z.abs() * trig::sin(angle), x.z * trig::cos(angle));
                DVec3::new(x.x, 0.006 + 0.75 * up, along)
            };
            let held = corners.map(|(k, x)| (k, turned(x))).into();
            simulation.set_hands(&Hands { held, ..Hands::default() }, 1.0 / 30.0);
            let report = simulation.step_frame(&mut ()).unwrap();
            let certificate = simulation.certificate();
            assert!(
                report.converged && certificate.cloth_cloth + certificate.cloth_body == 0,
                "frame {frame}, {free_further} times as far: {report:?}"
            );
            rounds += report.ccd.rounds;
        }
        rounds
    };
    let (long, short) = (rounds(4.0), rounds(1.0));
    assert!(5 * long < 4 * short, "{long} rounds, {short} with short windows");
}
