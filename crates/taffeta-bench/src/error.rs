//! Why an experiment could not be done.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use taffeta::step::StepError;
use taffeta_io::scene_file::SceneFaults;

/// Why an experiment could not be done.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Its scene cannot be run.
    #[error(transparent)]
    Scene(Box<SceneFaults>),
    /// What was asked for cannot be had: an experiment, a list of peers, so many threads.
    #[error(transparent)]
    Asked(Box<dyn Error + Send + Sync>),
    /// A step could not be taken.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A picture could not be made.
    #[error(transparent)]
    Picture(Box<dyn Error + Send + Sync>),
    /// A file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Nothing can be told.
    #[error("stdout: {0}")]
    Stdout(#[source] io::Error),
}

impl BenchError {
    pub(crate) fn asked(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Asked(Box::new(error))
    }

    pub(crate) fn picture(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Picture(Box::new(error))
    }
}

impl From<SceneFaults> for BenchError {
    fn from(faults: SceneFaults) -> Self {
        Self::Scene(Box::new(faults))
    }
}
