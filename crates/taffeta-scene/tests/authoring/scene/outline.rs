//! Outlines of panels: curves, darts and crossings.

use taffeta::math::DVec2;
use taffeta_scene::outline::{Curve, Outline, Run, edges};
use taffeta_scene::{Dart, Panel, PanelEdge};

fn panel(points: &[[f64; 2]]) -> Panel {
    let edge =
        |(k, to): (usize, &[f64; 2])| PanelEdge { name: format!("e{k}"), to: *to, ..PanelEdge::default() };
    let mut edges: Vec<PanelEdge> = points.iter().enumerate().skip(1).map(edge).collect();
    edges.push(PanelEdge { name: "last".into(), to: points[0], ..PanelEdge::default() });
    Panel { name: "p".into(), start: points[0], edge: edges, ..Panel::default() }
}

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// The first edge of a panel, with these points to be drawn towards.
fn curve(from: [f64; 2], via: &[[f64; 2]], to: [f64; 2]) -> Curve {
    let mut panel = panel(&[from, to]);
    panel.edge[0].via = via.to_vec();
    edges(&panel).swap_remove(0)
}

#[test]
fn a_curve_is_measured_along() {
    // The cubic that is nearest to a quarter of a circle.
    let k = 0.552_284_749_8;
    let quarter = curve([1.0, 0.0], &[[1.0, k], [k, 1.0]], [0.0, 1.0]);
    assert!((quarter.length() - std::f64::consts::FRAC_PI_2).abs() < 2e-4, "{}", quarter.length());
    let samples: Vec<DVec2> = quarter.samples(4).collect();
    assert_eq!((samples.len(), samples[0], quarter.at(quarter.length())), (4, DVec2::X, DVec2::Y));
    let gaps: Vec<f64> = samples.windows(2).map(|p| p[0].distance(p[1])).collect();
    assert!(gaps.iter().all(|g| (g - gaps[0]).abs() < 1e-3), "{gaps:?}");
    let parabola = curve([0.0, 0.0], &[[1.0, 1.0]], [2.0, 0.0]);
    assert!((parabola.at(0.5 * parabola.length()) - DVec2::new(1.0, 0.5)).length() < 1e-12);
}

#[test]
fn a_dart_has_equal_sides_and_takes_its_width_from_the_edge() {
    let mut square = panel(&SQUARE);
    square.dart = vec![Dart { edge: "e1".into(), at: 0.25, width: 0.1, depth: 0.3 }];
    let outline = Outline::new(&square);
    let runs: Vec<Run> = outline.runs.iter().map(|(run, _)| *run).collect();
    assert_eq!(runs[..5], [Run::Edge(0), Run::In(0), Run::Out(0), Run::Edge(0), Run::Edge(1)]);
    assert!((outline.sewn_length(0) - 0.9).abs() < 1e-12);
    assert_eq!(outline.runs[1].1.length(), outline.runs[2].1.length());
    assert!((outline.doubled_area() - 2.0 + 0.03).abs() < 1e-12, "a wedge is missing");
    assert_eq!(outline.crossing(), None);
    square.dart[0].depth = 1.5;
    assert!(Outline::new(&square).crossing().is_some(), "it comes out on the other side");
}

#[test]
fn what_crosses_itself_is_found() {
    let crossing = |points: &[[f64; 2]]| Outline::new(&panel(points)).crossing().is_some();
    assert!(!crossing(&SQUARE));
    assert!(crossing(&[SQUARE[0], SQUARE[1], SQUARE[3], SQUARE[2]]), "a bow tie");
    assert!(crossing(&[[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.5, 1.0]]), "back on its own line");
    assert!(crossing(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.0], [0.0, 2.0]]), "it touches");
    assert!(!crossing(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1e-9], [0.0, 2.0]]), "it just does not");
    assert!((Outline::new(&panel(&SQUARE)).doubled_area() - 2.0).abs() < 1e-12);
}
