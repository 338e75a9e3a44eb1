//! Wall and CPU time of a piece of work.

use std::time::{Duration, Instant};

/// What a piece of work took.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    /// Wall time.
    pub wall: Duration,
    /// CPU time of all threads, where the system tells it.
    pub cpu: Option<Duration>,
}

impl Took {
    /// CPU time or, where the system does not tell it, wall time.
    pub fn cpu_or_wall(&self) -> Duration {
        self.cpu.unwrap_or(self.wall)
    }
}

/// Does some work; its result and what it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, Took) {
    let (begun, cpu_before) = (Instant::now(), cpu_time());
    let result = work();
    let wall = begun.elapsed();
    let cpu = cpu_time().zip(cpu_before).map(|(now, before)| now.saturating_sub(before));
    (result, Took { wall, cpu })
}

/// CPU time of all threads of this process since its start, where the system tells it.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}
