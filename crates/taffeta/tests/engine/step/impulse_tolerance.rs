//! Lengths are kept to the tolerance, whatever the scene, or the report says that they are not; measured by `check`, not by the solver.

use crate::common::{free_sheet, simulation};
use taffeta::math::{DVec3, random::Random};
use taffeta::step::{Leader, Shortfall};
use taffeta_scene::{
    Cloth, Collider, Corner, Disc, Ease, Keyframe, Kick, Method, Pin, Scene, Sheet, Side, SphereShape, Tube,
};

const METHODS: &[Method] = &[Method::ImpulseIterative, Method::ImpulseStrips, Method::ImpulseDirect];

/// The papers' sheet: two neighbouring corners pinned, some particles kicked.
fn hanging_sheet(method: Method, n: u32, slack: f64, tolerance: f64) -> Scene {
    let mut scene = free_sheet(method, n);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.solver.tolerance = tolerance;
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    let kick = Kick { share: 0.05, speed: 0.1 };
    scene.cloth = vec![Cloth { sheet: Some(sheet), kick: Some(kick), pin: vec![pin], ..Cloth::default() }];
    scene
}

#[test]
fn a_straight_row_between_two_pins_is_held_to_every_tolerance() {
    for &method in METHODS {
        for slack in [1.0, 0.95] {
            for tolerance in [0.1, 1e-2, 1e-3, 1e-4, 1e-6] {
                // Edge by edge the tension of a straight row between pins needs many thousand sweeps: that method says when it has not found it.
                let slow = method == Method::ImpulseIterative;
                if slow && tolerance < 1e-3 {
                    continue;
                }
                let n = if slow { 10 } else { 16 };
                let mut simulation = simulation(&hanging_sheet(method, n, slack, tolerance));
                // Long runs see the sheet swing back.
                for frame in 0..if testing::long() { 60 } else { 20 } {
                    let report = simulation.step().unwrap();
                    let strain = simulation.certificate().max_strain;
                    assert!(
                        report.converged && strain <= tolerance,
                        "{} slack {slack} tolerance {tolerance} frame {frame}: strain {strain}",
                        method.name()
                    );
                }
            }
        }
    }
}

#[test]
fn a_small_tolerance_in_short_sub_steps_holds_nothing_up() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect] {
        let mut scene = hanging_sheet(method, 24, 1.0, 1e-4);
        scene.solver.substeps = Some(320);
        let mut simulation = simulation(&scene);
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        let (mass, state) = (&simulation.model().mass, simulation.state());
        let moving: f64 = mass.iter().zip(&state.velocities).map(|(m, v)| 0.5 * m * v.length_squared()).sum();
        // The sheet was level at the height of the pins.
        let fallen: f64 = mass.iter().zip(&state.positions).map(|(m, x)| -9.81 * m * x.y).sum();
        assert!(moving > 0.95 * fallen, "{}: {moving} J of {fallen} J", method.name());
        assert!(fallen > 3.0 * mass.iter().sum::<f64>(), "{}: {fallen} J", method.name());
    }
}

#[test]
fn a_step_too_long_for_the_most_sub_steps_is_taken_in_these() {
    for &method in METHODS {
        let mut scene = hanging_sheet(method, 6, 0.9, 1e-2);
        scene.frame_time = 2.5;
        let mut simulation = simulation(&scene);
        let report = simulation.step().unwrap();
        let most = f64::from(simulation.model().params.impulse.most_substeps);
        assert!(
            f64::from(report.substeps) >= most && report.shortest_substep <= 2.5 / most,
            "{method:?}: {report:?}"
        );
    }
}

