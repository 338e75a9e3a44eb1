//! `taffeta run`: load the scene, open the recording, go through the frames, tell how it went.

mod folder;
pub mod memory;
pub mod recorder;
mod resume;

use crate::album::Album;
use crate::certificate::counted;
use crate::interrupt::Interrupt;
use crate::progress::{self, Progress};
use crate::render::still_image;
use crate::report::{self, ReportError, Summary};
use crate::{Ending, Failure};
use folder::Folder;
use memory::MemoryLimit;
use recorder::{FrameError, Recorder};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use taffeta::step::StepError;
use taffeta_bench::tell::{aside, described, tell};
use taffeta_bench::{figures, machine};
use taffeta_io::scene_file::{self, LoadedScene, SceneFaults, SceneSource};
use taffeta_render::Picture;
use taffeta_render::film::save;
use tempfile::TempDir;

/// Simulates a scene and certifies every frame of it.
///
/// Writes `recording.taffeta`, `report.json` and `picture.png` into the folder `out/NAME`. A finished run that lies there already stays unless
/// --overwrite is given, and an unfinished one is kept as `recording.previous.taffeta`. Frame 0 of a recording is the start; the frames of a
/// report begin with 1.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file, or the name of a built-in scene (see `taffeta scenes`).
    scene: String,
    /// The method by name (see `taffeta methods`): short for --set solver.method=NAME.
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// What computes: cpu, cuda or cuda:N. Short for --set solver.device=NAME.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How many frames to simulate: short for --set frames=N.
    #[arg(long, value_name = "N")]
    frames: Option<String>,
    /// How many threads to use; all cores, if left out. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = machine::parse_threads)]
    threads: Option<usize>,
    /// The folder to write to, instead of out/NAME.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A change to the scene, such as solver.tolerance=0.01 or cloth[0].sheet.rows=20.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Write the report here too.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Go on with the recording that lies in the folder; without one, begin.
    #[arg(long)]
    resume: bool,
    /// Write over a finished run that lies in the folder.
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// The most memory that the run may hold, such as 900M or 8G; what the machine has free, if left out.
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    memory: Option<u64>,
    /// End with exit code 0 even where a frame misses the tolerance, intersects or did not converge.
    #[arg(long)]
    lenient: bool,
    /// Make no picture of the last frame.
    #[arg(long)]
    no_picture: bool,
    /// Say nothing unless something is wrong.
    #[arg(long)]
    quiet: bool,
    /// Print the report of every frame as a line of JSON.
    #[arg(long)]
    json: bool,
}

/// Runs a scene.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let stop = Interrupt::watch("ending; once more to end at once")?;
    let asked = args.load()?;
    asked.notes.iter().for_each(|note| args.note(note));
    let limit = MemoryLimit::new(args.memory);
    limit.check(&asked)?;
    let folder = Folder::open(args.out.clone().unwrap_or_else(|| default_folder(&asked.name)))?;
    if !args.resume {
        folder.check(args.overwrite)?;
    }
    // Made now: hours later is late for a wrong path.
    args.report.as_ref().and_then(|path| path.parent()).map_or(Ok(()), folder::make)?;
    let pool = machine::pool(args.threads)?;
    pool.install(|| {
        let recorder = open(args, &asked, &folder)?;
        let head = report::head(&asked.name, recorder.simulation.model(), pool.current_num_threads());
        stop.begin();
        let outcome = carry_out(recorder, args, &folder, &stop, limit);
        let summary = args.report(&folder, &head);
        // The reason for an early end matters more than a report that fails for the same one.
        let ending = outcome?;
        if !args.no_picture && ending == Ending::Done {
            // A run is not worse for a picture that could not be made.
            picture(&folder).unwrap_or_else(|failure| args.note(&format!("no picture: {failure}")));
        }
        conclude(args, &asked, &folder, &summary.map_err(Failure::work)?, ending)
    })
}

impl Args {
    fn load(&self) -> Result<LoadedScene, SceneFaults> {
        let mut sets = self.sets.clone();
        sets.extend(self.method.iter().map(|method| format!("solver.method={method}")));
        sets.extend(self.device.iter().map(|device| format!("solver.device={device}")));
        sets.extend(self.frames.iter().map(|frames| format!("frames={frames}")));
        scene_file::load(&SceneSource::find(&self.scene)?, &sets)
    }

    /// Writes the report, and once more where it is wanted too.
    fn report(&self, folder: &Folder, head: &Value) -> Result<Summary, ReportError> {
        let summary = report::write(&folder.report(), head, &folder.recording())?;
        if let Some(path) = &self.report {
            report::write(path, head, &folder.recording())?;
        }
        Ok(summary)
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            aside(line);
        }
    }
}

/// Simulates a scene into a recording in a folder that is gone when it is dropped; nothing if the user ends it early.
pub fn simulate_into(scene: &str, quiet: bool) -> Result<Option<(TempDir, PathBuf)>, Failure> {
    let folder = TempDir::new().map_err(Failure::work)?;
    let recording = folder.path().join("recording.taffeta");
    let args = Args {
        scene: scene.into(),
        method: None,
        device: None,
        frames: None,
        threads: None,
        out: Some(folder.path().into()),
        sets: Vec::new(),
        report: None,
        resume: false,
        overwrite: false,
        memory: None,
        lenient: true,
        no_picture: true,
        quiet,
        json: false,
    };
    Ok((run(&args)? == Ending::Done).then_some((folder, recording)))
}

/// The last frame as a picture.
fn picture(folder: &Folder) -> Result<(), Failure> {
    let mut album = Album::open(&folder.recording())?;
    let last = album.frame_count().saturating_sub(1);
    let image = still_image(&mut album, last, Picture::default(), None)?;
    save(&folder.picture(), &image).map_err(Failure::work)
}

