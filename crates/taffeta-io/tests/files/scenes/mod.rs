//! Scene files and what they name.

mod bad;
mod drawings;
mod file;
mod garmentcode;
mod imports;
mod keys;
mod layers;
mod mesh_bodies;
mod soak;
mod svg;
mod tablecloth_pull;
mod trampoline;
mod worn;
