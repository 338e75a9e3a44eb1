//! Drape of a disc over a smaller one, as laboratories measure it.

use super::{Experiment, Finding, Miss, Way, scene, settle, simulation, usual_ways};
use crate::BenchError;
use crate::measure::drapemeter::{folds, shadow_area};
use std::f64::consts::PI;
use taffeta::math::DVec3;
use taffeta_scene::{Cloth, Disc, FabricChange, Method, Pin};

/// Radii of the specimen and of the disc that holds it [m].
const SPECIMEN: f64 = 0.127;
const HOLDER: f64 = 0.0635;

pub(super) const CUSICK: Experiment = Experiment {
    name: "drape",
    about: "A disc of 254 mm, held level by one of 127 mm, hangs down (JIS L 1096 G, F.R.L. drapemeter): the share of the free ring that its shadow covers, and the folds of its edge. Reference: drape coefficients of the very fabrics that three presets are made from, Matsudaira et al. 2015 (docs/fabrics.md), within 10 of 100: repeated measurements of one fabric differ by as much, with the number of folds (Y. J. Jeong, J. Textile Inst. 89, 1998). Folds: no count was published with them; 3 to 9 is what drapemeters show.",
    misses: &[Miss {
        of: &[],
        why: "the built-in fabrics have no internal friction, and a real fabric holds more of its shape by it: with the hysteresis that was measured cotton and wool are inside their ranges (drape-with-hysteresis). Cotton stays outside in finer rings: 63.4, 63.5 and 65.2 % in 16, 24 and 32 by `backward-euler`, 70.2, 72.8 and 74.9 % with triangles. Polyester comes inside with them: 35.0 and 32.1 % in 24 and 32 by `backward-euler`, 37.9 and 36.6 % with triangles.",
    }],
    curve: None,
    ways: usual_ways,
    find: drape,
};

pub(super) const CUSICK_WITH_HYSTERESIS: Experiment = Experiment {
    name: "drape-with-hysteresis",
    about: "The same with the hysteresis of bending that was measured for the same fabrics: 2HB of 0.124, 0.033 and 0.007 gf·cm/cm (Matsudaira et al. 2015). By `impulse-strips` from ten starts that differ by their random pushes: the mean, and the largest less the least coefficient, which is to be no wider than the range of the measurement. Folds: 2, 5 and 7 were counted on these fabrics.",
    misses: &[Miss {
        of: &[],
        why: "the coefficient of polyester, the limpest, goes with the rings: 43.6 and 38.0 % in 16 and 24 by `impulse-strips` in 200 sub-steps a frame, 33.4 and 30.3 % in 24 and 32 by `backward-euler`, 48.4, 43.8 and 40.4 % in 16, 24 and 32 with triangles. Its folds go with how it is let down: a disc that falls from level buckles into nine to eleven, which internal friction keeps; on a platform that sinks by 40 mm/s below it, it has 6 and covers 35.7 %, in 24 rings 5 and 29 % (docs/notes/forces.md). Edge by edge cotton slips: 69.8 % by `impulse-iterative`, 86.6 % in 200 sub-steps a frame; by `impulse-strips` it covers 81.7, 83.7 and 84.4 % in 16, 24 and 32 rings.",
    }],
    curve: None,
    ways: usual_ways,
    find: drape_with_hysteresis,
};

/// 2HB of cotton, wool and polyester [mN].
const HYSTERESIS: [(&str, f64, f64); 3] =
    [("cotton", 0.829, 1.216), ("wool", 0.498, 0.324), ("polyester", 0.283, 0.0686)];
const STARTS: u64 = 10;

fn drape_with_hysteresis(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let (fabrics, rings) = if quick { (&HYSTERESIS[1..2], 8) } else { (&HYSTERESIS[..], 16) };
    let starts = if quick || way.method != Method::ImpulseStrips { 1 } else { STARTS };
    let mut findings = Vec::new();
    for (name, want, hysteresis) in fabrics {
        let change = FabricChange { bending_hysteresis: Some(*hysteresis), ..of(name) };
        let all = (0..starts).map(|seed| draped(way, change.clone(), rings, seed));
        let all: Vec<(f64, f64)> = all.collect::<Result<_, _>>()?;
        let coefficients = || all.iter().map(|(coefficient, _)| 100.0 * coefficient);
        let range = [100.0 * want - 10.0, 100.0 * want + 10.0];
        let mean = coefficients().sum::<f64>() / starts as f64;
        findings.push(Finding::between(format!("{name}, coefficient"), "%", range, mean, 0.0));
        let folds = all.iter().map(|(_, folds)| folds).sum::<f64>() / starts as f64;
        findings.push(Finding::between(format!("{name}, folds"), "", [2.0, 9.0], folds, 0.0));
        if starts > 1 {
            let most = coefficients().fold(f64::NEG_INFINITY, f64::max);
            let spread = most - coefficients().fold(f64::INFINITY, f64::min);
            findings.push(Finding::nothing(format!("{name}, spread"), "%", spread, 20.0));
        }
    }
    Ok(findings)
}

/// A built-in fabric.
fn of(name: &str) -> FabricChange {
    FabricChange { base: Some(name.into()), ..FabricChange::default() }
}

fn drape(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let fabrics: &[(&str, f64)] =
        if quick { &[("wool", 0.498)] } else { &[("cotton", 0.829), ("wool", 0.498), ("polyester", 0.283)] };
    let mut findings = Vec::new();
    for (name, want) in fabrics {
        let (found, folds) = draped(way, of(name), if quick { 8 } else { 16 }, 0)?;
        let range = [100.0 * want - 10.0, 100.0 * want + 10.0];
        findings.push(Finding::between(format!("{name}, coefficient"), "%", range, 100.0 * found, 0.0));
        findings.push(Finding::between(format!("{name}, folds"), "", [3.0, 9.0], folds, 0.0));
    }
    Ok(findings)
}

/// Drape coefficient and number of folds of a fabric.
fn draped(way: Way, fabric: FabricChange, rings: u32, seed: u64) -> Result<(f64, f64), BenchError> {
    let rings = way.rings.unwrap_or(rings);
    // The k-th ring has 6 k particles; those on the holder do not move.
    let held = (0..=rings).filter(|k| SPECIMEN * f64::from(*k) <= (HOLDER + 1e-9) * f64::from(rings)).max();
    let held = held.map_or(1, |k| 3 * k * (k + 1) + 1);
    let cloth = Cloth {
        disc: Some(Disc { radius: SPECIMEN, rings }),
        pin: vec![Pin { vertices: (0..held).collect(), ..Pin::default() }],
        kick: Some(taffeta_scene::Kick { share: 0.3, speed: 0.02 }),
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.seed += seed;
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
