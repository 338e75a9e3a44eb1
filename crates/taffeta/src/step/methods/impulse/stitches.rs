//! Seams in the impulse methods: stitches are edges of strips, which only pull and whose length is that of the thread at the time.

use super::elements;
use super::lengths::Lengths;
use crate::math::Vec4;
use crate::math::lanes::{LANES, Lanes};
use crate::model::{Environment, Model};
use crate::solve::strips::blocks::{NO_TENSION, StripEdge};

/// The stitches of a model in a sub-step.
#[derive(Debug)]
pub struct StitchSolver {
    /// How far each opens per force [m/N].
    give: Vec<f64>,
    /// Lengths to which they are drawn [m].
    goals: Vec<f64>,
    /// Whether each counts for the tolerance of seams: its sewing is over.
    sewn: Vec<bool>,
    /// When the sub-step ends [s].
    until: f64,
}

impl StitchSolver {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let give = elements::give_of_stitches(model, environment);
        Self { goals: vec![0.0; give.len()], sewn: vec![false; give.len()], give, until: 0.0 }
    }

    /// Begins a sub-step from `time` on, of `h` [s], with particles at `x` [m]. What is open there closes over some time.
    pub fn begin(&mut self, model: &Model, time: f64, h: f64, x: &[Vec4]) {
        self.until = time + h;
        let left = (1.0 - h / model.params.impulse.stitch_closing_time).max(0.0);
        for (l, goal) in self.goals.iter_mut().enumerate() {
            let open = (distance(model, l, x) - model.links.rest_length(l, time)).max(0.0);
            *goal = model.links.rest_length(l, self.until) + left * open;
        }
    }

    /// Ends a step with particles at `q` [m]: what is sewn closes now, other seams open no further.
    pub fn end(&mut self, model: &Model, q: &[Vec4]) {
        for (l, (goal, sewn)) in self.goals.iter_mut().zip(&mut self.sewn).enumerate() {
            *goal = model.links.rest_length(l, self.until);
            *sewn = self.until >= model.links.begin[l] + model.links.duration[l];
            if !*sewn {
                *goal = goal.max(distance(model, l, q));
            }
        }
    }

    /// Lets those pull that are longer at `q` than they should be, and those that do already; none does when they `start`.
    pub fn pull(&self, model: &Model, q: &[Vec4], lengths: &mut Lengths, tension: &mut [Lanes], start: bool) {
        for (l, goal) in self.goals.iter().enumerate() {
            let slot = lengths.strips.slots[model.edges.len() + l] as usize;
            let tension = &mut tension[slot / LANES].0[slot % LANES];
            if start {
                *tension = 0.0;
            }
            let pulls = *tension > 0.0 || distance(model, l, q) > *goal;
            let compliance = if pulls { (self.give[l] * goal * goal).min(NO_TENSION) } else { NO_TENSION };
            if !pulls {
                *tension = 0.0;
            }
            lengths.set_stitch(l, StripEdge { rest: *goal, compliance });
        }
    }

    /// How far the seams that are sewn are open at most [m].
    pub fn open(&self, model: &Model, q: &[Vec4]) -> f64 {
        let open = |(l, goal): (usize, &f64)| if self.sewn[l] { distance(model, l, q) - goal } else { 0.0 };
        self.goals.iter().enumerate().map(open).fold(0.0, f64::max)
    }
}

fn distance(model: &Model, stitch: usize, at: &[Vec4]) -> f64 {
    let [a, b] = model.links.ends[stitch].map(|i| at[i as usize].xyz());
    a.distance(b)
}
