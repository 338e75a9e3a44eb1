//! Resistance of a quad to twist: to the gap between its two diagonals where they cross at rest.
//!
//! c = Σ w_i x_i is twice that gap ([`crate::model::Twists`]). On a grid with cells of dx by dy it is dx dy x,12, so a plate's energy
//! ½ 4 D66 x,12² per area is ½ k |c|² with k = 4 D66 / (dx dy). Linear in the positions as [`super::bend`].

use super::element::{spread, weighted};
use crate::math::DVec3;

/// Energy k |c|² / 2 [J].
pub fn energy(points: [DVec3; 4], weights: [f64; 4], stiffness: f64) -> f64 {
    0.5 * stiffness * weighted(&weights, &points).length_squared()
}

/// Forces on the corners [N] at points and velocities.
pub fn forces(
    points: [DVec3; 4],
    velocities: [DVec3; 4],
    weights: [f64; 4],
    stiffness: f64,
    damping: f64,
) -> [DVec3; 4] {
    spread(&weights, weighted(&weights, &points) * stiffness + weighted(&weights, &velocities) * damping)
}
