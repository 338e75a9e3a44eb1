//! Which pairs of triangles a direction keeps apart, eight pairs at a time.
//!
//! Boxes of a sheet that is not level meet far beyond their triangles, and so do those of layers. One direction tells most of them apart, with all the features
//! that stand with them: that between the centres; for what that leaves, across the plane of the first, and across the edges that face one another, as two
//! triangles in one plane are told apart. The check is that of [`crate::collide::ccd::separating_axis`], with the same margin for roundings.

use super::features::Features;
use crate::collide::ccd::distance::{LEAST_SQUARE, MARGIN};
use crate::math::Vec4;
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};

/// How all points move, and how far around them is looked.
#[derive(Debug, Clone, Copy)]
pub struct TriangleMotion<'a> {
    /// Points at the start and at the end [m].
    pub points: [&'a [Vec4]; 2],
    /// How far pairs reach beyond the distances that they keep [m].
    pub pad: f64,
}

/// Which directions are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directions {
    /// That between the centres.
    Centres,
    /// Across a plane and the edges that face one another.
    Sides,
}

/// Takes out those of `pairs` of triangles that a direction keeps further apart than they keep plus the pad, at both ends. The others stay in their order. The
/// same on every instruction set.
pub fn drop_apart(set: InstructionSet, features: &Features, motion: TriangleMotion, pairs: &mut Vec<[u32; 2]>) {
    let [from, to] = motion.points;
    for directions in [Directions::Centres, Directions::Sides] {
        let mut left = 0;
        for first in (0..pairs.len()).step_by(LANES) {
            let mut eight = [pairs[first]; LANES];
            let count = LANES.min(pairs.len() - first);
            eight[..count].copy_from_slice(&pairs[first..first + count]);
            let (mut at, mut separation) = ([[0; LANES]; 6], Lanes::ZERO);
            for (l, [i, j]) in eight.into_iter().enumerate() {
                let (t, u) = (features.triangles[i as usize], features.triangles[j as usize]);
                for k in 0..3 {
                    (at[k][l], at[3 + k][l]) = (t[k], u[k]);
                }
                separation.0[l] = features.kept(t[0], u[0]) + motion.pad;
            }
            let room = room(set, directions, &at, &separation, from, to);
            for (pair, room) in eight[..count].iter().zip(&room.0) {
                pairs[left] = *pair;
                // What is not a number is not apart.
                left += usize::from(*room <= 0.0 || room.is_nan());
            }
        }
        pairs.truncate(left);
    }
}

by_instruction_set! {
    /// By how much a direction keeps each of eight pairs of triangles apart at both ends; not above 0 where none does [m].
    fn room = room_of(directions: Directions, at: &[[u32; LANES]; 6], separation: &Lanes, from: &[Vec4], to: &[Vec4]) -> Lanes
}

// Closures and iterators over lanes would not be compiled for the instruction set, so everything below is a function that is inlined.

#[inline(always)]
fn room_of<W: Wide>(
    directions: Directions,
    at: &[[u32; LANES]; 6],
    separation: &Lanes,
    from: &[Vec4],
    to: &[Vec4],
) -> Lanes {
    assert!(at.as_flattened().iter().all(|&point| (point as usize) < from.len().min(to.len())));
    let (start, end, separation) = (relative::<W>(at, from), relative::<W>(at, to), W::load(separation));
    let between = centres(start) + centres(end);
    let best = match directions {
        Directions::Centres => room_along(between, separation, start, end),
        Directions::Sides => {
            let (zero, [b, c, d, e, f]) = (W::splat(0.0), start);
            let first = [b, c - b, Wide3::zero() - c];
            let normal = b.cross(c);
            let towards = W::splat(1.0).where_less(zero, normal.dot(between), W::splat(-1.0));
            let by_plane = room_along(normal.scaled(towards), separation, start, end);
            // Into the first triangle, out of the second: both lead from the second to the first.
            let by_first = room_along(across(first, Wide3::zero() - normal, between), separation, start, end);
            let second = [e - d, f - e, d - f];
            let by_second = room_along(across(second, second[0].cross(second[1]), between), separation, start, end);
            by_plane.max(by_first).max(by_second)
        }
    };
    let mut room = Lanes::ZERO;
    best.store(&mut room);
    room
}

/// Across the edge of a triangle that does so most along `between`: out of it, where `normal` is its own.
#[inline(always)]
fn across<W: Wide>([a, b, c]: [Wide3<W>; 3], normal: Wide3<W>, between: Wide3<W>) -> Wide3<W> {
    let (a, b, c) = (a.cross(normal), b.cross(normal), c.cross(normal));
    let better = choose(a.dot(between), b.dot(between), b, a);
    choose(better.dot(between), c.dot(between), c, better)
}

/// `a` where `left < right`, otherwise `b`.
#[inline(always)]
fn choose<W: Wide>(left: W, right: W, Wide3(a): Wide3<W>, Wide3(b): Wide3<W>) -> Wide3<W> {
    let [x, y, z] = a;
    Wide3([x.where_less(left, right, b[0]), y.where_less(left, right, b[1]), z.where_less(left, right, b[2])])
}

/// By how much the direction of a vector keeps triangles apart at both ends.
#[inline(always)]
fn room_along<W: Wide>(vector: Wide3<W>, separation: W, start: [Wide3<W>; 5], end: [Wide3<W>; 5]) -> W {
    let n = vector.scaled(vector.dot(vector).max(W::splat(LEAST_SQUARE)).sqrt().inverse());
    // Comparisons pass over what is not a number, but the margin has every number in it.
    let size = absolute(n).dot(size(start) + size(end)) + separation;
    let level = separation + W::splat(MARGIN) * size + W::splat(f64::MIN_POSITIVE);
    gap(n, start).min(gap(n, end)) - level
}

/// The last two corners of the first triangle and all of the second as seen from the first.
#[inline(always)]
fn relative<W: Wide>([a, b, c, d, e, f]: &[[u32; LANES]; 6], points: &[Vec4]) -> [Wide3<W>; 5] {
    let first = gather(a, points);
    [
        gather(b, points) - first,
        gather(c, points) - first,
        gather(d, points) - first,
        gather(e, points) - first,
        gather(f, points) - first,
    ]
}

#[inline(always)]
fn gather<W: Wide>(at: &[u32; LANES], points: &[Vec4]) -> Wide3<W> {
    // SAFETY: `room_of` has checked all places.
    let [x, y, z, _] = unsafe { W::gather(points.as_ptr(), at) };
    Wide3([x, y, z])
}

/// Three times what leads from the centre of the second triangle to that of the first.
#[inline(always)]
fn centres<W: Wide>([b, c, d, e, f]: [Wide3<W>; 5]) -> Wide3<W> {
    b + c - (d + e + f)
}

#[inline(always)]
fn absolute<W: Wide>(Wide3([x, y, z]): Wide3<W>) -> Wide3<W> {
    let zero = W::splat(0.0);
    Wide3([x.max(zero - x), y.max(zero - y), z.max(zero - z)])
}

#[inline(always)]
fn size<W: Wide>([b, c, d, e, f]: [Wide3<W>; 5]) -> Wide3<W> {
    absolute(b) + absolute(c) + absolute(d) + absolute(e) + absolute(f)
}

/// How far the first triangle is beyond the second along a direction.
#[inline(always)]
fn gap<W: Wide>(n: Wide3<W>, [b, c, d, e, f]: [Wide3<W>; 5]) -> W {
    n.dot(b).min(n.dot(c)).min(W::splat(0.0)) - n.dot(d).max(n.dot(e)).max(n.dot(f))
}
