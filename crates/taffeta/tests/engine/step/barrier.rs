//! The barrier method against statics: what lies weighs what it weighs, what is pulled follows Hooke up to its bound and never reaches it.

use crate::common::{free_sheet, hanging_strip, run, simulation};
use taffeta::step::Shortfall;
use taffeta_scene::{Collider, Corner, FabricChange, Keyframe, Method, Pin, PlaneShape, Sheet};

#[test]
fn a_sheet_that_lies_presses_with_its_weight() {
    let mut scene = free_sheet(Method::Barrier, 6);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.cloth[0].sheet = Some(Sheet { width: 0.2, height: 0.2, columns: 6, rows: 6, slack: 1.0 });
    scene.cloth[0].position = [0.0, 1e-3, 0.0];
    scene.collider = vec![Collider { plane: Some(PlaneShape {}), ..Collider::default() }];
    let mut simulation = simulation(&scene);
    run(&mut simulation, 1.0);
    let mass: f64 = simulation.model().mass.iter().sum();
    let (want, step) = (mass * 9.81, simulation.model().step_time);
    let pressed: f64 = simulation.body_impulses().unwrap().iter().sum::<f64>() / step;
    assert!((pressed / want - 1.0).abs() < 1e-4, "{pressed} N, {want} N expected");
}

/// A strip of stiffness 100 N/m and 200 g/m² that hangs, by how much of its length it is longer when strain is bounded.
fn longer(bound: f64) -> (f64, f64) {
    let fabric = FabricChange {
        density: Some(200.0),
        warp: Some(100.0),
        weft: Some(100.0),
        bias: Some(0.5),
        bending_warp: Some(1.0),
        bending_weft: Some(1.0),
        ..FabricChange::default()
    };
    let mut scene = hanging_strip(Method::Barrier, 20, fabric);
    scene.solver.tolerance = bound;
    let mut simulation = simulation(&scene);
    run(&mut simulation, 2.0);
    let lowest = simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    (-0.25 - lowest, simulation.certificate().max_strain)
}

#[test]
fn cloth_follows_its_stiffness_below_the_bound_and_stops_at_it() {
    // ρ g L² / (2 Y), and at most ρ g L / Y at the top.
    let (free, most) = (0.2 * 9.81 * 0.25 / 200.0, 0.2 * 9.81 * 0.5 / 100.0);
    let (lengthened, strain) = longer(3.0 * most);
    assert!((lengthened / free - 1.0).abs() < 0.02, "{lengthened} m, {free} m expected");
    assert!(strain < 1.02 * most, "{strain}");
    let (lengthened, strain) = longer(0.3 * most);
    assert!(
        lengthened < 0.7 * free && strain < 0.3 * most,
        "{lengthened} m, strain {strain} of {}",
        0.3 * most
    );
    // The bound acts from its half on.
    assert!(strain > 0.15 * most, "{strain}");
}

#[test]
fn pins_that_go_too_far_are_told_and_nothing_intersects() {
    let mut scene = free_sheet(Method::Barrier, 6);
    scene.contact.cloth_cloth = true;
    let (left, right) = (vec![Corner::UpperLeft], vec![Corner::UpperRight]);
    let away = Keyframe { time: 0.2, shift: [0.3, 0.0, 0.0], turn: [0.0; 3], ease: Default::default() };
    scene.cloth[0].pin = vec![
        Pin { corners: left, ..Pin::default() },
        Pin { corners: right, keyframe: vec![away], ..Pin::default() },
    ];
    let mut simulation = simulation(&scene);
    let mut told = 0;
    for _ in 0..6 {
        let report = simulation.step().unwrap();
        let certificate = simulation.certificate();
        assert_eq!(certificate.cloth_cloth, 0);
        assert!(report.converged == (certificate.max_strain <= scene.solver.tolerance), "{report:?}");
        told += u32::from(matches!(report.shortfall, Some(Shortfall::Led { .. })));
    }
    assert!(told > 0);
}
