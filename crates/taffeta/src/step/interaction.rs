//! What is done to a running simulation from outside, between two steps. A simulation that is left alone is not touched by any of it.

use super::Simulation;
use crate::math::DVec3;
use crate::model::reach::{shortest_ways, within};
use crate::model::state::StateMismatch;
use crate::model::{AirModel, Ease, Keyframe, Model, Motion, PinGroup};
use std::collections::{BTreeMap, BTreeSet};

/// How far a hand goes from what else is held, of what the cloth between them allows [1].
const REACH: f64 = 0.99;

/// Particles that are held or freed by hand, on top of the pins of the scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hands {
    /// Particles that are held, and where each is led to [m].
    pub held: BTreeMap<u32, DVec3>,
    /// Particles that the scene pins and that are loose all the same. Of what is held too, holding counts.
    pub freed: BTreeSet<u32>,
}

/// Who is held in another way than the model has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Grip {
    hands: Hands,
    /// Particles that a collider takes along, and how.
    attached: BTreeMap<u32, PinGroup>,
}

/// Why something cannot be done to a simulation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionError {
    /// A list has not one entry for each particle.
    #[error(
        "{found} vectors were given for {expected} particles; give one for each, in the order of the model"
    )]
    Count {
        /// How many particles there are.
        expected: usize,
        /// How many vectors were given.
        found: usize,
    },
    /// A vector is not finite.
    #[error("the vector of particle {particle} is not finite")]
    NotFinite {
        /// The particle.
        particle: usize,
    },
    /// There is no such particle of cloth.
    #[error("there is no particle {particle}; those of cloth are 0 to {}", count - 1)]
    NoParticle {
        /// What was asked for.
        particle: u32,
        /// How many there are.
        count: usize,
    },
    /// There is no such collider, or it moves freely.
    #[error("collider {collider} cannot lead particles: there is none, or it moves freely")]
    NoLead {
        /// What was asked for.
        collider: usize,
    },
}

impl Simulation {
    /// Where all particles are [m]: cloth by cloth, then four for every body that moves freely.
    pub fn positions(&self) -> &[DVec3] {
        &self.state.positions
    }

    /// How fast all particles move [m/s].
    pub fn velocities(&self) -> &[DVec3] {
        &self.state.velocities
    }

    /// Puts all particles elsewhere [m]. What then intersects comes apart slowly, as in a scene that starts so.
    pub fn set_positions(&mut self, positions: &[DVec3]) -> Result<(), InteractionError> {
        check_list(positions, self.model.particle_count())?;
        self.state.positions.copy_from_slice(positions);
        self.scratch.as_device_left = false;
        self.tell_tangles();
        Ok(())
    }

    /// Gives all particles other velocities [m/s].
    pub fn set_velocities(&mut self, velocities: &[DVec3]) -> Result<(), InteractionError> {
        check_list(velocities, self.model.particle_count())?;
        self.state.velocities.copy_from_slice(velocities);
        self.scratch.as_device_left = false;
        Ok(())
    }

    /// Adds forces on all particles of cloth for the next step [N].
    pub fn add_forces(&mut self, forces: &[DVec3]) -> Result<(), InteractionError> {
        check_list(forces, self.model.cloth_particle_count())?;
        self.environment.forces.resize(forces.len(), DVec3::ZERO);
        self.environment.forces.iter_mut().zip(forces).for_each(|(sum, force)| *sum += *force);
        Ok(())
    }

    /// Holds a particle from now on, and leads it to a place [m] within a `duration` [s], but no further than the cloth reaches from all that is held. Methods that
    /// keep lengths let the hand give way where the cloth cannot follow: it then goes on towards its place as far as it gets.
    pub fn hold(&mut self, particle: u32, place: DVec3, duration: f64) -> Result<(), InteractionError> {
        self.check_particle(particle)?;
        let mut grip = self.grip.clone().unwrap_or_default();
        grip.attached.remove(&particle);
        grip.hands.held.insert(particle, place);
        self.take_grip(grip, |led| led == particle, duration);
        Ok(())
    }

