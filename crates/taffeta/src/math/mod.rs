//! Mathematics that knows no cloth: vectors, rigid poses, random numbers, trigonometry with the same bits everywhere.

pub mod pose;
pub mod random;
pub mod trig;

pub use glam::{DMat3, DQuat, DVec3};
pub use pose::Pose;
