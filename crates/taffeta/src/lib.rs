//! Taffeta: cloth simulation in which every frame carries a certificate and the same scene gives the same bits on any
//! number of threads.
//!
//! The data goes one way, and the modules are its stations:
//!
//! ```text
//! model  ->  step  ->  forces  ->  solve  ->  collide  ->  check
//! made       one step  what pulls  what holds what touches what is certified
//! ```
//!
//! A constant [`model::Model`] and a changing [`model::State`] make a [`Simulation`]; [`Simulation::step`] moves the state on; [`check::certify`] measures it by
//! code that is not the solver. Models are authored by the crate `taffeta-scene`, from scene files or from a program. The engine opens no file, prints nothing
//! and never exits.

//! # What is public
//!
//! [`Simulation`], what it is made of ([`model`]), what it tells ([`step`], [`check`]) and the mathematics in between. With the feature `internals`, which
//! promises nothing from version to version, forces, solvers and collision detection are reached too, for experiments.

// What only experiments and tests reach is not dead.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]

/// Modules that are public with the feature `internals` alone.
macro_rules! internal {
    ($($name:ident)*) => {
        $(
            #[cfg(feature = "internals")]
            pub mod $name;
            #[cfg(not(feature = "internals"))]
            pub(crate) mod $name;
        )*
    };
}

pub mod check;
pub mod math;
pub mod model;
pub mod step;

internal! { collide forces parallel solve }

pub use collide::contact::untangle::ways_apart;
pub use step::Simulation;
