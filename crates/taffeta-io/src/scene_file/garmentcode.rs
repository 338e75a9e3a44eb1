//! GarmentCode specifications as patterns: panels of edges between numbered vertices, stitches between numbered edges.
//!
//! Panels are drawn as they stand in the world, so that one whose edges run with the clock is seen from behind: it is mirrored, and turned around to stand
//! where it stood. Edges are named by their numbers. A stitch joins the end of one edge with the start of the other unless it says `right_wrong`.

use super::crossings::mend;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use taffeta_scene::outline::Outline;
use taffeta_scene::{Panel, PanelEdge, Seam};

#[derive(Deserialize)]
struct Specification {
    pattern: Pattern,
    #[serde(default)]
    properties: Properties,
}

#[derive(Deserialize)]
struct Pattern {
    panels: BTreeMap<String, Piece>,
    #[serde(default)]
    stitches: Vec<Vec<StitchPart>>,
    #[serde(default)]
    panel_order: Vec<String>,
}

#[derive(Deserialize)]
#[serde(default)]
struct Properties {
    curvature_coords: CurvatureCoords,
    normalize_panel_translation: bool,
    units_in_meter: f64,
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            curvature_coords: CurvatureCoords::Relative,
            normalize_panel_translation: false,
            units_in_meter: 100.0,
        }
    }
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum CurvatureCoords {
    Relative,
    Absolute,
}

#[derive(Deserialize)]
struct Piece {
    translation: [f64; 3],
    rotation: [f64; 3],
    vertices: Vec<[f64; 2]>,
    edges: Vec<PieceEdge>,
}

#[derive(Deserialize)]
struct PieceEdge {
    endpoints: [usize; 2],
    curvature: Option<Curvature>,
    label: Option<String>,
}

/// Labels of edges that its own simulation holds to the body at first, and that gravity would pull off.
const HELD_UP: [&str; 2] = ["lower_interface", "strapless_top"];

