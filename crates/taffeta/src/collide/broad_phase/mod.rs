//! The broad phase: which features may come near each other at all, by trees of boxes around what they sweep.

pub(crate) mod body_pairs;
pub mod boxes;
pub mod candidates;
pub mod curvature_culler;
pub mod features;
pub mod finder;
pub mod one_ring_culler;
mod patches;
pub mod sixteen;
pub mod sorted;
pub mod triangle_axis;
pub mod wide_bvh;
