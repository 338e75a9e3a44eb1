//! Eight triangles side by side, and which of them another one clearly does not meet.
//!
//! Written as loops over lanes without branches, which a compiler makes into whatever lanes the instructions at hand have. Nothing here decides that triangles
//! meet: what is not clear is left to exact predicates.

use super::compare::{LANES, apart, have};
use super::outer_box::OuterBox;
use super::pairs::at;
use crate::math::DVec3;

/// Eight boxes side by side: per axis all least coordinates, then per axis all largest ones [m].
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct EightBoxes([[f32; LANES]; 6]);

/// At most eight triangles of a tree.
#[derive(Debug, Clone)]
#[repr(align(32))]
pub(super) struct Eight {
    /// Their boxes; lanes without a triangle have none.
    pub boxes: EightBoxes,
    /// The box around all.
    pub bounds: OuterBox,
    /// Per corner and axis the places from `origin`, rounded [m].
    corners: [[[f32; LANES]; 3]; 3],
    /// Per corner the particles that have a smooth fan; [`NOBODY`] for the others.
    particles: [[u32; LANES]; 3],
    /// A corner of the first.
    origin: DVec3,
}

/// A triangle that is held against eight.
pub(super) struct Other {
    /// Its corners, seen from the origin of the eight and rounded [m].
    corners: [[f32; 3]; 3],
    /// How far any two points of it and the eight are apart along every axis, at most [m].
    reach: [f32; 3],
}

type Vector = [f32; 3];

/// A particle that no triangle has.
const NOBODY: u32 = u32::MAX;

/// How much of the reach along a direction rounding can hide [1]. Places are off by half a unit of the reach, and a dot product with them rounds by one and a
/// half: four units for the two sides of a comparison, and one for their difference. That is bounded more than twice over, and what is too small for an f32 is
/// not clear.
const DOUBT: f32 = 12.0 * f32::EPSILON;

impl EightBoxes {
    /// Boxes that meet nothing.
    pub const NONE: EightBoxes = {
        let (low, high) = ([OuterBox::NOTHING.low[0]; LANES], [OuterBox::NOTHING.high[0]; LANES]);
        EightBoxes([low, low, low, high, high, high])
    };

    /// Puts a box into a lane.
    pub fn set(&mut self, lane: usize, bounds: &OuterBox) {
        for k in 0..3 {
            (self.0[k][lane], self.0[3 + k][lane]) = (bounds.low[k], bounds.high[k]);
        }
    }

    /// The box in a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> OuterBox {
        OuterBox {
            low: [self.0[0][lane], self.0[1][lane], self.0[2][lane]],
            high: [self.0[3][lane], self.0[4][lane], self.0[5][lane]],
        }
    }

    /// The box around all.
    pub fn around(&self) -> OuterBox {
        (0..LANES).fold(OuterBox::NOTHING, |all, lane| all.join(&self.get(lane)))
    }

    /// The lanes whose boxes meet another, as bits.
    #[inline(always)]
    pub fn meet(&self, other: &OuterBox) -> u32 {
        apart(&self.0, other.low, other.high) ^ ((1 << LANES) - 1)
    }
}

impl Eight {
    /// None: every lane meets nothing.
    pub const NONE: Eight = Eight {
        boxes: EightBoxes::NONE,
        bounds: OuterBox::NOTHING,
        corners: [[[0.0; LANES]; 3]; 3],
        particles: [[NOBODY; LANES]; 3],
        origin: DVec3::ZERO,
    };

    /// Takes at most eight triangles between points, told by their particles. Those that `is_smooth` are remembered.
    pub fn fill<'a>(
        &mut self,
        points: &[DVec3],
        triangles: impl Iterator<Item = &'a [u32; 3]>,
        is_smooth: impl Fn(u32) -> bool,
    ) {
        for (lane, particles) in triangles.take(LANES).enumerate() {
            let corners = at(points, *particles);
            if lane == 0 {
                self.origin = corners[0];
            }
            let bounds = OuterBox::around(corners);
            self.boxes.set(lane, &bounds);
            self.bounds = self.bounds.join(&bounds);
            for k in 0..3 {
                self.particles[k][lane] = if is_smooth(particles[k]) { particles[k] } else { NOBODY };
                let from = corners[k] - self.origin;
                self.corners[k][0][lane] = from.x as f32;
                self.corners[k][1][lane] = from.y as f32;
                self.corners[k][2][lane] = from.z as f32;
            }
        }
    }

    /// The lanes whose triangles have one of three particles, as bits, if it has a smooth fan.
    #[inline(always)]
    pub fn have(&self, particles: [u32; 3]) -> u32 {
        have(&self.particles, particles)
    }

    /// A triangle as these eight see it. No two points of it and them are further apart than `reach` along any axis [m].
    #[inline(always)]
    pub fn see(&self, corners: [DVec3; 3], reach: [f32; 3]) -> Other {
        let seen = |x: DVec3| {
            let from = x - self.origin;
            [from.x as f32, from.y as f32, from.z as f32]
        };
        Other { corners: [seen(corners[0]), seen(corners[1]), seen(corners[2])], reach }
    }

    /// The lanes whose triangle certainly shares no point with another, as bits: across the way between their middles, or beside one of them, there is a plane
    /// with one on each side.
    #[inline(always)]
    pub fn clear(&self, other: &Other) -> u32 {
        let reach = other.reach;
        let [p, q, r] = other.corners;
        let middle = plus(plus(p, q), r);
        let normal = cross(minus(q, p), minus(r, p));
        let mut clear = [0; LANES];
        for (lane, clear) in clear.iter_mut().enumerate() {
            let corner =
                |n: usize| [self.corners[n][0][lane], self.corners[n][1][lane], self.corners[n][2][lane]];
            let (u, v, w) = (corner(0), corner(1), corner(2));
            let between = minus(middle, plus(plus(u, v), w));
            let is_clear = lies_across(between, [p, q, r], [u, v, w], reach)
                | lies_across(normal, [p, q, r], [u, v, w], reach)
                | lies_across(cross(minus(v, u), minus(w, u)), [p, q, r], [u, v, w], reach);
            *clear = u32::from(is_clear) << lane;
        }
        clear.iter().fold(0, |bits, lane| bits | lane)
    }
}

/// Whether a plane across a direction is between two triangles, by more than rounding can hide.
#[inline(always)]
fn lies_across(direction: Vector, a: [Vector; 3], b: [Vector; 3], reach: Vector) -> bool {
    let a = [dot(direction, a[0]), dot(direction, a[1]), dot(direction, a[2])];
    let b = [dot(direction, b[0]), dot(direction, b[1]), dot(direction, b[2])];
    let size = [direction[0].abs(), direction[1].abs(), direction[2].abs()];
    let doubt = DOUBT * dot(size, reach) + f32::MIN_POSITIVE;
    (least(a) - largest(b) > doubt) | (least(b) - largest(a) > doubt)
}

#[inline(always)]
fn plus(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn least([a, b, c]: Vector) -> f32 {
    let least = if a < b { a } else { b };
    if least < c { least } else { c }
}

#[inline(always)]
fn largest([a, b, c]: Vector) -> f32 {
    let largest = if a > b { a } else { b };
    if largest > c { largest } else { c }
}
