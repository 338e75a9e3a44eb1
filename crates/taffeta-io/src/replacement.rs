//! A file that takes its place only when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file written beside its place and moved there when it is whole.
pub struct Replacement {
    /// Where to write.
    pub out: BufWriter<File>,
    beside: PathBuf,
    place: PathBuf,
}

impl Replacement {
    /// Starts the file that is to lie at `place`.
    pub fn begin(place: &Path) -> io::Result<Self> {
        let mut name = place.file_name().unwrap_or_default().to_os_string();
        name.push(".new");
        let beside = place.with_file_name(name);
        Ok(Self { out: BufWriter::new(File::create(&beside)?), beside, place: place.into() })
    }

    /// Puts a file with this text at `place`.
    pub fn write(place: &Path, text: &str) -> io::Result<()> {
        let mut file = Self::begin(place)?;
        file.out.write_all(text.as_bytes())?;
        file.put_in_place()
    }

    /// Moves it there.
    pub fn put_in_place(mut self) -> io::Result<()> {
        self.out.flush()?;
        fs::rename(&self.beside, &self.place)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Gone already where it was put in place; half a file helps nobody.
        let _ = fs::remove_file(&self.beside);
    }
}
