//! What a drapemeter reads off the edge of a specimen, seen from above.

use std::f64::consts::TAU;
use taffeta::math::DVec3;

/// Area that a closed edge goes around, seen from above [m²].
pub fn shadow_area(edge: &[DVec3]) -> f64 {
    let next = |i: usize| edge[(i + 1) % edge.len()];
    let area: f64 = edge.iter().enumerate().map(|(i, a)| 0.5 * (a.x * next(i).z - a.z * next(i).x)).sum();
    area.abs()
}

/// Folds of a closed edge about the y axis: the strongest harmonic, from 2 to 20, of its distance from the axis.
pub fn folds(edge: &[DVec3]) -> f64 {
    let radii: Vec<f64> = edge.iter().map(|x| libm::hypot(x.x, x.z)).collect();
    let count = radii.len() as f64;
    let strength = |k: u32| {
        let (mut c, mut s) = (0.0, 0.0);
        for (i, r) in radii.iter().enumerate() {
            let angle = TAU * f64::from(k) * i as f64 / count;
            c += r * libm::cos(angle);
            s += r * libm::sin(angle);
        }
        libm::hypot(c, s)
    };
    let strongest = (2..=20).max_by(|a, b| strength(*a).total_cmp(&strength(*b)));
    strongest.map_or(0.0, f64::from)
}
