//! Linear systems.

mod allocation;
mod block_matrix;
mod coloring;
mod coupling;
mod ldl;
mod linear;
mod preconditioner_coarse;
mod systems;
