//! Drawings of pattern rooms, made here, as patterns of garments.

use std::fs;
use std::path::Path;
use taffeta::math::random::Random;
use taffeta_io::scene_file::{LoadedScene, SceneSource, from_text, load, read_dxf};
use taffeta_scene::outline::{Outline, edges};
use taffeta_scene::{Garment, Panel};
use tempfile::TempDir;

/// Groups of a DXF, one line each for code and value.
fn groups(list: &[(i32, &str)]) -> String {
    list.iter().map(|(code, value)| format!("{code}\n{value}\n")).collect()
}

fn polyline(layer: u32, points: &[[f64; 2]]) -> String {
    let vertices = points.iter().map(|[x, y]| format!("0\nVERTEX\n8\n{layer}\n10\n{x}\n20\n{y}\n"));
    format!("0\nPOLYLINE\n8\n{layer}\n66\n1\n70\n1\n{}0\nSEQEND\n", vertices.collect::<String>())
}

fn line(layer: u32, [a, b]: [[f64; 2]; 2]) -> String {
    format!("0\nLINE\n8\n{layer}\n10\n{}\n20\n{}\n11\n{}\n21\n{}\n", a[0], a[1], b[0], b[1])
}

fn point(layer: u32, [x, y]: [f64; 2]) -> String {
    format!("0\nPOINT\n8\n{layer}\n10\n{x}\n20\n{y}\n")
}

fn text(words: &str) -> String {
    groups(&[(0, "TEXT"), (8, "1"), (1, words)])
}

fn block(name: &str, inside: &str) -> String {
    format!("{}{inside}{}", groups(&[(0, "BLOCK"), (2, name)]), groups(&[(0, "ENDBLK")]))
}

fn drawing(blocks: &str, style: &str) -> String {
    let blocks = format!("{}{blocks}{}", groups(&[(0, "SECTION"), (2, "BLOCKS")]), groups(&[(0, "ENDSEC")]));
    let style = format!("{}{style}{}", groups(&[(0, "SECTION"), (2, "ENTITIES")]), groups(&[(0, "ENDSEC")]));
    format!("{blocks}{style}{}", groups(&[(0, "EOF")]))
}

/// A rectangle with the clock, in millimetres.
const RECTANGLE: [[f64; 2]; 4] = [[100.0, 100.0], [100.0, 500.0], [400.0, 500.0], [400.0, 100.0]];

fn metric() -> String {
    text("Units: METRIC")
}

fn load_in(drawing: &str, beside: &str, more: &str) -> Result<LoadedScene, String> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x.dxf"), drawing).unwrap();
    if !beside.is_empty() {
        fs::write(folder.path().join("x.toml"), beside).unwrap();
    }
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, format!("[[garment]]\npattern = \"x.dxf\"\nedge_length = 0.05\n{more}")).unwrap();
    let source = SceneSource::find(scene.to_str().unwrap()).unwrap();
    load(&source, &[]).map_err(|faults| faults.to_string())
}

fn garment(drawing: &str, beside: &str) -> Garment {
    load_in(drawing, beside, "").unwrap_or_else(|faults| panic!("{faults}")).scene.garment.remove(0)
}

fn area(panel: &Panel) -> f64 {
    0.5 * Outline::new(panel).doubled_area()
}

