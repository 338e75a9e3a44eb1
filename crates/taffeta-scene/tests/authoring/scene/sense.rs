//! Faults of a scene that was built and not read.

use taffeta_scene::{Cloth, Scene, Sheet};

#[test]
fn numbers_that_are_not_finite_are_found_in_a_built_scene() {
    let sheet = Sheet { width: f64::NAN, height: 1.0, columns: 2, rows: 2, slack: 1.0 };
    let cloth = Cloth { sheet: Some(sheet), velocity: [0.0, f64::INFINITY, 0.0], ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let keys: Vec<String> = scene.faults().into_iter().map(|fault| fault.key).collect();
    assert_eq!(keys, ["cloth[0].sheet.width", "cloth[0].velocity[1]"]);
}
