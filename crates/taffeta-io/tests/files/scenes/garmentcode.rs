//! GarmentCode specifications, made here, as patterns of garments.

use serde_json::{Value, json};
use std::fs;
use taffeta::math::{DVec3, Pose};
use taffeta_io::scene_file::{SceneSource, load};
use taffeta_scene::outline::{Outline, edges};
use taffeta_scene::{Garment, Scene, build};
use tempfile::TempDir;

/// Turns about x, y and z [degrees] and a place [cm], none of them simple.
const TURN: [f64; 3] = [31.0, -62.0, 17.0];
const PLACE: [f64; 3] = [12.0, 90.0, -34.0];

/// A square of 40 cm with this direction of its edges, its upper side curved.
fn square(clockwise: bool, curvature: Value) -> Value {
    let vertices = json!([[0, 0], [40, 0], [40, 40], [0, 40]]);
    let mut ends = vec![[0, 1], [1, 2], [2, 3], [3, 0]];
    if clockwise {
        ends = ends.iter().rev().map(|[a, b]| [*b, *a]).collect();
    }
    let edge = |ends: &[i32; 2]| {
        let upper = (ends[0] - ends[1]).abs() == 1 && ends[0] + ends[1] == 5;
        if upper && !curvature.is_null() {
            json!({ "endpoints": ends, "curvature": curvature })
        } else {
            json!({ "endpoints": ends, "label": "side" })
        }
    };
    let edges: Vec<Value> = ends.iter().map(edge).collect();
    json!({ "translation": PLACE, "rotation": TURN, "vertices": vertices, "edges": edges, "label": "body" })
}

fn specification(panels: Value, stitches: Value) -> Value {
    json!({ "pattern": { "panels": panels, "stitches": stitches }, "properties": { "units_in_meter": 100 } })
}

fn read(specification: &str) -> Result<Scene, String> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x_specification.json"), specification).unwrap();
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, "[[garment]]\npattern = \"x_specification.json\"\nedge_length = 0.05\n").unwrap();
    let source = SceneSource::find(scene.to_str().unwrap()).unwrap();
    load(&source, &[]).map(|loaded| loaded.scene).map_err(|faults| faults.to_string())
}

fn garment(panels: Value, stitches: Value) -> Garment {
    read(&specification(panels, stitches).to_string())
        .unwrap_or_else(|faults| panic!("{faults}"))
        .garment
        .remove(0)
}

#[test]
fn a_panel_stands_where_its_specification_puts_it_and_looks_out_whichever_way_its_edges_run() {
    for clockwise in [false, true] {
        let text = specification(json!({ "p": square(clockwise, Value::Null) }), json!([])).to_string();
        let (model, state) = build(&read(&text).unwrap(), &Default::default()).unwrap();
        let pose = Pose::from_degrees(DVec3::from(PLACE) / 100.0, DVec3::from(TURN));
        for corner in [[0.0, 0.0], [0.4, 0.0], [0.4, 0.4], [0.0, 0.4]] {
            let there = pose.to_world(DVec3::new(corner[0], corner[1], 0.0));
            let far = state.positions.iter().map(|x| x.distance(there)).fold(f64::INFINITY, f64::min);
            assert!(far < 1e-9, "{clockwise} {corner:?}: {far}");
        }
        let front = pose.rotation * if clockwise { -DVec3::Z } else { DVec3::Z };
        for corners in &model.triangles {
            let [a, b, c] = corners.map(|i| state.positions[i as usize]);
            assert!((b - a).cross(c - a).normalize().dot(front) > 0.999);
        }
    }
}

#[test]
fn edges_are_straight_quadratic_cubic_or_arcs() {
    let length = |curvature: Value| {
        let garment = garment(json!({ "p": square(false, curvature) }), json!([]));
        let panel = &garment.panel[0];
        assert!(Outline::new(panel).doubled_area() > 0.0);
        edges(panel)[2].length()
    };
    assert!((length(Value::Null) - 0.4).abs() < 1e-12);
    // A parabola with the control point a quarter of the edge above its middle: 0.5 √(1 + k²) + asinh(k) / 2k of it for k = 1/2.
    let k: f64 = 0.5;
    let parabola = 0.4 * (0.5 * (1.0 + k * k).sqrt() + k.asinh() / (2.0 * k));
    for curvature in [json!([0.5, 0.25]), json!({ "type": "quadratic", "params": [[0.5, 0.25]] })] {
        assert!((length(curvature) / parabola - 1.0).abs() < 1e-3);
    }
    let straight = length(json!({ "type": "cubic", "params": [[0.25, 0.0], [0.75, 0.0]] }));
    assert!((straight - 0.4).abs() < 1e-9);
    for (radius, large, angle) in [(20.0, 0, 180.0), (40.0, 0, 60.0), (40.0, 1, 300.0)] {
        let arc = length(json!({ "type": "circle", "params": [radius, large, 1] }));
        let expected = radius / 100.0 * f64::to_radians(angle);
        assert!((arc / expected - 1.0).abs() < 1e-3, "{radius} {large}: {arc} {expected}");
    }
}

#[test]
fn an_arc_bends_to_the_side_that_it_says() {
    let top = |clockwise: bool, right: u32| {
        let curvature = json!({ "type": "circle", "params": [25.0, 0, right] });
        let garment = garment(json!({ "p": square(clockwise, curvature) }), json!([]));
        Outline::new(&garment.panel[0]).size().y
    };
    // From right to left against the clock the arc goes over the top, from left to right below it.
    assert!((top(false, 1) - 0.5).abs() < 1e-3 && (top(false, 0) - 0.4).abs() < 1e-12);
    assert!((top(true, 1) - 0.4).abs() < 1e-12 && (top(true, 0) - 0.5).abs() < 1e-3);
}

