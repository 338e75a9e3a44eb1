//! Resistance of a triangle to the curvature and twist of its patch: an orthotropic plate that rests flat.
//!
//! U = ½ A (D11 |x,11|² + D22 |x,22|² + D66 |2 x,12|²). While lengths are kept these vectors are the curvatures times the normal, so this
//! is the energy of a thin plate without Poisson's effect. It is quadratic in the positions: its matrix is constant, definite and alike along
//! all axes, and forces stay finite for any shape. What weighs how much in a patch is geometry at rest
//! (`crates/taffeta-scene/src/build/plates.rs`).

use crate::math::DVec3;
use crate::model::PlatePatch;

/// x,11, x,22 and 2 x,12 of a patch [1/m].
pub fn curvatures(patch: &PlatePatch, x: impl Fn(u32) -> DVec3) -> [DVec3; 3] {
    let mut sums = [DVec3::ZERO; 3];
    for (i, weights) in patch.points.iter().zip(patch.weights) {
        sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += x(*i) * *w);
    }
    sums
}

/// Energy of a patch [J].
pub fn energy(patch: &PlatePatch, x: impl Fn(u32) -> DVec3) -> f64 {
    let curvatures = curvatures(patch, x);
    0.5 * curvatures.iter().zip(patch.stiffness).map(|(c, k)| k * c.length_squared()).sum::<f64>()
}

/// Forces of stiffness and dampers on the particles of a patch [N].
pub fn forces(
    patch: &PlatePatch,
    x: impl Fn(u32) -> DVec3,
    v: impl Fn(u32) -> DVec3,
) -> impl Iterator<Item = DVec3> {
    let (now, rate) = (curvatures(patch, x), curvatures(patch, v));
    let moments: [DVec3; 3] =
        std::array::from_fn(|k| now[k] * patch.stiffness[k] + rate[k] * patch.damping[k]);
    patch.weights.iter().map(move |w| -(moments[0] * w[0] + moments[1] * w[1] + moments[2] * w[2]))
}