    /// Lets go of a particle, whoever holds it: a hand, a body or a pin of the scene.
    pub fn release(&mut self, particle: u32) -> Result<(), InteractionError> {
        self.check_particle(particle)?;
        let mut grip = self.grip.clone().unwrap_or_default();
        grip.hands.held.remove(&particle);
        grip.attached.remove(&particle);
        grip.hands.freed.insert(particle);
        self.take_grip(grip, |_| false, 0.0);
        Ok(())
    }

    /// Lets a collider that is led take a particle along from now on.
    pub fn attach(&mut self, particle: u32, collider: usize) -> Result<(), InteractionError> {
        self.check_particle(particle)?;
        let lead = self.model.colliders.get(collider).filter(|lead| lead.free.is_none());
        let lead = lead.ok_or(InteractionError::NoLead { collider })?;
        let place = [self.state.positions[particle as usize]];
        let pin = PinGroup::seated(vec![particle], &place, (collider, lead), self.state.time);
        let mut grip = self.grip.clone().unwrap_or_default();
        grip.hands.held.remove(&particle);
        grip.attached.insert(particle, pin);
        self.take_grip(grip, |_| false, 0.0);
        Ok(())
    }

    fn check_particle(&self, particle: u32) -> Result<(), InteractionError> {
        let count = self.model.cloth_particle_count();
        let exists = (particle as usize) < count;
        if exists { Ok(()) } else { Err(InteractionError::NoParticle { particle, count }) }
    }

    /// The present state as bytes, for [`Simulation::restore`].
    pub fn snapshot(&self) -> Vec<u8> {
        self.state.to_bytes()
    }

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
        if from.anchors.len() == to.anchors.len() {
            to.anchors.copy_from_slice(&from.anchors);
        }
        to.step = (from.time / self.model.step_time).round() as u64;
        to.time = to.step as f64 * self.model.step_time;
        self.scratch.as_device_left = false;
        self.tell_tangles();
        Ok(())
    }

    /// Changes gravity [m/s²] and the air, at once and without building anything anew unless gravity gets stronger or weaker, or air comes or goes.
    pub fn set_surroundings(&mut self, gravity: DVec3, air: AirModel) {
        let vacuum_changes = (air.density > 0.0) != (self.environment.air.density > 0.0);
        let weight_changes = gravity.length() != self.environment.gravity.length();
        (self.environment.gravity, self.environment.air) = (gravity, air);
        // Methods have room for forces of the air only where there is air, and reckon with the weight of cloth.
        if vacuum_changes || weight_changes {
            self.renew_for_environment();
        }
    }

    /// Holds and frees these particles from now on and no others; what is held goes to its place in `duration` [s] at constant speed, but no further than
    /// the cloth reaches from all else that is held.
    ///
    /// While the same particles stay held only their ways change, which costs nothing. Particles that do not exist are left out.
    pub fn set_hands(&mut self, hands: &Hands, duration: f64) {
        let known = |particle: &u32| (*particle as usize) < self.model.cloth_particle_count();
        let mut hands = hands.clone();
        hands.held.retain(|particle, _| known(particle));
        hands.freed.retain(known);
        let attached = self.grip.as_ref().map_or(BTreeMap::new(), |grip| grip.attached.clone());
        self.take_grip(Grip { hands, attached }, |_| true, duration);
    }

    /// Takes over who is held. Those that are led `anew` go to their places within a `duration` [s]; all others stay on their ways.
    fn take_grip(&mut self, mut grip: Grip, anew: impl Fn(u32) -> bool, duration: f64) {
        if self.grip.is_none() && grip == Grip::default() {
            return;
        }
        let before = self.grip.take().unwrap_or_default();
        let same = grip.hands.held.keys().eq(before.hands.held.keys())
            && grip.hands.freed == before.hands.freed
            && grip.attached == before.attached;
        let own = self.model.pins.len();
        let mut pins = grip.pins(&self.model);
        let led_anew: Vec<u32> = grip.hands.held.keys().copied().filter(|particle| anew(*particle)).collect();
        for particle in led_anew {
            let place = self.within_reach(particle, &grip.hands.held, &pins);
            grip.hands.held.insert(particle, place);
        }
        for (pin, (particle, place)) in pins[own..].iter_mut().zip(&grip.hands.held) {
            let under_way = before.hands.held.keys().position(|held| held == particle);
            *pin = match under_way.filter(|_| !anew(*particle)) {
                Some(number) => self.environment.pins[own + number].clone(),
                None => {
                    let from = self.state.positions[*particle as usize];
                    led(*particle, from, *place, self.state.time, duration)
                }
            };
        }
        self.environment.hold(&self.model, pins);
        self.grip = Some(grip);
        if !same {
            self.renew_for_environment();
        }
    }

    /// Where a held particle goes [m]: near its place, but within reach of all else that is pinned. Hands before it are where they go to by then, those after
    /// it anywhere on their ways. What is further apart already stays so.
    fn within_reach(&mut self, particle: u32, held: &BTreeMap<u32, DVec3>, pins: &[PinGroup]) -> DVec3 {
        let ways = self.ways.entry(particle).or_insert_with(|| shortest_ways(&self.model, particle));
        let (x, place) = (&self.state.positions, held[&particle]);
        let at = |other: u32| match held.get(&other) {
            Some(to) if other < particle => *to,
            Some(to) => nearest_on_way(x[other as usize], *to, place),
            None => x[other as usize],
        };
        let pinned = pins.iter().flat_map(|pin| pin.particles.iter().copied());
        let tied = pinned.filter(|i| *i != particle && ways[*i as usize].is_finite());
        let reach = |i: u32| x[i as usize].distance(x[particle as usize]).max(REACH * ways[i as usize]);
        within(place, tied.map(|i| (at(i), reach(i))))
    }
}

