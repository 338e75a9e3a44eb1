//! Shear and bending as P2 §3.3 prints them: spring-dampers whose forces at the start of a sub-step hold over it. Explicit, so they limit the sub-step.

use super::elements::diagonals;
use crate::forces::{bend, spring, twist};
use crate::math::{DVec3, Vec4};
use crate::model::{Environment, Model};
use crate::step::report::StepError;

/// Share of the largest stable sub-step that is taken.
const SAFETY: f64 = 0.9;
/// More sub-steps than that nobody waits for.
const MOST_SUBSTEPS: u32 = 100_000;

/// Forces of all springs and of what is held, at the start of a sub-step.
#[derive(Debug)]
pub struct ExplicitSprings {
    diagonals: Vec<usize>,
    forces: Vec<Vec4>,
    /// The largest stable sub-step [s].
    stable: f64,
}

impl ExplicitSprings {
    /// Room for a model, and its largest stable sub-step.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let diagonals = diagonals(model);
        let stable = stable(model, environment, &diagonals);
        Self { diagonals, forces: vec![Vec4::ZERO; model.particle_count()], stable }
    }

    /// The fewest sub-steps of a step, or why there is no such number.
    pub fn fewest(&self, model: &Model) -> Result<u32, StepError> {
        let (step, stable) = (model.step_time, self.stable);
        let fewest = (step / (SAFETY * stable)).ceil().max(1.0);
        if fewest > f64::from(MOST_SUBSTEPS) {
            return Err(StepError::TooManySubsteps { stable, step, limit: MOST_SUBSTEPS });
        }
        let (least, asked) = (fewest as u32, model.substeps.or(model.max_iterations).unwrap_or(u32::MAX));
        let substep = step / f64::from(asked);
        if substep > stable { Err(StepError::Unstable { asked, substep, stable, least }) } else { Ok(least) }
    }

    /// Forces at `x` on the way to `y` in `h`, with those that are `held`.
    pub fn renew(&mut self, model: &Model, (x, y): (&[Vec4], &[Vec4]), held: &[Vec4], h: f64) {
        let at = |i: u32| x[i as usize].xyz();
        let velocity = |i: u32| (y[i as usize] - x[i as usize]).xyz() / h;
        self.forces.fill(Vec4::ZERO);
        self.forces.iter_mut().zip(held).for_each(|(force, held)| *force = *held);
        let mut add = |i: u32, force: DVec3| self.forces[i as usize] += Vec4::from(force);
        let springs = &model.springs;
        for &s in &self.diagonals {
            let [a, b] = springs.ends[s];
            let (rate, rest) = (velocity(b) - velocity(a), springs.rest_length[s]);
            let force = spring::force(at(b) - at(a), rate, rest, springs.stiffness[s], springs.damping[s]);
            add(a, force);
            add(b, -force);
        }
        let bends = &model.bends;
        for (b, points) in bends.points.iter().enumerate() {
            let (k, c) = (bends.stiffness[b], bends.damping[b]);
            let forces = bend::forces(points.map(at), points.map(velocity), bends.inverse_lengths[b], k, c);
            (0..3).for_each(|i| add(points[i], forces[i]));
        }
        let twists = &model.twists;
        for (t, points) in twists.points.iter().enumerate() {
            let (k, c) = (twists.stiffness[t], twists.damping[t]);
            let forces = twist::forces(points.map(at), points.map(velocity), twists.weights(t), k, c);
            (0..4).for_each(|i| add(points[i], forces[i]));
        }
    }

    /// The forces [N].
    pub fn forces(&self) -> &[Vec4] {
        &self.forces
    }
}

/// The largest stable sub-step, as in `forces::stable_step`: h² K + 2 h C <= 4 M, with K and C bounded particle by particle in any state.
fn stable(model: &Model, environment: &Environment, diagonals: &[usize]) -> f64 {
    let mut bound = vec![[0.0; 2]; model.particle_count()];
    let mut add = |i: u32, stiffness: f64, damping: f64| {
        bound[i as usize][0] += stiffness;
        bound[i as usize][1] += damping;
    };
    for &s in diagonals {
        let (k, c) = (model.springs.stiffness[s], model.springs.damping[s]);
        model.springs.ends[s].iter().for_each(|i| add(*i, 2.0 * k, 2.0 * c));
    }
    for (b, points) in model.bends.points.iter().enumerate() {
        let [ia, ic] = model.bends.inverse_lengths[b];
        for (&i, share) in points.iter().zip([ia, ia + ic, ic]) {
            let share = 2.0 * (ia + ic) * share;
            add(i, model.bends.stiffness[b] * share, model.bends.damping[b] * share);
        }
    }
    for (t, points) in model.twists.points.iter().enumerate() {
        let weights = model.twists.weights(t).map(f64::abs);
        let total: f64 = weights.iter().sum();
        for (&i, share) in points.iter().zip(weights) {
            add(i, model.twists.stiffness[t] * share * total, model.twists.damping[t] * share * total);
        }
    }
    let longest = |([stiffness, damping], w): (&[f64; 2], &f64)| {
        let rate = w * damping;
        // The positive root of h² ω² + 2 h r = 4; infinite where nothing is stiff.
        4.0 / (rate + (rate * rate + 4.0 * w * stiffness).sqrt())
    };
    bound.iter().zip(&environment.inverse_mass).map(longest).fold(f64::INFINITY, f64::min)
}
