//! What is done by hand to a running simulation: it does what it says, and leaves alone what it does not touch.

use crate::common::{free_sheet, mesh_body, run, simulation};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::step::{Hands, InteractionError, Observer, Shortfall, StepError, momentum};
use taffeta_scene::{BoxShape, Collider, Ease, Keyframe, Mesh, Method, Pin, Scene, Side, SphereShape};

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
        // A corner of the right side, and a pin of the scene where it is; one that does not exist does no harm.
        let (corner, pinned, other) = (side(*method) - 1, 0_u32, side(*method) as usize);
        let [from, stays] = [corner, pinned].map(|i| simulation.state().positions[i as usize]);
        let places = [from + DVec3::new(-0.2, 0.1, 0.1), stays];
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
        assert!(fallen[0] < further.y - 0.1 && fallen[1] != stays.y, "{}: {fallen:?}", method.name());
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
fn whoever_lets_go_and_takes_hold_again_is_as_one_who_was_built_anew() {
    for method in Method::ALL {
        let scene = hanging(*method);
        let (mut again, mut anew) = (simulation(&scene), simulation(&scene));
        let corner = side(*method) - 1;
        let holds = |i: u32| {
            let place = again.state().positions[i as usize] + DVec3::new(-0.05, 0.05, 0.05);
            Hands { held: [(i, place)].into(), ..Hands::default() }
        };
        let [first, other] = [holds(corner), holds(corner - 1)];
        for hands in [&first, &Hands::default(), &first, &other, &first, &Hands::default()] {
            again.set_hands(hands, 0.1);
            anew.set_hands(hands, 0.1);
            // A clone has scratch of its own.
            anew = anew.clone();
            assert_eq!(hashes(&mut again, 2), hashes(&mut anew, 2), "{}", method.name());
        }
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

#[test]
fn a_force_from_outside_moves_as_gravity_does_and_lasts_one_step() {
    for method in Method::ALL {
        // In a vacuum and in air; a force of m a on every particle is an acceleration.
        for density in [0.0, 1.2] {
            let mut scene = free_sheet(*method, side(*method));
            scene.air.density = density;
            scene.gravity = [1.0, -2.0, 0.5];
            let mut pulled = simulation(&scene);
            scene.gravity = [0.0; 3];
            let mut pushed = simulation(&scene);
            let forces: Vec<DVec3> =
                pushed.model().mass.iter().map(|m| *m * DVec3::new(1.0, -2.0, 0.5)).collect();
            for _ in 0..3 {
                pushed.add_forces(&forces[..]).unwrap();
                pushed.step().unwrap();
                pulled.step().unwrap();
            }
            let pairs = || pushed.velocities().iter().zip(pulled.velocities());
            let apart = pairs().map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(apart < 1e-3 * pulled.velocities()[0].length(), "{}: {apart} m/s", method.name());
            let before = momentum(pushed.model(), pushed.state());
            pushed.step().unwrap();
            // What reaches back a sub-step still sees half of a force that has ended.
            if density == 0.0 && !matches!(method, Method::Bdf2 | Method::Bdf2Secant) {
                let after = momentum(pushed.model(), pushed.state());
                assert!((after - before).length() < 1e-9 * before.length(), "{}", method.name());
            }
        }
    }
}

#[test]
fn a_particle_is_held_attached_to_a_body_and_released() {
    for method in Method::ALL {
        let mut scene = hanging(*method);
        let way = Keyframe { time: 1.0, shift: [0.0, 0.3, 0.0], turn: [0.0; 3], ease: Ease::Linear };
        let still = Keyframe { time: 0.0, shift: [0.0; 3], ..way.clone() };
        scene.collider = vec![Collider {
            sphere: Some(SphereShape { radius: 0.1 }),
            position: [0.0, 5.0, 0.0],
            keyframe: vec![still, way],
            ..Collider::default()
        }];
        let mut simulation = simulation(&scene);
        let last = simulation.model().cloth_particle_count() as u32 - 1;
        let at = |simulation: &Simulation| simulation.positions()[last as usize];
        simulation.hold(last, at(&simulation), 0.1).unwrap();
        let start = at(&simulation);
        run(&mut simulation, 0.2);
        assert!(at(&simulation).distance(start) < 1e-12, "{}", method.name());
        simulation.attach(last, 0).unwrap();
        run(&mut simulation, 0.2);
        assert!((at(&simulation) - start - DVec3::Y * 0.06).length() < 1e-9, "{}", method.name());
        simulation.release(last).unwrap();
        simulation.release(0).unwrap();
        let before = [0, last].map(|i| simulation.positions()[i as usize].y);
        run(&mut simulation, 0.3);
        let after = [0, last].map(|i| simulation.positions()[i as usize].y);
        assert!(after[0] < before[0] && after[1] < before[1], "{}: {before:?} {after:?}", method.name());
    }
}

#[test]
fn a_hand_under_way_goes_on_while_others_let_go() {
    let mut simulation = simulation(&hanging(Method::ImpulseStrips));
    let last = simulation.model().cloth_particle_count() as u32 - 1;
    let at = |simulation: &Simulation| simulation.positions()[last as usize];
    let (start, way) = (at(&simulation), DVec3::new(-0.3, 0.0, 0.0));
    simulation.hold(last, start + way, 1.0).unwrap();
    run(&mut simulation, 0.2);
    simulation.release(0).unwrap();
    let middle = last / 2;
    simulation.hold(middle, simulation.positions()[middle as usize], 0.1).unwrap();
    run(&mut simulation, 0.2);
    assert!(at(&simulation).distance(start + 0.4 * way) < 1e-9, "{}", at(&simulation));
}

#[test]
fn what_cannot_be_done_is_refused_with_words() {
    let mut simulation = simulation(&hanging(Method::ImpulseStrips));
    let n = simulation.positions().len();
    let untouched = simulation.state().clone();
    let short = vec![DVec3::ZERO; n - 1];
    let expected = InteractionError::Count { expected: n, found: n - 1 };
    assert_eq!(simulation.set_positions(&short), Err(expected.clone()));
    assert_eq!(simulation.set_velocities(&short), Err(expected.clone()));
    assert_eq!(simulation.add_forces(&short), Err(expected));
    let mut lost = vec![DVec3::ZERO; n];
    lost[3].y = f64::NAN;
    assert_eq!(simulation.set_positions(&lost), Err(InteractionError::NotFinite { particle: 3 }));
    let none = InteractionError::NoParticle { particle: 1_000_000, count: n };
    assert_eq!(simulation.hold(1_000_000, DVec3::ZERO, 0.1), Err(none.clone()));
    assert_eq!(simulation.release(1_000_000), Err(none));
    assert_eq!(simulation.attach(0, 7), Err(InteractionError::NoLead { collider: 7 }));
    assert_eq!(*simulation.state(), untouched);
    assert!(InteractionError::NoLead { collider: 7 }.to_string().contains("collider 7"));
}

#[test]
fn positions_and_velocities_that_are_set_are_where_the_next_step_starts() {
    for method in Method::ALL {
        let scene = free_sheet(*method, side(*method));
        let mut simulation = simulation(&scene);
        let moved: Vec<DVec3> = simulation.positions().iter().map(|x| *x + DVec3::Y).collect();
        let speed = vec![DVec3::new(0.0, 0.0, 0.3); moved.len()];
        simulation.set_positions(&moved).unwrap();
        simulation.set_velocities(&speed).unwrap();
        run(&mut simulation, 0.1);
        for (x, from) in simulation.positions().iter().zip(&moved) {
            assert!(x.distance(*from + DVec3::Z * 0.03) < 1e-9, "{}", method.name());
        }
    }
}

#[test]
fn clones_go_on_with_the_same_bits_side_by_side() {
    for method in Method::ALL {
        let mut first = simulation(&hanging(*method));
        run(&mut first, 0.1);
        first.hold(1, DVec3::new(0.1, 0.2, 0.0), 0.2).unwrap();
        let mut clones = [first.clone(), first.clone()];
        let [a, b] = &mut clones;
        let (left, right) = std::thread::scope(|scope| {
            let left = scope.spawn(|| hashes(a, 3));
            let right = scope.spawn(|| hashes(b, 3));
            (left.join().unwrap(), right.join().unwrap())
        });
        assert_eq!(left, right);
        assert_eq!(hashes(&mut first, 3), left, "{}", method.name());
        assert!(std::sync::Arc::ptr_eq(first.model(), clones[0].model()), "the model is shared");
    }
}

#[test]
fn a_hand_goes_no_further_than_the_cloth_reaches() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect, Method::BackwardEuler, Method::Xpbd] {
        let scene = hanging(method);
        let mut pulled = simulation(&scene);
        let last = pulled.positions().len() as u32 - 1;
        let usual = run(&mut pulled, 0.5).substeps;
        let far = pulled.positions()[last as usize] + DVec3::new(5.0, 3.0, 2.0);
        for frame in 0..20 {
            let place = if frame < 15 { far } else { -far };
            pulled.hold(last, place, 0.1).unwrap();
            let report = run(&mut pulled, 1.0 / 30.0);
            let strain = pulled.certificate().max_strain;
            if method.name().starts_with("impulse") {
                let kept = report.converged && strain <= pulled.model().tolerance;
                assert!(kept, "{} frame {frame}: {strain}", method.name());
            }
            assert!(report.substeps < 4 * usual, "{}: {} of {usual}", method.name(), report.substeps);
        }
        // The pin of the same row.
        let [pin, hand] = [last + 1 - side(method), last].map(|i| pulled.positions()[i as usize]);
        assert!((0.5..1.05).contains(&pin.distance(hand)), "{}: {pin} {hand}", method.name());
    }
}

