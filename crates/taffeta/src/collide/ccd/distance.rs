//! The closest points of a point and a triangle, or of two edges, and a distance that they certainly keep.
//!
//! Every candidate (inside, along each edge) is a pair of points that the features really have; the nearest of them is taken. A candidate
//! that rounding put in the wrong place therefore never makes the distance too small, only too large, and [`lower_bound`] does not trust it.

use crate::math::DVec3;

/// What kind of features meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairKind {
    /// A point and a triangle, as points `[p, a, b, c]`.
    PointTriangle,
    /// Two edges, as points `[a, b, c, d]`: a-b and c-d.
    EdgeEdge,
}

/// The closest points of two features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// The closest points: weights of the first feature sum to 1, those of the second to -1 [1].
    pub weights: [f64; 4],
    /// Σ weight · point: leads from the second feature to the first [m].
    pub vector: DVec3,
}

/// The closest points of two features, of which corners may coincide.
pub fn closest(kind: PairKind, points: &[DVec3; 4]) -> Closest {
    closest_from(kind, &relative(points))
}

/// A distance that the features keep whatever was rounded, 0 if none is certain [m].
pub fn lower_bound(kind: PairKind, points: &[DVec3; 4]) -> f64 {
    let others = relative(points);
    let direction = unit(closest_from(kind, &others).vector);
    let size = others[0].abs() + others[1].abs() + others[2].abs();
    let margin = margin(direction, size, 0.0);
    let certain = gaps(kind, &others, direction).map(|gap| (gap - margin) * (1.0 - MARGIN));
    // A gap that is not a number is not certain, hence no `min`, which would drop it.
    certain.iter().fold(f64::INFINITY, |least, &gap| if gap > least { least } else { gap }).max(0.0)
}

/// Rounding of a gap, relative to the sizes in it: `docs/contact.md` derives 10 units of 2^-53, here are 16.
pub(in crate::collide) const MARGIN: f64 = 8.0 * f64::EPSILON;

/// How much a computed gap along `direction` may exceed the true one, if `size` is the sum of all relative points that went into it [m].
#[inline]
pub(super) fn margin(direction: DVec3, size: DVec3, separation: f64) -> f64 {
    MARGIN * (direction.abs().dot(size) + separation.abs()) + f64::MIN_POSITIVE
}

/// The last three points as seen from the first: differences are as accurate as numbers can be, however far away all of them are.
#[inline]
pub(super) fn relative([first, others @ ..]: &[DVec3; 4]) -> [DVec3; 3] {
    others.map(|point| point - *first)
}

/// Squares below this lose digits [m²].
pub(in crate::collide) const LEAST_SQUARE: f64 = 1e-280;

/// A vector of length 1, or a shorter one where there is no direction.
#[inline]
pub(super) fn unit(vector: DVec3) -> DVec3 {
    vector * (1.0 / vector.length_squared().max(LEAST_SQUARE).sqrt())
}

/// How far every point of the first feature is from every point of the second along `direction` [m].
#[inline]
pub(super) fn gaps(kind: PairKind, others: &[DVec3; 3], direction: DVec3) -> [f64; 4] {
    let [a, b, c] = others.map(|point| direction.dot(point));
    match kind {
        PairKind::PointTriangle => [-a, -b, -c, -c],
        PairKind::EdgeEdge => [-b, -c, a - b, a - c],
    }
}

/// [`closest`] for points relative to the first.
#[inline]
pub(super) fn closest_from(kind: PairKind, others: &[DVec3; 3]) -> Closest {
    match kind {
        PairKind::PointTriangle => origin_triangle(others),
        PairKind::EdgeEdge => edge_edge(others),
    }
}

fn origin_triangle(&[a, b, c]: &[DVec3; 3]) -> Closest {
    let mut best = inside_triangle(a, b, c);
    let edges = [(a, b, [1, 2]), (b, c, [2, 3]), (c, a, [3, 1])];
    for (from, to, corners) in edges {
        let (t, point) = along_edge(from, to);
        let square = point.length_squared();
        if square < best.square {
            let mut weights = [1.0, 0.0, 0.0, 0.0];
            weights[corners[0]] = t - 1.0;
            weights[corners[1]] = -t;
            best = Candidate { square, closest: Closest { weights, vector: -point } };
        }
    }
    best.closest
}

