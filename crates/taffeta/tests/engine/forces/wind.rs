//! Gusts that never change, and the force of a stream with its derivatives.

use taffeta::forces::air;
use taffeta::forces::wind::{GustField, Wind, WindSurface};
use taffeta::math::lanes::{InstructionSet, LANES, Lanes};
use taffeta::math::{DVec3, random::Random};
use taffeta::model::AirModel;

const GUST: GustField = GustField { amplitude: 2.0, frequency: 0.5, length: 3.0, seed: 7 };

fn any(random: &mut Random, scale: f64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-scale, scale)))
}

#[test]
fn gusts_are_smooth_bounded_and_without_mean() {
    let mut random = Random::new(1);
    let (mut sum, mut squares, n) = (DVec3::ZERO, 0.0, 20_000);
    for _ in 0..n {
        let (x, t) = (any(&mut random, 1000.0), random.between(0.0, 1e4));
        let here = GUST.at(x, t);
        assert!(here.abs().max_element() <= GUST.amplitude);
        // The fade rises by at most 1.875 per cell, between values that are at most twice the amplitude apart.
        let (step, steepest) = (1e-3, 2.0 * 1.875 * GUST.amplitude);
        let aside = GUST.at(x + step * DVec3::X, t) - here;
        let later = GUST.at(x, t + step) - here;
        assert!(aside.abs().max_element() <= steepest / GUST.length * step * (1.0 + 1e-6));
        assert!(later.abs().max_element() <= steepest * GUST.frequency * step * (1.0 + 1e-6));
        sum += here;
        squares += here.length_squared();
    }
    let deviation = (squares / (3.0 * f64::from(n))).sqrt();
    assert!((sum / f64::from(n)).length() < 0.05 * GUST.amplitude, "{}", sum / f64::from(n));
    assert!(deviation > 0.15 * GUST.amplitude, "{deviation}");
}

#[test]
fn gusts_cross_cells_without_a_jump_and_depend_on_every_number() {
    let x = DVec3::new(0.4, -2.2, 5.0);
    for axis in DVec3::AXES {
        // A corner of the lattice, from both sides.
        let edge = DVec3::splat(-3.0) * GUST.length;
        let (below, above) = (GUST.at(edge - 1e-9 * axis, 2.0), GUST.at(edge + 1e-9 * axis, 2.0));
        assert!((below - above).length() < 1e-12);
    }
    let here = GUST.at(x, 1.3);
    for other in [
        GustField { seed: 8, ..GUST }.at(x, 1.3),
        GUST.at(x + GUST.length * DVec3::X, 1.3),
        GUST.at(x + GUST.length * DVec3::Y, 1.3),
        GUST.at(x + GUST.length * DVec3::Z, 1.3),
        GUST.at(x, 1.3 + 1.0 / GUST.frequency),
    ] {
        assert!((other - here).length() > 0.05, "{other} {here}");
    }
    let everywhere = GustField { length: f64::INFINITY, ..GUST };
    assert_eq!(everywhere.at(x, 0.3), everywhere.at(50.0 * x, 0.3));
    // Carried by the wind: who drifts along sees only time pass.
    let wind = Wind { mean: DVec3::new(4.0, 0.0, 1.0), gust: GustField { frequency: 0.0, ..GUST } };
    assert!((wind.at(x + wind.mean * 2.0, 2.0) - wind.at(x, 0.0)).length() < 1e-12);
}

#[test]
fn gusts_never_change_a_bit() {
    let mut random = Random::new(2);
    let mut bits = 0u64;
    for _ in 0..1000 {
        let at = GUST.at(any(&mut random, 100.0), random.between(0.0, 100.0));
        at.to_array().iter().for_each(|c| bits = bits.rotate_left(7) ^ c.to_bits());
    }
    assert_eq!(bits, 0x2d22_dcd3_b475_5f3c, "{bits:#x}");
}

const SURFACE: WindSurface = WindSurface { density: 1.2, drag: 1.3, skin_friction: 0.02, lift: 1.7 };

#[test]
fn without_lift_the_force_is_that_of_the_explicit_air() {
    let model = AirModel {
        density: 1.2,
        drag: 1.3,
        skin_friction: 0.02,
        wind: DVec3::ZERO,
        damping: 0.0,
        lift: 0.0,
        gust: [0.0, 1.0, 1.0],
        seed: 1,
    };
    let mut random = Random::new(3);
    for _ in 0..500 {
        let (normal, stream) = (any(&mut random, 1.0), any(&mut random, 20.0));
        let ours = WindSurface { lift: 0.0, ..SURFACE }.force(normal, stream);
        assert!(
            (ours - air::force(normal, stream, &model, 0.1, 0.0)).length() < 1e-12 * (1.0 + ours.length())
        );
    }
}

