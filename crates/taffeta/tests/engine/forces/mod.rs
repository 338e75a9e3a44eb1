//! Forces against their energies, closed answers and absurd input.

mod absurd;
mod baraff_witkin;
mod derivatives;
mod hinge;
mod meshes;
mod pressure;
mod spring;
mod wind;
