//! Boxes in f32, rounded outwards, and those that moving points sweep.

use super::features::Boxes;
use crate::collide::surface::{CollisionSurface, Object};
use crate::math::DVec3;
use crate::parallel;

/// An axis-aligned box: least x, y, z, a zero, largest x, y, z negated, a zero [m].
///
/// Negated, so that joining is eight minima and meeting eight sums: `a` and `b` meet if no a.low - b.high and no b.low - a.high is above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Bounds([f32; 8]);

/// Room is made this much larger: more than all roundings of f64 on the way to a box.
const ROUNDING: f64 = 1.0 + 1e-6;

impl Bounds {
    /// The box that holds nothing and meets nothing.
    pub const NOTHING: Bounds = {
        let far = f32::INFINITY;
        Bounds([far, far, far, 0.0, far, far, far, 0.0])
    };

    /// A box from its least and largest coordinates [m].
    #[inline]
    pub fn new([a, b, c]: [f32; 3], [x, y, z]: [f32; 3]) -> Self {
        Bounds([a, b, c, 0.0, -x, -y, -z, 0.0])
    }

    /// A box around the straight way from `from` to `to`, with `room` around it [m].
    #[inline]
    pub fn around(from: DVec3, to: DVec3, room: f64) -> Self {
        let room = ROUNDING * room;
        let (low, high) = (from.min(to) - room, from.max(to) + room);
        let [low, high] = [low.to_array().map(below), (-high).to_array().map(below)];
        Bounds([low[0], low[1], low[2], 0.0, high[0], high[1], high[2], 0.0])
    }

    /// Least coordinate along axis `k` [m].
    #[inline]
    pub fn low(&self, k: usize) -> f32 {
        self.0[k]
    }

    /// Largest coordinate along axis `k` [m].
    #[inline]
    pub fn high(&self, k: usize) -> f32 {
        -self.0[4 + k]
    }

    /// The box around both.
    #[inline]
    pub fn join(&self, other: &Self) -> Self {
        Bounds(std::array::from_fn(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] }))
    }

    /// Whether they have a point in common.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::*;
            let (a, b) = (self.0.as_ptr(), other.0.as_ptr());
            // SAFETY: every x86-64 processor has SSE2; a box is eight numbers at a multiple of 32 bytes.
            unsafe {
                let below = _mm_add_ps(_mm_load_ps(a), _mm_load_ps(b.add(4)));
                let above = _mm_add_ps(_mm_load_ps(a.add(4)), _mm_load_ps(b));
                let zero = _mm_setzero_ps();
                _mm_movemask_ps(_mm_and_ps(_mm_cmple_ps(below, zero), _mm_cmple_ps(above, zero))) == 0b1111
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        (0..8).fold(true, |meets, k| meets & (self.0[k] + other.0[k ^ 4] <= 0.0))
    }

    /// Whether `other` lies inside.
    #[inline]
    pub fn holds(&self, other: &Self) -> bool {
        let mut holds = true;
        for k in 0..8 {
            holds &= self.0[k] <= other.0[k];
        }
        holds
    }
}

impl Bounds {
    /// The axis along which it is longest.
    pub fn longest_axis(&self) -> usize {
        let size = |k: usize| self.high(k) - self.low(k);
        let first = if size(1) > size(0) { 1 } else { 0 };
        if size(2) > size(first) { 2 } else { first }
    }

    /// Twice the coordinate of its centre along an axis [m].
    #[inline]
    pub fn twice_centre(&self, axis: usize) -> f32 {
        self.low(axis) + self.high(axis)
    }

    /// Half its surface [m²]: how likely it is to be met.
    #[inline]
    pub fn size(&self) -> f32 {
        let [x, y, z] = [0, 1, 2].map(|k| self.high(k) - self.low(k));
        x * y + y * z + z * x
    }

    /// How far another box is: the gap between them, and where there is none, which centre is nearer [(m, m²)].
    #[inline]
    pub fn distance_to(&self, other: &Self) -> (f32, f32) {
        let (mut gap, mut centres) = (0.0, 0.0);
        for k in 0..3 {
            let apart = (self.low(k) - other.high(k)).max(other.low(k) - self.high(k)).max(0.0);
            gap += apart * apart;
            centres += (self.twice_centre(k) - other.twice_centre(k)).powi(2);
        }
        (gap, centres)
    }

    /// How far a point is from it [m].
    pub fn distance(&self, point: DVec3) -> f64 {
        let outside =
            |k: usize| (f64::from(self.low(k)) - point[k]).max(point[k] - f64::from(self.high(k))).max(0.0);
        DVec3::new(outside(0), outside(1), outside(2)).length()
    }

    /// Where a ray enters it, in lengths of `direction`, if that is between 0 and `limit`.
    pub fn along(&self, origin: DVec3, direction: DVec3, limit: f64) -> Option<f64> {
        let (mut enters, mut leaves) = (0.0f64, limit);
        for k in 0..3 {
            let (low, high) = (f64::from(self.low(k)) - origin[k], f64::from(self.high(k)) - origin[k]);
            if direction[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (a, b) = (low / direction[k], high / direction[k]);
            (enters, leaves) = (enters.max(a.min(b)), leaves.min(a.max(b)));
        }
        // Rounded outwards, so that a ray along a face of the box still meets it.
        (enters <= leaves + 1e-12 * leaves.abs()).then_some(enters)
    }
}

/// What is added to the eight numbers of a box to move it by a vector.
#[inline]
pub fn numbers_of(v: DVec3) -> [f64; 8] {
    [v.x, v.y, v.z, 0.0, -v.x, -v.y, -v.z, 0.0]
}

/// Roundings of f64 in sums of coordinates, generously [1].
const SUMS: f64 = 1e-14;

/// How a box moves and lies as seen from an origin, given as [`numbers_of`] it; all are safe against rounding.
impl Bounds {
    /// The gap to another box along the axis where it is widest [m]; 0 if they meet.
    #[inline]
    pub fn gap(&self, other: &Self) -> f64 {
        let mut widest = 0.0;
        for k in 0..8 {
            let apart = f64::from(self.0[k]) + f64::from(other.0[k ^ 4]);
            widest = if apart > widest { apart } else { widest };
        }
        widest
    }

