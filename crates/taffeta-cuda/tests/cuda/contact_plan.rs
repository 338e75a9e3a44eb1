//! What may touch, as it is laid out for the device: every feature has its place, and what two objects keep is what the engine says.

use std::collections::BTreeSet;
use taffeta::collide::surface::{CollisionSurface, NO_EDGE};
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model};
use taffeta_cuda::{ContactPlan, Plan};
use taffeta_scene::{
    BoxShape, Cloth, Collider, Disc, Ease, Keyframe, Pin, PlaneShape, Scene, Sheet, SphereShape, build,
};

fn model(cloth_cloth: bool) -> Model {
    let sheet = Sheet { width: 1.0, height: 0.7, columns: 23, rows: 17, slack: 1.0 };
    let pin = Pin { vertices: vec![3], ..Pin::default() };
    let sheet = Cloth { sheet: Some(sheet), pin: vec![pin], position: [0.0, 2.0, 0.0], ..Cloth::default() };
    let disc =
        Cloth { disc: Some(Disc { radius: 0.5, rings: 7 }), position: [0.0, 3.0, 0.0], ..Cloth::default() };
    let named = |name: &str| Collider { name: name.into(), ..Collider::default() };
    let key = |time: f64, x: f64| Keyframe { time, shift: [x, 0.0, 0.0], turn: [0.0; 3], ease: Ease::Linear };
    let ball = Collider {
        sphere: Some(SphereShape { radius: 0.4 }),
        keyframe: vec![key(0.0, 0.0), key(1.0, 0.5)],
        ..named("ball")
    };
    let cuboid =
        Collider { cuboid: Some(BoxShape { size: [0.2; 3] }), position: [0.0, 0.8, 0.0], ..named("box") };
    let floor = Collider { plane: Some(PlaneShape {}), position: [0.0, -1.0, 0.0], ..named("floor") };
    let contact = taffeta_scene::Contact { cloth_cloth };
    let scene =
        Scene { contact, cloth: vec![sheet, disc], collider: vec![ball, cuboid, floor], ..Scene::default() };
    build(&scene, &Default::default()).unwrap().0
}

#[test]
fn every_triangle_stands_once_with_what_it_owns() {
    let model = model(true);
    let (plan, surface) = (ContactPlan::new(&model), CollisionSurface::new(&model));
    let mut wanted = BTreeSet::new();
    for (t, owned) in surface.triangles.iter().zip(&surface.owned) {
        let flags = (0..3)
            .map(|k| i32::from(owned.corners[k]) << k | i32::from(owned.edges[k] != NO_EDGE) << (3 + k));
        let [a, b, c] = t.map(|p| p as i32);
        wanted.insert([a, b, c, flags.sum::<i32>() + (i32::from(owned.is_face) << 6)]);
    }
    let there: Vec<_> = plan.triangles.iter().filter(|t| t[0] >= 0).copied().collect();
    assert_eq!(there.len(), surface.triangles.len());
    assert_eq!(there.into_iter().collect::<BTreeSet<_>>(), wanted);
    let particles = model.particle_count() as i32;
    for (place, t) in plan.triangles.iter().enumerate().filter(|(_, t)| t[0] >= 0) {
        assert_eq!(t[0] < particles, place < plan.cloth_triangles, "cloths come first");
    }
}

#[test]
fn boxes_of_a_tree_hold_all_leaves_and_have_a_place_of_their_own() {
    let plan = ContactPlan::new(&model(true));
    let mut taken = vec![false; plan.boxes];
    for (tree, leaves) in
        plan.trees.iter().zip([plan.cloth_triangles, plan.triangles.len() - plan.cloth_triangles])
    {
        assert_eq!(tree.size[0] as usize, leaves);
        for level in 0..tree.levels as usize {
            if level > 0 {
                assert_eq!(tree.size[level], (tree.size[level - 1] + 7) / 8);
            }
            for place in tree.first[level]..tree.first[level] + tree.size[level] {
                assert!(!std::mem::replace(&mut taken[place as usize], true), "box {place} is taken twice");
            }
        }
        assert_eq!(tree.size[tree.levels as usize - 1], 1, "all of a tree is below one box");
    }
    assert!(taken.into_iter().all(|taken| taken));
}

