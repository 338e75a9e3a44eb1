//! Drawings of pattern rooms: DXF as ASTM D6673 and AAMA-292 use it, one block for each piece, what a line means told by the number of its layer.
//!
//! Only what a pattern needs is read: polylines with bulges, lines, arcs, points and text. A reader of all of DXF is a hundred times as long.

use super::drawn::{CORNER, Drawn, centre, number_edges, turned_back};
use std::f64::consts::TAU;
use taffeta::math::{DVec2, trig};
use taffeta_scene::outline::{Curve, Outline, edges};
use taffeta_scene::{Panel, PanelEdge};

/// Layers of ASTM D6673-10, table 1.
mod layer {
    pub const BOUNDARY: u32 = 1;
    pub const TURN_POINTS: u32 = 2;
    pub const NOTCHES: u32 = 4;
    pub const MIRROR: u32 = 6;
    pub const GRAIN: u32 = 7;
    pub const INTERNAL: u32 = 8;
    pub const CUTOUTS: u32 = 11;
    pub const SEWING: u32 = 14;
    /// Other shapes of notches: T, castle, check, U.
    pub const SHAPED_NOTCHES: std::ops::RangeInclusive<u32> = 80..=83;
}

/// Points nearer than this are one [m].
const SAME: f64 = 1e-5;
/// A point of another layer belongs to the outline that it is as near to [m].
const ON: f64 = 5e-4;
/// Notches are cut into the allowance, which is no wider than this [m].
const NOTCH_REACH: f64 = 0.03;
/// No piece that is digitised comes near this many points.
const MOST_POINTS: usize = 5000;
/// Pieces of a full circle.
const CIRCLE: f64 = 128.0;

/// The pieces of one size, or why there are none.
pub(super) enum Pieces {
    /// As panels, with what is to be told of them.
    Read(Drawn),
    /// The size is none of these.
    OtherSizes(Vec<String>),
}

/// Reads a drawing; `size` is the one to cut and `unit` the length of its unit where the drawing need not say so [m].
pub(super) fn pieces(text: &str, size: Option<&str>, unit: Option<f64>) -> Result<Pieces, String> {
    let drawing = Drawing::read(text)?;
    let unit = match unit.or(drawing.unit) {
        Some(unit) => unit,
        None => {
            return Err("it does not say whether it is metric; write `units` into the TOML beside it".into());
        }
    };
    let blocks: Vec<&Block> = drawing.blocks.iter().filter(|block| block.is_piece()).collect();
    if blocks.is_empty() {
        return Err("no block of it has an outline, a closed polyline on layer 1".into());
    }
    let mut sizes: Vec<String> = Vec::new();
    for size in blocks.iter().filter_map(|block| block.size.clone()) {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    let known = |asked: &str| sizes.iter().find(|size| size.eq_ignore_ascii_case(asked.trim()));
    let chosen = match (size, &drawing.sample_size) {
        (Some(asked), _) => match known(asked) {
            Some(size) => Some(size),
            None => return Ok(Pieces::OtherSizes(sizes)),
        },
        (None, Some(sample)) if known(sample).is_some() => known(sample),
        (None, _) if sizes.len() > 1 => return Ok(Pieces::OtherSizes(sizes)),
        (None, _) => sizes.first(),
    };
    let mut drawn = Drawn::default();
    for block in blocks.iter().filter(|block| block.size.is_none() || block.size.as_ref() == chosen) {
        drawn.panels.push(block.panel(unit, &mut drawn.notes)?);
    }
    Ok(Pieces::Read(drawn))
}

/// A drawing as far as it is read.
#[derive(Default)]
struct Drawing {
    blocks: Vec<Block>,
    /// Length of its unit, if it says so [m].
    unit: Option<f64>,
    sample_size: Option<String>,
}

#[derive(Default)]
struct Block {
    name: String,
    size: Option<String>,
    lines: Vec<Line>,
    points: Vec<(u32, DVec2)>,
}

/// Points of a line, in units of the drawing.
struct Line {
    layer: u32,
    points: Vec<DVec2>,
    closed: bool,
    /// Where it stands in the file.
    at: usize,
}

/// What stands between two groups of code 0: the kind, and all groups with the lines that they stand on.
struct Entity<'t> {
    kind: &'t str,
    at: usize,
    groups: Vec<(i32, &'t str, usize)>,
}

impl<'t> Entity<'t> {
    fn text(&self, code: i32) -> Option<&'t str> {
        self.groups.iter().find(|(c, _, _)| *c == code).map(|(_, value, _)| *value)
    }

    fn number(&self, code: i32) -> Result<Option<f64>, String> {
        let found = self.groups.iter().find(|(c, _, _)| *c == code);
        found.map(|(_, value, at)| number(value, *at)).transpose()
    }

    fn needed(&self, code: i32) -> Result<f64, String> {
        let missing = || format!("line {}: the {} has no group {code}", self.at, self.kind);
        self.number(code)?.ok_or_else(missing)
    }

    fn point(&self) -> Result<DVec2, String> {
        Ok(DVec2::new(self.needed(10)?, self.needed(20)?))
    }

    /// The number that its layer is named by; what is on others is nothing of a pattern.
    fn layer(&self) -> u32 {
        self.text(8).and_then(|name| name.parse().ok()).unwrap_or(0)
    }

    fn flag(&self, bit: u32) -> bool {
        self.text(70).and_then(|flags| flags.parse::<u32>().ok()).is_some_and(|flags| flags & bit != 0)
    }
}

