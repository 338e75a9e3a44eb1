//! The cloth in a notebook: the widget, and the messages that it is fed.

use crate::errors::unrecorded;
use crate::simulation::Simulation;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use taffeta_view::widget::{self, Recorded};

/// The widget as one module of JavaScript; None where npm was not there to build it.
#[pyfunction]
pub fn widget_source() -> Option<&'static str> {
    widget::source()
}

/// The messages that show a simulation: its shape, if it is asked for, and its present state.
#[pyfunction]
pub fn shown_simulation<'py>(
    py: Python<'py>,
    simulation: &Simulation,
    serial: u32,
    with_shape: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let number = simulation.frame_number();
    let report = serde_json::to_value(simulation.told(py)?).map_err(unrecorded)?;
    let shape = with_shape.then(|| widget::shape(&simulation.engine));
    let frame = widget::frame(&simulation.engine, serial, number, report);
    Ok(shape.into_iter().chain([frame]).map(|bytes| PyBytes::new(py, &bytes)).collect())
}

/// A recording as messages.
#[pyclass(module = "taffeta._taffeta")]
pub struct ShownRecording(Recorded);

#[pymethods]
impl ShownRecording {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Recorded::open(&path).map(Self).map_err(unrecorded)
    }

    /// The message of its shape.
    fn shape<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.shape())
    }

    /// The message of a frame, counted from 0.
    fn frame<'py>(&mut self, py: Python<'py>, serial: u32, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.frame(serial, index).map_err(unrecorded)?))
    }
}