#[test]
fn a_destroyed_model_repairs_itself() {
    for &method in METHODS {
        let tolerance = 1e-2;
        let scene = hanging_sheet(method, 12, 0.95, tolerance);
        let mut simulation = simulation(&scene);
        let mut thrown = simulation.state().clone();
        let mut random = Random::new(3);
        for (x, w) in thrown.positions.iter_mut().zip(simulation.environment().inverse_mass()) {
            if *w > 0.0 {
                *x = DVec3::from_array(std::array::from_fn(|_| random.between(-0.5, 0.5)));
            }
        }
        simulation.restore(&thrown.to_bytes()).unwrap();
        let mut whole = 0;
        for _ in 0..60 {
            whole = if simulation.step().unwrap().converged { whole + 1 } else { 0 };
            let furthest = simulation.state().positions.iter().map(|x| x.length()).fold(0.0, f64::max);
            assert!(furthest < 5.0, "{}: a particle is {furthest} m away", method.name());
        }
        assert!(whole > 30, "{}: within tolerance in the last {whole} frames only", method.name());
        assert!(simulation.certificate().max_strain <= tolerance);
    }
}

#[test]
fn a_capped_step_is_early_but_stable_and_marked() {
    for &method in METHODS {
        for slack in [1.0, 0.95] {
            // Larger sheets need fewer sub-steps, and edge by edge more iterations than there are.
            for size in [1.0, 23.0] {
                let mut scene = hanging_sheet(method, 24, slack, 1e-4);
                scene.cloth[0].sheet.as_mut().unwrap().width = size;
                scene.cloth[0].sheet.as_mut().unwrap().height = size;
                scene.solver.max_iterations = Some(5);
                let mut simulation = simulation(&scene);
                let mut early = 0;
                // Long runs see the sheet come to rest.
                for frame in 0..if testing::long() { 90 } else { 40 } {
                    let report = simulation.step().unwrap();
                    let strain = simulation.certificate().max_strain;
                    let what = format!("{} {size} m frame {frame}", method.name());
                    assert!(report.iterations <= 5 && report.substeps <= 5, "{what}");
                    assert_eq!(report.converged, strain <= 1e-4, "{what}: {strain}");
                    early += u32::from(!report.converged);
                    // The middle of a sheet falls by no more than half of its size.
                    let model = simulation.model();
                    let kinetic = simulation.energy().kinetic;
                    let most = 0.5 * 9.81 * size * model.mass.iter().sum::<f64>();
                    assert!(kinetic < most, "{what}: {kinetic} J of {most} J");
                }
                assert!(early > 0 || size > 1.0, "{}: five are not enough for 0.01 %", method.name());
            }
        }
    }
}

#[test]
fn edges_between_pins_and_lost_pieces_do_no_harm() {
    for &method in METHODS {
        // Two sheets in one mesh, one of them free; of the other all but one particle are pinned.
        let mut scene = hanging_sheet(method, 3, 1.0, 1e-3);
        scene.cloth[0].pin = vec![Pin { vertices: (0..8).collect(), ..Pin::default() }];
        scene.cloth.push(Cloth { pin: Vec::new(), position: [0.0, 1.0, 0.0], ..scene.cloth[0].clone() });
        let mut simulation = simulation(&scene);
        for _ in 0..10 {
            assert!(simulation.step().unwrap().converged, "{}", method.name());
            assert!(simulation.certificate().max_strain <= 1e-3);
        }
        let fallen = 1.0 - simulation.state().positions[9].y;
        assert!((fallen / (0.5 * 9.81 / 9.0) - 1.0).abs() < 0.1, "{}: {fallen} m", method.name());
    }
}

#[test]
fn a_straight_row_between_pins_is_one_edge_too_many() {
    let mut simulation = simulation(&hanging_sheet(Method::ImpulseDirect, 6, 1.0, 1e-2));
    assert!(simulation.step().unwrap().redundant.is_some());
    for _ in 0..20 {
        assert_eq!(simulation.step().unwrap().redundant, Some(0), "a sagging row is regular");
    }
}

