//! What joins particles that no element joins: contacts (P4's second matrix A^c) and gas that fills a closed mesh.
//!
//! Neither has a place in the pattern of a matrix: contacts come and go, and gas joins every particle with every other. So they are
//! kept as what they are and applied in the product.

use crate::math::{DMat3, DVec3, Vec4};

/// A block for the point Σ w_i x_i of up to four particles: the matrix w_i w_j B. Particles with the weight 0 do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupling {
    /// The particles.
    pub particles: [u32; 4],
    /// Their weights [1].
    pub weights: [f64; 4],
    /// The block B, symmetric and positive semi-definite.
    pub block: DMat3,
}

impl Coupling {
    /// Whether it joins different particles.
    pub(super) fn joins(&self) -> bool {
        self.weights.iter().filter(|w| **w != 0.0).count() > 1
    }

    /// Adds its product with x to y, without the diagonal.
    pub(super) fn add_product(&self, x: &[Vec4], y: &mut [Vec4]) {
        let members = || self.particles.iter().zip(&self.weights).filter(|(_, w)| **w != 0.0);
        let whole = members().fold(DVec3::ZERO, |sum, (i, w)| sum + x[*i as usize].xyz() * *w);
        for (&i, &w) in members() {
            let others = whole - x[i as usize].xyz() * w;
            y[i as usize] += (self.block * others * w).into();
        }
    }
}

/// A matrix of rank one, factor × g gᵀ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankOneUpdate {
    /// The factor, not negative.
    pub factor: f64,
    /// The particles of g.
    pub particles: Vec<u32>,
    /// The vector g, particle by particle.
    pub gradient: Vec<Vec4>,
}

impl RankOneUpdate {
    /// Adds its product with x to y.
    pub(super) fn add_product(&self, x: &[Vec4], y: &mut [Vec4]) {
        let members = || self.particles.iter().zip(&self.gradient);
        let sum = members().fold(Vec4::ZERO, |sum, (i, g)| sum + x[*i as usize] * *g);
        let along = self.factor * (sum.0[0] + sum.0[1] + sum.0[2]);
        members().for_each(|(i, g)| y[*i as usize] += *g * along);
    }
}
