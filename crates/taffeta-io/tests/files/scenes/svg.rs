//! Patterns as SVG: what is written reads back, and what makers draw is read.

use std::fs;
use taffeta::math::DVec2;
use taffeta::math::random::Random;
use taffeta_io::export::pattern::pattern_svg;
use taffeta_io::scene_file::{LoadedScene, SceneSource, from_text, load, read_svg};
use taffeta_scene::outline::{Outline, edges};
use taffeta_scene::{Elastic, Garment, Interfacing, Panel};
use tempfile::TempDir;

fn built_in(pattern: &str) -> Garment {
    from_text("scene", &format!("[[garment]]\npattern = \"{pattern}\""), &[]).unwrap().garment.remove(0)
}

fn load_in(drawing: &str, beside: &str) -> Result<LoadedScene, String> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x.svg"), drawing).unwrap();
    if !beside.is_empty() {
        fs::write(folder.path().join("x.toml"), beside).unwrap();
    }
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, "[[garment]]\npattern = \"x.svg\"\nedge_length = 0.02\n").unwrap();
    let source = SceneSource::find(scene.to_str().unwrap()).unwrap();
    load(&source, &[]).map_err(|faults| faults.to_string())
}

/// All numbers of a panel's drawing.
fn points(panel: &Panel) -> Vec<[f64; 2]> {
    let of_edge = |edge: &taffeta_scene::PanelEdge| {
        let bulge = edge.bulge.map(|bulge| [bulge, 0.0]);
        [&edge.via[..], &edge.through[..], &[edge.to]].concat().into_iter().chain(bulge).collect::<Vec<_>>()
    };
    [panel.start].into_iter().chain(panel.edge.iter().flat_map(of_edge)).collect()
}

/// The panel without its drawing.
fn bare(panel: &Panel) -> Panel {
    let mut bare = panel.clone();
    bare.start = [0.0; 2];
    for edge in &mut bare.edge {
        (edge.to, edge.bulge) = ([0.0; 2], None);
        edge.via.iter_mut().chain(&mut edge.through).for_each(|p| *p = [0.0; 2]);
    }
    bare
}

#[test]
fn a_pattern_that_is_written_reads_back_the_same() {
    let mut skirt = built_in("skirt");
    // One of each thing that a panel can have.
    let panel = &mut skirt.panel[0];
    panel.name = "the \"front\" & <more>".into();
    panel.dart = vec![taffeta_scene::Dart { edge: "waist".into(), at: 0.5, width: 0.02, depth: 0.1 }];
    panel.interfacing = Some(Interfacing { stiffness: 3.0, density: 40.0 });
    panel.warp = 37.0;
    panel.edge[0].hem = 0.02;
    panel.edge[0].via = vec![[-0.1, -0.05], [0.1, -0.05]];
    panel.edge[1].notch = vec![0.25, 0.5];
    panel.edge[2].elastic = Some(Elastic { length: 0.8, force: 5.0 });
    panel.edge[2].via = Vec::new();
    panel.edge[2].bulge = Some(-0.2);
    panel.edge[3].through = vec![[-0.16, 0.3], [-0.23, 0.15]];
    for seam in &mut skirt.seam {
        seam.join.iter_mut().for_each(|name| *name = name.replace("front.", "the \"front\" & <more>."));
    }
    skirt.seam[0].buttons = Some(3);
    for garment in [built_in("t-shirt"), skirt] {
        let text = pattern_svg(&garment);
        let loaded = load_in(&text, "").unwrap_or_else(|faults| panic!("{faults}"));
        let back = &loaded.scene.garment[0];
        assert_eq!(back.seam, garment.seam);
        assert_eq!(back.panel.len(), garment.panel.len());
        for (panel, back) in garment.panel.iter().zip(&back.panel) {
            assert_eq!(bare(panel), bare(back));
            for (p, q) in points(panel).iter().zip(points(back)) {
                let far = DVec2::from(*p).distance(q.into());
                assert!(far < 1e-9, "{}: {p:?} came back as {q:?}", panel.name);
            }
        }
    }
}

#[test]
fn a_sheet_has_its_full_size_a_bar_of_ten_centimetres_and_notches_at_thirds() {
    let garment = built_in("skirt");
    let text = pattern_svg(&garment);
    let width: f64 = text.split_once("width=\"").unwrap().1.split_once("mm").unwrap().0.parse().unwrap();
    assert!(text.contains(&format!("viewBox=\"0 0 {width} ")), "a unit is a millimetre");
    assert!(text.contains("h 100 ") && text.contains(">10 cm</text>"));
    for panel in &garment.panel {
        assert!(text.contains(&format!(">{}</text>", panel.name)));
    }
    // Four seams of two edges with two notches each, and a grain line each of four panels, and the bar.
    assert_eq!(text.matches("class=\"mark\"").count(), 4 * 2 * 2 + 4 + 1);
}

/// A document of 200 mm in 400 units, so that a unit is half a millimetre.
fn document(inside: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200mm\" height=\"200mm\" viewBox=\"0 0 400 400\">{inside}</svg>"
    )
}

fn area(panel: &Panel) -> f64 {
    0.5 * Outline::new(panel).doubled_area()
}

