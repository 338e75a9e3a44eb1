//! One step, method by method.

mod allocation;
mod barrier;
mod device;
mod garments;
mod implicit;
mod implicit_contact;
mod impulse_oracles;
mod impulse_pendulum;
mod impulse_rest;
mod impulse_stretch;
mod impulse_tolerance;
mod interventions;
mod oracles;
mod params;
mod parting;
mod position_based;
mod pressing;
mod strain_limit;
