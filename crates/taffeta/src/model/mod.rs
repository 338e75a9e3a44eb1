//! What a scene is made into.

pub mod collider;
