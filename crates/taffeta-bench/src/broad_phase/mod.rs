//! Other broad phases than the engine's, for comparison: P5's binary trees, and P4's lists that are kept from step to step.

pub mod bvh;
pub mod bvh_queries;
pub mod fat_aabb_cache;
#[cfg(test)]
mod tests;
