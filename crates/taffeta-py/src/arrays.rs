//! Arrays of Python: what is read from them, and those that follow the state of a simulation.

use crate::errors::refused;
use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taffeta::math::DVec3;

/// Rows as an array that Python owns.
pub fn columns<'py, T, const N: usize>(py: Python<'py>, rows: &[[T; N]]) -> Bound<'py, PyArray2<T>>
where
    T: Element + Copy + Default,
{
    let flat: Vec<T> = rows.as_flattened().to_vec();
    // As many numbers as there are places for them.
    Array2::from_shape_vec((rows.len(), N), flat).unwrap_or_default().into_pyarray(py)
}

/// Vectors as an array of three columns that Python owns.
pub fn vectors<'py>(py: Python<'py>, list: &[DVec3]) -> Bound<'py, PyArray2<f64>> {
    let rows: Vec<[f64; 3]> = list.iter().map(|v| v.to_array()).collect();
    columns(py, &rows)
}

/// The rows of an array, which must have `N` columns; `what` names it in errors.
pub fn rows<T: Element + Copy, const N: usize>(
    array: &PyReadonlyArray2<T>,
    what: &str,
) -> PyResult<Vec<[T; N]>> {
    let [count, width] = [array.shape()[0], array.shape()[1]];
    if width != N {
        return Err(refused(format!(
            "{what} has the shape ({count}, {width}); give an array of shape ({count}, {N})"
        )));
    }
    let numbers: Vec<T> = array.as_array().iter().copied().collect();
    Ok(numbers.as_chunks().0.to_vec())
}

/// The rows of an array as vectors [m].
pub fn points(array: &PyReadonlyArray2<f64>, what: &str) -> PyResult<Vec<DVec3>> {
    Ok(rows::<f64, 3>(array, what)?.into_iter().map(DVec3::from).collect())
}

/// An array that follows a list of the state once anybody has asked for it. Python gets a view of it that it cannot write to, so that it stays
/// whole whatever the simulation does.
#[derive(Default)]
pub struct Mirror(Option<Shown>);

struct Shown {
    own: Py<PyArray2<f64>>,
    /// What Python sees of it.
    view: Py<PyArray2<f64>>,
}

impl Mirror {
    /// The array that Python sees.
    pub fn show(&mut self, py: Python, list: &[DVec3]) -> PyResult<Py<PyArray2<f64>>> {
        if let Some(shown) = &self.0 {
            return Ok(shown.view.clone_ref(py));
        }
        let own = vectors(py, list);
        let view = own.call_method0("view")?.cast_into::<PyArray2<f64>>()?;
        view.call_method1("setflags", (false,))?;
        self.0 = Some(Shown { own: own.unbind(), view: view.clone().unbind() });
        Ok(view.unbind())
    }

    /// Follows the list.
    pub fn follow(&mut self, py: Python, list: &[DVec3]) -> PyResult<()> {
        let Some(shown) = &self.0 else { return Ok(()) };
        let mut own = shown.own.bind(py).try_readwrite().map_err(refused)?;
        copy(list, own.as_slice_mut()?);
        Ok(())
    }
}

/// Puts vectors one after the other.
pub fn copy(list: &[DVec3], numbers: &mut [f64]) {
    let (rows, _) = numbers.as_chunks_mut::<3>();
    rows.iter_mut().zip(list).for_each(|(row, vector)| *row = vector.to_array());
}