#[test]
fn a_hand_gives_way_where_the_cloth_cannot_follow_and_arrives_where_it_can() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect, Method::ImpulseIterative] {
        let mut pulled = simulation(&hanging(method));
        run(&mut pulled, 0.5);
        // The row between both pins is taut: it cannot follow a particle under its middle that goes down, although the pins are in reach along edges.
        let side = side(method);
        let under = pulled.positions().len() as u32 - side * 5 / 2;
        let start = pulled.positions()[under as usize];
        pulled.hold(under, start - DVec3::new(0.0, 0.35, 0.0), 0.3).unwrap();
        for frame in 0..20 {
            let report = run(&mut pulled, 1.0 / 30.0);
            let strain = pulled.certificate().max_strain;
            assert!(
                report.converged && strain <= pulled.model().tolerance,
                "{} frame {frame}: {strain}",
                method.name()
            );
        }
        let fallen = start.y - pulled.positions()[under as usize].y;
        assert!(fallen < 0.34, "{}: the hand has moved down by {fallen}", method.name());
        pulled.hold(under, start, 0.3).unwrap();
        run(&mut pulled, 0.5);
        let away = pulled.positions()[under as usize].distance(start);
        assert!(away < 1e-9, "{}: {away} m away", method.name());
    }
}

#[test]
fn a_hand_is_stopped_by_bodies_and_told_where_it_is_not() {
    for method in [Method::ImpulseStrips, Method::BackwardEuler] {
        // A sheet lies on a box, and a hand pulls its middle into it, as fast as hands go.
        let mut scene = free_sheet(method, 12);
        scene.gravity = [0.0, -9.81, 0.0];
        let cuboid = Some(BoxShape { size: [0.6, 0.2, 0.6] });
        scene.cloth[0].position = [0.0, 0.11, 0.0];
        scene.collider = vec![Collider { cuboid, ..Collider::default() }];
        let mut pressed = simulation(&scene);
        run(&mut pressed, 0.2);
        let middle = pressed.positions().iter().enumerate();
        let far = |x: &DVec3| x.with_y(0.0).length();
        let middle = middle.min_by(|a, b| far(a.1).total_cmp(&far(b.1))).unwrap().0 as u32;
        let place = pressed.positions()[middle as usize] - DVec3::new(0.0, 0.15, 0.0);
        pressed.hold(middle, place, 0.1).unwrap();
        let mut pinched = 0;
        for step in 0..8 {
            let report = pressed.step().unwrap();
            let certificate = pressed.certificate();
            pinched += report.ccd.pinched;
            let height = pressed.positions()[middle as usize].y;
            let stays = (0.1..0.105).contains(&height);
            assert!(
                stays || method != Method::ImpulseStrips,
                "step {step}: the hand is at {height} m, the box ends at 0.1 m"
            );
            assert!(
                certificate.cloth_body == 0 || pinched > 0,
                "{} step {step}: {certificate:?}",
                method.name()
            );
            assert_eq!(
                report.ccd.pinched > 0,
                report.shortfall.is_some_and(|s| matches!(s, Shortfall::Pinched { .. }))
            );
        }
        assert_eq!(pinched == 0, method == Method::ImpulseStrips, "{}: {pinched}", method.name());
    }
}

