//! A folder of its own for every test, with scenes in it, in which the program is run.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use tempfile::TempDir;

/// A sheet that falls on a ball: a few milliseconds a frame.
pub const SMALL: &str = r#"
frames = 12
[output]
full_state_every = 5
[[cloth]]
position = [0.0, 0.33, 0.0]
sheet = { width = 0.5, height = 0.5, columns = 10, rows = 10 }
[[collider]]
name = "ball"
sphere = { radius = 0.3 }
"#;

pub struct Workplace {
    folder: TempDir,
}

impl Workplace {
    /// An empty folder with `small.toml` in it.
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        place.write("small.toml", SMALL);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file in the temporary folder");
    }

    /// The program with these words, in this folder.
    pub fn bare_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taffeta"));
        command.args(words).current_dir(self.folder.path());
        command
    }

    /// The same, without the picture that a run leaves: it would take most of the time.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.bare_command(words);
        if words.first() == Some(&"run") {
            command.arg("--no-picture");
        }
        command
    }

    /// Runs the program to its end.
    pub fn taffeta(&self, words: &[&str]) -> Ended {
        Ended::from(self.command(words).output().expect("the program starts"))
    }

    /// Runs it and expects success.
    pub fn succeed(&self, words: &[&str]) -> Ended {
        let ended = self.taffeta(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {} {}", ended.out, ended.err);
        ended
    }

    /// Starts a run with --json and waits until it has told of its first frame.
    pub fn start(&self, words: &[&str]) -> (Child, BufReader<ChildStdout>) {
        let mut command = self.command(words);
        let mut child = command
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        assert!(line.starts_with('{'), "{line}");
        (child, lines)
    }

    pub fn json(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.path(name)).expect("the file is there");
        serde_json::from_str(&text).expect("the file is JSON")
    }

    /// The hashes of all frames of the report in a folder.
    pub fn hashes(&self, folder: &str) -> Vec<String> {
        let report = self.json(&format!("{folder}/report.json"));
        let frames = report["frames"].as_array().expect("frames");
        frames.iter().map(|frame| frame["state_hash"].as_str().expect("a hash").into()).collect()
    }
}

/// How the program ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ended {
    /// Expects an exit code and all of these words on stderr.
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Sends a signal by name.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

/// Bytes of a file.
pub fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).expect("the file is there")
}
