//! One run of a sweep: from a job to its result.

use crate::certificate::Worst;
use crate::report::FrameReport;
use crate::run::memory::{MemoryLimit, TooLarge};
use crate::run::recorder::{FrameError, Recorder};
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use taffeta::Simulation;
use taffeta::step::StepError;
use taffeta_bench::{FrameSteps, timed};
use taffeta_fleet::job::{Finished, Job, Outcome, RunResult, RunTime};
use taffeta_fleet::measure::Readings;
use taffeta_fleet::npz;
use taffeta_io::recording::RecordingError;
use taffeta_io::scene_file::{self, LoadedScene};

/// Carries out a run.
pub fn work(job: &Job) -> RunResult {
    let (outcome, took) = timed(|| carry_out(job).unwrap_or_else(|early| early));
    let ms = |time: std::time::Duration| 1e3 * time.as_secs_f64();
    let took = RunTime { wall_ms: ms(took.wall), cpu_ms: ms(took.cpu_or_wall()), attempts: 1 };
    RunResult { address: job.address.clone(), outcome, took }
}

/// The simulation of a run, recorded or not.
enum Course {
    Bare(Box<Simulation>),
    Recorded(Box<Recorder>),
}

impl Course {
    fn begin(
        asked: &LoadedScene,
        simulation: Simulation,
        recording: Option<&Path>,
    ) -> Result<Self, RecordingError> {
        let Some(path) = recording else { return Ok(Self::Bare(Box::new(simulation))) };
        // What a worker that died has left is no recording.
        let _ = std::fs::remove_file(path);
        Ok(Self::Recorded(Box::new(Recorder::begin(asked, simulation, path)?)))
    }

    fn simulation(&self) -> &Simulation {
        match self {
            Self::Bare(simulation) => simulation,
            Self::Recorded(recorder) => &recorder.simulation,
        }
    }

    fn next_frame(
        &mut self,
        number: u32,
        ended: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<FrameReport, FrameError> {
        match self {
            Self::Bare(simulation) => {
                let steps = FrameSteps::take_unless(simulation, ended)?;
                Ok(FrameReport::new(simulation, number, &steps, 0.0))
            }
            // A recording that was just begun has no frame that would be computed again.
            Self::Recorded(recorder) => loop {
                if let Some(report) = recorder.next_frame(ended)? {
                    break Ok(report);
                }
            },
        }
    }
}

/// Writes the arrays of a frame.
fn sample(folder: &Path, number: u32, simulation: &Simulation) -> std::io::Result<()> {
    if number == 0 {
        // What a worker that died has left is no sample.
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder)?;
    }
    let mut out = BufWriter::new(File::create(folder.join(format!("frame_{number:04}.npz")))?);
    npz::write(&mut out, simulation)?;
    out.flush()
}

/// The outcome; an early one as an error.
fn carry_out(job: &Job) -> Result<Outcome, Outcome> {
    let refused = |faults: scene_file::SceneFaults| Outcome::Refused { reason: faults.to_string() };
    let lost = |error: &dyn std::error::Error| Outcome::Lost { reason: error.to_string() };
    let asked = scene_file::load(&job.scene.source(), &job.sets).map_err(refused)?;
    let mut limit = MemoryLimit::new(job.memory);
    limit.check(&asked).map_err(|reason| Outcome::TooLarge { reason: reason.to_string() })?;
    let built = taffeta_scene::simulation(&asked.scene, &asked.meshes);
    let simulation = built.map_err(|faults| refused(asked.refuse(faults)))?;
    let mut course =
        Course::begin(&asked, simulation, job.recording.as_deref()).map_err(|error| lost(&error))?;
    let sampled = |number: u32, simulation: &Simulation| match &job.samples {
        Some(folder) => sample(folder, number, simulation).map_err(|error| lost(&error)),
        None => Ok(()),
    };
    sampled(0, course.simulation())?;
    let mut readings = Readings::new(&job.measures);
    let mut worst = Worst::default();
    let (mut converged_frames, mut hashes) = (0, Vec::new());
    for number in 1..=asked.scene.frames {
        let mut too_large: Option<TooLarge> = None;
        let next = course.next_frame(number, &mut || {
            too_large = limit.exceeded();
            too_large.is_some()
        });
        let report = next.map_err(|error| match (&error, too_large) {
            (FrameError::Step(StepError::Cancelled), Some(reason)) => {
                Outcome::TooLarge { reason: reason.to_string() }
            }
            (FrameError::Step(error), _) => Outcome::Diverged { reason: format!("frame {number}: {error}") },
            (error, _) => lost(error),
        })?;
        readings.take(course.simulation(), number, &json!(report));
        worst.take("a frame", &report.certificate());
        converged_frames += u32::from(report.converged);
        sampled(number, course.simulation())?;
        hashes.push(course.simulation().state().hash());
    }
    if let Course::Recorded(recorder) = course {
        recorder.close(true).map_err(|error| lost(&error))?;
    }
    let frames = asked.scene.frames;
    let finite = |number: f64| number.is_finite().then_some(number);
    Ok(Outcome::Done(Box::new(Finished {
        frames,
        converged_frames,
        max_strain: finite(worst.strain),
        intersections: worst.intersections as u64,
        min_gap_m: finite(worst.min_gap),
        good: worst.strain <= asked.scene.solver.tolerance
            && worst.intersections == 0
            && converged_frames == frames,
        state_hash: format!("{:016x}", hashes.last().copied().unwrap_or_default()),
        all_hashes: Finished::hash_of(&hashes),
        measures: readings.done(),
    })))
}
