//! How far a sweep is: one line for all runs.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use taffeta_bench::tell::aside;
use taffeta_fleet::pool::Event;

/// Time between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// Where the progress of many runs is shown.
pub struct SweepProgress {
    shown: Shown,
    all: usize,
    begun: usize,
    ended: usize,
    failed: usize,
    since: Instant,
    told: Instant,
}

enum Shown {
    Bar(ProgressBar),
    Lines,
    Nowhere,
}

impl SweepProgress {
    /// Shows the way through so many runs.
    pub fn new(silent: bool, all: usize) -> Self {
        let shown = match (silent, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nowhere,
            (false, false) => Shown::Lines,
            (false, true) => {
                let style = ProgressStyle::with_template("{bar:30} {msg}, {eta} left")
                    .unwrap_or(ProgressStyle::default_bar());
                // However the sweep ends, the bar goes away with it.
                let bar =
                    ProgressBar::new(all as u64).with_style(style).with_finish(ProgressFinish::AndClear);
                bar.enable_steady_tick(Duration::from_millis(500));
                Shown::Bar(bar)
            }
        };
        let now = Instant::now();
        Self { shown, all, begun: 0, ended: 0, failed: 0, since: now, told: now }
    }

    /// Takes in what has happened.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Begun => self.begun += 1,
            Event::Ended(result) => {
                self.ended += 1;
                self.failed += usize::from(result.outcome.reason().is_some());
            }
        }
        match &self.shown {
            Shown::Nowhere => {}
            Shown::Bar(bar) => {
                bar.set_position(self.ended as u64);
                bar.set_message(self.words());
            }
            Shown::Lines if self.told.elapsed() < PAUSE => {}
            Shown::Lines => {
                self.told = Instant::now();
                let pace = self.since.elapsed().as_secs_f64() / self.ended.max(1) as f64;
                let left = (pace * (self.all - self.ended) as f64).ceil();
                aside(format_args!("{}, {left} s left", self.words()));
            }
        }
    }

    fn words(&self) -> String {
        let (running, left) = (self.begun.saturating_sub(self.ended), self.all.saturating_sub(self.begun));
        let failed = if self.failed > 0 { format!(", {} FAILED", self.failed) } else { String::new() };
        format!("{} of {} runs done, {running} running, {left} to begin{failed}", self.ended, self.all)
    }
}
