//! Strips of edges and of quads: lengths, shear, bends and twist along them as small banded systems, eight side by side in SIMD lanes (P1).

pub mod bends;
pub mod blocks;
pub mod extensible;
pub mod ladders;
mod particles;
pub mod parts;
pub mod predict;
pub mod rests;
mod seams;
pub mod tridiagonal;
pub mod twists;
