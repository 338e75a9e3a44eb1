//! The same scene gives the same bits: for every thread count, in debug and release, today and tomorrow.

use crate::common::{free_sheet, run, simulation};
use taffeta::scene::{Cloth, Collider, Disc, Keyframe, Method, Pin, Scene, SphereShape, Tube};

/// Sheets, a disc and a tube with wind, a moving sphere and a moving pin: all that a step can do. Sides have a part of their particles if it is `coarse`.
fn everything(method: Method, coarse: bool) -> Scene {
    let side = |count: u32| if coarse { count / 3 } else { count };
    let mut scene = free_sheet(method, side(33));
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.density = 1.2;
    scene.air.wind = [2.0, 0.0, 1.0];
    scene.cloth[0].rotation = [10.0, 20.0, 30.0];
    let lead =
        Keyframe { time: 0.5, shift: [0.1, 0.2, 0.0], turn: [0.0, 30.0, 0.0], ease: Default::default() };
    scene.cloth[0].pin =
        vec![Pin { vertices: vec![0, side(33) - 1], keyframe: vec![lead.clone()], ..Pin::default() }];
    scene.cloth.push(Cloth {
        disc: Some(Disc { radius: 0.3, rings: side(12) }),
        fabric: "jersey".into(),
        position: [0.0, 0.5, 0.0],
        ..Cloth::default()
    });
    scene.cloth.push(Cloth {
        tube: Some(Tube { radius: 0.2, length: 0.5, segments: side(24), rows: side(20) }),
        fabric: "silk".into(),
        position: [0.1, 1.0, 0.0],
        ..Cloth::default()
    });
    scene.collider = vec![Collider {
        sphere: Some(SphereShape { radius: 0.25 }),
        position: [0.0, -0.3, 0.0],
        keyframe: vec![lead],
        ..Collider::default()
    }];
    scene
}

/// The same for a method that runs several times.
fn all_of(method: Method) -> Scene {
    let slow = matches!(method, Method::ImpulseIterative | Method::ImpulseDirect | Method::Bdf2Secant);
    everything(method, slow)
}

/// Hashes of the first frames on a pool of `threads`.
fn hashes(scene: &Scene, threads: usize, frames: usize) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut simulation = simulation(scene);
    pool.install(|| {
        (0..frames)
            .map(|_| {
                simulation.step().unwrap();
                simulation.state().hash()
            })
            .collect()
    })
}

#[test]
fn the_thread_count_changes_no_bit() {
    for method in Method::ALL {
        let scene = all_of(*method);
        let alone = hashes(&scene, 1, 6);
        for threads in [2, 3, 8] {
            assert_eq!(hashes(&scene, threads, 6), alone, "{} on {threads} threads", method.name());
        }
    }
}

#[test]
fn a_sheet_that_is_large_enough_for_threads_has_the_same_bits() {
    let mut scene = free_sheet(Method::ImpulseStrips, 150);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.cloth[0].pin = vec![Pin { vertices: vec![0, 149], ..Pin::default() }];
    let alone = hashes(&scene, 1, 2);
    for threads in [2, 3] {
        assert_eq!(hashes(&scene, threads, 2), alone, "on {threads} threads");
    }
}

#[test]
fn a_state_from_bytes_goes_on_with_the_same_bits() {
    for method in Method::ALL {
        let scene = all_of(*method);
        let whole = hashes(&scene, 2, 8);
        let mut first = simulation(&scene);
        run(&mut first, 0.1);
        let bytes = first.state().to_bytes();
        let mut second = simulation(&scene);
        second.restore(&bytes).unwrap();
        let rest: Vec<u64> = (3..8)
            .map(|_| {
                second.step().unwrap();
                second.state().hash()
            })
            .collect();
        assert_eq!(rest, whole[3..], "{}", method.name());
    }
}

#[test]
fn every_step_can_be_the_last_before_an_interruption() {
    for method in Method::ALL {
        let mut scene = free_sheet(*method, 10);
        scene.gravity = [0.0, -9.81, 0.0];
        scene.cloth[0].position = [0.0, 0.33, 0.0];
        scene.collider = vec![Collider { sphere: Some(SphereShape { radius: 0.3 }), ..Collider::default() }];
        let mut whole = simulation(&scene);
        for step in 0..8 {
            let mut resumed = simulation(&scene);
            resumed.restore(&whole.state().to_bytes()).unwrap();
            resumed.step().unwrap();
            whole.step().unwrap();
            assert_eq!(resumed.state().hash(), whole.state().hash(), "{} after {step}", method.name());
        }
    }
}

/// A changed hash is a changed result: put the new one here only with a reason in the commit.
const GOLDEN: &[(Method, u64)] = &[
    (Method::BackwardEuler, 0x1642_3b8c_a4f4_2331),
    (Method::Bdf2, 0x606a_180b_7bec_88a8),
    (Method::Bdf2Secant, 0xa75c_b5fd_a878_ab29),
    (Method::ImpulseIterative, 0xed0b_34e5_12d6_ef87),
    (Method::ImpulseStrips, 0x0b33_fc5b_7f40_f97f),
    (Method::ImpulseDirect, 0x6449_b980_3b7a_a929),
    (Method::Verlet, 0x9161_7712_e21b_ef3b),
];

#[test]
fn golden_hashes_are_kept() {
    let written = |(method, hash): (Method, u64)| format!("{} {hash:016x}", method.name());
    let coarse = |method: &Method| matches!(method, Method::ImpulseIterative | Method::ImpulseDirect);
    let scene = |method: &Method| everything(*method, coarse(method));
    let last = |(method, _): &(Method, u64)| (*method, hashes(&scene(method), 2, 10)[9]);
    let found: Vec<String> = GOLDEN.iter().map(last).map(written).collect();
    assert_eq!(found, GOLDEN.iter().copied().map(written).collect::<Vec<_>>());
    assert_eq!(GOLDEN.len(), Method::ALL.len());
}
