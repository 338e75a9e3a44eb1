//! How much memory a run takes: estimated before anything is built, watched while it runs.

use crate::Failure;
use std::fs;
use std::time::{Duration, Instant};
use taffeta_bench::figures;
use taffeta_io::scene_file::LoadedScene;

/// Time between two looks at what a run holds.
const PAUSE: Duration = Duration::from_millis(20);

/// The most memory that a run may hold.
pub struct MemoryLimit {
    /// When it was looked at last.
    looked: Instant,
    /// [bytes]; nothing where neither the user nor the system says.
    most: Option<u64>,
    /// Whether the user has set it.
    asked: bool,
}

/// A run that takes more memory than it may.
#[derive(Debug, thiserror::Error)]
pub enum TooLarge {
    /// Known before it began.
    #[error(
        "the scene has {particles} particles, which take about {}, and {} {words}; make it coarser, or run it where there is more",
        gigabytes(*.needed), gigabytes(*.most)
    )]
    Scene {
        /// How many.
        particles: u64,
        /// Their memory [bytes].
        needed: u64,
        /// What there is [bytes].
        most: u64,
        /// Who says so.
        words: &'static str,
    },
    /// Seen while it ran.
    #[error(
        "the run holds {}, and {} {words}; what is recorded is kept, and `--resume` goes on where there is more",
        gigabytes(*.held), gigabytes(*.most)
    )]
    Run {
        /// What it holds [bytes].
        held: u64,
        /// What it may [bytes].
        most: u64,
        /// Who says so.
        words: &'static str,
    },
}

impl MemoryLimit {
    /// The limit that is asked for [bytes], or what the system can give.
    pub fn new(asked: Option<u64>) -> Self {
        let all = || Some(available()?.saturating_add(resident().unwrap_or(0)));
        Self { looked: Instant::now(), most: asked.or_else(all), asked: asked.is_some() }
    }

    /// The limit [bytes], where one is known.
    pub fn most(&self) -> Option<u64> {
        self.most
    }

    fn words(&self) -> &'static str {
        if self.asked { "is the limit of --memory" } else { "is all that the machine has free" }
    }

    /// Refuses a scene that cannot fit.
    pub fn check(&self, scene: &LoadedScene) -> Result<(), Failure> {
        let particles = scene.scene.particle_estimate(&scene.meshes);
        let needed = scene.scene.memory_estimate(&scene.meshes);
        match self.most {
            Some(most) if needed > most => {
                Err(Failure::input(TooLarge::Scene { particles, needed, most, words: self.words() }))
            }
            _ => Ok(()),
        }
    }

    /// What is held, if that is too much; looked at now and then, so that it may be asked as often as one likes.
    pub fn exceeded(&mut self) -> Option<TooLarge> {
        if self.looked.elapsed() < PAUSE {
            return None;
        }
        self.looked = Instant::now();
        let (most, held) = (self.most?, resident()?);
        (held > most).then(|| TooLarge::Run { held, most, words: self.words() })
    }
}

/// What the machine can still give [bytes]: what the system says is available, or less where a control group or `ulimit -v` allows less.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = 1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    let number =
        |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    let group =
        number("memory.max").zip(number("memory.current")).map(|(most, held)| most.saturating_sub(held));
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let space = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let space = space.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Some([group, space].into_iter().flatten().fold(free, u64::min))
}

/// A number of bytes in words.
fn gigabytes(bytes: u64) -> String {
    format!("{} GB", figures(1e-9 * bytes as f64))
}

/// What this process holds now [bytes], where the system tells it.
fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    // Pages of 4 KiB, which all systems with this file but a few have; larger ones only make the watch late.
    Some(4096 * pages)
}

/// Bytes on the command line: a number with K, M, G or T for 1024 and its powers, or without.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let words = "write a size such as 900M or 8G";
    let number = text.trim_end_matches(['B', 'b']).trim_end_matches(['i']);
    let (digits, shift) = match number.char_indices().last() {
        Some((at, 'K' | 'k')) => (&number[..at], 10),
        Some((at, 'M' | 'm')) => (&number[..at], 20),
        Some((at, 'G' | 'g')) => (&number[..at], 30),
        Some((at, 'T' | 't')) => (&number[..at], 40),
        _ => (number, 0),
    };
    let value: f64 = digits.trim().parse().map_err(|_| words)?;
    let bytes = value * f64::from(2).powi(shift);
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(words.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        let sizes = ["900M", "8G", "1.5GiB", "4096", "2 kB", "1T"].map(parse_size);
        let exact = [900 << 20, 8 << 30, 3 << 29, 4096, 2 << 10, 1 << 40];
        assert_eq!(sizes, exact.map(Ok));
        for wrong in ["", "G", "-1G", "0", "lots", "1e30G", "nan"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_the_process_holds_is_told() {
        let (held, free) = (resident().unwrap(), available().unwrap());
        assert!(held > 100_000 && held < 1 << 40 && free > 1 << 20, "{held} {free}");
        for (most, exceeded) in [(1, true), (u64::MAX, false)] {
            let mut limit = MemoryLimit::new(Some(most));
            limit.looked -= PAUSE;
            assert_eq!(limit.exceeded().is_some(), exceeded);
        }
    }
}
