//! Poses and the order of their turns.

use taffeta::math::{DVec3, Pose};

#[test]
fn turns_are_applied_x_first() {
    let quarter = Pose::from_degrees(DVec3::X, DVec3::new(90.0, 0.0, 90.0));
    // y -> z by the turn about x; z stays under the turn about z.
    assert!((quarter.to_world(DVec3::Y) - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-15);
    assert!((quarter.to_local(quarter.to_world(DVec3::ONE)) - DVec3::ONE).length() < 1e-15);
}
