//! What is made of many numbers: medians, quartiles, passages.

use super::FrameSteps;
use serde::Serialize;

/// Wall and CPU time of frames, stepping alone [ms].
#[derive(Debug, Clone, Serialize)]
pub struct Milliseconds {
    /// Median wall time.
    pub median: f64,
    /// Least wall time.
    pub min: f64,
    /// Median CPU time of all threads, where the system tells it.
    pub cpu: Option<f64>,
    /// CPU time that a quarter of the frames is below, and that a quarter is above.
    pub cpu_quartiles: Option<[f64; 2]>,
}

impl Milliseconds {
    /// Of frames that were taken.
    pub fn of(frames: &[FrameSteps]) -> Self {
        let wall: Vec<f64> = frames.iter().map(|frame| 1e3 * frame.wall.as_secs_f64()).collect();
        let cpu: Option<Vec<f64>> = frames.iter().map(|frame| Some(1e3 * frame.cpu?.as_secs_f64())).collect();
        Self {
            median: median(wall.clone()),
            min: wall.into_iter().fold(f64::INFINITY, f64::min),
            cpu_quartiles: cpu.clone().map(quartiles),
            cpu: cpu.map(median),
        }
    }
}

/// The middle of a list, or the mean of the two in the middle.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let (low, high) = (numbers.len().saturating_sub(1) / 2, numbers.len() / 2);
    numbers.get(low).zip(numbers.get(high)).map_or(f64::NAN, |(a, b)| 0.5 * (a + b))
}

/// Medians of the lower and of the upper half of a list.
fn quartiles(mut numbers: Vec<f64>) -> [f64; 2] {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len().div_ceil(2);
    [median(numbers[..half].to_vec()), median(numbers[numbers.len() - half..].to_vec())]
}

/// When a quantity that goes straight from `before` to `now`, both (time, value), passes `level`.
pub fn crossing(before: (f64, f64), now: (f64, f64), level: f64) -> Option<f64> {
    let passes = before.1 < level && now.1 >= level;
    passes.then(|| before.0 + (now.0 - before.0) * (level - before.1) / (now.1 - before.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
        assert_eq!(quartiles(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 4.0]);
        assert_eq!(quartiles(vec![4.0, 1.0, 2.0, 3.0]), [1.5, 3.5]);
    }

    #[test]
    fn a_passage_is_found_between_moments() {
        assert_eq!(crossing((1.0, 0.0), (2.0, 4.0), 1.0), Some(1.25));
        assert_eq!(crossing((1.0, 0.0), (2.0, 0.5), 1.0), None);
        assert_eq!(crossing((1.0, 1.5), (2.0, 1.2), 1.0), None);
    }
}
