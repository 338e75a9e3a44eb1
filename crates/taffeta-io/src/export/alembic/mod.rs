//! A writer of Alembic archives (`.abc`), in three layers that know nothing of cloth or recordings.
//!
//! [`ogawa`] is the container: blocks of bytes and groups of offsets. [`archive`] is Alembic's core on top of it: objects,
//! properties, samples, time. [`geom`] is its schema of meshes and transforms. Samples go to the file as they come; what
//! stays in memory is one offset per sample. The layout is that of the reference library, versions 1.5 to 1.8.

pub mod archive;
pub mod geom;
pub mod ogawa;

pub use archive::{Archive, Object, Times};
pub use geom::{Mesh, Transform};
