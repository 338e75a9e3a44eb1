//! Motions by keyframes.

use taffeta::math::{DVec3, Pose};
use taffeta::model::Motion;
use taffeta_scene::{Ease, Keyframe};

#[test]
fn keyframes_hold_before_and_after_and_ease_between() {
    let key = |time, y, ease| Keyframe { time, shift: [0.0, y, 0.0], turn: [0.0; 3], ease };
    let motion =
        Motion::new(&[key(1.0, 1.0, Ease::Linear), key(2.0, 3.0, Ease::Linear), key(3.0, 5.0, Ease::Smooth)]);
    let y = |t| motion.at(t).position.y;
    assert_eq!(
        [y(0.0), y(1.0), y(1.25), y(2.0), y(2.25), y(3.0), y(9.0)],
        [1.0, 1.0, 1.5, 3.0, 3.3125, 5.0, 5.0]
    );
    assert_eq!(Motion::default().at(1.0), Pose::IDENTITY);
    let turn = |time, angle| Keyframe { time, shift: [0.0; 3], turn: [0.0, angle, 0.0], ease: Ease::Linear };
    let wheel = Motion::new(&[turn(0.0, 0.0), turn(4.0, 720.0)]);
    assert!((wheel.at(0.5).to_world(DVec3::X) - DVec3::NEG_Z).length() < 1e-15, "a quarter of a turn");
}
