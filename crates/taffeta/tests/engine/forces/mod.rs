//! Forces against their energies, closed answers and absurd input.

mod absurd;
mod baraff_witkin;
mod derivatives;
#[cfg(target_arch = "x86_64")]
mod gather;
mod meshes;
mod plate;
mod pressure;
mod spring;
mod stable_step;
mod wind;