#[test]
fn pins_that_are_too_far_apart_are_told_with_numbers() {
    for &method in METHODS {
        let mut scene = hanging_sheet(method, 10, 1.0, 1e-2);
        let apart = taffeta_scene::Keyframe {
            time: 0.2,
            shift: [0.2, 0.0, 0.0],
            turn: [0.0; 3],
            ease: Default::default(),
        };
        scene.cloth[0].pin = vec![
            Pin { vertices: vec![90], ..Pin::default() },
            Pin { vertices: vec![99], keyframe: vec![apart], ..Pin::default() },
        ];
        let mut simulation = simulation(&scene);
        let mut last = None;
        for _ in 0..12 {
            let report = simulation.step().unwrap();
            assert_eq!(report.converged, report.shortfall.is_none());
            last = report.shortfall;
        }
        let Some(Shortfall::Pins { ends, distance, reach }) = last else { panic!("{last:?}") };
        assert_eq!(ends.map(|i| i.min(99)), ends);
        assert!((distance - 1.2).abs() < 1e-9 && (reach - 1.0).abs() < 1e-9, "{distance} {reach}");
    }
}

#[test]
fn a_body_that_leaves_no_way_to_follow_is_told_by_its_number() {
    let mut scene = free_sheet(Method::ImpulseStrips, 12);
    scene.cloth[0].pin =
        vec![Pin { sides: vec![Side::Left, Side::Right, Side::Upper, Side::Lower], ..Pin::default() }];
    let key = |time, up| Keyframe { time, shift: [0.0, up, 0.0], turn: [0.0; 3], ease: Ease::Linear };
    let resting = Collider {
        position: [3.0, 0.0, 0.0],
        sphere: Some(SphereShape { radius: 0.2 }),
        ..Collider::default()
    };
    let rising = Collider {
        position: [0.0, -0.25, 0.0],
        sphere: Some(SphereShape { radius: 0.2 }),
        keyframe: vec![key(0.0, 0.0), key(0.5, 0.6)],
        ..Collider::default()
    };
    scene.collider = vec![resting, rising];
    let mut simulation = simulation(&scene);
    let told = (0..15).find_map(|_| match simulation.step().unwrap().shortfall {
        Some(Shortfall::Led { by, moved, .. }) => Some((by, moved)),
        _ => None,
    });
    let Some((by, moved)) = told else { panic!("a drum that is pressed in by 0.3 m keeps no lengths") };
    assert!(by == Leader::Body(1) && (moved - 0.04).abs() < 1e-9, "{by}, {moved} m");
}

#[test]
fn what_pins_force_is_told_and_not_tried_again() {
    let mut scene = free_sheet(Method::ImpulseStrips, 12);
    scene.contact.cloth_cloth = true;
    scene.solver.tolerance = 0.02;
    let turned = |side, degrees| {
        let key = |time, turn| Keyframe { time, shift: [0.0; 3], turn: [turn, 0.0, 0.0], ease: Ease::Linear };
        Pin { sides: vec![side], keyframe: vec![key(0.0, 0.0), key(1.0, degrees)], ..Pin::default() }
    };
    scene.cloth[0].pin = vec![turned(Side::Left, 250.0), turned(Side::Right, -250.0)];
    let mut simulation = simulation(&scene);
    let (mut forced, mut usual) = (0, 0);
    for step in 0..24 {
        let strain = simulation.certificate().max_strain;
        let report = simulation.step().unwrap();
        usual = usual.max(if step == 0 { report.substeps } else { 0 });
        if step > 0 && strain > 0.05 {
            forced += 1;
            let is_told = matches!(report.shortfall, Some(Shortfall::Pins { .. } | Shortfall::Led { .. }));
            assert!(report.converged || is_told, "step {step}: {:?}", report.shortfall);
            assert!(report.substeps <= usual, "step {step}: {} sub-steps, {usual} at first", report.substeps);
        }
        assert_eq!(simulation.certificate().cloth_cloth, 0, "step {step}");
    }
    assert!(forced > 8, "{forced} steps");
}

