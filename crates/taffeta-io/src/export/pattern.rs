//! The pattern of a garment as SVG at full size: outlines, names, grain lines, notches, darts, and a bar of 10 cm to check the printer by.
//!
//! It reads back as the same pattern: what an outline cannot say stands in `data-panel`, `data-edges` and `data-seams`.

use serde_json::{Value, json};
use std::fmt::Write;
use taffeta::math::{DVec2, trig};
use taffeta_scene::outline::{Curve, Outline, Run, edges};
use taffeta_scene::{Garment, Panel, PanelEdge};

/// Panels lie in rows of this width at most [m].
const WIDTH: f64 = 1.5;
/// Room around every panel [m].
const ROOM: f64 = 0.03;
/// Length of a notch [m].
const NOTCH: f64 = 0.006;
/// Where the notches of a sewn edge are that has none of its own [1].
const THIRDS: [f64; 2] = [1.0 / 3.0, 2.0 / 3.0];

/// The pattern of a garment whose panels have no faults.
pub fn pattern_svg(garment: &Garment) -> String {
    let outlines: Vec<Outline> = garment.panel.iter().map(Outline::new).collect();
    let (places, size) = lay_out(garment);
    let (width, height) = (1e3 * size.x, 1e3 * size.y);
    let mut svg = String::new();
    let mut line = |text: String| {
        svg += &text;
        svg.push('\n');
    };
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}mm\" height=\"{height}mm\" viewBox=\"0 0 {width} {height}\" data-seams=\"{}\">",
        escaped(&json!(garment.seam).to_string())
    ));
    line("<style>path { fill: none; stroke: black; stroke-width: 0.4 } .mark { stroke-width: 0.25 } .dart { stroke-dasharray: 4 2 } text { font: 14px sans-serif; text-anchor: middle } .edge { font-size: 7px; fill: #555 }</style>".into());
    for ((panel, outline), at) in garment.panel.iter().zip(&outlines).zip(&places) {
        let sheet = Sheet { at: *at };
        let curves = edges(panel);
        line(outline_of(panel, &sheet));
        for (number, (edge, curve)) in panel.edge.iter().zip(&curves).enumerate() {
            let name = format!("{}.{}", panel.name, edge.name);
            let is_sewn = garment.seam.iter().any(|seam| seam.join.contains(&name));
            let notches = if edge.notch.is_empty() && is_sewn { &THIRDS[..] } else { &edge.notch };
            notches.iter().for_each(|share| line(notch(curve, *share, &sheet)));
            if !edge.name.is_empty() && outline.sewn_length(number) > 0.0 {
                let [p, inwards] = [curve.at(0.5 * curve.length()), inwards(curve, 0.5)];
                line(sheet.text("edge", p + 0.01 * inwards, &edge.name));
            }
        }
        for (_, side) in outline.runs.iter().filter(|(run, _)| !matches!(run, Run::Edge(_))) {
            line(format!("<path class=\"dart\" d=\"{}\"/>", sheet.polyline(side.points())));
        }
        let middle = middle(&curves);
        line(grain(panel, outline, middle, &sheet));
        line(sheet.text("name", middle + DVec2::new(0.0, 0.02), &panel.name));
    }
    let foot = height - 10.0;
    line(format!("<path class=\"mark\" d=\"M 30 {0} v -5 v 2.5 h 100 v -2.5 v 5\"/>", foot));
    line(format!("<text x=\"80\" y=\"{}\">10 cm</text>", foot - 6.0));
    line("</svg>".into());
    svg
}

/// Where the origin of every panel is on the sheet, and the size of the sheet, y down [m].
fn lay_out(garment: &Garment) -> (Vec<DVec2>, DVec2) {
    let (mut corner, mut row, mut widest) = (DVec2::splat(ROOM), 0.0_f64, 0.2_f64);
    let mut places = Vec::new();
    for panel in &garment.panel {
        let curves = edges(panel);
        let points = || curves.iter().flat_map(|curve| curve.points());
        let low = points().fold(DVec2::INFINITY, |low, p| low.min(*p));
        let high = points().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p));
        let size = high - low;
        if corner.x > ROOM && corner.x + size.x > WIDTH {
            corner = DVec2::new(ROOM, corner.y + row + ROOM);
            row = 0.0;
        }
        places.push(DVec2::new(corner.x - low.x, corner.y + high.y));
        corner.x += size.x + ROOM;
        (row, widest) = (row.max(size.y), widest.max(corner.x));
    }
    // The bar of 10 cm is below.
    let size = DVec2::new(widest, corner.y + row + 2.0 * ROOM);
    // Whole millimetres read better.
    (places.iter().map(|p| (1e3 * p).round() / 1e3).collect(), (1e3 * size).ceil() / 1e3)
}

/// A place on the sheet that a panel is drawn from [m].
struct Sheet {
    at: DVec2,
}

