//! Sheets, discs and tubes as they are made.

use std::f64::consts::TAU;
use taffeta_scene::build::shapes::{Blank, disc, sheet, tube};
use taffeta_scene::{Disc, Sheet, Tube};

fn edge_lengths(blank: &Blank) -> Vec<f64> {
    let sides = blank.rest.quads.iter().flat_map(|q| (0..4).map(|i| (q[i], q[(i + 1) % 4])));
    sides.map(|(a, b)| blank.start[a as usize].distance(blank.start[b as usize])).collect()
}

#[test]
fn a_slack_sheet_starts_with_every_edge_at_rest_and_its_sides_apart_as_asked() {
    for (columns, slack) in [(10, 0.95), (50, 0.5), (2, 1.0), (3, 0.3)] {
        let blank = sheet(&Sheet { width: 1.0, height: 1.0, columns, rows: 4, slack });
        let d = 1.0 / f64::from(columns - 1);
        assert!(edge_lengths(&blank).iter().all(|l| (l - d).abs() < 1e-12 || (l - 1.0 / 3.0).abs() < 1e-12));
        let span = blank.start[0].distance(blank.start[columns as usize - 1]);
        assert!((span - slack).abs() < 1e-9, "{columns} {slack} {span}");
        assert!(blank.start.iter().all(|p| p.y <= 1e-12));
    }
}

#[test]
fn a_disc_is_a_manifold_of_rings_that_looks_up() {
    let blank = disc(&Disc { radius: 1.0, rings: 5 });
    assert_eq!(blank.rest.positions.len(), 1 + 3 * 5 * 6);
    assert_eq!(blank.rest.triangles.len(), 6 * 25);
    for t in &blank.rest.triangles {
        let [a, b, c] = t.map(|i| blank.start[i as usize]);
        assert!((b - a).cross(c - a).y > 0.0);
    }
}

#[test]
fn a_tube_closes_with_equal_chords_and_looks_outwards() {
    let blank = tube(&Tube { radius: 0.5, length: 1.0, segments: 12, rows: 3 });
    let chord = TAU / 12.0 * 0.5;
    assert!(edge_lengths(&blank).iter().all(|l| (l - 0.5).abs() < 1e-12 || (l - chord).abs() < 0.02 * chord));
    let [a, b, _, d] = blank.rest.quads[0].map(|i| blank.start[i as usize]);
    assert!((b - a).cross(d - a).dot(a) > 0.0);
}
