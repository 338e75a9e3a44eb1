//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use crate::report::FrameReport;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use taffeta_bench::percent;
use taffeta_bench::tell::aside;

/// Time between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// Where progress is shown.
pub enum Progress {
    /// On a terminal.
    Bar(ProgressBar),
    /// In a log: a line every few seconds.
    Lines(Lines),
    /// Nowhere.
    Silent,
}

/// What the lines need to know.
pub struct Lines {
    first: u32,
    frames: u32,
    begun: Instant,
    told: Instant,
}

impl Progress {
    /// Shows the way from frame `first` to frame `frames`.
    pub fn new(silent: bool, first: u32, frames: u32) -> Self {
        if silent {
            return Self::Silent;
        }
        let now = Instant::now();
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Lines { first, frames, begun: now, told: now });
        }
        let style = ProgressStyle::with_template("{bar:30} frame {pos} of {len}, {eta} left  {msg}");
        let bar = ProgressBar::new(frames.into()).with_style(style.unwrap_or(ProgressStyle::default_bar()));
        // However the run ends, the bar goes away with it.
        let bar = bar.with_finish(ProgressFinish::AndClear);
        bar.set_position(first.into());
        bar.reset_eta();
        // Long frames are no standstill.
        bar.enable_steady_tick(Duration::from_millis(500));
        Self::Bar(bar)
    }

    /// A frame is done; `words` says what is worth knowing of it, in colour or not.
    pub fn frame(&mut self, number: u32, words: impl Fn(bool) -> String) {
        match self {
            Self::Silent => {}
            Self::Bar(bar) => {
                bar.set_position(number.into());
                bar.set_message(words(std::env::var_os("NO_COLOR").is_none()));
            }
            Self::Lines(lines) => {
                let now = Instant::now();
                if now - lines.told >= PAUSE {
                    lines.told = now;
                    let (done, left) =
                        (number.saturating_sub(lines.first), lines.frames.saturating_sub(number));
                    let pace = (now - lines.begun).as_secs_f64() / f64::from(done.max(1));
                    let seconds = (pace * f64::from(left)).ceil();
                    aside(format_args!(
                        "frame {number} of {}, {seconds} s left  {}",
                        lines.frames,
                        words(false)
                    ));
                }
            }
        }
    }
}

/// The certificate of a frame in few words; one that was recorded before has no new report.
pub fn certified(report: Option<&FrameReport>, tolerance: f64, colour: bool) -> String {
    let Some(report) = report else { return "recorded before, and the same again".into() };
    let strain = report.certificate().max_strain;
    let mut told = format!("strain {}", percent(strain));
    if colour && strain > tolerance {
        told = format!("\x1b[31m{told}\x1b[0m");
    }
    format!("{told}, intersections {}", report.intersections)
}
