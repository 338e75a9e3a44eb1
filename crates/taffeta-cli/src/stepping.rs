//! One frame of a simulation, timed.

use crate::machine;
use std::time::{Duration, Instant};
use taffeta::Simulation;
use taffeta::collide::Settled;
use taffeta::step::{Stages, StepError, StepReport};

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
    pub settled: Settled,
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
        let (begun, cpu_before) = (Instant::now(), machine::cpu_time());
        for _ in 0..simulation.model().steps_per_frame {
            frame.add(&simulation.step()?);
        }
        frame.wall = begun.elapsed();
        frame.cpu = machine::cpu_time().zip(cpu_before).map(|(now, before)| now.saturating_sub(before));
        Ok(frame)
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
