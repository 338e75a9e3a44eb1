//! P1's and P2's impulses as printed, against RATTLE's behaviour: a pendulum.

use crate::common::simulation;
use taffeta_scene::{Air, Cloth, Direction, Method, Pin, Scene, Side, Solver, Strip, Velocities};

/// A strip of one cell that swings from its upper side: a pendulum of 0.5 m, let go at 45° or so.
fn pendulum(direction: Direction, velocities: Velocities, substeps: u32) -> Scene {
    let cloth = Cloth {
        strip: Some(Strip { length: 0.5, width: 0.1, segments: 1 }),
        rotation: [0.0, 0.0, -45.0],
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    let method = Method::ImpulseStrips;
    let substeps = Some(substeps);
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, direction, velocities, substeps, tolerance: 1e-9, ..Solver::default() },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

/// The least and the largest energy in each second of ten, over that at the start, less 1; as a share of the energy of the swing.
fn drift(scene: &Scene) -> Vec<[f64; 2]> {
    let mut simulation = simulation(scene);
    let energy = |s: &taffeta::Simulation| s.energy().total();
    let start = energy(&simulation);
    let mut most_kinetic: f64 = 0.0;
    let seconds: Vec<[f64; 2]> = (0..10)
        .map(|_| {
            (0..30).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], _| {
                let report = simulation.step().unwrap();
                assert!(report.converged, "{:?}", report.shortfall);
                most_kinetic = most_kinetic.max(simulation.energy().kinetic);
                let now = energy(&simulation) - start;
                [low.min(now), high.max(now)]
            })
        })
        .collect();
    seconds.into_iter().map(|range| range.map(|e| e / most_kinetic)).collect()
}

#[test]
fn the_printed_form_swings_a_pendulum_as_rattle_does() {
    let widest = |list: &[[f64; 2]]| list.iter().flatten().fold(0.0_f64, |worst, e| worst.max(e.abs()));
    let coarse = drift(&pendulum(Direction::Start, Velocities::Corrected, 5));
    let fine = drift(&pendulum(Direction::Start, Velocities::Corrected, 10));
    // Second order: half the sub-step, a quarter of the error; and it does not grow from the first second to the last.
    assert!(widest(&coarse) < 0.02, "{coarse:?}");
    let order = widest(&coarse) / widest(&fine);
    assert!((3.5..4.5).contains(&order), "{order}");
    assert!(widest(&coarse[9..]) < 1.1 * widest(&coarse[..1]), "{coarse:?}");
    // Along directions at the preview the same sub-steps lose energy.
    let preview = drift(&pendulum(Direction::Preview, Velocities::Kept, 5));
    assert!(preview[9][1] < -0.05, "{preview:?}");
}