#[test]
fn triangles_that_stand_side_by_side_lie_side_by_side() {
    let model = model(true);
    let plan = ContactPlan::new(&model);
    let across = |group: &[[i32; 4]]| {
        let corners = group.iter().filter(|t| t[0] >= 0).flat_map(|t| &t[..3]);
        let corners: Vec<DVec3> = corners.map(|p| model.rest_positions[*p as usize]).collect();
        corners.iter().flat_map(|a| corners.iter().map(|b| a.distance(*b))).fold(0.0, f64::max)
    };
    let edge = model.cloths[0].longest_edge;
    let sheet = model.cloths[0].triangles.len() / 64 * 64;
    for (size, most) in [(8, 6.0), (64, 15.0)] {
        let widest = plan.triangles[..sheet].chunks(size).map(across).fold(0.0, f64::max);
        assert!(widest < most * edge, "{size} triangles lie over {widest} m, an edge is {edge} m");
    }
}

#[test]
fn objects_keep_what_the_engine_says() {
    let model = model(true);
    let (plan, surface) = (ContactPlan::new(&model), CollisionSurface::new(&model));
    let objects = surface.objects.len();
    for (k, kept) in plan.kept.iter().enumerate() {
        let engine = surface.between(k / objects, k % objects);
        assert_eq!([kept.distance, kept.floor, kept.solid], [engine.distance, engine.floor, engine.solid]);
    }
    // The ball and the floor are met by particles of the sheet, the box by features.
    let with = |body: usize| plan.kept[2 + body].by_particles;
    assert_eq!([with(1), with(2)], [0, 1], "box, floor");
    let grown = |object: usize| f64::from(plan.grown[object]);
    for (k, kept) in plan.kept.iter().enumerate().filter(|(k, _)| k / objects < 2) {
        assert!(
            grown(k / objects) + grown(k % objects) >= kept.distance,
            "boxes that meet nowhere are further apart than is kept"
        );
    }
    assert_eq!(plan.meetings.len(), 2 * plan.solids());
    assert!(
        plan.meetings[2].floor > 0.0 && plan.meetings[0].floor < -1e200,
        "only half-spaces have a floor of their own"
    );
}

#[test]
fn solids_and_points_of_bodies_move_as_their_keyframes_say() {
    let model = model(false);
    let plan = ContactPlan::new(&model);
    let (mut points, mut solids) = (Vec::new(), Vec::new());
    plan.place_bodies(&model, 0.5, &mut points);
    plan.place_solids(&model, 0.4, 0.1, &mut solids);
    assert_eq!(
        (points.len(), solids.len()),
        (1 + 8, 3),
        "a ball is a point, a box has corners, a plane nothing"
    );
    assert!(points[0].distance(DVec3::new(0.25, 0.0, 0.0)) < 1e-12);
    let ball = solids[0];
    assert!((ball.origin[0] - 0.25).abs() < 1e-12 && (ball.shift[0] - 0.05).abs() < 1e-12);
    assert_eq!((ball.half_length, ball.radius), (0.0, 0.4));
    assert!(solids[2].half_length < 0.0, "a half-space has no segment");
    assert_eq!(solids[2].shift, [0.0; 3]);
}

#[test]
fn points_of_bodies_are_led_after_the_pins() {
    let model = model(true);
    let plan = Plan::new(&model, &Environment::new(&model)).unwrap();
    let n = model.particle_count();
    assert_eq!((plan.pins, plan.mass.len(), plan.pin.len()), (1 + 9, n + 9, n + 9));
    assert_eq!(plan.around_from.len(), n + 10);
    let numbers: BTreeSet<i32> = plan.pin.iter().copied().filter(|pin| *pin >= 0).collect();
    assert_eq!(numbers, (0..10).collect());
    assert!(plan.mass[n..].iter().all(|mass| *mass == [0.0; 2]));
}
