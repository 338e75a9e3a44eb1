//! What the colours mean: a bar with numbers, written onto the picture.

use crate::colour;
use crate::font;
use crate::picture::Image;

/// How numbers become colours, and how the picture says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// What the numbers are.
    pub title: String,
    /// Their unit; `%` shows a share of 1 as percent.
    pub unit: String,
    /// The number that has the first colour.
    pub low: f64,
    /// The number that has the last colour.
    pub high: f64,
}

/// Draws title, bar and numbers in the lower left corner.
pub fn draw(image: &mut Image, scale: &Scale) {
    let size = (image.height.min(image.width) as f32 / 40.0).max(8.0);
    let margin = 1.4 * size;
    let bar = [14.0 * size, 0.9 * size];
    let title = scale.title.as_str();
    let (low, high) = (number(scale.low, &scale.unit), number(scale.high, &scale.unit));
    let numbers = font::width(&low, 0.85 * size) + font::width(&high, 0.85 * size) + 2.0 * size;
    let width = bar[0].max(numbers).max(font::width(title, size));
    let height = 4.6 * size;
    let left = margin + size;
    let top = image.height as f32 - margin - height - 0.6 * size;
    let panel = [margin, top - size, width + 2.0 * size, height + 1.6 * size];
    fill_round(image, panel, 0.6 * size, [24, 27, 31], 0.78);
    let text = [238, 240, 242];
    font::write(image, title, [left, top], size, text);
    let (bar_top, right) = (top + 1.7 * size, left + width);
    let columns = left as u32..right as u32;
    for x in columns.clone() {
        let t = (x as f32 + 0.5 - left) / width;
        let colour = colour::viridis(t).map(|c| (255.0 * c + 0.5) as u8);
        for y in bar_top as u32..(bar_top + bar[1]) as u32 {
            if x < image.width && y < image.height {
                font::blend(image, x, y, colour, 1.0);
            }
        }
    }
    let line = bar_top + bar[1] + 0.7 * size;
    font::write(image, &low, [left, line], 0.85 * size, text);
    font::write(image, &high, [right - font::width(&high, 0.85 * size), line], 0.85 * size, text);
}

/// A number with its unit, to three digits.
fn number(value: f64, unit: &str) -> String {
    let (value, gap) =
        if unit == "%" { (100.0 * value, " ") } else { (value, if unit.is_empty() { "" } else { " " }) };
    let digits = match value.abs() {
        0.0 => "0".to_string(),
        a if !(1e-3..1e5).contains(&a) => format!("{value:.1e}"),
        a => {
            let decimals = (2 - libm::log10(a).floor() as i32).clamp(0, 5) as usize;
            let text = format!("{value:.decimals$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_string()
            } else {
                text
            }
        }
    };
    format!("{digits}{gap}{unit}")
}

/// Darkens a rectangle (left, top, width, height) with round corners.
fn fill_round(
    image: &mut Image,
    [left, top, width, height]: [f32; 4],
    radius: f32,
    colour: [u8; 3],
    cover: f32,
) {
    for y in top.max(0.0) as u32..((top + height).max(0.0) as u32 + 1).min(image.height) {
        for x in left.max(0.0) as u32..((left + width).max(0.0) as u32 + 1).min(image.width) {
            let beyond =
                |p: f32, low: f32, size: f32| ((low + radius - p).max(p - (low + size - radius))).max(0.0);
            let (dx, dy) = (beyond(x as f32 + 0.5, left, width), beyond(y as f32 + 0.5, top, height));
            let inside = (radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
            font::blend(image, x, y, colour, cover * inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        let said = |value, unit| number(value, unit);
        assert_eq!(said(0.0123, "%"), "1.23 %");
        assert_eq!(said(0.1, "%"), "10 %");
        assert_eq!(said(12.0, "m/s"), "12 m/s");
        assert_eq!(said(1234.5, ""), "1234");
        assert_eq!(said(-0.05, ""), "-0.05");
        assert_eq!(said(2.5e-7, "m"), "2.5e-7 m");
        assert_eq!(said(f64::NAN, ""), "NaN");
    }

    #[test]
    fn the_bar_runs_from_the_first_colour_to_the_last_and_the_text_is_there() {
        let scale = Scale { title: "strain".into(), unit: "%".into(), low: 0.0, high: 0.05 };
        let plain = Image { width: 400, height: 300, data: vec![128; 400 * 300 * 3] };
        let mut image = plain.clone();
        draw(&mut image, &scale);
        let colours: Vec<[u8; 3]> = (0..300)
            .flat_map(|y| (0..400).map(move |x| (x, y)))
            .map(|(x, y)| image.pixel(x, y).unwrap())
            .collect();
        let near = |hex: [u8; 3]| colours.iter().any(|c| c.iter().zip(hex).all(|(a, b)| a.abs_diff(b) < 8));
        assert!(near([68, 1, 84]) && near([33, 145, 140]) && near([253, 231, 37]));
        assert!(colours.iter().filter(|c| c.iter().all(|b| *b > 170)).count() > 80, "no text");
        // The rest of the picture is left alone, and a tiny picture does no harm.
        assert_eq!(image.pixel(399, 0), plain.pixel(399, 0));
        draw(&mut Image { width: 3, height: 2, data: vec![0; 18] }, &scale);
    }
}