/// A finite number of a sensible size.
fn number(value: &str, at: usize) -> Result<f64, String> {
    match value.parse::<f64>() {
        Ok(number) if number.abs() < 1e9 => Ok(number),
        _ => Err(format!("line {at}: `{}` is no number that may stand here", shown(value))),
    }
}

fn shown(value: &str) -> String {
    value.chars().take(40).collect()
}

fn entities(text: &str) -> Result<Vec<Entity<'_>>, String> {
    if text.starts_with("AutoCAD Binary DXF") {
        return Err("it is a binary DXF; save it as ASCII".into());
    }
    let mut entities: Vec<Entity> = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    while let Some((k, code)) = lines.next() {
        let Some((_, value)) = lines.next() else {
            // Some programs end the file with an empty line.
            return if code.trim().is_empty() {
                Ok(entities)
            } else {
                Err(format!("line {}: the file ends within a group", k + 1))
            };
        };
        let Ok(code) = code.trim().parse::<i32>() else {
            return Err(format!(
                "line {}: `{}` is not the code of a group; is it a DXF?",
                k + 1,
                shown(code.trim())
            ));
        };
        let value = value.trim();
        match (code, entities.last_mut()) {
            (0, _) => entities.push(Entity { kind: value, at: k + 2, groups: Vec::new() }),
            (999, _) => {}
            (_, Some(entity)) => entity.groups.push((code, value, k + 2)),
            (_, None) => return Err(format!("line {}: a DXF begins with group 0", k + 1)),
        }
    }
    Ok(entities)
}

impl Drawing {
    fn read(text: &str) -> Result<Self, String> {
        let mut drawing = Self::default();
        let mut block: Option<Block> = None;
        let mut line: Option<(Line, Vec<f64>)> = None;
        let mut told_units = None;
        for entity in entities(text)? {
            match entity.kind {
                "VERTEX" => {
                    let Some((line, bulges)) = &mut line else {
                        return Err(format!("line {}: a VERTEX outside of a POLYLINE", entity.at));
                    };
                    line.points.push(entity.point()?);
                    bulges.push(entity.number(42)?.unwrap_or(0.0));
                    continue;
                }
                "SEQEND" => {
                    if let (Some((line, bulges)), Some(block)) = (line.take(), &mut block) {
                        block.lines.push(bulged(line, &bulges));
                    }
                    continue;
                }
                _ if line.is_some() => {
                    return Err(format!(
                        "line {}: {} where a VERTEX or SEQEND belongs",
                        entity.at, entity.kind
                    ));
                }
                "SECTION" => told_units = told_units.or(unit_of_header(&entity)),
                "BLOCK" => {
                    block =
                        Some(Block { name: entity.text(2).unwrap_or_default().into(), ..Block::default() })
                }
                "ENDBLK" => drawing.blocks.extend(block.take()),
                "POLYLINE" => line = Some((Line::of(&entity, Vec::new(), entity.flag(1)), Vec::new())),
                "TEXT" | "MTEXT" => {
                    let text = entity.text(1).unwrap_or_default();
                    match &mut block {
                        Some(block) => block.told(text),
                        None => drawing.told(text),
                    }
                }
                _ => {
                    if let Some(block) = &mut block {
                        block.add(&entity)?;
                    }
                }
            }
        }
        if let Some(open) = &block {
            return Err(format!("the file ends within the block `{}`", shown(&open.name)));
        }
        drawing.unit = drawing.unit.or(told_units);
        Ok(drawing)
    }

