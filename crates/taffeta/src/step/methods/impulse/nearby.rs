//! Few contacts that CCD has found are answered where they are, with the lengths and contacts around them, while all else stays.

use super::{Impulse, touch_again};
use crate::math::Vec4;
use crate::step::driver::{StepContext, Window};

/// Room for what is around some contacts.
#[derive(Debug, Default)]
pub struct Nearby {
    /// Per particle: whether it is one of them, and whether it is or an edge leads there from one.
    marked: Vec<bool>,
    reached: Vec<bool>,
    /// Edges of those that were reached.
    edges: Vec<usize>,
}

impl Nearby {
    /// Takes up the edges around the particles that are marked.
    fn reach(&mut self, edges: &[[u32; 2]]) {
        let Self { marked, reached, edges: own } = self;
        let has_end_in = |[a, b]: [u32; 2], marks: &[bool]| marks[a as usize] || marks[b as usize];
        reached.clone_from(marked);
        for edge in edges.iter().filter(|edge| has_end_in(**edge, marked)) {
            edge.iter().for_each(|end| reached[*end as usize] = true);
        }
        own.clear();
        own.extend((0..edges.len()).filter(|e| has_end_in(edges[*e], reached)));
    }
}

impl Impulse {
    /// See [`Integrator::answer_learned`](crate::step::methods::Integrator::answer_learned): sweeps at the end of a window over what is around contacts that CCD has found,
    /// if these are few. Whether they were.
    pub(super) fn answer_nearby(&mut self, step: &mut StepContext, window: &Window) -> bool {
        let (model, n) = (step.model, step.model.particle_count());
        // Hands give way, and seams close, with all else at once.
        let is_free = self.hands.are_idle() && model.links.ends.is_empty();
        let Some(pipeline) = step.pipeline.as_mut().filter(|_| is_free) else { return false };
        let nearby = &mut self.nearby;
        nearby.marked.clear();
        nearby.marked.resize(n, false);
        if !pipeline.mark_hits(self.params.few_learned as usize, &mut nearby.marked) {
            return false;
        }
        nearby.reach(&model.edges);
        pipeline.begin_nearby(&nearby.reached);
        self.saved_ends.clone_from(&self.q);
        step.stop_bodies();
        let give =
            self.lengths.stretch.map_or(self.params.last_give * model.tolerance, |stretch| stretch.bound);
        for sweep in 0..self.params.nearby_sweeps {
            for &e in &self.nearby.edges {
                keep_length(&mut self.q, model.edges[e], model.rest_lengths[e], give);
            }
            self.touch_solids(step, sweep > 0);
            let (q, grip) = (&mut self.q[..n], &mut self.grip);
            if let Some(pipeline) = &mut step.pipeline {
                pipeline.project_nearby(&self.x, q, window.h, |i, _| touch_again(&mut grip[i]));
            }
        }
        self.follow(0.0);
        if let Some(pipeline) = &mut step.pipeline {
            pipeline.stop_approach_nearby(&self.x, &mut self.y[..n], window.h);
        }
        true
    }
}

/// Brings an edge within a share of its length, by the mobilities of its ends.
fn keep_length(q: &mut [Vec4], ends: [u32; 2], rest: f64, give: f64) {
    let [a, b] = ends.map(|end| end as usize);
    let way = (q[b] - q[a]).xyz();
    let (length, mobility) = (way.length(), q[a].0[3] + q[b].0[3]);
    let excess = length - length.clamp(rest * (1.0 - give), rest * (1.0 + give));
    if excess != 0.0 && mobility > 0.0 {
        let pull = way * (excess / (length * mobility));
        let mobilities = [a, b].map(|end| q[end].0[3]);
        q[a] += Vec4::from(mobilities[0] * pull);
        q[b] += Vec4::from(-mobilities[1] * pull);
    }
}
