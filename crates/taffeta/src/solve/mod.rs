//! What holds: lengths kept by impulses along strips of edges (P1, P2), and linear systems of implicit cloth: symmetric matrices of 3×3
//! blocks, conjugate gradients, what makes them converge fast.

pub mod bends;
mod block_assembly;
pub mod block_matrix;
mod block_pattern;
pub mod blocks;
pub mod coupling;
pub mod direct;
mod elimination;
pub mod limit;
pub mod parts;
pub mod pcg;
pub mod preconditioner;
pub mod preconditioner_coarse;
mod preconditioner_levels;
mod preconditioner_pieces;
pub mod pull;
pub mod strips;
