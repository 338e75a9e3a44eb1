//! Many runs: sweeps over the keys of a scene, fabrics fitted to measurements, data sets.
//!
//! The way of the data:
//!
//! ```text
//! asked  ->  plan  ->  pool  ->  work  ->  store  ->  table  ->  plot
//! TOML       runs      processes  one run   results     Parquet    SVG
//! ```
//!
//! - [`asked`] reads the sweep file: a scene, changes to it, axes, measures.
//! - A [`plan::Plan`] is all runs in their order, none of them written out: run k is a point of the axes. Its **address** is a hash of
//!   the version of the program, of the scene with all defaults and all meshes, of its changes and of what is measured. Nothing else
//!   decides what comes out, so that a result with the same address never has to be computed again, on whatever machine it was.
//! - The [`pool::Pool`] starts processes of the same program and hands each of them one [`job::Job`] after the other, a line of JSON
//!   each. A process that dies takes one run with it, which is tried again by another. What a run may hold is its share of the
//!   memory; one that needs more runs alone after the others.
//! - A worker makes a [`job::RunResult`] of a job: the program does (`taffeta sweep work`), with what it runs scenes by.
//! - The [`store::Store`] is a folder with one file for every result, which appears whole or not at all. It is locked: one
//!   sweep at a time.
//! - The [`table`] has a row for every run, those that failed too. It holds nothing that depends on machine or order, so that equal
//!   sweeps give equal bytes; times are in a table of their own.
//!
//! [`fit`] hands testers of a laboratory to the pool, [`dataset`] makes data of a sweep that is done.

pub mod asked;
pub mod dataset;
pub mod fit;
pub mod job;
pub mod measure;
pub mod npz;
pub mod parquet;
pub mod plan;
pub mod plot;
pub mod pool;
pub mod store;
pub mod table;

use std::io;
use std::path::PathBuf;
use taffeta_io::scene_file::SceneFaults;

/// Why runs cannot be planned, kept or told of.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A file asks for what cannot be had.
    #[error("{}{line}: {reason}; {remedy}", path.display(), line = .line.map(|n| format!(":{n}")).unwrap_or_default())]
    Asked {
        /// The file.
        path: PathBuf,
        /// Its line, where one is to blame.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The scene cannot be run.
    #[error(transparent)]
    Scene(Box<SceneFaults>),
    /// The system refused.
    #[error("{}: {doing} failed: {source}; what is there is whole, and `--resume` goes on once the cause is gone", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl FleetError {
    /// A fault of a file as a whole.
    pub fn asked(path: impl Into<PathBuf>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Asked { path: path.into(), line: None, reason: reason.into(), remedy: remedy.into() }
    }

    /// The system's refusal to do something with a file.
    pub fn io(path: impl Into<PathBuf>, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, doing, source }
    }
}

impl From<SceneFaults> for FleetError {
    fn from(faults: SceneFaults) -> Self {
        Self::Scene(Box::new(faults))
    }
}
