//! Where the time of steps goes, for reports: the clock that the engine does not have.

use taffeta::step::Observer;
use web_time::Instant;

/// Wall time of every stage, in the order in which they came first.
#[derive(Debug, Default)]
pub struct StageClock {
    stages: Vec<(&'static str, f64)>,
    /// The stage under way, and since when.
    now: Option<(usize, Instant)>,
}

impl StageClock {
    /// Names and times [s].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.stages.iter().copied()
    }

    fn stop(&mut self, at: Instant) {
        if let Some((stage, since)) = self.now.take() {
            self.stages[stage].1 += (at - since).as_secs_f64();
        }
    }
}

/// The clock of a step that somebody may end.
pub struct Watch<'a> {
    /// Time of every stage.
    pub stages: &'a mut StageClock,
    /// Whether the step is to end; asked between sub-steps.
    pub ended: &'a mut (dyn FnMut() -> bool + Send),
}

impl Observer for Watch<'_> {
    fn enter(&mut self, stage: &'static str) {
        self.stages.enter(stage);
    }

    fn leave(&mut self) {
        self.stages.leave();
    }

    fn is_cancelled(&mut self) -> bool {
        (self.ended)()
    }
}

impl Observer for StageClock {
    fn enter(&mut self, stage: &'static str) {
        let at = Instant::now();
        self.stop(at);
        let known = self.stages.iter().position(|(name, _)| *name == stage);
        let place = known.unwrap_or_else(|| {
            self.stages.push((stage, 0.0));
            self.stages.len() - 1
        });
        self.now = Some((place, at));
    }

    fn leave(&mut self) {
        self.stop(Instant::now());
    }
}
