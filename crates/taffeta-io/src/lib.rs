//! Everything of Taffeta that is a file: scene files, meshes, recordings.

pub mod mesh;