#[test]
fn stitches_join_end_with_start_unless_the_wrong_side_is_out() {
    let panels = || json!({ "a": square(false, Value::Null), "b": square(true, Value::Null) });
    let sides = json!([{ "panel": "a", "edge": 1 }, { "panel": "b", "edge": 2 }]);
    let mut other = sides.clone();
    other.as_array_mut().unwrap().push("right_wrong".into());
    for (stitch, reverse) in [(sides, false), (other, true)] {
        let garment = garment(panels(), json!([stitch]));
        assert_eq!(garment.seam[0].join, ["a.1", "b.2"]);
        assert_eq!(garment.seam[0].reverse, reverse);
    }
}

#[test]
fn a_longer_edge_is_gathered_with_particles_between_its_stitches() {
    let mut narrow = square(false, Value::Null);
    narrow["vertices"] = json!([[0, 0], [20, 0], [20, 40], [0, 40]]);
    let panels = json!({ "wide": square(false, Value::Null), "narrow": narrow });
    let stitches = json!([[{ "panel": "wide", "edge": 0 }, { "panel": "narrow", "edge": 2 }]]);
    let scene = read(&specification(panels, stitches).to_string()).unwrap();
    let (model, _) = build(&scene, &Default::default()).unwrap();
    // 20 cm are 4 cells with 5 stitches; 40 cm are 8.
    assert_eq!(model.links.ends.len(), 5);
    let mut sewn: Vec<u32> = model.links.ends.iter().flatten().copied().collect();
    sewn.sort_unstable();
    sewn.dedup();
    assert_eq!(sewn.len(), 10);
    let both_ends = |edge: &&[u32; 2]| edge.iter().all(|end| sewn.binary_search(end).is_ok());
    // Only the narrow side has edges from stitch to stitch: those of the wide one would have to be half as long as they are.
    let between: Vec<f64> = model
        .edges
        .iter()
        .zip(&model.rest_lengths)
        .filter(|(edge, _)| both_ends(edge))
        .map(|(_, l)| *l)
        .collect();
    assert_eq!(between.len(), 4, "{between:?}");
}

#[test]
fn what_is_no_specification_is_refused_with_words() {
    let panels = || json!({ "p": square(false, Value::Null) });
    let broken = {
        let mut panel = square(false, Value::Null);
        panel["edges"][2]["endpoints"] = json!([3, 2]);
        specification(json!({ "p": panel }), json!([]))
    };
    let small_arc = square(false, json!({ "type": "circle", "params": [10.0, 0, 1] }));
    let side = |panel: &str, edge: u32| json!({ "panel": panel, "edge": edge });
    for (specification, words) in [
        (json!({ "pattern": 1 }), "it is no GarmentCode specification"),
        (broken, "edge 1 of panel `p` ends at vertex 2, where the next one starts at 3"),
        (specification(json!({ "p": small_arc }), json!([])), "too small for ends 0.4000 m apart"),
        (
            specification(panels(), json!([[side("p", 0), side("q", 0)]])),
            "names panel `q`, which is not there",
        ),
        (
            specification(panels(), json!([[side("p", 0), side("p", 7)]])),
            "names edge 7 of panel `p`, which has 4",
        ),
        (specification(panels(), json!([[side("p", 0)]])), "is not two edges"),
    ] {
        let told = read(&specification.to_string()).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
}

/// A front whose neckline is cut so deep into its strap that it crosses the armhole.
fn crossing_front(bulge: f64) -> Value {
    let vertices = json!([[0, 0], [40, 0], [40, 20], [28, 50], [22, 50], [0, 20]]);
    let mut edges: Vec<Value> = (0..6).map(|k| json!({ "endpoints": [k, (k + 1) % 6] })).collect();
    // Both sides of the strap lean towards the other.
    edges[2]["curvature"] = json!({ "type": "quadratic", "params": [[0.6, bulge]] });
    edges[4]["curvature"] = json!({ "type": "quadratic", "params": [[0.4, bulge]] });
    json!({ "translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": vertices, "edges": edges })
}

#[test]
fn edges_that_cross_are_drawn_apart_and_noted() {
    let folder = TempDir::new().unwrap();
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, "[[garment]]\npattern = \"x_specification.json\"\nedge_length = 0.02\n").unwrap();
    for (bulge, crosses) in [(0.1, false), (0.9, true)] {
        let text = specification(json!({ "front": crossing_front(bulge) }), json!([])).to_string();
        fs::write(folder.path().join("x_specification.json"), text).unwrap();
        let source = SceneSource::find(scene.to_str().unwrap()).unwrap();
        let loaded = load(&source, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        let noted = loaded.notes.iter().any(|note| note.contains("edges `2` and `4` cross"));
        assert_eq!(noted, crosses, "{:?}", loaded.notes);
        let panel = &loaded.scene.garment[0].panel[0];
        let curves = edges(panel);
        assert_eq!(Outline::new(panel).crossing(), None);
        // Away from the crossing both are as they were drawn, and the strap is as wide as it is said to be.
        let [armhole, neckline] = [&curves[2], &curves[4]];
        let near = |far: f64| neckline.nearest(armhole.at(far)).1;
        let narrowest =
            (0..=50).map(|k| near(0.02 * f64::from(k) * armhole.length())).fold(f64::INFINITY, f64::min);
        if crosses {
            assert!((0.005..0.011).contains(&narrowest), "{narrowest}");
        }
        assert!(armhole.at(0.0).distance([0.4, 0.2].into()) < 1e-12);
        assert!(armhole.at(armhole.length()).distance([0.28, 0.5].into()) < 1e-12);
        build(&loaded.scene, &Default::default()).unwrap();
    }
}
