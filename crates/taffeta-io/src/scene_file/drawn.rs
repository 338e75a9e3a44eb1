//! What TOML beside a drawing says of it: which pieces are cut, how they are turned, named and placed, and how they are sewn.

use super::tree::Tree;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use taffeta::math::{DVec2, trig};
use taffeta_scene::outline::edges;
use taffeta_scene::rules::suggestion;
use taffeta_scene::{Panel, PanelEdge};

/// Where corners are not marked, an outline that turns by more than this has one [rad].
pub(super) const CORNER: f64 = PI / 6.0;

/// The pieces of a drawing as panels, and what is to be told of it.
#[derive(Default)]
pub(super) struct Drawn {
    pub panels: Vec<Panel>,
    /// Seams that the drawing itself tells.
    pub seams: Vec<Value>,
    pub notes: Vec<String>,
}

/// The TOML beside a drawing.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sheet {
    #[serde(rename = "title")]
    _title: String,
    units: Option<Unit>,
    /// The pieces that are cut; all of the drawing, if none is named.
    piece: Vec<Piece>,
    /// Seams, held against the scene's schema with all others.
    pub seam: Vec<Value>,
}

/// Units of a drawing.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Mm,
    Cm,
    M,
    In,
}

/// How a piece of the drawing is cut. What is not told here is a key of a panel.
#[derive(Deserialize)]
struct Piece {
    /// The piece of the drawing.
    of: String,
    /// The panel's name; left out, that of the piece.
    name: Option<String>,
    /// Cuts it as seen in a mirror, as the second of a pair.
    #[serde(default)]
    mirror: bool,
    /// Turns the drawing, from x towards y [degrees].
    #[serde(default)]
    turn: f64,
    /// Names of its edges, in the order of the drawing; left out, they go by their numbers.
    #[serde(default)]
    edges: Vec<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// Keys of a panel that may be said of a piece.
const KEYS: [&str; 5] = ["fabric", "warp", "wrap", "position", "rotation"];

impl Sheet {
    /// Reads TOML; the reason where it cannot be read.
    pub fn read(text: &str) -> Result<Self, String> {
        let sheet: Self = serde_json::from_value(table(text)?).map_err(|error| error.to_string())?;
        for piece in &sheet.piece {
            if let Some(key) = piece.more.keys().find(|key| !KEYS.contains(&key.as_str())) {
                return Err(format!(
                    "piece `{}` has the key `{key}`, which is none of `of`, `name`, `mirror`, `turn`, `edges`, `{}`",
                    piece.of,
                    KEYS.join("`, `")
                ));
            }
        }
        Ok(sheet)
    }

    /// Length of a unit of the drawing, if it is told here [m].
    pub fn unit(&self) -> Option<f64> {
        self.units.map(|unit| match unit {
            Unit::Mm => 1e-3,
            Unit::Cm => 1e-2,
            Unit::M => 1.0,
            Unit::In => 0.0254,
        })
    }

