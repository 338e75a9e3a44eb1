//! A recording of what is seen, started and ended from the page.

use crate::live::Live;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};
use taffeta_io::recording::{Frame, FullState, Header, Reader, RecordingError, Writer};

/// Recordings in one folder; more are not made from the page.
const MOST_TAPES: u32 = 1000;

/// Where recordings go.
#[derive(Debug, Clone)]
pub enum Shelf {
    /// Into a folder.
    Folder(PathBuf),
    /// Nowhere but into memory, where there are no files.
    Memory,
}

/// A recording that is there.
#[derive(Debug, Clone)]
pub enum Kept {
    /// In a file.
    File(PathBuf),
    /// In memory, by its name.
    Memory(String, Arc<[u8]>),
}

impl Kept {
    /// Its name, as users know it.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Memory(name, _) => name.clone(),
        }
    }

    /// What it holds, where it is in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::File(_) => None,
            Self::Memory(_, bytes) => Some(bytes),
        }
    }

    /// Reads it.
    pub fn reader(&self) -> Result<Reader, RecordingError> {
        match self {
            Self::File(path) => Reader::open(path),
            Self::Memory(name, bytes) => Reader::from_bytes(bytes.clone(), Path::new(name)),
        }
    }
}

/// A recording under way.
pub struct Tape {
    /// Its file, or what it would be called.
    pub name: String,
    memory: Option<Arc<Mutex<Vec<u8>>>>,
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
    /// Starts with the present frame; in a folder, under the first free name.
    pub fn start(shelf: &Shelf, live: &Live, threads: usize) -> Result<Option<Self>, TapeError> {
        let Some(simulation) = live.simulation() else { return Ok(None) };
        let header = Header::of_run(&live.scene, &live.name, simulation.model(), threads);
        let mut tape = match shelf {
            Shelf::Folder(folder) => Self::in_folder(folder, &header)?,
            Shelf::Memory => {
                let (name, memory) = (format!("{}.taffeta", live.name), Arc::new(Mutex::new(Vec::new())));
                let writer = Writer::to_memory(memory.clone(), &header)?;
                Self { name, memory: Some(memory), writer, frame: Frame::default() }
            }
        };
        tape.frame(live)?;
        Ok(Some(tape))
    }

    fn in_folder(folder: &Path, header: &Header) -> Result<Self, TapeError> {
        let path = || folder.to_path_buf();
        fs::create_dir_all(folder).map_err(|source| TapeError::Folder { path: path(), source })?;
        for number in 1..=MOST_TAPES {
            let path = folder.join(format!("view-{number}.taffeta"));
            match Writer::create(&path, header) {
                Err(RecordingError::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(writer) => {
                    let name = path.display().to_string();
                    return Ok(Self { name, memory: None, writer, frame: Frame::default() });
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
    pub fn end(mut self, live: &Live) -> Result<Kept, RecordingError> {
        if let Some(simulation) = live.simulation() {
            let bytes = simulation.state().to_bytes();
            // Of a scene that has begun anew the state is none of the last frame's.
            if self.frame.state_hash == simulation.state().hash() {
                self.writer.state(&FullState { frame: self.frame.number, bytes })?;
            }
        }
        self.writer.finish()?;
        Ok(match self.memory {
            None => Kept::File(self.name.into()),
            Some(memory) => {
                let bytes = std::mem::take(&mut *memory.lock().unwrap_or_else(PoisonError::into_inner));
                Kept::Memory(self.name, bytes.into())
            }
        })
    }
}
