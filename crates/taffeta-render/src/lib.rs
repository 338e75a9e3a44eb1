//! Pictures, films and plots of cloth, with no GPU, no window and nothing to install.
//!
//! ```text
//! view  ->  trace  ->  shade  ->  picture  ->  film
//! what      rays       light      pixels       files
//! ```
//!
//! [`view::SceneView`] borrows the arrays of one moment; [`render`] makes an [`Image`] of it, the same bytes on any number of
//! threads; [`film::Film`] puts one or many of them into a file. [`values`] computes what cloth can be coloured by, and
//! [`plot`] draws the numbers of runs.

pub mod camera;
pub mod colour;
pub mod film;
mod font;
mod legend;
pub mod picture;
pub mod plot;
mod shade;
mod trace;
pub mod values;
pub mod view;

pub use camera::{Camera, Framing};
pub use film::{Film, FilmError, Reel};
pub use legend::Scale;
pub use picture::{Image, Picture, Quality, RenderError, range_of, render};
pub use view::{BodyView, ClothView, SceneView, Values};
