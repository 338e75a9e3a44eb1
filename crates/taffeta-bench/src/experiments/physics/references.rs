//! Answers that need a computation of their own: the catenary, the heavy elastica, the pressed strip, the belt around a drum.

/// Sag of a chain over its length, for the distance of its ends over its length.
pub fn catenary_sag(span: f64) -> f64 {
    // Half the length is a sinh(d), half the span a d: sinh(d) / d = 1 / span.
    let d = bisect([1e-9, 50.0], |d| libm::sinh(d) / d > 1.0 / span);
    0.5 * (libm::cosh(d) - 1.0) / libm::sinh(d)
}

/// Drop and reach of the tip over the length of a strip that is clamped level, γ = weight per area × length³ / rigidity.
///
/// θ'' = -γ (1 - s) cos θ with θ(0) = 0 and θ'(1) = 0: the curvature at the clamp by bisection.
pub fn heavy_elastica(gamma: f64) -> (f64, f64) {
    let shoot = |curvature: f64| {
        const STEPS: u32 = 2000;
        let h = 1.0 / f64::from(STEPS);
        let slope = |s: f64, [angle, curvature, ..]: [f64; 4]| {
            [curvature, -gamma * (1.0 - s) * libm::cos(angle), libm::sin(angle), libm::cos(angle)]
        };
        (0..STEPS).fold([0.0, curvature, 0.0, 0.0], |y, step| led_on(slope, h * f64::from(step), y, h))
    };
    let curvature = bisect([0.0, 0.5 * gamma], |curvature| shoot(curvature)[1] > 0.0);
    let [_, _, drop, reach] = shoot(curvature);
    (drop, reach)
}

/// A strip without weight whose upper end is clamped upright and whose lower end, free to turn, stands on a plane: Euler's elastica.
///
/// With φ the angle from the force at the foot, which leans by α from the upright, and t the arc length in units of √(B / force): φ'' = -sin φ, φ(0) = a and
/// φ'(0) = 0 at the foot, φ(T) = -α at the clamp.
pub struct PressedStrip {
    /// a and α [rad].
    bent: f64,
    lean: f64,
    /// T.
    reach: f64,
}

impl PressedStrip {
    /// Below its clamp with a force that leans by the whole friction. Pressed further it slides at once: with its foot aside it bears less.
    pub fn about_to_slide(friction: f64) -> Self {
        let lean = libm::atan(friction);
        let of = |bent: f64| Self { bent, lean, reach: Self::reach(bent, lean) };
        of(bisect([1.01 * lean, 2.0], |bent| of(bent).place(1.0)[0] < 0.0))
    }

    /// How much lower its clamp is than its length [1].
    pub fn compression(&self) -> f64 {
        1.0 - self.place(1.0)[1]
    }

    /// Where a share of its length above the foot is, over its length: aside and above.
    pub fn place(&self, share: f64) -> [f64; 2] {
        const STEPS: u32 = 1000;
        let h = share * self.reach / f64::from(STEPS);
        let [_, _, across, along] =
            (0..STEPS).fold([self.bent, 0.0, 0.0, 0.0], |y, _| led_on(Self::slope, 0.0, y, h));
        let (sine, cosine) = (libm::sin(self.lean), libm::cos(self.lean));
        [across * cosine + along * sine, along * cosine - across * sine].map(|x| x / self.reach)
    }

    fn slope(_: f64, [angle, curvature, ..]: [f64; 4]) -> [f64; 4] {
        [curvature, -libm::sin(angle), libm::sin(angle), libm::cos(angle)]
    }

    /// The first T at which φ comes up through -α: it has been through its least.
    fn reach(bent: f64, lean: f64) -> f64 {
        const STEP: f64 = 2e-3;
        let (mut t, mut y) = (0.0, [bent, 0.0, 0.0, 0.0]);
        while t < 20.0 {
            let next = led_on(Self::slope, t, y, STEP);
            if next[1] > 0.0 && y[0] <= -lean && next[0] > -lean {
                return t + STEP * (-lean - y[0]) / (next[0] - y[0]);
            }
            (t, y) = (t + STEP, next);
        }
        t
    }
}

/// One step of Runge and Kutta's of fourth order.
fn led_on<const N: usize>(
    slope: impl Fn(f64, [f64; N]) -> [f64; N],
    s: f64,
    y: [f64; N],
    h: f64,
) -> [f64; N] {
    let along = |k: [f64; N], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    let a = slope(s, y);
    let b = slope(s + 0.5 * h, along(a, 0.5 * h));
    let c = slope(s + 0.5 * h, along(b, 0.5 * h));
    let d = slope(s + h, along(c, h));
    std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
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
        // A clamped strip on a hinge buckles at 20.19 B/L² and pushes its hinge aside by 4.493 times its angle there (tan T = T); one that starts to slide is
        // below its clamp.
        let strip = PressedStrip::about_to_slide(1e-3);
        assert!((strip.reach * strip.reach - 20.19).abs() < 0.01 && strip.compression() < 1e-4);
        assert!((strip.bent / strip.lean - 4.6).abs() < 0.1, "{}", strip.bent / strip.lean);
        assert!(PressedStrip::about_to_slide(0.3).place(1.0)[0].abs() < 1e-6);
        // Without weight on the drum it is Euler's e^(μ π).
        assert!((longest_end(0.3, 1e-12, 1.0) - libm::exp(0.3 * std::f64::consts::PI)).abs() < 1e-9);
    }
}
