//! The largest step at which explicit integration of springs and dampers is stable.
//!
//! x⁺ = x + h v⁺, v⁺ = v - h M⁻¹ (K x + C v) is stable while h² K + 2 h C <= 4 M as quadratic forms (Jury's criterion mode by mode). For a spring,
//! (n·(x_a - x_b))² <= 2 (n·x_a)² + 2 (n·x_b)², so K is bounded by twice the 3x3 blocks on its diagonal, particle by particle;
//! for a bend or a twist, by Cauchy-Schwarz, by |s_i| Σ|s_j|. The bound is rigorous for the state at hand and exact for a flat grid.

use crate::math::{DMat3, Vec4, trig};
use crate::model::{Environment, Model};

/// Memory of the estimate: stiffness around every particle.
#[derive(Debug, Clone, Default)]
pub struct StableStep {
    /// Twice the diagonal blocks of springs [N/m]: xx, yy, zz, xy, xz, yz.
    springs: Vec<[f64; 6]>,
    /// The largest damping over stiffness of the springs around [s]: C is at most this times K.
    damping_time: Vec<f64>,
    /// Bound of bends and twists [N/m] and of their dampers [N·s/m]: constant.
    bends: Vec<[f64; 2]>,
}

impl StableStep {
    /// For a model; dampers and bends are bounded once.
    pub fn new(model: &Model) -> Self {
        let n = model.particle_count();
        let mut bends = vec![[0.0; 2]; n];
        for (b, points) in model.bends.points.iter().enumerate() {
            let [ia, ic] = model.bends.inverse_lengths[b];
            let total = 2.0 * (ia + ic);
            for (&i, share) in points.iter().zip([ia, ia + ic, ic]) {
                bends[i as usize][0] += model.bends.stiffness[b] * share * total;
                bends[i as usize][1] += model.bends.damping[b] * share * total;
            }
        }
        for (t, points) in model.twists.points.iter().enumerate() {
            let weights = model.twists.weights(t).map(f64::abs);
            let total: f64 = weights.iter().sum();
            for (&i, share) in points.iter().zip(weights) {
                bends[i as usize][0] += model.twists.stiffness[t] * share * total;
                bends[i as usize][1] += model.twists.damping[t] * share * total;
            }
        }
        let mut damping_time = vec![0.0_f64; n];
        for (s, ends) in model.springs.ends.iter().enumerate() {
            let time = model.springs.damping[s] / model.springs.stiffness[s];
            ends.iter().for_each(|i| damping_time[*i as usize] = damping_time[*i as usize].max(time));
        }
        Self { springs: vec![[0.0; 6]; n], damping_time, bends }
    }

    /// The largest stable step [s] around `positions`.
    pub fn at(&mut self, model: &Model, environment: &Environment, positions: &[Vec4]) -> f64 {
        self.gather_springs(model, positions);
        let steps = (0..positions.len()).map(|i| {
            let m = environment.inverse_mass[i];
            let stiffness = largest_eigenvalue(&self.springs[i]);
            let omega2 = m * (stiffness + self.bends[i][0]);
            let rate = m * (self.damping_time[i] * stiffness + self.bends[i][1]) + environment.air.damping;
            // The positive root of h² ω² + 2 h r = 4.
            if omega2 + rate > 0.0 {
                4.0 / (rate + (rate * rate + 4.0 * omega2).sqrt())
            } else {
                f64::INFINITY
            }
        });
        steps.fold(f64::INFINITY, f64::min)
    }

    fn gather_springs(&mut self, model: &Model, positions: &[Vec4]) {
        self.springs.fill([0.0; 6]);
        let (springs, links) = (&model.springs, &model.links);
        let numbers = springs.ends.iter().zip(&springs.rest_length).zip(&springs.stiffness);
        // A link counts as a spring that is sewn already: it resists no less then.
        let sewn = links.ends.iter().zip(&links.stitch_length).zip(&links.stiffness);
        for ((&[a, b], rest_length), stiffness) in numbers.chain(sewn) {
            let d = (positions[b as usize] - positions[a as usize]).xyz();
            let squared = d.length_squared().max(super::spring::NO_DIRECTION);
            // Under tension the spring also resists sideways; under compression it only helps to move.
            let across = (1.0 - rest_length / squared.sqrt()).max(0.0);
            let (along, plain) = (2.0 * stiffness * (1.0 - across) / squared, 2.0 * stiffness * across);
            let block = [
                along * d.x * d.x + plain,
                along * d.y * d.y + plain,
                along * d.z * d.z + plain,
                along * d.x * d.y,
                along * d.x * d.z,
                along * d.y * d.z,
            ];
            for i in [a as usize, b as usize] {
                (0..6).for_each(|k| self.springs[i][k] += block[k]);
            }
        }
    }
}

/// The largest eigenvalue of a symmetric matrix (xx, yy, zz, xy, xz, yz), by the cosine formula.
pub fn largest_eigenvalue(&[xx, yy, zz, xy, xz, yz]: &[f64; 6]) -> f64 {
    let mean = (xx + yy + zz) / 3.0;
    let off = xy * xy + xz * xz + yz * yz;
    let (dx, dy, dz) = (xx - mean, yy - mean, zz - mean);
    let p = ((dx * dx + dy * dy + dz * dz + 2.0 * off) / 6.0).sqrt();
    if p <= 1e-12 * mean {
        return mean;
    }
    let scaled = DMat3::from_cols_array(&[dx, xy, xz, xy, dy, yz, xz, yz, dz]) * (1.0 / p);
    let angle = trig::acos((0.5 * scaled.determinant()).clamp(-1.0, 1.0)) / 3.0;
    mean + 2.0 * p * trig::cos(angle)
}
