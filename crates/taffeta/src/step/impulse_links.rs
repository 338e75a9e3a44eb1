//! Seams in the impulse methods: links that only pull, implicit in time.

use crate::math::{DVec3, Vec4};
use crate::model::Model;

/// Sweeps over all links at once: only where several meet in a particle the first does not do it all.
const SWEEPS: u32 = 2;
/// Shorter vectors have no direction [m].
const NO_LENGTH: f64 = 1e-30;

/// Draws the ends of links together in a sub-step that ends at `time` [s]; `forces` are those of the links in this sub-step so far [N].
///
/// A link with the force f moves its ends by their mobilities b, the fourth numbers of `q`. The ends are d apart at `q`, so without the link they would be
/// d + (b + b') f apart, and f = k (|d| - L) along that solves for the end of the sub-step: |d| - (b + b') f - L = f / k. The direction is that without the link:
/// a stitch is so short that any other would swing about faster than sub-steps follow. Edges keep their tensions from sub-step to sub-step, so links, which
/// are solved for with these, need not.
pub fn sew(model: &Model, time: f64, forces: &mut [DVec3], q: &mut [Vec4]) {
    let links = &model.links;
    for _ in 0..SWEEPS {
        for (l, force) in forces.iter_mut().enumerate() {
            let [a, b] = links.ends[l].map(|i| i as usize);
            let mobility = q[a].0[3] + q[b].0[3];
            let apart = (q[b] - q[a]).xyz() + mobility * *force;
            let length = apart.length();
            let excess = (length - links.rest_length(l, time)).max(0.0);
            let pull = excess / (mobility + 1.0 / links.stiffness[l]);
            let change = apart * (pull / length.max(NO_LENGTH)) - *force;
            *force += change;
            q[a] += Vec4::from(change) * q[a].0[3];
            q[b] += Vec4::from(-change) * q[b].0[3];
        }
    }
}
