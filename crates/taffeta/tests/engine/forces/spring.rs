//! Springs against closed answers: the period of two masses, the arc of a buckled strip.

use std::f64::consts::PI;
use taffeta::forces::choi_ko::{Buckle, ByLength, Damper, Stretch, inverse_sinc};
use taffeta::forces::element::Element;
use taffeta::forces::spring;
use taffeta::math::{DVec3, trig};

#[test]
fn two_masses_on_a_spring_swing_with_the_period_of_their_reduced_mass() {
    let (k, rest, masses): (f64, f64, [f64; 2]) = (40.0, 0.8, [0.2, 0.5]);
    let reduced = masses[0] * masses[1] / (masses[0] + masses[1]);
    let period = 2.0 * PI * (reduced / k).sqrt();
    let h = period / 20_000.0;
    let (mut x, mut v) = ([DVec3::ZERO, DVec3::X * 0.9], [DVec3::ZERO; 2]);
    let mut last_excess = 0.1;
    let mut crossings = Vec::new();
    for step in 0..60_000 {
        let f = spring::force(x[1] - x[0], v[1] - v[0], rest, k, 0.0);
        v = [v[0] + f * (h / masses[0]), v[1] - f * (h / masses[1])];
        x = [x[0] + v[0] * h, x[1] + v[1] * h];
        let excess = x[0].distance(x[1]) - rest;
        if excess < 0.0 && last_excess >= 0.0 {
            crossings.push(h * (step as f64 + last_excess / (last_excess - excess)));
        }
        last_excess = excess;
    }
    assert_eq!(crossings.len(), 3);
    assert!(((crossings[2] - crossings[0]) / (2.0 * period) - 1.0).abs() < 1e-7);
}

/// sin(t)/t = y for t in 0..=π, by bisection.
fn bisected(y: f64) -> f64 {
    let (mut low, mut high) = (0.0, PI);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *if trig::sin(middle) > y * middle { &mut low } else { &mut high } = middle;
    }
    low
}

#[test]
fn the_inverse_of_sinc_is_that_of_bisection() {
    for k in 0..=100_000 {
        let y = 0.99999 * f64::from(k) / 1e5;
        let (fast, slow) = (inverse_sinc(y), bisected(y));
        assert!((fast - slow).abs() < 1e-12, "{y}: {fast} {slow}");
    }
    // Near 1, where sin(t)/t itself has no digits left, the series t² = 6 δ + 1.8 δ² + ... is exact.
    for exponent in 5..16 {
        let y = 1.0 - 10f64.powi(-exponent);
        let slack = 1.0 - y;
        let want = (slack * (6.0 + 1.8 * slack)).sqrt();
        assert!((inverse_sinc(y) / want - 1.0).abs() < 1e-9);
    }
    assert_eq!((inverse_sinc(1.0), inverse_sinc(1.5)), (0.0, 0.0));
    assert!((inverse_sinc(0.0) - PI).abs() < 1e-14 && (inverse_sinc(-1.0) - PI).abs() < 1e-14);
}

/// P3 eq. 2 to 4 as printed, with the gentler of arc and ramp.
fn printed(length: f64, rest: f64, bending: f64, ramp: f64) -> f64 {
    if length >= rest {
        return 0.0;
    }
    let t = bisected(length / rest);
    let kappa = 2.0 * t / rest;
    let arc = bending * kappa * kappa / (trig::cos(t) - trig::sin(t) / t);
    arc.max(ramp * (length - rest))
}

#[test]
fn a_buckled_strip_pushes_as_the_paper_says_and_stores_its_work() {
    let (rest, bending) = (0.3, 2e-6);
    // Ramps that never meet the arc, meet it twice, once, and at once.
    for ratio in [20.0, 33.0, 38.0, 45.0, 1e3, 1e9] {
        let ramp = ratio * bending / f64::powi(rest, 3);
        let buckle = Buckle::new(rest, bending, ramp, Damper::default());
        let scale = bending / (rest * rest);
        let mut work = 0.0;
        let n = 3000;
        let at = |i: i32| rest * f64::from(i) / f64::from(n);
        for i in (0..n).rev() {
            let (here, next) = (at(i), at(i + 1));
            let slope = |length: f64| buckle.profile(length).slope;
            if i > 0 && i < n - 1 {
                assert!(
                    (slope(here) - printed(here, rest, bending, ramp)).abs() < 1e-6 * scale,
                    "{ratio} {here}"
                );
            }
            // Simpson's rule; the last interval of the steepest ramp is nearly a jump.
            work -= (slope(here) + 4.0 * slope(0.5 * (here + next)) + slope(next)) * (next - here) / 6.0;
            let stored = buckle.profile(here).energy;
            assert!((stored - work).abs() < 5e-3 * scale * rest, "{ratio} at {here}: {stored} {work}");
        }
    }
}

#[test]
fn an_arc_has_the_energy_of_its_curvature_and_the_limits_of_its_force() {
    let (rest, bending) = (0.5, 3e-6);
    let strip = Buckle::new(rest, bending, 1e9, Damper::default());
    for t in [0.1, 0.5, 1.0, 2.0, 3.0] {
        let length = rest * trig::sin(t) / t;
        let kappa = 2.0 * t / rest;
        let want = 0.5 * bending * kappa * kappa * rest;
        assert!((strip.profile(length).energy / want - 1.0).abs() < 1e-6);
    }
    let scale = bending / (rest * rest);
    assert!((strip.profile(rest * (1.0 - 1e-9)).slope / scale + 12.0).abs() < 1e-6);
    assert!((strip.profile(0.0).slope / scale + 4.0 * PI * PI).abs() < 1e-9);
    // The ramp never jumps.
    let soft = Buckle::new(rest, bending, 1e3 * scale, Damper::default());
    assert!(soft.profile(rest * (1.0 - 1e-9)).slope.abs() < 1e-6 * scale);
}

#[test]
fn the_matrix_of_a_buckled_strip_keeps_its_stiffness_along_the_line_alone() {
    let strip = Buckle::new(1.0, 1.0, 1e3, Damper::default());
    let x = [DVec3::ZERO, 0.6 * DVec3::new(2.0, 3.0, 6.0) / 7.0];
    let n = x[1].normalize();
    let (exact, safe) = (strip.derivative(&x)[0][0], strip.safe_derivative(&x)[0][0]);
    assert!((n.dot(exact * n) / n.dot(safe * n) - 1.0).abs() < 1e-12 && n.dot(safe * n) < -1.0);
    let side = n.any_orthonormal_vector();
    assert!((safe * side).length() < 1e-12 && side.dot(exact * side) > 1.0);
    // Under tension nothing is left out.
    let pulled = Stretch { rest_length: 0.5, stiffness: 7.0, damper: Damper::default() };
    assert_eq!(pulled.derivative(&x), pulled.safe_derivative(&x));
}