    /// A text that is said of the whole style.
    fn told(&mut self, text: &str) {
        match said(text) {
            Some(("UNITS", "METRIC")) => self.unit = Some(1e-3),
            Some(("UNITS", "ENGLISH" | "IMPERIAL")) => self.unit = Some(0.0254),
            Some(("SAMPLE SIZE" | "BASE SIZE", _)) => self.sample_size = value_of(text),
            _ => {}
        }
    }
}

/// Length of the unit that the variables of a header ask for [m].
fn unit_of_header(section: &Entity) -> Option<f64> {
    let value = |name: &str| {
        let at = section.groups.iter().position(|(code, value, _)| *code == 9 && *value == name)?;
        section.groups.get(at + 1).map(|(_, value, _)| *value)
    };
    let of_drawing = match value("$INSUNITS") {
        Some("1") => Some(0.0254),
        Some("2") => Some(0.3048),
        Some("4") => Some(1e-3),
        Some("5") => Some(1e-2),
        Some("6") => Some(1.0),
        _ => None,
    };
    of_drawing.or_else(|| match value("$MEASUREMENT") {
        Some("0") => Some(0.0254),
        Some("1") => Some(1e-3),
        _ => None,
    })
}

/// Key and value of a text such as `Piece Name: FRONT`, in capitals.
fn said(text: &str) -> Option<(&'static str, &'static str)> {
    const KEYS: [&str; 6] = ["UNITS", "SAMPLE SIZE", "BASE SIZE", "PIECE NAME", "SIZE", "QUANTITY"];
    const WORDS: [&str; 3] = ["METRIC", "ENGLISH", "IMPERIAL"];
    let (key, value) = text.split_once(':')?;
    let among = |list: &[&'static str], word: &str| {
        list.iter().find(|known| known.eq_ignore_ascii_case(word.trim())).copied()
    };
    Some((among(&KEYS, key)?, among(&WORDS, value).unwrap_or_default()))
}

fn value_of(text: &str) -> Option<String> {
    let value = text.split_once(':')?.1.trim();
    (!value.is_empty()).then(|| value.into())
}

impl Line {
    fn of(entity: &Entity, points: Vec<DVec2>, closed: bool) -> Self {
        Self { layer: entity.layer(), points, closed, at: entity.at }
    }
}

/// The line with its arcs drawn as straight pieces. A bulge is the tangent of a quarter of an arc's angle.
fn bulged(mut line: Line, bulges: &[f64]) -> Line {
    let corners = std::mem::take(&mut line.points);
    for (k, from) in corners.iter().enumerate() {
        line.points.push(*from);
        let last = k + 1 == corners.len();
        let to = corners[(k + 1) % corners.len()];
        if (1e-6..1e3).contains(&bulges[k].abs()) && (line.closed || !last) {
            let edge = PanelEdge { to: to.into(), bulge: Some(bulges[k]), ..PanelEdge::default() };
            let arc = edges(&Panel { start: (*from).into(), edge: vec![edge], ..Panel::default() });
            let inner = arc.iter().flat_map(|arc| arc.points());
            line.points.extend(inner.copied().filter(|p| p != from && *p != to));
        }
    }
    line
}

impl Block {
    fn told(&mut self, text: &str) {
        match said(text) {
            Some(("PIECE NAME", _)) => self.name = value_of(text).unwrap_or_else(|| self.name.clone()),
            Some(("SIZE", _)) => self.size = value_of(text),
            _ => {}
        }
    }