#[derive(Deserialize)]
#[serde(untagged)]
enum Curvature {
    /// The control point of a quadratic curve, as early files have it.
    Control([f64; 2]),
    Typed(TypedCurvature),
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "params", rename_all = "lowercase")]
enum TypedCurvature {
    Quadratic([[f64; 2]; 1]),
    Cubic([[f64; 2]; 2]),
    /// Radius, whether it is more than half a circle, whether it runs against the clock.
    Circle([f64; 3]),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StitchPart {
    Side { panel: String, edge: usize },
    Way(String),
}

/// The `panel` and `seam` of a specification, or why it has none.
pub(super) fn pattern(text: &str, notes: &mut Vec<String>) -> Result<Map<String, Value>, String> {
    let specification: Specification =
        serde_json::from_str(text).map_err(|error| format!("it is no GarmentCode specification: {error}"))?;
    let Specification { pattern: Pattern { mut panels, stitches, panel_order }, properties } = specification;
    if !(properties.units_in_meter > 0.0 && properties.units_in_meter.is_finite()) {
        return Err(format!("`units_in_meter` is {}, and has to be above 0", properties.units_in_meter));
    }
    let mut drawn = Vec::new();
    for name in &panel_order {
        let piece = panels
            .remove(name)
            .ok_or_else(|| format!("`panel_order` names panel `{name}`, which is not there"))?;
        drawn.push(panel(name, piece, &properties)?);
    }
    for (name, piece) in panels {
        drawn.push(panel(&name, piece, &properties)?);
    }
    drawn.iter_mut().for_each(|panel| mend(panel, notes));
    let count = |name: &str| drawn.iter().find(|panel| panel.name == name).map(|panel| panel.edge.len());
    let seams: Vec<Seam> =
        stitches.iter().enumerate().map(|(k, parts)| seam(k, parts, &count)).collect::<Result<_, _>>()?;
    let Value::Object(table) = json!({ "panel": drawn, "seam": seams }) else { return Ok(Map::new()) };
    Ok(table)
}

fn panel(name: &str, piece: Piece, properties: &Properties) -> Result<Panel, String> {
    let Piece { mut translation, rotation: [x, y, z], mut vertices, edges } = piece;
    let (Some(first), count) = (edges.first(), vertices.len()) else {
        return Err(format!("panel `{name}` has no edges"));
    };
    if properties.normalize_panel_translation {
        let middle = [0, 1].map(|axis| vertices.iter().map(|v| v[axis]).sum::<f64>() / count as f64);
        vertices.iter_mut().for_each(|v| (0..2).for_each(|axis| v[axis] -= middle[axis]));
        (0..2).for_each(|axis| translation[axis] += middle[axis]);
    }
    let at = |vertex: usize| vertices.get(vertex).map(|v| v.map(|c| c / properties.units_in_meter));
    let no_vertex = || format!("an edge of panel `{name}` names a vertex that is not there; it has {count}");
    let start = at(first.endpoints[0]).ok_or_else(no_vertex)?;
    let mut outline = Vec::new();
    for (number, edge) in edges.iter().enumerate() {
        let next = &edges[(number + 1) % edges.len()];
        let [from, to] = edge.endpoints;
        if next.endpoints[0] != to {
            return Err(format!(
                "edge {number} of panel `{name}` ends at vertex {to}, where the next one starts at {}",
                next.endpoints[0]
            ));
        }
        let ends = [at(from).ok_or_else(no_vertex)?, at(to).ok_or_else(no_vertex)?];
        let (via, bulge) = curve(ends, edge.curvature.as_ref(), properties)
            .map_err(|reason| format!("edge {number} of panel `{name}` {reason}"))?;
        let held_up = edge.label.as_deref().is_some_and(|label| HELD_UP.contains(&label));
        let name = number.to_string();
        outline.push(PanelEdge { name, to: ends[1], via, bulge, held_up, ..PanelEdge::default() });
    }
    let drawn = Panel {
        name: name.into(),
        start,
        edge: outline,
        position: translation.map(|c| c / properties.units_in_meter),
        rotation: [x, y, z],
        ..Panel::default()
    };
    Ok(if Outline::new(&drawn).doubled_area() < 0.0 { from_behind(drawn) } else { drawn })
}

/// Control points or the bulge of an edge.
fn curve(
    ends: [[f64; 2]; 2],
    curvature: Option<&Curvature>,
    properties: &Properties,
) -> Result<(Vec<[f64; 2]>, Option<f64>), String> {
    let [[ax, ay], [bx, by]] = ends;
    let (dx, dy) = (bx - ax, by - ay);
    // Along the edge and across it, to its left, in lengths of the edge.
    let point = |[s, t]: &[f64; 2]| match properties.curvature_coords {
        CurvatureCoords::Relative => [ax + s * dx - t * dy, ay + s * dy + t * dx],
        CurvatureCoords::Absolute => [s / properties.units_in_meter, t / properties.units_in_meter],
    };
    Ok(match curvature {
        None => (vec![], None),
        Some(Curvature::Control(control)) => (vec![point(control)], None),
        Some(Curvature::Typed(TypedCurvature::Quadratic([control]))) => (vec![point(control)], None),
        Some(Curvature::Typed(TypedCurvature::Cubic(controls))) => {
            (controls.iter().map(point).collect(), None)
        }
        Some(Curvature::Typed(TypedCurvature::Circle([radius, large, left]))) => {
            let (radius, half) = (radius / properties.units_in_meter, 0.5 * (dx * dx + dy * dy).sqrt());
            // Half circles are rounded to a hair less.
            if !(radius.is_finite() && radius >= 0.999 * half) {
                return Err(format!(
                    "has an arc of the radius {radius:.4} m, too small for ends {:.4} m apart",
                    2.0 * half
                ));
            }
            // Sine and cosine of half the angle.
            let sine = (half / radius).min(1.0);
            let cosine = (1.0 - sine * sine).sqrt() * if *large != 0.0 { -1.0 } else { 1.0 };
            let bulge = sine / (1.0 + cosine);
            (vec![], Some(if *left != 0.0 { bulge } else { -bulge }))
        }
    })
}

/// The same panel, drawn as seen from its other side.
fn from_behind(mut panel: Panel) -> Panel {
    let mirrored = |[x, y]: [f64; 2]| [-x, y];
    panel.start = mirrored(panel.start);
    for edge in &mut panel.edge {
        edge.to = mirrored(edge.to);
        edge.via.iter_mut().for_each(|control| *control = mirrored(*control));
        edge.bulge = edge.bulge.map(|bulge| -bulge);
    }
    // Half a turn about the panel's own y comes first: about x it then goes the other way.
    let [x, y, z] = panel.rotation;
    panel.rotation = [-x, y + 180.0, z];
    panel
}

fn seam(
    number: usize,
    parts: &[StitchPart],
    edges_of: &impl Fn(&str) -> Option<usize>,
) -> Result<Seam, String> {
    let (sides, reverse) = match parts {
        [a, b] => ([a, b], false),
        [a, b, StitchPart::Way(way)] if way == "right_wrong" => ([a, b], true),
        _ => return Err(format!("stitch {number} is not two edges and, perhaps, `right_wrong`")),
    };
    let name = |side: &StitchPart| match side {
        StitchPart::Side { panel, edge } => match edges_of(panel) {
            Some(count) if *edge < count => Ok(format!("{panel}.{edge}")),
            Some(count) => {
                Err(format!("stitch {number} names edge {edge} of panel `{panel}`, which has {count}"))
            }
            None => Err(format!("stitch {number} names panel `{panel}`, which is not there")),
        },
        StitchPart::Way(way) => Err(format!("stitch {number} has `{way}` where an edge should be")),
    };
    Ok(Seam { join: [name(sides[0])?, name(sides[1])?], reverse, gather: true, ..Seam::default() })
}
