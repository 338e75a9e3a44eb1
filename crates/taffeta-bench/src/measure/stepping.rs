//! Simulations that are measured: built, warmed up, and moved on by a frame that is timed.

use super::timed;
use crate::BenchError;
use std::collections::BTreeMap;
use std::time::Duration;
use taffeta::Simulation;
use taffeta::collide::CcdStats;
use taffeta::step::{Stages, StepError, StepReport};
use taffeta_io::scene_file::SceneFaults;
use taffeta_scene::{Mesh, Scene};

/// What the steps of one frame did together.
#[derive(Debug, Default)]
pub struct FrameSteps {
    /// Sub-steps of all steps.
    pub substeps: u64,
    /// Iterations of all steps.
    pub iterations: u64,
    /// Whether every step reached what its method promises.
    pub converged: bool,
    /// What touches at the end.
    pub contacts: u32,
    /// What the guard did in all steps.
    pub settled: CcdStats,
    /// Time of every stage.
    pub stages: Stages,
    /// Wall time of stepping alone.
    pub wall: Duration,
    /// CPU time of stepping alone, where the system tells it.
    pub cpu: Option<Duration>,
}

impl FrameSteps {
    /// Moves a simulation on by one frame.
    pub fn take(simulation: &mut Simulation) -> Result<Self, StepError> {
        let mut frame = Self { converged: true, ..Self::default() };
        let steps = simulation.model().steps_per_frame;
        let (done, took) =
            timed(|| (0..steps).try_for_each(|_| simulation.step().map(|step| frame.add(&step))));
        (frame.wall, frame.cpu) = (took.wall, took.cpu);
        done.map(|()| frame)
    }

    fn add(&mut self, step: &StepReport) {
        self.substeps += u64::from(step.substeps);
        self.iterations += u64::from(step.iterations);
        self.converged &= step.converged;
        self.contacts = step.contacts;
        self.settled += step.settled;
        step.stages.iter().for_each(|(name, seconds)| self.stages.add(name, seconds));
    }
}

/// Builds a scene that an experiment has made itself; its faults show only now, and no text is at hand to point into.
pub(crate) fn build(
    experiment: &str,
    scene: &Scene,
    meshes: &BTreeMap<String, Mesh>,
) -> Result<Simulation, BenchError> {
    taffeta_scene::simulation(scene, meshes).map_err(|faults| {
        let faults = faults.into_iter().map(Into::into).collect();
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
