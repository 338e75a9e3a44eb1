//! What is done to a running simulation from outside, between two steps. A simulation that is left alone is not touched by any of it.

use super::Simulation;
use crate::math::DVec3;
use crate::model::state::StateMismatch;
use crate::model::{AirModel, Model, Motion, PinGroup};
use crate::model::{Ease, Keyframe};
use std::collections::{BTreeMap, BTreeSet};

/// Particles that are held or freed by hand, on top of the pins of the scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hands {
    /// Particles that are held, and where each is led to [m].
    pub held: BTreeMap<u32, DVec3>,
    /// Particles that the scene pins and that are loose all the same. Of what is held too, holding counts.
    pub freed: BTreeSet<u32>,
}

/// The pins of the scene as they were, and what hands have made of them.
#[derive(Debug)]
pub(super) struct Gripped {
    own_pins: Vec<PinGroup>,
    hands: Hands,
}

impl Gripped {
    /// Lets hands that hold and free particles of `old` do the same with a model in which more has parted.
    pub fn keep_hold(&mut self, model: &mut Model, old: &Model) {
        let held = old.pins[self.own_pins.len().min(old.pins.len())..].to_vec();
        self.own_pins.clone_from(&model.pins);
        regrip(model, &self.hands);
        model.pins.truncate(self.own_pins.len());
        model.pins.extend(held);
    }
}

impl Simulation {
    /// Goes on from where `other` is: a simulation of as many particles, perhaps of another method or with other steps. What a method remembers
    /// is taken over where it is the same method; time moves to the nearest step of this model.
    pub fn take_over(&mut self, other: &Simulation) -> Result<(), StateMismatch> {
        let (from, to) = (&other.state, &mut self.state);
        if from.positions.len() != to.positions.len() {
            return Err(StateMismatch { expected: to.len(), found: from.len() });
        }
        if from.parted.len() == to.parted.len() && from.parted != to.parted {
            self.take_parted(from.parted.clone())?;
        }
        let to = &mut self.state;
        to.positions.copy_from_slice(&from.positions);
        to.velocities.copy_from_slice(&from.velocities);
        if other.model.method == self.model.method && from.memory.len() == to.memory.len() {
            to.memory.copy_from_slice(&from.memory);
        }
        to.step = (from.time / self.model.step_time).round() as u64;
        to.time = to.step as f64 * self.model.step_time;
        self.tell_tangles();
        Ok(())
    }

    /// Changes gravity [m/s²] and the air, at once and without building anything anew unless air comes or goes.
    pub fn set_surroundings(&mut self, gravity: DVec3, air: AirModel) {
        let vacuum_changes = (air.density > 0.0) != (self.model.air.density > 0.0);
        (self.model.gravity, self.model.air) = (gravity, air);
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
        if self.gripped.is_none() && hands == Hands::default() {
            return;
        }
        let fresh = || Gripped { own_pins: self.model.pins.clone(), hands: Hands::default() };
        let gripped = self.gripped.get_or_insert_with(fresh);
        let first = gripped.own_pins.len();
        let same_grip = hands.held.keys().eq(gripped.hands.held.keys()) && hands.freed == gripped.hands.freed;
        if !same_grip {
            self.model.pins.clone_from(&gripped.own_pins);
            regrip(&mut self.model, &hands);
        }
        for (pin, (particle, place)) in self.model.pins[first..].iter_mut().zip(&hands.held) {
            let from = self.state.positions[*particle as usize];
            *pin = led(*particle, from, *place, self.state.time, duration);
        }
        gripped.hands = hands;
        if !same_grip {
            self.renew();
        }
    }
}

/// Takes held and freed particles from the pins of the scene, gives every held one a pin of its own, and free ones their mass.
fn regrip(model: &mut Model, hands: &Hands) {
    for pin in &mut model.pins {
        let stays = |particle: u32| !hands.held.contains_key(&particle) && !hands.freed.contains(&particle);
        pin.retain(stays);
    }
    model.pins.extend(hands.held.iter().map(|(particle, place)| led(*particle, *place, *place, 0.0, 1.0)));
    model.inverse_mass.iter_mut().zip(&model.mass).for_each(|(inverse, mass)| {
        // Spare particles have no mass, and do not move.
        *inverse = if *mass > 0.0 { 1.0 / mass } else { 0.0 };
    });
    let pinned = model.pins.iter().flat_map(|pin| &pin.particles);
    pinned.for_each(|particle| model.inverse_mass[*particle as usize] = 0.0);
}

/// A pin that leads one particle `from` a point to another [m] from `time` on, for `duration` [s], and holds it there.
fn led(particle: u32, from: DVec3, to: DVec3, time: f64, duration: f64) -> PinGroup {
    let key =
        |time, shift: DVec3| Keyframe { time, shift: shift.to_array(), turn: [0.0; 3], ease: Ease::Linear };
    let way = [key(time, DVec3::ZERO), key(time + duration, to - from)];
    PinGroup::moved(vec![particle], vec![from], Motion::new(&way))
}
