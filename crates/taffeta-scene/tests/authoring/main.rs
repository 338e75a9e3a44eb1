//! The tests of authoring, one program: folders as in `src`.

mod build;
mod scene;
