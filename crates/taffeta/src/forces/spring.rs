//! The spring with a damper (P2 §3.3, P4, P5) between two particles.

use super::choi_ko::{ByLength, Damper, Profile};
use crate::math::{DMat3, DVec3};

/// Below this squared length a spring has no direction and pushes nowhere [m²].
pub(super) const NO_DIRECTION: f64 = 1e-60;

/// Energy k (|d| - L)² / 2 of a spring that reaches over `d` [J].
pub fn energy(d: DVec3, rest_length: f64, stiffness: f64) -> f64 {
    0.5 * stiffness * (d.length() - rest_length).powi(2)
}

/// Force on the first particle of a spring that reaches over `d` to the second, which moves away with `rate` [N]:
/// (k (|d| - L) + c n·rate) n with n = d / |d|; the second gets the opposite.
pub fn force(d: DVec3, rate: DVec3, rest_length: f64, stiffness: f64, damping: f64) -> DVec3 {
    let inverse = 1.0 / d.length_squared().max(NO_DIRECTION).sqrt();
    d * (stiffness * (1.0 - rest_length * inverse) + damping * d.dot(rate) * inverse * inverse)
}

/// The derivative of the force on the first particle by `d` [N/m]: k (n nᵀ + (1 - L/|d|)(I - n nᵀ)).
pub fn derivative(d: DVec3, rest_length: f64, stiffness: f64) -> DMat3 {
    let squared = d.length_squared().max(NO_DIRECTION);
    let across = 1.0 - rest_length / squared.sqrt();
    let along = DMat3::from_cols(d * d.x, d * d.y, d * d.z) * (stiffness * (1.0 - across) / squared);
    along + DMat3::from_diagonal(DVec3::splat(stiffness * across))
}

/// A spring with a damper as an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DampedSpring {
    /// Length without force [m].
    pub rest_length: f64,
    /// Force per change of length [N/m].
    pub stiffness: f64,
    /// What damps it.
    pub damper: Damper,
}

impl ByLength for DampedSpring {
    fn profile(&self, length: f64) -> Profile {
        let (k, excess) = (self.stiffness, length - self.rest_length);
        Profile { energy: 0.5 * k * excess * excess, slope: k * excess, curvature: k }
    }

    fn damper(&self) -> Damper {
        self.damper
    }
}
