//! Going on with a recording: only with the scene it was made from, and only with the same bits.

use super::recorder::{FrameError, Recorder};
use crate::Failure;
use serde_json::Value;
use std::path::{Path, PathBuf};
use taffeta::Simulation;
use taffeta::model::state::StateMismatch;
use taffeta::model::{Collider, Form};
use taffeta_io::recording::{Frame, Header, Reader, RecordingError, Resumed, Writer};
use taffeta_io::scene_file::{self, LoadedScene};
use taffeta_scene::Scene;

/// Why a recording cannot be gone on with. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It was made from another scene.
    #[error(
        "{}: was recorded with {key} = {recorded}, now {key} = {asked} is asked for; ask for the same, or run without --resume",
        path.display()
    )]
    OtherScene {
        /// The recording.
        path: PathBuf,
        /// The first key that differs.
        key: String,
        /// Its value in the recording.
        recorded: String,
        /// Its value now.
        asked: String,
    },
    /// It was made from the same scene, but a mesh has changed.
    #[error("{}: a mesh of the scene has changed since it was recorded; run without --resume", .0.display())]
    OtherMesh(PathBuf),
    /// Its state is not one of this scene.
    #[error("{}: {state}; run without --resume", path.display())]
    State {
        /// The recording.
        path: PathBuf,
        /// What is wrong.
        state: StateMismatch,
    },
}

/// Opens a recording where it ends.
pub fn reopen(
    asked: &LoadedScene,
    simulation: Simulation,
    path: &Path,
    note: impl Fn(&str),
) -> Result<Recorder, Failure> {
    // Read first: a recording that is refused stays as it is.
    let mut reader = Reader::open(path).map_err(Failure::input)?;
    check_same(asked, &simulation, reader.header(), path)?;
    let last = last_frame(&mut reader).map_err(Failure::input)?;
    drop(reader);
    let resumed = Writer::resume(path).map_err(Failure::input)?;
    if let Some(damage) = &resumed.damage {
        note(&format!("cut off a half-written block ({damage})"));
    }
    let frames = asked.scene.frames.max(last.unwrap_or(0));
    if resumed.complete && last >= Some(asked.scene.frames) {
        note(&format!("nothing to do: all {frames} frames are there; ask for more with --frames"));
    } else {
        note(&format!("going on after frame {} of {frames}", last.unwrap_or(0)));
    }
    let mut recorder = continue_from(resumed, simulation, asked, frames, path)?;
    match last {
        // Killed before its first frame.
        None => recorder.record_start().map_err(Failure::work)?,
        Some(_) if recorder.recorded.front().is_some_and(|(number, _)| *number == recorder.frame) => {
            recorder.compare().map_err(|error: FrameError| Failure::work(error))?;
        }
        Some(_) => {}
    }
    Ok(recorder)
}

fn continue_from(
    resumed: Resumed,
    mut simulation: Simulation,
    asked: &LoadedScene,
    frames: u32,
    path: &Path,
) -> Result<Recorder, Failure> {
    let mut frame = 0;
    if let Some(full) = &resumed.state {
        simulation
            .restore(&full.bytes)
            .map_err(|state| Failure::input(ResumeError::State { path: path.into(), state }))?;
        frame = full.frame;
    }
    Ok(Recorder {
        simulation,
        frame,
        frames,
        recording: resumed.writer,
        recorded: resumed.frames_after.into(),
        has_state: resumed.state.is_some(),
        full_state_every: asked.scene.output.full_state_every,
        recording_s: 0.0,
        shot: Frame::default(),
    })
}

/// The number of the last frame that is whole.
fn last_frame(reader: &mut Reader) -> Result<Option<u32>, RecordingError> {
    let mut frame = Frame::default();
    let Some(last) = reader.frame_count().checked_sub(1) else { return Ok(None) };
    reader.seek(last)?;
    Ok(reader.next_frame(&mut frame)?.then_some(frame.number))
}

/// Refuses a recording of another scene.
fn check_same(
    asked: &LoadedScene,
    simulation: &Simulation,
    header: &Header,
    path: &Path,
) -> Result<(), Failure> {
    let origin = format!("<scene in {}>", path.display());
    let recorded = scene_file::from_text(&origin, &header.scene, &[])?;
    if let Some((key, recorded, asked)) =
        first_difference("", &comparable(&recorded), &comparable(&asked.scene))
    {
        return Err(Failure::input(ResumeError::OtherScene { path: path.into(), key, recorded, asked }));
    }
    let model = simulation.model();
    if model.rest_positions != header.rest_positions
        || model.triangles != header.triangles
        || model.edges != header.edges
        || model.rest_lengths != header.rest_lengths
        || !model.colliders.iter().enumerate().all(|(i, collider)| is_recorded(collider, &header.about, i))
    {
        return Err(Failure::input(ResumeError::OtherMesh(path.into())));
    }
    Ok(())
}

/// Whether a body is the one that was recorded; closed forms are all in the scene itself.
fn is_recorded(collider: &Collider, about: &Value, number: usize) -> bool {
    let recorded = || serde_json::from_value(about["colliders"][number]["shape"].clone());
    matches!(collider.form, Form::Closed(_)) || recorded().is_ok_and(|form: Form| form == collider.form)
}

/// A scene less what may change between the parts of a run.
fn comparable(scene: &Scene) -> Value {
    let plain = Scene { frames: 1, output: Default::default(), ..scene.clone() };
    serde_json::to_value(plain).unwrap_or_default()
}

/// The first key under which two values differ, and both values.
fn first_difference(key: &str, a: &Value, b: &Value) -> Option<(String, String, String)> {
    let inner = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    match (a, b) {
        _ if a == b => None,
        (Value::Object(p), Value::Object(q)) => {
            let names = p.keys().chain(q.keys().filter(|name| !p.contains_key(*name)));
            names.into_iter().find_map(|name| first_difference(&inner(name), &a[name], &b[name]))
        }
        (Value::Array(p), Value::Array(q)) if p.len() == q.len() => {
            (0..p.len()).find_map(|i| first_difference(&format!("{key}[{i}]"), &p[i], &q[i]))
        }
        _ => Some((key.into(), a.to_string(), b.to_string())),
    }
}

/// The command that goes on with this very run.
pub fn command() -> String {
    let mut words: Vec<String> = std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".into());
    }
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./:=,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named_by_its_key() {
        let a = json!({"solver": {"tolerance": 0.1}, "cloth": [{"fabric": "silk"}]});
        let difference = |b: Value| first_difference("", &a, &b).map(|(key, p, q)| format!("{key} {p} {q}"));
        assert_eq!(difference(a.clone()), None);
        let b = json!({"solver": {"tolerance": 0.1}, "cloth": [{"fabric": "wool"}]});
        assert_eq!(difference(b).as_deref(), Some("cloth[0].fabric \"silk\" \"wool\""));
        let b = json!({"solver": {"tolerance": 0.1, "substeps": 2}, "cloth": []});
        assert_eq!(difference(b).as_deref(), Some("solver.substeps null 2"));
    }

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(quoted("a.toml"), "a.toml");
        assert_eq!(quoted("cloth[0].name=it's"), r"'cloth[0].name=it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
