//! Drape of a disc over a smaller one, as laboratories measure it.

use super::{Experiment, Finding, Way, scene, settle, simulation, usual_ways};
use crate::BenchError;
use crate::measure::drapemeter::{folds, shadow_area};
use std::f64::consts::PI;
use taffeta::math::DVec3;
use taffeta_scene::{Cloth, Disc, FabricChange, Pin};

/// Radii of the specimen and of the disc that holds it [m].
const SPECIMEN: f64 = 0.127;
const HOLDER: f64 = 0.0635;

pub(super) const CUSICK: Experiment = Experiment {
    name: "drape",
    about: "A disc of 254 mm, held level by one of 127 mm, hangs down (JIS L 1096 G, F.R.L. drapemeter): the share of the free ring that its shadow covers, and the folds of its edge. Reference: drape coefficients of the very fabrics that three presets are made from, Matsudaira et al. 2015 (docs/fabrics.md), within 10 of 100: repeated measurements of one fabric differ by as much, with the number of folds (Y. J. Jeong, J. Textile Inst. 89, 1998). Folds: no count was published with them; 3 to 9 is what drapemeters show.",
    misses: "cloth is held together here by rings of triangles whose edges carry the bending, and real bending and shear have hysteresis, which the model lacks: a real fabric holds more of its shape.",
    ways: usual_ways,
    find: drape,
};

fn drape(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let fabrics: &[(&str, f64)] =
        if quick { &[("wool", 0.498)] } else { &[("cotton", 0.829), ("wool", 0.498), ("polyester", 0.283)] };
    let mut findings = Vec::new();
    for (name, want) in fabrics {
        let (found, folds) = draped(way, name, if quick { 8 } else { 16 })?;
        let range = [100.0 * want - 10.0, 100.0 * want + 10.0];
        findings.push(Finding::between(format!("{name}, coefficient"), "%", range, 100.0 * found, 0.0));
        findings.push(Finding::between(format!("{name}, folds"), "", [3.0, 9.0], folds, 0.0));
    }
    Ok(findings)
}

/// Drape coefficient and number of folds of a fabric.
fn draped(way: Way, fabric: &str, rings: u32) -> Result<(f64, f64), BenchError> {
    // The k-th ring has 6 k particles; those on the holder do not move.
    let held = (0..=rings).filter(|k| SPECIMEN * f64::from(*k) <= (HOLDER + 1e-9) * f64::from(rings)).max();
    let held = held.map_or(1, |k| 3 * k * (k + 1) + 1);
    let cloth = Cloth {
        disc: Some(Disc { radius: SPECIMEN, rings }),
        pin: vec![Pin { vertices: (0..held).collect(), ..Pin::default() }],
        kick: Some(taffeta_scene::Kick { share: 0.3, speed: 0.02 }),
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, FabricChange { base: Some(fabric.into()), ..FabricChange::default() });
    scene.air.damping = 6.0;
    scene.solver.tolerance = 0.01;
    let mut simulation = simulation(&scene, &Default::default())?;
    settle(&mut simulation, 2.5)?;
    let x = &simulation.state().positions;
    Ok(shadow(&x[x.len() - 6 * rings as usize..]))
}

/// Drape coefficient and folds of an edge.
fn shadow(edge: &[DVec3]) -> (f64, f64) {
    let holder = PI * HOLDER * HOLDER;
    let coefficient = (shadow_area(edge) - holder) / (PI * SPECIMEN * SPECIMEN - holder);
    (coefficient, folds(edge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn a_level_disc_covers_all_and_waves_are_counted() {
        let edge = |waves: f64, high: f64| -> Vec<DVec3> {
            let at = |i: u32| {
                let angle = TAU * f64::from(i) / 96.0;
                let radius = SPECIMEN * (1.0 - high + high * libm::cos(waves * angle));
                DVec3::new(radius * libm::cos(angle), 0.0, radius * libm::sin(angle))
            };
            (0..96).map(at).collect()
        };
        let (coefficient, _) = shadow(&edge(0.0, 0.0));
        assert!((coefficient - 1.0).abs() < 2e-3, "{coefficient}");
        assert_eq!(shadow(&edge(7.0, 0.1)).1, 7.0);
    }
}
