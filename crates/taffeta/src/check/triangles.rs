//! Whether two triangles intersect, decided exactly.
//!
//! Everything rests on two signs: on which side of a plane a point lies, and which way three points turn when
//! seen along a coordinate axis. Both come from Shewchuk's adaptive predicates and are exact for coordinates
//! that are zero or between 2^-300 and 1e100 in magnitude: then the smallest product of three differences is
//! a multiple of 2^-1056 and the largest stays below 1e302, so nothing underflows or overflows.

use crate::math::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Corners of a triangle, possibly without area.
pub(super) type Triangle = [DVec3; 3];

/// Whether two closed triangles intersect in more than the particles they share.
///
/// The first `shared` corners of both are the same particles.
pub(super) fn intersect(a: &Triangle, b: &Triangle, shared: usize) -> bool {
    match shared {
        0 | 1 => {
            let is_apart = clearly_apart(a, b, shared)
                || shared == 1 && leave_apart(a, b)
                || on_one_side(a, &b[shared..])
                || on_one_side(b, &a[shared..]);
            !is_apart && (reaches(a, b, shared) || reaches(b, a, shared))
        }
        2 => overlap_beyond_edge(a, b),
        _ => true,
    }
}

/// Whether the part of `a` farthest from what it shares meets `b`.
///
/// If the triangles share nothing and meet, then an edge of one meets the other. If they share a particle and
/// another point, both contain a piece of the ray through the two; the piece that ends first ends on the edge
/// opposite the particle and inside the other triangle. Without area the far corners take the edge's place.
fn reaches(a: &Triangle, b: &Triangle, shared: usize) -> bool {
    match shared {
        0 => (0..3).any(|k| segment_meets(a[k], a[(k + 1) % 3], b)),
        1 if open_axis(a).is_some() => segment_meets(a[1], a[2], b),
        _ => a[shared..].iter().any(|&x| {
            let beyond = !segments_meet(x, x, a[0], a[shared - 1]);
            beyond && segment_meets(x, x, b)
        }),
    }
}

/// Whether two triangles that share their first two corners share a point off that edge.
fn overlap_beyond_edge(a: &Triangle, b: &Triangle) -> bool {
    let [p, q, x] = *a;
    let y = b[2];
    if clearly_opposite(q - p, x - p, y - p) {
        return false;
    }
    let mut straight = true;
    for axis in 0..3 {
        // Two apexes on the same side of the edge are so in every view: one view that differs settles it.
        let turn = turn(axis, p, q, x);
        if turn != self::turn(axis, p, q, y) {
            return false;
        }
        straight &= turn == 0;
    }
    if straight { reaches(a, b, 2) || reaches(b, a, 2) } else { side(p, q, x, y) == 0 }
}

/// Whether the line through the middles separates the triangles by more than rounding can hide.
///
/// Any direction may separate, so only the projections onto it carry errors: four roundings each, bounded
/// four times over. It spares neighbours in an unfolded cloth the predicates.
fn clearly_apart(a: &Triangle, b: &Triangle, shared: usize) -> bool {
    let origin = a[0];
    let direction = (a[0] + a[1] + a[2]) - (b[0] + b[1] + b[2]);
    let mut reach = DVec3::ZERO;
    let mut along = |x: &DVec3| {
        let from = *x - origin;
        reach = reach.max(from.abs());
        direction.dot(from)
    };
    let low = a[shared..].iter().map(&mut along).fold(f64::INFINITY, f64::min);
    let high = b[shared..].iter().map(&mut along).fold(f64::NEG_INFINITY, f64::max);
    let error = 8.0 * f64::EPSILON * direction.abs().dot(reach);
    // The origin is the shared particle; the triangles must leave it to different sides.
    if shared == 1 { low > error && high < -error } else { low - high > 2.0 * error }
}

/// Whether two triangles with a common first corner leave it to different sides of a plane, by more than rounding can hide: that between the directions in the
/// middle of each. Neighbours that are level with one another are told apart by it, for which the predicates would take their time.
fn leave_apart(a: &Triangle, b: &Triangle) -> bool {
    let edges = [a[1], a[2], b[1], b[2]].map(|x| x - a[0]);
    let [e, f, g, h] = edges.map(|edge| edge.normalize_or_zero());
    let direction = (e + f) - (g + h);
    // Differences, products and sums round by four units at most, bounded four times over.
    let clear = |edge: &DVec3, sign: f64| {
        sign * direction.dot(*edge) > 8.0 * f64::EPSILON * direction.abs().dot(edge.abs())
    };
    edges[..2].iter().all(|edge| clear(edge, 1.0)) && edges[2..].iter().all(|edge| clear(edge, -1.0))
}

