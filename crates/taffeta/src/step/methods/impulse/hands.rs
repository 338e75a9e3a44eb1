//! Hands that give way. Where the cloth cannot follow, what a hand holds is one more particle, a heavy one that goes towards its place with bounded speed and force:
//! so lengths are kept whatever a user asks for, and the step has a solution.

use super::elements::between_hands;
use crate::collide::MovingBody;
use crate::collide::rigid::nearest::nearest;
use crate::math::Vec4;
use crate::model::environment::HAND;
use crate::model::{Environment, Model, State};
use crate::solve::strips::blocks::{NO_TENSION, Strips};

/// What hands hold, and whether they give way in this step.
#[derive(Debug, Default)]
pub struct YieldingHands {
    particles: Vec<u32>,
    yields: bool,
    /// Edges of which both ends are held, one by a hand, and what they give where it gives way [m³/N].
    between: Vec<(usize, f64)>,
}

impl YieldingHands {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        Self { between: between_hands(model, environment), ..Self::default() }
    }

    /// Begins a step: hands that are not at their places give way as before, and those whose places are in a closed-form solid give way to it.
    pub fn begin(&mut self, model: &Model, environment: &Environment, state: &State) {
        self.particles.clear();
        self.yields = false;
        let end = state.time + model.step_time;
        for pin in environment.pins.iter().filter(|pin| pin.yields) {
            let [led, led_on] = [state.time, end].map(|time| pin.led(time, &model.colliders));
            for (member, i) in pin.particles.iter().enumerate() {
                let place = |led| pin.place(member, led, &model.colliders);
                let away = state.positions[*i as usize].distance(place(&led));
                let mut solids = model.colliders.iter().filter_map(|collider| collider.at(end));
                let is_in_solid = solids.any(|solid| nearest(&solid, place(&led_on), 0.0).is_some());
                self.yields |= away > model.params.impulse.hand_away || is_in_solid;
                self.particles.push(*i);
            }
        }
    }

    /// Puts particles whose hands give way out of closed-form solids, which features of cloth do not do for hands.
    pub fn keep_out(&self, model: &Model, solids: &[MovingBody], ends: &mut [Vec4]) {
        for i in self.yielding() {
            let kept = model.cloth_of(i).map_or(0.0, |cloth| 0.5e-3 * cloth.fabric.thickness);
            for solid in solids {
                if let Some(near) = nearest(&solid.after, ends[i].xyz(), kept) {
                    ends[i] += Vec4::from((kept - near.gap) * near.normal);
                }
            }
        }
    }

    /// Whether a hand holds this particle.
    pub fn hold(&self, particle: usize) -> bool {
        self.particles.contains(&(particle as u32))
    }

    /// Whether they hold nothing.
    pub fn are_idle(&self) -> bool {
        self.particles.is_empty()
    }

    /// Whether there are hands that do not give way yet.
    pub fn are_firm(&self) -> bool {
        !self.yields && !self.are_idle()
    }

    /// Whether a hand holds this particle that gives way.
    pub fn give_way_at(&self, particle: usize) -> bool {
        self.yields && self.hold(particle)
    }

    /// Lets hands give way; whether that is new.
    pub fn give_way(&mut self) -> bool {
        let is_new = self.are_firm();
        self.yields |= is_new;
        is_new
    }

    /// Begins an attempt at the step: edges between hands and pins keep their lengths only where hands give way.
    pub fn tie(&self, strips: &mut Strips) {
        for (edge, compliance) in &self.between {
            strips.set_compliance(*edge, if self.yields { *compliance } else { NO_TENSION });
        }
    }

    /// Lets the ends `y` of particles that are at `x` [m] be no further away than a hand gets in `h` [s].
    pub fn slow_down(&self, model: &Model, x: &[Vec4], y: &mut [Vec4], h: f64) {
        for i in self.yielding() {
            let params = &model.params.impulse;
            let force = params.hand_acceleration * model.cloth_of(i).map_or(0.0, |cloth| cloth.mass(model));
            let furthest = (h * h * force / (HAND * model.mass[i])).min(params.hand_speed * h);
            let from = x[i].xyz();
            let end = from + (y[i].xyz() - from).clamp_length_max(furthest);
            y[i] = Vec4([end.x, end.y, end.z, 1.0]);
        }
    }

    /// Lets impulses move them: `q` gets their mobilities [m/N].
    pub fn loosen(&self, model: &Model, q: &mut [Vec4], h: f64) {
        for i in self.yielding() {
            q[i].0[3] = h * h / (HAND * model.mass[i]);
        }
    }

    fn yielding(&self) -> impl Iterator<Item = usize> + '_ {
        self.particles.iter().map(|i| *i as usize).filter(|_| self.yields)
    }
}
