//! Files and folders that appear whole under their names or not at all.

use super::ExportError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file or folder under a hidden name beside its own, until [`Pending::commit`]; dropped before that, it is removed.
pub(super) struct Pending {
    hidden: PathBuf,
    target: PathBuf,
    over: Over,
    committed: bool,
}

/// What may be replaced.
#[derive(Debug, Clone)]
enum Over {
    Nothing,
    File,
    /// A folder of nothing but files with this beginning and one of these extensions: an earlier export.
    Folder(String, Vec<&'static str>),
}

impl Pending {
    /// Starts a file.
    pub fn file(target: &Path, replace: bool) -> Result<(Pending, BufWriter<File>), ExportError> {
        let mut open = OpenOptions::new();
        open.read(true).write(true).create_new(true);
        let over = if replace { Over::File } else { Over::Nothing };
        let (pending, file) = Pending::create(target, over, |hidden| open.open(hidden))?;
        Ok((pending, BufWriter::with_capacity(1 << 16, file)))
    }

    /// Starts a folder of files that are called `name.….extension`, with any of the extensions.
    pub fn folder(
        target: &Path,
        replace: bool,
        name: &str,
        extensions: Vec<&'static str>,
    ) -> Result<Pending, ExportError> {
        let ours = Over::Folder(format!("{name}."), extensions);
        let over = if replace { ours } else { Over::Nothing };
        Ok(Pending::create(target, over, |hidden| fs::create_dir(hidden))?.0)
    }

    fn create<T>(
        target: &Path,
        over: Over,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<(Pending, T), ExportError> {
        check_free(target, &over)?;
        let mut attempt = 0;
        loop {
            let hidden = beside(target, "part", attempt);
            match make(&hidden) {
                Ok(made) => {
                    let pending = Pending { hidden, target: target.into(), over, committed: false };
                    return Ok((pending, made));
                }
                // What a killed process left behind, or another thread is writing.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
                Err(source) => {
                    return Err(ExportError::Io { path: target.into(), doing: "creating", source });
                }
            }
        }
    }

    /// The hidden name.
    pub fn path(&self) -> &Path {
        &self.hidden
    }

    /// Gives it its name.
    pub fn commit(mut self) -> Result<PathBuf, ExportError> {
        // Once more: an export takes its time.
        check_free(&self.target, &self.over)?;
        let renamed = match &self.over {
            Over::Folder(..) if self.target.exists() => replace_folder(&self.hidden, &self.target),
            _ => fs::rename(&self.hidden, &self.target),
        };
        renamed.map_err(|source| ExportError::Io { path: self.target.clone(), doing: "naming", source })?;
        self.committed = true;
        sync_folder(self.target.parent());
        Ok(self.target.clone())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.committed {
            // Best effort: there is nobody left to tell.
            let _ = remove(&self.hidden);
        }
    }
}

/// Writes out what a file's buffer holds and waits until it is on the disk; returns the file's size [bytes].
pub(super) fn settle(mut writer: BufWriter<File>) -> io::Result<u64> {
    writer.flush()?;
    let file = writer.get_ref();
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// An error if something is there that may not be replaced; a link that leads nowhere is something too.
fn check_free(target: &Path, over: &Over) -> Result<(), ExportError> {
    let Ok(there) = fs::symlink_metadata(target) else { return Ok(()) };
    let earlier = |start: &str, extensions: &[&str]| -> io::Result<bool> {
        let mut entries = fs::read_dir(target)?;
        entries.try_fold(true, |all, entry| {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            let ending = name.rsplit('.').next().unwrap_or_default();
            Ok(all && name.starts_with(start) && extensions.contains(&ending))
        })
    };
    let free = match over {
        Over::Nothing => false,
        Over::File => !there.is_dir(),
        Over::Folder(start, extensions) => there.is_dir() && earlier(start, extensions).unwrap_or(false),
    };
    if free { Ok(()) } else { Err(ExportError::Exists { path: target.into() }) }
}

/// Puts a folder in the place of another, which is kept until that has worked.
fn replace_folder(new: &Path, target: &Path) -> io::Result<()> {
    let old = (0..1000).map(|k| beside(target, "old", k)).find(|path| fs::symlink_metadata(path).is_err());
    let old = old.ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(target, &old)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(&old, target)?;
        return Err(error);
    }
    // The new one is there, which is what was asked for.
    let _ = remove(&old);
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// A hidden name in the same folder, so that renaming never copies.
fn beside(target: &Path, what: &str, attempt: u32) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{what}-{}-{attempt}", std::process::id()))
}

/// Makes a rename last; systems that cannot do this with folders do without.
pub(super) fn sync_folder(folder: Option<&Path>) {
    let folder = folder.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
