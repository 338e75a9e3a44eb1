//! Windows of time in which the contact pipeline watches over impulses: begun, settled, and what that has stretched mended.

use super::Impulse;
use crate::collide::{CcdStats, ContactPipeline};
use crate::math::{DVec3, Vec4};
use crate::model::Model;
use crate::step::StepReport;
use crate::step::rigid_bodies;
use std::time::Instant;

/// How often what the contact pipeline has stretched is brought back to tolerance.
const MENDS: u32 = 3;

impl Impulse {
    /// What the contact pipeline has stretched comes back to tolerance where there is room: sweeps that take no time, under the contact pipeline. Velocities stay.
    pub(super) fn mend(
        &mut self,
        pipeline: &mut ContactPipeline,
        model: &Model,
        end: f64,
        h: f64,
        report: &mut StepReport,
    ) {
        let n = model.particle_count();
        let mut strain = self.lengths.strain(&self.q);
        for _ in 0..MENDS {
            if strain <= model.tolerance || !report.converged {
                break;
            }
            for ((x, y), q) in self.x[..n].iter_mut().zip(&mut self.y).zip(&self.q) {
                let moved = *q - *x;
                *x += Vec4([moved.0[0], moved.0[1], moved.0[2], 0.0]);
                *y += Vec4([moved.0[0], moved.0[1], moved.0[2], 0.0]);
            }
            let still = std::iter::repeat_n(DVec3::ZERO, n);
            // Nothing falls meanwhile, and nothing has to be held up.
            pipeline.begin_step();
            pipeline.begin(model, [end; 2], self.x[..n].iter().map(|x| x.xyz()), still);
            pipeline.begin_substep(model, [end; 2]);
            strain = self.sweep_to_tolerance(model, Some(pipeline), h, strain, report);
            self.stiffen_bodies(model);
            report.settled += pipeline.resolve(self.q[..n].iter().map(|q| q.xyz()));
            for (q, end) in self.q.iter_mut().zip(pipeline.ends()) {
                *q = Vec4([end.x, end.y, end.z, q.0[3]]);
            }
            strain = strain.max(self.lengths.strain(&self.q));
        }
        report.converged &= strain <= model.tolerance;
    }

    /// Starts a window of time for the contact pipeline and returns how many sub-steps it has.
    pub(super) fn begin_window(
        &mut self,
        pipeline: &mut ContactPipeline,
        model: &Model,
        start: f64,
        (k, count): (u32, u32),
        h: f64,
    ) -> u32 {
        let begun = Instant::now();
        let n = model.particle_count();
        let ways = self.x[..n].iter().zip(&self.y).map(|(x, y)| (*y - *x).xyz());
        let substeps = pipeline.substeps(ways.clone()).min(count - k);
        let times = [k, k + substeps].map(|k| start + f64::from(k) * h);
        let ways = ways.map(|way| f64::from(substeps) * way);
        pipeline.begin(model, times, self.x[..n].iter().map(|x| x.xyz()), ways);
        self.stages.add("find contacts", begun.elapsed().as_secs_f64());
        substeps
    }

    /// Ends a window of so many sub-steps: what the contact pipeline moves changes velocities too.
    pub(super) fn settle(
        &mut self,
        pipeline: &mut ContactPipeline,
        model: &Model,
        substeps: f64,
    ) -> CcdStats {
        let begun = Instant::now();
        self.stiffen_bodies(model);
        let n = pipeline.ends().len();
        let settled = pipeline.resolve(self.q[..n].iter().map(|q| q.xyz()));
        for (((q, x), y), end) in self.q.iter_mut().zip(&mut self.x).zip(&mut self.y).zip(pipeline.ends()) {
            let way = *end - q.xyz();
            if way != DVec3::ZERO {
                *q = Vec4([end.x, end.y, end.z, q.0[3]]);
                *x += Vec4::from(way);
                *y += Vec4::from(way + way / substeps);
            }
        }
        self.stiffen_bodies(model);
        self.stages.add("guard", begun.elapsed().as_secs_f64());
        settled
    }

    /// The end of a sub-step is the start of the next for free bodies: they are made rigid, and lead on by what they moved.
    pub(super) fn lead_bodies(&mut self, model: &Model) {
        for i in model.cloth_particle_count()..model.particle_count() {
            self.y[i] = self.q[i];
        }
        self.stiffen_bodies(model);
    }

    /// Makes free bodies rigid where they are; the ways that lead them on keep their momenta.
    fn stiffen_bodies(&mut self, model: &Model) {
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
