//! A cloth falls over a ball. Every frame is certified by code that is not the solver.
//!
//!     cargo run --release --example drape_with_certificate

use taffeta_scene::{Cloth, Collider, Scene, Sheet, SphereShape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = Collider { sphere: Some(SphereShape { radius: 0.25 }), ..Collider::default() };
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 40, rows: 40, slack: 1.0 };
    let cloth =
        Cloth { sheet: Some(sheet), position: [0.0, 0.3, 0.0], fabric: "silk".into(), ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], collider: vec![ball], ..Scene::default() };
    let mut simulation = taffeta_scene::simulation(&scene, &Default::default())?;
    for frame in 1..=30 {
        let report = simulation.step_frame(&mut ())?;
        let certificate = simulation.certificate();
        println!(
            "frame {frame:2}: strain {:.2} %, {} intersections, gap {:.2} mm, {} contacts{}",
            100.0 * certificate.max_strain,
            certificate.cloth_cloth + certificate.cloth_body,
            1e3 * certificate.min_gap,
            report.contacts,
            report.shortfall.map_or(String::new(), |why| format!("; {why}")),
        );
    }
    Ok(())
}
