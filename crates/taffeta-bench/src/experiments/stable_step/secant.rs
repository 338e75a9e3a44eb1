//! P3's own implicit variant: BDF2 with the secant (f - f⁻)/(x - x⁻) of every particle's force for a derivative, iterated to a fixed point.
//!
//! The plain twin of the method `bdf2-secant`, which keeps its sub-steps below a bound: here a step may be as long as one likes.

use taffeta::forces;
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model, State};

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
        let environment = Environment::new(model);
        for _ in 0..MOST_ITERATIONS {
            let force = forces::all_forces(model, &model.air, &end, duration);
            let at = end.positions.clone();
            let (mut change, mut whole) = (0.0_f64, 0.0_f64);
            for i in (0..at.len()).filter(|i| environment.inverse_mass()[*i] > 0.0) {
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

#[cfg(test)]
mod tests {
    use super::Secant;
    use std::collections::BTreeMap;

    use taffeta_scene::{Air, Cloth, Contact, Corner, Method, Pin, Scene, Sheet, Solver};

    #[test]
    fn the_method_moves_like_its_twin() {
        let sheet = Sheet { width: 1.0, height: 1.0, columns: 5, rows: 5, slack: 1.0 };
        let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
        let (step, count) = (5e-4, 400);
        let scene = Scene {
            frame_time: step,
            air: Air { density: 0.0, ..Air::default() },
            contact: Contact { cloth_cloth: false },
            solver: Solver { method: Method::Bdf2Secant, substeps: Some(1), ..Solver::default() },
            cloth: vec![Cloth { sheet: Some(sheet), pin: vec![pin], ..Cloth::default() }],
            ..Scene::default()
        };
        let mut method = taffeta_scene::simulation(&scene, &BTreeMap::new()).unwrap();
        let mut twin = Secant::new(method.state());
        for _ in 0..count {
            assert!(method.step().unwrap().converged && twin.step(method.model(), step));
        }
        let apart = method.state().positions.iter().zip(&twin.state.positions).map(|(a, b)| a.distance(*b));
        let apart = apart.fold(0.0, f64::max);
        let fallen = method.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        // Both iterate to a millionth of what forces change in a step.
        assert!(apart < 1e-4 && fallen < -0.1, "{apart} m apart after a fall of {fallen} m");
    }
}
