//! Garments before anything moves: panels that are clear of one another, basting, letting out.

use std::collections::BTreeMap;
use taffeta::check::{Surface, against_mesh, self_intersections};
use taffeta::math::DVec3;
use taffeta::model::{Form, Model, State};
use taffeta_scene::build::shapes;
use taffeta_scene::{
    Ball, Collider, Garment, GarmentPin, Mesh, MeshBody, Panel, PanelEdge, Scene, Seam, UpAxis, build,
};

/// A square of 0.6 m around the origin of its drawing.
fn square(name: &str, position: [f64; 3], rotation: [f64; 3]) -> Panel {
    let corners = [[0.3, -0.3], [0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3]];
    let edge =
        |(k, to): (usize, &[f64; 2])| PanelEdge { name: k.to_string(), to: *to, ..PanelEdge::default() };
    Panel {
        name: name.into(),
        start: [-0.3, -0.3],
        edge: corners.iter().enumerate().map(edge).collect(),
        position,
        rotation,
        ..Panel::default()
    }
}

/// A ball of 0.15 m in a scene with these garments.
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

/// Two squares of this width, one behind the body, sewn along both sides and above: a hood.
fn hood(width: f64, edge_length: f64, let_out: f64) -> Garment {
    let narrow = |mut panel: Panel| {
        let to_width = |x: &mut [f64; 2]| x[0] *= width / 0.6;
        to_width(&mut panel.start);
        panel.edge.iter_mut().for_each(|edge| to_width(&mut edge.to));
        panel
    };
    let panel =
        [square("front", [0.0, 0.0, 0.4], [0.0; 3]), square("back", [0.0, 0.0, -0.4], [0.0, 180.0, 0.0])];
    let seam = |front: u32, back: u32| Seam {
        join: [format!("front.{front}"), format!("back.{back}")],
        gather: true,
        ..Seam::default()
    };
    // Edges are named after the corner that they end at: 1 is the right side, 3 the left one as drawn.
    let seam = vec![seam(1, 3), seam(3, 1), seam(2, 2)];
    Garment {
        panel: panel.map(narrow).to_vec(),
        seam,
        baste: true,
        let_out,
        edge_length,
        ..Garment::default()
    }
}

/// One piece without seams that could open, no intersections, and cloth on both sides of the body.
fn assert_worn(model: &Model, state: &State) {
    assert_eq!((model.cloths.len(), model.links.ends.len()), (1, 0));
    assert_eq!(self_intersections(&state.positions, &model.triangles), [[0; 2]; 0]);
    let Form::Mesh(mesh) = &model.colliders[0].form else { panic!("a mesh") };
    let cloth = Surface { positions: &state.positions, triangles: &model.triangles };
    let contact = against_mesh(cloth, Surface { positions: &body(model, 0.0), triangles: mesh.triangles() });
    assert!(contact.min_gap > 0.0, "{contact:?}");
    let middle = state.positions.iter().filter(|x| x.x.abs() < 0.1 && x.y.abs() < 0.1);
    let (front, back): (Vec<&DVec3>, Vec<&DVec3>) = middle.partition(|x| x.z > 0.0);
    assert!(!front.is_empty() && !back.is_empty());
}

#[test]
fn a_basted_garment_is_closed_around_its_body() {
    // Cells of 0.05 m are basted as they are, finer ones come from coarse ones.
    for edge_length in [0.05, 0.018] {
        let (scene, meshes) = scene(hood(0.6, edge_length, 0.0));
        let (model, state) = build(&scene, &meshes).unwrap();
        assert_worn(&model, &state);
        let again = build(&scene, &meshes).unwrap().1;
        assert_eq!(state.positions, again.positions);
    }
}

#[test]
fn what_does_not_fit_is_let_out_where_it_is_too_tight_and_nowhere_else() {
    // 0.85 m around a ball of 0.94 m.
    let lengths = |let_out: f64| {
        let (scene, meshes) = scene(hood(0.425, 0.05, let_out));
        let (model, _) = build(&scene, &meshes).unwrap();
        (model.rest_lengths.clone(), model.cloths[0].let_out)
    };
    let (cut, as_cut) = lengths(0.0);
    assert_eq!(as_cut, 0.0, "as it was cut");
    let changes = |let_out: f64| {
        let (lengths, told) = lengths(let_out);
        let shares: Vec<f64> = lengths.iter().zip(&cut).map(|(length, cut)| length / cut - 1.0).collect();
        let most = shares.iter().map(|share| share.abs()).fold(0.0, f64::max);
        assert!((most - told).abs() < 1e-12, "{told} is told of {most}");
        let unchanged = shares.iter().filter(|share| share.abs() < 1e-12).count();
        (most, unchanged as f64 / shares.len() as f64)
    };
    let (most, unchanged) = changes(0.5);
    assert!((0.05..0.4).contains(&most), "{most}");
    assert!((0.2..0.95).contains(&unchanged), "{unchanged}");
    assert!((changes(0.03).0 - 0.03).abs() < 1e-12, "no more than is allowed");
}

#[test]
fn a_basted_garment_weighs_as_much_as_its_panels_and_is_pinned_where_they_are() {
    let mut garment = hood(0.6, 0.05, 0.0);
    garment.pin =
        vec![GarmentPin { edges: vec!["front.2".into(), "back.2".into()], ..GarmentPin::default() }];
    let of = |garment: Garment| {
        let (scene, meshes) = scene(garment);
        build(&scene, &meshes).unwrap().0
    };
    let sewn = of(garment.clone());
    let panels = of(Garment { baste: false, ..garment });
    let weight = |model: &Model| model.mass.iter().sum::<f64>();
    assert!((weight(&sewn) / weight(&panels) - 1.0).abs() < 1e-12);
    assert_eq!(sewn.triangles.len(), panels.triangles.len());
    let stiffness = |model: &Model| model.springs.stiffness.iter().sum::<f64>();
    assert!((stiffness(&sewn) / stiffness(&panels) - 1.0).abs() < 1e-12);
    assert!(sewn.edges.is_sorted(), "as all that looks for edges expects");
    // Both sides of the seam above are one row of particles.
    assert_eq!(2 * sewn.pins[0].particles.len(), panels.pins[0].particles.len());
}

#[test]
fn panels_of_different_fabrics_are_joined_by_stitches() {
    let mut garment = hood(0.6, 0.05, 0.0);
    garment.panel[1].fabric = Some("silk".into());
    let (scene, meshes) = scene(garment);
    let (model, state) = build(&scene, &meshes).unwrap();
    let open = |ends: &[u32; 2]| {
        let [a, b] = ends.map(|i| state.positions[i as usize]);
        a.distance(b)
    };
    assert_eq!(model.cloths.len(), 2);
    let worst = model.links.ends.iter().map(open).fold(0.0, f64::max);
    assert!(worst > 0.0 && worst < 1e-3, "{worst} m open");
}
