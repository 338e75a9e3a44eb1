//! The look of woven cloth: threads that go over and under each other, uneven yarn, and the sheen of its fuzz.

use glam::{Vec2, Vec3};

/// Brightness and tilt of a plain weave at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weave {
    /// Factor of the colour; 1 in the mean.
    pub brightness: f32,
    /// How the surface tilts along u and v [1].
    pub tilt: Vec2,
}

impl Weave {
    /// What shows where no threads do.
    pub const NONE: Weave = Weave { brightness: 1.0, tilt: Vec2::ZERO };
}

/// The weave at material coordinates `at`, counted in threads, where a pixel covers `footprint` threads. Detail
/// finer than pixels can show fades out before it makes moiré.
pub fn weave(at: Vec2, footprint: f32) -> Weave {
    let mut weave = Weave::NONE;
    // A thread over and a thread under make one period: two threads.
    let fine = fade(footprint, 2.0);
    if fine > 0.0 {
        let cell = at.floor();
        // From -1 to 1 across the cell.
        let inside = 2.0 * (at - cell) - Vec2::ONE;
        let along_u = (cell.x as i32 ^ cell.y as i32) & 1 == 0;
        let (across, along) = if along_u { (inside.y, inside.x) } else { (inside.x, inside.y) };
        // The upper thread is round across and dives at both ends; its rim lies in the shade. The means are taken out.
        let quartic = |x: f32| x * x * x * x - 0.2;
        let thread = if along_u { hash(cell.y as i32, 17) } else { hash(cell.x as i32, 71) };
        weave.brightness += fine * (0.12 * (thread - 0.5) - 0.30 * quartic(across) - 0.16 * quartic(along));
        let bend = Vec2::new(0.25 * along, 0.42 * across);
        weave.tilt = fine * if along_u { bend } else { Vec2::new(bend.y, bend.x) };
    }
    // Yarn is uneven: streaks some threads wide and many long, along both directions.
    let coarse = fade(footprint, 8.0);
    if coarse > 0.0 {
        let warp = noise(Vec2::new(at.x / 64.0, at.y / 4.0), 5);
        let weft = noise(Vec2::new(at.x / 4.0, at.y / 64.0), 6);
        weave.brightness += coarse * 0.075 * (warp + weft - 1.0);
    }
    weave
}

/// 1 where a period of so many threads covers five pixels or more, 0 at two and less.
fn fade(footprint: f32, period: f32) -> f32 {
    ((period / footprint - 2.0) / 3.0).clamp(0.0, 1.0)
}

/// How much fuzz sends back from light to eye: the distribution of Estevez & Kulla 2017 ("Charlie") at roughness 1/2,
/// with the visibility of Neubelt & Pettineo 2013.
pub fn sheen(normal: Vec3, eye: Vec3, light: Vec3) -> f32 {
    let (to_eye, to_light) = (normal.dot(eye).clamp(0.02, 1.0), normal.dot(light).max(0.0));
    let half = normal.dot((eye + light).normalize_or_zero());
    let distribution = (2.0 / std::f32::consts::PI) * (1.0 - half * half).max(0.0);
    distribution * to_light / (4.0 * (to_light + to_eye - to_light * to_eye))
}

/// Smooth noise in 0..1 that changes over a distance of 1.
fn noise(at: Vec2, seed: u32) -> f32 {
    let cell = at.floor();
    let s = at - cell;
    let s = s * s * (Vec2::splat(3.0) - 2.0 * s);
    let (x, y) = (cell.x as i32, cell.y as i32);
    let corner = |dx: i32, dy: i32| {
        hash(x.wrapping_add(dx), seed.wrapping_add((y.wrapping_add(dy) as u32).wrapping_mul(7919)))
    };
    let row = |dy: i32| corner(0, dy) + s.x * (corner(1, dy) - corner(0, dy));
    row(0) + s.y * (row(1) - row(0))
}

/// A number in 0..1 that looks random (the finaliser "lowbias32" of C. Wellons 2018).
pub fn hash(x: i32, seed: u32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x9E37_79B9) ^ seed.wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    h ^= h >> 16;
    (h >> 8) as f32 / (1 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_weave_is_the_plain_colour() {
        let (mut brightness, mut tilt) = (0.0_f64, Vec2::ZERO);
        let count = 400;
        for i in 0..count * count {
            let at = Vec2::new((i % count) as f32, (i / count) as f32) * 0.61;
            let weave = weave(at, 0.05);
            brightness += f64::from(weave.brightness);
            tilt += weave.tilt;
        }
        let brightness = brightness / f64::from(count * count);
        assert!((brightness - 1.0).abs() < 0.01, "{brightness}");
        assert!(tilt.length() / ((count * count) as f32) < 0.01);
    }

    #[test]
    fn threads_alternate_and_fade_with_distance() {
        let tilt = |x: f32, y: f32| weave(Vec2::new(x, y), 0.01).tilt;
        // The same place of neighbouring cells: once the warp is on top, once the weft.
        assert!(tilt(0.5, 0.9).y > 0.3 && tilt(0.5, 0.9).x.abs() < 0.1);
        assert!(tilt(1.5, 0.9).y > 0.1 && tilt(1.5, 0.9).y < 0.3);
        assert_eq!(weave(Vec2::new(0.3, 0.9), 1.1).tilt, Vec2::ZERO);
        assert_eq!(weave(Vec2::new(0.3, 0.9), 5.0), Weave::NONE);
        assert!(weave(Vec2::new(-1e9, f32::MAX), 0.1).brightness.is_finite());
    }

    #[test]
    fn sheen_is_strongest_at_grazing_angles_and_never_negative() {
        let eye = |angle: f32| Vec3::new(libm::sinf(angle), 0.0, libm::cosf(angle));
        let at = |angle| sheen(Vec3::Z, eye(angle), eye(-0.3));
        assert!(at(1.4) > at(1.0) && at(1.0) > at(0.3) && at(0.3) >= 0.0);
        assert_eq!(sheen(Vec3::Z, eye(0.5), Vec3::NEG_Z), 0.0);
    }
}
