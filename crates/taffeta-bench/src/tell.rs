//! Lines on stdout and stderr that survive a reader who has gone away.

use crate::{BenchError, figures};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// A line on stdout. A closed pipe (`| head`) is no failure: the work goes on, nobody reads of it.
pub fn tell(line: impl Display) -> Result<(), BenchError> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(BenchError::Stdout(error)),
        _ => Ok(()),
    }
}

/// A line on stderr. Where even that cannot be written there is nobody left to tell.
pub fn aside(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A file and its size.
pub fn described(path: &Path) -> String {
    let size = std::fs::metadata(path).map_or(0, |about| about.len()) as f64;
    let (size, unit) = if size < 1e6 { (1e-3 * size, "kB") } else { (1e-6 * size, "MB") };
    format!("{} ({} {unit})", path.display(), figures(size))
}
