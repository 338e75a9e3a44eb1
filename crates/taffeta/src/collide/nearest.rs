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
            let local = from_box(body.pose.to_local(point), half_size);
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

fn from_box(p: DVec3, half_size: DVec3) -> Nearest {
    let beyond = p.abs() - half_size;
    let outside = beyond.max(DVec3::ZERO) * p.signum();
    let distance = outside.length();
    if distance > 0.0 {
        return Nearest { gap: distance, normal: outside / distance };
    }
    // Inside, out through the nearest face.
    let axis = if beyond.x >= beyond.y && beyond.x >= beyond.z {
        DVec3::X
    } else if beyond.y >= beyond.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    Nearest { gap: beyond.dot(axis), normal: axis * p.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pose;
    use crate::math::random::Random;

    const SHAPES: [Shape; 4] = [
        Shape::Plane,
        Shape::Sphere { radius: 0.4 },
        Shape::Capsule { radius: 0.2, half_length: 0.3 },
        Shape::Box { half_size: DVec3::new(0.2, 0.3, 0.4) },
    ];

    #[test]
    fn the_normal_is_the_gradient_of_the_gap_and_leads_to_the_surface() {
        let pose = Pose::from_degrees(DVec3::new(0.1, -0.2, 0.3), DVec3::new(20.0, 50.0, -70.0));
        let mut random = Random::new(5);
        for shape in SHAPES {
            let body = PosedShape { shape, pose };
            let gap = |p| nearest(&body, p, 10.0).map(|n| n.gap).unwrap();
            for _ in 0..500 {
                let p = pose.position + DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)));
                let near = nearest(&body, p, 10.0).unwrap();
                assert!((near.normal.length() - 1.0).abs() < 1e-12);
                assert!(gap(p - near.gap * near.normal).abs() < 1e-12, "{shape:?}");
                let step = 1e-6;
                let slope = (gap(p + step * near.normal) - gap(p - step * near.normal)) / (2.0 * step);
                assert!((slope - 1.0).abs() < 1e-5, "{shape:?} {slope}");
                assert_eq!(nearest(&body, p, near.gap), None);
            }
        }
    }
}
