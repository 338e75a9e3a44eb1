//! Built-in scenes under hands, winds and throws at random: no state that is accepted intersects, and no step misses its promise without a reason.
//!
//! `TAFFETA_SOAK=2000 cargo test --release -p taffeta-io --test files soak -- --nocapture` takes so many steps of every scene by its own method and a tenth of them
//! by every other, one scene on every processor; `TAFFETA_SOAK=2000:flag,hang` of these scenes alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::math::random::Random;
use taffeta::model::Method;
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

/// Steps of every scene that were asked for, and of which scenes.
fn asked() -> Option<(usize, Vec<&'static str>)> {
    let asked = std::env::var("TAFFETA_SOAK").ok()?;
    let (steps, names) = asked.split_once(':').unwrap_or((&asked, ""));
    let is_one = |name: &&str| names.is_empty() || names.split(',').any(|one| one == *name);
    Some((steps.parse().ok()?, catalogue::scenes().iter().map(|scene| scene.name).filter(is_one).collect()))
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

/// Steps of a scene, by another method than its own if one is given.
struct Run {
    name: &'static str,
    method: Option<Method>,
    steps: usize,
}

/// All that is asked for.
fn runs() -> Vec<Run> {
    let by_all =
        |name, steps| Method::ALL.iter().map(move |method| Run { name, method: Some(*method), steps });
    match asked() {
        Some((steps, names)) => {
            let own = names.iter().map(|name| Run { name, method: None, steps });
            own.chain(names.iter().flat_map(|name| by_all(name, steps / 10))).collect()
        }
        None => USUAL.into_iter().map(|name| Run { name, method: None, steps: STEPS }).collect(),
    }
}

/// What went wrong in a run: whatever the method nothing may intersect, and the method that a scene has chosen keeps its lengths.
fn soak(Run { name, method, steps }: &Run, seed: u64) -> Vec<String> {
    let (name, steps) = (*name, *steps);
    let changes: Vec<String> =
        method.iter().map(|method| format!("solver.method={}", method.name())).collect();
    let scene = load(&SceneSource::find(name).unwrap(), &changes).unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = match taffeta_scene::simulation(&scene.scene, &scene.meshes) {
        Ok(simulation) => simulation,
        Err(refused) => {
            println!("{name} {changes:?} is refused: {refused}");
            return Vec::new();
        }
    };
    let (mut random, mut held, mut faults) = (Random::new(seed), None, Vec::new());
    // A hand or a body may press cloth through something; it then intersects until it has come apart.
    let mut pinched = false;
    let mut costs = Vec::with_capacity(steps);
    for step in 0..steps {
        if step % EVERY == EVERY - 1 {
            disturb(&mut simulation, &mut random, &mut held);
        }
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                faults.push(format!("{name} {changes:?}, step {step}: {error}"));
                break;
            }
        };
        let certificate = simulation.certificate();
        let intersects = certificate.cloth_cloth + certificate.cloth_body > 0;
        pinched = report.ccd.pinched > 0 || pinched && intersects;
        if intersects && !pinched {
            faults.push(format!("{name} {changes:?}, step {step}: {certificate:?}"));
        }
        if let (Some(Shortfall::Strain { strain, tolerance, .. }), None) = (report.shortfall, method)
            && !pinched
        {
            faults.push(format!("{name} {changes:?}, step {step}: strain {strain:.4} of {tolerance}"));
        }
        costs.push(report.iterations);
    }
    costs.sort_unstable();
    let (median, most) = (costs.get(costs.len() / 2), costs.last());
    println!("{}", faults.join("\n"));
    println!("{name} {changes:?}: {} faults, {median:?} iterations as usual, at most {most:?}", faults.len());
    faults
}

#[test]
fn nothing_at_random_makes_cloth_intersect_or_stretch_unexplained() {
    let (runs, next) = (runs(), AtomicUsize::new(0));
    let some = || {
        let mut faults = Vec::new();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(number) else { break };
            faults.extend(alone.install(|| soak(run, 1 + number as u64)));
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
