//! Bodies that intersect.

use taffeta::check::{PlacedBody, body_intersections};
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Form, Shape};

#[test]
fn bodies_intersect_from_where_they_touch() {
    let forms = [
        Form::Closed(Shape::Sphere { radius: 0.5 }),
        Form::Closed(Shape::Capsule { radius: 0.5, half_length: 0.3 }),
        Form::Closed(Shape::Box { half_size: DVec3::new(0.5, 0.7, 0.2) }),
    ];
    let at = |form, x: f64, is_free| PlacedBody {
        form,
        pose: Pose { position: DVec3::X * x, ..Pose::IDENTITY },
        is_free,
    };
    for a in &forms {
        for b in &forms {
            for (apart, meets) in [(1.001, false), (0.999, true), (0.0, true)] {
                let found = body_intersections(&[at(a, 0.0, true), at(b, apart, false)], 0.0);
                assert_eq!(found.len(), usize::from(meets), "{a:?} {b:?} {apart}");
            }
        }
        assert_eq!(body_intersections(&[at(a, 0.0, false), at(a, 0.1, false)], 0.0), [[0; 2]; 0]);
        let mut wall = at(&Form::Closed(Shape::Plane), 0.501, false);
        wall.pose.rotation = Pose::from_degrees(DVec3::ZERO, DVec3::new(0.0, 0.0, 90.0)).rotation;
        assert_eq!(body_intersections(&[at(a, 0.0, true), wall], 0.0).len(), 0);
        wall.pose.position.x = 0.499;
        assert_eq!(body_intersections(&[wall, at(a, 0.0, true)], 0.0), [[0, 1]]);
    }
}
