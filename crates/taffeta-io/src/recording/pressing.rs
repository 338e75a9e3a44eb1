//! The pressure of bodies on cloth in a recorded frame. Recordings have positions alone, so the frame is computed again from the full state before it, to the
//! same bits.

use super::{Frame, Reader, RecordingError};
use crate::scene_file::{self, SceneFaults, SceneSource};
use std::path::{Path, PathBuf};
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
    let Some(before) = k.checked_sub(1) else {
        return Err(NoPressure::Unknown(0, "nothing has moved yet"));
    };
    let mut frame = Frame::default();
    reader.seek(k)?;
    reader.next_frame(&mut frame)?;
    let source = SceneSource::Text {
        name: "the recorded scene".into(),
        text: reader.header().scene.clone(),
        folder: PathBuf::from(folder),
    };
    let loaded = scene_file::load(&source, &[])?;
    let mut simulation = taffeta_scene::simulation(&loaded.scene, &loaded.meshes)?;
    let mut number = 0;
    if let Some(state) = reader.state_for(before)? {
        simulation.restore(&state.bytes)?;
        number = state.frame;
    }
    while number + 1 < frame.number {
        simulation.step_frame(&mut ())?;
        number += 1;
    }
    let mut impulses = vec![0.0; simulation.model().particle_count()];
    for _ in 0..simulation.model().steps_per_frame {
        simulation.step()?;
        let Some(pushed) = simulation.body_impulses() else {
            return Err(NoPressure::Unknown(frame.number, "its method does not tell what presses"));
        };
        impulses.iter_mut().zip(pushed).for_each(|(sum, impulse)| *sum += impulse);
    }
    if simulation.state().hash() != frame.state_hash {
        return Err(NoPressure::OtherBits(frame.number));
    }
    Ok(pressures(simulation.model(), &impulses, loaded.scene.frame_time))
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