    fn add(&mut self, entity: &Entity) -> Result<(), String> {
        match entity.kind {
            "POINT" => self.points.push((entity.layer(), entity.point()?)),
            "LINE" => {
                let ends = vec![entity.point()?, DVec2::new(entity.needed(11)?, entity.needed(21)?)];
                self.lines.push(Line::of(entity, ends, false));
            }
            "LWPOLYLINE" => {
                let mut line = Line::of(entity, Vec::new(), entity.flag(1));
                let mut bulges = Vec::new();
                let mut x = None;
                for (code, value, at) in &entity.groups {
                    match (code, bulges.last_mut()) {
                        (10, _) => x = Some(number(value, *at)?),
                        (20, _) => {
                            let Some(x) = x.take() else {
                                return Err(format!("line {at}: a point of the LWPOLYLINE has no x"));
                            };
                            line.points.push(DVec2::new(x, number(value, *at)?));
                            bulges.push(0.0);
                        }
                        (42, Some(bulge)) => *bulge = number(value, *at)?,
                        _ => {}
                    }
                }
                self.lines.push(bulged(line, &bulges));
            }
            "ARC" => {
                let (centre, radius) = (entity.point()?, entity.needed(40)?);
                let (from, to) = (entity.needed(50)?.to_radians(), entity.needed(51)?.to_radians());
                let angle = (to - from).rem_euclid(TAU);
                let count = (CIRCLE * angle / TAU).ceil().max(1.0);
                let at = |k: u32| {
                    let angle = from + angle * f64::from(k) / count;
                    centre + radius * DVec2::new(trig::cos(angle), trig::sin(angle))
                };
                self.lines.push(Line::of(entity, (0..=count as u32).map(at).collect(), false));
            }
            // A drawing may hold much else, but an outline that is not understood is no outline.
            kind @ ("SPLINE" | "ELLIPSE" | "CIRCLE")
                if [layer::BOUNDARY, layer::SEWING].contains(&entity.layer()) =>
            {
                let kinds = "POLYLINE, LWPOLYLINE, LINE and ARC";
                return Err(format!(
                    "line {}: {kind} on layer {}, where {kinds} are read",
                    entity.at,
                    entity.layer()
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn is_piece(&self) -> bool {
        self.on(layer::BOUNDARY).next().is_some()
    }

    fn on(&self, layer: u32) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.layer == layer && line.points.len() > 1)
    }

    /// The piece as a panel whose origin is the middle of its outline, edges numbered from the first corner; `unit` is that of the drawing [m].
    fn panel(&self, unit: f64, notes: &mut Vec<String>) -> Result<Panel, String> {
        let name = &self.name;
        let of_piece = |reason: String| format!("piece `{}`: {reason}", shown(name));
        let boundary = self.ring(layer::BOUNDARY, unit).map_err(of_piece)?;
        let sewing = match self.on(layer::SEWING).next() {
            Some(_) => self.ring(layer::SEWING, unit).ok(),
            None => None,
        };
        if sewing.is_none() && self.on(layer::SEWING).next().is_some() {
            notes.push(of_piece(
                "its sewing line is not closed; it is cut and sewn along its boundary".into(),
            ));
        }
        let left_out = |layer: u32, words: &str, notes: &mut Vec<String>| match self.on(layer).count() {
            0 => {}
            count => notes.push(of_piece(format!("{words}: {count}"))),
        };
        left_out(layer::CUTOUTS, "cutouts that are not cut", notes);
        left_out(layer::INTERNAL, "internal lines that are read over", notes);
        let mut ring = sewing.unwrap_or(boundary);
        let turn_points: Vec<DVec2> = self.points_on(|l| l == layer::TURN_POINTS, unit);
        let mut corners: Vec<bool> = corners(&ring);
        if !turn_points.is_empty() {
            corners = ring.iter().map(|p| turn_points.iter().any(|t| t.distance(*p) < ON)).collect();
        }
        let mut notches = self.points_on(|l| l == layer::NOTCHES || layer::SHAPED_NOTCHES.contains(&l), unit);
        let slits = self
            .lines
            .iter()
            .filter(|line| line.layer == layer::NOTCHES)
            .flat_map(|line| line.points.first());
        notches.extend(slits.map(|p| *p * unit));
        if let Some(fold) = self.on(layer::MIRROR).next() {
            let ends = [fold.points[0] * unit, fold.points[fold.points.len() - 1] * unit];
            unfold(&mut ring, &mut corners, &mut notches, ends)
                .map_err(|reason| format!("line {}: {}", fold.at, of_piece(reason)))?;
        }
        let warp =
            self.on(layer::GRAIN).next().map(|grain| grain.points[grain.points.len() - 1] - grain.points[0]);
        let warp = warp.map_or(90.0, |way| trig::atan2(way.y, way.x).to_degrees());
        let mut panel = panel_of(name, &ring, &corners)?;
        panel.warp = warp;
        if Outline::new(&panel).doubled_area() < 0.0 {
            turned_back(&mut panel);
        }
        number_edges(&mut panel);
        let far = notch(&mut panel, &notches);
        if far > NOTCH_REACH {
            notes.push(of_piece(format!(
                "a notch is {:.0} mm away from its outline, and left out",
                1e3 * far
            )));
        }
        centre(&mut panel);
        Ok(panel)
    }

    fn points_on(&self, layers: impl Fn(u32) -> bool, unit: f64) -> Vec<DVec2> {
        self.points.iter().filter(|(layer, _)| layers(*layer)).map(|(_, p)| *p * unit).collect()
    }

    /// The lines of a layer as one closed line, its end not repeated [m].
    fn ring(&self, layer: u32, unit: f64) -> Result<Vec<DVec2>, String> {
        let mut lines: Vec<(Vec<DVec2>, usize)> = Vec::new();
        for line in self.on(layer) {
            let mut points: Vec<DVec2> = line.points.iter().map(|p| *p * unit).collect();
            points.dedup_by(|a, b| a.distance(*b) < SAME);
            let is_ring =
                line.closed || (points.len() > 2 && points[0].distance(points[points.len() - 1]) < SAME);
            if is_ring && self.on(layer).count() > 1 {
                return Err(format!(
                    "line {}: layer {layer} has more than one outline; a block is one piece",
                    line.at
                ));
            }
            lines.push((points, line.at));
        }
        let Some((mut ring, at)) = (!lines.is_empty()).then(|| lines.remove(0)) else {
            return Err(format!("nothing is on layer {layer}"));
        };
        // Lines that follow one another, whichever way each of them runs.
        while let Some(end) = ring.last().copied() {
            let next = lines.iter().position(|(line, _)| {
                line.first().is_some_and(|p| p.distance(end) < ON)
                    || line.last().is_some_and(|p| p.distance(end) < ON)
            });
            let Some(next) = next else { break };
            let (mut line, _) = lines.remove(next);
            if line.first().is_none_or(|p| p.distance(end) >= ON) {
                line.reverse();
            }
            ring.extend(line.into_iter().skip(1));
            if ring.len() > MOST_POINTS {
                break;
            }
        }
        if let Some((_, at)) = lines.first() {
            return Err(format!("line {at}: a line on layer {layer} does not follow from the others"));
        }
        let is_closed = self.on(layer).count() == 1 && self.on(layer).all(|line| line.closed);
        let gap = ring[0].distance(ring[ring.len() - 1]);
        if gap < ON {
            ring.pop();
        } else if !is_closed {
            return Err(format!("line {at}: the outline on layer {layer} is open by {:.1} mm", 1e3 * gap));
        }
        match ring.len() {
            0..3 => Err(format!("line {at}: the outline on layer {layer} has fewer than three points")),
            count if count > MOST_POINTS => {
                Err(format!("line {at}: an outline of more than {MOST_POINTS} points; draw it with fewer"))
            }
            _ => Ok(ring),
        }
    }
}

/// Whether a ring turns at each of its points.
fn corners(ring: &[DVec2]) -> Vec<bool> {
    let count = ring.len();
    let turns = |k: usize| {
        let (back, ahead) = (ring[k] - ring[(k + count - 1) % count], ring[(k + 1) % count] - ring[k]);
        back.angle_to(ahead).abs() > CORNER
    };
    (0..count).map(turns).collect()
}

/// Lays a piece that is drawn on the fold open. One that lies on both sides of the line is open already.
fn unfold(
    ring: &mut Vec<DVec2>,
    corners: &mut Vec<bool>,
    notches: &mut Vec<DVec2>,
    ends: [DVec2; 2],
) -> Result<(), String> {
    let way = (ends[1] - ends[0]).normalize_or_zero();
    let side = |p: DVec2| way.perp_dot(p - ends[0]);
    let [most, least] =
        [f64::max as fn(f64, f64) -> f64, f64::min].map(|of| ring.iter().map(|p| side(*p)).fold(0.0, of));
    if most > ON && least < -ON {
        return Ok(());
    }
    // The points on the fold follow one another: all others stay, and are mirrored.
    let count = ring.len();
    let on = |k: usize| side(ring[k % count]).abs() <= ON;
    let first = (0..count).find(|k| on(*k) && !on(k + 1)).ok_or("no edge of it lies on its mirror line")?;
    let half: Vec<usize> =
        (first..first + count).map(|k| k % count).take_while(|k| *k == first || !on(*k)).collect();
    let last = (first + half.len()) % count;
    let rest = (first + half.len() + 1..first + count).map(|k| k % count);
    if last == first || !on(last) || rest.into_iter().any(|k| !on(k)) {
        return Err("its mirror line is not an edge of it".into());
    }
    let mirrored = |p: DVec2| p - 2.0 * side(p) * way.perp();
    let nodes: Vec<(DVec2, bool)> = half.iter().chain([&last]).map(|k| (ring[*k], corners[*k])).collect();
    let inner = &nodes[1..nodes.len() - 1];
    let both = nodes.iter().copied().chain(inner.iter().rev().map(|(p, corner)| (mirrored(*p), *corner)));
    let (points, marked): (Vec<DVec2>, Vec<bool>) = both.unzip();
    let by_turn = self::corners(&points);
    let folded = [0, nodes.len() - 1];
    *corners = (0..points.len()).map(|k| if folded.contains(&k) { by_turn[k] } else { marked[k] }).collect();
    *ring = points;
    let more: Vec<DVec2> = notches.iter().filter(|p| side(**p).abs() > ON).map(|p| mirrored(*p)).collect();
    notches.extend(more);
    Ok(())
}

/// A panel of a ring, an edge from corner to corner.
fn panel_of(name: &str, ring: &[DVec2], corners: &[bool]) -> Result<Panel, String> {
    let mut at: Vec<usize> = (0..ring.len()).filter(|k| corners[*k]).collect();
    // A round piece has none: it is halved.
    if at.len() < 2 {
        let first = at.first().copied().unwrap_or(0);
        at = vec![first, (first + ring.len() / 2) % ring.len()];
        at.sort_unstable();
    }
    if at.len() > 100 {
        return Err(format!("piece `{}` has {} corners, where 100 are the most", shown(name), at.len()));
    }
    let edge = |(k, from): (usize, &usize)| {
        let to = at[(k + 1) % at.len()] + if k + 1 == at.len() { ring.len() } else { 0 };
        let through = (from + 1..to).map(|p| ring[p % ring.len()].into()).collect();
        PanelEdge { to: ring[to % ring.len()].into(), through, ..PanelEdge::default() }
    };
    let edge = at.iter().enumerate().map(edge).collect();
    Ok(Panel { name: name.into(), start: ring[at[0]].into(), edge, ..Panel::default() })
}

/// Marks notches on the edges that they are nearest to; how far away the furthest that is left out is [m], or 0.
fn notch(panel: &mut Panel, notches: &[DVec2]) -> f64 {
    let curves: Vec<Curve> = edges(panel);
    let mut left_out: f64 = 0.0;
    for p in notches {
        let on = |(k, curve): (usize, &Curve)| {
            let (along, far) = curve.nearest(*p);
            (k, along / curve.length(), far)
        };
        let nearest = curves.iter().enumerate().map(on).min_by(|a, b| a.2.total_cmp(&b.2));
        match nearest {
            Some((edge, share, far)) if far <= NOTCH_REACH => {
                panel.edge[edge].notch.push(share.clamp(0.0, 1.0))
            }
            Some((_, _, far)) => left_out = left_out.max(far),
            None => {}
        }
    }
    for edge in &mut panel.edge {
        edge.notch.sort_by(f64::total_cmp);
        edge.notch.dedup();
        // At a corner nothing is left to mark.
        edge.notch.retain(|share| (1e-3..=0.999).contains(share));
    }
    left_out
}
