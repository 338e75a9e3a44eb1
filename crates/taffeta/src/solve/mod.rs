//! Linear systems of implicit cloth: symmetric matrices of 3×3 blocks, conjugate gradients, what makes them converge fast.

pub mod block_matrix;
pub mod pcg;
pub mod preconditioner;
mod preconditioner_coarse;
mod preconditioner_levels;
