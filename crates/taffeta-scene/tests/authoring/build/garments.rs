//! Garments before anything moves: panels that are clear of one another, bodies that start slim, basting.

use std::collections::BTreeMap;
use taffeta::check::{Surface, against_mesh};
use taffeta::math::DVec3;
use taffeta::model::{Form, Model, State};
use taffeta_scene::build::shapes;
use taffeta_scene::{
    Ball, Collider, Garment, Mesh, MeshBody, Panel, PanelEdge, Scene, Seam, Slim, UpAxis, build,
};

/// A square of 0.6 m around the origin of its drawing.
fn square(name: &str, position: [f64; 3], rotation: [f64; 3]) -> Panel {
    let corners = [[0.3, -0.3], [0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3]];
    let edge =
        |(k, to): (usize, &[f64; 2])| PanelEdge { name: k.to_string(), to: *to, via: vec![], bulge: None };
    Panel {
        name: name.into(),
        fabric: None,
        warp: 90.0,
        start: [-0.3, -0.3],
        edge: corners.iter().enumerate().map(edge).collect(),
        dart: vec![],
        wrap: None,
        position,
        rotation,
    }
}

/// A ball of 0.15 m that starts slim, in a scene with these garments.
fn scene(garment: Garment) -> (Scene, BTreeMap<String, Mesh>) {
    let mesh = MeshBody {
        file: "ball".into(),
        scale: 1.0,
        up: UpAxis::Y,
        weld: 0.0,
        thickness: 1e-3,
        sequence: None,
        animation: None,
        cache: None,
        slim: Some(Slim { girth: 0.1, until: 0.5, growing: 2.0 }),
    };
    let collider = Collider { mesh: Some(mesh), ..Collider::default() };
    let ball = shapes::ball(&Ball { radius: 0.15, rings: 16 }).rest;
    let scene = Scene { garment: vec![garment], collider: vec![collider], ..Scene::default() };
    (scene, BTreeMap::from([("ball".into(), ball)]))
}

fn body(model: &Model, time: f64) -> Vec<DVec3> {
    let Form::Mesh(mesh) = &model.colliders[0].form else { panic!("a mesh") };
    mesh.points(time, &model.colliders[0].pose(time))
}

fn gap(model: &Model, state: &State, [a, b]: [usize; 2]) -> f64 {
    let of = |piece: usize| {
        let cloth = &model.cloths[piece];
        Surface { positions: &state.positions, triangles: &model.triangles[cloth.triangles.clone()] }
    };
    against_mesh(of(a), of(b)).min_gap
}

#[test]
fn a_body_starts_slim_and_has_its_size_when_it_has_grown() {
    let panel = vec![square("far", [0.0, 0.0, 2.0], [0.0; 3])];
    let (scene, meshes) = scene(Garment { panel, ..Garment::default() });
    let (model, _) = build(&scene, &meshes).unwrap();
    let radii = |time: f64| {
        let points = body(&model, time);
        let lengths = || points.iter().map(|p| p.length());
        [lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max)]
    };
    // A tenth, and what smoothing leaves of a ball of few points.
    let [least, slim] = radii(0.0);
    assert!((0.1 * 0.15..0.5 * 0.15).contains(&slim) && least > 0.6 * slim, "{least} to {slim} m");
    for (time, radius) in [(0.5, slim), (1.5, 0.5 * (slim + 0.15)), (2.5, 0.15), (9.0, 0.15)] {
        assert!(
            (radii(time)[1] / radius - 1.0).abs() < 1e-3,
            "{time} s: {:?} and not {radius} m",
            radii(time)
        );
    }
}

#[test]
fn panels_that_touch_are_moved_apart_and_others_stay() {
    let beside = |x: f64| square(if x < 0.0 { "left" } else { "right" }, [x, 0.0, 1.0], [0.0; 3]);
    let start = |x: f64| {
        let panel = vec![beside(-x), beside(x)];
        let (scene, meshes) = scene(Garment { panel, ..Garment::default() });
        build(&scene, &meshes).unwrap()
    };
    let (model, state) = start(0.3);
    assert!((3e-3..2e-2).contains(&gap(&model, &state, [0, 1])));
    assert!(state.positions.iter().all(|x| x.z == 1.0), "apart along the line between them");
    let (_, state) = start(0.31);
    let most = state.positions.iter().map(|x| x.x).fold(f64::NEG_INFINITY, f64::max);
    assert!((most - 0.61).abs() < 1e-12, "nothing to do, nothing moved: {most}");
}

#[test]
fn a_basted_garment_is_closed_around_its_body() {
    // Two squares, one behind the body, sewn along both sides and above: a hood.
    let panel =
        vec![square("front", [0.0, 0.0, 0.4], [0.0; 3]), square("back", [0.0, 0.0, -0.4], [0.0, 180.0, 0.0])];
    let seam = |front: u32, back: u32| Seam {
        join: [format!("front.{front}"), format!("back.{back}")],
        reverse: false,
        gather: true,
    };
    // Edges are named after the corner that they end at: 1 is the right side, 3 the left one as drawn.
    let seam = vec![seam(1, 3), seam(3, 1), seam(2, 2)];
    let (scene, meshes) = scene(Garment { panel, seam, baste: 1.6, edge_length: 0.05, ..Garment::default() });
    let (model, state) = build(&scene, &meshes).unwrap();
    let open =
        |ends: &[u32; 2]| state.positions[ends[0] as usize].distance(state.positions[ends[1] as usize]);
    let worst = model.links.ends.iter().map(open).fold(0.0, f64::max);
    assert!(worst < 6e-3, "{worst} m open");
    let Form::Mesh(mesh) = &model.colliders[0].form else { panic!("a mesh") };
    let points = body(&model, 0.0);
    let cloth = Surface { positions: &state.positions, triangles: &model.triangles };
    let contact = against_mesh(cloth, Surface { positions: &points, triangles: mesh.triangles() });
    assert!(contact.min_gap > 5e-3, "{}", contact.min_gap);
    // The body is inside: there is cloth on both sides of it.
    let middle = state.positions.iter().filter(|x| x.x.abs() < 0.1 && x.y.abs() < 0.1);
    let (front, back): (Vec<&DVec3>, Vec<&DVec3>) = middle.partition(|x| x.z > 0.0);
    assert!(!front.is_empty() && !back.is_empty());
}
