//! Forces of chunks by every instruction set.

use taffeta::forces::gather::chunks;
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta_scene::build;
use taffeta_scene::{Cloth, Scene, Sheet};

#[test]
fn every_instruction_set_gives_the_same_bits() {
    if !is_x86_feature_detected!("avx2") {
        eprintln!("SKIPPED: this processor has no AVX2 to compare with");
        return;
    }
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 30, rows: 30, slack: 1.0 };
    let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
    let (model, state) = build(&scene, &Default::default()).unwrap();
    let mut random = Random::new(2);
    let mut shaken =
        |at: DVec3| Vec4::from(at + 0.01 * DVec3::new(random.unit(), random.unit(), random.unit()));
    let x: Vec<Vec4> = state.positions.iter().map(|p| shaken(*p)).collect();
    let v: Vec<Vec4> = x.iter().map(|_| shaken(DVec3::ZERO)).collect();
    for chunk in chunks(&model) {
        let (mut plain, mut wide) = (chunk.clone(), chunk);
        let bits = |forces: &[Vec4]| forces.iter().map(|f| f.0.map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(plain.forces_plain(&x, &v, &[])), bits(wide.forces(&x, &v, &[])));
    }
}
