//! Tests of pictures, films and plots, one program.

mod common;
mod films;
mod plots;
mod stills;