#[test]
fn what_makers_draw_is_read_at_its_size_wherever_it_was_moved() {
    let square = "<g transform=\"translate(10 20) rotate(30)\"><path id=\"a\" transform=\"scale(2 -1)\" d=\"m 10,10 h 50 v 100 h -50 z\"/></g>";
    let panel = &load_in(&document(square), "").unwrap().scene.garment[0].panel[0];
    // 50 mm by 50 mm.
    assert!((area(panel) - 0.0025).abs() < 1e-12, "{}", area(panel));
    assert_eq!(panel.edge.len(), 4);
    for curve in edges(panel) {
        assert!((curve.length() - 0.05).abs() < 1e-12);
    }
    // Without a size on paper a unit is a pixel; with `units` beside it what they say.
    let plain = "<svg><path id=\"a\" d=\"M0 0 H96 V96 H0 Z\"/></svg>";
    let side = |text: &str, beside: &str| {
        edges(&load_in(text, beside).unwrap().scene.garment[0].panel[0])[0].length()
    };
    assert!((side(plain, "") - 0.0254).abs() < 1e-12);
    assert!((side(plain, "units = \"cm\"") - 0.96).abs() < 1e-12);
}

#[test]
fn curves_between_corners_are_one_edge_and_arcs_stay_arcs() {
    // A half disc of two quarter arcs on a diameter, then the same by smooth curves.
    let arcs = "<path id=\"a\" d=\"M 0 100 A 100 100 0 0 1 100 0 A 100 100 0 0 1 200 100 Z\"/>";
    let panel = &load_in(&document(arcs), "").unwrap().scene.garment[0].panel[0];
    assert_eq!(panel.edge.len(), 2, "{:?}", panel.edge);
    let half_disc = 0.5 * std::f64::consts::PI * 0.05 * 0.05;
    assert!((area(panel) / half_disc - 1.0).abs() < 1e-3);
    let one = "<path id=\"a\" d=\"M 0 100 A 100 100 0 0 1 200 100 Z\"/>";
    let panel = &load_in(&document(one), "").unwrap().scene.garment[0].panel[0];
    let bulges: Vec<f64> = panel.edge.iter().filter_map(|edge| edge.bulge).collect();
    assert_eq!(bulges.len(), 1);
    assert!((bulges[0] - 1.0).abs() < 1e-9 && (area(panel) / half_disc - 1.0).abs() < 1e-3);
    let smooth = "<path id=\"a\" d=\"M 0 100 Q 50 60 100 100 T 200 100 L 200 200 L 0 200 Z\"/>";
    let panel = &load_in(&document(smooth), "").unwrap().scene.garment[0].panel[0];
    assert_eq!(panel.edge.len(), 4, "the wave is one edge");
}

#[test]
fn open_paths_definitions_and_paths_without_a_name_are_no_panels() {
    let drawing = "<defs><path id=\"d\" d=\"M0 0 H9 V9 Z\"/></defs><path id=\"open\" d=\"M0 0 H9 V9\"/><path d=\"M0 0 H9 V9 Z\"/>";
    assert!(load_in(&document(drawing), "").err().unwrap().contains("no closed path with an `id`"));
    let one = document(&format!("{drawing}<path id=\"p\" d=\"M0 0 H300 V300 H 0 Z\"/>"));
    let beside = "[[piece]]\nof = \"p\"\nname = \"q\"\nwarp = 10\nedges = [\"a\"]\nposition = [1, 2, 3]\n";
    let panel = &load_in(&one, beside).unwrap().scene.garment[0].panel[0];
    assert_eq!((panel.name.as_str(), panel.warp, panel.position), ("q", 10.0, [1.0, 2.0, 3.0]));
}

#[test]
fn what_is_no_pattern_is_refused_with_line_and_reason() {
    let path = |d: &str| document(&format!("\n<path id=\"p\" d=\"{d}\"/>"));
    let with = |more: &str| document(&format!("<path id=\"p\" d=\"M0 0 H9 V9 H0 Z\" {more}/>"));
    for (drawing, words) in [
        ("<svg>".to_string(), "it is no SVG"),
        ("<html/>".into(), "its first element is `html`"),
        (path("M0 0 H9 X9 Z"), "line 2: path `p`: its `d` cannot be read"),
        (path("M0 0 H9 V9 Z M1 1 H2 V2 Z"), "more than one outline"),
        (path("M0 0 A 5 9 0 0 0 9 9 Z"), "an arc of an ellipse"),
        (with("data-edges=\"3\""), "`data-edges` is no list"),
        (with("data-edges=\"[{}]\""), "edges of 1 pieces, the path has 4"),
        (with("data-panel=\"{&quot;wrap&quot;: 1}\""), "`data-panel`"),
        (with("data-origin=\"1\""), "not two numbers"),
        (with("transform=\"turn(3)\""), "its transform cannot be read"),
        (document("").replace("200mm\" view", "300mm\" view"), "stretch its `viewBox` differently"),
    ] {
        let told = load_in(&drawing, "").err().unwrap_or_else(|| panic!("{words}: read"));
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// Damaged drawings are refused or make panels whose points are finite, and nothing panics.
#[test]
fn damaged_drawings_are_refused_or_sound() {
    let whole = pattern_svg(&built_in("skirt"));
    let (mut random, mut refused) = (Random::new(5), 0);
    for _ in 0..600 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = b"0123456789-. MLQCAZ\"<>{}"[random.below(23)],
                1 => bytes[at] = b"0123456789e-."[random.below(13)],
                _ => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
            }
        }
        match read_svg(&String::from_utf8_lossy(&bytes)) {
            Ok(pattern) => {
                let panels: Vec<Panel> = serde_json::from_value(pattern["panel"].clone()).unwrap();
                assert!(panels.iter().flat_map(points).flatten().all(f64::is_finite));
            }
            Err(reason) => {
                refused += 1;
                assert!(!reason.is_empty());
            }
        }
    }
    assert!((50..590).contains(&refused), "damage must both pass and fail: {refused}");
}
