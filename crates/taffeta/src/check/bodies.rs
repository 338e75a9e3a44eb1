//! How far a cloth is from a closed-form solid, or how deep in it.

use super::distance::{point_triangle, segment_triangle};
use crate::math::DVec3;
use crate::model::collider::{PosedShape, Shape};
use crate::parallel;

/// How a cloth stands to a solid.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyContact {
    /// Triangles that have a point in the closed solid, ascending; touching counts.
    pub intersecting: Vec<u32>,
    /// The smallest signed distance of any point of any triangle to the surface of the solid [m].
    ///
    /// Outside it is the distance to the solid. Inside it is minus the depth, the distance to the nearest point
    /// of the surface: the height below a plane, the radius less the distance to the centre of a sphere or to
    /// the axis of a capsule, the distance to the nearest face of a box. It is infinite without triangles, and
    /// minus infinity if a corner is missing or anything is not finite, so that no gap is claimed then.
    pub min_gap: f64,
}

/// Corners beyond this are not measured, lest fourth powers overflow [m].
const LARGEST: f64 = 1e50;

/// Triangles that a thread takes in a row.
const TASK: usize = 512;

/// Contact between a solid and the triangles of a cloth, not only its particles; in double precision.
pub fn against_body(positions: &[DVec3], triangles: &[[u32; 3]], body: &PosedShape) -> BodyContact {
    let shape = &body.shape;
    let local: Vec<DVec3> = positions.iter().map(|&x| body.pose.to_local(x)).collect();
    let known = is_finite(shape);
    let in_range = |x: &DVec3| known && x.abs().cmple(DVec3::splat(LARGEST)).all();
    let distances: Vec<f64> =
        local.iter().map(|x| if in_range(x) { signed_distance(shape, *x) } else { f64::NAN }).collect();
    let distance = |c: u32| distances.get(c as usize).copied().unwrap_or(f64::NAN);
    let mut gaps = vec![0.0; triangles.len()];
    let at_corners = |t: &[u32; 3]| {
        let of = t.map(distance);
        if of.iter().any(|d| d.is_nan()) { f64::NAN } else { of[0].min(of[1]).min(of[2]) }
    };
    parallel::each(&mut gaps, TASK, |k, gap| *gap = at_corners(&triangles[k]));

    // Most triangles are too far away to matter. In resting contact the nearest corner often is the answer, up to
    // what its root was rounded by.
    let matters = gaps.iter().copied().fold(f64::INFINITY, f64::min).max(0.0);
    parallel::each_chunk(&mut gaps, TASK, |chunk, gaps| {
        let mut matters = matters;
        for (gap, t) in gaps.iter_mut().zip(parallel::chunk(triangles, TASK, chunk)) {
            if gap.is_nan() {
                continue;
            }
            let t = t.map(|c| local[c as usize]);
            // No point of it is further from a corner than it is large.
            if *gap > matters + (t[0].max(t[1]).max(t[2]) - t[0].min(t[1]).min(t[2])).element_sum() {
                continue;
            }
            let bound = lower_bound(shape, &t);
            if bound <= matters && bound < *gap - 4.0 * f64::EPSILON * gap.abs() {
                *gap = gap.min(triangle_gap(shape, &t));
                matters = matters.min(gap.max(0.0));
            }
        }
    });

    let mut contact = BodyContact { intersecting: Vec::new(), min_gap: f64::INFINITY };
    for (index, gap) in (0..).zip(gaps) {
        contact.min_gap = contact.min_gap.min(if gap.is_nan() { f64::NEG_INFINITY } else { gap });
        if gap <= 0.0 {
            contact.intersecting.push(index);
        }
    }
    contact
}

/// Signed distance of a point to the surface of a shape in its own axes [m].
fn signed_distance(shape: &Shape, x: DVec3) -> f64 {
    match *shape {
        Shape::Plane => x.y,
        Shape::Sphere { radius } => x.length() - radius,
        Shape::Capsule { radius, half_length } => {
            x.distance(DVec3::Y * x.y.max(-half_length).min(half_length)) - radius
        }
        Shape::Box { half_size } => box_distance(x.abs() - half_size),
    }
}

/// Signed distance to a box of a point this far beyond its faces along each axis [m].
fn box_distance(beyond: DVec3) -> f64 {
    beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
}

