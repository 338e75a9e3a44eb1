//! Patterns drawn as SVG: every closed path with an `id` is a panel, at the size that the document has on paper.
//!
//! What a path cannot say stands in JSON: `data-panel` and `data-edges` on it have keys of a panel and of its edges, `data-seams` on the document has seams.

use super::drawn::{CORNER, Drawn, centre, moved, number_edges, turned_back};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Map, Value, json};
use std::str::FromStr;
use svgtypes::{Length, LengthUnit, PathParser, PathSegment, Transform, ViewBox};
use taffeta::math::{DVec2, trig};
use taffeta_scene::outline::{Outline, edges};
use taffeta_scene::{Panel, PanelEdge};

/// Length of a pixel, 96 to the inch as CSS has it [m].
const PIXEL: f64 = 0.0254 / 96.0;
/// No drawing of a pattern comes near this many elements.
const MOST_NODES: u32 = 1_000_000;
/// Nor does a path come near this many pieces.
const MOST_PIECES: usize = 5000;
/// A path that ends as near to its start is closed [m].
const CLOSED: f64 = 1e-5;
/// Elements whose paths are not drawn where they stand.
const UNDRAWN: [&str; 6] = ["defs", "clipPath", "mask", "marker", "pattern", "symbol"];

/// Reads a drawing; `unit` is the length of its unit if that is told elsewhere [m].
pub(super) fn pieces(text: &str, unit: Option<f64>) -> Result<Drawn, String> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).map_err(|error| format!("it is no SVG: {error}"))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" {
        return Err(format!("it is no SVG: its first element is `{}`", root.tag_name().name()));
    }
    let scale = match unit {
        Some(unit) => unit,
        None => unit_of(&root)?,
    };
    let mut drawn = Drawn::default();
    if let Some(seams) = root.attribute("data-seams") {
        drawn.seams = serde_json::from_str(seams)
            .map_err(|error| format!("`data-seams` is no list of seams: {error}"))?;
    }
    for node in document.descendants().filter(|node| node.tag_name().name() == "path") {
        let (Some(id), Some(d)) = (node.attribute("id"), node.attribute("d")) else { continue };
        if node.ancestors().any(|above| UNDRAWN.contains(&above.tag_name().name())) {
            continue;
        }
        let refused = |reason: String| {
            format!("line {}: path `{id}`: {reason}", document.text_pos_at(node.range().start).row)
        };
        if let Some(panel) = panel(&node, id, d, scale).map_err(refused)? {
            drawn.panels.push(panel);
        }
    }
    match drawn.panels.is_empty() {
        true => Err("it has no closed path with an `id`".into()),
        false => Ok(drawn),
    }
}

/// Length of the document's unit [m]: its size over that of its view box, else that of a pixel.
fn unit_of(root: &Node) -> Result<f64, String> {
    let size = |name: &str| {
        let length = Length::from_str(root.attribute(name)?).ok()?;
        let unit = match length.unit {
            LengthUnit::None | LengthUnit::Px => PIXEL,
            LengthUnit::In => 0.0254,
            LengthUnit::Cm => 1e-2,
            LengthUnit::Mm => 1e-3,
            LengthUnit::Pt => 0.0254 / 72.0,
            LengthUnit::Pc => 0.0254 / 6.0,
            LengthUnit::Em | LengthUnit::Ex | LengthUnit::Percent => return None,
        };
        Some(length.number * unit).filter(|length| *length > 0.0 && length.is_finite())
    };
    let Some(view) = root.attribute("viewBox") else { return Ok(PIXEL) };
    let view = ViewBox::from_str(view).map_err(|error| format!("its `viewBox` cannot be read: {error}"))?;
    match (size("width"), size("height")) {
        (Some(width), Some(height)) if (width / view.w / (height / view.h) - 1.0).abs() > 1e-3 => {
            Err("`width` and `height` of it stretch its `viewBox` differently".into())
        }
        (Some(width), _) => Ok(width / view.w),
        (None, Some(height)) => Ok(height / view.h),
        (None, None) => Ok(PIXEL),
    }
}

