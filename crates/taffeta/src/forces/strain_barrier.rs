//! An edge that cannot become longer than its bound (C-IPC, Li et al. 2021, §5): nothing pulls up to a length, and no force is enough to reach another.
//!
//! C-IPC bounds the singular values of the deformation of triangles. Here edges are bounded, because edges are what all methods keep.

use super::choi_ko::{ByLength, Damper, Profile};
use crate::math::log_barrier::log_barrier;

/// Energy κ b(t) with t = (l - from)/(bound - from).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrainBarrier {
    /// The length up to which it does nothing [m].
    pub from: f64,
    /// The length that it never reaches, more than `from` [m].
    pub bound: f64,
    /// κ [J].
    pub stiffness: f64,
}

impl ByLength for StrainBarrier {
    fn profile(&self, length: f64) -> Profile {
        let reach = self.bound - self.from;
        let [energy, slope, curvature] = log_barrier((length - self.from) / reach);
        let k = self.stiffness;
        Profile { energy: k * energy, slope: k * slope / reach, curvature: k * curvature / (reach * reach) }
    }

    fn damper(&self) -> Damper {
        Damper::default()
    }
}
