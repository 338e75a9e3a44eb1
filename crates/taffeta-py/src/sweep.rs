//! Sweeps whose runs are carried out elsewhere, as on a cluster: what is left to do, and where results go.

use crate::errors::{faulty, refused, unrecorded};
use crate::work::on_all_threads;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use taffeta_fleet::FleetError;
use taffeta_fleet::asked::Asked;
use taffeta_fleet::plan::{Plan, Shard};
use taffeta_fleet::store::Store;
use taffeta_fleet::table;

/// A sweep and its folder, which is locked until this is let go of. Jobs and results are lines of JSON.
#[pyclass(module = "taffeta._taffeta", frozen)]
pub struct Sweep {
    plan: Plan,
    store: Store,
}

fn failed(py: Python, error: FleetError) -> PyErr {
    match error {
        FleetError::Scene(faults) => faulty(py, &faults),
        asked @ FleetError::Asked { .. } => refused(asked),
        other => unrecorded(other),
    }
}

#[pymethods]
impl Sweep {
    /// Reads a sweep file and opens its folder.
    #[new]
    fn new(py: Python, file: PathBuf, out: PathBuf, resume: bool) -> PyResult<Self> {
        let plan = Asked::read(&file).and_then(|asked| asked.plan()).map_err(|error| failed(py, error))?;
        let store = Store::open(&out, &plan, resume).map_err(|error| failed(py, error))?;
        Ok(Self { plan, store })
    }

    fn __len__(&self) -> usize {
        self.plan.runs()
    }

    /// The numbers of the runs that have no result yet.
    fn left(&self) -> Vec<usize> {
        taffeta_cli::left(&self.plan, &self.store, Shard::ALL)
    }

    /// A run as a job.
    fn job(&self, py: Python, run: usize) -> PyResult<String> {
        if run >= self.plan.runs() {
            return Err(refused(format!("run {run}: the sweep has {}, the first is 0", self.plan.runs())));
        }
        let job = self.store.place(&self.plan, self.plan.job(run)).map_err(|error| failed(py, error))?;
        serde_json::to_string(&job).map_err(refused)
    }

    /// Keeps the result of a job.
    fn keep(&self, py: Python, result: &str) -> PyResult<()> {
        let result = serde_json::from_str(result).map_err(refused)?;
        self.store.keep(&self.plan, &result).map_err(|error| failed(py, error))
    }

    /// Writes the tables; how many runs ended in which way.
    fn finish(&self, py: Python) -> PyResult<BTreeMap<&'static str, usize>> {
        table::write(self.store.path(), &self.plan, Shard::ALL).map_err(|error| failed(py, error))
    }
}

/// Carries out a job; its result.
#[pyfunction]
pub fn run_job(py: Python, job: &str) -> PyResult<String> {
    let answer = on_all_threads(py, |_| taffeta_cli::answer(job))?;
    answer.ok_or_else(|| refused("this is no job of a sweep"))
}
