//! Bodies: free, led, of meshes, soft.

mod free;
mod meshes;
mod moving;
mod solids;
