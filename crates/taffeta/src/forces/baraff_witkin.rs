//! Stretch and shear of a triangle by conditions (Baraff & Witkin 1998, P4), in the units of a laboratory.
//!
//! w_u and w_v are how the triangle draws out one metre of warp and of weft: linear in the corners, w_u = Σ a_i x_i with Σ a_i = 0. The
//! conditions are |w_u| - 1, |w_v| - 1 and w_u·w_v: strain along warp and weft, and the shear angle while it is small. Baraff & Witkin
//! multiply each by the area and then square it, so that their stiffness depends on the mesh; here the energy is area × k C²/2, so that k
//! is the tensile or shear stiffness of the fabric in N/m on any triangulation.

use super::element::{Blocks, Element, outer, weighted};
use super::spring;
use crate::math::{DMat3, DVec3};

/// A triangle of cloth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MembraneTriangle {
    /// Weights of the corners in w_u and in w_v [1/m].
    weights: [[f64; 3]; 2],
    /// Area × stiffness of warp, weft and shear [J].
    stiffness: [f64; 3],
    /// Area × damping of warp, weft and shear [J·s].
    damping: [f64; 3],
}

/// w_u and w_v of positions or of velocities.
pub type Frame = [DVec3; 2];

/// Second derivatives by (w_u, w_v): uu, uv, vv.
type Curvature = [DMat3; 3];

impl MembraneTriangle {
    /// From material coordinates (u, v) of its corners [m], stiffness of warp, weft and shear [N/m] and the time of Kelvin-Voigt damping [s];
    /// nothing if the corners lie on a line.
    pub fn new(material: [[f64; 2]; 3], stiffness: [f64; 3], damping_time: f64) -> Option<Self> {
        let [[u0, v0], [u1, v1], [u2, v2]] = material;
        let ([u1, v1], [u2, v2]) = ([u1 - u0, v1 - v0], [u2 - u0, v2 - v0]);
        let det = u1 * v2 - u2 * v1;
        let longest = (u1 * u1 + v1 * v1).max(u2 * u2 + v2 * v2);
        // As thin as `model::topology` takes for a line.
        if !(det.abs() > 1e-6 * longest && det.is_finite()) {
            return None;
        }
        let weights = [[v1 - v2, v2, -v1], [u2 - u1, -u2, u1]].map(|w| w.map(|w| w / det));
        let stiffness = stiffness.map(|k| 0.5 * det.abs() * k);
        Some(Self { weights, stiffness, damping: stiffness.map(|k| damping_time * k) })
    }

    /// Weights of the corners in w_u and in w_v [1/m].
    pub fn weights(&self) -> [[f64; 3]; 2] {
        self.weights
    }

    /// w_u and w_v of positions or of velocities.
    #[inline(always)]
    pub fn frame(&self, of: &[DVec3; 3]) -> Frame {
        self.weights.each_ref().map(|w| weighted(w, of))
    }

    #[inline(always)]
    fn spread(&self, [by_u, by_v]: Frame) -> [DVec3; 3] {
        let [a, b] = &self.weights;
        std::array::from_fn(|i| by_u * -a[i] - by_v * b[i])
    }

    #[inline(always)]
    fn spread_blocks(&self, [uu, uv, vv]: Curvature) -> Blocks<3> {
        let ([a, b], vu) = (&self.weights, uv.transpose());
        // Filled in place, as in `element::spread_blocks`.
        let mut blocks = [[DMat3::ZERO; 3]; 3];
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            blocks[i][j] = uu * (-a[i] * a[j]) - uv * (a[i] * b[j]) - vu * (b[i] * a[j]) - vv * (b[i] * b[j]);
        }
        blocks
    }

    /// Rates of the three conditions [1/s] while the corners move, and the directions of w_u and w_v.
    fn rates(&self, [wu, wv]: Frame, v: &[DVec3; 3]) -> ([f64; 3], Frame) {
        let [ru, rv] = self.frame(v);
        let [nu, nv] = [wu, wv].map(DVec3::normalize_or_zero);
        ([nu.dot(ru), nv.dot(rv), ru.dot(wv) + wu.dot(rv)], [nu, nv])
    }

    /// The symmetric part of the derivative of [`Element::damping`] by the positions [N/m]: -c (dC/dt) ∂²C.
    ///
    /// Baraff & Witkin keep it and drop the other part, -c ∂C (∂(dC/dt))ᵀ, which is not symmetric. It may have eigenvalues of either sign.
    pub fn damping_by_position(&self, x: &[DVec3; 3], v: &[DVec3; 3]) -> Blocks<3> {
        let frame = self.frame(x);
        let (rates, n) = self.rates(frame, v);
        let [warp, weft, shear] = [0, 1, 2].map(|k| self.damping[k] * rates[k]);
        let sideways = |k: usize, force: f64| {
            let length = frame[k].length();
            let across = if length > 0.0 { force / length } else { 0.0 };
            (DMat3::IDENTITY - outer(n[k], n[k])) * across
        };
        self.spread_blocks([sideways(0, warp), DMat3::IDENTITY * shear, sideways(1, weft)])
    }
}

