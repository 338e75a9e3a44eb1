//! A recording that is written while a simulation runs, or gone on with.

use crate::errors::{refused, stopped, unrecorded};
use crate::simulation::Simulation;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use taffeta_io::recording::{Frame, FullState, Header, Writer};
use taffeta_io::scene_file;
use taffeta_scene::Scene;

/// Writes the frames of a simulation to a file; the same file as the program's.
#[pyclass(module = "taffeta._taffeta")]
pub struct Recorder {
    writer: Option<Writer>,
    /// Number and state hash of frames that are recorded but have to be computed again.
    recorded: VecDeque<(u32, u64)>,
    full_state_every: u32,
    /// Whether the full state of the frame written last is recorded.
    has_state: bool,
}

#[pymethods]
impl Recorder {
    /// Starts a recording with the present state as its first frame; with `resume`, one that is there is gone on with: the simulation goes to its last
    /// full state.
    #[new]
    fn new(py: Python, simulation: &mut Simulation, path: PathBuf, resume: bool) -> PyResult<Self> {
        let scene = &simulation.asked.loaded.scene;
        let full_state_every = scene.output.full_state_every;
        if resume && path.exists() {
            let opened = Writer::resume(&path).map_err(unrecorded)?;
            let header = Header::of_run(scene, &simulation.asked.loaded.name, simulation.engine.model(), 1);
            if !same(&opened.header, &header) {
                let shown = path.display();
                return Err(unrecorded(format!(
                    "{shown}: was recorded from another scene; ask for the same, or record under another name"
                )));
            }
            if let Some(full) = &opened.state {
                simulation.engine.restore(&full.bytes).map_err(refused)?;
                simulation.follow(py)?;
            }
            let (writer, has_state) = (Some(opened.writer), opened.state.is_some());
            let mut recorder =
                Self { writer, recorded: opened.frames_after.into(), full_state_every, has_state };
            // Frame 0 is the state that the scene starts in.
            match recorder.recorded.front() {
                None if !has_state => recorder.write(py, simulation).map(|_| ())?,
                Some((0, _)) => recorder.compare(simulation)?,
                _ => {}
            }
            return Ok(recorder);
        }
        let threads = rayon::current_num_threads();
        let header = Header::of_run(scene, &simulation.asked.loaded.name, simulation.engine.model(), threads);
        let writer = Writer::create(&path, &header).map_err(unrecorded)?;
        let mut recorder =
            Self { writer: Some(writer), recorded: VecDeque::new(), full_state_every, has_state: false };
        recorder.write(py, simulation).map(|_| ())?;
        Ok(recorder)
    }

    /// Records the present frame; what is told of it, as JSON. One that was recorded before must have come out the same.
    fn frame(&mut self, py: Python, simulation: &Simulation) -> PyResult<String> {
        if self.recorded.front().is_some_and(|(number, _)| *number == simulation.frame_number()) {
            self.compare(simulation)?;
            return serde_json::to_string(&simulation.told(py)?).map_err(refused);
        }
        let told = self.write(py, simulation)?;
        if simulation.frame_number().is_multiple_of(self.full_state_every) {
            self.write_state(simulation)?;
        }
        Ok(told.to_string())
    }

    /// Leaves a recording that can be gone on with from its last frame; marks its end if the run is complete.
    fn close(&mut self, simulation: &Simulation, complete: bool) -> PyResult<()> {
        // Who was interrupted within a frame goes on from the last full state before it.
        if !self.has_state && self.recorded.is_empty() && simulation.at_frame() {
            self.write_state(simulation)?;
        }
        match self.writer.take() {
            Some(writer) if complete => writer.finish().map_err(unrecorded),
            _ => Ok(()),
        }
    }
}

impl Recorder {
    fn writer(&mut self) -> PyResult<&mut Writer> {
        self.writer.as_mut().ok_or_else(|| unrecorded("the recording is closed"))
    }

    fn write(&mut self, py: Python, simulation: &Simulation) -> PyResult<Value> {
        let (model, state) = (simulation.engine.model(), simulation.engine.state());
        let number = simulation.frame_number();
        let mut shot = Frame {
            number,
            time: state.time,
            state_hash: state.hash(),
            bodies: model.poses(state).collect(),
            report: serde_json::to_value(simulation.told(py)?).map_err(refused)?,
            ..Frame::default()
        };
        shot.set_positions(&state.positions);
        self.writer()?.frame(&shot).map_err(unrecorded)?;
        self.has_state = false;
        Ok(shot.report)
    }

    fn write_state(&mut self, simulation: &Simulation) -> PyResult<()> {
        let state =
            FullState { frame: simulation.frame_number(), bytes: simulation.engine.state().to_bytes() };
        self.writer()?.state(&state).map_err(unrecorded)?;
        self.has_state = true;
        Ok(())
    }

    fn compare(&mut self, simulation: &Simulation) -> PyResult<()> {
        let computed = simulation.engine.state().hash();
        match self.recorded.pop_front() {
            Some((number, recorded)) if recorded != computed => Err(stopped(format!(
                "frame {number} is recorded with the state hash {recorded:016x}, but computed again it has {computed:016x}; \
                 what leads the cloth is not what it was, or another version recorded it: record under another name"
            ))),
            _ => Ok(()),
        }
    }
}

/// Whether a recording is of this scene, whatever its length.
fn same(recorded: &Header, asked: &Header) -> bool {
    let scene = |header: &Header| -> Option<Value> {
        let scene = scene_file::from_text("the recorded scene", &header.scene, &[]).ok()?;
        Some(Scene { frames: 1, output: Default::default(), ..scene }.to_json())
    };
    recorded.rest_positions == asked.rest_positions
        && recorded.triangles == asked.triangles
        && recorded.about["colliders"] == asked.about["colliders"]
        && scene(recorded) == scene(asked)
}