#[test]
fn eight_triangles_at_a_time_feel_the_same_bits() {
    let mut random = Random::new(4);
    for (air, h) in
        [([1.2, 1.3, 0.02, 1.7], 0.01), ([1.2, 1.3, 0.02, 0.0], 1e-4), ([0.3, 0.0, 0.5, 0.2], 1.0)]
    {
        let [density, drag, skin_friction, lift] = air;
        let (wind, damping, gust) = (DVec3::ZERO, 0.0, [0.0, 1.0, 1.0]);
        let air = AirModel { density, drag, skin_friction, wind, damping, lift, gust, seed: 1 };
        for _ in 0..200 {
            // One of them has no area.
            let scale = |l: usize| if l == 3 { 0.0 } else { 1e-3 };
            let normals: [DVec3; LANES] = std::array::from_fn(|l| scale(l) * any(&mut random, 1.0));
            let streams: [DVec3; LANES] = std::array::from_fn(|_| any(&mut random, 20.0));
            let lanes = |of: &[DVec3; LANES]| [0, 1, 2].map(|k| Lanes(of.map(|v| v.to_array()[k])));
            let wanted =
                lanes(&std::array::from_fn(|l| air::force(normals[l], streams[l], &air, 0.15, h) / 3.0));
            for set in InstructionSet::available() {
                let thirds = air::thirds_of_forces(*set, &lanes(&normals), &lanes(&streams), &air, 0.15, h);
                assert_eq!(thirds, wanted, "{set:?}");
            }
        }
    }
}

#[test]
fn a_plate_at_a_small_angle_is_lifted_in_proportion_to_it() {
    // Area 1 m² in the plane y = 0, a stream of 10 m/s that comes from slightly below.
    for angle in [1e-4, 1e-3] {
        let force = SURFACE.force(2.0 * DVec3::Y, 10.0 * DVec3::new(1.0, angle, 0.0));
        let coefficient = force.y / (0.5 * 1.2 * 100.0);
        assert!((coefficient / (1.7 * angle) - 1.0).abs() < 2.0 * angle, "{coefficient}");
    }
}

#[test]
fn the_derivative_is_that_of_the_force_and_the_safe_one_only_resists() {
    let mut random = Random::new(4);
    for _ in 0..500 {
        let (normal, stream) = (any(&mut random, 1.0), any(&mut random, 10.0));
        let (exact, safe) = (SURFACE.derivative(normal, stream), SURFACE.safe_derivative(normal, stream));
        for axis in DVec3::AXES {
            let at = |s: f64| SURFACE.force(normal, stream + s * axis);
            assert!((exact * axis - (at(1e-5) - at(-1e-5)) / 2e-5).length() < 1e-6);
        }
        let n = normal.normalize();
        assert!(
            (exact * n - safe * n).length() < 1e-12 * (exact * n).length(),
            "across, nothing is left out"
        );
        for _ in 0..20 {
            let v = any(&mut random, 1.0);
            assert!(v.dot(safe * v) >= 0.0);
        }
        assert!((safe - safe.transpose()).to_cols_array().iter().all(|c| c.abs() < 1e-12));
        assert!(SURFACE.force(normal, stream).dot(stream) >= 0.0, "air slows");
        assert_eq!(SURFACE.force(-normal, stream), SURFACE.force(normal, stream), "both sides are alike");
    }
    for (normal, stream) in
        [(DVec3::ZERO, DVec3::X), (DVec3::X, DVec3::ZERO), (DVec3::X, DVec3::X), (DVec3::X, DVec3::Y)]
    {
        assert!(SURFACE.force(normal, stream).is_finite() && SURFACE.derivative(normal, stream).is_finite());
    }
}

#[test]
fn force_and_slope_from_one_root_are_those_of_two() {
    let surface = WindSurface { density: 1.2, drag: 1.1, skin_friction: 0.03, lift: 0.7 };
    let mut random = Random::new(11);
    for _ in 0..1000 {
        let (normal, stream) = (any(&mut random, 1e-3), any(&mut random, 10.0));
        let (force, slope) = surface.linear(normal, stream);
        let (expected, by_stream) = (surface.force(normal, stream), surface.safe_derivative(normal, stream));
        assert!((force - expected).length() <= 1e-13 * expected.length(), "{force} {expected}");
        assert!(
            slope.abs_diff_eq(by_stream, 1e-13 * by_stream.x_axis.length().max(by_stream.y_axis.length()))
        );
    }
    // Without an area, and without a stream along the surface.
    assert_eq!(surface.linear(DVec3::ZERO, DVec3::X), (DVec3::ZERO, taffeta::math::DMat3::ZERO));
    let (force, slope) = surface.linear(DVec3::Y, DVec3::Y);
    assert!(force.is_finite() && slope.is_finite() && force.y > 0.0);
}
