//! Resistance to a change of direction along three particles a, b, c.
//!
//! s = (c - b)/l₂ - (b - a)/l₁ is the difference of the two edge directions: the turning angle, while lengths are kept. It is linear in the
//! positions, so force and damping need no root and the derivative is constant.

use crate::math::DVec3;

/// s for points a, b, c and one over the two rest lengths [1].
pub fn turn([a, b, c]: [DVec3; 3], [ia, ic]: [f64; 2]) -> DVec3 {
    (c - b) * ic - (b - a) * ia
}

/// Energy k |s|² / 2 [J].
pub fn energy(points: [DVec3; 3], inverse_lengths: [f64; 2], stiffness: f64) -> f64 {
    0.5 * stiffness * turn(points, inverse_lengths).length_squared()
}

/// Forces on a, b and c [N] at points and velocities: -(k s + c ds/dt) · ∂s/∂(a, b, c).
pub fn forces(
    points: [DVec3; 3],
    velocities: [DVec3; 3],
    inverse_lengths: [f64; 2],
    stiffness: f64,
    damping: f64,
) -> [DVec3; 3] {
    let [ia, ic] = inverse_lengths;
    let moment = turn(points, inverse_lengths) * stiffness + turn(velocities, inverse_lengths) * damping;
    [-moment * ia, moment * (ia + ic), -moment * ic]
}
