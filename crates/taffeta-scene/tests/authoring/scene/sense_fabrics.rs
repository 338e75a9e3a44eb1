//! The stiffest bias of which springs can be made.

use taffeta::math::random::Random;
use taffeta_scene::{Cloth, Fabric, FabricChange, Fault, Rule, Scene, Sheet, preset, presets};

/// Stiffness of the springs along warp and weft, in closed form, and of the shear.
fn springs(fabric: &Fabric) -> [f64; 3] {
    let Fabric { warp, weft, bias, .. } = *fabric;
    let shear = 1.0 / (4.0 / bias - 1.0 / warp - 1.0 / weft);
    // The determinant of the sheet's stiffness follows from warp = det / (b + G) and weft = det / (a + G).
    let det = warp * weft / 2.0 * (1.0 + (1.0 + 4.0 * shear * shear / (warp * weft)).sqrt());
    [det / weft - shear, det / warp - shear, shear]
}

/// What is wrong, beyond the schema, with a scene that has this fabric and is sound otherwise.
fn faults_of(name: &str, change: FabricChange) -> Vec<Fault> {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 2, rows: 2, slack: 1.0 };
    let scene = Scene {
        fabrics: [(name.to_string(), change)].into(),
        cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }],
        ..Scene::default()
    };
    scene.contradictions()
}

#[test]
fn the_limit_of_bias_is_where_springs_vanish() {
    let mut random = Random::new(3);
    let mut accepted = 0;
    for _ in 0..10_000 {
        let mut stiffness = || random.between(1.0, 100.0);
        let mut fabric = preset("cotton").unwrap().fabric;
        (fabric.warp, fabric.weft, fabric.bias) = (stiffness(), stiffness(), stiffness());
        let [a, b, shear] = springs(&fabric);
        let sound = a > 0.0 && b > 0.0 && shear > 0.0 && shear.is_finite();
        let Fabric { warp, weft, bias, .. } = fabric;
        let change = FabricChange {
            base: Some("cotton".into()),
            warp: Some(warp),
            weft: Some(weft),
            bias: Some(bias),
            ..FabricChange::default()
        };
        let faults = faults_of("mine", change);
        assert!(faults.iter().all(|fault| Rule::BiasTooStiff.is_broken_in(fault)), "{faults:?}");
        assert_eq!(faults.is_empty(), sound, "{fabric:?}: {a} {b} {shear}");
        if sound {
            // These springs do pull like the strips that were measured.
            let warp = a + shear * b / (b + shear);
            let weft = b + shear * a / (a + shear);
            assert!((warp / fabric.warp - 1.0).abs() < 1e-9 && (weft / fabric.weft - 1.0).abs() < 1e-9);
            accepted += 1;
        }
    }
    assert!((1000..9000).contains(&accepted), "{accepted}");
}

#[test]
fn built_in_fabrics_pass() {
    for preset in presets() {
        assert_eq!(faults_of(preset.name, FabricChange::default()), [], "{}", preset.name);
    }
}
