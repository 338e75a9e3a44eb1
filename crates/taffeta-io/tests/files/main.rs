//! Tests of everything that is a file, one program.

mod animated;
mod arcsim;
mod export;
mod meshes;
mod recording;
mod scenes;
