//! What is done to a running simulation from outside, between two steps. A simulation that is left alone is not touched by any of it.

use super::Simulation;
use crate::math::DVec3;
use crate::model::state::StateMismatch;
use crate::model::{AirModel, Ease, Keyframe, Model, Motion, PinGroup};
use std::collections::{BTreeMap, BTreeSet};

/// Particles that are held or freed by hand, on top of the pins of the scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hands {
    /// Particles that are held, and where each is led to [m].
    pub held: BTreeMap<u32, DVec3>,
    /// Particles that the scene pins and that are loose all the same. Of what is held too, holding counts.
    pub freed: BTreeSet<u32>,
}

impl Simulation {
    /// Goes on from where `other` is: a simulation of as many particles, perhaps of another method or with other steps. What a method remembers
    /// is taken over where it is the same method; time moves to the nearest step of this model.
    pub fn take_over(&mut self, other: &Simulation) -> Result<(), StateMismatch> {
        let (from, to) = (&other.state, &mut self.state);
        if from.positions.len() != to.positions.len() {
            return Err(StateMismatch::Size { expected: to.len(), found: from.len() });
        }
        if from.parted.len() == to.parted.len() && from.parted != to.parted {
            self.take_parted(from.parted.clone())?;
        }
        let to = &mut self.state;
        to.positions.copy_from_slice(&from.positions);
        to.velocities.copy_from_slice(&from.velocities);
        if other.model.method == self.model.method && from.memory.is_like(&to.memory) {
            to.memory.copy_from(&from.memory);
        }
        to.step = (from.time / self.model.step_time).round() as u64;
        to.time = to.step as f64 * self.model.step_time;
        self.tell_tangles();
        Ok(())
    }

    /// Changes gravity [m/s²] and the air, at once and without building anything anew unless air comes or goes.
    pub fn set_surroundings(&mut self, gravity: DVec3, air: AirModel) {
        let vacuum_changes = (air.density > 0.0) != (self.environment.air.density > 0.0);
        (self.environment.gravity, self.environment.air) = (gravity, air);
        // Methods have room for forces of the air only where there is air.
        if vacuum_changes {
            self.renew();
        }
    }

    /// Holds and frees these particles from now on and no others; what is held goes to its place in `duration` [s] at constant speed.
    ///
    /// While the same particles stay held only their ways change, which costs nothing. Particles that do not exist are left out.
    pub fn set_hands(&mut self, hands: &Hands, duration: f64) {
        let known = |particle: &u32| (*particle as usize) < self.model.cloth_particle_count();
        let mut hands = hands.clone();
        hands.held.retain(|particle, _| known(particle));
        hands.freed.retain(known);
        if self.hands.is_none() && hands == Hands::default() {
            return;
        }
        let before = self.hands.take().unwrap_or_default();
        let same_grip = hands.held.keys().eq(before.held.keys()) && hands.freed == before.freed;
        let mut pins = std::mem::take(&mut self.environment.pins);
        if !same_grip {
            pins = hands.pins(&self.model);
        }
        for (pin, (particle, place)) in pins[self.model.pins.len()..].iter_mut().zip(&hands.held) {
            let from = self.state.positions[*particle as usize];
            *pin = led(*particle, from, *place, self.state.time, duration);
        }
        self.environment.hold(&self.model, pins);
        self.hands = Some(hands);
        if !same_grip {
            self.renew();
        }
    }
}

impl Hands {
    /// The pins of a model without particles that are held or freed, then a pin for every held one.
    pub(super) fn pins(&self, model: &Model) -> Vec<PinGroup> {
        let stays = |particle: u32| !self.held.contains_key(&particle) && !self.freed.contains(&particle);
        let mut pins = model.pins.clone();
        pins.iter_mut().for_each(|pin| pin.retain(stays));
        pins.extend(self.held.iter().map(|(particle, place)| led(*particle, *place, *place, 0.0, 1.0)));
        pins
    }
}

/// A pin that leads one particle `from` a point to another [m] from `time` on, for `duration` [s], and holds it there.
fn led(particle: u32, from: DVec3, to: DVec3, time: f64, duration: f64) -> PinGroup {
    let key =
        |time, shift: DVec3| Keyframe { time, shift: shift.to_array(), turn: [0.0; 3], ease: Ease::Linear };
    let way = [key(time, DVec3::ZERO), key(time + duration, to - from)];
    PinGroup::moved(vec![particle], vec![from], Motion::new(&way))
}
