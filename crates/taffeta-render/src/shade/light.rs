//! Where light comes from: a soft key, a fill, the sky and the floor; and which of its directions each pixel looks into.
//!
//! Interleaved sampling (Keller & Heidrich 2001): the pixels of every 4 × 4 block look into different directions of one
//! well-spread set, and a filter over the block ([`crate::shade::smooth`]) gives each pixel the whole set. Blocks have
//! different sets, so that what is left is fine noise and not bands. All depends on the place in the picture alone: films do
//! not flicker.

use super::weave::hash;
use glam::{Mat3, Vec3};

/// Pixels along the side of a block.
pub const BLOCK: usize = 4;
/// How many sets of directions there are.
const SETS: usize = 64;

/// Irradiance of a surface that faces the key light.
pub const KEY: Vec3 = Vec3::new(0.97, 0.93, 0.87);
/// Irradiance of a surface that faces the fill light, which throws no shadow.
pub const FILL: Vec3 = Vec3::new(0.07, 0.078, 0.09);
/// Irradiance of a surface that looks up.
const SKY: Vec3 = Vec3::new(0.31, 0.335, 0.36);
/// Irradiance of a surface that looks down.
const FLOOR: Vec3 = Vec3::new(0.15, 0.14, 0.13);
/// Radius of the key light at distance 1: soft edges a little wider than a window's.
const KEY_RADIUS: f32 = 0.11;
/// Height of the key light above the horizon, as its sine and cosine: 47 degrees.
const KEY_HEIGHT: [f32; 2] = [0.731, 0.682];
/// How far it stands to the left of the camera, as sine and cosine: 55 degrees.
const KEY_ASIDE: [f32; 2] = [0.819, 0.574];

/// The lights around a camera.
#[derive(Debug)]
pub struct Lights {
    /// Towards the middle of the key light.
    pub key: Vec3,
    /// Towards the fill light.
    pub fill: Vec3,
    /// Towards points spread over the key light.
    pub key_points: Vec<Vec3>,
    /// Directions spread by cosine about +z, and how far to look there: a share of the reach.
    pub sky: Vec<(Vec3, f32)>,
    /// Directions in a set.
    pub set: usize,
}

impl Lights {
    /// For a camera that looks `forward`, with `samples` directions for each pixel.
    pub fn new(forward: Vec3, samples: usize) -> Self {
        let flat = Vec3::new(forward.x, 0.0, forward.z).normalize_or(Vec3::NEG_Z);
        let left = Vec3::new(flat.z, 0.0, -flat.x);
        let [sine, cosine] = KEY_HEIGHT;
        let key = (cosine * (KEY_ASIDE[0] * left - KEY_ASIDE[1] * flat) + sine * Vec3::Y).normalize();
        let fill = (-0.8 * left - 0.5 * flat + 0.35 * Vec3::Y).normalize();
        let frame = frame(key);
        let set = samples * BLOCK * BLOCK;
        let count = SETS * set;
        let key_point = |i: usize| {
            let [x, y, _] = spread(i);
            let disc = disc(x, y);
            (key + KEY_RADIUS * (frame.x_axis * disc[0] + frame.y_axis * disc[1])).normalize()
        };
        let sky = |i: usize| {
            let [x, y, z] = spread(i + 7919);
            let [a, b] = disc(x, y);
            // The chance to look further than t is (1 - t)²: near things darken more than far ones.
            (Vec3::new(a, b, (1.0 - a * a - b * b).max(0.0).sqrt()), (1.0 - z.sqrt()).max(1e-3))
        };
        Self {
            key,
            fill,
            key_points: (0..count).map(key_point).collect(),
            sky: (0..count).map(sky).collect(),
            set,
        }
    }
}

/// Irradiance from sky and floor where nothing stands in their way.
pub fn ambient(normal: Vec3) -> Vec3 {
    FLOOR.lerp(SKY, 0.5 + 0.5 * normal.y)
}