#[test]
fn a_block_is_a_panel_against_the_clock_around_its_own_middle() {
    let inside =
        text("Piece Name: FRONT") + &polyline(1, &RECTANGLE) + &line(7, [[200.0, 200.0], [300.0, 300.0]]);
    let garment = garment(&drawing(&block("B1", &inside), &metric()), "");
    let [panel] = &garment.panel[..] else { panic!("{:?}", garment.panel) };
    assert_eq!(panel.name, "FRONT");
    assert!((area(panel) - 0.12).abs() < 1e-12, "{}", area(panel));
    assert!((panel.warp - 45.0).abs() < 1e-9, "the grain line gives the warp");
    assert_eq!(panel.edge.iter().map(|edge| edge.name.as_str()).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    let corner = panel
        .edge
        .iter()
        .map(|edge| edge.to)
        .fold([0.0; 2], |most: [f64; 2], to| [most[0].max(to[0]), most[1].max(to[1])]);
    assert!((corner[0] - 0.15).abs() < 1e-12 && (corner[1] - 0.2).abs() < 1e-12, "{corner:?}");
}

#[test]
fn units_are_those_of_the_style_then_of_the_header_then_of_the_toml_beside() {
    let width = |drawing: &str, beside: &str| {
        load_in(drawing, beside, "").map(|loaded| Outline::new(&loaded.scene.garment[0].panel[0]).size().x)
    };
    let small = [[0.0, 0.0], [10.0, 0.0], [10.0, 20.0], [0.0, 20.0]];
    let plain = drawing(&block("B", &polyline(1, &small)), "");
    let header = |name: &str, value: &str| {
        let groups = groups(&[(0, "SECTION"), (2, "HEADER"), (9, name), (70, value), (0, "ENDSEC")]);
        groups + &plain
    };
    let english = drawing(&block("B", &polyline(1, &small)), &text("UNITS: ENGLISH"));
    for (drawing, beside, expected) in [
        (&english, "", 0.254),
        (&header("$INSUNITS", "5"), "", 0.1),
        (&header("$MEASUREMENT", "0"), "", 0.254),
        (&plain, "units = \"cm\"", 0.1),
        (&english, "units = \"m\"", 10.0),
    ] {
        let width = width(drawing, beside).unwrap();
        assert!((width - expected).abs() < 1e-9, "{width} {expected}");
    }
    let told = width(&plain, "").unwrap_err();
    assert!(told.contains("does not say whether it is metric"), "{told}");
}

#[test]
fn the_sewing_line_is_the_outline_where_there_is_one() {
    let sewn = [[110.0, 110.0], [110.0, 490.0], [390.0, 490.0], [390.0, 110.0]];
    let inside = polyline(1, &RECTANGLE) + &polyline(14, &sewn) + &point(4, [100.0, 300.0]);
    let garment = garment(&drawing(&block("B", &inside), &metric()), "");
    assert!((area(&garment.panel[0]) - 0.28 * 0.38).abs() < 1e-12);
    let notches: Vec<f64> = garment.panel[0].edge.iter().flat_map(|edge| edge.notch.clone()).collect();
    assert_eq!(notches.len(), 1, "{notches:?}");
    assert!((notches[0] - 0.5).abs() < 1e-9, "a notch in the allowance marks the sewing line beside it");
}

#[test]
fn a_piece_on_the_fold_is_laid_open_with_its_notches() {
    let half = [[0.0, 0.0], [200.0, 30.0], [150.0, 400.0], [0.0, 380.0]];
    let inside = polyline(1, &half) + &line(6, [[0.0, -20.0], [0.0, 450.0]]) + &point(4, [175.0, 215.0]);
    let garment = garment(&drawing(&block("B", &inside), &metric()), "");
    let panel = &garment.panel[0];
    let of_half = 0.5e-6 * (0.0 * 30.0 + 200.0 * 400.0 - 150.0 * 30.0 + 150.0 * 380.0);
    assert!((area(panel) - 2.0 * of_half).abs() < 1e-9, "{} {of_half}", area(panel));
    assert!((Outline::new(panel).size().x - 0.4).abs() < 1e-12);
    // Hem and waist go on over the fold, both sides have a notch.
    assert_eq!(panel.edge.len(), 4);
    assert_eq!(panel.edge.iter().filter(|edge| edge.notch.len() == 1).count(), 2);
    let across = polyline(1, &half) + &line(6, [[100.0, -20.0], [100.0, 450.0]]);
    let panel = &garment_of(&across).panel[0];
    assert!((area(panel) - of_half).abs() < 1e-9, "drawn whole already");
    let beside = polyline(1, &half) + &line(6, [[-50.0, -20.0], [-50.0, 450.0]]);
    let told = load_in(&drawing(&block("B", &beside), &metric()), "", "").err().unwrap();
    assert!(told.contains("no edge of it lies on its mirror line"), "{told}");
}

fn garment_of(inside: &str) -> Garment {
    garment(&drawing(&block("B", inside), &metric()), "")
}

#[test]
fn turn_points_divide_an_outline_where_they_are_marked_and_corners_where_not() {
    let round: Vec<[f64; 2]> = (0..64)
        .map(|k| f64::from(k) / 64.0 * std::f64::consts::TAU)
        .map(|a| [100.0 * a.cos(), 100.0 * a.sin()])
        .collect();
    let panel = &garment_of(&polyline(1, &round)).panel[0];
    assert_eq!(panel.edge.len(), 2, "a round piece is halved");
    let marked = [0, 16, 40].map(|k| point(2, round[k])).concat();
    let panel = &garment_of(&(polyline(1, &round) + &marked)).panel[0];
    let lengths: Vec<f64> =
        edges(panel).iter().map(|edge| edge.length() / 0.2 / std::f64::consts::PI).collect();
    for (length, expected) in lengths.iter().zip([0.25, 0.375, 0.375]) {
        assert!((length - expected).abs() < 1e-3, "{lengths:?}");
    }
    assert_eq!(garment_of(&polyline(1, &RECTANGLE)).panel[0].edge.len(), 4);
}

#[test]
fn lines_arcs_and_bulges_make_an_outline_too() {
    let half_disc = line(1, [[0.0, 0.0], [200.0, 0.0]])
        + &groups(&[(0, "ARC"), (8, "1"), (10, "100"), (20, "0"), (40, "100"), (50, "0"), (51, "180")]);
    let bulge = groups(&[
        (0, "LWPOLYLINE"),
        (8, "1"),
        (70, "1"),
        (10, "0"),
        (20, "0"),
        (10, "200"),
        (20, "0"),
        (42, "1"),
    ]);
    for inside in [half_disc, bulge] {
        let garment = garment_of(&inside);
        let expected = 0.5 * std::f64::consts::PI * 0.01;
        assert!((area(&garment.panel[0]) / expected - 1.0).abs() < 2e-3, "{}", area(&garment.panel[0]));
    }
}

#[test]
fn the_toml_beside_a_drawing_names_turns_mirrors_places_and_sews() {
    let inside =
        text("Piece Name: SLEEVE") + &polyline(1, &RECTANGLE) + &line(7, [[200.0, 200.0], [300.0, 200.0]]);
    let other = text("Piece Name: POCKET") + &polyline(1, &RECTANGLE);
    let drawing = drawing(&(block("A", &inside) + &block("B", &other)), &metric());
    let beside = r#"
        [[piece]]
        of = "SLEEVE"
        name = "left"
        turn = 90
        edges = ["a", "b"]
        position = [1, 2, 3]
        [[piece]]
        of = "SLEEVE"
        name = "right"
        turn = 90
        mirror = true
        edges = ["a", "b"]
        [[seam]]
        join = ["left.a", "right.a"]
    "#;
    let loaded = load_in(&drawing, beside, "").unwrap();
    let [left, right] = &loaded.scene.garment[0].panel[..] else { panic!() };
    assert_eq!((left.name.as_str(), right.name.as_str(), left.position), ("left", "right", [1.0, 2.0, 3.0]));
    assert!((left.warp - 90.0).abs() < 1e-9 && (right.warp - 90.0).abs() < 1e-9);
    let size = Outline::new(left).size();
    assert!((size.x - 0.4).abs() < 1e-9 && (size.y - 0.3).abs() < 1e-9, "turned: {size}");
    let middle = |panel: &Panel, name: &str| {
        let edge = panel.edge(name).unwrap();
        let curve = &edges(panel)[edge];
        curve.at(0.5 * curve.length())
    };
    let (a, b) = (middle(left, "a"), middle(right, "a"));
    assert!((a.x + b.x).abs() < 1e-9 && (a.y - b.y).abs() < 1e-9, "the mirror image: {a} {b}");
    assert!(area(right) > 0.0 && (area(right) - area(left)).abs() < 1e-9);
    assert!(
        loaded.notes.iter().any(|note| note.contains("pieces that are not cut: POCKET")),
        "{:?}",
        loaded.notes
    );
    for (beside, words) in [
        ("[[piece]]\nof = \"SLEVE\"", "the pieces are `SLEEVE`, `POCKET`"),
        ("[[piece]]\nof = \"SLEEVE\"\nplace = 1", "has the key `place`"),
        ("[[piece]]\nof = \"SLEEVE\"\nedges = [\"a\", \"b\", \"c\", \"d\", \"e\"]", "which has 4"),
        ("[[pieces]]", "unknown field `pieces`"),
        ("piece = ", "line 1"),
    ] {
        let told = load_in(&drawing, beside, "").err().unwrap();
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn parts_between_notches_can_be_sewn_and_notches_that_do_not_meet_are_told() {
    let with_notch = |name: &str, y: f64| {
        let inside = text(&format!("Piece Name: {name}")) + &polyline(1, &RECTANGLE) + &point(4, [400.0, y]);
        block(name, &inside)
    };
    let notes = |y: f64, join: &str| {
        let drawing = drawing(&(with_notch("A", 300.0) + &with_notch("B", y)), &metric());
        load_in(&drawing, &format!("[[seam]]\njoin = {join}\nreverse = true"), "").map(|loaded| loaded.notes)
    };
    // The notched side runs downwards as drawn with the clock, hence upwards in the panel: its number is found by its notch.
    let probe = garment(&drawing(&with_notch("A", 300.0), &metric()), "");
    let side = probe.panel[0].edge.iter().position(|edge| !edge.notch.is_empty()).unwrap();
    let whole = format!("[\"A.{side}\", \"B.{side}\"]");
    assert_eq!(notes(304.0, &whole).unwrap(), Vec::<String>::new());
    let told = notes(310.0, &whole).unwrap();
    assert_eq!(told, [format!("notches of `A.{side}` and `B.{side}` are sewn 10.0 mm apart")]);
    let told = notes(310.0, &format!("[\"A.{side}/0\", \"B.{side}/0\"]")).unwrap();
    assert!(told.iter().any(|note| note.contains("is eased into")), "parts of 200 and 210 mm: {told:?}");
    let told = notes(310.0, &format!("[\"A.{side}/2\", \"B.{side}/0\"]")).unwrap_err();
    assert!(told.contains("its edges are"), "{told}");
}

#[test]
fn one_size_of_several_is_cut() {
    let sized = |size: &str, scale: f64| {
        let points = RECTANGLE.map(|p| p.map(|c| scale * c));
        let inside = text("Piece Name: P") + &text(&format!("Size: {size}")) + &polyline(1, &points);
        block(&format!("P{size}"), &inside)
    };
    let blocks = sized("38", 1.0) + &sized("40", 1.1);
    let sampled = drawing(&blocks, &(metric() + &text("Sample Size: 40")));
    let plain = drawing(&blocks, &metric());
    let width = |drawing: &str, more: &str| {
        load_in(drawing, "", more).map(|loaded| Outline::new(&loaded.scene.garment[0].panel[0]).size().x)
    };
    assert!((width(&sampled, "").unwrap() - 0.33).abs() < 1e-9);
    assert!((width(&sampled, "size = \"38\"").unwrap() - 0.3).abs() < 1e-9);
    for (drawing, more) in [(&plain, ""), (&sampled, "size = \"42\"")] {
        let told = width(drawing, more).unwrap_err();
        assert!(told.contains("is not a size of the pattern") && told.contains("are 38, 40"), "{told}");
    }
    assert!(width(&sampled, "size = 38").unwrap_err().contains("has the wrong type"));
    let told =
        from_text("scene", "[[garment]]\npattern = \"skirt\"\nsize = \"38\"", &[]).unwrap_err().to_string();
    assert!(told.contains("is not a size") && told.contains("has no sizes"), "{told}");
}

#[test]
fn what_is_no_drawing_is_refused_with_line_and_reason() {
    let good = |inside: &str| drawing(&block("B", inside), &metric());
    for (drawing, words) in [
        ("solid thing\n".to_string(), "line 1: the file ends within a group"),
        ("hello\nworld\n".into(), "line 1: `hello` is not the code of a group"),
        ("AutoCAD Binary DXF\r\n\u{1a}".into(), "save it as ASCII"),
        (groups(&[(0, "EOF")]), "does not say whether it is metric"),
        (drawing("", &metric()), "no block of it has an outline"),
        (good(&polyline(1, &RECTANGLE).replace("500", "5oo")), "`5oo` is no number"),
        (good(&polyline(1, &RECTANGLE).replace("0\nSEQEND\n", "")), "where a VERTEX or SEQEND belongs"),
        (good(&polyline(1, &RECTANGLE).replace("70\n1\n", "70\n0\n")), "is open by 300.0 mm"),
        (good(&(polyline(1, &RECTANGLE) + &polyline(1, &RECTANGLE))), "a block is one piece"),
        (good(&groups(&[(0, "SPLINE"), (8, "1")])), "SPLINE on layer 1"),
        (good("0\nLINE\n8\n1\n10\n0\n"), "the LINE has no group 20"),
        (groups(&[(0, "BLOCK"), (2, "B")]), "the file ends within the block `B`"),
    ] {
        let told = load_in(&drawing, "units = \"mm\"", "").err();
        let told = match words {
            "does not say whether it is metric" => load_in(&drawing, "", "").err().unwrap(),
            _ => told.unwrap_or_else(|| panic!("{words}: read")),
        };
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// Damaged drawings are refused or make panels whose points are finite, and nothing panics.
#[test]
fn damaged_drawings_are_refused_or_sound() {
    let whole =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/patterns/a-line.dxf")).unwrap();
    let beside =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/patterns/a-line.toml"))
            .unwrap();
    assert!(read_dxf(&whole, &beside).is_ok());
    let (mut random, mut refused) = (Random::new(3), 0);
    for _ in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.bits() as u8,
                1 => bytes[at] = b"0123456789-.\n"[random.below(13)],
                _ => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
            }
        }
        match read_dxf(&bytes, &beside) {
            Ok(pattern) => {
                let panels: Vec<Panel> = serde_json::from_value(pattern["panel"].clone()).unwrap();
                let points = panels.iter().flat_map(|panel| panel.edge.iter().map(|edge| edge.to));
                assert!(points.flatten().all(f64::is_finite));
            }
            Err(reason) => {
                refused += 1;
                assert!(!reason.is_empty());
            }
        }
    }
    assert!((50..590).contains(&refused), "damage must both pass and fail: {refused}");
}
