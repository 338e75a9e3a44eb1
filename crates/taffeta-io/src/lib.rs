//! Everything of Taffeta that is a file: scene files, meshes, recordings.

pub mod catalogue;
pub mod mesh;
pub mod recording;
pub mod scene_file;