#[test]
fn a_hand_that_goes_through_the_face_of_a_mesh_is_told() {
    let corner = |k: u32| {
        DVec3::new(
            [-0.3, 0.3][(k & 1) as usize],
            [-0.1, 0.1][(k >> 1 & 1) as usize],
            [-0.3, 0.3][(k >> 2) as usize],
        )
    };
    let quads = vec![[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let block = Mesh { positions: (0..8).map(corner).collect(), quads, ..Mesh::default() };
    let meshes = [("block.obj".to_string(), block)].into();
    let mut scene = free_sheet(Method::ImpulseStrips, 12);
    scene.cloth[0].position = [0.0, 0.12, 0.0];
    scene.collider = vec![Collider { mesh: Some(mesh_body("block.obj")), ..Collider::default() }];
    let mut pressed = taffeta_scene::simulation(&scene, &meshes).unwrap();
    let is_over = |x: &DVec3| x.x.abs() < 0.2 && x.z > 0.02 && x.z < 0.2;
    let over = pressed.positions().iter().position(is_over).unwrap() as u32;
    let place = pressed.positions()[over as usize] - DVec3::new(0.0, 0.1, 0.0);
    pressed.hold(over, place, 0.2).unwrap();
    let (mut pinched, mut cuts) = (false, false);
    for step in 0..12 {
        let report = pressed.step().unwrap();
        let intersects = pressed.certificate().cloth_body > 0;
        pinched = report.ccd.pinched > 0 || pinched && intersects;
        cuts |= intersects;
        assert!(pinched || !intersects, "step {step} tells nothing of what it cuts");
    }
    assert!(cuts, "the hand has not gone through the face");
}

/// Ends a step after so many sub-steps.
struct CancelAfter(u32);

impl Observer for CancelAfter {
    fn enter(&mut self, _: &'static str) {}
    fn leave(&mut self) {}
    fn is_cancelled(&mut self) -> bool {
        self.0 = self.0.wrapping_sub(1);
        self.0 == u32::MAX
    }
}

#[test]
fn a_cancelled_step_has_changed_nothing() {
    for method in Method::ALL {
        let mut scene = hanging(*method);
        scene.collider = vec![Collider { sphere: Some(SphereShape { radius: 0.2 }), ..Collider::default() }];
        let mut cut = simulation(&scene);
        hashes(&mut cut, 2);
        let mut whole = cut.clone();
        let substeps = whole.step().unwrap().substeps;
        for done in [0, substeps / 2] {
            let report = cut.step_observed(&mut CancelAfter(done));
            assert_eq!(report, Err(StepError::Cancelled), "{} after {done} of {substeps}", method.name());
        }
        cut.step().unwrap();
        assert_eq!(hashes(&mut cut, 2), hashes(&mut whole, 2), "{}", method.name());
    }
}
