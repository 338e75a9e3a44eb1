//! Boxes in f32, rounded outwards: around a point that moves, grown by the room that it keeps.

use crate::math::DVec3;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Its least coordinates [m].
    pub low: [f32; 3],
    /// Its largest coordinates [m].
    pub high: [f32; 3],
}

/// Room is made this much larger, so that the roundings of f64 never reach further than the box.
const ROUNDING: f64 = 1.0 + 1e-6;

impl Bounds {
    /// The box that holds nothing and meets nothing.
    pub const NOTHING: Bounds = Bounds { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// A box around the straight way from `from` to `to`, with `room` around it [m].
    #[inline]
    pub fn around(from: DVec3, to: DVec3, room: f64) -> Self {
        let room = ROUNDING * room;
        let (low, high) = (from.min(to) - room, from.max(to) + room);
        Self {
            low: low.to_array().map(|x| (x as f32).next_down()),
            high: high.to_array().map(|x| (x as f32).next_up()),
        }
    }

    /// The box around both.
    #[inline]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|k| self.low[k].min(other.low[k])),
            high: std::array::from_fn(|k| self.high[k].max(other.high[k])),
        }
    }

    /// Whether they have a point in common.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}
