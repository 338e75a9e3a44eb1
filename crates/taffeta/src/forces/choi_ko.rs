//! Springs of Choi & Ko 2002 as P3 §3 has them: one that only pulls, and one that buckles like an elastic strip.
//!
//! A strip of length L whose ends come together bends to an arc of curvature κ = 2t/L with sin(t)/t = |d|/L. It stores k_b κ² L / 2, and
//! the slope of that by |d| is P3's eq. 3, f_b = k_b κ² / (cos t - sin(t)/t): negative, it pushes the ends apart. It jumps to -12 k_b/L² where
//! |d| reaches L. Real cloth is not so straight, so a linear ramp c_b (|d| - L) stands in wherever it is the gentler (eq. 4).

use super::element::{Blocks, Element, outer, spread, spread_blocks};
use super::spring::NO_DIRECTION;
use crate::math::{DMat3, DVec3};
use std::f64::consts::PI;
use std::ops::RangeInclusive;

const ENDS: [f64; 2] = [-1.0, 1.0];

/// Energy [J] of a length, and its first [N] and second [N/m] derivative.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Profile {
    /// Energy [J].
    pub energy: f64,
    /// Its first derivative, the tension [N].
    pub slope: f64,
    /// Its second derivative [N/m].
    pub curvature: f64,
}

/// What resists the relative motion of two particles, also while no spring force acts (P3 §3.3: in every interaction).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Damper {
    /// Along the line between them [N·s/m].
    pub along: f64,
    /// In all directions, as P3 eq. 5 has it [N·s/m]. It also brakes a rigid turn; leave it 0 unless P3 is to be repeated.
    pub whole: f64,
}

/// An element between two particles whose energy depends on their distance alone.
pub trait ByLength {
    /// Energy and its derivatives at a distance [m].
    fn profile(&self, length: f64) -> Profile;
    /// What damps it.
    fn damper(&self) -> Damper;
}

/// Pulls when longer than at rest (P3 eq. 1), else does nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Length without force [m].
    pub rest_length: f64,
    /// Force per lengthening [N/m].
    pub stiffness: f64,
    /// What damps it.
    pub damper: Damper,
}

/// Pushes when shorter than at rest (P3 eq. 2 to 4), else does nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckle {
    rest_length: f64,
    bending: f64,
    ramp: f64,
    damper: Damper,
    /// Lengths at which the arc is gentler than the ramp [m]; empty if there are none.
    arc: RangeInclusive<f64>,
    /// What is added to the arc's energy, and to the ramp's below it, so that nothing jumps [J].
    offsets: [f64; 2],
}

impl ByLength for Stretch {
    fn profile(&self, length: f64) -> Profile {
        let (k, excess) = (self.stiffness, length - self.rest_length);
        if excess < 0.0 {
            return Profile::default();
        }
        Profile { energy: 0.5 * k * excess * excess, slope: k * excess, curvature: k }
    }

    fn damper(&self) -> Damper {
        self.damper
    }
}

impl Buckle {
    /// A strip of `rest_length` L [m], bending stiffness k_b of the whole strip [N·m²], and the ramp c_b [N/m].
    pub fn new(rest_length: f64, bending: f64, ramp: f64, damper: Damper) -> Self {
        // The ramp that meets the arc at t² falls with t² up to here, and rises again beyond.
        const TURN: f64 = 5.782_166_19;
        let ratio = ramp * rest_length.powi(3) / bending;
        let ramp_is_stronger = |square: f64| {
            let [slack, slope, _] = slack(square);
            ratio * slack * slope > 2.0
        };
        let length = |square: f64| rest_length * (1.0 - slack(square)[0]);
        let arc = if !ramp_is_stronger(TURN) {
            1.0..=0.0
        } else {
            let longest = length(switch(0.0, TURN, ramp_is_stronger));
            // A steep ramp stays above the arc down to no length at all.
            let always = ramp_is_stronger(PI * PI);
            let shortest = if always { 0.0 } else { length(switch(PI * PI, TURN, ramp_is_stronger)) };
            shortest..=longest
        };
        let mut buckle = Self { rest_length, bending, ramp, damper, arc, offsets: [0.0; 2] };
        if !buckle.arc.is_empty() {
            let gap = |length: f64| buckle.on_ramp(length).energy - buckle.on_arc(length).energy;
            let above = gap(*buckle.arc.end());
            buckle.offsets = [above, above - gap(*buckle.arc.start())];
        }
        buckle
    }

    fn on_ramp(&self, length: f64) -> Profile {
        let excess = length - self.rest_length;
        Profile { energy: 0.5 * self.ramp * excess * excess, slope: self.ramp * excess, curvature: self.ramp }
    }

