//! A recording of what is seen, started and ended from the page.

use crate::live::Live;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::{fs, io};
use taffeta_io::recording::{Frame, FullState, Header, RecordingError, Writer};

/// Recordings in one folder; more are not made from the page.
const MOST_TAPES: u32 = 1000;

/// A recording under way.
pub struct Tape {
    /// Its file.
    pub path: PathBuf,
    writer: Writer,
    frame: Frame,
}

/// Why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The folder cannot be made.
    #[error("{path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// All names are taken.
    #[error("{path} holds {MOST_TAPES} recordings already; remove some")]
    Full {
        /// The folder.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

impl Tape {
    /// Starts under the first free name in the folder, with the present frame.
    pub fn start(folder: &Path, live: &Live, threads: usize) -> Result<Option<Self>, TapeError> {
        let Some(simulation) = live.simulation() else { return Ok(None) };
        let path = || folder.to_path_buf();
        fs::create_dir_all(folder).map_err(|source| TapeError::Folder { path: path(), source })?;
        let header = Header::of_run(&live.scene, &live.name, simulation.model(), threads);
        for number in 1..=MOST_TAPES {
            let path = folder.join(format!("view-{number}.taffeta"));
            match Writer::create(&path, &header) {
                Err(RecordingError::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(writer) => {
                    let mut tape = Self { path, writer, frame: Frame::default() };
                    tape.frame(live)?;
                    return Ok(Some(tape));
                }
            }
        }
        Err(TapeError::Full { path: path() })
    }

    /// Records the present frame.
    pub fn frame(&mut self, live: &Live) -> Result<(), RecordingError> {
        let Some(simulation) = live.simulation() else { return Ok(()) };
        let (model, state) = (simulation.model(), simulation.state());
        let frame = &mut self.frame;
        frame.number = u32::try_from(live.frame).unwrap_or(u32::MAX);
        (frame.time, frame.state_hash) = (state.time, state.hash());
        frame.set_positions(&state.positions);
        frame.bodies.clear();
        frame.bodies.extend(model.poses(state));
        frame.report = live.report();
        frame.report["frame"] = json!(frame.number);
        frame.report["time_s"] = json!(state.time);
        self.writer.frame(frame)
    }

    /// Ends it, with the full state of the last frame.
    pub fn end(mut self, live: &Live) -> Result<PathBuf, RecordingError> {
        if let Some(simulation) = live.simulation() {
            let bytes = simulation.state().to_bytes();
            // Of a scene that has begun anew the state is none of the last frame's.
            if self.frame.state_hash == simulation.state().hash() {
                self.writer.state(&FullState { frame: self.frame.number, bytes })?;
            }
        }
        self.writer.finish()?;
        Ok(self.path)
    }
}
