//! Sparse systems: symmetric matrices of 3×3 blocks, what is added to them beyond their pattern, and all lengths at once by L D Lᵀ.

mod assembly;
pub mod direct;
pub mod elimination;
pub mod ldl;
pub mod matrix;
mod pattern;
pub mod rank_one;
