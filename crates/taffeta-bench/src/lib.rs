//! The bench of Taffeta: experiments that time and judge the methods, and the tables and pages that tell of them.
//!
//! ```text
//! measure  ->  experiments  ->  table  ->  page
//! times        what is done     rows       JSON, CSV, Markdown, HTML
//! ```
//!
//! [`Args::run`] is `taffeta bench`. The program uses [`machine`], [`FrameSteps`], [`tell`] and [`figures`] for its other commands too;
//! [`broad_phase`] is what experiments hold against the engine's own.

pub mod broad_phase;
mod error;
mod experiments;
mod measure;
mod numbers;
mod page;
mod table;
pub mod tell;

pub use error::BenchError;
pub use experiments::Args;
pub use measure::{FrameSteps, Took, drapemeter, machine, timed};
pub use numbers::{figures, percent};
