//! The pressure of bodies on cloth in a recorded frame. Recordings have positions alone, so the frame is computed again from the full state before it, to the
//! same bits.

use super::{Frame, Reader, RecordingError};
use crate::scene_file::{self, SceneFaults, SceneSource};
use std::path::{Path, PathBuf};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::Model;
use taffeta::model::state::StateMismatch;
use taffeta::step::StepError;
use taffeta_scene::FaultyScene;

/// Why the pressure in a frame cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum NoPressure {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Its scene cannot be read, as where it needs meshes that are not there.
    #[error("the recorded scene cannot be computed again: {0}")]
    Scene(#[from] SceneFaults),
    /// Its scene cannot be built.
    #[error("the recorded scene cannot be computed again: {0}")]
    Model(#[from] FaultyScene),
    /// Its state is not one of its scene.
    #[error("the recorded scene cannot be computed again: {0}")]
    State(#[from] StateMismatch),
    /// A step failed.
    #[error("the recorded scene cannot be computed again: {0}")]
    Step(#[from] StepError),
    /// Computed again it is another.
    #[error(
        "computed again, frame {0} has other bits; it was recorded by another version of Taffeta, or its meshes have changed"
    )]
    OtherBits(u32),
    /// Nothing has pressed yet, or it is not known.
    #[error("there is no pressure in frame {0}: {1}")]
    Unknown(u32, &'static str),
}

/// The pressure of bodies on every particle in the `k`-th frame of a recording [kPa]. Meshes of its scene are looked for in `folder`.
pub fn pressure(reader: &mut Reader, k: usize, folder: &Path) -> Result<Vec<f64>, NoPressure> {
    if k == 0 {
        return Err(NoPressure::Unknown(0, "nothing has moved yet"));
    }
    Pressing::new(reader, folder)?.at(reader, k)
}

/// A recording that is computed again, from its first frame on. Frames that follow one another are computed once.
pub struct Pressing {
    simulation: Simulation,
    frame_time: f64,
    /// The number of the frame that the simulation is in.
    number: u32,
}

impl Pressing {
    /// From the scene of a recording. Its meshes are looked for in `folder`.
    pub fn new(reader: &Reader, folder: &Path) -> Result<Self, NoPressure> {
        let source = SceneSource::Text {
            name: "the recorded scene".into(),
            text: reader.header().scene.clone(),
            folder: PathBuf::from(folder),
        };
        let loaded = scene_file::load(&source, &[])?;
        let simulation = taffeta_scene::simulation(&loaded.scene, &loaded.meshes)?;
        Ok(Self { simulation, frame_time: loaded.scene.frame_time, number: 0 })
    }

    /// The pressure of bodies on every particle in the `k`-th frame of the recording [kPa]; none before anything has moved.
    pub fn at(&mut self, reader: &mut Reader, k: usize) -> Result<Vec<f64>, NoPressure> {
        let particles = self.simulation.model().particle_count();
        let Some(before) = k.checked_sub(1) else { return Ok(vec![0.0; particles]) };
        let mut frame = Frame::default();
        reader.seek(k)?;
        reader.next_frame(&mut frame)?;
        if self.number == 0 || self.number + 1 != frame.number {
            if let Some(state) = reader.state_for(before)? {
                self.simulation.restore(&state.bytes)?;
                self.number = state.frame;
            }
            while self.number + 1 < frame.number {
                self.simulation.step_frame(&mut ())?;
                self.number += 1;
            }
        }
        let mut impulses = vec![0.0; particles];
        for _ in 0..self.simulation.model().steps_per_frame {
            self.simulation.step()?;
            let Some(pushed) = self.simulation.body_impulses() else {
                return Err(NoPressure::Unknown(frame.number, "its method does not tell what presses"));
            };
            impulses.iter_mut().zip(pushed).for_each(|(sum, impulse)| *sum += impulse);
        }
        self.number = frame.number;
        if self.simulation.state().hash() != frame.state_hash {
            return Err(NoPressure::OtherBits(frame.number));
        }
        Ok(pressures(self.simulation.model(), &impulses, self.frame_time))
    }
}

/// The pressure of bodies on particles [kPa] that have pushed by these impulses [N·s] in a time [s].
pub fn pressures(model: &Model, impulses: &[f64], time: f64) -> Vec<f64> {
    let mut areas = vec![0.0; impulses.len()];
    for corners in &model.triangles {
        let [a, b, c]: [DVec3; 3] = corners.map(|i| model.rest_positions[i as usize]);
        corners.iter().for_each(|i| areas[*i as usize] += (b - a).cross(c - a).length() / 6.0);
    }
    // Spares have no area, and nothing presses on them.
    let pressure =
        |(impulse, area): (&f64, &f64)| if *area > 0.0 { 1e-3 * impulse / (area * time) } else { 0.0 };
    impulses.iter().zip(&areas).map(pressure).collect()
}
