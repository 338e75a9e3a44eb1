//! Where a rigid thing is and how it is turned.

use super::{DQuat, DVec3, trig};
use serde::{Deserialize, Serialize};

/// A rigid placement: rotate, then move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Where the local origin lies [m].
    pub position: DVec3,
    /// How local axes are turned.
    pub rotation: DQuat,
}

impl Pose {
    /// No motion and no rotation.
    pub const IDENTITY: Pose = Pose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// From a position [m] and turns about x, then y, then z [degrees].
    pub fn from_degrees(position: DVec3, degrees: DVec3) -> Self {
        let about = |axis: DVec3, angle: f64| {
            let half = 0.5 * angle.to_radians();
            let v = axis * trig::sin(half);
            DQuat::from_xyzw(v.x, v.y, v.z, trig::cos(half))
        };
        let rotation = about(DVec3::Z, degrees.z) * about(DVec3::Y, degrees.y) * about(DVec3::X, degrees.x);
        Self { position, rotation }
    }

    /// A local point in world coordinates [m].
    pub fn to_world(&self, local: DVec3) -> DVec3 {
        self.rotation * local + self.position
    }

    /// A world point in local coordinates [m].
    pub fn to_local(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// The pose a fraction `s` of the way to `other`: straight in position, the short way round in rotation.
    pub fn towards(&self, other: &Pose, s: f64) -> Pose {
        let position = self.position + s * (other.position - self.position);
        let (a, mut b) = (self.rotation, other.rotation);
        let mut cosine = a.dot(b);
        if cosine < 0.0 {
            (b, cosine) = (-b, -cosine);
        }
        // Below a twentieth of a degree the chord and the arc agree to 1e-10.
        let (wa, wb) = if cosine > 1.0 - 1e-7 {
            (1.0 - s, s)
        } else {
            let angle = trig::acos(cosine);
            let sine = trig::sin(angle);
            (trig::sin((1.0 - s) * angle) / sine, trig::sin(s * angle) / sine)
        };
        Pose { position, rotation: (a * wa + b * wb).normalize() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_applied_x_first_and_half_way_is_half_the_angle() {
        let quarter = Pose::from_degrees(DVec3::X, DVec3::new(90.0, 0.0, 90.0));
        // y -> z by the turn about x; z stays under the turn about z.
        assert!((quarter.to_world(DVec3::Y) - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-15);
        assert!((quarter.to_local(quarter.to_world(DVec3::ONE)) - DVec3::ONE).length() < 1e-15);
        let turned = Pose::from_degrees(DVec3::ZERO, DVec3::new(0.0, 120.0, 0.0));
        let half = Pose::IDENTITY.towards(&turned, 0.5);
        let want = Pose::from_degrees(DVec3::ZERO, DVec3::new(0.0, 60.0, 0.0));
        assert!(half.rotation.dot(want.rotation).abs() > 1.0 - 1e-15);
    }
}
