//! Strips of edges: lengths, shear and bends along them as small banded systems, eight side by side in SIMD lanes (P1).

pub mod bends;
pub mod blocks;
mod particles;
pub mod parts;
pub mod predict;
mod seams;
pub mod tridiagonal;
