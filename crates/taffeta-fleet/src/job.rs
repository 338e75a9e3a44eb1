//! What goes to a worker and what comes back: one line of JSON each.

use crate::measure::Measure;
use crate::plan::{Address, SceneText};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run to carry out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What the result goes by.
    pub address: Address,
    /// The scene.
    pub scene: SceneText,
    /// Changes to it, as `key=value`.
    pub sets: Vec<String>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// Where the recording is to lie, if it is wanted.
    pub recording: Option<PathBuf>,
    /// The folder for arrays of every frame, if they are wanted.
    pub samples: Option<PathBuf>,
    /// The most memory it may hold [bytes].
    pub memory: Option<u64>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The run.
    pub address: Address,
    /// How it ended.
    pub outcome: Outcome,
    /// What it took; another time it is another.
    pub took: RunTime,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Outcome {
    /// All frames were computed.
    Done(Box<Finished>),
    /// The scene is at fault: it would be refused again.
    Refused {
        /// The faults.
        reason: String,
    },
    /// A step could not be taken: it would not be the next time either.
    Diverged {
        /// The frame, and why.
        reason: String,
    },
    /// It needs more memory than its share.
    TooLarge {
        /// What it needs and what there is.
        reason: String,
    },
    /// The machine failed, not the run: `--resume` tries it again.
    Lost {
        /// What happened.
        reason: String,
    },
}

impl Outcome {
    /// The word for it in tables.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused { .. } => "refused",
            Self::Diverged { .. } => "diverged",
            Self::TooLarge { .. } => "too-large",
            Self::Lost { .. } => "lost",
        }
    }

    /// Why there is nothing to show, if there is not.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Done(_) => None,
            Self::Refused { reason }
            | Self::Diverged { reason }
            | Self::TooLarge { reason }
            | Self::Lost { reason } => Some(reason),
        }
    }

    /// Whether it would come out the same again, on any machine.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Refused { .. } | Self::Diverged { .. })
    }
}

/// What is told of a run that came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Frames.
    pub frames: u32,
    /// Frames in which every step reached what its method promises.
    pub converged_frames: u32,
    /// Largest strain of all frames [1]; nothing where one could not be measured.
    pub max_strain: Option<f64>,
    /// Most intersections in one frame.
    pub intersections: u64,
    /// Smallest distance between cloth and bodies [m]; nothing without bodies.
    pub min_gap_m: Option<f64>,
    /// Whether every frame is within its tolerance, converged and free of intersections.
    pub good: bool,
    /// Hash of the last state.
    pub state_hash: String,
    /// Hash of the hashes of all states.
    pub all_hashes: String,
    /// What was measured, by name; nothing where there was nothing to measure.
    pub measures: BTreeMap<String, Option<f64>>,
}

impl Finished {
    /// One hash of the hashes of all states.
    pub fn hash_of(states: &[u64]) -> String {
        let bytes: Vec<u8> = states.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
    }
}

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTime {
    /// Wall time [ms].
    pub wall_ms: f64,
    /// CPU time [ms].
    pub cpu_ms: f64,
    /// How often it was begun.
    pub attempts: u32,
}
