//! 255 colours for a film that has millions, and the dither that hides it.
//!
//! Median cut (Heckbert 1982) over samples of the film, once; then every pixel is moved by an ordered pattern before the
//! nearest colour is taken. The pattern stands still, so that what does not move does not flicker.

use crate::picture::Image;

/// Colours; one number is left to say "as before".
pub const COLOURS: usize = 255;
/// Bits of each part of a colour that decide which palette entry is nearest.
const BITS: u32 = 6;
/// How far the pattern moves a colour: about the distance of neighbouring entries.
const SPREAD: f32 = 10.0;
/// The most pixels that are looked at to choose the colours.
const MOST_SAMPLES: usize = 1 << 18;

/// Colours, and for every coarse colour the nearest of them.
pub struct Palette {
    /// At most [`COLOURS`].
    pub colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

impl Palette {
    /// Learns the colours of pictures.
    pub fn learn<'a>(images: impl Iterator<Item = &'a Image> + Clone) -> Self {
        let pixels = images.clone().map(|image| image.data.len() / 3).sum::<usize>();
        let every = pixels.div_ceil(MOST_SAMPLES).max(1);
        let samples = images.flat_map(|image| image.data.chunks_exact(3)).step_by(every);
        let mut samples: Vec<[u8; 3]> = samples.map(|c| [c[0], c[1], c[2]]).collect();
        let colours = median_cut(&mut samples);
        let nearest = (0..1_u32 << (3 * BITS)).map(|cell| nearest(&colours, cell_middle(cell))).collect();
        Self { colours, nearest }
    }

    /// The entry for a colour at a place of the picture.
    pub fn entry(&self, colour: [u8; 3], x: usize, y: usize) -> u8 {
        let shift = SPREAD * (bayer(x, y) - 0.5);
        let part = |c: u8| (f32::from(c) + shift).clamp(0.0, 255.0) as u32 >> (8 - BITS);
        let [r, g, b] = colour.map(part);
        self.nearest.get((r << (2 * BITS) | g << BITS | b) as usize).copied().unwrap_or(0)
    }
}

fn cell_middle(cell: u32) -> [u8; 3] {
    let part = |shift: u32| {
        let coarse = (cell >> shift) & ((1 << BITS) - 1);
        ((coarse << (8 - BITS)) + (1 << (7 - BITS))) as u8
    };
    [part(2 * BITS), part(BITS), part(0)]
}

fn nearest(colours: &[[u8; 3]], to: [u8; 3]) -> u8 {
    let distance = |colour: &[u8; 3]| {
        // The eye sees green best (weights of ITU-R BT.601, rounded).
        let part = |i: usize, weight: i32| weight * (i32::from(colour[i]) - i32::from(to[i])).pow(2);
        part(0, 3) + part(1, 6) + part(2, 1)
    };
    let best = colours.iter().enumerate().min_by_key(|(_, colour)| distance(colour));
    best.map_or(0, |(i, _)| i as u8)
}

/// Splits the samples where they are most spread until there are enough boxes; their means are the colours.
fn median_cut(samples: &mut [[u8; 3]]) -> Vec<[u8; 3]> {
    let mut boxes = vec![Cut::new(samples)];
    while boxes.len() < COLOURS {
        let best = (0..boxes.len()).max_by(|a, b| boxes[*a].gain.total_cmp(&boxes[*b].gain)).unwrap_or(0);
        if boxes.get(best).is_none_or(|cut| cut.gain <= 0.0) {
            break;
        }
        let Cut { samples, axis, .. } = boxes.swap_remove(best);
        samples.sort_unstable_by_key(|c| (c[axis], *c));
        let middle = samples[samples.len() / 2][axis];
        // Equal values stay together, so that both sides differ.
        let low = samples.partition_point(|c| c[axis] < middle);
        let cut = if low > 0 { low } else { samples.partition_point(|c| c[axis] <= middle) };
        let (left, right) = samples.split_at_mut(cut);
        boxes.extend([Cut::new(left), Cut::new(right)]);
    }
    boxes.iter().filter(|cut| !cut.samples.is_empty()).map(Cut::mean).collect()
}

