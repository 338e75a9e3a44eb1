//! Simulations that are measured: built, warmed up, and moved on by a frame that is timed.

use super::timed;
use crate::BenchError;
use std::collections::BTreeMap;
use std::time::Duration;
use taffeta::Simulation;
use taffeta::step::{StepError, StepReport};
use taffeta_io::clock::{StageClock, Watch};
use taffeta_io::scene_file::SceneFaults;
use taffeta_scene::{Mesh, Scene};

/// What the steps of one frame did together, and the time they took.
#[derive(Debug, Default)]
pub struct FrameSteps {
    /// What they did.
    pub report: StepReport,
    /// Time of every stage.
    pub stages: StageClock,
    /// Wall time of stepping alone.
    pub wall: Duration,
    /// CPU time of stepping alone, where the system tells it.
    pub cpu: Option<Duration>,
}

impl FrameSteps {
    /// Moves a simulation on by one frame.
    pub fn take(simulation: &mut Simulation) -> Result<Self, StepError> {
        Self::take_unless(simulation, &mut || false)
    }

    /// The same, unless `ended` says that there is to be an end, which it is asked between sub-steps.
    pub fn take_unless(
        simulation: &mut Simulation,
        ended: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<Self, StepError> {
        let mut stages = StageClock::default();
        let (done, took) = timed(|| simulation.step_frame(&mut Watch { stages: &mut stages, ended }));
        done.map(|report| Self { report, stages, wall: took.wall, cpu: took.cpu })
    }
}

/// Builds a scene that an experiment has made itself; its faults show only now, and no text is at hand to point into.
pub(crate) fn build(
    experiment: &str,
    scene: &Scene,
    meshes: &BTreeMap<String, Mesh>,
) -> Result<Simulation, BenchError> {
    taffeta_scene::simulation_on(scene, meshes, taffeta_cuda::open).map_err(|faulty| {
        let faults = faulty.faults.into_iter().map(Into::into).collect();
        SceneFaults { origin: format!("bench {experiment}"), text: String::new(), faults }.into()
    })
}

/// Takes one step and goes back, so that memory, caches and threads are warm.
pub(crate) fn warm_up(simulation: &mut Simulation) -> Result<(), StepError> {
    let start = simulation.state().to_bytes();
    simulation.step()?;
    go_back(simulation, &start);
    Ok(())
}

/// Goes back to a state that the simulation was in, which therefore fits.
pub(crate) fn go_back(simulation: &mut Simulation, bytes: &[u8]) {
    let fits = simulation.restore(bytes);
    debug_assert!(fits.is_ok());
}
