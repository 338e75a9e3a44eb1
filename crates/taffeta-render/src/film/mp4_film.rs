//! MP4 through `ffmpeg`: raw frames go into its standard input.

use super::{FilmError, Reel};
use crate::picture::Image;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

/// A running `ffmpeg`. Dropped before it is finished, it is stopped.
#[derive(Debug)]
pub struct Mp4Film {
    path: PathBuf,
    child: Child,
    /// Reads what it says, so that it never waits for a reader.
    said: Option<JoinHandle<String>>,
}

impl Mp4Film {
    /// Starts `program`, which is to write to `beside` the film that will lie at `path`.
    pub fn start(program: &str, path: &Path, beside: &Path, reel: Reel) -> Result<Self, FilmError> {
        let mut command = Command::new(program);
        command.args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        command.args(["-s", &format!("{}x{}", reel.width, reel.height)]);
        command.args(["-framerate", &format!("{}", 1.0 / reel.frame_time), "-i", "pipe:0"]);
        // Players want halved colour, which wants even sides.
        command.args([
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-c:v",
            "libx264",
            "-preset",
            "slow",
            "-crf",
            "17",
        ]);
        command.args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]).arg(beside);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| FilmError::NoFfmpeg {
            path: path.into(),
            program: program.into(),
            source,
        })?;
        let said = child.stderr.take().map(|stderr| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                // What cannot be read is not said.
                let _ = stderr.take(1 << 20).read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Ok(Self { path: path.into(), child, said })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> Result<(), FilmError> {
        let missing = || io::Error::other("its input is closed");
        let written =
            self.child.stdin.as_mut().ok_or_else(missing).and_then(|input| input.write_all(&image.data));
        // A broken pipe means that it ended early; its own words say why.
        written.or_else(|source| {
            self.end()?;
            Err(FilmError::Io { path: self.path.clone(), source })
        })
    }

    /// Closes the input and waits for the end.
    pub fn finish(mut self) -> Result<(), FilmError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), FilmError> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(|source| FilmError::Io { path: self.path.clone(), source })?;
        let said = self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let said = said.trim().to_string();
        Err(FilmError::Ffmpeg { path: self.path.clone(), status: status.to_string(), said })
    }
}

impl Drop for Mp4Film {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
