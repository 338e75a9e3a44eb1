//! What the parameters that matter most do at half and at twice: if one of these no longer holds, its number is due to be fixed anew (docs/params.md).

use crate::common::free_sheet;
use taffeta::Simulation;
use taffeta::model::Model;
use taffeta_scene::{Corner, Method, Pin, Scene, build};

/// Sub-steps and iterations a frame, the largest strain, and whether it went to the end.
struct Went {
    substeps: f64,
    iterations: f64,
    strain: f64,
    whole: bool,
}

/// A sheet that swings down from two corners.
fn hanging(method: Method) -> Scene {
    let mut scene = free_sheet(method, 14);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }];
    scene
}

fn go(scene: &Scene, parameter: &str, factor: f64) -> Went {
    let (model, state) = build(scene, &Default::default()).unwrap();
    let mut model = Model::clone(&model);
    let (group, name) = parameter.split_once('.').unwrap();
    assert!(model.params.scale(group, name, factor));
    let mut simulation = Simulation::new(model, state);
    let mut went = Went { substeps: 0.0, iterations: 0.0, strain: 0.0, whole: true };
    let frames = 30.0;
    for _ in 0..30 {
        let Ok(report) = simulation.step() else { return Went { whole: false, ..went } };
        went.substeps += f64::from(report.substeps) / frames;
        went.iterations += f64::from(report.iterations) / frames;
        went.strain = f64::max(went.strain, simulation.certificate().max_strain);
    }
    went
}

#[test]
fn forces_that_displace_by_less_than_half_are_not_stable() {
    let scene = hanging(Method::ImpulseStrips);
    let [half, twice] = [0.5, 2.0].map(|factor| go(&scene, "impulse.displacement_share", factor));
    assert!(!half.whole || half.strain > 0.1);
    assert!(twice.whole && twice.strain < 0.01);
}

#[test]
fn what_sweeps_do_not_bring_to_tolerance_goes_back_towards_the_state_before() {
    let mut scene = hanging(Method::ImpulseStrips);
    scene.solver.tolerance = 1e-3;
    let (model, state) = build(&scene, &Default::default()).unwrap();
    let mut model = Model::clone(&model);
    // Without last sweeps nothing but the way back is left.
    assert!(model.params.scale("impulse", "last_sweeps", 1e-9));
    let (tolerance, mut simulation) = (model.tolerance, Simulation::new(model, state));
    let high = simulation.energy().gravity;
    let (mut kept, mut before) = (0, 0.0);
    for step in 0..30 {
        let report = simulation.step().unwrap();
        let strain = simulation.certificate().max_strain;
        assert_eq!(report.converged, strain <= tolerance * (1.0 + 1e-9), "step {step}: {strain}");
        // Only from rest is there no way back.
        assert!(report.converged || before == 0.0, "step {step}: {strain}");
        before = simulation.energy().kinetic;
        kept += u32::from(report.converged);
    }
    assert!(kept >= 15, "{kept} of 30 steps within tolerance");
    assert!(simulation.energy().gravity < high - 0.1, "it stays where it is");
}

#[test]
fn tension_that_is_kept_saves_iterations_edge_by_edge() {
    let scene = hanging(Method::ImpulseIterative);
    let [half, usual] = [0.5, 1.0].map(|factor| go(&scene, "impulse.warm_start_by_edges", factor));
    assert!(half.iterations > 1.5 * usual.iterations, "{} against {}", half.iterations, usual.iterations);
}

#[test]
fn sub_steps_of_a_swing_follow_its_parameter() {
    let scene = hanging(Method::ImpulseStrips);
    let [half, usual] = [0.5, 1.0].map(|factor| go(&scene, "impulse.swing_substep", factor).substeps);
    assert!((half / usual - 2.0).abs() < 0.1, "{half} against {usual}");
}

#[test]
fn verlet_beyond_its_limit_is_lost() {
    let scene = hanging(Method::Verlet);
    assert!(go(&scene, "verlet.safety", 1.0).whole && !go(&scene, "verlet.safety", 2.0).whole);
}

#[test]
fn fewer_sub_steps_of_xpbd_make_hanging_cloth_longer() {
    // Fine enough that hanging alone says how long sub-steps are.
    let mut scene = hanging(Method::Xpbd);
    scene.cloth[0].sheet.iter_mut().for_each(|sheet| (sheet.columns, sheet.rows) = (20, 20));
    let [half, usual] = [0.5, 1.0].map(|factor| go(&scene, "xpbd.left_undone", factor));
    assert!((half.substeps / usual.substeps - f64::sqrt(2.0)).abs() < 0.1);
    assert!(usual.strain > half.strain);
}
