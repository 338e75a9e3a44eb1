//! Which of many pairs one direction keeps apart, eight pairs at a time: nearly all that [`super::time_of_impact::time_of_impact`] would call free.
//!
//! The proposal of a direction is simpler than [`super::distance::closest`]; the check is the same as there.

use super::distance::{LEAST_SQUARE, MARGIN, PairKind};
use crate::math::Vec4;
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};

/// Tells of pairs of features, of which each names its four points among all points `from` and `to`, whether one direction shows that they stay further apart than
/// their separations [m] while every point moves straight. Of the others nothing is known.
///
/// The same bits on every instruction set.
///
/// # Panics
/// If a pair names a point that is not there, or if the lengths differ.
pub fn apart(
    set: InstructionSet,
    kind: PairKind,
    pairs: &[[u32; 4]],
    separations: &[f64],
    [from, to]: [&[Vec4]; 2],
    out: &mut [bool],
) {
    assert!(pairs.len() == separations.len() && pairs.len() == out.len() && from.len() == to.len());
    let chunks = pairs.chunks(LANES).zip(separations.chunks(LANES)).zip(out.chunks_mut(LANES));
    for ((pairs, separations), out) in chunks {
        // Lanes without a pair repeat the first.
        let at = std::array::from_fn(|k| std::array::from_fn(|l| pairs.get(l).unwrap_or(&pairs[0])[k]));
        let separation = Lanes(std::array::from_fn(|l| *separations.get(l).unwrap_or(&separations[0])));
        let room = room(set, kind, &at, &separation, from, to);
        out.iter_mut().zip(room.0).for_each(|(apart, room)| *apart = room > 0.0);
    }
}

by_instruction_set! {
    /// By how much one direction keeps each of eight pairs apart at both ends; not above 0 where it does not [m].
    fn room = room_of(kind: PairKind, at: &[[u32; LANES]; 4], separation: &Lanes, from: &[Vec4], to: &[Vec4]) -> Lanes
}

// Closures and iterators over lanes would not be compiled for the instruction set, so everything below is a function that is inlined.

#[inline(always)]
fn room_of<W: Wide>(
    kind: PairKind,
    at: &[[u32; LANES]; 4],
    separation: &Lanes,
    from: &[Vec4],
    to: &[Vec4],
) -> Lanes {
    assert!(at.as_flattened().iter().all(|&point| (point as usize) < from.len()));
    let zero = W::splat(0.0);
    let (start, end) = (relative::<W>(at, from), relative::<W>(at, to));
    let vector = match kind {
        PairKind::PointTriangle => from_triangle(start),
        PairKind::EdgeEdge => between_edges(start),
    };
    let n = vector.scaled(vector.dot(vector).max(W::splat(LEAST_SQUARE)).sqrt().inverse());
    // As `distance::margin` tells: comparisons pass over what is not a number, but the margin has every number in it.
    let separation = W::load(separation);
    let size = absolute(n).dot(size(start) + size(end)) + separation.max(zero - separation);
    let level = separation.max(zero) + W::splat(MARGIN) * size + W::splat(f64::MIN_POSITIVE);
    let mut room = Lanes::ZERO;
    (least_gap(kind, n, start).min(least_gap(kind, n, end)) - level).store(&mut room);
    room
}

/// The last three points of eight pairs as seen from the first.
#[inline(always)]
fn relative<W: Wide>([a, b, c, d]: &[[u32; LANES]; 4], points: &[Vec4]) -> [Wide3<W>; 3] {
    let first = gather(a, points);
    [gather(b, points) - first, gather(c, points) - first, gather(d, points) - first]
}

#[inline(always)]
fn gather<W: Wide>(at: &[u32; LANES], points: &[Vec4]) -> Wide3<W> {
    // SAFETY: `room_of` has checked all places.
    let [x, y, z, _] = unsafe { W::gather(points.as_ptr(), at) };
    Wide3([x, y, z])
}

#[inline(always)]
fn absolute<W: Wide>(Wide3([x, y, z]): Wide3<W>) -> Wide3<W> {
    let zero = W::splat(0.0);
    Wide3([x.max(zero - x), y.max(zero - y), z.max(zero - z)])
}

#[inline(always)]
fn size<W: Wide>([a, b, c]: [Wide3<W>; 3]) -> Wide3<W> {
    absolute(a) + absolute(b) + absolute(c)
}

/// The least of `distance::gaps`.
#[inline(always)]
fn least_gap<W: Wide>(kind: PairKind, n: Wide3<W>, [a, b, c]: [Wide3<W>; 3]) -> W {
    let zero = W::splat(0.0);
    match kind {
        PairKind::PointTriangle => zero - n.dot(a).max(n.dot(b)).max(n.dot(c)),
        PairKind::EdgeEdge => n.dot(a).min(zero) - n.dot(b).max(n.dot(c)),
    }
}

/// A share of an edge: a quotient within 0 and 1, 0 for an edge without length.
#[inline(always)]
fn share<W: Wide>(above: W, below: W) -> W {
    (above * below.max(W::splat(LEAST_SQUARE)).inverse()).max(W::splat(0.0)).min(W::splat(1.0))
}

/// The point of an edge that is nearest to the origin.
#[inline(always)]
fn on_edge<W: Wide>(from: Wide3<W>, along: Wide3<W>) -> Wide3<W> {
    from + along.scaled(share(W::splat(0.0) - from.dot(along), along.dot(along)))
}

/// `a` where `left < right`, otherwise `b`.
#[inline(always)]
fn choose<W: Wide>(left: W, right: W, Wide3(a): Wide3<W>, Wide3(b): Wide3<W>) -> Wide3<W> {
    let [x, y, z] = a;
    Wide3([x.where_less(left, right, b[0]), y.where_less(left, right, b[1]), z.where_less(left, right, b[2])])
}

/// From the nearest point of a triangle to the origin.
#[inline(always)]
fn from_triangle<W: Wide>([a, b, c]: [Wide3<W>; 3]) -> Wide3<W> {
    let (ab, ac) = (b - a, c - a);
    let (first, second, third) = (on_edge(a, ab), on_edge(a, ac), on_edge(b, c - b));
    let nearer = choose(second.dot(second), first.dot(first), second, first);
    let nearest = choose(third.dot(third), nearer.dot(nearer), third, nearer);
    // Over the inside, the normal on the side of the origin.
    let n = ab.cross(ac);
    let normal = n.dot(n);
    let (to_b, to_c) = (n.dot(ac.cross(a)), n.dot(a.cross(ab)));
    let outside = to_b.min(to_c).min(normal - to_b - to_c).min(normal - W::splat(LEAST_SQUARE));
    Wide3::zero() - choose(outside, W::splat(0.0), nearest, n.scaled(n.dot(a)))
}

/// From the nearest point of the edge c-d to that of the edge from the origin to b.
#[inline(always)]
fn between_edges<W: Wide>([first, c, d]: [Wide3<W>; 3]) -> Wide3<W> {
    let (second, r) = (d - c, Wide3::zero() - c);
    // Where the lines are nearest, then each edge in turn is kept within its ends.
    let n = first.cross(second);
    let both = first.dot(second);
    let s = share(n.dot(second.cross(r)), n.dot(n));
    let t = share(second.dot(r) + s * both, second.dot(second));
    let s = share(t * both - first.dot(r), first.dot(first));
    r + first.scaled(s) - second.scaled(t)
}
