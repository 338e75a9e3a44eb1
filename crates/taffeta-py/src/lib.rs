//! Taffeta from Python: what the package `taffeta` is made of below its Python part, which lies in `python/taffeta`.
//!
//! Everything that takes long runs on threads of `work` with Python's own lock released, and hears Ctrl-C.

mod arrays;
mod batch;
mod check;
mod device_batch;
mod errors;
mod picture;
mod recorder;
mod recording;
mod scene;
mod simulation;
mod sweep;
mod widget;
mod work;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The compiled part of the package `taffeta`.
#[pymodule]
mod _taffeta {
    use super::*;

    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::check::{Certificate, certify};
    #[pymodule_export]
    use super::device_batch::{DeviceArray, DeviceBatch};
    #[pymodule_export]
    use super::errors::{Cancelled, Fault, RecordingError, SceneError, SimulationError};
    #[pymodule_export]
    use super::recorder::Recorder;
    #[pymodule_export]
    use super::recording::Recording;
    #[pymodule_export]
    use super::scene::{built_in, fabrics, methods, read_scene, schema, to_toml};
    #[pymodule_export]
    use super::simulation::{Simulation, StepReport};
    #[pymodule_export]
    use super::sweep::{Sweep, run_job};
    #[pymodule_export]
    use super::widget::{ShownRecording, shown_simulation, widget_source};
    #[pymodule_export]
    use super::work::set_threads;

    /// Runs the program `taffeta` with these words after its name; the exit code that it ends with.
    #[pyfunction]
    fn program(py: Python, words: Vec<OsString>) -> u8 {
        let words = [OsString::from("taffeta")].into_iter().chain(words).collect::<Vec<_>>();
        py.detach(|| taffeta_cli::program(words))
    }

    #[pymodule_init]
    fn init(module: &Bound<PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
