//! What the user asks for: plain data with units and defaults.

pub mod mesh;

pub use mesh::Mesh;