/// The point between two others that is nearest to a place [m].
fn nearest_on_way(from: DVec3, to: DVec3, place: DVec3) -> DVec3 {
    let way = to - from;
    let share = (place - from).dot(way) / way.length_squared().max(f64::MIN_POSITIVE);
    from + share.clamp(0.0, 1.0) * way
}

impl Grip {
    /// The pins of a model without particles that are held otherwise, then a pin for every one that hands hold, then those of colliders.
    pub fn pins(&self, model: &Model) -> Vec<PinGroup> {
        let Self { hands: Hands { held, freed }, attached } = self;
        let taken = |i: &u32| held.contains_key(i) || attached.contains_key(i) || freed.contains(i);
        let mut pins = model.pins.clone();
        pins.iter_mut().for_each(|pin| pin.retain(|particle| !taken(&particle)));
        pins.extend(held.iter().map(|(particle, place)| led(*particle, *place, *place, 0.0, 1.0)));
        pins.extend(attached.iter().filter(|(i, _)| !held.contains_key(i)).map(|(_, pin)| pin.clone()));
        pins
    }
}

/// A hand that leads one particle `from` a point to another [m] from `time` on, for `duration` [s], and holds it there.
fn led(particle: u32, from: DVec3, to: DVec3, time: f64, duration: f64) -> PinGroup {
    let key =
        |time, shift: DVec3| Keyframe { time, shift: shift.to_array(), turn: [0.0; 3], ease: Ease::Linear };
    let way = [key(time, DVec3::ZERO), key(time + duration, to - from)];
    PinGroup { yields: true, ..PinGroup::moved(vec![particle], vec![from], Motion::new(&way)) }
}

fn check_list(list: &[DVec3], expected: usize) -> Result<(), InteractionError> {
    if list.len() != expected {
        return Err(InteractionError::Count { expected, found: list.len() });
    }
    match list.iter().position(|vector| !vector.is_finite()) {
        Some(particle) => Err(InteractionError::NotFinite { particle }),
        None => Ok(()),
    }
}
