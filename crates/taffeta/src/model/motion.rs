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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyframes_hold_before_and_after_and_ease_between() {
        let key = |time, y, ease| Keyframe { time, shift: [0.0, y, 0.0], turn: [0.0; 3], ease };
        let motion = Motion::new(&[
            key(1.0, 1.0, Ease::Linear),
            key(2.0, 3.0, Ease::Linear),
            key(3.0, 5.0, Ease::Smooth),
        ]);
        let y = |t| motion.at(t).position.y;
        assert_eq!(
            [y(0.0), y(1.0), y(1.25), y(2.0), y(2.25), y(3.0), y(9.0)],
            [1.0, 1.0, 1.5, 3.0, 3.3125, 5.0, 5.0]
        );
        assert_eq!(Motion::default().at(1.0), Pose::IDENTITY);
        let turn =
            |time, angle| Keyframe { time, shift: [0.0; 3], turn: [0.0, angle, 0.0], ease: Ease::Linear };
        let wheel = Motion::new(&[turn(0.0, 0.0), turn(4.0, 720.0)]);
        assert!((wheel.at(0.5).to_world(DVec3::X) - DVec3::NEG_Z).length() < 1e-15, "a quarter of a turn");
    }
}
