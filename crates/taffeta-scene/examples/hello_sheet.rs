//! The smallest program: a sheet that hangs from two corners, for two seconds.
//!
//!     cargo run --release --example hello_sheet

use taffeta_scene::{Cloth, Corner, Pin, Scene, Sheet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene {
        cloth: vec![Cloth {
            sheet: Some(Sheet { width: 1.0, height: 1.0, columns: 30, rows: 30, slack: 1.0 }),
            pin: vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }],
            ..Cloth::default()
        }],
        ..Scene::default()
    };
    let mut simulation = taffeta_scene::simulation(&scene, &Default::default())?;
    for frame in 1..=60 {
        let report = simulation.step()?;
        if frame % 10 == 0 {
            let lowest = simulation.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
            println!("{:.2} s: lowest {lowest:.3} m, {} sub-steps", simulation.state().time, report.substeps);
        }
    }
    Ok(())
}
