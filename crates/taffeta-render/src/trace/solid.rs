//! Closed-form solids under rays. Only entry counts: a ray that starts inside does not see the wall from within, so that
//! cloth that dips into a body by a hair does not turn black.

use super::Ray;
use glam::{Mat3, Vec3};
use taffeta::math::{DVec3, Pose};
use taffeta::model::{PosedShape, Shape};

/// A finite solid somewhere.
#[derive(Debug, Clone, Copy)]
pub struct Solid {
    shape: Local,
    centre: Vec3,
    /// Radius of the ball around it [m].
    bound: f32,
    /// Its axes in the world; columns of length 1.
    axes: Mat3,
}

#[derive(Debug, Clone, Copy)]
enum Local {
    Capsule {
        radius: f32,
        half_length: f32,
    },
    /// A cuboid whose edges are rounded by that radius.
    Box {
        half_size: Vec3,
        round: f32,
    },
}

/// Steps to the rounded edge of a box before a ray counts as passing by.
const MOST_MARCHES: usize = 64;

/// The surface of a half-space, seen from outside alone.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    /// A point on it [m].
    pub point: Vec3,
    /// Its outward normal.
    pub normal: Vec3,
    /// Two directions along it, for the grid.
    pub along: [Vec3; 2],
}

impl Solid {
    /// The shape relative to `origin`, made less by what cloth of flat triangles with edges of length `edge` [m] would cut
    /// off it; `None` for a plane and for what has no size.
    ///
    /// A triangle with its corners on a round body dips into it by edge² / 8 radius, and round the edge of a box by half an
    /// edge. Without this the body shows through cloth that lies on it.
    pub fn new(body: &PosedShape, origin: DVec3, edge: f64) -> Option<Self> {
        let round = |radius: f64| (radius - (edge * edge / (8.0 * radius)).min(0.1 * radius)) as f32;
        let shape = match body.shape {
            Shape::Plane => return None,
            Shape::Sphere { radius } => Local::Capsule { radius: round(radius), half_length: 0.0 },
            Shape::Capsule { radius, half_length } => {
                Local::Capsule { radius: round(radius), half_length: half_length as f32 }
            }
            Shape::Box { half_size } => {
                // A fillet takes (√2 - 1) of its radius off the edge.
                let least = half_size.min_element();
                let round = (1.21 * edge).min(0.3 * least) as f32;
                Local::Box { half_size: half_size.as_vec3(), round }
            }
        };
        let sound = match shape {
            Local::Capsule { radius, half_length } => radius > 0.0 && half_length >= 0.0,
            Local::Box { half_size, .. } => half_size.min_element() > 0.0,
        };
        let centre = (body.pose.position - origin).as_vec3();
        let axes = axes(&body.pose);
        let bound = match shape {
            Local::Capsule { radius, half_length } => radius + half_length,
            Local::Box { half_size, .. } => half_size.length(),
        };
        let finite = centre.is_finite() && bound.is_finite() && axes.is_finite();
        (sound && finite).then_some(Self { shape, centre, bound, axes })
    }

    /// Whether a ray that is `spread` wide at distance 1 touches the ball around the solid.
    #[inline]
    pub fn near(&self, ray: &Ray, spread: f32) -> bool {
        let to_centre = self.centre - ray.origin;
        let bound = self.bound * 1.001 + spread * (to_centre.length() + self.bound);
        let foot = to_centre.dot(ray.direction);
        (foot >= 0.0 || to_centre.length_squared() < bound * bound)
            && (to_centre - foot * ray.direction).length_squared() < bound * bound
    }

    /// Where the ray enters, and the outward normal there, if between `near` and `far` [m].
    #[inline]
    pub fn meet(&self, ray: &Ray, near: f32, far: f32) -> Option<(f32, Vec3)> {
        if !self.near(ray, 0.0) {
            return None;
        }
        let to_local = self.axes.transpose();
        let (o, d) = (to_local * (ray.origin - self.centre), to_local * ray.direction);
        let (t, normal) = match self.shape {
            Local::Capsule { radius, half_length } => enter_capsule(o, d, radius, half_length)?,
            Local::Box { half_size, round } => enter_box(o, d, half_size, round)?,
        };
        (t > near && t < far).then(|| (t, self.axes * normal))
    }
}