/// Edges from the origin to `b` and from `c` to `d`.
fn edge_edge(&[b, c, d]: &[DVec3; 3]) -> Closest {
    let mut best = between_edges(b, c, d);
    let mut consider = |first: [f64; 2], second: [f64; 2], vector: DVec3| {
        let square = vector.length_squared();
        if square < best.square {
            let weights = [first[0], first[1], -second[0], -second[1]];
            best = Candidate { square, closest: Closest { weights, vector } };
        }
    };
    let (t, point) = along_edge(c, d);
    consider([1.0, 0.0], [1.0 - t, t], -point);
    let (t, point) = along_edge(c - b, d - b);
    consider([0.0, 1.0], [1.0 - t, t], -point);
    let (t, point) = along_edge(-c, b - c);
    consider([1.0 - t, t], [1.0, 0.0], point);
    let (t, point) = along_edge(-d, b - d);
    consider([1.0 - t, t], [0.0, 1.0], point);
    best.closest
}

/// Points of both features, and the square of how far they are apart [m²].
struct Candidate {
    square: f64,
    closest: Closest,
}

impl Candidate {
    const NONE: Self = Self {
        square: f64::INFINITY,
        closest: Closest { weights: [1.0, -1.0, 0.0, 0.0], vector: DVec3::ZERO },
    };

    /// Points inside both features, at `vector` from each other, where the features have the common normal `n`.
    ///
    /// What is nearer than the features are wide has a better direction in the normal than in the difference of points.
    fn inside(weights: [f64; 4], vector: DVec3, n: DVec3, from: DVec3, widths: f64) -> Self {
        let square = vector.length_squared();
        let normal = n.length_squared();
        let along = || n * (square / normal).sqrt().copysign(n.dot(from));
        let vector = if square * widths < normal { along() } else { vector };
        Self { square, closest: Closest { weights, vector } }
    }
}

/// The point of the edge that is nearest to the origin, and how far along it is.
#[inline]
fn along_edge(from: DVec3, to: DVec3) -> (f64, DVec3) {
    let edge = to - from;
    let square = edge.length_squared();
    let t = if square > 0.0 { (-from.dot(edge) / square).clamp(0.0, 1.0) } else { 0.0 };
    (t, (1.0 - t) * from + t * to)
}

/// The foot of the origin on the plane of a triangle, if it lies inside.
#[inline]
fn inside_triangle(a: DVec3, b: DVec3, c: DVec3) -> Candidate {
    let (ab, ac) = (b - a, c - a);
    let n = ab.cross(ac);
    let normal = n.length_squared();
    // Areas of the triangles between the foot and each edge, times the normal.
    let (to_b, to_c) = (n.dot(ac.cross(a)), n.dot(a.cross(ab)));
    let to_a = normal - to_b - to_c;
    if !(normal > 0.0 && to_a >= 0.0 && to_b >= 0.0 && to_c >= 0.0) {
        return Candidate::NONE;
    }
    let w = [to_a / normal, to_b / normal, to_c / normal];
    let vector = -(w[0] * a + w[1] * b + w[2] * c);
    let widths = ab.length_squared() + ac.length_squared();
    Candidate::inside([1.0, -w[0], -w[1], -w[2]], vector, n, -a, widths)
}

/// Where the lines through two edges are nearest, if that is within both.
#[inline]
fn between_edges(b: DVec3, c: DVec3, d: DVec3) -> Candidate {
    let (first, second, r) = (b, d - c, -c);
    let n = first.cross(second);
    let normal = n.length_squared();
    let (s, t) = (n.dot(second.cross(r)) / normal, n.dot(first.cross(r)) / normal);
    if !(normal > 0.0 && (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return Candidate::NONE;
    }
    let vector = s * b - (1.0 - t) * c - t * d;
    let widths = first.length_squared() + second.length_squared();
    Candidate::inside([1.0 - s, s, t - 1.0, -t], vector, n, r, widths)
}
