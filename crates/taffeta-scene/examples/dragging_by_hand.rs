//! A hand takes a corner of a cloth that lies on a table, carries it over to the other side and lets go.
//!
//!     cargo run --release --example dragging_by_hand

use taffeta::math::DVec3;
use taffeta_scene::{Cloth, Collider, PlaneShape, Scene, Sheet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Collider { plane: Some(PlaneShape {}), ..Collider::default() };
    let sheet = Sheet { width: 0.4, height: 0.4, columns: 25, rows: 25, slack: 1.0 };
    let cloth = Cloth { sheet: Some(sheet), position: [0.0, 0.002, 0.0], ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], collider: vec![table], ..Scene::default() };
    let mut simulation = taffeta_scene::simulation(&scene, &Default::default())?;

    let (corner, frames) = (0, 45);
    let start = simulation.positions()[corner as usize];
    for frame in 1..=frames {
        // Half a circle over the middle of the cloth.
        let angle = std::f64::consts::PI * f64::from(frame) / f64::from(frames);
        let place = DVec3::new(start.x * angle.cos(), start.y + 0.2 * angle.sin(), start.z * angle.cos());
        simulation.hold(corner, place, scene.frame_time)?;
        simulation.step_frame(&mut ())?;
    }
    simulation.release(corner)?;
    for _ in 0..15 {
        simulation.step_frame(&mut ())?;
    }
    let end = simulation.positions()[corner as usize];
    let certificate = simulation.certificate();
    println!("the corner went from {start:.3} to {end:.3}");
    println!("{} pairs of triangles intersect", certificate.cloth_cloth);
    Ok(())
}
