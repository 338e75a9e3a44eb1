//! Compiled kernels on disk. A file is named by all that it depends on, so that none is ever out of date.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// A folder of compiled kernels; without one nothing is kept.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// Where compiled kernels are kept: `TAFFETA_CACHE`, else the user's folder for what can be made again.
pub fn folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || named("HOME").map(|home| home.join(".cache"));
    let user = || named("XDG_CACHE_HOME").or_else(|| named("LOCALAPPDATA")).or_else(home);
    named("TAFFETA_CACHE").or_else(|| user().map(|user| user.join("taffeta")))
}

impl Cache {
    /// One in a folder, which is made when it is needed.
    pub fn in_folder(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The file for a source, the options it is compiled with, and the version of the compiler.
    fn path(&self, source: &str, options: &[String], version: &str) -> Option<PathBuf> {
        let all = format!("{version}\n{}\n{source}", options.join("\n"));
        Some(self.folder.as_ref()?.join(format!("{:032x}.cubin", xxh3_128(all.as_bytes()))))
    }

    /// What was kept, or what `make` makes, which is then kept. A folder that cannot be written to costs the time to compile, not the run.
    pub fn get<E>(
        &self,
        source: &str,
        options: &[String],
        version: &str,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let path = self.path(source, options, version);
        if let Some(kept) = path.as_deref().and_then(read) {
            return Ok(kept);
        }
        let made = make()?;
        path.inspect(|path| {
            let _ = write(path, &made);
        });
        Ok(made)
    }
}

/// The kernels in a file, if it is whole: its end is the fingerprint of the rest.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    let end = bytes.split_off(bytes.len().checked_sub(16)?);
    (end == xxh3_128(&bytes).to_le_bytes()).then_some(bytes)
}

/// Under another name first: whoever reads sees all of it or nothing.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let pending = path.with_extension(format!("{}.pending", std::process::id()));
    let mut file = fs::File::create(&pending)?;
    file.write_all(bytes)?;
    file.write_all(&xxh3_128(bytes).to_le_bytes())?;
    drop(file);
    fs::rename(&pending, path)
}
