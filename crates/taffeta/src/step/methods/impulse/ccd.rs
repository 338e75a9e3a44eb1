//! Impulses under CCD: what it has stretched is mended, and free bodies stay rigid.

use super::Impulse;
use super::workers::CHUNK;
use crate::math::{DVec3, Vec4};
use crate::model::Model;
use crate::parallel;
use crate::solve::strips::tridiagonal::Limits;
use crate::step::driver::{StepContext, Window};
use crate::step::rigid_bodies;

impl Impulse {
    /// See [`Integrator::mend`](crate::step::methods::Integrator::mend), at the time `end` [s].
    pub(super) fn mend_lengths(&mut self, step: &mut StepContext, end: f64) {
        let (model, h) = (step.model, self.h);
        let n = model.particle_count();
        // The strain that sweeps left.
        let mut left = 0.0_f64;
        let hopeless = !self.lengths_kept && !self.controller.may_reach();
        // Among contacts that are found anew they may close.
        self.links.take_up();
        for round in 0..self.params.mends {
            let kept = left.max(self.error(model)) <= model.tolerance;
            let stalled = round > 0 && left > model.tolerance;
            if kept || stalled || hopeless || step.iterations_left() == 0 {
                break;
            }
            for ((x, y), q) in self.x[..n].iter_mut().zip(&mut self.y).zip(&self.q) {
                let moved = *q - *x;
                *x += Vec4([moved.0[0], moved.0[1], moved.0[2], 0.0]);
                *y += Vec4([moved.0[0], moved.0[1], moved.0[2], 0.0]);
            }
            let Some(pipeline) = &mut step.pipeline else { break };
            // Nothing falls meanwhile, and nothing has to be held up.
            pipeline.begin_step();
            pipeline.begin(model, [end; 2], |i| self.x[i].xyz(), |_| DVec3::ZERO);
            pipeline.begin_substep(model, [end; 2]);
            left = self.sweep_to_tolerance(step, h);
            self.stiffen_bodies(model);
            let Some(pipeline) = &mut step.pipeline else { break };
            pipeline.end(|i| self.q[i].xyz());
            step.report.ccd += pipeline.resolve();
            for (q, end) in self.q.iter_mut().zip(pipeline.ends()) {
                *q = Vec4([end.x, end.y, end.z, q.0[3]]);
            }
        }
        self.lengths_kept = left.max(self.lengths.strain(&self.q)) <= model.tolerance;
    }

    /// See [`Integrator::answer_learned`](crate::step::methods::Integrator::answer_learned): sweeps over lengths, seams and contacts at the end of a window.
    pub(super) fn sweep_learned(&mut self, step: &mut StepContext, window: &Window) {
        let (model, rows) = (step.model, self.lengths.strips.rows);
        let last = Limits { most_give: self.params.last_give * model.tolerance, ..Limits::NONE };
        let most = self.params.learning_sweeps * self.lengths.iterations_per_substep;
        let enough = self.lengths.strain(&self.q).max(model.tolerance);
        self.saved_tension[..rows].copy_from_slice(&self.tension[..rows]);
        self.saved_ends.clone_from(&self.q);
        step.stop_bodies();
        for sweep in 1..=most {
            self.pull_stitches(model, sweep == 1);
            self.correct(last, false, 0.0, false);
            self.touch(step, window.h);
            step.report.iterations += 1;
            if sweep > 1 && self.lengths.strain(&self.q) <= enough {
                break;
            }
        }
        self.tension[..rows].copy_from_slice(&self.saved_tension[..rows]);
        self.follow(0.0);
        let n = model.particle_count();
        if let Some(pipeline) = &mut step.pipeline {
            pipeline.stop_approach(&self.x, &mut self.y[..n], window.h);
        }
    }

    /// What moved ends from where they were saved, at the end of a window, changes velocities too.
    pub(super) fn follow(&mut self, share: f64) {
        let (ends, saved) = (&self.q, &self.saved_ends);
        parallel::each_two(&mut self.x, &mut self.y, CHUNK, |i, x, y| {
            let way = (ends[i] - saved[i]).xyz();
            if way != DVec3::ZERO {
                *x += Vec4::from(way);
                *y += Vec4::from(way + share * way);
            }
        });
    }

    /// The end of a sub-step is the start of the next for free bodies: they are made rigid, and lead on by what they moved.
    pub(super) fn lead_bodies(&mut self, model: &Model) {
        for i in model.cloth_particle_count()..model.particle_count() {
            self.y[i] = self.q[i];
        }
        self.stiffen_bodies(model);
    }

    /// Makes free bodies rigid where they are; the ways that lead them on keep their momenta.
    pub(super) fn stiffen_bodies(&mut self, model: &Model) {
        let nodes = model.cloth_particle_count()..model.particle_count();
        for i in nodes.clone() {
            self.y[i] = self.y[i] - self.x[i];
        }
        rigid_bodies::stiffen(model, &mut self.q, &mut self.y);
        for i in nodes {
            let (end, way) = (self.q[i].xyz(), self.y[i].xyz());
            (self.x[i], self.y[i]) = (end.into(), (end + way).into());
            self.y[i].0[3] = 1.0;
        }
    }
}