impl Lights {
    /// The number of a pixel's `sample`-th direction: a set for each block, a part of it for each pixel, such that
    /// neighbours have far numbers (the matrix of Bayer 1973). Samples beyond the pixel's part go on through the set.
    pub fn number(&self, x: usize, y: usize, sample: usize) -> usize {
        const ORDER: [[usize; BLOCK]; BLOCK] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
        let block = ((y / BLOCK) as i32) << 15 ^ (x / BLOCK) as i32;
        let set = (SETS as f32 * hash(block, 29)) as usize % SETS;
        let wrapped = sample * BLOCK * BLOCK / self.set;
        let within = (ORDER[y % BLOCK][x % BLOCK] + sample * BLOCK * BLOCK + wrapped) % self.set;
        set * self.set + within
    }
}

/// The i-th of points that fill the unit cube evenly however many are taken (M. Roberts 2018, "R3").
fn spread(i: usize) -> [f32; 3] {
    const STEP: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_3, 0.549_700_477_901_970_2];
    STEP.map(|step| {
        let x = 0.5 + step * (i + 1) as f64;
        (x - x.floor()) as f32
    })
}

/// A point of the unit disc, evenly from two numbers in 0..1.
fn disc(x: f32, y: f32) -> [f32; 2] {
    let (angle, radius) = (std::f32::consts::TAU * x, y.sqrt());
    [radius * libm::cosf(angle), radius * libm::sinf(angle)]
}

/// Two directions across a third (Duff et al. 2017), which comes last.
pub fn frame(n: Vec3) -> Mat3 {
    let sign = 1_f32.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let x = Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let y = Vec3::new(b, sign + n.y * n.y * a, -n.y);
    Mat3::from_cols(x, y, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_lie_on_the_light_and_average_to_what_they_should() {
        let lights = Lights::new(Vec3::new(-0.5, -0.4, -0.7).normalize(), 4);
        let mean = |vectors: &mut dyn Iterator<Item = Vec3>| vectors.take(64).sum::<Vec3>() / 64.0;
        let aim = mean(&mut lights.key_points.iter().copied());
        assert!(aim.distance(lights.key) < 0.02, "{aim}, not {}", lights.key);
        assert!(lights.key_points.iter().all(|p| p.dot(lights.key) > 0.99 && p.is_normalized()));
        // Of cosine-spread directions the mean is 2/3 along the normal.
        let up = mean(&mut lights.sky.iter().map(|(d, _)| *d));
        assert!(up.distance(Vec3::Z * 2.0 / 3.0) < 0.03, "{up}");
        let far = lights.sky.iter().take(64).filter(|(_, reach)| *reach > 0.5).count();
        assert!((12..=20).contains(&far), "a quarter of 64 looks further than a half, {far} do");
    }

    #[test]
    fn a_block_holds_every_number_once_and_frames_are_right_angled() {
        let lights = Lights::new(Vec3::NEG_Z, 2);
        let pixel = |i: usize, sample: usize| lights.number(i % 4 + 4, i / 4 + 8, sample);
        let mut seen: Vec<usize> = (0..16).flat_map(|i| [pixel(i, 0), pixel(i, 1)]).collect();
        seen.sort_unstable();
        let first = seen[0];
        assert!(first.is_multiple_of(32) && seen == (first..first + 32).collect::<Vec<_>>());
        // Sixteen samples of one pixel are all different too.
        let mut own: Vec<usize> = (0..16).map(|sample| pixel(5, sample)).collect();
        own.sort_unstable();
        own.dedup();
        assert!(own.len() == 16 && own[15] < first + 32);
        let sets: std::collections::BTreeSet<usize> =
            (0..64).map(|i| lights.number(4 * i, 0, 0) / 32).collect();
        assert!(sets.len() > 30);
        for n in [Vec3::Z, Vec3::NEG_Z, Vec3::X, Vec3::new(0.6, 0.0, -0.8)] {
            let turned = frame(n);
            assert!((turned.transpose() * turned).abs_diff_eq(Mat3::IDENTITY, 1e-6));
            assert!(turned.determinant() > 0.0 && turned.z_axis == n);
        }
    }
}