/// The way from the units of a path to metres, y up.
struct ToMetres {
    /// Images of x and y.
    axes: [DVec2; 2],
    shift: DVec2,
}

impl ToMetres {
    fn of(node: &Node, scale: f64) -> Result<Self, String> {
        let mut to = Self { axes: [DVec2::X, DVec2::Y], shift: DVec2::ZERO };
        for transform in node.ancestors().filter_map(|above| above.attribute("transform")) {
            let t = Transform::from_str(transform)
                .map_err(|error| format!("its transform cannot be read: {error}"))?;
            let turn = |v: DVec2| DVec2::new(t.a * v.x + t.c * v.y, t.b * v.x + t.d * v.y);
            to.axes = to.axes.map(turn);
            to.shift = turn(to.shift) + DVec2::new(t.e, t.f);
        }
        let up = |v: DVec2| scale * DVec2::new(v.x, -v.y);
        Ok(Self { axes: to.axes.map(up), shift: up(to.shift) })
    }

    fn point(&self, p: DVec2) -> DVec2 {
        self.axes[0] * p.x + self.axes[1] * p.y + self.shift
    }

    /// Arcs of circles stay such, turned around where it mirrors.
    fn bulge(&self, bulge: f64) -> Result<f64, String> {
        let [x, y] = self.axes;
        if (x.length() / y.length() - 1.0).abs() > 1e-6 || x.dot(y).abs() > 1e-6 * x.length_squared() {
            return Err("it has an arc that its transform makes an ellipse; draw it as a curve".into());
        }
        Ok(if x.perp_dot(y) < 0.0 { -bulge } else { bulge })
    }
}

/// The panel that a path draws; none where it is not closed.
fn panel(node: &Node, id: &str, d: &str, scale: f64) -> Result<Option<Panel>, String> {
    let to = ToMetres::of(node, scale)?;
    let Some((start, mut pieces)) = outline(d, &to)? else { return Ok(None) };
    let told = match node.attribute("data-edges") {
        Some(edges) => serde_json::from_str(edges)
            .map_err(|error| format!("`data-edges` is no list of edges: {error}"))?,
        None => corner_to_corner(start, &mut pieces),
    };
    // The last piece comes back to where the first starts.
    let mut panel = Panel {
        name: id.into(),
        start: pieces.last().map_or(start.into(), |last| last.to),
        ..Panel::default()
    };
    panel.edge = grouped(panel.start.into(), &pieces, told)?;
    if let Some(keys) = node.attribute("data-panel") {
        let keys: Map<String, Value> =
            serde_json::from_str(keys).map_err(|error| format!("`data-panel` has no keys: {error}"))?;
        let mut value = json!(panel);
        if let Some(table) = value.as_object_mut() {
            table.extend(keys);
        }
        panel = serde_json::from_value(value).map_err(|error| format!("`data-panel`: {error}"))?;
    }
    if Outline::new(&Panel { dart: Vec::new(), ..panel.clone() }).doubled_area() < 0.0 {
        turned_back(&mut panel);
    }
    number_edges(&mut panel);
    match node.attribute("data-origin") {
        Some(origin) => {
            let numbers: Vec<f64> =
                origin.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            let [x, y] = numbers[..] else { return Err("`data-origin` is not two numbers".into()) };
            let origin = to.point(DVec2::new(x, y));
            moved(&mut panel, |p| p - origin);
        }
        None => centre(&mut panel),
    }
    if !panel.edge.iter().all(|edge| edge.to.iter().all(|c| c.is_finite())) {
        return Err("it has a point that is not finite".into());
    }
    Ok(Some(panel))
}

/// What `data-edges` tells of an edge: how many pieces of the path it has, and keys of an edge.
#[derive(serde::Deserialize)]
struct Told {
    #[serde(default = "one")]
    pieces: usize,
    #[serde(flatten)]
    keys: Map<String, Value>,
}

