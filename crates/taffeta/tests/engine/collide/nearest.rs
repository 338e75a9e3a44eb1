//! Gaps and normals of closed-form solids.

use taffeta::collide::rigid::nearest::{Vicinity, nearest};
use taffeta::math::{DVec3, Pose, random::Random};
use taffeta::model::{PosedShape, Shape};

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

#[test]
fn the_vicinity_of_a_solid_has_all_that_is_near() {
    let pose = Pose::from_degrees(DVec3::new(0.1, -0.2, 0.3), DVec3::new(20.0, 50.0, -70.0));
    let mut random = Random::new(6);
    for (shape, reach) in SHAPES.into_iter().flat_map(|shape| [-0.1, 0.0, 0.05].map(|reach| (shape, reach))) {
        let body = PosedShape { shape, pose };
        let vicinity = Vicinity::of(&body, reach);
        let (mut near, mut far) = (0, 0);
        for _ in 0..2000 {
            let p = pose.position + DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)));
            let is_near = nearest(&body, p, reach).is_some();
            assert!(!is_near || vicinity.has(p), "{shape:?} {reach} {p}");
            near += u32::from(is_near);
            far += u32::from(!vicinity.has(p));
        }
        assert!(near > 0 && far > 100, "{shape:?} {reach}: {near} near, {far} far");
    }
}
