//! A thousand handkerchiefs fall at once, each a simulation of its own: clones of one, which share its model, on all cores.
//!
//!     cargo run --release --example a_thousand_small_cloths

use std::thread::{available_parallelism, scope};
use taffeta::Simulation;
use taffeta::math::{DVec3, random::Random};
use taffeta_scene::{Cloth, Collider, Scene, Sheet, SphereShape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = Collider { sphere: Some(SphereShape { radius: 0.08 }), ..Collider::default() };
    let sheet = Sheet { width: 0.25, height: 0.25, columns: 10, rows: 10, slack: 1.0 };
    let cloth = Cloth { sheet: Some(sheet), position: [0.0, 0.1, 0.0], ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], collider: vec![ball], ..Scene::default() };
    let first = taffeta_scene::simulation(&scene, &Default::default())?;

    // Each starts with a push of its own.
    let mut random = Random::new(1);
    let mut many: Vec<Simulation> = (0..1000).map(|_| first.clone()).collect();
    for simulation in &mut many {
        let push = DVec3::new(random.between(-0.3, 0.3), 0.0, random.between(-0.3, 0.3));
        simulation.set_velocities(&vec![push; simulation.positions().len()])?;
    }
    let threads = available_parallelism().map_or(1, |count| count.get());
    scope(|scope| {
        for share in many.chunks_mut(1000_usize.div_ceil(threads)) {
            scope.spawn(|| share.iter_mut().for_each(fall));
        }
    });
    let fell = many.iter().filter(|simulation| simulation.positions()[0].y < -0.2).count();
    let clean = many.iter().all(|simulation| simulation.certificate().cloth_cloth == 0);
    println!("{fell} of {} slid off the ball; free of intersections: {clean}", many.len());
    Ok(())
}

fn fall(simulation: &mut Simulation) {
    for _ in 0..30 {
        if let Err(error) = simulation.step() {
            return eprintln!("{error}");
        }
    }
}
