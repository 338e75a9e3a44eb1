//! Errors of the program as exceptions of Python, in the same words.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;
use taffeta_cli::Failure;
use taffeta_io::scene_file::{LocatedFault, SceneFaults};

create_exception!(
    taffeta,
    SceneError,
    PyValueError,
    "A scene that cannot be run. Its text tells all that is wrong, as the program does; `faults` has it as data."
);
create_exception!(
    taffeta,
    SimulationError,
    PyRuntimeError,
    "A step that could not be taken. The state is the one before it."
);
create_exception!(
    taffeta,
    Cancelled,
    SimulationError,
    "A step that was cancelled, as its caller had asked. The state is the one before it."
);
create_exception!(
    taffeta,
    RecordingError,
    PyOSError,
    "A recording that cannot be read, written or gone on with."
);

/// One thing that is wrong with a scene.
#[pyclass(module = "taffeta", frozen, get_all)]
#[derive(Debug, Clone)]
pub struct Fault {
    /// The key, such as `cloth[0].sheet.rows`.
    key: String,
    /// The value found there, as its author would write it.
    value: String,
    /// Why it will not do.
    reason: String,
    /// What to do about it.
    remedy: String,
    /// The line of the file that it stands in, counted from 1; None where no file is to blame.
    line: Option<usize>,
}

#[pymethods]
impl Fault {
    fn __repr__(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!("line {line}: "));
        format!("<Fault {line}{} = {}: {}; {}>", self.key, self.value, self.reason, self.remedy)
    }
}

/// A scene that cannot be run.
pub fn faulty(py: Python, faults: &SceneFaults) -> PyErr {
    let error = SceneError::new_err(faults.to_string());
    let fault = |located: &LocatedFault| {
        let taffeta_scene::Fault { key, value, reason, remedy, .. } = located.fault.clone();
        let before = located.span.as_ref().and_then(|span| faults.text.get(..span.start));
        Fault { key, value, reason, remedy, line: before.map(|text| 1 + text.matches('\n').count()) }
    };
    let told: Vec<Fault> = faults.faults.iter().map(fault).collect();
    match error.value(py).setattr("faults", told) {
        Ok(()) => error,
        Err(instead) => instead,
    }
}

/// What a command of the program would have ended with.
pub fn failed(py: Python, failure: Failure) -> PyErr {
    match failure {
        Failure::Scene(faults) => faulty(py, &faults),
        other => RecordingError::new_err(other.to_string()),
    }
}

/// A step that could not be taken.
pub fn stopped(error: impl Display) -> PyErr {
    SimulationError::new_err(error.to_string())
}

/// Arguments that cannot be right.
pub fn refused(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A recording that cannot be read or written.
pub fn unrecorded(error: impl Display) -> PyErr {
    RecordingError::new_err(error.to_string())
}
