//! Coulomb friction as an energy (IPC, Li et al. 2020, §5): pushes, weights and normals are those of a moment before, and sticking gives by a tiny way.

use crate::math::{DMat3, DVec3};

/// Friction of one contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothFriction {
    /// Unit normal of the contact.
    pub normal: DVec3,
    /// The largest force: friction times push [N].
    pub limit: f64,
    /// How far it gives before it slides [m].
    pub give: f64,
}

impl SmoothFriction {
    /// The part of a way that is along the surface [m].
    fn along(&self, way: DVec3) -> DVec3 {
        way - self.normal * self.normal.dot(way)
    }

    /// Energy where both sides have moved so far against each other (IPC's f₀, but 0 at rest) [J].
    pub fn energy(&self, way: DVec3) -> f64 {
        let share = self.along(way).length() / self.give;
        let gives = self.limit * self.give;
        if share < 1.0 { gives * share * share * (1.0 - share / 3.0) } else { gives * (share - 1.0 / 3.0) }
    }

    /// Its gradient by the way (IPC's eq. 14) [N].
    pub fn gradient(&self, way: DVec3) -> DVec3 {
        let way = self.along(way);
        let share = way.length() / self.give;
        let secant = if share < 1.0 { 2.0 - share } else { 1.0 / share };
        way * (self.limit * secant / self.give)
    }

    /// Its second derivative [N/m]: nowhere negative.
    pub fn block(&self, way: DVec3) -> DMat3 {
        let way = self.along(way);
        let share = way.length() / self.give;
        let stiffness = self.limit / self.give;
        let (secant, slope) = if share < 1.0 { (2.0 - share, 2.0 - 2.0 * share) } else { (1.0 / share, 0.0) };
        let surface = DMat3::IDENTITY - outer(self.normal);
        surface * (stiffness * secant) - outer(way.normalize_or_zero()) * (stiffness * (secant - slope))
    }
}

/// v vᵀ.
fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}
