//! Linear systems.

mod allocation;
mod coupling;
mod linear;
mod systems;
