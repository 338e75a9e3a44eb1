//! A file that appears under its name only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file in the making: beside its place until it is put there; removed if it never is.
#[derive(Debug)]
pub struct Part {
    beside: PathBuf,
    place: PathBuf,
    placed: bool,
}

impl Part {
    /// Starts the file that is to lie at `place`.
    pub fn begin(place: &Path) -> io::Result<(Self, File)> {
        let name = place.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
        // The process alone does not make a name unique: threads may write the same film twice.
        for attempt in 0..1000 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.part", std::process::id()));
            let beside = place.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => return Ok((Self { beside, place: place.into(), placed: false }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are a thousand unfinished files of that name beside it; remove them"))
    }

    /// Where it lies while it is made.
    pub fn beside(&self) -> &Path {
        &self.beside
    }

    /// Puts the whole file in its place, over what was there.
    pub fn put_in_place(mut self) -> io::Result<()> {
        fs::rename(&self.beside, &self.place)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.placed {
            // Nothing is left to do for a file that cannot be removed either.
            let _ = fs::remove_file(&self.beside);
        }
    }
}
