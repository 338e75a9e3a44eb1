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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const REEL: Reel = Reel { width: 3, height: 2, frames: 2, frame_time: 0.04 };

    /// A program in the place of `ffmpeg`. Another process writes it: what this one has open for writing, a test that starts a program at that moment would
    /// hand on, and nobody could run it.
    fn stand_in(folder: &Path, script: &str) -> String {
        let (text, program) = (folder.join("text"), folder.join("stand-in"));
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        assert!(Command::new("cp").args([&text, &program]).status().unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().into()
    }

    fn film(script: &str) -> (tempfile::TempDir, Result<(), FilmError>) {
        let folder = tempfile::tempdir().unwrap();
        let program = stand_in(folder.path(), script);
        let beside = folder.path().join("out");
        let made =
            Mp4Film::start(&program, &folder.path().join("film.mp4"), &beside, REEL).and_then(|mut film| {
                for frame in 0..2 {
                    film.add(&Image { width: 3, height: 2, data: vec![frame; 18] })?;
                }
                film.finish()
            });
        (folder, made)
    }

    #[test]
    fn the_program_gets_every_frame_and_where_to_write() {
        let (folder, made) = film("for last; do :; done; echo \"$*\" > \"$last.args\"; exec cat > \"$last\"");
        made.unwrap();
        let written = fs::read(folder.path().join("out")).unwrap();
        assert_eq!(written, [[0; 18], [1; 18]].concat());
        let arguments = fs::read_to_string(folder.path().join("out.args")).unwrap();
        assert!(arguments.contains("-s 3x2 -framerate 25 -i pipe:0"), "{arguments}");
    }

    #[test]
    fn its_last_words_are_told_when_it_fails() {
        let (_folder, made) = film("cat > /dev/null; echo no such encoder >&2; exit 3");
        let error = made.unwrap_err();
        assert!(matches!(&error, FilmError::Ffmpeg { said, .. } if said == "no such encoder"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named_with_the_remedy() {
        let path = Path::new("film.mp4");
        let error = Mp4Film::start("no-such-program", path, path, REEL).unwrap_err().to_string();
        assert!(error.contains("install ffmpeg"), "{error}");
    }
}
