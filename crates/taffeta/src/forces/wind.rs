//! Wind with gusts, and what a stream of air does to a triangle: drag, friction and lift, with derivatives for implicit methods.
//!
//! [`super::air`] has the same drag and friction bounded for explicit steps; here nothing is bounded, for the derivative does that.

use super::element::outer;
use crate::math::{DMat3, DVec3, random::Random};

/// Smooth random air: a velocity everywhere and at all times, which depends on its numbers alone, with the same bits on every machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GustField {
    /// The largest velocity along any axis [m/s].
    pub amplitude: f64,
    /// How often it changes [1/s].
    pub frequency: f64,
    /// Over what distance it changes [m]; infinite for gusts that are the same everywhere.
    pub length: f64,
    /// Which gusts of all.
    pub seed: u64,
}

/// A steady wind and the gusts that it carries along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wind {
    /// Mean velocity [m/s].
    pub mean: DVec3,
    /// What is added.
    pub gust: GustField,
}

/// How a surface answers to a stream of air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindSurface {
    /// Density of the air [kg/m³].
    pub density: f64,
    /// Drag coefficient across the surface [1].
    pub drag: f64,
    /// Friction coefficient along the surface [1].
    pub skin_friction: f64,
    /// Lift coefficient per angle of attack at small angles [1/rad]: up to 2π for a thin wing.
    pub lift: f64,
}

impl Wind {
    /// Velocity of the air [m/s]. Gusts travel with the mean wind (Taylor's hypothesis).
    #[inline]
    pub fn at(&self, position: DVec3, time: f64) -> DVec3 {
        // Noise is not for nothing.
        if self.gust.amplitude == 0.0 {
            return self.mean;
        }
        self.mean + self.gust.at(position - self.mean * time, time)
    }
}

impl GustField {
    /// Velocity [m/s] at a position [m] and time [s]: value noise on a lattice of space and time, twice continuously differentiable.
    pub fn at(&self, position: DVec3, time: f64) -> DVec3 {
        let [x, y, z] = (position / self.length).to_array();
        let (mut keys, mut weights) = ([self.seed; 16], [1.0; 16]);
        // Every axis doubles the corners: those below and those above.
        for (axis, at) in [x, y, z, time * self.frequency].into_iter().enumerate() {
            let (below, half) = (at.floor(), 1 << axis);
            let above = fade(at - below);
            for k in 0..half {
                let (key, weight) = (keys[k], weights[k]);
                keys[k] = hash(key, below as i64);
                keys[half + k] = hash(key, (below as i64).wrapping_add(1));
                (weights[k], weights[half + k]) = (weight * (1.0 - above), weight * above);
            }
        }
        let corners = keys.iter().zip(weights);
        corners.fold(DVec3::ZERO, |sum, (key, weight)| sum + signed_units(*key) * weight) * self.amplitude
    }
}

/// Another key for every key and number.
fn hash(key: u64, number: i64) -> u64 {
    Random::new(key ^ number as u64).bits()
}

/// Three numbers between -1 and 1, of 21 bits each.
fn signed_units(key: u64) -> DVec3 {
    let unit = |shift: u32| ((key >> shift) & 0x1F_FFFF) as f64 * (1.0 / (1 << 20) as f64) - 1.0;
    // Half a unit more, so that the mean is 0.
    DVec3::new(unit(0), unit(21), unit(42)) + DVec3::splat(0.5 / (1 << 20) as f64)
}

/// From 0 to 1 with no slope and no curvature at either end.
fn fade(t: f64) -> f64 {
    t * t * t * (10.0 + t * (6.0 * t - 15.0))
}

impl WindSurface {
    /// Force on a triangle [N]: `normal` is twice its area along the unit normal [m²], `stream` the velocity of the air relative to it [m/s].
    ///
    /// With u the normal and w the tangential part of the stream: ρ A/2 ((drag |u| + lift |w|) u + friction |w| w). Drag alone leaves a
    /// plate at a small angle nearly without force; the lift is linear there, as wings have it, and like the others it never adds energy.
    pub fn force(&self, normal: DVec3, stream: DVec3) -> DVec3 {
        let Some((n, half)) = self.half_density_area(normal) else { return DVec3::ZERO };
        let across = stream.dot(n);
        let along = stream - n * across;
        let speed = along.length();
        let pressure = (self.drag * across.abs() + self.lift * speed) * across;
        (n * pressure + along * (self.skin_friction * speed)) * half
    }

    /// The exact derivative of [`WindSurface::force`] by the stream [N·s/m]; by the velocity of the triangle it is the negative.
    pub fn derivative(&self, normal: DVec3, stream: DVec3) -> DMat3 {
        let Some((n, half)) = self.half_density_area(normal) else { return DMat3::ZERO };
        let across = stream.dot(n);
        let along = (stream - n * across).normalize_or_zero();
        self.safe_derivative(normal, stream) + outer(n, along) * (half * self.lift * across)
    }

    /// The part of it that only resists [N·s/m]: symmetric, with no negative eigenvalue.
    ///
    /// Left out is how lift grows with the speed along the surface: that part is not symmetric. The rest is exact.
    pub fn safe_derivative(&self, normal: DVec3, stream: DVec3) -> DMat3 {
        let Some((n, half)) = self.half_density_area(normal) else { return DMat3::ZERO };
        let across = stream.dot(n);
        let along = stream - n * across;
        let (speed, t) = (along.length(), along.normalize_or_zero());
        let (normals, tangents) = (outer(n, n), outer(t, t));
        let friction = self.skin_friction * speed;
        (normals * (2.0 * self.drag * across.abs() + self.lift * speed)
            + (DMat3::IDENTITY - normals + tangents) * friction)
            * half
    }

    /// [`WindSurface::force`] and [`WindSurface::safe_derivative`] from one root each.
    #[inline(always)]
    pub fn linear(&self, normal: DVec3, stream: DVec3) -> (DVec3, DMat3) {
        let area = normal.length();
        let n = normal * (1.0 / area);
        // Nothing without an area.
        if !n.is_finite() {
            return (DVec3::ZERO, DMat3::ZERO);
        }
        let half = 0.25 * self.density * area;
        let across = stream.dot(n);
        let along = stream - n * across;
        let speed = along.length();
        let t = if speed > f64::MIN_POSITIVE { along * (1.0 / speed) } else { DVec3::ZERO };
        let friction = half * self.skin_friction * speed;
        let (drag, lift) = (half * self.drag * across.abs(), half * self.lift * speed);
        let force = n * ((drag + lift) * across) + along * friction;
        let normals = outer(n, n * (2.0 * drag + lift - friction));
        let tangents = outer(t, t * friction);
        (force, normals + tangents + DMat3::from_diagonal(DVec3::splat(friction)))
    }

    /// The unit normal and ρ A / 2 [kg/m]; nothing without an area.
    fn half_density_area(&self, normal: DVec3) -> Option<(DVec3, f64)> {
        let n = normal.try_normalize()?;
        Some((n, 0.25 * self.density * normal.length()))
    }
}