fn one() -> usize {
    1
}

/// The start and the pieces of a path [m], each an edge; none where it is not closed.
fn outline(d: &str, to: &ToMetres) -> Result<Option<(DVec2, Vec<PanelEdge>)>, String> {
    let (mut pieces, mut start, mut at) = (Vec::<PanelEdge>::new(), DVec2::ZERO, DVec2::ZERO);
    // The control point that a smooth curve goes on from.
    let (mut cubic, mut quadratic) = (None, None);
    let mut closed = false;
    for segment in PathParser::from(d) {
        let segment = segment.map_err(|error| format!("its `d` cannot be read: {error}"))?;
        let from = |abs: bool, x: f64, y: f64| DVec2::new(x, y) + if abs { DVec2::ZERO } else { at };
        let (via, bulge, end, next): (Vec<DVec2>, _, _, [Option<DVec2>; 2]) = match segment {
            PathSegment::MoveTo { abs, x, y } if pieces.is_empty() && !closed => {
                at = from(abs, x, y);
                start = at;
                continue;
            }
            PathSegment::MoveTo { .. } => {
                return Err("it is more than one outline; draw a path for each".into());
            }
            PathSegment::ClosePath { .. } => {
                closed = true;
                continue;
            }
            PathSegment::LineTo { abs, x, y } => (vec![], None, from(abs, x, y), [None; 2]),
            PathSegment::HorizontalLineTo { abs, x } => {
                (vec![], None, DVec2::new(if abs { x } else { at.x + x }, at.y), [None; 2])
            }
            PathSegment::VerticalLineTo { abs, y } => {
                (vec![], None, DVec2::new(at.x, if abs { y } else { at.y + y }), [None; 2])
            }
            PathSegment::CurveTo { abs, x1, y1, x2, y2, x, y } => {
                let last = from(abs, x2, y2);
                (vec![from(abs, x1, y1), last], None, from(abs, x, y), [Some(last), None])
            }
            PathSegment::SmoothCurveTo { abs, x2, y2, x, y } => {
                let last = from(abs, x2, y2);
                (vec![cubic.map_or(at, |c| 2.0 * at - c), last], None, from(abs, x, y), [Some(last), None])
            }
            PathSegment::Quadratic { abs, x1, y1, x, y } => {
                let control = from(abs, x1, y1);
                (vec![control], None, from(abs, x, y), [None, Some(control)])
            }
            PathSegment::SmoothQuadratic { abs, x, y } => {
                let control = quadratic.map_or(at, |c| 2.0 * at - c);
                (vec![control], None, from(abs, x, y), [None, Some(control)])
            }
            PathSegment::EllipticalArc { abs, rx, ry, large_arc, sweep, x, y, .. } => {
                let end = from(abs, x, y);
                if (rx / ry - 1.0).abs() > 1e-6 {
                    return Err("it has an arc of an ellipse; draw it as a curve".into());
                }
                let half = 0.5 * at.distance(end);
                // Sine and cosine of half the angle; too small a radius is made to fit, as SVG has it.
                let sine = (half / rx.abs()).min(1.0);
                let cosine = (1.0 - sine * sine).sqrt() * if large_arc { -1.0 } else { 1.0 };
                let bulge = sine / (1.0 + cosine).max(1e-6);
                (vec![], Some(if sweep { bulge } else { -bulge }), end, [None; 2])
            }
        };
        if closed {
            return Err("it is more than one outline; draw a path for each".into());
        }
        [cubic, quadratic] = next;
        at = end;
        pieces.push(PanelEdge {
            to: to.point(end).into(),
            via: via.into_iter().map(|p| to.point(p).into()).collect(),
            bulge: bulge.map(|bulge| to.bulge(bulge)).transpose()?,
            ..PanelEdge::default()
        });
        if pieces.len() > MOST_PIECES {
            return Err(format!("it has more than {MOST_PIECES} pieces"));
        }
    }
    let start = to.point(start);
    let Some(last) = pieces.last_mut() else { return Ok(None) };
    let gap = DVec2::from(last.to).distance(start);
    if gap < CLOSED {
        last.to = start.into();
    } else if closed {
        pieces.push(PanelEdge { to: start.into(), ..PanelEdge::default() });
    } else {
        return Ok(None);
    }
    Ok((pieces.len() >= 2).then_some((start, pieces)))
}

