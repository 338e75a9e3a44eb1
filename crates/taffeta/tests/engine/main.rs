//! The engine's tests, one program: folders as in `src`, and what all methods have to obey.

mod bodies;
mod check;
mod collide;
mod common;
mod determinism;
mod folds;
mod forces;
mod frames;
mod house;
mod hysteresis;
mod laws;
mod math;
mod model;
mod parallel;
mod solve;
mod step;
