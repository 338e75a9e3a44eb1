//! A simulation and the recording it is written to, frame by frame.

use crate::report::FrameReport;
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;
use taffeta::Simulation;
use taffeta::step::{StepError, StepReport};
use taffeta_bench::FrameSteps;
use taffeta_io::recording::{Frame, FullState, Header, RecordingError, Writer};
use taffeta_io::scene_file::LoadedScene;

/// A simulation under way and its recording.
pub struct Recorder {
    /// The simulation; its state is that of `frame`.
    pub simulation: Simulation,
    /// The present frame.
    pub frame: u32,
    /// The last frame of the run.
    pub frames: u32,
    pub(super) recording: Writer,
    /// Number and state hash of frames that are recorded but have to be computed again.
    pub(super) recorded: VecDeque<(u32, u64)>,
    /// Whether the full state of the present frame is recorded.
    pub(super) has_state: bool,
    pub(super) full_state_every: u32,
    /// Time that the recording of the last frame took [s].
    pub(super) recording_s: f64,
    /// The frame that is written; its memory is used again.
    pub(super) shot: Frame,
}

/// Why a frame could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The simulation cannot go on.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The frame cannot be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The recording is not of this simulation.
    #[error(
        "it is recorded with the state hash {recorded:016x}, but computed again it has {computed:016x}. The recording is of another \
         version of the program, or was changed; nothing was written to it. Run again without --resume"
    )]
    Differs {
        /// The hash in the recording.
        recorded: u64,
        /// The hash now.
        computed: u64,
    },
}

impl Recorder {
    /// Starts a recording, which must not exist yet, with the start as frame 0.
    pub fn begin(asked: &LoadedScene, simulation: Simulation, path: &Path) -> Result<Self, RecordingError> {
        let threads = rayon::current_num_threads();
        let header = Header::of_run(&asked.scene, &asked.name, simulation.model(), threads);
        let recording = Writer::create(path, &header)?;
        let mut recorder = Self {
            simulation,
            frame: 0,
            frames: asked.scene.frames,
            recording,
            recorded: VecDeque::new(),
            has_state: false,
            full_state_every: asked.scene.output.full_state_every,
            recording_s: 0.0,
            shot: Frame::default(),
        };
        recorder.record_start()?;
        Ok(recorder)
    }

    /// Writes frame 0. It took no steps, so that nothing in it can have failed.
    pub(super) fn record_start(&mut self) -> Result<(), RecordingError> {
        let mut report = StepReport::default();
        report.converged = true;
        let steps = FrameSteps { report, ..FrameSteps::default() };
        self.record(&FrameReport::new(&self.simulation, 0, &steps, 0.0))
    }

    /// Computes the next frame and records it. A frame that was recorded before must come out the same; it has no new report. Where
    /// `ended` says so, between sub-steps, all is as it was before.
    pub fn next_frame(
        &mut self,
        ended: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<Option<FrameReport>, FrameError> {
        // A step that is not taken leaves the state, but not those before it in the frame.
        let start = (self.simulation.model().steps_per_frame > 1).then(|| self.simulation.state().to_bytes());
        let steps = FrameSteps::take_unless(&mut self.simulation, ended).inspect_err(|_| {
            let fits = start.is_none_or(|start| self.simulation.restore(&start).is_ok());
            debug_assert!(fits);
        })?;
        self.frame += 1;
        self.has_state = false;
        if self.recorded.front().is_some_and(|(number, _)| *number == self.frame) {
            self.compare()?;
            return Ok(None);
        }
        let report = FrameReport::new(&self.simulation, self.frame, &steps, self.recording_s);
        self.record(&report)?;
        if self.frame.is_multiple_of(self.full_state_every) {
            self.record_state()?;
        }
        Ok(Some(report))
    }

    /// Holds the present state against the frame that was recorded.
    pub(super) fn compare(&mut self) -> Result<(), FrameError> {
        let computed = self.simulation.state().hash();
        if let Some((_, recorded)) = self.recorded.pop_front()
            && recorded != computed
        {
            return Err(FrameError::Differs { recorded, computed });
        }
        // A run that is stopped over and over still gets on: what was computed again need not be once more.
        if self.recorded.is_empty() && self.frame > 0 {
            self.record_state()?;
        }
        Ok(())
    }

    fn record(&mut self, report: &FrameReport) -> Result<(), RecordingError> {
        let begun = Instant::now();
        let (model, state) = (self.simulation.model(), self.simulation.state());
        self.shot.number = self.frame;
        self.shot.time = state.time;
        self.shot.state_hash = state.hash();
        self.shot.set_positions(&state.positions);
        self.shot.bodies.clear();
        self.shot.bodies.extend(model.poses(state));
        self.shot.report = json!(report);
        self.recording.frame(&self.shot)?;
        self.recording_s = begun.elapsed().as_secs_f64();
        Ok(())
    }

    fn record_state(&mut self) -> Result<(), RecordingError> {
        let begun = Instant::now();
        self.recording.state(&FullState { frame: self.frame, bytes: self.simulation.state().to_bytes() })?;
        self.has_state = true;
        self.recording_s += begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// Leaves a recording that can be resumed from its last frame; marks its end if the run is complete.
    pub fn close(mut self, complete: bool) -> Result<(), RecordingError> {
        // While recorded frames are still ahead, a state of the present one has no place behind them.
        if !self.has_state && self.recorded.is_empty() {
            self.record_state()?;
        }
        if complete { self.recording.finish() } else { Ok(()) }
    }
}
