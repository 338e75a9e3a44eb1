//! Recordings.

mod faults;
pub mod sample;
mod whole;

use taffeta_io::recording::{Frame, FullState, Header, RecordingError, Writer};