impl Element<3> for MembraneTriangle {
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        let [wu, wv] = self.frame(x);
        let [warp, weft, shear] = self.stiffness;
        spring::energy(wu, 1.0, warp) + spring::energy(wv, 1.0, weft) + 0.5 * shear * wu.dot(wv).powi(2)
    }

    #[inline(always)]
    fn forces(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        let [wu, wv] = self.frame(x);
        let [warp, weft, shear] = self.stiffness;
        let tension = shear * wu.dot(wv);
        // |w_u| - 1 is the lengthening of a spring that reaches over w_u and rests at 1.
        let pull = |w: DVec3, stiffness: f64| spring::force(w, DVec3::ZERO, 1.0, stiffness, 0.0);
        self.spread([pull(wu, warp) + wv * tension, pull(wv, weft) + wu * tension])
    }

    fn derivative(&self, x: &[DVec3; 3]) -> Blocks<3> {
        let [wu, wv] = self.frame(x);
        let [warp, weft, shear] = self.stiffness;
        let mixed = (outer(wv, wu) + DMat3::IDENTITY * wu.dot(wv)) * shear;
        self.spread_blocks([
            spring::derivative(wu, 1.0, warp) + outer(wv, wv) * shear,
            mixed,
            spring::derivative(wv, 1.0, weft) + outer(wu, wu) * shear,
        ])
    }

    /// What is indefinite is projected, in closed form. A stretched thread resists sideways motion; a compressed one would help it, and
    /// that is left out. The shear's second part, tension × (a bᵀ + b aᵀ), has the eigenvectors â ± b̂ with values of opposite sign;
    /// the resisting one stays. Projecting loses less than dropping: a sheet sheared by its load keeps the stiffness that the load gives it.
    #[inline(always)]
    fn safe_derivative(&self, x: &[DVec3; 3]) -> Blocks<3> {
        let [wu, wv] = self.frame(x);
        let [warp, weft, shear] = self.stiffness;
        let [a, b] = self.weights.map(|w| DVec3::from(w).length());
        let half = 0.5 * shear * wu.dot(wv);
        let thread = |w: DVec3, stiffness: f64, size: f64| {
            let n = w.normalize_or_zero();
            let length = w.length();
            let across = if length > 1.0 { stiffness * (1.0 - 1.0 / length) } else { 0.0 };
            outer(n, n) * (stiffness - across) + DMat3::IDENTITY * (across + half.abs() * size)
        };
        self.spread_blocks([
            thread(wu, warp, b / a) + outer(wv, wv) * shear,
            outer(wv, wu) * shear + DMat3::IDENTITY * half,
            thread(wv, weft, a / b) + outer(wu, wu) * shear,
        ])
    }

    fn damping(&self, x: &[DVec3; 3], v: &[DVec3; 3]) -> [DVec3; 3] {
        let [wu, wv] = self.frame(x);
        let (rates, [nu, nv]) = self.rates([wu, wv], v);
        let [warp, weft, shear] = [0, 1, 2].map(|k| self.damping[k] * rates[k]);
        self.spread([nu * warp + wv * shear, nv * weft + wu * shear])
    }

    #[inline(always)]
    fn damping_derivative(&self, x: &[DVec3; 3]) -> Blocks<3> {
        let [wu, wv] = self.frame(x);
        let [nu, nv] = [wu, wv].map(DVec3::normalize_or_zero);
        let [warp, weft, shear] = self.damping;
        self.spread_blocks([
            outer(nu, nu) * warp + outer(wv, wv) * shear,
            outer(wv, wu) * shear,
            outer(nv, nv) * weft + outer(wu, wu) * shear,
        ])
    }
}