impl Sheet {
    /// A point of the panel, in millimetres of the sheet.
    fn point(&self, p: DVec2) -> String {
        // A picometre is nothing, and numbers stay short.
        let p = (1e12 * DVec2::new(self.at.x + p.x, self.at.y - p.y)).round() / 1e9;
        format!("{} {}", p.x, p.y)
    }

    fn polyline(&self, points: &[DVec2]) -> String {
        let points: Vec<String> = points.iter().map(|p| self.point(*p)).collect();
        format!("M {}", points.join(" L "))
    }

    fn text(&self, class: &str, p: DVec2, words: &str) -> String {
        let p = 1e3 * DVec2::new(self.at.x + p.x, self.at.y - p.y);
        format!("<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>", p.x, p.y, escaped(words))
    }
}

fn outline_of(panel: &Panel, sheet: &Sheet) -> String {
    let point = |p: &[f64; 2]| sheet.point(DVec2::from(*p));
    let mut d = format!("M {}", point(&panel.start));
    let mut from = DVec2::from(panel.start);
    for edge in &panel.edge {
        let to = DVec2::from(edge.to);
        let _ = match (edge.bulge, &edge.via[..], &edge.through[..]) {
            (Some(bulge), _, _) if bulge != 0.0 => {
                // Half the chord over the sine of half the angle; y goes down, so that it turns the other way.
                let radius = 1e3 * 0.25 * from.distance(to) * (1.0 + bulge * bulge) / bulge.abs();
                let [large, sweep] = [u8::from(bulge.abs() > 1.0), u8::from(bulge < 0.0)];
                write!(d, " A {radius} {radius} 0 {large} {sweep} {}", point(&edge.to))
            }
            (_, [c], _) => write!(d, " Q {} {}", point(c), point(&edge.to)),
            (_, [b, c], _) => write!(d, " C {} {} {}", point(b), point(c), point(&edge.to)),
            (_, _, through) => {
                through.iter().chain([&edge.to]).try_for_each(|p| write!(d, " L {}", point(p)))
            }
        };
        from = to;
    }
    let told: Vec<Value> = panel.edge.iter().map(told_of_edge).collect();
    let mut keys = json!(panel);
    if let Some(table) = keys.as_object_mut() {
        ["name", "start", "edge"].iter().for_each(|key| drop(table.shift_remove(*key)));
    }
    format!(
        "<path id=\"{}\" data-origin=\"{}\" data-edges=\"{}\" data-panel=\"{}\" d=\"{d} Z\"/>",
        escaped(&panel.name),
        sheet.point(DVec2::ZERO),
        escaped(&Value::Array(told).to_string()),
        escaped(&keys.to_string()),
    )
}

/// All of an edge but its shape.
fn told_of_edge(edge: &PanelEdge) -> Value {
    let mut keys = json!(edge);
    if let Some(table) = keys.as_object_mut() {
        ["to", "via", "through", "bulge"].iter().for_each(|key| drop(table.shift_remove(*key)));
        if !edge.through.is_empty() {
            table.insert("pieces".into(), json!(edge.through.len() + 1));
        }
    }
    keys
}

/// The direction to the inside of an outline against the clock, at a share of one of its edges.
fn inwards(curve: &Curve, share: f64) -> DVec2 {
    let (far, step) = (share * curve.length(), 1e-3 * curve.length());
    (curve.at(far + step) - curve.at(far - step)).perp().normalize_or_zero()
}

fn notch(curve: &Curve, share: f64, sheet: &Sheet) -> String {
    let p = curve.at(share * curve.length());
    format!("<path class=\"mark\" d=\"{}\"/>", sheet.polyline(&[p, p + NOTCH * inwards(curve, share)]))
}

/// The middle of all points of an outline [m].
fn middle(curves: &[Curve]) -> DVec2 {
    let points = || curves.iter().flat_map(|curve| curve.points());
    let low = points().fold(DVec2::INFINITY, |low, p| low.min(*p));
    let high = points().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p));
    low.midpoint(high)
}

/// A line with two arrowheads along the warp.
fn grain(panel: &Panel, outline: &Outline, middle: DVec2, sheet: &Sheet) -> String {
    let angle = panel.warp.to_radians();
    let way = DVec2::new(trig::cos(angle), trig::sin(angle));
    let half = 0.2 * outline.size().min_element();
    let side = middle + 0.25 * outline.size().x * DVec2::X;
    let ends = [side - half * way, side + half * way];
    let barb = |end: DVec2, back: DVec2, turn: f64| end + 0.008 * (back + turn * back.perp());
    let [low, high] = ends;
    let points = [
        barb(low, way, 0.4),
        low,
        barb(low, way, -0.4),
        low,
        high,
        barb(high, -way, 0.4),
        high,
        barb(high, -way, -0.4),
    ];
    format!("<path class=\"mark\" d=\"{}\"/>", sheet.polyline(&points))
}

/// Text as it may stand in an attribute or between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
