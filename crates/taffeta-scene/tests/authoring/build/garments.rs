//! Garments before anything moves: panels that are clear of one another, basting, letting out.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use taffeta::check::{Surface, against_mesh, self_intersections};
use taffeta::math::{DQuat, DVec3};
use taffeta::model::{Form, Model, State};
use taffeta_scene::build::shapes;
use taffeta_scene::{
    Ball, Collider, Fold, Garment, GarmentPin, Mesh, MeshBody, Panel, PanelEdge, Scene, Seam, UpAxis, build,
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
fn what_has_fine_cells_is_let_down_before_it_starts_unless_it_falls_off() {
    // The mean height at the start.
    let height = |garment: Garment, weightless: f64| {
        let (mut scene, meshes) = scene(garment);
        (scene.weightless, scene.solver.tolerance) = (weightless, 0.02);
        let (model, state) = build(&scene, &meshes).unwrap();
        assert_worn(&model, &state);
        state.positions.iter().map(|x| x.y).sum::<f64>() / state.positions.len() as f64
    };
    // A little wider than the body: it sinks until its upper seam lies on it.
    let hood = hood(0.5, 0.0195, 0.0);
    let mut tube = hood.clone();
    tube.seam.pop();
    // What is to fall only later is not let down before.
    let [let_down, basted] = [0.0, 1.0].map(|weightless| height(hood.clone(), weightless));
    assert!(let_down < basted - 0.05, "{let_down} m, basted at {basted} m");
    assert_eq!(height(tube.clone(), 0.0), height(tube, 1.0));
}

#[test]
fn folds_of_a_panel_lie_where_they_are_drawn_and_stay_when_it_is_basted() {
    let drawn = |baste: bool, warp: f64, angle: f64| {
        let mut garment = Garment { baste, ..hood(0.6, 0.05, 0.0) };
        let fold = Fold { from: [0.0, -0.3], to: [0.0, 0.2], angle, stiffness: 1.0 };
        garment.panel[0] = Panel { warp, fold: vec![fold], ..garment.panel[0].clone() };
        let (scene, meshes) = scene(garment);
        build(&scene, &meshes).unwrap()
    };
    for (baste, warp) in [(false, 90.0), (false, 0.0), (true, 90.0)] {
        let (model, _) = drawn(baste, warp, -60.0);
        let bent: Vec<usize> = (0..model.bends.rest.len()).filter(|b| model.bends.rest[*b] != 0.0).collect();
        // Rows 5 cm apart from -0.3 to 0.2 m, all of them across the line.
        assert_eq!(bent.len(), 11, "basted: {baste}");
        assert_eq!(model.sliders.len(), 11);
        for b in bent {
            assert!((model.bends.rest[b] + 1.0).abs() < 1e-9, "2 sin(30 degrees): {}", model.bends.rest[b]);
            let [p, q, r] = model.bends.points[b].map(|i| model.material[i as usize]);
            // Across the warp, which is up, or along it where it goes across: x is what changes.
            let x = if warp == 90.0 { [-p[1], -q[1], -r[1]] } else { [p[0], q[0], r[0]] };
            assert!(x[1].abs() < 1e-9 && (x[0] - x[2]).abs() > 0.09, "{x:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_let_out_where_it_is_too_tight_and_nowhere_else() {
    // 0.85 m around a ball of 0.94 m.
    let sewn = |let_out: f64| {
        let (scene, meshes) = scene(hood(0.425, 0.05, let_out));
        build(&scene, &meshes).unwrap()
    };
    let (as_cut, state) = sewn(0.0);
    assert_eq!(as_cut.cloths[0].let_out, 0.0, "as it was cut");
    let most_changed = |let_out: f64| {
        let (model, _) = sewn(let_out);
        let shares =
            model.rest_lengths.iter().zip(&as_cut.rest_lengths).map(|(length, cut)| length / cut - 1.0);
        let most = shares.map(f64::abs).fold(0.0, f64::max);
        let told = model.cloths[0].let_out;
        assert!((most - told).abs() < 1e-12, "{told} is told of {most}");
        most
    };
    let most = most_changed(0.5);
    assert!((0.05..0.4).contains(&most), "{most}");
    assert!((most_changed(0.03) - 0.03).abs() < 1e-12, "no more than is allowed");
    let (mut tight, mut fits) = (0, 0);
    let (let_out, _) = sewn(0.5);
    for ((ends, cut), rest) in let_out.edges.iter().zip(&as_cut.rest_lengths).zip(&let_out.rest_lengths) {
        let [a, b] = ends.map(|i| state.positions[i as usize]);
        let length = a.distance(b);
        // Were it any tighter, the body and the lengths would push against one another for ever.
        assert!(length <= rest * (1.0 + 1e-12), "{length} of {rest} m");
        if (length..length / 0.99).contains(cut) {
            assert_eq!(rest, cut);
            fits += 1;
        }
        tight += u32::from(length > *cut);
    }
    assert!(tight > 100 && fits > 20, "{tight} are too tight, {fits} fit");
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

/// A ball that is drawn out to these half lengths [m] and turned about z [rad].
fn ellipsoid(middle: [f64; 3], half: [f64; 3], turned: f64) -> Mesh {
    let mut mesh = shapes::ball(&Ball { radius: 1.0, rings: 16 }).rest;
    for p in &mut mesh.positions {
        *p = DVec3::from(middle) + DQuat::from_rotation_z(turned) * (DVec3::from(half) * *p);
    }
    mesh
}

/// A trunk with arms at 45 degrees, legs and feet.
fn figure() -> Mesh {
    let sides = [-1.0, 1.0].into_iter().flat_map(|side: f64| {
        [
            ellipsoid([0.38 * side, 1.2, 0.0], [0.32, 0.05, 0.05], -0.25 * PI * side),
            ellipsoid([0.12 * side, 0.45, 0.0], [0.08, 0.45, 0.08], 0.0),
            ellipsoid([0.12 * side, 0.03, 0.08], [0.04, 0.03, 0.14], 0.0),
        ]
    });
    let mut whole = ellipsoid([0.0, 1.1, 0.0], [0.17, 0.4, 0.1], 0.0);
    for part in sides {
        let first = whole.positions.len() as u32;
        whole.positions.extend(part.positions);
        whole.triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    whole
}

/// A panel of this width and height around the origin of its drawing.
fn rectangle(name: &str, [width, height]: [f64; 2], position: [f64; 3], rotation: [f64; 3]) -> Panel {
    let mut panel = square(name, position, rotation);
    let sized = |[x, y]: [f64; 2]| [x * width / 0.6, y * height / 0.6];
    panel.start = sized(panel.start);
    panel.edge.iter_mut().for_each(|edge| edge.to = sized(edge.to));
    panel
}

#[test]
fn a_small_panel_has_cells_enough_for_its_shape() {
    let quads = |size: [f64; 2]| {
        let panel = vec![rectangle("cuff", size, [0.0, 0.0, 1.0], [0.0; 3])];
        let (scene, meshes) = scene(Garment { panel, edge_length: 0.025, ..Garment::default() });
        build(&scene, &meshes).unwrap().0.triangles.len() / 2
    };
    assert_eq!(quads([0.3, 0.2]), 12 * 8, "as the garment says");
    assert_eq!(quads([0.09, 0.045]), 6 * 3, "not four by two");
    assert_eq!(quads([0.05, 0.025]), 4 * 2, "none shorter than half as long");
}

/// Two panels of 0.3 m, one in front and one behind, sewn along both sides: tubes around these middles, turned about z [degrees].
fn tubes(places: &[([f64; 2], f64)]) -> Garment {
    let (mut panel, mut seam) = (Vec::new(), Vec::new());
    for (k, ([x, y], turned)) in places.iter().enumerate() {
        for (side, z, about_y) in [("front", 0.2, 0.0), ("back", -0.2, 180.0)] {
            let mut square = square(&format!("{side}{k}"), [*x, *y, z], [0.0, about_y, *turned]);
            square.start = square.start.map(|c| 0.5 * c);
            square.edge.iter_mut().for_each(|edge| edge.to = edge.to.map(|c| 0.5 * c));
            panel.push(square);
        }
        let join = |front: u32, back: u32| Seam {
            join: [format!("front{k}.{front}"), format!("back{k}.{back}")],
            reverse: false,
            gather: true,
            ..Seam::default()
        };
        seam.extend([join(1, 3), join(3, 1)]);
    }
    Garment { panel, seam, baste: true, edge_length: 0.025, ..Garment::default() }
}

/// How often a ray from `at` [m] across `along` meets cloth: an odd number of times within a tube.
fn turns(model: &Model, state: &State, at: DVec3, along: DVec3) -> usize {
    let out = along.any_orthonormal_vector();
    let across = along.cross(out);
    let is_met = |t: &&[u32; 3]| {
        let p = t.map(|i| state.positions[i as usize] - at);
        let flat = p.map(|p| [p.dot(along), p.dot(across), p.dot(out)]);
        let side = |a: usize, b: usize| flat[a][0] * flat[b][1] - flat[a][1] * flat[b][0];
        let [u, v, w] = [side(1, 2), side(2, 0), side(0, 1)];
        let all = u + v + w;
        let within = [u, v, w].iter().all(|s| s * all > 0.0);
        within && (u * flat[0][2] + v * flat[1][2] + w * flat[2][2]) / all > 0.0
    };
    model.triangles.iter().filter(is_met).count()
}

fn dressed(garment: Garment) -> (Model, State) {
    let (scene, _) = scene(garment);
    build(&scene, &BTreeMap::from([("ball".into(), figure())])).unwrap()
}

#[test]
fn sleeves_that_start_beside_their_arms_are_threaded_on_them() {
    let down = DVec3::new(1.0, -1.0, 0.0).normalize();
    let join = |a: &str, b: &str| Seam {
        join: [a.into(), b.into()],
        reverse: false,
        gather: true,
        ..Seam::default()
    };
    // On the axis of the arm, and 0.16 m above it.
    for off in [0.0, 0.16] {
        let [x, y] = [0.30 + off * FRAC_1_SQRT_2, 1.28 + off * FRAC_1_SQRT_2];
        let mut shirt = tubes(&[([0.0, 1.4], 0.0), ([x, y], 45.0)]);
        // The sleeve closes the side of the shirt that the arm is on, and a seam above holds it up.
        shirt.seam[0] = join("front0.1", "front1.2");
        shirt.seam.extend([join("back1.2", "back0.3"), join("front0.2", "back0.2")]);
        let (model, state) = dressed(shirt);
        for along in [-0.02, 0.0, 0.02] {
            let at = DVec3::new(0.30, 1.28, 0.0) + along * down;
            assert_eq!(turns(&model, &state, at, down) % 2, 1, "{off} m off, {along} m along");
        }
    }
}

#[test]
fn legs_of_trousers_go_around_legs_wherever_they_start_and_however_long_they_are() {
    for (off, height) in [(0.0, 0.4), (0.15, 0.4), (0.15, 0.1)] {
        let (model, state) = dressed(tubes(&[([-0.12 - off, height], 0.0), ([0.12 + off, height], 0.0)]));
        assert_eq!(self_intersections(&state.positions, &model.triangles), [[0; 2]; 0]);
        for x in [-0.12, 0.12] {
            let at = DVec3::new(x, height + 0.05, 0.0);
            assert_eq!(turns(&model, &state, at, DVec3::Y) % 2, 1, "{off} m off at {height} m");
        }
    }
}

#[test]
fn a_waist_that_is_held_up_stays_where_it_is_drawn() {
    // Wider than the trunk by so much that nothing else tells where it is worn.
    let highest = |held_up: bool| {
        let mut skirt = tubes(&[([0.0, 1.1], 0.0)]);
        for panel in &mut skirt.panel {
            panel.start = panel.start.map(|c| 2.0 * c);
            panel.edge.iter_mut().for_each(|edge| edge.to = edge.to.map(|c| 2.0 * c));
            panel.edge[2].held_up = held_up;
        }
        let (_, state) = dressed(skirt);
        state.positions.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max)
    };
    let [drawn, held, left] = [1.4, highest(true), highest(false)];
    assert!(held > drawn - 0.05, "held up it is at {held} m");
    assert!(left < drawn - 0.1, "left alone it is at {left} m");
}

#[test]
fn a_cuff_too_narrow_for_the_hand_is_basted_on_the_wrist() {
    let along = |far: f64| [0.38 + far * FRAC_1_SQRT_2, 1.2 - far * FRAC_1_SQRT_2];
    let mut body = figure();
    for side in [-1.0, 1.0] {
        let [x, y] = along(0.35);
        let hand = ellipsoid([side * x, y, 0.0], [0.09, 0.06, 0.03], -0.25 * PI * side);
        let first = body.positions.len() as u32;
        body.positions.extend(hand.positions);
        body.triangles.extend(hand.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    // A sleeve that ends in a cuff of 0.2 m, drawn around the fingers.
    let mut sleeve = Garment { baste: true, edge_length: 0.025, ..Garment::default() };
    for (side, z, about_y, turned) in [("front", 0.2, 0.0, 45.0), ("back", -0.2, 180.0, -45.0)] {
        for (name, size, far) in [("sleeve", [0.24, 0.4], 0.2), ("cuff", [0.1, 0.05], 0.44)] {
            let [x, y] = along(far);
            sleeve.panel.push(rectangle(&format!("{name} {side}"), size, [x, y, z], [0.0, about_y, turned]));
        }
    }
    let join = |a: String, b: String| Seam { join: [a, b], reverse: false, gather: true, ..Seam::default() };
    for name in ["sleeve", "cuff"] {
        let edge = |side: &str, number: u32| format!("{name} {side}.{number}");
        sleeve.seam.push(join(edge("front", 1), edge("back", 3)));
        sleeve.seam.push(join(edge("front", 3), edge("back", 1)));
    }
    let end = |side: &str| join(format!("sleeve {side}.0"), format!("cuff {side}.2"));
    sleeve.seam.extend(["front", "back"].map(end));
    let (scene, _) = scene(sleeve);
    let (model, state) = build(&scene, &BTreeMap::from([("ball".into(), body)])).unwrap();
    let down = DVec3::new(1.0, -1.0, 0.0).normalize();
    let out = state.positions.iter().map(|x| (*x - DVec3::new(0.38, 1.2, 0.0)).dot(down));
    let furthest = out.fold(f64::NEG_INFINITY, f64::max);
    assert!(furthest < 0.33, "the hand begins 0.26 m out, the cuff ends at {furthest} m");
    let wrist = DVec3::new(0.38, 1.2, 0.0) + 0.22 * down;
    assert_eq!(turns(&model, &state, wrist, down) % 2, 1, "the sleeve goes around it");
}
