//! Things that move by keyframes.

use crate::math::{DVec3, Pose};

/// A moment of a motion: where a thing is, relative to where it was placed. Before the first and after the last it rests.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Keyframe {
    /// When [s].
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e6)))]
    pub time: f64,
    /// How far from its place [m].
    #[cfg_attr(feature = "serde", serde(default, rename = "move"))]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e5, max = 1e5))))]
    pub shift: [f64; 3],
    /// How far turned about its centre: about x, then y, then z [degrees].
    #[cfg_attr(feature = "serde", serde(default))]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -36_000.0, max = 36_000.0))))]
    pub turn: [f64; 3],
    /// How it comes here from the keyframe before.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ease: Ease,
}

/// How a thing gets from one keyframe to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Ease {
    /// At constant speed.
    #[default]
    Linear,
    /// Starting and stopping softly (3s² - 2s³).
    Smooth,
}

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
