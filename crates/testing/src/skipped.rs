//! Tests that could not run here: told at once, and counted by the last test program of the workspace.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io, thread};

/// Where test programs leave a line for each test that they skipped: in the target folder, beside the programs.
fn folder() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.parent().and_then(Path::parent).unwrap_or(Path::new(".")).join("skipped")
}

/// Says that the running test, or a part of it, is skipped. The line goes past the harness, which hides what tests print.
pub fn tell(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_string();
    let line = format!("SKIPPED: {test}: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
    let file: String = line.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(200).collect();
    let _ = fs::create_dir_all(folder()).and_then(|()| fs::write(folder().join(file), line));
}

/// All lines since the last call, in order.
pub fn take() -> Vec<String> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut lines: Vec<String> = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    lines.sort();
    let _ = fs::remove_dir_all(folder());
    lines
}
