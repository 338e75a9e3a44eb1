//! Mathematics that knows no cloth: vectors, rigid poses, random numbers, trigonometry with the same bits everywhere.

internal! { lanes vec4 }

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod fused_wasm;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
internal! { lanes_wasm }
#[cfg(target_arch = "x86_64")]
mod lanes_x86;
pub mod log_barrier;
pub mod pose;
pub mod random;
pub mod trig;

pub use glam::{DAffine3, DMat3, DMat4, DQuat, DVec2, DVec3};
pub use lanes::InstructionSet;
pub use pose::Pose;
#[cfg(not(feature = "internals"))]
pub(crate) use vec4::Vec4;
#[cfg(feature = "internals")]
pub use vec4::Vec4;
