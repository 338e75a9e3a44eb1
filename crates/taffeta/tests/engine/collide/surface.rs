//! What a body is among all that can touch.

use taffeta::collide::broad_phase::one_ring_culler::OneRingCuller;
use taffeta::collide::surface::{CollisionSurface, NO_EDGE};
use taffeta::math::DVec3;
use taffeta_scene::build;
use taffeta_scene::{BoxShape, Cloth, Collider, Scene, Sheet};

/// The points [m] and triangles of a box as they stand in the surface of a model.
fn cuboid(size: [f64; 3]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 2, rows: 2, slack: 1.0 };
    let scene = Scene {
        cloth: vec![Cloth { sheet: Some(sheet), position: [0.0, 9.0, 0.0], ..Cloth::default() }],
        collider: vec![Collider { cuboid: Some(BoxShape { size }), ..Collider::default() }],
        ..Scene::default()
    };
    let (model, _) = build(&scene, &Default::default()).unwrap();
    let surface = CollisionSurface::new(&model);
    let body = surface.objects.iter().find(|object| object.body.is_some()).unwrap();
    let first = body.points.start as u32;
    let triangles = surface.triangles[body.triangles.clone()].iter().map(|t| t.map(|i| i - first));
    (surface.rest[body.points.clone()].to_vec(), triangles.collect())
}

#[test]
fn a_box_is_closed_and_looks_outwards_and_its_features_stand_once() {
    let (points, triangles) = cuboid([1.0, 2.0, 3.0]);
    let corners = triangles.iter().map(|t| t.map(|i| points[i as usize]));
    let volume: f64 = corners.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    let surface = CollisionSurface::of_parts(0, points, triangles, vec![]);
    assert!((volume - 8.0 * 0.75).abs() < 1e-12);
    assert_eq!(surface.edges.len(), 18);
    assert_eq!(surface.owned.iter().flat_map(|o| o.corners).filter(|c| *c).count(), 8);
    assert_eq!(surface.owned.iter().flat_map(|o| o.edges).filter(|e| *e != NO_EDGE).count(), 18);
}

#[test]
#[should_panic(expected = "triangles name points of the surface")]
fn neighbours_that_are_no_points_of_the_surface_are_refused() {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 4, rows: 4, slack: 1.0 };
    let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
    let mut surface = CollisionSurface::new(&build(&scene, &Default::default()).unwrap().0);
    surface.points -= 1;
    OneRingCuller::new(&surface);
}
