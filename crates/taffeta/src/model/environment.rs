//! What acts on a model from outside and may change from step to step: gravity, air, and who holds which particles.

use super::{Model, PinGroup};
use crate::math::DVec3;

/// What acts on a model from outside during a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// Acceleration of all that is free [m/s²].
    pub gravity: DVec3,
    /// What the cloth moves through.
    pub air: AirModel,
    /// Forces on particles of cloth in the next step [N]; empty where there are none.
    pub(crate) forces: Vec<DVec3>,
    /// Particles that are held or led: those of the model, and those that hands hold.
    pub(crate) pins: Vec<PinGroup>,
    /// One over the mass of every particle, 0 for one that is held [1/kg].
    pub(crate) inverse_mass: Vec<f64>,
    /// The same against closed-form bodies: there hands give way, of methods that let them [1/kg].
    pub(crate) inverse_mass_in_contact: Vec<f64>,
}

/// A hand that gives way is so many times as heavy as the particle that it holds [1].
pub(crate) const HAND: f64 = 10.0;

/// What the cloth moves through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AirModel {
    /// Density [kg/m³].
    pub density: f64,
    /// Drag coefficient across a triangle [1].
    pub drag: f64,
    /// Friction coefficient along a triangle [1].
    pub skin_friction: f64,
    /// Velocity of the air [m/s].
    pub wind: DVec3,
    /// Rate of loss of velocity relative to the wind [1/s].
    pub damping: f64,
    /// Lift coefficient per angle [1/rad].
    pub lift: f64,
    /// Largest velocity of gusts along any axis [m/s], how often [1/s] and over what distance [m] they change.
    pub gust: [f64; 3],
    /// Which gusts of all.
    pub seed: u64,
}

impl Environment {
    /// That which a model starts in.
    pub fn new(model: &Model) -> Self {
        let mut environment = Self {
            gravity: model.gravity,
            air: model.air,
            forces: Vec::new(),
            pins: Vec::new(),
            inverse_mass: vec![0.0; model.particle_count()],
            inverse_mass_in_contact: Vec::new(),
        };
        environment.hold(model, model.pins.clone());
        environment
    }

    /// Lets these pins hold their particles, and no others.
    pub(crate) fn hold(&mut self, model: &Model, pins: Vec<PinGroup>) {
        for (inverse, mass) in self.inverse_mass.iter_mut().zip(&model.mass) {
            // Spare particles have no mass, and do not move.
            *inverse = if *mass > 0.0 { 1.0 / mass } else { 0.0 };
        }
        for particle in pins.iter().flat_map(|pin| &pin.particles) {
            self.inverse_mass[*particle as usize] = 0.0;
        }
        self.inverse_mass_in_contact.clone_from(&self.inverse_mass);
        for pin in pins.iter().filter(|pin| pin.yields && model.method.keeps_lengths()) {
            for i in pin.particles.iter().map(|i| *i as usize) {
                self.inverse_mass_in_contact[i] = 1.0 / (HAND * model.mass[i]);
            }
        }
        self.pins = pins;
    }

    /// Particles that are held or led: those of the model, and those that hands hold.
    pub fn pins(&self) -> &[PinGroup] {
        &self.pins
    }

    /// Forces on particles of cloth in the next step [N]; empty where there are none.
    pub fn forces(&self) -> &[DVec3] {
        &self.forces
    }

    /// One over the mass of every particle, 0 for one that is held [1/kg].
    pub fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }
}