/// Turns the list of pieces so that it begins at a corner, and tells how many go from each corner to the next.
fn corner_to_corner(start: DVec2, pieces: &mut [PanelEdge]) -> Vec<Told> {
    let count = pieces.len();
    let from = |k: usize| if k == 0 { start } else { DVec2::from(pieces[k - 1].to) };
    let ways: Vec<[DVec2; 2]> = (0..count).map(|k| ways(from(k), &pieces[k])).collect();
    let mut corners: Vec<usize> = (0..count)
        .filter(|k| ways[(k + count - 1) % count][1].angle_to(ways[*k][0]).abs() > CORNER)
        .collect();
    // What has no two corners is halved.
    if corners.len() < 2 {
        let first = corners.first().copied().unwrap_or(0);
        corners = vec![first, (first + count / 2) % count];
        corners.sort_unstable();
    }
    pieces.rotate_left(corners[0]);
    let ends = corners.iter().skip(1).copied().chain([corners[0] + count]);
    let runs = corners.iter().zip(ends).map(|(first, last)| Told { pieces: last - first, keys: Map::new() });
    runs.collect()
}

/// Directions of a piece where it starts and where it ends.
fn ways(from: DVec2, piece: &PanelEdge) -> [DVec2; 2] {
    let to = DVec2::from(piece.to);
    if let Some(bulge) = piece.bulge {
        // An arc leaves its chord by half its angle.
        let half = 2.0 * trig::atan2(bulge, 1.0);
        let way = DVec2::new(trig::cos(half), trig::sin(half));
        return [DVec2::new(way.x, -way.y).rotate(to - from), way.rotate(to - from)];
    }
    let points: Vec<DVec2> =
        [from].into_iter().chain(piece.via.iter().map(|p| DVec2::from(*p))).chain([to]).collect();
    let ahead = points.iter().find(|p| **p != from).map_or(DVec2::X, |p| *p - from);
    let back = points.iter().rev().find(|p| **p != to).map_or(DVec2::X, |p| to - *p);
    [ahead, back]
}

/// Edges of one or more pieces each.
fn grouped(start: DVec2, pieces: &[PanelEdge], told: Vec<Told>) -> Result<Vec<PanelEdge>, String> {
    let all: usize = told.iter().fold(0, |sum, told| sum.saturating_add(told.pieces));
    if all != pieces.len() || told.iter().any(|told| told.pieces == 0) {
        return Err(format!("`data-edges` has edges of {all} pieces, the path has {}", pieces.len()));
    }
    let (mut from, mut rest) = (start, pieces);
    let mut grouped = Vec::new();
    for Told { pieces, keys } in told {
        let (own, after) = rest.split_at(pieces);
        let edge = match own {
            [only] => only.clone(),
            many => {
                let curves = edges(&Panel { start: from.into(), edge: many.to_vec(), ..Panel::default() });
                let mut points: Vec<DVec2> =
                    curves.iter().flat_map(|curve| curve.points()[1..].to_vec()).collect();
                let to = points.pop().unwrap_or(from).into();
                let through = points.into_iter().map(Into::into).collect();
                PanelEdge { to, through, ..PanelEdge::default() }
            }
        };
        let mut value = json!(edge);
        if let Some(table) = value.as_object_mut() {
            table.extend(keys);
        }
        let edge: PanelEdge =
            serde_json::from_value(value).map_err(|error| format!("`data-edges`: {error}"))?;
        from = edge.to.into();
        grouped.push(edge);
        rest = after;
    }
    Ok(grouped)
}
