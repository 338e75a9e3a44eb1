//! Seams in the impulse methods: stitches are edges of strips, which only pull and whose length is that of the thread at the time.

use super::elements;
use super::lengths::Lengths;
use crate::math::Vec4;
use crate::math::lanes::{LANES, Lanes};
use crate::model::{Environment, Model};
use crate::solve::strips::blocks::{NO_TENSION, StripEdge};
use crate::step::report::Shortfall;

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
    /// Closing time over duration [1].
    sluggish: f64,
    /// Whether seams could not be closed at the end of this step: lengths go first. How long every stitch was then, and no longer is to be [m].
    given_up: bool,
    left_open: Vec<f64>,
}

impl StitchSolver {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let give = elements::give_of_stitches(model, environment);
        Self {
            goals: vec![0.0; give.len()],
            sewn: vec![false; give.len()],
            left_open: vec![f64::INFINITY; give.len()],
            give,
            until: 0.0,
            sluggish: 0.0,
            given_up: false,
        }
    }

    /// Begins a sub-step from `time` on, of `h` [s], with particles at `x` [m].
    ///
    /// A stitch is a spring with a damper. With its closing time τ, what is open of it at the start, e₀, and at the end, e, its force is
    /// f = k (e + (e - e₀) τ/h). So it is a spring of the stiffness k (1 + τ/h) that is open by e₀ / (1 + h/τ) when it does not pull. What is far open closes
    /// more slowly than that.
    pub fn begin(&mut self, model: &Model, time: f64, h: f64, x: &[Vec4]) {
        self.until = time + h;
        self.sluggish = model.params.impulse.stitch_closing_time / h;
        self.given_up = false;
        let (share, most) = (1.0 / (1.0 + self.sluggish), model.params.impulse.stitch_closing_speed * h);
        for (l, goal) in self.goals.iter_mut().enumerate() {
            let open = (distance(model, l, x) - model.links.rest_length(l, time)).max(0.0);
            *goal = model.links.rest_length(l, self.until) + open - (share * open).min(most);
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
            let goal = if self.given_up { goal.max(self.left_open[l]) } else { *goal };
            let slot = lengths.strips.slots[model.edges.len() + l] as usize;
            let tension = &mut tension[slot / LANES].0[slot % LANES];
            if start {
                *tension = 0.0;
            }
            let pulls = goal < f64::INFINITY && (*tension > 0.0 || distance(model, l, q) > goal);
            let give = self.give[l] / (1.0 + self.sluggish);
            let compliance = if pulls { (give * goal * goal).min(NO_TENSION) } else { NO_TENSION };
            *tension = if pulls { *tension } else { 0.0 };
            let rest = if goal < f64::INFINITY { goal } else { self.goals[l] };
            lengths.set_stitch(l, StripEdge { rest, compliance });
        }
    }

    /// Lets go of seams: with them, lengths cannot be kept.
    pub fn give_up(&mut self) {
        self.given_up = true;
        self.left_open.fill(f64::INFINITY);
    }

    /// Lets seams that were given up open no further than they are at `q`.
    pub fn hold_open(&mut self, model: &Model, q: &[Vec4]) {
        self.left_open.iter_mut().enumerate().for_each(|(l, left)| *left = distance(model, l, q));
    }

    /// Tries to close seams that were given up.
    pub fn take_up(&mut self) {
        self.given_up = false;
    }

    /// Whether seams are let go of.
    pub fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// How far the seams that are sewn are open at most [m].
    pub fn open(&self, model: &Model, q: &[Vec4]) -> f64 {
        self.openings(model, q).map(|(_, open)| open).fold(0.0, f64::max)
    }

    /// The stitch that is open most.
    pub fn shortfall(&self, model: &Model, q: &[Vec4]) -> Option<Shortfall> {
        let (stitch, open) = self.openings(model, q).max_by(|a, b| a.1.total_cmp(&b.1))?;
        let tolerance = model.params.impulse.seam_tolerance;
        Some(Shortfall::Seam { ends: model.links.ends[stitch], open, tolerance })
    }

    /// The stitches that are sewn, and how far each is open [m]; below 0 if it is slack.
    fn openings(&self, model: &Model, q: &[Vec4]) -> impl Iterator<Item = (usize, f64)> {
        let sewn = (0..self.goals.len()).filter(|l| self.sewn[*l]);
        sewn.map(|l| (l, distance(model, l, q) - self.goals[l]))
    }
}

fn distance(model: &Model, stitch: usize, at: &[Vec4]) -> f64 {
    let [a, b] = model.links.ends[stitch].map(|i| at[i as usize].xyz());
    a.distance(b)
}
