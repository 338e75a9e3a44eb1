//! Numbers as they stand in tables and lines.

/// A ratio as a percentage.
pub fn percent(ratio: f64) -> String {
    format!("{} %", figures(100.0 * ratio))
}

/// A number to three figures, as short as that allows.
pub fn figures(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{number:.1e}");
    }
    let whole = size.log10().floor() as i32;
    let text = format!("{number:.*}", (2 - whole).max(0) as usize);
    // What rounding made into zeros behind the point says nothing.
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_three_and_short() {
        let wanted = [
            (0.0, "0"),
            (5.0, "5"),
            (0.7512, "0.751"),
            (0.7, "0.7"),
            (343.4, "343"),
            (41.23, "41.2"),
            (123456.0, "123456"),
            (-0.26, "-0.26"),
            (0.00012, "0.00012"),
            (9.9999, "10"),
            (2e-6, "2.0e-6"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in wanted {
            assert_eq!(figures(number), text);
        }
    }
}
