//! The contact barrier of IPC (Li et al. 2020, §4) with the offset of C-IPC (Li et al. 2021, §4), for a point and a triangle or two edges.
//!
//! A pair has the energy κ e b, with b of IPC's eq. 6 over the distance beyond an offset ξ, and with the mollifier e of its eq. 24 for edges that are nearly
//! parallel, whose closest points jump. The gradient is exact: the closest points are where the distance has no slope along the features. Of the second
//! derivative only κ e b″ ∇d ∇dᵀ is taken, which resists for any shape; IPC projects the whole of it, whose rest is negative for the most part, because b′ is.

use crate::collide::ccd::distance::{PairKind, closest};
use crate::math::DVec3;
use crate::math::log_barrier::log_barrier;

/// What keeps a pair of features apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairBarrier {
    /// What meets what.
    pub kind: PairKind,
    /// The distance ξ that is never reached [m].
    pub offset: f64,
    /// How far beyond it something pushes, d̂ [m].
    pub reach: f64,
    /// κ [J].
    pub stiffness: f64,
    /// The square of the area between two edges below which they count as parallel [m⁴]; 0 for a point and a triangle.
    pub parallel: f64,
}

/// What a barrier does to four points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repulsion {
    /// Energy [J].
    pub energy: f64,
    /// Its gradient by every point [N].
    pub gradient: [DVec3; 4],
    /// The closest points: the distance d changes by Σ weights · normal · how far points move [1].
    pub weights: [f64; 4],
    /// Unit vector from the second feature to the first.
    pub normal: DVec3,
    /// How hard both are pushed apart along the normal [N].
    pub push: f64,
    /// The part of the second derivative by d that resists [N/m].
    pub curvature: f64,
}

impl PairBarrier {
    /// What it does to features at these points, `None` if they are too far apart [m].
    pub fn at(&self, points: &[DVec3; 4]) -> Option<Repulsion> {
        let near = closest(self.kind, points);
        let distance = near.vector.length();
        let [energy, push, curvature] = self.along(distance)?;
        let normal = near.vector / distance;
        let (e, slope) = mollifier(self.parallel, points);
        let gradient =
            std::array::from_fn(|k| normal * (-e * push * near.weights[k]) + slope[k] * energy);
        let (energy, push, curvature) = (e * energy, e * push, e * curvature);
        Some(Repulsion { energy, gradient, weights: near.weights, normal, push, curvature })
    }

    /// Energy [J], push [N] and curvature [N/m] at a distance [m], `None` if nothing pushes there.
    pub fn along(&self, distance: f64) -> Option<[f64; 3]> {
        let used = (self.offset + self.reach - distance) / self.reach;
        if used <= 0.0 {
            return None;
        }
        let ([b, slope, curvature], k) = (log_barrier(used), self.stiffness);
        Some([k * b, k * slope / self.reach, k * curvature / (self.reach * self.reach)])
    }
}

/// IPC's eq. 24 of two edges, 2 c/ε - (c/ε)² for c = |a × b|² below ε [m⁴], else 1; and its gradient by the four points [1/m].
fn mollifier(parallel: f64, points: &[DVec3; 4]) -> (f64, [DVec3; 4]) {
    let (a, b) = (points[1] - points[0], points[3] - points[2]);
    let share = a.cross(b).length_squared() / parallel;
    // Without a bound the share is infinite or not a number.
    if share.is_nan() || share >= 1.0 {
        return (1.0, [DVec3::ZERO; 4]);
    }
    let slope = 4.0 * (1.0 - share) / parallel;
    let by_a = (a * b.length_squared() - b * a.dot(b)) * slope;
    let by_b = (b * a.length_squared() - a * a.dot(b)) * slope;
    (share * (2.0 - share), [-by_a, by_a, -by_b, by_b])
}
