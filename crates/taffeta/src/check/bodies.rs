//! How far a cloth is from a closed-form solid, or how deep in it.

use super::distance::{point_triangle, segment_triangle};
use crate::math::DVec3;
use crate::model::collider::{PosedShape, Shape};
use rayon::prelude::*;

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

/// Contact between a solid and the triangles of a cloth, not only its particles; in double precision.
pub fn against_body(positions: &[DVec3], triangles: &[[u32; 3]], body: &PosedShape) -> BodyContact {
    let shape = &body.shape;
    let local: Vec<DVec3> = positions.iter().map(|&x| body.pose.to_local(x)).collect();
    let corner =
        |c: u32| local.get(c as usize).copied().filter(|x| x.abs().cmple(DVec3::splat(LARGEST)).all());
    let corners = |t: &[u32; 3]| Some([corner(t[0])?, corner(t[1])?, corner(t[2])?]);
    let at_corners = |t| corners(t).map_or(f64::NAN, |t| corner_gap(shape, &t));
    let mut gaps: Vec<f64> = triangles.par_iter().map(at_corners).collect();

    // Distance changes no faster than position: a triangle beyond the nearest corner and outside the solid by
    // more than its own size cannot matter. The extra percent covers rounding.
    let matters = gaps.iter().copied().fold(f64::INFINITY, f64::min).max(0.0);
    gaps.par_iter_mut().zip(triangles).for_each(|(gap, t)| {
        let Some(t) = corners(t) else { return };
        let middle = (t[0] + t[1] + t[2]) / 3.0;
        let size = t.iter().map(|x| x.distance(middle)).fold(0.0, f64::max);
        if signed_distance(shape, middle) - 1.01 * size <= matters {
            *gap = triangle_gap(shape, &t, *gap);
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
        Shape::Box { half_size } => {
            let beyond = x.abs() - half_size;
            beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
        }
    }
}

/// The smallest signed distance of the corners [m].
fn corner_gap(shape: &Shape, t: &[DVec3; 3]) -> f64 {
    let [a, b, c] = t.map(|x| signed_distance(shape, x));
    // Unlike f64::min, a sum keeps a NaN.
    if (a + b + c).is_nan() { f64::NAN } else { a.min(b).min(c) }
}

/// The smallest signed distance of any point of the triangle [m], that of its corners being known.
fn triangle_gap(shape: &Shape, t: &[DVec3; 3], at_corners: f64) -> f64 {
    match *shape {
        Shape::Plane => at_corners,
        Shape::Sphere { radius } => point_triangle(DVec3::ZERO, t) - radius,
        Shape::Capsule { radius, half_length } => {
            segment_triangle([DVec3::Y * -half_length, DVec3::Y * half_length], t) - radius
        }
        Shape::Box { half_size } => box_gap(half_size, t, at_corners),
    }
}

fn box_gap(half_size: DVec3, t: &[DVec3; 3], at_corners: f64) -> f64 {
    let height = |face: usize, x: DVec3| {
        let axis = face % 3;
        (if face < 3 { x[axis] } else { -x[axis] }) - half_size[axis]
    };
    // A triangle wholly above one face by what its nearest corner has, as in resting contact, is nearest there.
    let above = |face| t.iter().map(|&x| height(face, x)).fold(f64::INFINITY, f64::min);
    if (0..6).any(|face| above(face) >= at_corners) {
        return at_corners;
    }
    let mut inside = f64::INFINITY;
    for nearest in 0..6 {
        // Where one face is the nearest, depth is linear, hence extreme at a corner of that part.
        let mut part = t.to_vec();
        for other in 0..6 {
            part = clip(&part, |x| height(nearest, x) - height(other, x));
        }
        inside = part.iter().map(|&x| height(nearest, x)).fold(inside, f64::min);
    }
    if inside <= 0.0 { inside } else { box_distance(half_size, t).min(at_corners) }
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
fn box_distance(half_size: DVec3, t: &[DVec3; 3]) -> f64 {
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