impl Plane {
    /// The surface of the half-space below the local y = 0 of a pose, relative to `origin`.
    pub fn new(pose: &Pose, origin: DVec3) -> Option<Self> {
        let axes = axes(pose);
        let point = (pose.position - origin).as_vec3();
        let plane = Self { point, normal: axes.y_axis, along: [axes.x_axis, axes.z_axis] };
        (point.is_finite() && axes.is_finite()).then_some(plane)
    }

    /// Where a ray from outside meets it, if between `near` and `far` [m].
    #[inline]
    pub fn meet(&self, ray: &Ray, near: f32, far: f32) -> Option<f32> {
        let towards = -self.normal.dot(ray.direction);
        let t = self.normal.dot(ray.origin - self.point) / towards;
        (towards > 0.0 && t > near && t < far).then_some(t)
    }
}

fn axes(pose: &Pose) -> Mat3 {
    let column = |axis: DVec3| (pose.rotation * axis).as_vec3();
    Mat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

/// Entry into the ball around `centre`. The distance from the line is measured at its foot, where little cancels.
fn enter_ball(o: Vec3, d: Vec3, centre: Vec3, radius: f32) -> Option<f32> {
    let to_centre = centre - o;
    let foot = to_centre.dot(d);
    let inside = radius * radius - (to_centre - foot * d).length_squared();
    (inside >= 0.0).then(|| foot - inside.sqrt())
}

/// Entry into all points within `radius` of the segment from -`half` to `half` on y.
fn enter_capsule(o: Vec3, d: Vec3, radius: f32, half: f32) -> Option<(f32, Vec3)> {
    let flat = d.x * d.x + d.z * d.z;
    let is_ball = half == 0.0;
    let middle = |t: f32| Vec3::Y * (o.y + t * d.y).clamp(-half, half);
    let normal = |t: f32| (o + t * d - middle(t)).normalize_or(Vec3::Y);
    if flat > 1e-12 && !is_ball {
        let foot = -(o.x * d.x + o.z * d.z) / flat;
        let aside = (o.x + foot * d.x) * (o.x + foot * d.x) + (o.z + foot * d.z) * (o.z + foot * d.z);
        let inside = radius * radius - aside;
        if inside < 0.0 {
            return None;
        }
        let t = foot - (inside / flat).sqrt();
        if (o.y + t * d.y).abs() <= half {
            return Some((t, normal(t)));
        }
    }
    // The line enters the endless cylinder beyond an end, so the capsule, if at all, through a ball.
    let end = |y: f32| enter_ball(o, d, Vec3::Y * y, radius);
    let t =
        if is_ball { end(0.0)? } else { [end(-half), end(half)].into_iter().flatten().reduce(f32::min)? };
    Some((t, normal(t)))
}

/// Entry into the cuboid of half size `half` whose edges are rounded by `round`.
fn enter_box(o: Vec3, d: Vec3, half: Vec3, round: f32) -> Option<(f32, Vec3)> {
    let ray = Ray::new(o, d);
    let side = half * Vec3::from_array(d.to_array().map(|d| 1_f32.copysign(d)));
    let enter = (-side - o) * ray.inverse;
    let mut t = enter.max_element();
    let end = ((side - o) * ray.inverse).min_element();
    if t > end {
        return None;
    }
    let axis = if t == enter.x {
        Vec3::X
    } else if t == enter.y {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let face = -axis * d.dot(axis).signum();
    if round < 1e-4 * half.max_element() {
        return Some((t, face));
    }
    let core = half - Vec3::splat(round);
    let beyond = |t: f32| {
        let p = o + t * d;
        p - p.clamp(-core, core)
    };
    // On the flat part the sharp box is right; near edges and corners go on by the distance, which never oversteps.
    for _ in 0..MOST_MARCHES {
        let away = beyond(t).length() - round;
        if away < 1e-4 * round {
            return Some((t, beyond(t).normalize_or(face)));
        }
        t += away;
        if t > end {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use taffeta::math::random::Random;

    /// Signed distance from the surface, local, negative inside: another way to tell where a solid is.
    fn distance(shape: Shape, round: f32, p: Vec3) -> f32 {
        match shape {
            Shape::Plane => p.y,
            Shape::Sphere { radius } => p.length() - radius as f32,
            Shape::Capsule { radius, half_length } => {
                let on_axis = Vec3::Y * p.y.clamp(-half_length as f32, half_length as f32);
                (p - on_axis).length() - radius as f32
            }
            Shape::Box { half_size } => {
                let beyond = p.abs() - (half_size.as_vec3() - Vec3::splat(round));
                beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0) - round
            }
        }
    }

    #[test]
    fn solids_are_entered_where_sampling_along_the_ray_enters_them() {
        let mut random = Random::new(3);
        let shapes = [
            (Shape::Sphere { radius: 0.4 }, 0.0),
            (Shape::Capsule { radius: 0.2, half_length: 0.5 }, 0.0),
            (Shape::Box { half_size: DVec3::new(0.5, 0.2, 0.3) }, 0.0),
            (Shape::Box { half_size: DVec3::new(0.5, 0.2, 0.3) }, 0.04),
        ];
        for (shape, edge) in shapes {
            let round = 1.21 * edge as f32;
            let pose = Pose::from_degrees(DVec3::new(0.3, -0.2, 0.1), DVec3::new(30.0, 50.0, -20.0));
            let solid = Solid::new(&PosedShape { shape, pose }, DVec3::ZERO, edge).unwrap();
            let local = |p: Vec3| pose.to_local(p.as_dvec3()).as_vec3();
            let mut met = 0;
            for k in 0..400 {
                let mut vector =
                    || Vec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0) as f32));
                let origin = 2.0 * vector().normalize();
                let direction = if k == 0 { Vec3::Y } else { (vector() - origin).normalize() };
                let ray = Ray::new(origin, direction);
                let sampled = (0..8000)
                    .map(|i| i as f32 * 5e-4)
                    .find(|t| distance(shape, round, local(ray.at(*t))) < 0.0);
                match (solid.meet(&ray, 0.0, 10.0), sampled) {
                    (Some((t, normal)), Some(at)) => {
                        met += 1;
                        assert!((t - at).abs() < 1e-3, "{shape:?}: entered at {t}, sampled {at}");
                        assert!(normal.dot(direction) < 1e-3 && (normal.length() - 1.0).abs() < 1e-5);
                        let out = distance(shape, round, local(ray.at(t) + 1e-3 * normal));
                        assert!((out - 1e-3).abs() < 1e-4, "{shape:?}: the normal leads {out} away");
                        assert!(solid.meet(&Ray::new(ray.at(t + 1e-3), direction), 0.0, 10.0).is_none());
                    }
                    (None, None) => {}
                    // A graze may fall between two samples.
                    (Some((t, normal)), None) => assert!(normal.dot(direction) > -0.1, "{shape:?} at {t}"),
                    (None, Some(at)) => panic!("{shape:?}: missed, sampled {at}"),
                }
            }
            assert!(met > 50, "{shape:?}: only {met} rays of 400 met it");
        }
    }

    #[test]
    fn a_plane_is_seen_from_outside_alone() {
        let plane = Plane::new(&Pose::from_degrees(DVec3::Y, DVec3::ZERO), DVec3::ZERO).unwrap();
        let down = Ray::new(Vec3::new(3.0, 4.0, 0.0), Vec3::NEG_Y);
        assert_eq!(plane.meet(&down, 0.0, 10.0), Some(3.0));
        assert_eq!(plane.meet(&down, 0.0, 2.0), None);
        assert_eq!(plane.meet(&Ray::new(Vec3::ZERO, Vec3::Y), 0.0, 10.0), None);
    }

    #[test]
    fn what_has_no_size_is_no_solid() {
        let body = |shape| PosedShape { shape, pose: Pose::IDENTITY };
        let solid = |shape| Solid::new(&body(shape), DVec3::ZERO, 0.0);
        assert!(solid(Shape::Plane).is_none());
        assert!(solid(Shape::Sphere { radius: f64::NAN }).is_none());
        assert!(solid(Shape::Box { half_size: DVec3::new(1.0, 0.0, 1.0) }).is_none());
    }
}