/// Whether all sizes are finite; a minimum or maximum would drop a NaN unseen.
fn is_finite(shape: &Shape) -> bool {
    match *shape {
        Shape::Plane => true,
        Shape::Sphere { radius } => radius.is_finite(),
        Shape::Capsule { radius, half_length } => radius.is_finite() && half_length.is_finite(),
        Shape::Box { half_size } => half_size.is_finite(),
    }
}

/// A quick number below the smallest signed distance of any point of the triangle [m].
///
/// All shapes are a core with a radius. A plane through the point of the core that is nearest to the middle of the triangle, across the way there, has all of
/// the core on its other side, so nobody is nearer to the core than to the plane.
fn lower_bound(shape: &Shape, t: &[DVec3; 3]) -> f64 {
    let middle = (t[0] + t[1] + t[2]) / 3.0;
    let (nearest, radius) = match *shape {
        Shape::Plane => (DVec3::new(middle.x, 0.0, middle.z), 0.0),
        Shape::Sphere { radius } => (DVec3::ZERO, radius),
        Shape::Capsule { radius, half_length } => {
            (DVec3::Y * middle.y.max(-half_length).min(half_length), radius)
        }
        Shape::Box { half_size } => (middle.max(-half_size).min(half_size), 0.0),
    };
    let across = middle - nearest;
    let size = across.length();
    let heights = t.map(|x| across.dot(x - nearest));
    let bound = heights[0].min(heights[1]).min(heights[2]) / size - radius;
    // The sum of all that is rounded, bounded several times over.
    let reach = t.iter().fold(nearest.abs(), |reach, x| reach.max(x.abs())).element_sum() + radius;
    // In the core, or below a plane, nothing is told.
    let is_outside = size > 0.0 && (middle.y > 0.0 || !matches!(shape, Shape::Plane));
    if is_outside { bound - 64.0 * f64::EPSILON * reach } else { f64::NEG_INFINITY }
}

/// The smallest signed distance of any point of the triangle [m], but for a box outside of it: there the smallest
/// distance between its edges and the triangle, which corners may undercut.
fn triangle_gap(shape: &Shape, t: &[DVec3; 3]) -> f64 {
    match *shape {
        Shape::Plane => t[0].y.min(t[1].y).min(t[2].y),
        Shape::Sphere { radius } => point_triangle(DVec3::ZERO, t) - radius,
        Shape::Capsule { radius, half_length } => {
            segment_triangle([DVec3::Y * -half_length, DVec3::Y * half_length], t) - radius
        }
        Shape::Box { half_size } => {
            let inside = box_depth(half_size, t);
            if inside <= 0.0 { inside } else { box_edge_distance(half_size, t) }
        }
    }
}

/// The smallest over the triangle of the largest height above a face: minus the depth, or above zero outside [m].
fn box_depth(half_size: DVec3, t: &[DVec3; 3]) -> f64 {
    let height = |face: usize, x: DVec3| {
        let axis = face % 3;
        (if face < 3 { x[axis] } else { -x[axis] }) - half_size[axis]
    };
    let mut inside = f64::INFINITY;
    for nearest in 0..6 {
        // Where one face is the nearest, depth is linear, hence extreme at a corner of that part.
        let mut part = t.to_vec();
        for other in 0..6 {
            part = clip(&part, |x| height(nearest, x) - height(other, x));
        }
        inside = part.iter().map(|&x| height(nearest, x)).fold(inside, f64::min);
    }
    inside
}

/// The part of a convex polygon where the linear function `keep` is not negative.
fn clip(polygon: &[DVec3], keep: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut part = Vec::with_capacity(polygon.len() + 1);
    for (k, &x) in polygon.iter().enumerate() {
        let y = polygon[(k + 1) % polygon.len()];
        let (from, to) = (keep(x), keep(y));
        if from >= 0.0 {
            part.push(x);
        }
        if from * to < 0.0 {
            part.push(x + (y - x) * (from / (from - to)));
        }
    }
    part
}

/// The smallest distance between the edges of a box and a triangle [m].
fn box_edge_distance(half_size: DVec3, t: &[DVec3; 3]) -> f64 {
    let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
    let at = |corner: usize| half_size * DVec3::new(sign(corner, 0), sign(corner, 1), sign(corner, 2));
    let mut least = f64::INFINITY;
    for corner in 0..8 {
        for axis in (0..3).filter(|axis| corner >> axis & 1 == 0) {
            least = least.min(segment_triangle([at(corner), at(corner | 1 << axis)], t));
        }
    }
    least
}
