//! Built-in scenes under hands, winds and throws at random: no state that is accepted intersects, and no step misses its promise without a reason.
//!
//! `TAFFETA_SOAK=2000 cargo test --release -p taffeta-io --test files soak -- --nocapture` takes so many steps of every scene, one scene on every processor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::math::random::Random;
use taffeta::step::Shortfall;
use taffeta_io::catalogue;
use taffeta_io::scene_file::{SceneSource, load};

/// Scenes of a usual run, and steps of each.
const USUAL: [&str; 4] = ["hang", "flag", "knot-ribbon", "wash"];
const STEPS: usize = 10;
/// Steps between two things that happen.
const EVERY: usize = 5;
/// How far a hand leads [m], how fast wind [m/s] and throws [m/s] are at most.
const LEADS: f64 = 0.4;
const WIND: f64 = 8.0;
const THROW: f64 = 3.0;

/// Steps of every scene that were asked for.
fn asked() -> Option<usize> {
    std::env::var("TAFFETA_SOAK").ok()?.parse().ok()
}

fn vector(random: &mut Random, most: f64) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| random.between(-most, most)))
}

/// Does something to a simulation: leads a particle, lets one go, turns the wind, or throws all cloth.
fn disturb(simulation: &mut Simulation, random: &mut Random, held: &mut Option<u32>) {
    let cloth = simulation.model().cloth_particle_count();
    match (random.below(4), *held) {
        (0, Some(particle)) => {
            simulation.release(particle).unwrap();
            *held = None;
        }
        (0 | 1, _) => {
            let particle = held.unwrap_or_else(|| random.below(cloth) as u32);
            let place = simulation.positions()[particle as usize] + vector(random, LEADS);
            simulation.hold(particle, place, 0.2).unwrap();
            *held = Some(particle);
        }
        (2, _) => {
            let mut air = simulation.environment().air;
            air.wind = vector(random, WIND);
            simulation.set_surroundings(simulation.environment().gravity, air);
        }
        _ => {
            let thrown = vector(random, THROW);
            let mut velocities = simulation.velocities().to_vec();
            velocities[..cloth].iter_mut().for_each(|v| *v += thrown);
            simulation.set_velocities(&velocities).unwrap();
        }
    }
}

/// What went wrong in so many steps of a scene.
fn soak(name: &str, seed: u64, steps: usize) -> Vec<String> {
    let scene = load(&SceneSource::find(name).unwrap(), &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = taffeta_scene::simulation(&scene.scene, &scene.meshes).unwrap();
    let (mut random, mut held, mut faults) = (Random::new(seed), None, Vec::new());
    let mut costs = Vec::with_capacity(steps);
    for step in 0..steps {
        if step % EVERY == EVERY - 1 {
            disturb(&mut simulation, &mut random, &mut held);
        }
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                faults.push(format!("{name}, step {step}: {error}"));
                break;
            }
        };
        let certificate = simulation.certificate();
        if certificate.cloth_cloth + certificate.cloth_body > 0 && report.ccd.pinched == 0 {
            faults.push(format!("{name}, step {step}: {certificate:?}"));
        }
        if let Some(Shortfall::Strain { strain, tolerance, .. }) = report.shortfall {
            faults.push(format!("{name}, step {step}: strain {strain:.4} of {tolerance}"));
        }
        costs.push(report.iterations);
    }
    costs.sort_unstable();
    let (median, most) = (costs.get(costs.len() / 2), costs.last());
    println!("{name}: {} faults, {median:?} iterations as usual, at most {most:?}", faults.len());
    faults
}

#[test]
fn nothing_at_random_makes_cloth_intersect_or_stretch_unexplained() {
    let names: Vec<_> = match asked() {
        Some(_) => catalogue::scenes().iter().map(|scene| scene.name).collect(),
        None => USUAL.to_vec(),
    };
    let (steps, next) = (asked().unwrap_or(STEPS), AtomicUsize::new(0));
    let some = || {
        let mut faults = Vec::new();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let seed = 1 + names.iter().position(|other| other == name).unwrap() as u64;
            faults.extend(alone.install(|| soak(name, seed, steps)));
        }
        faults
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let faults: Vec<String> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
