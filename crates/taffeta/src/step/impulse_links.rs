//! Seams in the impulse methods: links that only pull, implicit in time.

use crate::math::{DVec3, Vec4};
use crate::model::Model;

/// Sweeps over all links at once: only where several meet in a particle the first does not do it all.
const SWEEPS: u32 = 2;
/// Shorter vectors have no direction [m].
const NO_LENGTH: f64 = 1e-30;

/// The links of a model in a sub-step.
#[derive(Debug)]
pub struct Links {
    /// Rest lengths at its end [m].
    rest_lengths: Vec<f64>,
    /// Forces so far [N].
    forces: Vec<DVec3>,
}

impl Links {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let count = model.links.ends.len();
        Self { rest_lengths: vec![0.0; count], forces: vec![DVec3::ZERO; count] }
    }

    /// Begins a sub-step that ends at `time` [s].
    pub fn begin(&mut self, model: &Model, time: f64) {
        let lengths = self.rest_lengths.iter_mut().enumerate();
        lengths.for_each(|(l, length)| *length = model.links.rest_length(l, time));
        self.forces.fill(DVec3::ZERO);
    }

    /// Draws the ends of links together.
    ///
    /// A link with the force f moves its ends by their mobilities b, the fourth numbers of `q`. The ends are d apart at `q`, so without the link they would
    /// be d + (b + b') f apart, and f = k (|d| - L) along that solves for the end of the sub-step: |d| - (b + b') f - L = f / k. The direction is that
    /// without the link: a stitch is so short that any other would swing about faster than sub-steps follow. Edges keep their tensions from sub-step
    /// to sub-step, so links, which are solved for with these, need not.
    pub fn sew(&mut self, model: &Model, q: &mut [Vec4]) {
        let links = &model.links;
        for _ in 0..SWEEPS {
            for (l, force) in self.forces.iter_mut().enumerate() {
                let [a, b] = links.ends[l].map(|i| i as usize);
                let mobility = q[a].0[3] + q[b].0[3];
                let apart = (q[b] - q[a]).xyz() + mobility * *force;
                let length = apart.length();
                let excess = (length - self.rest_lengths[l]).max(0.0);
                let pull = excess / (mobility + 1.0 / links.stiffness[l]);
                let change = apart * (pull / length.max(NO_LENGTH)) - *force;
                *force += change;
                q[a] += Vec4::from(change) * q[a].0[3];
                q[b] += Vec4::from(-change) * q[b].0[3];
            }
        }
    }
}