    /// E = 2 k t²/L with slack(t²) = 1 - |d|/L, differentiated.
    fn on_arc(&self, length: f64) -> Profile {
        let (k, l) = (self.bending, self.rest_length);
        let square = arc_square(1.0 - length / l);
        let [_, slope, curvature] = slack(square);
        Profile {
            energy: 2.0 * k * square / l,
            slope: -2.0 * k / (l * l * slope),
            curvature: -2.0 * k * curvature / (l * slope).powi(3),
        }
    }
}

impl ByLength for Buckle {
    fn profile(&self, length: f64) -> Profile {
        if length >= self.rest_length {
            return Profile::default();
        }
        let (mut profile, offset) = if self.arc.contains(&length) {
            (self.on_arc(length), self.offsets[0])
        } else {
            (self.on_ramp(length), if length < *self.arc.start() { self.offsets[1] } else { 0.0 })
        };
        profile.energy += offset;
        profile
    }

    fn damper(&self) -> Damper {
        self.damper
    }
}

/// The inverse of sin(t)/t for t in 0..=π: P3 asks for a table; three Newton steps are exact.
pub fn inverse_sinc(y: f64) -> f64 {
    arc_square(1.0 - y).sqrt()
}

/// The t² of a slack. In t² the function has no flat place, unlike in t.
fn arc_square(wanted: f64) -> f64 {
    let wanted = wanted.clamp(0.0, 1.0);
    // Right to third order at 0, and right at 1.
    let start = wanted * (6.0 + wanted * (1.8 + wanted * (PI * PI - 7.8)));
    (0..3).fold(start, |square, _| {
        let [slack, slope, _] = slack(square);
        square - (slack - wanted) / slope
    })
}

/// The share 1 - sin(t)/t by which an arc is longer than its chord, and its two derivatives by t².
///
/// A power series in t², exact after fifteen terms for t <= π: no 0/0 at the straight strip, and no sine to differ between platforms.
fn slack(square: f64) -> [f64; 3] {
    let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
    let mut term = -1.0 / 120.0;
    for k in 2..17 {
        let k = f64::from(k);
        value += term;
        slope += k * term;
        curvature += k * (k - 1.0) * term;
        term *= -square / ((2.0 * k + 2.0) * (2.0 * k + 3.0));
    }
    [square * (1.0 / 6.0 + square * value), 1.0 / 6.0 + square * slope, curvature]
}

/// Where `holds` begins on the way from `outside` to `inside`, by bisection.
fn switch(mut outside: f64, mut inside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (outside + inside);
        *if holds(middle) { &mut inside } else { &mut outside } = middle;
    }
    inside
}

/// Length and unit direction from the first to the second particle; no direction where they meet.
#[inline(always)]
fn reach([a, b]: &[DVec3; 2]) -> (f64, DVec3) {
    let (d, squared) = (*b - *a, a.distance_squared(*b));
    let length = squared.sqrt();
    (length, if squared > NO_DIRECTION { d / length } else { DVec3::ZERO })
}

/// E'' n nᵀ + E'/|d| (I - n nᵀ), nothing where there is no direction.
#[inline(always)]
fn blocks(length: f64, n: DVec3, curvature: f64, slope: f64) -> Blocks<2> {
    if n == DVec3::ZERO {
        return [[DMat3::ZERO; 2]; 2];
    }
    let along = outer(n, n);
    spread_blocks(&ENDS, along * curvature + (DMat3::IDENTITY - along) * (slope / length))
}

impl<T: ByLength> Element<2> for T {
    fn energy(&self, x: &[DVec3; 2]) -> f64 {
        self.profile(reach(x).0).energy
    }

    #[inline(always)]
    fn forces(&self, x: &[DVec3; 2]) -> [DVec3; 2] {
        let (length, n) = reach(x);
        spread(&ENDS, n * self.profile(length).slope)
    }

    fn derivative(&self, x: &[DVec3; 2]) -> Blocks<2> {
        let (length, n) = reach(x);
        let Profile { slope, curvature, .. } = self.profile(length);
        blocks(length, n, curvature, slope)
    }

    /// Under compression only the n nᵀ part stays: a strip that pushes also turns away sideways, and that part is what makes the
    /// exact matrix indefinite. To leave it out is the point of Choi & Ko.
    #[inline(always)]
    fn safe_derivative(&self, x: &[DVec3; 2]) -> Blocks<2> {
        let (length, n) = reach(x);
        let Profile { slope, curvature, .. } = self.profile(length);
        blocks(length, n, curvature.max(0.0), slope.max(0.0))
    }

    fn damping(&self, x: &[DVec3; 2], v: &[DVec3; 2]) -> [DVec3; 2] {
        let (n, rate, damper) = (reach(x).1, v[1] - v[0], self.damper());
        spread(&ENDS, n * (damper.along * n.dot(rate)) + rate * damper.whole)
    }

    #[inline(always)]
    fn damping_derivative(&self, x: &[DVec3; 2]) -> Blocks<2> {
        let (n, damper) = (reach(x).1, self.damper());
        spread_blocks(&ENDS, outer(n, n) * damper.along + DMat3::IDENTITY * damper.whole)
    }
}
