//! Strain limits (P5): what they promise, on a chain and on a sheet.

use crate::common::{free_sheet, simulation};
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model, State};
use taffeta::solve::limit::{LimitStats, Limiter};
use taffeta_scene::{Corner, Ease, Keyframe, LimitWay, Method, Pin, Side, StrainLimit};

const WAYS: [LimitWay; 2] = [LimitWay::Half, LimitWay::Priority];

/// A sheet that hangs from its upper corners, drawn out downwards by 30 % and falling.
fn stretched() -> (Model, State) {
    let mut scene = free_sheet(Method::Verlet, 8);
    scene.cloth[0].rotation = [90.0, 0.0, 0.0];
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }];
    let built = simulation(&scene);
    let (model, mut state) = (Model::clone(built.model()), built.state().clone());
    for (x, v) in state.positions.iter_mut().zip(&mut state.velocities) {
        let below = 0.5 - x.y;
        x.y -= 0.3 * below;
        *v = DVec3::NEG_Y * below;
    }
    (model, state)
}

fn largest_strain(model: &Model, x: &[DVec3]) -> f64 {
    let strain = |(&[a, b], rest): (&[u32; 2], &f64)| x[a as usize].distance(x[b as usize]) / rest - 1.0;
    model.edges.iter().zip(&model.rest_lengths).map(strain).fold(0.0, f64::max)
}

fn limited(way: LimitWay, sweeps: u32) -> (Model, State, LimitStats) {
    let (model, mut state) = stretched();
    let limit = StrainLimit { strain: 0.1, way, sweeps };
    let swept = Limiter::new(&model, &Environment::new(&model)).run(
        &limit,
        &mut state.positions,
        &mut state.velocities,
    );
    (model, state, swept)
}

#[test]
fn no_edge_stays_too_long_and_pins_stay_where_they_are() {
    for way in WAYS {
        let (before, start) = stretched();
        assert!(largest_strain(&before, &start.positions) > 0.29);
        let (model, state, swept) = limited(way, 100_000);
        assert!(swept.done && swept.sweeps > 0, "{way:?}: {swept:?}");
        assert!(largest_strain(&model, &state.positions) < 0.1 + 1e-5, "{way:?}");
        let pinned: Vec<usize> = Environment::new(&model)
            .pins()
            .iter()
            .flat_map(|pin| &pin.particles)
            .map(|i| *i as usize)
            .collect();
        assert_eq!(pinned.len(), 2);
        for i in pinned {
            assert_eq!(state.positions[i], start.positions[i]);
            assert_eq!(state.velocities[i], start.velocities[i]);
        }
    }
}

#[test]
fn priority_needs_fewer_sweeps_than_half() {
    let [half, priority] = WAYS.map(|way| limited(way, 100_000).2.sweeps);
    assert!(10 * priority < half, "{priority} against {half}");
}

#[test]
fn sweeps_end_where_they_are_told_to() {
    for way in WAYS {
        let (model, state, swept) = limited(way, 2);
        assert_eq!(swept, LimitStats { sweeps: 2, done: false });
        assert!(largest_strain(&model, &state.positions) > 0.1);
    }
}

#[test]
fn cloth_within_the_limit_keeps_every_bit() {
    let built = simulation(&free_sheet(Method::Verlet, 6));
    for way in WAYS {
        let mut state = built.state().clone();
        let limit = StrainLimit { strain: 0.0, way, sweeps: 5 };
        let swept = Limiter::new(built.model(), built.environment()).run(
            &limit,
            &mut state.positions,
            &mut state.velocities,
        );
        assert_eq!(swept, LimitStats { sweeps: 0, done: true });
        assert_eq!(&state, built.state());
    }
}

#[test]
fn pins_that_are_too_far_apart_leave_what_is_too_long_spread_over_all_edges() {
    let mut scene = free_sheet(Method::Verlet, 8);
    let pin = |side| Pin { sides: vec![side], ..Pin::default() };
    scene.cloth[0].pin = vec![pin(Side::Left), pin(Side::Right)];
    let built = simulation(&scene);
    let (model, mut state) = (built.model(), built.state().clone());
    state.positions.iter_mut().for_each(|x| x.x *= 1.4);
    let drawn_out = state.clone();
    for way in WAYS {
        let limit = StrainLimit { strain: 0.1, way, sweeps: 20 };
        let mut limiter = Limiter::new(model, built.environment());
        let swept = limiter.run(&limit, &mut state.positions, &mut state.velocities);
        let worse = largest_strain(model, &state.positions) > 0.4 + 1e-9;
        assert!(!swept.done && (worse || way == LimitWay::Half), "{way:?}");
        limiter.take_back_if_worse(&limit, &mut state.positions, &mut state.velocities);
        assert!(largest_strain(model, &state.positions) < 0.4 + 1e-9, "{way:?}");
        state = drawn_out.clone();
    }
}

#[test]
fn a_step_whose_limit_cannot_be_kept_says_so() {
    let mut scene = free_sheet(Method::Verlet, 6);
    let at = |time, x| Keyframe { time, shift: [x, 0.0, 0.0], turn: [0.0; 3], ease: Ease::Linear };
    let drawn = vec![at(0.0, 0.0), at(0.2, 0.4)];
    scene.cloth[0].pin = vec![
        Pin { sides: vec![Side::Left], ..Pin::default() },
        Pin { sides: vec![Side::Right], keyframe: drawn, ..Pin::default() },
    ];
    let mut simulation = simulation(&scene);
    for step in 0..10 {
        let report = simulation.step().unwrap();
        let strain = simulation.certificate().max_strain;
        assert_eq!(report.converged, strain <= 0.1 + 1e-5, "step {step}: {strain}");
        assert!(strain < 0.6, "step {step}: {strain}");
    }
    assert!(simulation.certificate().max_strain > 0.3);
}
