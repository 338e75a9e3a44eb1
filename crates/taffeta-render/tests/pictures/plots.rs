//! Plots: everything asked for is drawn, odd numbers do no harm, and the page stays well-formed.

use serde_json::{Value, json};
use taffeta_render::plot::{Level, Line, Plot, Stroke, lines_svg, report_svg};

/// A run of `count` frames whose strain falls from 3 % to almost nothing.
fn run(count: u32, converged: bool) -> Value {
    let frame = |i: u32| {
        let time = f64::from(i) / 30.0;
        json!({
            "frame": i, "time_s": time, "wall_ms": 12.0 + f64::from(i % 3), "stage_ms": { "forces": 8.0, "collide": 2.0 },
            "iterations": 40 + i % 5, "substeps": 40, "converged": converged || !i.is_multiple_of(4), "contacts": i,
            "intersections": 0, "max_strain": 0.03 / f64::from(i * i), "mean_strain": null,
            "energy_j": { "kinetic": 0.1, "gravity": -0.2, "elastic": 0.01 },
        })
    };
    json!({ "tolerance": 0.01, "frames": (1..=count).map(frame).collect::<Vec<_>>() })
}

/// Every opened element is closed, and all text is escaped.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') && !tag.contains('&'), "{piece}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn a_report_is_drawn_with_tolerance_units_and_stages() {
    let svg = report_svg(&[("flag".into(), run(30, false))]);
    assert_well_formed(&svg);
    let wanted = [
        "strain [%]",
        "tolerance 1 %",
        "not converged",
        "energy [J]",
        "kinetic",
        "iterations",
        "sub-steps",
        "wall time [ms]",
        "forces",
        "collide",
        "real time 33.3 ms",
        "contacts",
        "time [s]",
    ];
    for text in wanted {
        assert!(svg.contains(text), "{text} is missing");
    }
    // The strain falls by 900: its axis is logarithmic, and the mean, which is null, is left out.
    assert!(svg.contains(">0.1<") && svg.contains(">0.01<") && !svg.contains(">mean<"));
}

#[test]
fn several_runs_are_told_apart_and_empty_reports_do_no_harm() {
    let svg = report_svg(&[
        ("one".into(), run(9, true)),
        ("a <b> & \"c\"".into(), run(5, true)),
        ("none".into(), json!({})),
    ]);
    assert_well_formed(&svg);
    assert!(svg.contains("one: largest") && svg.contains("a &lt;b&gt; &amp; &quot;c&quot;: largest"));
    assert!(svg.contains("#0072b2") && svg.contains("#d55e00") && !svg.contains("not converged"));
    for odd in [json!(null), json!([1]), json!({ "frames": 3 }), json!({ "frames": [{ "time_s": "x" }, 7] })]
    {
        assert_well_formed(&report_svg(&[("odd".into(), odd)]));
    }
    assert!(report_svg(&[]).contains("No frames to plot"));
}

#[test]
fn lines_break_where_numbers_do_and_levels_go_across() {
    let points = vec![[1.0, 1.0], [2.0, f64::NAN], [3.0, 100.0], [4.0, 0.0], [5.0, 10.0], [6.0, 20.0]];
    let line = Line { name: "broken".into(), points, stroke: Stroke::Dashed, ..Line::default() };
    let levels = vec![Level { name: "limit".into(), y: 50.0 }];
    let svg = lines_svg(&Plot { log_y: true, lines: vec![line], levels, ..Plot::default() });
    assert_well_formed(&svg);
    // Three runs and the sample in the legend; two runs are single points, which become dots.
    assert_eq!(svg.matches("stroke=\"#0072b2\"").count(), 4);
    assert_eq!(svg.matches("<circle").count(), 2);
    assert!(svg.contains("limit") && svg.matches("#c0182b").count() == 2);
}

#[test]
fn long_lines_are_thinned_without_losing_their_peaks() {
    let wave = |i: u32| [f64::from(i), if i == 77_777 { 50.0 } else { f64::from(i % 7) }];
    let line = Line { points: (0..100_000).map(wave).collect(), ..Line::default() };
    let svg = lines_svg(&Plot { lines: vec![line.clone()], ..Plot::default() });
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    let few = Line { points: line.points[77_770..77_784].to_vec(), ..Line::default() };
    let top = |svg: &str| {
        let path = svg.split("<path d=\"M").find(|path| path.contains("stroke-linejoin")).unwrap();
        let heights = path
            .split('"')
            .next()
            .unwrap()
            .split('L')
            .map(|p| p.split(' ').nth(1).unwrap().parse::<f64>().unwrap());
        heights.fold(f64::INFINITY, f64::min)
    };
    let alone = lines_svg(&Plot { lines: vec![few], ..Plot::default() });
    assert_eq!(top(&svg), top(&alone), "the peak is as high as drawn by itself");
}
