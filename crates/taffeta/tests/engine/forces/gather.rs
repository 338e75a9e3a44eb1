//! Forces of chunks by every instruction set.

use taffeta::forces::gather::chunks;
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta::model::{Model, State};
use taffeta_scene::build;
use taffeta_scene::{Cloth, Scene, Sheet};

fn sheet(side: u32) -> (Model, State) {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: side, rows: side, slack: 1.0 };
    let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
    build(&scene, &Default::default()).unwrap()
}

/// A model that anyone can spoil is read within its bounds all the same.
#[test]
fn elements_of_no_cloth_stay_within_the_particles() {
    let (mut model, state) = sheet(4);
    let count = model.particle_count();
    model.cloths[0].particles = count..count;
    let x: Vec<Vec4> = state.positions.iter().map(|p| Vec4::from(*p)).collect();
    let chunks = &mut chunks(&model);
    // What belongs to nobody lands in the one place that is left.
    assert!(chunks.iter_mut().all(|chunk| chunk.forces(&x, &x, &[]).len() == 1));
    let short = std::panic::AssertUnwindSafe(|| chunks[0].forces(&x[1..], &x[1..], &[]).len());
    assert!(std::panic::catch_unwind(short).is_err(), "positions of all particles");
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    if !is_x86_feature_detected!("avx2") {
        eprintln!("SKIPPED: this processor has no AVX2 to compare with");
        return;
    }
    let (model, state) = sheet(30);
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
