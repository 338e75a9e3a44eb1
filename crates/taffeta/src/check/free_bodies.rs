//! Which bodies intersect: free ones among themselves and with what is led.

use super::{Surface, against_form};
use crate::math::{DVec3, Pose};
use crate::model::{Form, Shape};

/// A body where it is now.
#[derive(Debug, Clone, Copy)]
pub struct PlacedBody<'a> {
    /// What it is.
    pub form: &'a Form,
    /// Where its own axes are.
    pub pose: Pose,
    /// Whether it moves freely. What is led may intersect what is led.
    pub is_free: bool,
}

/// Every two bodies that intersect at `time` [s], one of them free; in double precision. Two surfaces from files intersect where their faces do.
pub fn body_intersections(bodies: &[PlacedBody], time: f64) -> Vec<[usize; 2]> {
    let mut found = Vec::new();
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate().skip(i + 1) {
            if (a.is_free || b.is_free) && (reaches_into(a, b, time) || reaches_into(b, a, time)) {
                found.push([i, j]);
            }
        }
    }
    found
}

/// Whether the surface of one body reaches another.
fn reaches_into(one: &PlacedBody, other: &PlacedBody, time: f64) -> bool {
    let Some((positions, triangles, radius)) = skin(one, time) else { return false };
    let skin = Surface { positions: &positions, triangles: &triangles };
    against_form(skin, other.form, &other.pose, time).min_gap <= radius
}

/// Points [m] and triangles of a surface that lies `radius` [m] inside that of a body; a half-space has none.
fn skin(body: &PlacedBody, time: f64) -> Option<(Vec<DVec3>, Vec<[u32; 3]>, f64)> {
    let placed = |points: Vec<DVec3>| points.into_iter().map(|p| body.pose.to_world(p)).collect();
    match body.form {
        Form::Closed(Shape::Plane) => None,
        Form::Closed(Shape::Sphere { radius }) => Some((placed(vec![DVec3::ZERO]), vec![[0; 3]], *radius)),
        Form::Closed(Shape::Capsule { radius, half_length }) => {
            let ends = vec![DVec3::Y * -half_length, DVec3::Y * *half_length];
            Some((placed(ends), vec![[0, 1, 1]], *radius))
        }
        Form::Closed(Shape::Box { half_size }) => {
            let side = |k: u32, axis: u32| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let corner = |k: u32| *half_size * DVec3::new(side(k, 0), side(k, 1), side(k, 2));
            // Two triangles for each side of each axis, spanned by the other two.
            let face = |axis: u32, side: u32| {
                let (u, v, first) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3), side << axis);
                [[first, first | u, first | u | v], [first, first | u | v, first | v]]
            };
            let faces = (0..3).flat_map(|axis| (0..2).flat_map(move |side| face(axis, side)));
            Some((placed((0..8).map(corner).collect()), faces.collect(), 0.0))
        }
        Form::Mesh(mesh) => Some((mesh.points(time, &body.pose), mesh.triangles().to_vec(), 0.0)),
    }
}
