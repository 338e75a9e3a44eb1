//! The end of a step by impulses: sweeps that bring it to its tolerance.

use super::Impulse;
use crate::math::Vec4;
use crate::model::Model;
use crate::solve::strips::tridiagonal::Limits;
use crate::step::driver::StepContext;

impl Impulse {
    /// The largest strain, or the largest opening of a sewn seam that is not given up, as many times the tolerance of lengths as it is that of seams [1].
    pub(super) fn error(&mut self, model: &Model) -> f64 {
        let strain = self.lengths.strain(&self.q);
        self.error_with(model, strain)
    }

    /// The same with a known strain [1].
    fn error_with(&self, model: &Model, strain: f64) -> f64 {
        if self.links.has_given_up() {
            return strain;
        }
        let open = self.links.open(model, &self.q) / self.params.seam_tolerance;
        strain.max(model.tolerance * open)
    }

    /// Sweeps until all is within the tolerance or nothing is gained; returns the strain that is left. Where seams cannot be closed lengths are kept without
    /// them.
    pub(super) fn sweep_to_tolerance(&mut self, step: &mut StepContext, h: f64) -> f64 {
        let model = step.model;
        let before = self.error(model);
        if model.links.ends.is_empty() || self.links.has_given_up() {
            return self.sweep_from(step, h, before);
        }
        self.before_sweeps.copy_from_slice(&self.q);
        let hopeless = self.links.open(model, &self.q) > self.params.closed_by_sweeps;
        if hopeless || self.sweep_from(step, h, before) > model.tolerance {
            self.q.copy_from_slice(&self.before_sweeps);
            self.links.give_up();
            let strain = self.error(model);
            let strain = self.sweep_from(step, h, strain);
            self.links.hold_open(model, &self.q);
            return strain;
        }
        self.lengths.strain(&self.q)
    }

    /// Sweeps from a largest `error` until all is within the tolerance or nothing is gained; returns the error that is left.
    fn sweep_from(&mut self, step: &mut StepContext, h: f64, mut error: f64) -> f64 {
        let model = step.model;
        let (rows, radius) = (self.lengths.strips.rows, self.params.spectral_radius);
        let (mut best, mut sweeps, mut best_at) = (error, 0, 0);
        if error <= model.tolerance {
            return error;
        }
        let mut lengths_kept = self.lengths.strain(&self.q) <= model.tolerance;
        let mut last = Limits { most_give: self.params.last_give * model.tolerance, ..Limits::NONE };
        step.stop_bodies();
        self.grip.fill(Vec4::ZERO);
        self.saved_tension[..rows].copy_from_slice(&self.tension[..rows]);
        let iterations_per_substep = self.lengths.iterations_per_substep;
        let most = model
            .max_iterations
            .map_or(self.params.last_sweeps * iterations_per_substep, |most| most - step.report.iterations)
            .min(step.iterations_left());
        while error > model.tolerance
            && sweeps < most.min(best_at + self.params.stalled_sweeps * iterations_per_substep)
        {
            self.pull_stitches(model, sweeps == 0);
            self.correct(last, error >= self.params.infeasible_strain, 0.0, false);
            self.touch(step, h);
            let strain = self.lengths.strain(&self.q);
            error = self.error_with(model, strain);
            self.sweeps_for_lengths += u32::from(!lengths_kept);
            lengths_kept |= strain <= model.tolerance;
            // Contacts and seams do not go beyond what they ask for.
            let touches = model.touches() && self.grip.iter().any(|grip| grip.0[3] > 0.0);
            let alone = model.links.ends.is_empty() && !touches;
            sweeps += 1;
            if error < 0.9 * best {
                (best, best_at) = (error, sweeps);
            }
            let gains = sweeps - best_at <= self.params.relaxed_sweeps * iterations_per_substep;
            self.slips |= !gains && touches;
            if let Some(pipeline) = step.pipeline.as_mut().filter(|_| self.slips) {
                pipeline.let_slip();
            }
            last.over_relaxation =
                if alone && gains { 4.0 / (4.0 - radius * radius * last.over_relaxation) } else { 1.0 };
        }
        // What these sweeps moved without a velocity is not tension that the next step may start from.
        self.tension[..rows].copy_from_slice(&self.saved_tension[..rows]);
        self.slips = false;
        step.report.iterations += sweeps;
        error
    }
}