    /// The panels that are cut, as plain data; edges that `sewn` names by parts are divided at their notches.
    pub fn cut(&self, drawn: &mut Drawn, sewn: &BTreeSet<String>) -> Result<Vec<Value>, String> {
        let pieces = std::mem::take(&mut drawn.panels);
        let mut panels = Vec::new();
        if self.piece.is_empty() {
            panels.extend(pieces.iter().map(|panel| (panel.clone(), &NO_KEYS as &Map<String, Value>)));
        }
        for asked in &self.piece {
            let Some(found) = pieces.iter().find(|panel| panel.name == asked.of) else {
                let names: Vec<&str> = pieces.iter().map(|panel| panel.name.as_str()).collect();
                let known = suggestion(&asked.of, &names, "the pieces are");
                return Err(format!(
                    "the TOML beside it names the piece `{}`, which it has not; {known}",
                    asked.of
                ));
            };
            panels.push((asked.panel(found.clone())?, &asked.more));
        }
        let is_cut = |panel: &&Panel| self.piece.iter().any(|asked| asked.of == panel.name);
        let left_out: Vec<&str> =
            pieces.iter().filter(|panel| !is_cut(panel)).map(|panel| panel.name.as_str()).collect();
        if !self.piece.is_empty() && !left_out.is_empty() {
            drawn.notes.push(format!("pieces that are not cut: {}", left_out.join(", ")));
        }
        Ok(panels
            .into_iter()
            .map(|(mut panel, more)| {
                divide(&mut panel, sewn);
                let mut value = json!(panel);
                if let Some(table) = value.as_object_mut() {
                    table.extend(more.clone());
                }
                value
            })
            .collect())
    }
}

/// TOML as plain data, or what is wrong with it.
pub(super) fn table(text: &str) -> Result<Value, String> {
    let tree = Tree::parse(text).map_err(|mistakes| {
        let first = mistakes.first().map_or(String::new(), |mistake| mistake.fault.reason.clone());
        let at = mistakes.first().and_then(|mistake| mistake.span.clone()).map_or(0, |span| span.start);
        format!("line {} {first}", 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count())
    })?;
    match tree.faults.first() {
        Some(fault) => Err(fault.to_string()),
        None => Ok(tree.value),
    }
}

static NO_KEYS: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl Piece {
    fn panel(&self, mut panel: Panel) -> Result<Panel, String> {
        if self.edges.len() > panel.edge.len() {
            let (asked, there) = (self.edges.len(), panel.edge.len());
            return Err(format!(
                "the TOML beside it names {asked} edges of piece `{}`, which has {there}",
                self.of
            ));
        }
        panel.edge.iter_mut().zip(&self.edges).for_each(|(edge, name)| edge.name.clone_from(name));
        if let Some(name) = &self.name {
            panel.name.clone_from(name);
        }
        if self.turn != 0.0 {
            let angle = self.turn.to_radians();
            let way = DVec2::new(trig::cos(angle), trig::sin(angle));
            moved(&mut panel, |p| way.rotate(p));
            panel.warp = within_a_turn(panel.warp + self.turn);
        }
        if self.mirror {
            moved(&mut panel, |p| DVec2::new(-p.x, p.y));
            panel.edge.iter_mut().for_each(|edge| edge.bulge = edge.bulge.map(|bulge| -bulge));
            turned_back(&mut panel);
            panel.warp = within_a_turn(180.0 - panel.warp);
        }
        Ok(panel)
    }
}

fn within_a_turn(angle: f64) -> f64 {
    angle.rem_euclid(360.0)
}

/// Moves all points of a panel's drawing.
pub(super) fn moved(panel: &mut Panel, to: impl Fn(DVec2) -> DVec2) {
    let to = |p: [f64; 2]| to(p.into()).into();
    panel.start = to(panel.start);
    for edge in &mut panel.edge {
        edge.to = to(edge.to);
        edge.via.iter_mut().chain(&mut edge.through).for_each(|p| *p = to(*p));
    }
}

/// The same outline the other way around; edges keep their names.
pub(super) fn turned_back(panel: &mut Panel) {
    let starts: Vec<[f64; 2]> =
        [panel.start].into_iter().chain(panel.edge.iter().map(|edge| edge.to)).collect();
    for (edge, from) in panel.edge.iter_mut().zip(starts) {
        edge.to = from;
        edge.via.reverse();
        edge.through.reverse();
        edge.notch.iter_mut().for_each(|share| *share = 1.0 - *share);
        edge.notch.reverse();
        edge.bulge = edge.bulge.map(|bulge| -bulge);
    }
    panel.edge.reverse();
}

/// Puts the origin of a panel's drawing in the middle of its outline.
pub(super) fn centre(panel: &mut Panel) {
    let curves = edges(panel);
    let points = || curves.iter().flat_map(|curve| curve.points());
    let low = points().fold(DVec2::INFINITY, |low, p| low.min(*p));
    let high = points().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p));
    let middle = low.midpoint(high);
    moved(panel, |p| p - middle);
}

/// Names the edges of a panel that have no name by their numbers.
pub(super) fn number_edges(panel: &mut Panel) {
    let unnamed = panel.edge.iter_mut().enumerate().filter(|(_, edge)| edge.name.is_empty());
    unnamed.for_each(|(k, edge)| edge.name = k.to_string());
}

/// Divides edges at their notches whose parts are sewn, such as `3/0` and `3/1` of edge `3`.
fn divide(panel: &mut Panel, sewn: &BTreeSet<String>) {
    let curves = edges(panel);
    let mut parts = Vec::new();
    for (edge, curve) in panel.edge.iter().zip(curves) {
        let start = format!("{}.{}/", panel.name, edge.name);
        if edge.notch.is_empty() || !sewn.iter().any(|name| name.starts_with(&start)) {
            parts.push(edge.clone());
            continue;
        }
        let ends = edge.notch.iter().copied().chain([1.0]);
        let mut from = 0.0;
        for (k, to) in ends.enumerate() {
            let part = curve.part(from * curve.length(), to * curve.length());
            let inner = &part.points()[1..part.points().len() - 1];
            parts.push(PanelEdge {
                name: format!("{}/{k}", edge.name),
                to: if to == 1.0 { edge.to } else { part.points()[part.points().len() - 1].into() },
                through: inner.iter().map(|p| (*p).into()).collect(),
                ..PanelEdge::default()
            });
            from = to;
        }
    }
    panel.edge = parts;
}