fn default_folder(name: &str) -> PathBuf {
    Path::new("out").join(if name.is_empty() { "scene" } else { name })
}

/// The simulation at its start, or where its recording ends.
fn open(args: &Args, asked: &LoadedScene, folder: &Folder) -> Result<Recorder, Failure> {
    let built = taffeta_scene::simulation_on(&asked.scene, &asked.meshes, taffeta_cuda::open);
    let simulation = built.map_err(|faults| asked.refuse(faults))?;
    let path = folder.recording();
    if args.resume && path.exists() {
        return resume::reopen(asked, simulation, &path, |line| args.note(line));
    }
    if let Some(previous) = folder.set_aside()? {
        args.note(&format!("the recording that was there is now {}", previous.display()));
    }
    Recorder::begin(asked, simulation, &path).map_err(Failure::work)
}

/// Goes through the frames until the last, or until somebody asks for an end.
fn carry_out(
    mut recorder: Recorder,
    args: &Args,
    folder: &Folder,
    stop: &Interrupt,
    mut limit: MemoryLimit,
) -> Result<Ending, Failure> {
    let silent = args.quiet || (args.json && std::io::stdout().is_terminal());
    let mut progress = Progress::new(silent, recorder.frame, recorder.frames);
    let tolerance = recorder.simulation.model().tolerance;
    while recorder.frame < recorder.frames && !stop.asked() {
        let frame = recorder.frame + 1;
        let mut too_large = None;
        let next = recorder.next_frame(&mut || {
            too_large = limit.exceeded();
            too_large.is_some() || stop.asked()
        });
        let report = match (next, too_large) {
            (Ok(report), _) => report,
            (Err(FrameError::Step(StepError::Cancelled)), None) => break,
            (Err(FrameError::Step(StepError::Cancelled)), Some(too_large)) => {
                recorder.close(false).map_err(Failure::work)?;
                return Err(Failure::input(too_large));
            }
            (Err(reason), _) => {
                let (reason, recording) = (reason.to_string(), folder.recording());
                return Err(Failure::work(Stopped { frame, reason, recording }));
            }
        };
        progress.frame(frame, |colour| progress::certified(report.as_ref(), tolerance, colour));
        if let Some(report) = report.filter(|_| args.json) {
            tell(json!(report))?;
        }
    }
    let ending = if recorder.frame < recorder.frames { Ending::Interrupted } else { Ending::Done };
    recorder.close(ending == Ending::Done).map_err(Failure::work)?;
    Ok(ending)
}

/// A run that could not go on.
#[derive(Debug, thiserror::Error)]
#[error("frame {frame}: {reason}\nthe frames before it are kept in {}", recording.display())]
struct Stopped {
    frame: u32,
    reason: String,
    recording: PathBuf,
}

/// Tells how the run went, in plain words, and judges it.
fn conclude(
    args: &Args,
    asked: &LoadedScene,
    folder: &Folder,
    summary: &Summary,
    ending: Ending,
) -> Result<Ending, Failure> {
    let lines = words(asked, folder, summary);
    match (args.quiet, args.json) {
        (true, _) => {}
        (false, true) => lines.iter().for_each(aside),
        (false, false) => lines.iter().try_for_each(tell)?,
    }
    if ending == Ending::Interrupted {
        aside(format_args!(
            "interrupted after frame {}; go on with\n  {}",
            summary.frames,
            resume::command()
        ));
        return Ok(ending);
    }
    let worst = &summary.worst;
    let kept = worst.strain <= asked.scene.solver.tolerance
        && worst.intersections == 0
        && summary.converged == summary.frames;
    Ok(if !args.lenient && !kept { Ending::Missed } else { Ending::Done })
}

fn words(asked: &LoadedScene, folder: &Folder, summary: &Summary) -> Vec<String> {
    let files = [folder.recording(), folder.report(), folder.picture()];
    let files: Vec<String> = files.iter().filter(|path| path.exists()).map(|path| described(path)).collect();
    let files = files.join(", ");
    if summary.frames == 0 {
        return vec![format!("{}: no frame was computed", asked.name), format!("files        {files}")];
    }
    let worst = &summary.worst;
    let unguarded = match worst.cloth_cloth > 0 && !asked.scene.contact.cloth_cloth {
        true => " - not guarded: `contact.cloth_cloth` is false",
        false => "",
    };
    let mut lines = vec![
        format!(
            "{}: {} of {} ms in {} s ({} ms a frame, {} x real time)",
            asked.name,
            counted(summary.frames, "frame"),
            figures(1e3 * summary.frame_time),
            figures(1e-3 * summary.wall_ms),
            figures(summary.wall_ms / summary.frames as f64),
            figures(summary.realtime_factor()),
        ),
        format!("certificate  {}", worst.strain_words(Some(asked.scene.solver.tolerance))),
        format!("             {}", worst.body_words()),
        format!("             {}{unguarded}", worst.cloth_words()),
    ];
    if summary.at_start > 0 {
        lines.push(format!(
            "             the scene starts with {}",
            counted(summary.at_start, "intersection")
        ));
    }
    if summary.converged < summary.frames {
        let missed = summary.frames - summary.converged;
        lines.push(format!("             {} did not converge", counted(missed, "frame")));
    }
    if let Some((frame, why)) = &summary.shortfall {
        lines.push(format!("             frame {frame}: {why}"));
    } else if worst.strain > asked.scene.solver.tolerance && !asked.scene.solver.method.keeps_lengths() {
        lines.push(format!(
            "             {} strains cloth as far as its fabric gives way: take a stiffer fabric, `solver.limit`, or a method that keeps lengths \
             (impulse-strips)",
            asked.scene.solver.method.name()
        ));
    }
    lines.push(format!("files        {files}"));
    lines
}
