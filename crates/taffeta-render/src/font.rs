//! A small font of our own, drawn as strokes: letters are dots on a grid (`font.txt`), and the strokes join neighbouring
//! dots, so that it is sharp at any size.

use crate::picture::Image;

/// The drawing of all letters: a line that names up to 16, then the nine rows of each, five dots wide.
const DRAWING: &str = include_str!("font.txt");
const ROWS: usize = 9;
const COLUMNS: usize = 5;
/// From one letter to the next where both are five dots wide [dots].
const GAP: f32 = 2.0;
/// Width of a space [dots].
const SPACE: f32 = 3.0;
/// Height of a capital letter [dots].
const CAPITAL: f32 = 7.0;

type Segment = [[f32; 2]; 2];

/// One letter: its strokes and how wide it is [dots].
struct Letter {
    strokes: Vec<Segment>,
    width: f32,
}

/// Width of a text whose capitals are `size` high [pixels].
pub fn width(text: &str, size: f32) -> f32 {
    let dots: f32 = text.chars().map(|c| letter(c).width + GAP).sum();
    ((dots - GAP).max(0.0) + 1.0) * size / CAPITAL
}

/// Writes a text whose capitals are `size` high, their upper left corner at `at` [pixels], in an sRGB colour.
pub fn write(image: &mut Image, text: &str, at: [f32; 2], size: f32, colour: [u8; 3]) {
    let dot = size / CAPITAL;
    let mut x = at[0] + 0.5 * dot;
    for c in text.chars() {
        let letter = letter(c);
        let place = |[column, row]: [f32; 2]| [x + column * dot, at[1] + (row + 0.5) * dot];
        let strokes: Vec<Segment> = letter.strokes.iter().map(|stroke| stroke.map(place)).collect();
        let corner = [x - dot, at[1] - dot];
        let size = [(letter.width + 2.0) * dot, (ROWS as f32 + 2.0) * dot];
        // Thinner than a pixel it would be faint.
        draw_strokes(image, &strokes, corner, size, (0.5 * dot).max(0.65), colour);
        x += (letter.width + GAP) * dot;
    }
}

/// The letter, or a box for one that the font lacks.
fn letter(c: char) -> Letter {
    if c == ' ' {
        return Letter { strokes: Vec::new(), width: SPACE - 1.0 };
    }
    let on = dots(c).unwrap_or([[true, true, true, true, true]; ROWS]);
    let columns = |x: &usize| on.iter().any(|row| row[*x]);
    let first = (0..COLUMNS).find(columns).unwrap_or(0);
    let last = (0..COLUMNS).rfind(columns).unwrap_or(0);
    let is_on = |x: isize, y: isize| {
        let row = usize::try_from(y).ok().and_then(|y| on.get(y));
        row.zip(usize::try_from(x).ok()).and_then(|(row, x)| row.get(x)).copied().unwrap_or(false)
    };
    let mut strokes = Vec::new();
    for (y, x) in (0..ROWS as isize).flat_map(|y| (0..COLUMNS as isize).map(move |x| (y, x))) {
        if !is_on(x, y) {
            continue;
        }
        let mut join = |dx: isize, dy: isize| {
            let place = |x: isize, y: isize| [(x - first as isize) as f32, y as f32];
            strokes.push([place(x, y), place(x + dx, y + dy)]);
        };
        join(0, 0);
        for (dx, dy) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
            // A diagonal is a stroke only where no corner joins its ends already.
            let corner = dx != 0 && dy != 0 && (is_on(x + dx, y) || is_on(x, y + dy));
            if is_on(x + dx, y + dy) && !corner {
                join(dx, dy);
            }
        }
    }
    Letter { strokes, width: (last - first) as f32 }
}

/// The dots of a letter.
fn dots(c: char) -> Option<[[bool; COLUMNS]; ROWS]> {
    let lines: Vec<&str> = DRAWING.lines().collect();
    for band in lines.chunks(ROWS + 1) {
        let (names, rows) = band.split_first()?;
        let Some(start) = names.chars().position(|name| name == c) else { continue };
        let mut dots = [[false; COLUMNS]; ROWS];
        for (row, line) in dots.iter_mut().zip(rows) {
            for (dot, drawn) in row.iter_mut().zip(line.bytes().skip(start)) {
                *dot = drawn == b'#';
            }
        }
        return Some(dots);
    }
    None
}

/// Blends strokes with round ends, all within `size` of `corner`, into the picture.
fn draw_strokes(
    image: &mut Image,
    strokes: &[Segment],
    corner: [f32; 2],
    size: [f32; 2],
    radius: f32,
    colour: [u8; 3],
) {
    let range = |axis: usize, limit: u32| {
        let (low, high) = (corner[axis].max(0.0) as u32, (corner[axis] + size[axis]).max(0.0) as u32);
        low..(high + 1).min(limit)
    };
    for y in range(1, image.height) {
        for x in range(0, image.width) {
            let p = [x as f32 + 0.5, y as f32 + 0.5];
            let away = strokes.iter().map(|stroke| distance(p, stroke)).fold(f32::INFINITY, f32::min);
            blend(image, x, y, colour, (radius + 0.5 - away).clamp(0.0, 1.0));
        }
    }
}

fn distance(p: [f32; 2], [a, b]: &Segment) -> f32 {
    let (along, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length = along[0] * along[0] + along[1] * along[1];
    let s = if length > 0.0 { ((to[0] * along[0] + to[1] * along[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (dx, dy) = (to[0] - s * along[0], to[1] - s * along[1]);
    (dx * dx + dy * dy).sqrt()
}

/// Covers a share of a pixel by a colour.
pub fn blend(image: &mut Image, x: u32, y: u32, colour: [u8; 3], cover: f32) {
    let start = 3 * (y as usize * image.width as usize + x as usize);
    if let Some(bytes) = image.data.get_mut(start..start + 3) {
        for (byte, new) in bytes.iter_mut().zip(colour) {
            *byte = (f32::from(*byte) + cover * (f32::from(new) - f32::from(*byte)) + 0.5) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_letter_is_drawn_and_no_two_alike() {
        let letters: Vec<char> = (33_u8..127).map(char::from).chain("µ²³°·±×".chars()).collect();
        for (i, a) in letters.iter().enumerate() {
            let drawn = dots(*a).unwrap_or_else(|| panic!("{a} is missing"));
            assert!(drawn.iter().flatten().any(|dot| *dot), "{a} is empty");
            for b in &letters[..i] {
                assert_ne!(Some(drawn), dots(*b), "{a} looks like {b}");
            }
        }
        assert!(dots('字').is_none());
    }

    #[test]
    fn text_is_written_where_it_is_said_to_be() {
        let mut image = Image { width: 120, height: 40, data: vec![0; 120 * 40 * 3] };
        write(&mut image, "Hg 1", [10.0, 8.0], 14.0, [255; 3]);
        let end = 10.0 + width("Hg 1", 14.0);
        for y in 0..40 {
            for x in 0..120 {
                let lit = image.pixel(x, y).unwrap() != [0; 3];
                let inside = (9..=end as u32 + 1).contains(&x) && (7..=8 + 18).contains(&y);
                assert!(inside || !lit, "({x}, {y}) is written on");
            }
        }
        // The left stem of the H, and the space after the g.
        assert!(image.pixel(11, 15).unwrap()[0] > 200 && image.pixel(40, 15).unwrap()[0] == 0);
        // Beyond the edge is no harm.
        write(&mut image, "edge", [-5.0, 35.0], 14.0, [255; 3]);
        write(&mut image, "edge", [110.0, -9.0], 14.0, [255; 3]);
    }
}
