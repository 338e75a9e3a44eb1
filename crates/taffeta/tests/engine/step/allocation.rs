//! A steady step allocates nothing.

use crate::common::{free_sheet, run, simulation};
use taffeta_scene::{Body, BoxShape, Collider, Method, Pin, Scene, Side, SphereShape};
use testing::memory::Meter;

/// How often memory is asked for in 0.1 s that are taken a second time: lists of what touches grow with it, and then have all their room. What a pool of threads keeps
/// for itself may grow at any time where others keep its threads from their work, so two more passes may show that the step asks for none.
fn allocations(scene: &Scene, threads: usize) -> usize {
    let mut simulation = simulation(scene);
    let (meter, start) = (Meter::new(threads), simulation.state().to_bytes());
    let mut pass = || {
        simulation.restore(&start).unwrap();
        meter.allocations(|| _ = run(&mut simulation, 0.1))
    };
    pass();
    (0..3).map(|_| pass()).find(|asked| *asked == 0).unwrap_or_else(pass)
}

#[test]
fn a_steady_step_allocates_nothing() {
    for method in Method::ALL {
        // One thread asks for less than two do; it is for long runs.
        for threads in if testing::long() { 1..=2 } else { 2..=2 } {
            let mut scene = free_sheet(*method, if testing::long() { 40 } else { 26 });
            // Enough particles for two threads, on edges so long that their sub-steps are few.
            scene.cloth[0].sheet.iter_mut().for_each(|sheet| (sheet.width, sheet.height) = (4.0, 4.0));
            scene.gravity = [0.0, -9.81, 0.0];
            scene.air.density = 1.2;
            scene.cloth[0].pin = vec![Pin { vertices: vec![0], ..Pin::default() }];
            let sphere = Some(SphereShape { radius: 4.0 });
            scene.collider = vec![Collider { sphere, position: [0.0, -4.01, 0.0], ..Collider::default() }];
            assert_eq!(allocations(&scene, threads), 0, "{} on {threads} threads", method.name());
        }
        if !method.takes_free_bodies() {
            continue;
        }
        // Light ones: a step that does not converge asks for memory to tell why.
        let mut scene = free_sheet(*method, 9);
        scene.gravity = [0.0, -9.81, 0.0];
        scene.cloth[0].pin = vec![Pin { sides: vec![Side::Rim], ..Pin::default() }];
        let ball = Body {
            position: [0.0, 0.11, 0.0],
            mass: Some(0.05),
            sphere: Some(SphereShape { radius: 0.1 }),
            ..Body::default()
        };
        let cuboid = Some(BoxShape { size: [0.1; 3] });
        scene.body =
            vec![ball, Body { position: [0.0, 0.28, 0.0], mass: Some(0.02), cuboid, ..Body::default() }];
        assert_eq!(allocations(&scene, 1), 0, "{} with bodies", method.name());
        // What could tear or let go is looked at after every step.
        if !method.goes_one_by_one() {
            scene.cloth[0].tear = Some(9.0);
            scene.cloth[0].pin[0].breaks = Some(1e6);
            assert_eq!(allocations(&scene, 1), 0, "{} that could tear", method.name());
        }
    }
}
