//! Lines on stdout and stderr that survive a reader who has gone away.

use crate::Failure;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// A line on stdout. A closed pipe (`| head`) is no failure: the work goes on, nobody reads of it.
pub fn tell(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::work(io::Error::new(error.kind(), format!("stdout: {error}"))))
        }
        _ => Ok(()),
    }
}

/// A line on stderr. Where even that cannot be written there is nobody left to tell.
pub fn aside(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
