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

pub mod check;
pub mod collide;
pub mod forces;
pub mod math;
pub mod model;
pub mod parallel;
pub mod solve;
pub mod step;

pub use step::Simulation;
