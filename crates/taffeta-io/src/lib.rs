//! Everything of Taffeta that is a file: scene files, meshes, recordings, exports.

pub mod export;
pub mod recording;
