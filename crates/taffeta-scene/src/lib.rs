//! Authoring for Taffeta: the scene file and what it is made into.
//!
//! [`Scene`] is what the user asks for, plain data with units and defaults; [`rules`] hold it against its schema and against sense, and tell all that is wrong at
//! once; [`build`](build()) makes it into the [`Model`] and first [`State`] that the engine steps.

pub mod build;
pub mod colour;
pub mod rules;
mod scene;

pub use build::{air_model, build, build_torn, simulation, simulation_on};
pub use rules::{FASTEST_BODY, Fault, FaultyScene, MOST_PARTICLES, Rule, faults_of_value};
pub use scene::*;
