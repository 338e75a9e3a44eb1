//! P3's own implicit variant: BDF2 with the secant (f - f⁻)/(x - x⁻) of every particle's force for a derivative, iterated to a fixed point.
//!
//! Each component of each particle has an equation of its own, without a matrix. Where positions did not change the secant is 0/0 and is taken
//! for 0, and so is one that would push. It knows nothing of the neighbours, so it stands here for comparison and is no method.

use taffeta::forces;
use taffeta::math::DVec3;
use taffeta::model::{Model, State};

/// Iterations in a step, and the change at which they end, relative to that of the whole step.
const MOST_ITERATIONS: u32 = 100;
const SETTLED: f64 = 1e-6;

/// A sheet and what it was one step ago.
pub struct Secant {
    /// Where it is now.
    pub state: State,
    past: Option<State>,
}

impl Secant {
    /// Starts with no past.
    pub fn new(state: &State) -> Self {
        Self { state: state.clone(), past: None }
    }

    /// Takes a step; whether its iteration came to an end.
    pub fn step(&mut self, model: &Model, duration: f64) -> bool {
        let (now, then, h) = match &self.past {
            Some(_) => (4.0 / 3.0, 1.0 / 3.0, duration * 2.0 / 3.0),
            None => (1.0, 0.0, duration),
        };
        let past = self.past.take().unwrap_or_else(|| self.state.clone());
        let start = |x: DVec3, before: DVec3| x * now - before * then;
        let mut end = self.state.clone();
        let mut before: Option<(Vec<DVec3>, Vec<DVec3>)> = None;
        let mut settled = false;
        for _ in 0..MOST_ITERATIONS {
            let force = forces::all_forces(model, &end, duration);
            let at = end.positions.clone();
            let (mut change, mut whole) = (0.0_f64, 0.0_f64);
            for i in (0..at.len()).filter(|i| model.inverse_mass[*i] > 0.0) {
                let slope =
                    before.as_ref().map_or(DVec3::ZERO, |(x, f)| secant(force[i] - f[i], at[i] - x[i]));
                let x = start(self.state.positions[i], past.positions[i]);
                let v = start(self.state.velocities[i], past.velocities[i]);
                let mass = model.mass[i];
                let push = force[i] + model.gravity * mass + slope * (x - at[i]);
                let next = (v * mass + push * h) / (DVec3::splat(mass) - slope * (h * h));
                change = change.max((next - end.velocities[i]).length());
                whole = whole.max((next - self.state.velocities[i]).length());
                end.velocities[i] = next;
                end.positions[i] = x + next * h;
            }
            before = Some((at, force));
            if change <= SETTLED * whole {
                settled = true;
                break;
            }
        }
        self.past = Some(std::mem::replace(&mut self.state, end));
        settled
    }
}

/// Slopes of the three components, never positive.
fn secant(force: DVec3, moved: DVec3) -> DVec3 {
    let slope = |f: f64, x: f64| if (f / x).is_finite() { (f / x).min(0.0) } else { 0.0 };
    DVec3::new(slope(force.x, moved.x), slope(force.y, moved.y), slope(force.z, moved.z))
}
