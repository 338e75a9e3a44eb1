//! Things that move by keyframes.

use crate::math::{DVec3, Pose};
use crate::scene::{Ease, Keyframe};

/// A rigid motion over time, relative to where a thing was placed: turn about its centre, then shift.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Motion {
    keys: Vec<Key>,
}

#[derive(Debug, Clone, PartialEq)]
struct Key {
    time: f64,
    shift: DVec3,
    /// About x, then y, then z [degrees].
    turn: DVec3,
    ease: Ease,
}

impl Motion {
    /// From keyframes whose times increase.
    pub fn new(keyframes: &[Keyframe]) -> Self {
        let key = |k: &Keyframe| Key {
            time: k.time,
            shift: DVec3::from(k.shift),
            turn: DVec3::from(k.turn),
            ease: k.ease,
        };
        Self { keys: keyframes.iter().map(key).collect() }
    }

    /// Whether nothing ever moves.
    pub fn rests(&self) -> bool {
        self.keys.is_empty()
    }

    /// The displacement at `time` [s]. Between keyframes each angle goes its way: 360 degrees are a full turn.
    pub fn at(&self, time: f64) -> Pose {
        let after = self.keys.partition_point(|k| k.time <= time);
        match (after.checked_sub(1).map(|i| &self.keys[i]), self.keys.get(after)) {
            (None, None) => Pose::IDENTITY,
            (None, Some(only)) | (Some(only), None) => Pose::from_degrees(only.shift, only.turn),
            (Some(from), Some(to)) => {
                let s = (time - from.time) / (to.time - from.time);
                let s = match to.ease {
                    Ease::Linear => s,
                    Ease::Smooth => s * s * (3.0 - 2.0 * s),
                };
                Pose::from_degrees(from.shift.lerp(to.shift, s), from.turn.lerp(to.turn, s))
            }
        }
    }
}
