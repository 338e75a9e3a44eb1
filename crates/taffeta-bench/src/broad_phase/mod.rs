//! Another broad phase than the engine's, for comparison: P5's binary trees.

pub mod bvh;
pub mod bvh_queries;
#[cfg(test)]
mod tests;
