//! Seams in the impulse methods: links that only pull, implicit in time.

use crate::math::{DVec3, Vec4};
use crate::model::Model;

/// Shorter vectors have no direction [m].
const NO_LENGTH: f64 = 1e-30;

/// The links of a model in a sub-step.
#[derive(Debug)]
pub struct StitchSolver {
    /// Rest lengths at its end [m].
    rest_lengths: Vec<f64>,
    /// How far they are open at its start [m].
    open: Vec<f64>,
    /// Closing time over duration [1].
    sluggish: f64,
    /// Forces so far [N].
    forces: Vec<DVec3>,
}

impl StitchSolver {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let count = model.links.ends.len();
        let room = vec![0.0; count];
        Self { rest_lengths: room.clone(), open: room, sluggish: 0.0, forces: vec![DVec3::ZERO; count] }
    }

    /// Begins a sub-step from `time` on, of `h` [s], with particles at `x` [m].
    pub fn begin(&mut self, model: &Model, time: f64, h: f64, x: &[Vec4]) {
        self.sluggish = model.params.impulse.stitch_closing_time / h;
        self.forces.fill(DVec3::ZERO);
        for (l, ends) in model.links.ends.iter().enumerate() {
            let [a, b] = ends.map(|i| x[i as usize].xyz());
            self.open[l] = (a.distance(b) - model.links.rest_length(l, time)).max(0.0);
            self.rest_lengths[l] = model.links.rest_length(l, time + h);
        }
    }

    /// Draws the ends of links together.
    ///
    /// A link with the force f moves its ends by their mobilities b, the fourth numbers of `q`. The ends are d apart at `q`, so without the link they would
    /// be d + (b + b') f apart, e too far for the rest length. A spring with a damper, k ė τ, has at the end f = k (e₁ + (e₁ - e₀) τ/h) with
    /// e₁ = e - (b + b') f. The direction is that without the link: a stitch is so short that any other would swing about faster than sub-steps
    /// follow. Edges keep their tensions from sub-step to sub-step, so links, which are solved for with these, need not.
    pub fn sew(&mut self, model: &Model, q: &mut [Vec4]) {
        let links = &model.links;
        for _ in 0..model.params.impulse.stitch_sweeps {
            for (l, force) in self.forces.iter_mut().enumerate() {
                let [a, b] = links.ends[l].map(|i| i as usize);
                let mobility = q[a].0[3] + q[b].0[3];
                let apart = (q[b] - q[a]).xyz() + mobility * *force;
                let length = apart.length();
                let open =
                    (1.0 + self.sluggish) * (length - self.rest_lengths[l]) - self.sluggish * self.open[l];
                let pull = open.max(0.0) / ((1.0 + self.sluggish) * mobility + 1.0 / links.stiffness[l]);
                let change = apart * (pull / length.max(NO_LENGTH)) - *force;
                *force += change;
                q[a] += Vec4::from(change) * q[a].0[3];
                q[b] += Vec4::from(-change) * q[b].0[3];
            }
        }
    }
}
