//! Answers that need a computation of their own: the catenary, the heavy elastica, the belt around a drum.

/// Sag of a chain over its length, for the distance of its ends over its length.
pub fn catenary_sag(span: f64) -> f64 {
    // Half the length is a sinh(d), half the span a d: sinh(d) / d = 1 / span.
    let d = bisect([1e-9, 50.0], |d| libm::sinh(d) / d > 1.0 / span);
    0.5 * (libm::cosh(d) - 1.0) / libm::sinh(d)
}

/// Drop and reach of the tip over the length of a strip that is clamped level, γ = weight per area × length³ / rigidity.
///
/// θ'' = -γ (1 - s) cos θ with θ(0) = 0 and θ'(1) = 0: Runge-Kutta of fourth order, the curvature at the clamp by bisection.
pub fn heavy_elastica(gamma: f64) -> (f64, f64) {
    let shoot = |curvature: f64| {
        const STEPS: u32 = 2000;
        let h = 1.0 / f64::from(STEPS);
        let slope = |s: f64, [angle, curvature, ..]: [f64; 4]| {
            [curvature, -gamma * (1.0 - s) * libm::cos(angle), libm::sin(angle), libm::cos(angle)]
        };
        let along = |y: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
        (0..STEPS).fold([0.0, curvature, 0.0, 0.0], |y: [f64; 4], step| {
            let s = h * f64::from(step);
            let a = slope(s, y);
            let b = slope(s + 0.5 * h, along(y, a, 0.5 * h));
            let c = slope(s + 0.5 * h, along(y, b, 0.5 * h));
            let d = slope(s + h, along(y, c, h));
            std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
        })
    };
    let curvature = bisect([0.0, 0.5 * gamma], |curvature| shoot(curvature)[1] > 0.0);
    let [_, _, drop, reach] = shoot(curvature);
    (drop, reach)
}

/// How long the longer end of a belt over a drum may hang [m] before it slides, the other hanging by `short` [m].
///
/// With T' = μ (T + w r sin φ) + w r cos φ over half a turn: the belt's own weight on the drum counts.
pub fn longest_end(friction: f64, radius: f64, short: f64) -> f64 {
    let on_drum = 2.0 * friction * radius / (1.0 + friction * friction);
    (short + on_drum) * libm::exp(friction * std::f64::consts::PI) + on_drum
}

/// Where a condition begins to hold.
pub fn bisect([mut low, mut high]: [f64; 2], holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *if holds(middle) { &mut high } else { &mut low } = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_textbooks() {
        // A chain whose ends touch hangs by half its length; a taut one sags by sqrt(3 e / 8).
        assert!((catenary_sag(1e-3) - 0.5).abs() < 5e-3);
        assert!((catenary_sag(0.9999) / f64::sqrt(3.0 * 1e-4 / 8.0) - 1.0).abs() < 1e-3);
        // A stiff strip is a beam under its own weight: γ / 8.
        let (drop, reach) = heavy_elastica(0.01);
        assert!((drop / (0.01 / 8.0) - 1.0).abs() < 1e-4 && (reach - 1.0).abs() < 1e-5);
        // Peirce 1930: at 41.5° the overhang is twice the bending length, γ = 8, to the precision of his formula.
        let (drop, reach) = heavy_elastica(8.0);
        assert!((libm::atan2(drop, reach).to_degrees() - 41.5).abs() < 0.5);
        // Without weight on the drum it is Euler's e^(μ π).
        assert!((longest_end(0.3, 1e-12, 1.0) - libm::exp(0.3 * std::f64::consts::PI)).abs() < 1e-9);
    }
}
