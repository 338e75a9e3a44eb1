//! How a free body gives way to a push.

use taffeta::collide::rigid::free::{Free, mean};
use taffeta::math::{DVec3, Pose};
use taffeta::model::rigid::Solid;
use taffeta::model::{Form, RigidBody, Shape};

#[test]
fn a_push_gives_the_momentum_that_it_has_and_moves_points_as_it_says() {
    let solid = Solid::of(&Form::Closed(Shape::Box { half_size: DVec3::new(0.1, 0.3, 0.2) })).unwrap();
    let body = RigidBody::new(&solid, 2.0, 0, 0, 0.0);
    let free = Free { body, object: 0, points: 4..4, weights: vec![] };
    let nodes = free.body.nodes_at(&Pose::from_degrees(DVec3::ONE, DVec3::new(20.0, 40.0, -70.0)));
    let lie = free.lie(&nodes);
    let (arm, impulse) = (DVec3::new(0.05, -0.2, 0.1), DVec3::new(3.0, 1.0, -2.0));
    let moves = lie.moves(arm, impulse);
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    for (x, way) in nodes.iter().zip(moves) {
        linear += 0.5 * way;
        angular += (*x - lie.centre).cross(0.5 * way);
    }
    assert!(linear.distance(impulse) < 1e-13 && angular.distance(arm.cross(impulse)) < 1e-13);
    let point = mean(&lie.weights(arm), &moves);
    assert!(point.distance(lie.give(arm) * impulse) < 1e-13);
    assert!(mean(&lie.weights(arm), &nodes).distance(lie.centre + arm) < 1e-14);
}