    /// The furthest that a face has moved since it was `before`, never less [m].
    #[inline]
    pub fn way_from(&self, before: &Self, origin: &[f64; 8], origin_before: &[f64; 8]) -> f64 {
        let mut furthest = 0.0;
        for k in 0..8 {
            let (a, b) = (f64::from(self.0[k]), f64::from(before.0[k]));
            let way = ((a - b) - (origin[k] - origin_before[k])).abs();
            let way = way + SUMS * (a.abs() + b.abs() + origin[k].abs() + origin_before[k].abs());
            furthest = if way > furthest { way } else { furthest };
        }
        furthest
    }

    /// Whether it lies in `room` for certain.
    #[inline]
    pub fn is_in_room(&self, room: &Self, origin: &[f64; 8]) -> bool {
        let mut inside = true;
        for ((x, room), origin) in self.0.iter().zip(&room.0).zip(origin) {
            let x = f64::from(*x);
            inside &= f64::from(*room) <= x - origin - SUMS * (x.abs() + origin.abs());
        }
        inside
    }

    /// A room around it, larger on the side of `ahead` and by `margin` on all sides [m].
    pub fn room(&self, origin: &[f64; 8], ahead: &[f64; 8], margin: f64) -> Self {
        let mut room = Bounds([0.0; 8]);
        for k in [0, 1, 2, 4, 5, 6] {
            room.0[k] = below(f64::from(self.0[k]) - origin[k] + ahead[k].min(0.0) - margin);
        }
        room
    }
}

/// An f32 below `x`, by about two units in its last place; monotone in `x`.
#[inline]
fn below(x: f64) -> f32 {
    // Beyond the clamp all coordinates are one: boxes there meet that need not.
    let near = x.clamp(-1e38, 1e38) as f32;
    near - near.abs() * 2.4e-7 - f32::MIN_POSITIVE
}

/// Points that a thread sweeps at a time, at least.
const POINTS: usize = 512;

/// The boxes that all points of a surface sweep.
#[derive(Debug, Clone)]
pub struct Swept {
    /// Boxes for meeting another object: two meet wherever their points may come within both radii and the pad.
    pub outer: Vec<Bounds>,
    /// Boxes for meeting the same object; inside the outer ones.
    pub inner: Vec<Bounds>,
}

impl Swept {
    /// No boxes yet.
    pub fn new(surface: &CollisionSurface) -> Self {
        let nothing = vec![Bounds::NOTHING; surface.points];
        Self { outer: nothing.clone(), inner: nothing }
    }

    /// All of them.
    pub fn boxes(&self) -> Boxes<'_> {
        Boxes { inner: &self.inner, outer: &self.outer }
    }

    /// Sweeps one point of an object anew, as [`Swept::update`] does.
    pub fn update_point(&mut self, object: &Object, point: usize, [from, to]: [DVec3; 2], frame: DVec3, pad: f64) {
        let [inner, outer] = rooms(object, pad);
        self.inner[point] = Bounds::around(from, to - frame, inner);
        self.outer[point] = Bounds::around(from, to - frame, outer);
    }

    /// Sweeps every point on its way from `from` to `to` [m] as a frame sees it that moves by `frame` [m] meanwhile: distances are the same in
    /// every frame, boxes are small in one that goes along.
    pub fn update(
        &mut self,
        surface: &CollisionSurface,
        from: &[DVec3],
        to: &[DVec3],
        frame: DVec3,
        pad: f64,
    ) {
        for object in &surface.objects {
            let [inner, outer] = rooms(object, pad);
            let own = object.points.clone();
            let (outers, inners) = (&mut self.outer[own.clone()], &mut self.inner[own.clone()]);
            parallel::each_two(outers, inners, POINTS, |k, of_outer, of_inner| {
                let (start, end) = (from[own.start + k], to[own.start + k] - frame);
                *of_outer = Bounds::around(start, end, outer);
                *of_inner = if inner == outer { *of_outer } else { Bounds::around(start, end, inner) };
            });
        }
    }
}

/// Room around the points of an object, for meeting itself and for meeting others [m].
fn rooms(object: &Object, pad: f64) -> [f64; 2] {
    let inner = 0.5 * (object.self_distance + pad);
    [inner, inner.max(object.radius + 0.5 * pad)]
}

/// How far movable points move on average [m].
pub fn mean_motion(movable: &[bool], from: &[DVec3], to: &[DVec3]) -> DVec3 {
    let ways = from.iter().zip(to).zip(movable).filter(|(_, free)| **free).map(|((a, b), _)| *b - *a);
    ways.sum::<DVec3>() / movable.iter().filter(|free| **free).count().max(1) as f64
}