/// Whether x and y, as seen from an end of an edge, lie on different sides of it, by more than rounding can hide: (e × x) · (e × y) is below zero.
fn clearly_opposite(e: DVec3, x: DVec3, y: DVec3) -> bool {
    let sum = |a: DVec3, b: DVec3| (a.dot(b), a.abs().dot(b.abs()));
    let ((ee, _), (xy, size), (ex, ex_size), (ey, ey_size)) = (sum(e, e), sum(x, y), sum(e, x), sum(e, y));
    // Two dot products of differences and their product round by twelve units, bounded more than twice over; and what is too small to be a number is not clear.
    ee * xy - ex * ey < -16.0 * f64::EPSILON * (ee * size + ex_size * ey_size) - f64::MIN_POSITIVE
}

/// Whether all `points` lie strictly on one side of the plane of `t`.
fn on_one_side(t: &Triangle, points: &[DVec3]) -> bool {
    let first = side(t[0], t[1], t[2], points[0]);
    first != 0 && points[1..].iter().all(|&x| side(t[0], t[1], t[2], x) == first)
}

/// Whether the closed segment `s`-`t` meets the closed triangle.
fn segment_meets(s: DVec3, t: DVec3, triangle: &Triangle) -> bool {
    let [a, b, c] = *triangle;
    let (from, to) = (side(a, b, c, s), side(a, b, c, t));
    if from * to > 0 {
        return false;
    }
    if from != to {
        // The line crosses the plane once, within the segment: inside if it passes all borders alike.
        return all_alike([side(s, t, a, b), side(s, t, b, c), side(s, t, c, a)]);
    }
    let borders = [(a, b), (b, c), (c, a)];
    match open_axis(triangle) {
        Some(axis) => {
            all_alike(borders.map(|(u, v)| turn(axis, u, v, s)))
                || borders.iter().any(|&(u, v)| segments_meet_in_view(axis, s, t, u, v))
        }
        None => borders.iter().any(|&(u, v)| segments_meet(s, t, u, v)),
    }
}

/// Whether two closed segments in space meet.
fn segments_meet(s: DVec3, t: DVec3, u: DVec3, v: DVec3) -> bool {
    if side(s, t, u, v) != 0 {
        return false;
    }
    let axis = [[s, t, u], [s, t, v], [s, u, v]].iter().find_map(open_axis);
    match axis {
        Some(axis) => segments_meet_in_view(axis, s, t, u, v),
        None => boxes_meet(s, t, u, v),
    }
}

/// Whether two closed segments in one plane meet, that plane being seen along `axis` and not edge-on.
fn segments_meet_in_view(axis: usize, s: DVec3, t: DVec3, u: DVec3, v: DVec3) -> bool {
    let ends = [turn(axis, u, v, s), turn(axis, u, v, t)];
    let others = [turn(axis, s, t, u), turn(axis, s, t, v)];
    if ends == [0, 0] && others == [0, 0] {
        return boxes_meet(s, t, u, v);
    }
    ends[0] * ends[1] <= 0 && others[0] * others[1] <= 0
}

/// Whether two segments on one line meet: along a line every coordinate is monotone.
fn boxes_meet(s: DVec3, t: DVec3, u: DVec3, v: DVec3) -> bool {
    s.min(t).cmple(u.max(v)).all() && u.min(v).cmple(s.max(t)).all()
}

/// A coordinate axis along which the triangle shows area; none if it has no area.
fn open_axis(t: &Triangle) -> Option<usize> {
    (0..3).find(|&axis| turn(axis, t[0], t[1], t[2]) != 0)
}

/// Whether no two of the signs are opposite.
fn all_alike(signs: [i32; 3]) -> bool {
    !(signs.contains(&1) && signs.contains(&-1))
}

/// The side of the plane a-b-c on which `d` lies: 1 where a, b, c turn clockwise seen from `d`, 0 on it.
fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let point = |v: DVec3| Coord3D { x: v.x, y: v.y, z: v.z };
    sign(orient3d(point(a), point(b), point(c), point(d)))
}

/// How a, b, c turn, looking against `axis`: 1 counter-clockwise, 0 in line.
fn turn(axis: usize, a: DVec3, b: DVec3, c: DVec3) -> i32 {
    let seen = |v: DVec3| Coord { x: v[(axis + 1) % 3], y: v[(axis + 2) % 3] };
    sign(orient2d(seen(a), seen(b), seen(c)))
}

fn sign(x: f64) -> i32 {
    i32::from(x > 0.0) - i32::from(x < 0.0)
}
