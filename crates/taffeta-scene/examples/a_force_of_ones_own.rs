//! A force that the engine does not know: a whirl that drags cloth around the vertical axis.
//!
//!     cargo run --release --example a_force_of_ones_own

use taffeta::math::DVec3;
use taffeta_scene::{Cloth, Corner, Pin, Scene, Sheet};

/// Speed of the whirl at the distance where it is fastest [m/s], that distance [m], and how strongly it drags a kilogram [1/s].
const WHIRL: (f64, f64, f64) = (3.0, 0.5, 4.0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene {
        cloth: vec![Cloth {
            sheet: Some(Sheet { width: 0.8, height: 0.8, columns: 25, rows: 25, slack: 1.0 }),
            rotation: [90.0, 0.0, 0.0],
            pin: vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }],
            ..Cloth::default()
        }],
        ..Scene::default()
    };
    let mut simulation = taffeta_scene::simulation(&scene, &Default::default())?;
    let (speed, at, drag) = WHIRL;
    let model = simulation.model().clone();
    for _ in 0..90 {
        let particles = simulation.positions().iter().zip(simulation.velocities()).zip(&model.mass);
        let forces: Vec<DVec3> = particles
            .map(|((x, v), mass)| {
                let far = x.x.hypot(x.z).max(1e-9);
                let around = DVec3::new(-x.z, 0.0, x.x) / far;
                let whirl = around * speed * (far / at) * (1.0 - far / at).exp();
                *mass * drag * (whirl - *v)
            })
            .collect();
        simulation.add_forces(&forces)?;
        simulation.step()?;
    }
    let reach = |of: fn(&DVec3) -> f64| simulation.positions().iter().map(of).fold(0.0, f64::max);
    println!(
        "the cloth reaches {:.3} m out of its plane, and {:.3} m to the side",
        reach(|x| x.z.abs()),
        reach(|x| x.x.abs())
    );
    Ok(())
}
