//! What cloth meets: shapes and surfaces, how they are led, and those that move freely.

pub mod body_mesh;
pub mod collider;
pub mod motion;
pub mod rigid;
pub mod skin;
