//! Pixels before development, and the filters that give each of them the light samples of its neighbours.

use super::light::BLOCK;
use super::{Place, around};
use glam::Vec3;

/// A pixel: what its samples saw, on average.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pixel {
    /// Light that is done.
    pub sure: Vec3,
    /// Light from the key lamp before shadow.
    pub direct: Vec3,
    /// Light from all around before occlusion.
    pub ambient: Vec3,
    /// The same once bounced.
    pub bounced: Vec3,
    /// What is seen of the lights.
    pub seen: Seen,
    /// Where the surface is [m].
    pub position: Vec3,
    /// Its normal.
    pub normal: Vec3,
    /// Width of the pixel there [m].
    pub footprint: f32,
    /// The surface, or 0 if there are several or none: then all light is in `sure`.
    pub surface: u32,
}

/// Shares of the lights that are seen, 0..1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// Of the key lamp.
    pub key: f32,
    /// Of the sky.
    pub open: f32,
}

impl Pixel {
    /// A pixel on the surface of a place, still dark.
    pub fn at(place: &Place) -> Self {
        let Place { position, normal, footprint, surface, .. } = *place;
        Self { position, normal, footprint, surface, ..Self::default() }
    }

    /// Adds what one look at the lights has seen.
    pub fn see(&mut self, seen: Seen, weight: f32) {
        self.seen.key += weight * seen.key;
        self.seen.open += weight * seen.open;
    }

    /// Adds a sample's light; shadow is applied later.
    pub fn add(&mut self, place: &Place, weight: f32) {
        self.sure += weight * place.sure;
        self.direct += weight * place.direct;
        self.ambient += weight * place.ambient;
        self.bounced += weight * place.bounced;
    }

    /// Light of the pixel where so much of the lights is seen.
    pub fn light(&self, seen: Seen) -> Vec3 {
        let [plain, bounced] = around(seen.open);
        self.sure + seen.key * self.direct + plain * self.ambient + bounced * self.bounced
    }

    /// Whether another pixel lies on the same surface and not round a bend.
    fn continues(&self, other: &Pixel, reach: f32) -> bool {
        let away = (other.position - self.position).dot(self.normal).abs();
        other.surface == self.surface && away < reach * self.footprint && other.normal.dot(self.normal) > 0.8
    }
}

/// Pixels in rows.
#[derive(Debug, Clone, Copy)]
pub struct Band<'a> {
    /// Row by row.
    pub pixels: &'a [Pixel],
    /// Pixels in a row.
    pub width: usize,
    /// Light samples of a block.
    pub samples: usize,
}

/// How far the first filter looks [pixels].
const BLOCK_REACH: usize = BLOCK / 2;
/// How far the second filter looks [pixels].
const WIDE_REACH: usize = 2 * BLOCK;
/// Rows above and below a band that its pixels look at.
pub const HALO: usize = BLOCK_REACH + WIDE_REACH;

impl Band<'_> {
    /// What a pixel and its block see of the lights.
    ///
    /// The window is a block and half a pixel more on every side, its rim counted half: symmetric, and every number
    /// of the block still has the same weight.
    pub fn block_filter(&self, x: usize, y: usize) -> Seen {
        let rim = |a: usize, b: usize| if a.abs_diff(b) == BLOCK_REACH { 0.5 } else { 1.0 };
        let pixel = &self.pixels[y * self.width + x];
        let mut sum = [0.0; 3];
        self.around(x, y, BLOCK_REACH, 1, |column, row, place| {
            let other = &self.pixels[place];
            if pixel.continues(other, 2.0) {
                let weight = rim(row, y) * rim(column, x);
                sum = [sum[0] + weight * other.seen.key, sum[1] + weight * other.seen.open, sum[2] + weight];
            }
        });
        Seen { key: sum[0] / sum[2], open: sum[1] / sum[2] }
    }

    /// The same smoothed over the blocks around, where they see nearly the same: noise vanishes, edges of shadows stay.
    pub fn wide_filter(&self, blocks: &[Seen], x: usize, y: usize) -> Seen {
        let place = y * self.width + x;
        let (pixel, own) = (&self.pixels[place], blocks[place]);
        let (mut key, mut open) = ([0.0; 2], [0.0; 2]);
        // Well-spread samples are wrong by less than this; a larger difference is an edge.
        let noise = 2.0 / (self.samples as f32).sqrt();
        self.around(x, y, WIDE_REACH, BLOCK, |_, _, place| {
            if pixel.continues(&self.pixels[place], 4.0) {
                for (sum, seen, own) in
                    [(&mut key, blocks[place].key, own.key), (&mut open, blocks[place].open, own.open)]
                {
                    let weight = (1.0 - (seen - own) * (seen - own) / (noise * noise)).max(0.0);
                    *sum = [sum[0] + weight * seen, sum[1] + weight];
                }
            }
        });
        Seen { key: key[0] / key[1], open: open[0] / open[1] }
    }

    /// Visits every `stride`-th pixel within `reach` of one, itself included.
    #[inline(always)]
    fn around(
        &self,
        x: usize,
        y: usize,
        reach: usize,
        stride: usize,
        mut visit: impl FnMut(usize, usize, usize),
    ) {
        let height = self.pixels.len() / self.width;
        let first = |at: usize| if at >= reach { at - reach } else { at % stride };
        for row in (first(y)..(y + reach + 1).min(height)).step_by(stride) {
            for column in (first(x)..(x + reach + 1).min(self.width)).step_by(stride) {
                visit(column, row, row * self.width + column);
            }
        }
    }
}
