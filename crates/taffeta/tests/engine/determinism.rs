//! The same scene gives the same bits: for every thread count, in debug and release, today and tomorrow.

mod scenes;

use crate::common::{free_sheet, run, simulation};
use scenes::{Case, Seen};
use taffeta::Simulation;
use taffeta_scene::{Collider, Method, Pin, Scene, SphereShape};

/// A pool of so many threads.
fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Hashes of the first frames on a pool of `threads`.
fn hashes(scene: &Scene, threads: usize, frames: usize) -> Vec<u64> {
    let mut simulation = simulation(scene);
    pool(threads).install(|| {
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
    // Eight threads share what three do already; they are for long runs, as are more frames.
    let (frames, counts) = if testing::long() { (10, &[2, 3, 8][..]) } else { (2, &[3][..]) };
    for method in Method::ALL {
        // The barrier takes many times as long as the others.
        let scene = scenes::wind(*method, *method == Method::Barrier);
        let alone = hashes(&scene, 1, frames);
        for threads in counts {
            assert_eq!(hashes(&scene, *threads, frames), alone, "{} on {threads} threads", method.name());
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
fn contact_and_air_of_a_sheet_that_is_large_enough_for_threads_have_the_same_bits() {
    let mut scene = free_sheet(Method::ImpulseStrips, 36);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.air.density = 1.2;
    scene.cloth[0].position = [0.0, 0.31, 0.0];
    scene.collider = vec![Collider { sphere: Some(SphereShape { radius: 0.3 }), ..Collider::default() }];
    let frames = if testing::long() { 30 } else { 4 };
    let alone = hashes(&scene, 1, frames);
    for threads in [2, 3] {
        assert_eq!(hashes(&scene, threads, frames), alone, "on {threads} threads");
    }
}

#[test]
fn a_state_from_bytes_goes_on_with_the_same_bits() {
    for method in Method::ALL {
        let scene = scenes::wind(*method, true);
        let whole = hashes(&scene, 2, 6);
        let mut first = simulation(&scene);
        run(&mut first, 0.1);
        let bytes = first.state().to_bytes();
        let mut second = simulation(&scene);
        second.restore(&bytes).unwrap();
        let rest: Vec<u64> = (3..6)
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

type Make = fn(Method) -> Case;

/// Takes the frames of a case from the given one on.
fn go_on(simulation: &mut Simulation, frames: std::ops::Range<usize>) -> Seen {
    frames.fold(Seen::default(), |seen, _| {
        let report = simulation.step().unwrap_or_else(|error| panic!("{error}"));
        Seen { contacts: seen.contacts + report.contacts, parted: seen.parted + report.parted }
    })
}

/// The hash of the last frame, on so many threads, interrupted in the middle or not.
fn last_hash(case: &Case, frames: usize, threads: usize, interrupted: bool) -> u64 {
    pool(threads).install(|| {
        let mut simulation = case.build();
        go_on(&mut simulation, 0..frames / 2);
        if interrupted {
            let bytes = simulation.state().to_bytes();
            simulation = case.build();
            simulation.restore(&bytes).unwrap();
        }
        go_on(&mut simulation, frames / 2..frames);
        simulation.state().hash()
    })
}

/// A case does what it is for and ends with the hash that is kept, also on other threads and after an interruption.
fn keeps(make: Make, method: Method, golden: u64) {
    let mut case = make(method);
    case.heavy |= method == Method::Barrier;
    // A second run on other threads shows that their number does not matter; what is heavy has only one.
    let found = pool(if case.heavy { 2 } else { 1 }).install(|| {
        let mut simulation = case.build();
        let seen = go_on(&mut simulation, 0..case.frames);
        (case.shows)(&simulation, seen);
        simulation.state().hash()
    });
    assert_eq!(format!("{found:#018x}"), format!("{golden:#018x}"), "{}", method.name());
    if !case.heavy || testing::long() {
        assert_eq!(
            last_hash(&case, case.frames, 3, true),
            golden,
            "{} interrupted on 3 threads",
            method.name()
        );
    }
    // Longer runs see states that the kept hash does not reach.
    if testing::long() {
        let alone = last_hash(&case, 4 * case.frames, 1, false);
        for threads in [2, 8] {
            let hash = last_hash(&case, 4 * case.frames, threads, true);
            assert_eq!(hash, alone, "{} on {threads} threads", method.name());
        }
    }
    if let Some(without) = case.without {
        without(&mut case.scene);
        assert_ne!(last_hash(&case, case.frames, 1, false), golden, "{}: it does nothing", method.name());
    }
}

/// One test for each scene and method: a changed hash is a changed result. Put the new one here only with a reason in the commit.
macro_rules! golden {
    ($($scene:ident { $($method:ident $hash:literal)* })*) => {
        const GOLDEN: &[(&str, Make, &[&str])] =
            &[$((stringify!($scene), scenes::$scene, &[$(stringify!($method)),*])),*];
        $(mod $scene {
            $(#[test]
            fn $method() {
                super::keeps(super::scenes::$scene, super::named(stringify!($method)), $hash)
            })*
        })*
    };
}

fn named(name: &str) -> Method {
    *Method::ALL.iter().find(|method| method.name().replace('-', "_") == name).expect("a method")
}

#[test]
fn every_method_has_a_hash_in_every_scene_that_it_takes() {
    for (scene, make, methods) in GOLDEN {
        for method in Method::ALL {
            let listed = methods.contains(&method.name().replace('-', "_").as_str());
            let case = make(*method);
            let taken = taffeta_scene::simulation(&case.scene, &case.meshes).is_ok();
            assert_eq!(listed, taken, "{scene} by {}", method.name());
        }
    }
}

include!("determinism/golden.hashes");
