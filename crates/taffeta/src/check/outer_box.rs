//! Axis-aligned boxes in f32, rounded outwards: what they hold never leaves them, and what they let pass is decided by others.
//!
//! Coordinates beyond the largest of them are taken for the largest. Whoever overlaps does so then too, and gaps do not grow.

use crate::math::DVec3;

/// A box, or nothing where it has no extent.
#[derive(Debug, Clone, Copy)]
pub(super) struct OuterBox {
    /// Least coordinates [m].
    pub low: [f32; 3],
    /// Largest coordinates [m].
    pub high: [f32; 3],
}

/// The largest coordinate [m].
const LARGEST: f32 = 1e38;

impl OuterBox {
    /// Holds nothing, meets nothing.
    pub const NOTHING: OuterBox = OuterBox { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// The box around a triangle.
    #[inline]
    pub fn around([a, b, c]: [DVec3; 3]) -> Self {
        let (low, high) = (a.min(b).min(c), -a.max(b).max(c));
        let low = [not_above(low.x), not_above(low.y), not_above(low.z)];
        Self { low, high: [-not_above(high.x), -not_above(high.y), -not_above(high.z)] }
    }

    /// The box around two.
    #[inline(always)]
    pub fn join(&self, other: &Self) -> Self {
        let low = |k: usize| if self.low[k] < other.low[k] { self.low[k] } else { other.low[k] };
        let high = |k: usize| if self.high[k] > other.high[k] { self.high[k] } else { other.high[k] };
        Self { low: [low(0), low(1), low(2)], high: [high(0), high(1), high(2)] }
    }

    /// How far apart two boxes are, at most what they hold is [m].
    pub fn gap(&self, other: &Self) -> f64 {
        let beyond = |k: usize| {
            let below = f64::from(self.low[k]) - f64::from(other.high[k]);
            below.max(f64::from(other.low[k]) - f64::from(self.high[k])).max(0.0)
        };
        DVec3::new(beyond(0), beyond(1), beyond(2)).length()
    }

    /// How far any two points that it holds are apart along every axis, at most but for rounding [m].
    #[inline(always)]
    pub fn reach(&self) -> [f32; 3] {
        let reach = |k: usize| {
            let is_known = self.low[k] > -LARGEST && self.high[k] < LARGEST;
            if is_known { self.high[k] - self.low[k] } else { f32::INFINITY }
        };
        [reach(0), reach(1), reach(2)]
    }
}

/// An f32 that is not above `x`, within three units in the last place; for large ones it is no larger than the largest.
#[inline(always)]
fn not_above(x: f64) -> f32 {
    let near = (x as f32).clamp(-LARGEST, LARGEST);
    // Half a unit for the conversion, half a one for the difference; the least normal number where units are less than that.
    near - (near.abs() * f32::EPSILON + f32::MIN_POSITIVE)
}
