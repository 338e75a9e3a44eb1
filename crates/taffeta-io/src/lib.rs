//! Everything of Taffeta that is a file: scene files, meshes, recordings, exports.

pub mod arcsim;
pub mod catalogue;
pub mod clock;
pub mod export;
pub mod mesh;
pub mod recording;
pub mod replacement;
pub mod scene_file;
