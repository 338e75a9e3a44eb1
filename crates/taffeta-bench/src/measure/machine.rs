//! The machine and this process on it: processor, threads, memory, date.

use crate::BenchError;
use serde_json::{Value, json};
use taffeta::math::lanes::InstructionSet;

/// How many threads run at once here.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// A pool of so many threads; without a number, one for every core.
pub fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, BenchError> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or_else(cores));
    builder.build().map_err(BenchError::asked)
}

/// A number of threads on the command line.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("write a whole number from 1 to 1024".into()),
    }
}

/// What measurements were made on.
pub(crate) fn description() -> Value {
    json!({
        "cpu": cpu_name(),
        "instructions": InstructionSet::available()[0].name(),
        "cores": cores(),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
    })
}

/// Today in the calendar, by Greenwich.
pub(crate) fn date() -> String {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let (year, month, day) = calendar(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days after 1970-01-01.
fn calendar(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that the leap day is the last of its year.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let of_era_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (400 * era + of_era_year + u64::from(month <= 2), month, day)
}

/// The processor's own name; Linux alone tells it in a file.
pub fn cpu_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().into())
}

/// The most memory this process has held so far [bytes], where the system tells it.
pub fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

#[cfg(test)]
mod tests {
    use super::calendar;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, date) in
            [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (19_723, (2024, 1, 1))]
        {
            assert_eq!(calendar(days), date);
        }
    }
}
