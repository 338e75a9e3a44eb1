//! Mathematics that knows no cloth: vectors, rigid poses, random numbers, trigonometry with the same bits everywhere.

pub mod lanes;
#[cfg(target_arch = "x86_64")]
mod lanes_x86;
pub mod pose;
pub mod random;
pub mod trig;
pub mod vec4;

pub use glam::{DAffine3, DMat3, DMat4, DQuat, DVec2, DVec3};
pub use pose::Pose;
pub use vec4::Vec4;
