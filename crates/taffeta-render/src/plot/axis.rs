//! An axis: which numbers it spans, where its ticks are, and how they are written.

/// A range of numbers, shown plainly or by logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// Over all numbers that can be shown, with some room at both ends; a plain axis that nearly reaches 0 does reach it.
    pub fn over(numbers: impl Iterator<Item = f64>, log: bool, tight: bool) -> Self {
        let shown = numbers.filter(|x| x.is_finite() && x.abs() < 1e300 && (!log || *x > 0.0));
        let [low, high] =
            shown.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
        let [low, high] = if low <= high { [low, high] } else { [1.0, 10.0] };
        if log {
            let room = libm::pow(high / low, 0.04).max(if low == high { 2.0 } else { 1.02 });
            return Self { low: low / room, high: high * room, log };
        }
        let width = if high > low { high - low } else { low.abs().max(1.0) };
        let room = if tight && high > low { 0.0 } else { 0.05 * width };
        let start = if low >= 0.0 && low < 0.4 * high { 0.0 } else { low - room };
        Self { low: start, high: high + room, log }
    }

    /// Where a number lies, from 0 at the low end to 1 at the high end; `None` if it cannot be shown.
    pub fn place(&self, x: f64) -> Option<f64> {
        let t = if self.log {
            (libm::log10(x) - libm::log10(self.low)) / (libm::log10(self.high) - libm::log10(self.low))
        } else {
            (x - self.low) / (self.high - self.low)
        };
        (t.is_finite() && t.abs() < 100.0).then_some(t)
    }

    /// The ticks: numbers and how they are written.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let decades = libm::log10(self.high / self.low);
        if self.log && decades >= 1.0 { self.log_ticks(decades) } else { self.plain_ticks() }
    }

    fn log_ticks(&self, decades: f64) -> Vec<(f64, String)> {
        let steps: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / 7.0).ceil().max(1.0) as i32;
        let (first, last) = (libm::log10(self.low).floor() as i32, libm::log10(self.high).ceil() as i32);
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        let ticks =
            powers.flat_map(|power| steps.iter().map(move |step| step * libm::pow(10.0, f64::from(power))));
        ticks.filter(|x| (self.low..=self.high).contains(x)).map(|x| (x, text(x, x))).collect()
    }

    fn plain_ticks(&self) -> Vec<(f64, String)> {
        let wanted = (self.high - self.low) / 5.0;
        let power = libm::pow(10.0, libm::log10(wanted).floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= wanted).unwrap_or(wanted);
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).clamp(0.0, 20.0) as i32;
        (0..=count).map(|i| (first + f64::from(i)) * step).map(|x| (x, text(x, step))).collect()
    }
}

/// A number as exact as steps of `step` need.
fn text(x: f64, step: f64) -> String {
    if x.abs() < 1e-9 * step {
        return "0".into();
    }
    if x.abs() >= 1e5 || step.abs() < 0.999e-3 {
        let power = libm::log10(x.abs()).floor() as i32;
        let digits = x / libm::pow(10.0, f64::from(power));
        let digits = format!("{digits:.2}");
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        let raised: String = power.to_string().chars().map(raise).collect();
        return if digits == "1" { format!("10{raised}") } else { format!("{digits}·10{raised}") };
    }
    let decimals = (-libm::log10(step.abs()).floor()).clamp(0.0, 9.0) as usize;
    format!("{x:.decimals$}")
}

fn raise(c: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    c.to_digit(10).and_then(|digit| DIGITS.get(digit as usize)).copied().unwrap_or('⁻')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: &[f64], log: bool) -> Vec<String> {
        Axis::over(numbers.iter().copied(), log, true).ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_as_exact_as_they_need() {
        assert_eq!(written(&[0.0, 4.0], false), ["0", "1", "2", "3", "4"]);
        assert_eq!(written(&[0.1, 0.52], false), ["0", "0.2", "0.4"]);
        assert_eq!(written(&[-3e6, 1e6], false), ["-3·10⁶", "-2·10⁶", "-1·10⁶", "0", "10⁶"]);
        assert_eq!(written(&[1e-6, 0.1], true), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1"]);
        assert_eq!(written(&[1.0, 60.0], true), ["1", "2", "5", "10", "20", "50"]);
    }

    #[test]
    fn places_run_from_end_to_end_and_nonsense_has_none() {
        let plain = Axis::over([2.0, 3.0].into_iter(), false, true);
        assert_eq!([plain.place(2.0), plain.place(2.5), plain.place(3.0)], [Some(0.0), Some(0.5), Some(1.0)]);
        let log = Axis::over([1.0, 100.0, 0.0, -1.0, f64::NAN].into_iter(), true, false);
        assert!((log.place(10.0).unwrap() - 0.5).abs() < 1e-12);
        assert!(log.place(1.0).unwrap() > 0.0 && log.place(100.0).unwrap() < 1.0);
        assert_eq!([log.place(0.0), log.place(-1.0), plain.place(f64::INFINITY)], [None; 3]);
    }

    #[test]
    fn odd_ranges_still_have_an_axis() {
        for numbers in [&[][..], &[0.0], &[5.0], &[-1e299, 1e299], &[1e-300], &[f64::NAN, 1e-12, 2e-12]] {
            for log in [false, true] {
                let axis = Axis::over(numbers.iter().copied(), log, false);
                assert!(axis.high > axis.low && axis.ticks().len() <= 40, "{numbers:?}: {axis:?}");
            }
        }
    }
}