#[test]
fn random_scenes_are_within_tolerance_or_say_that_they_are_not() {
    let mut random = Random::new(11);
    let mut reached = 0;
    for round in 0..40 {
        let method = METHODS[random.below(METHODS.len())];
        let mut scene = free_sheet(method, 4);
        scene.gravity = [random.between(-5.0, 5.0), random.between(-20.0, 5.0), random.between(-5.0, 5.0)];
        scene.air.density = if random.below(2) == 0 { 0.0 } else { 1.2 };
        scene.air.wind = [random.between(-10.0, 10.0), 0.0, random.between(-10.0, 10.0)];
        scene.solver.tolerance = 10f64.powi(-(1 + random.below(6) as i32));
        let side = |random: &mut Random| 2 + random.below(14) as u32;
        let mut cloth = Cloth {
            fabric: taffeta_scene::presets()[random.below(12)].name.into(),
            velocity: std::array::from_fn(|_| random.between(-3.0, 3.0)),
            kick: Some(Kick { share: random.unit(), speed: random.between(0.0, 10.0) }),
            ..Cloth::default()
        };
        let particles = match random.below(3) {
            0 => {
                let (columns, rows) = (side(&mut random), side(&mut random));
                let (width, height) = (random.between(0.1, 2.0), random.between(0.1, 2.0));
                cloth.sheet = Some(Sheet { width, height, columns, rows, slack: random.between(0.5, 1.0) });
                columns * rows
            }
            1 => {
                let rings = 1 + random.below(6) as u32;
                cloth.disc = Some(Disc { radius: random.between(0.1, 1.0), rings });
                1 + 3 * rings * (rings + 1)
            }
            _ => {
                let (segments, rows) = (3 + side(&mut random), side(&mut random));
                cloth.tube = Some(Tube { radius: 0.2, length: random.between(0.1, 1.0), segments, rows });
                segments * rows
            }
        };
        match random.below(3) {
            0 => {}
            1 if cloth.sheet.is_none() => cloth.pin = vec![Pin { sides: vec![Side::Rim], ..Pin::default() }],
            _ => {
                let vertices = vec![random.below(particles as usize) as u32];
                cloth.pin = vec![Pin { vertices, ..Pin::default() }];
            }
        }
        scene.cloth = vec![cloth];
        let mut simulation = simulation(&scene);
        for _ in 0..15 {
            let report = simulation.step().unwrap_or_else(|error| panic!("round {round}: {error}"));
            let strain = simulation.certificate().max_strain;
            assert_eq!(report.converged, strain <= scene.solver.tolerance, "round {round}: strain {strain}");
            assert_eq!(report.converged, report.shortfall.is_none());
            assert!(simulation.state().positions.iter().all(|x| x.is_finite()));
            reached += u32::from(report.converged);
        }
    }
    assert!(reached > 520, "{reached} of 600 steps within tolerance");
}

/// A ball that shoots through a sheet as fast as [m/s], from a metre beside it.
fn shot(speed: f64) -> Scene {
    let mut scene = hanging_sheet(Method::ImpulseStrips, 24, 1.0, 0.01);
    scene.cloth[0].rotation = [90.0, 0.0, 0.0];
    scene.cloth[0].pin.clear();
    scene.contact.cloth_cloth = true;
    let key = |time: f64, z: f64| Keyframe { time, shift: [0.0, 0.0, z], turn: [0.0; 3], ease: Ease::Linear };
    let sphere = Some(SphereShape { radius: 0.1 });
    let position = [0.0, 0.0, 1.0];
    let keyframe = vec![key(0.0, 0.0), key(2.0 / speed, -2.0)];
    scene.collider = vec![Collider { sphere, position, keyframe, ..Collider::default() }];
    scene
}

#[test]
fn a_body_that_is_much_faster_than_the_cloth_takes_it_along() {
    let mut simulation = simulation(&shot(40.0));
    for frame in 0..3 {
        let report = simulation.step().unwrap();
        let certificate = simulation.certificate();
        let crossed = certificate.cloth_body + certificate.cloth_cloth;
        assert!(report.converged && crossed == 0, "frame {frame}: {:?}, {crossed} crossed", report.shortfall);
    }
    let fastest = simulation.velocities().iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest > 10.0, "hit at 40 m/s nothing is faster than {fastest} m/s");
}
