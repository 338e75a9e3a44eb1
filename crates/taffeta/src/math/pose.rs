//! Where a rigid thing is and how it is turned.

use super::{DQuat, DVec3, trig};

/// A rigid placement: rotate, then move.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
}
