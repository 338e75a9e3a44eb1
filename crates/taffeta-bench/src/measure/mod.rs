//! Measuring: the machine, the time that work takes, and what is made of many times.

mod clock;
pub mod drapemeter;
pub mod machine;
mod statistics;
mod stepping;

pub use clock::{Took, timed};
pub(crate) use statistics::{Milliseconds, crossing, median};
pub use stepping::FrameSteps;
pub(crate) use stepping::{build, go_back, warm_up};
