//! The nearest point of a closed-form solid.

use crate::math::DVec3;
use crate::model::{PosedShape, Shape};

/// How a point lies to a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Signed distance, negative inside [m].
    pub gap: f64,
    /// Unit vector that leads out.
    pub normal: DVec3,
}

/// How `point` lies to `body`, if it is nearer than `reach` [m].
#[inline]
pub fn nearest(body: &PosedShape, point: DVec3, reach: f64) -> Option<Nearest> {
    let out = match body.shape {
        Shape::Plane => {
            let normal = body.pose.rotation * DVec3::Y;
            Nearest { gap: (point - body.pose.position).dot(normal), normal }
        }
        Shape::Sphere { radius } => from_centre(point - body.pose.position, radius, reach)?,
        Shape::Capsule { radius, half_length } => {
            let axis = body.pose.rotation * DVec3::Y;
            let to_point = point - body.pose.position;
            let along = to_point.dot(axis).clamp(-half_length, half_length);
            from_centre(to_point - along * axis, radius, reach)?
        }
        Shape::Box { half_size } => {
            let local = from_box(body.pose.to_local(point), half_size, reach)?;
            Nearest { gap: local.gap, normal: body.pose.rotation * local.normal }
        }
    };
    (out.gap < reach).then_some(out)
}

#[inline]
fn from_centre(to_point: DVec3, radius: f64, reach: f64) -> Option<Nearest> {
    let squared = to_point.length_squared();
    if squared >= (radius + reach) * (radius + reach) {
        return None;
    }
    let distance = squared.sqrt();
    // At the very centre every way out is as short; up is as good as any.
    let normal = if distance > 0.0 { to_point / distance } else { DVec3::Y };
    Some(Nearest { gap: distance - radius, normal })
}

fn from_box(p: DVec3, half_size: DVec3, reach: f64) -> Option<Nearest> {
    let beyond = p.abs() - half_size;
    if beyond.max_element() >= reach {
        return None;
    }
    let outside = beyond.max(DVec3::ZERO) * p.signum();
    let distance = outside.length();
    if distance > 0.0 {
        return Some(Nearest { gap: distance, normal: outside / distance });
    }
    // Inside, out through the nearest face.
    let axis = if beyond.x >= beyond.y && beyond.x >= beyond.z {
        DVec3::X
    } else if beyond.y >= beyond.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    Some(Nearest { gap: beyond.dot(axis), normal: axis * p.signum() })
}
