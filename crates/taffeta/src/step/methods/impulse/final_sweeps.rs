//! The end of a step by impulses: sweeps that bring it to its tolerance.

use super::{INFEASIBLE, Impulse};
use crate::math::Vec4;
use crate::solve::strips::tridiagonal::Limits;
use crate::step::driver::StepContext;

/// The most sweeps that bring the end of a step to its tolerance, and how many may pass without gaining a tenth.
pub(super) const MOST_SWEEPS: u32 = 300;
const STALLED: u32 = 60;
/// In the last sweeps edges go beyond what a strip alone asks for, more from sweep to sweep, as Chebyshev's polynomials say if this is left of the slowest error when
/// all strips are answered at once.
const SLOWEST: f64 = 0.995;
/// After so many sweeps that gained nothing edges go no further than a strip asks for: crumpled cloth has errors that the polynomials do not know.
const AMISS: u32 = 15;
/// In the last sweeps edges may give by this share of the tolerance.
const LAST_GIVE: f64 = 0.5;

impl Impulse {
    /// Sweeps from a largest `strain` until all is within the tolerance or nothing is gained; returns the strain that is left.
    pub(super) fn sweep_to_tolerance(&mut self, step: &mut StepContext, h: f64, mut strain: f64) -> f64 {
        let model = step.model;
        let rows = self.lengths.strips.rows;
        let (mut best, mut sweeps, mut best_at) = (strain, 0, 0);
        if strain <= model.tolerance {
            return strain;
        }
        let mut last = Limits { most_give: LAST_GIVE * model.tolerance, ..Limits::NONE };
        step.boundary.stop();
        self.grip.fill(Vec4::ZERO);
        self.saved_tension[..rows].copy_from_slice(&self.tension[..rows]);
        let iterations_per_substep = self.lengths.iterations_per_substep;
        let most = model
            .max_iterations
            .map_or(MOST_SWEEPS * iterations_per_substep, |most| most - step.report.iterations);
        while strain > model.tolerance && sweeps < most.min(best_at + STALLED * iterations_per_substep) {
            self.links.sew(model, &mut self.q);
            self.correct(last, strain >= INFEASIBLE, 0.0);
            self.touch(step, h);
            strain = self.lengths.strain(&self.q);
            // Contacts and seams do not go beyond what they ask for.
            let touches = model.touches() && self.grip.iter().any(|grip| grip.0[3] > 0.0);
            let alone = model.links.ends.is_empty() && !touches;
            sweeps += 1;
            if strain < 0.9 * best {
                (best, best_at) = (strain, sweeps);
            }
            let gains = sweeps - best_at <= AMISS * iterations_per_substep;
            last.over_relaxation =
                if alone && gains { 4.0 / (4.0 - SLOWEST * SLOWEST * last.over_relaxation) } else { 1.0 };
        }
        // What these sweeps moved without a velocity is not tension that the next step may start from.
        self.tension[..rows].copy_from_slice(&self.saved_tension[..rows]);
        step.report.iterations += sweeps;
        strain
    }
}
