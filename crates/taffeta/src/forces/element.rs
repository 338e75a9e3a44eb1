//! What every element of cloth by forces tells of itself: one contract for two, three or four particles.

use crate::math::{DMat3, DVec3};

/// Derivatives of N forces by N positions [N/m] or velocities [N·s/m]: `blocks[i][j]` is ∂f_i/∂x_j.
pub type Blocks<const N: usize> = [[DMat3; N]; N];

/// An element over N particles at positions `x` [m], moving with `v` [m/s].
pub trait Element<const N: usize> {
    /// Energy stored [J].
    fn energy(&self, x: &[DVec3; N]) -> f64;

    /// Forces down the slope of the energy [N].
    fn forces(&self, x: &[DVec3; N]) -> [DVec3; N];

    /// The exact derivative of [`Element::forces`] by the positions [N/m]. It may push a solver the wrong way.
    fn derivative(&self, x: &[DVec3; N]) -> Blocks<N>;

    /// The part of it that only resists [N/m]: symmetric, with no positive eigenvalue, so that M - h² ∂f/∂x stays positive definite.
    fn safe_derivative(&self, x: &[DVec3; N]) -> Blocks<N>;

    /// Forces that resist motion [N]. They are linear in the velocities.
    fn damping(&self, x: &[DVec3; N], v: &[DVec3; N]) -> [DVec3; N];

    /// The derivative of [`Element::damping`] by the velocities [N·s/m]: symmetric, with no positive eigenvalue.
    ///
    /// Its derivative by the positions is left out of solvers: most of it is not symmetric.
    fn damping_derivative(&self, x: &[DVec3; N]) -> Blocks<N>;
}

/// Σ w_i x_i.
#[inline(always)]
pub(super) fn weighted<const N: usize>(weights: &[f64; N], x: &[DVec3; N]) -> DVec3 {
    weights.iter().zip(x).fold(DVec3::ZERO, |sum, (w, x)| sum + *x * *w)
}

/// Forces of an energy whose gradient by Σ w_i x_i is `slope`.
#[inline(always)]
pub(super) fn spread<const N: usize>(weights: &[f64; N], slope: DVec3) -> [DVec3; N] {
    weights.map(|w| slope * -w)
}

/// Derivatives of forces of an energy whose second derivative by Σ w_i x_i is `curvature`.
#[inline(always)]
pub(super) fn spread_blocks<const N: usize>(weights: &[f64; N], curvature: DMat3) -> Blocks<N> {
    // Filled in place: arrays of arrays that are mapped are moved about.
    let mut blocks = [[DMat3::ZERO; N]; N];
    for (row, a) in blocks.iter_mut().zip(weights) {
        row.iter_mut().zip(weights).for_each(|(block, b)| *block = curvature * (-a * b));
    }
    blocks
}

/// a bᵀ.
#[inline(always)]
pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of b -> a × b.
pub(super) fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}
