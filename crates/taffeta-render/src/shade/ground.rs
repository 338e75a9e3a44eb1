//! The studio: a floor with a fine grid that fades into a backdrop.

use glam::{Vec2, Vec3};

/// Reflectance of floors.
pub const FLOOR: Vec3 = Vec3::new(0.50, 0.505, 0.51);
/// Light from the backdrop at the horizon.
const HORIZON: Vec3 = Vec3::new(0.58, 0.60, 0.625);
/// Light from the backdrop overhead.
const ZENITH: Vec3 = Vec3::new(0.24, 0.27, 0.31);

/// Light that comes from beyond everything along a direction.
pub fn backdrop(direction: Vec3) -> Vec3 {
    // Flat near the horizon, where the floor ends, then falling off like a lit wall.
    let height = direction.y.max(0.0);
    HORIZON.lerp(ZENITH, 1.0 - 1.0 / (1.0 + 5.0 * height * height + 1.2 * height))
}

/// How much of the floor is lost in the backdrop: none within `scale` times 3 of the middle, all beyond 14.
pub fn haze(distance: f32, scale: f32) -> f32 {
    let t = ((distance / scale - 3.0) / 11.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Brightness of the floor at `at` [m]: a line every `spacing` [m], darker by a tenth, where a pixel covers `footprint` [m].
pub fn grid(at: Vec2, spacing: f32, footprint: Vec2) -> f32 {
    let line = |x: f32, footprint: f32| {
        let width = 0.012 * spacing;
        let away = {
            let turns = x / spacing + 0.5;
            (turns - turns.floor() - 0.5).abs() * spacing
        };
        // The share of the pixel that the line covers.
        let (pixel, half) = (footprint.max(1e-9), 0.5 * width);
        (((away + 0.5 * pixel).min(half) - (away - 0.5 * pixel).max(-half)) / pixel).clamp(0.0, 1.0)
            * (1.0 - (2.0 * pixel / spacing - 0.5).clamp(0.0, 1.0))
    };
    let [u, v] = [line(at.x, footprint.x), line(at.y, footprint.y)];
    1.0 - 0.13 * (u + v - u * v)
}

/// The step of 1, 2 or 5 times a power of ten that is next below half of `scale` [m].
pub fn spacing(scale: f32) -> f32 {
    let wanted = 0.5 * scale.clamp(1e-6, 1e9);
    let power = libm::powf(10.0, libm::floorf(libm::log10f(wanted)));
    [5.0, 2.0, 1.0].into_iter().map(|step| step * power).find(|step| *step <= wanted).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_where_they_should_be_and_vanish_far_away() {
        let at = |x: f32, footprint: f32| grid(Vec2::new(x, 0.25), 0.5, Vec2::splat(footprint));
        assert!(
            (at(1.5, 1e-4) - 0.87).abs() < 1e-4
                && at(1.6, 1e-4) == 1.0
                && (at(-0.5, 1e-4) - 0.87).abs() < 1e-4
        );
        // A line half as wide as the pixel darkens half as much.
        assert!((at(0.5, 0.012) - 0.935).abs() < 2e-3, "{}", at(0.5, 0.012));
        assert_eq!(at(0.5, 0.5), 1.0);
    }

    #[test]
    fn spacings_are_round() {
        assert_eq!([0.5, 1.0, 3.0, 4.0, 20.0].map(spacing), [0.2, 0.5, 1.0, 2.0, 10.0]);
        assert!(spacing(0.0) > 0.0 && spacing(f32::INFINITY).is_finite());
    }
}
