//! What is done by hand to a running simulation: it does what it says, and leaves alone what it does not touch.

use crate::common::{free_sheet, run, simulation};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::step::Hands;
use taffeta_scene::{Method, Pin, Scene, Side};

/// Particles along a side; fewer for secants, whose sub-steps cost a dozen evaluations of all forces. What hands do far from their grip is for long runs.
fn side(method: Method) -> u32 {
    match (testing::long(), method == Method::Bdf2Secant) {
        (true, false) => 12,
        (true, true) => 7,
        (false, false) => 6,
        (false, true) => 5,
    }
}

/// A sheet that hangs from its left side in a light wind.
fn hanging(method: Method) -> Scene {
    let mut scene = free_sheet(method, side(method));
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.density = 1.2;
    scene.cloth[0].pin = vec![Pin { sides: vec![Side::Left], ..Pin::default() }];
    scene
}

fn hashes(simulation: &mut Simulation, frames: usize) -> Vec<u64> {
    let next = |_| {
        run(simulation, 1.0 / 30.0);
        simulation.state().hash()
    };
    (0..frames).map(next).collect()
}

#[test]
fn what_is_not_touched_keeps_its_bits() {
    for method in Method::ALL {
        let scene = hanging(*method);
        let alone = hashes(&mut simulation(&scene), 8);
        let mut touched = simulation(&scene);
        let mut seen = hashes(&mut touched, 3);
        touched.set_hands(&Hands::default(), 0.1);
        let (gravity, air) = (touched.environment().gravity, touched.environment().air);
        touched.set_surroundings(gravity, air);
        seen.extend(hashes(&mut touched, 2));
        let mut heir = simulation(&scene);
        heir.take_over(&touched).unwrap();
        seen.extend(hashes(&mut heir, 3));
        assert_eq!(seen, alone, "{}", method.name());
    }
}

#[test]
fn wind_changed_at_once_is_wind_changed_by_building_anew() {
    for method in Method::ALL {
        // From still air, from a vacuum, into a vacuum.
        for (before, after) in [(1.2, 1.2), (0.0, 1.2), (1.2, 0.0)] {
            let mut scene = hanging(*method);
            scene.air.density = before;
            let mut quick = simulation(&scene);
            run(&mut quick, 0.1);
            scene.air.density = after;
            scene.air.wind = [3.0, 0.0, 4.0];
            scene.gravity = [0.0, -1.62, 0.0];
            let mut slow = simulation(&scene);
            slow.take_over(&quick).unwrap();
            quick.set_surroundings(slow.model().gravity, slow.model().air);
            assert_eq!(hashes(&mut quick, 3), hashes(&mut slow, 3), "{}", method.name());
        }
    }
}

#[test]
fn a_held_particle_goes_where_it_is_led_and_falls_when_let_go() {
    for method in Method::ALL {
        let mut simulation = simulation(&hanging(*method));
        run(&mut simulation, 0.1);
        // A corner of the right side, and a pin of the scene; one that does not exist does no harm.
        let (corner, pinned, other) = (side(*method) - 1, 0_u32, side(*method) as usize);
        let places =
            [corner, pinned].map(|i| simulation.state().positions[i as usize] + DVec3::new(-0.2, 0.1, 0.1));
        let held = [(corner, places[0]), (pinned, places[1]), (1_000_000, DVec3::ZERO)].into();
        let mut hands = Hands { held, ..Hands::default() };
        simulation.set_hands(&hands, 0.2);
        run(&mut simulation, 0.1);
        let between = simulation.state().positions[corner as usize];
        assert!(between.distance(places[0]) > 0.05, "{}: it takes its time", method.name());
        run(&mut simulation, 0.2);
        for (particle, place) in [corner, pinned].into_iter().zip(places) {
            let found = simulation.state().positions[particle as usize];
            assert!(found.distance(place) < 1e-12, "{}: {found} is not {place}", method.name());
        }
        // Led on without a new grip.
        let further = places[0] + DVec3::new(0.0, 0.05, 0.0);
        hands.held.insert(corner, further);
        simulation.set_hands(&hands, 0.1);
        run(&mut simulation, 0.2);
        assert!(simulation.state().positions[corner as usize].distance(further) < 1e-12);

        simulation.set_hands(&Hands { freed: [pinned].into(), ..Hands::default() }, 0.1);
        run(&mut simulation, 0.5);
        let fallen = [corner, pinned].map(|i| simulation.state().positions[i as usize].y);
        assert!(fallen[0] < further.y - 0.1 && fallen[1] < places[1].y, "{}: {fallen:?}", method.name());
        // The other pins of the scene hold all the time, and the freed one is taken back.
        let before = simulation.state().positions[other];
        run(&mut simulation, 0.1);
        assert_eq!(simulation.state().positions[other], before);
        simulation.set_hands(&Hands::default(), 0.1);
        assert_eq!(simulation.environment().inverse_mass()[0], 0.0);
        assert!(simulation.environment().inverse_mass()[corner as usize] > 0.0);
    }
}

#[test]
fn another_method_and_other_steps_go_on_from_where_the_cloth_is() {
    let mut scene = hanging(Method::ALL[0]);
    let mut first = simulation(&scene);
    run(&mut first, 0.3);
    for method in Method::ALL {
        scene.solver.method = *method;
        scene.solver.steps_per_frame = 3;
        let mut second = simulation(&scene);
        second.take_over(&first).unwrap();
        assert_eq!(second.state().positions, first.state().positions);
        assert!((second.state().time - first.state().time).abs() <= 0.5 * second.model().step_time);
        second.step().unwrap_or_else(|error| panic!("{}: {error}", method.name()));
    }
    scene.cloth[0].sheet.as_mut().unwrap().rows = 13;
    assert!(simulation(&scene).take_over(&first).is_err());
}
