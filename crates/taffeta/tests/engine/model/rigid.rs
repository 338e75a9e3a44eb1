//! Solids and the four particles that stand for them.

use taffeta::math::{DMat3, DVec3, Pose, random::Random};
use taffeta::model::rigid::{NotSolid, Solid};
use taffeta::model::{Form, RigidBody, Shape};
use taffeta_scene::{Mesh, MeshShape};

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Volume, centre and spread by throwing points into a cube around the solid.
fn thrown(inside: impl Fn(DVec3) -> bool, half: f64) -> Solid {
    let mut random = Random::new(5);
    let (count, mut hits) = (400_000, Vec::new());
    for _ in 0..count {
        let p = DVec3::from_array(std::array::from_fn(|_| random.between(-half, half)));
        if inside(p) {
            hits.push(p);
        }
    }
    let n = hits.len() as f64;
    let centre = hits.iter().sum::<DVec3>() / n;
    let spread = hits.iter().fold(DMat3::ZERO, |sum, p| sum + outer(*p - centre)) * (1.0 / n);
    Solid { volume: (2.0 * half).powi(3) * n / f64::from(count), centre, spread }
}

fn assert_close(a: &Solid, b: &Solid, tolerance: f64) {
    assert!((a.volume / b.volume - 1.0).abs() < tolerance, "{a:?} {b:?}");
    let size = b.volume.cbrt();
    assert!(a.centre.distance(b.centre) < tolerance * size, "{a:?} {b:?}");
    let off = (a.spread - b.spread).to_cols_array().iter().fold(0.0, |most: f64, c| most.max(c.abs()));
    assert!(off < tolerance * size * size, "{a:?} {b:?}");
}

#[test]
fn closed_forms_have_the_mass_of_points_thrown_into_them() {
    let ball = Solid::of(&Form::Closed(Shape::Sphere { radius: 0.9 })).unwrap();
    assert_close(&ball, &thrown(|p| p.length() < 0.9, 1.0), 6e-3);
    let half_size = DVec3::new(0.3, 0.5, 0.9);
    let cuboid = Solid::of(&Form::Closed(Shape::Box { half_size })).unwrap();
    assert_close(&cuboid, &thrown(|p| p.abs().cmple(half_size).all(), 1.0), 1e-2);
    let capsule = Solid::of(&Form::Closed(Shape::Capsule { radius: 0.4, half_length: 0.5 })).unwrap();
    let near = |p: DVec3| p.distance(DVec3::Y * p.y.clamp(-0.5, 0.5)) < 0.4;
    assert_close(&capsule, &thrown(near, 1.0), 1e-2);
}

fn of_file(triangles: Vec<[u32; 3]>, positions: Vec<DVec3>) -> Form {
    let mesh = Mesh { positions, triangles, ..Mesh::default() };
    let shape = MeshShape { file: "a".into(), scale: 1.0, up: Default::default(), weld: 0.0 };
    let meshes = [("a".to_string(), mesh)].into();
    Form::Mesh(taffeta_scene::build::rigid_surface(&shape, &meshes, "body[0]").unwrap())
}

#[test]
fn a_mesh_has_the_mass_of_its_solid_wherever_its_origin_is() {
    // A box with the corner (0, 0, 0) cut off through three neighbours is a box less a tetrahedron.
    let shift = DVec3::new(3.0, -1.0, 2.0);
    let corner = |k: u32| shift + DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
    let positions: Vec<DVec3> = (0..8).map(corner).collect();
    let faces = vec![
        [1, 4, 2],
        [1, 3, 7],
        [1, 7, 5],
        [1, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [2, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [4, 6, 2],
    ];
    let solid = Solid::of(&of_file(faces.clone(), positions.clone())).unwrap();
    let inside = |p: DVec3| {
        let p = p + 0.5;
        p.min_element() > 0.0 && p.max_element() < 1.0 && p.element_sum() > 1.0
    };
    let mut twin = thrown(inside, 0.5);
    twin.centre += shift + 0.5;
    assert!((solid.volume - 5.0 / 6.0).abs() < 1e-12);
    assert_close(&solid, &twin, 6e-3);

    let turned = faces.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    assert!(matches!(Solid::of(&of_file(turned, positions.clone())), Err(NotSolid::InsideOut(_))));
    assert_eq!(
        Solid::of(&of_file(faces[1..].to_vec(), positions.clone())),
        Err(NotSolid::Open([positions[1], positions[2]]))
    );
}

#[test]
fn four_particles_have_the_mass_of_the_solid_and_keep_its_points() {
    let spread = DMat3::from_cols_array(&[0.5, 0.1, 0.05, 0.1, 0.3, -0.07, 0.05, -0.07, 0.2]);
    let solid = Solid { volume: 2.0, centre: DVec3::new(0.1, 0.2, -0.3), spread };
    let body = RigidBody::new(&solid, 6.0, 0, 0, 0.0);
    let placed = Pose::from_degrees(DVec3::new(4.0, 5.0, 6.0), DVec3::new(20.0, -70.0, 130.0));
    let x = body.nodes_at(&placed);
    let centre = x.iter().sum::<DVec3>() / 4.0;
    assert!(centre.distance(placed.to_world(solid.centre)) < 1e-14);
    let turn = DMat3::from_quat(placed.rotation);
    let moved = turn * spread * turn.transpose();
    let of_nodes = x.iter().fold(DMat3::ZERO, |sum, p| sum + outer(*p - centre) * 0.25);
    assert!((of_nodes - moved).to_cols_array().iter().all(|c| c.abs() < 1e-14));
    let point = DVec3::new(0.7, -0.2, 0.4);
    let there = (0..4).fold(DVec3::ZERO, |sum, k| sum + body.weights(point)[k] * x[k]);
    assert!(there.distance(placed.to_world(point)) < 1e-14);
    let back = body.pose(&x);
    assert!(back.to_world(point).distance(placed.to_world(point)) < 1e-13);
}

#[test]
fn what_is_made_rigid_keeps_its_momenta_and_is_not_turned() {
    let solid = Solid::of(&Form::Closed(Shape::Box { half_size: DVec3::new(0.1, 0.3, 0.2) })).unwrap();
    let body = RigidBody::new(&solid, 2.0, 0, 0, 0.0);
    let mut random = Random::new(9);
    let mut any = |size: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-size, size)));
    for _ in 0..50 {
        let x = body.nodes_at(&Pose::from_degrees(any(1.0), any(180.0))).map(|x| x + any(0.02));
        let v: [DVec3; 4] = std::array::from_fn(|_| any(3.0));
        let placed = body.placement(&x);
        assert!(
            (placed.axes.transpose() * placed.axes - DMat3::IDENTITY)
                .to_cols_array()
                .iter()
                .all(|c| c.abs() < 1e-14)
        );
        let (y, u) = (body.nodes_of(&placed), body.rigid_velocities(&placed, &x, &v));
        let sum = |f: &dyn Fn(usize) -> DVec3| (0..4).map(f).sum::<DVec3>();
        assert!(sum(&|k| y[k] - x[k]).length() < 1e-14);
        assert!(sum(&|k| (y[k] - placed.centre).cross(x[k] - y[k])).length() < 1e-14, "no torque");
        assert!(sum(&|k| u[k] - v[k]).length() < 1e-13);
        assert!(
            sum(&|k| (y[k] - placed.centre).cross(u[k]) - (x[k] - placed.centre).cross(v[k])).length()
                < 1e-13
        );
    }
}
