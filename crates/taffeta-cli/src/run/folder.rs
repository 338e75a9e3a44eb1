//! The folder of a run: one run at a time, and no recording is ever lost to the next.

use crate::Failure;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use taffeta_io::recording::Reader;

/// The recording before the present one.
const PREVIOUS: &str = "recording.previous.taffeta";

/// The folder that a run writes to, locked against other runs until this is dropped.
pub struct Folder {
    path: PathBuf,
    lock: File,
}

/// Why a folder cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A finished run lies there.
    #[error("{}: is a finished run; name another folder with --out, or ask for --overwrite", .0.display())]
    Finished(PathBuf),
    /// An unfinished run lies there, and one that was set aside before it.
    #[error(
        "{}: is a run that would be lost; go on with --resume, name another folder with --out, or ask for --overwrite",
        .0.display()
    )]
    SetAside(PathBuf),
    /// Another run writes there.
    #[error("{}: another run is writing to this folder; wait for it, or name another folder with --out", .0.display())]
    InUse(PathBuf),
    /// The system refused.
    #[error("{}: {doing} failed: {source}; name another folder", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Failure::input(error)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A child process that is just being started has the same handle, and would keep the lock for a moment.
        let _ = self.lock.unlock();
    }
}

impl Folder {
    /// Makes the folder if need be, and locks it. The lock is the system's: it ends with the process, however that ends.
    pub fn open(path: PathBuf) -> Result<Self, FolderError> {
        make(&path)?;
        let file = path.join(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&file);
        let lock = lock.map_err(refused(&file, "opening the lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, lock }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse(path)),
            Err(TryLockError::Error(source)) => Err(refused(&file, "locking")(source)),
        }
    }

    /// Where the recording lies.
    pub fn recording(&self) -> PathBuf {
        self.path.join("recording.taffeta")
    }

    /// Where the picture of the last frame lies.
    pub fn picture(&self) -> PathBuf {
        self.path.join("picture.png")
    }

    /// Where the report lies.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// Refuses to make room where a finished run lies, or where a run would be lost, unless that is asked for.
    pub fn check(&self, overwrite: bool) -> Result<(), FolderError> {
        let (there, previous) = (self.recording(), self.path.join(PREVIOUS));
        match () {
            () if overwrite || !there.exists() => Ok(()),
            () if Reader::open(&there).is_ok_and(|reader| reader.complete()) => {
                Err(FolderError::Finished(there))
            }
            () if previous.exists() => Err(FolderError::SetAside(previous)),
            () => Ok(()),
        }
    }

    /// Makes room for a new recording and its report; tells where the recording that was there is now.
    pub fn set_aside(&self) -> Result<Option<PathBuf>, FolderError> {
        self.keep(&self.report(), "report.previous.json")?;
        self.keep(&self.recording(), PREVIOUS)
    }

    fn keep(&self, file: &Path, name: &str) -> Result<Option<PathBuf>, FolderError> {
        if !file.exists() {
            return Ok(None);
        }
        let previous = self.path.join(name);
        fs::rename(file, &previous).map_err(refused(file, "setting aside"))?;
        Ok(Some(previous))
    }
}

/// Makes a folder, if it is not there.
pub fn make(path: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(path).map_err(refused(path, "making the folder"))
}

fn refused<'a>(path: &'a Path, doing: &'static str) -> impl FnOnce(io::Error) -> FolderError + 'a {
    move |source| FolderError::Io { path: path.into(), doing, source }
}