struct Cut<'a> {
    samples: &'a mut [[u8; 3]],
    /// Along which it is cut next.
    axis: usize,
    /// How much a cut is worth: the spread of all samples along the axis.
    gain: f64,
}

impl<'a> Cut<'a> {
    fn new(samples: &'a mut [[u8; 3]]) -> Self {
        let count = samples.len().max(1) as f64;
        let spread = |axis: usize| {
            let sum: f64 = samples.iter().map(|c| f64::from(c[axis])).sum();
            let squares: f64 = samples.iter().map(|c| f64::from(c[axis]) * f64::from(c[axis])).sum();
            let weight = [3.0, 6.0, 1.0][axis];
            // The root of the count keeps small, colourful things beside large, dull ones.
            weight * (squares / count - (sum / count) * (sum / count)) * count.sqrt()
        };
        let spreads = [0, 1, 2].map(spread);
        let axis = (0..3).fold(0, |best, i| if spreads[i] > spreads[best] { i } else { best });
        let flat = samples.iter().all(|c| Some(c) == samples.first());
        let gain = if flat { 0.0 } else { spreads[axis] };
        Self { samples, axis, gain }
    }

    fn mean(&self) -> [u8; 3] {
        let count = self.samples.len() as u64;
        let sum = self.samples.iter().fold([0_u64; 3], |sum, c| [0, 1, 2].map(|i| sum[i] + u64::from(c[i])));
        sum.map(|part| ((part + count / 2) / count) as u8)
    }
}

/// The 8 × 8 matrix of Bayer 1973 as numbers in 0..1.
fn bayer(x: usize, y: usize) -> f32 {
    let (x, y) = (x as u32, y as u32);
    let mut number = 0;
    for bit in 0..3 {
        let (a, b) = (x >> bit & 1, y >> bit & 1);
        number = number << 2 | (a ^ b) << 1 | b;
    }
    (number as f32 + 0.5) / 64.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(colour: impl Fn(usize) -> [u8; 3]) -> Image {
        Image { width: 64, height: 64, data: (0..64 * 64).flat_map(colour).collect() }
    }

    #[test]
    fn few_colours_are_kept_exactly_and_many_nearly() {
        let few = picture(|i| [[255, 0, 0], [0, 0, 255], [10, 200, 30]][i % 3]);
        let mut colours = Palette::learn([&few].into_iter()).colours;
        colours.sort_unstable();
        assert_eq!(colours, [[0, 0, 255], [10, 200, 30], [255, 0, 0]]);
        let many = picture(|i| [(i % 64 * 4) as u8, (i / 64 * 4) as u8, 128]);
        let palette = Palette::learn([&many].into_iter());
        assert_eq!(palette.colours.len(), COLOURS);
        let mut error = 0;
        for (i, c) in many.data.chunks_exact(3).enumerate() {
            let got = palette.colours[palette.entry([c[0], c[1], c[2]], i % 64, i / 64) as usize];
            error += got.iter().zip(c).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
        }
        assert!(error / (64 * 64) < 16, "mean error {}", error / (64 * 64));
    }

    #[test]
    fn dither_keeps_the_mean_of_a_flat_grey_between_two_entries() {
        let palette = Palette::learn([&picture(|i| [if i % 2 == 0 { 120 } else { 128 }; 3])].into_iter());
        let sum: u32 = (0..64)
            .map(|i| u32::from(palette.colours[palette.entry([124; 3], i % 8, i / 8) as usize][0]))
            .sum();
        assert!((sum as f32 / 64.0 - 124.0).abs() <= 1.5, "{}", sum as f32 / 64.0);
        let mut numbers: Vec<u32> = (0..64).map(|i| (64.0 * bayer(i % 8, i / 8)) as u32).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn no_pictures_make_no_colours_and_no_harm() {
        let palette = Palette::learn([].into_iter());
        assert!(palette.colours.is_empty() && palette.entry([1, 2, 3], 0, 0) == 0);
    }
}
