//! Methods that move positions: what CCD finds is answered together with the lengths around it.

use crate::common::simulation;
use taffeta_scene::{CapsuleShape, Cloth, Collider, Method, Scene, Sheet, Solver};

/// A sheet of silk falls flat on three by three upright needles.
fn needles(method: Method) -> Scene {
    let sheet = Sheet { width: 0.2, height: 0.2, columns: 16, rows: 16, slack: 1.0 };
    let cloth =
        Cloth { sheet: Some(sheet), fabric: "silk".into(), position: [0.0, 0.45, 0.0], ..Cloth::default() };
    let needle = |k: u32| Collider {
        capsule: Some(CapsuleShape { radius: 0.0015, length: 0.3 }),
        position: [0.05 * f64::from(k % 3) - 0.045, 0.15, 0.05 * f64::from(k / 3) - 0.055],
        friction: Some(0.5),
        ..Collider::default()
    };
    Scene {
        solver: Solver { method, ..Solver::default() },
        cloth: vec![cloth],
        collider: (0..9).map(needle).collect(),
        ..Scene::default()
    }
}

#[test]
fn needles_that_ccd_finds_strain_no_edge_by_themselves() {
    for method in [Method::Xpbd, Method::Vbd, Method::Projective] {
        let mut simulation = simulation(&needles(method));
        for step in 0..20 {
            simulation.step().unwrap();
            let certificate = simulation.certificate();
            assert!(certificate.max_strain < 0.05, "{method:?}, step {step}: {}", certificate.max_strain);
            assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "{method:?}, step {step}");
        }
    }
}
