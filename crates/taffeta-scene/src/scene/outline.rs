//! The outline of a panel as curves: its edges, measured along, with darts cut in, and whether it crosses itself.

use super::garment::{Dart, Panel};
use robust::{Coord, orient2d};
use std::f64::consts::PI;
use taffeta::math::{DVec2, trig};

/// Pieces that a Bezier curve is drawn with: a quarter of a circle is off by less than a ten-thousandth of its radius.
const PIECES: u32 = 32;

/// An arc of a smaller bulge is straight: its centre is too far away to be computed with.
const STRAIGHT: f64 = 1e-9;

/// A line of short pieces, measured along.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Vec<DVec2>,
    /// How far along each point is [m].
    along: Vec<f64>,
}

impl Curve {
    /// A line through these points, at least two [m].
    pub fn new(points: Vec<DVec2>) -> Self {
        let mut far = 0.0;
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            far += pair[0].distance(pair[1]);
            along.push(far);
        }
        Self { points, along }
    }

    fn bezier(from: DVec2, via: &[DVec2], to: DVec2) -> Self {
        let at = |t: f64| match *via {
            [c] => from.lerp(c, t).lerp(c.lerp(to, t), t),
            [c, d] => {
                let (first, middle, last) = (from.lerp(c, t), c.lerp(d, t), d.lerp(to, t));
                first.lerp(middle, t).lerp(middle.lerp(last, t), t)
            }
            _ => from.lerp(to, t),
        };
        let pieces = if via.is_empty() { 1 } else { PIECES };
        let inner = (1..pieces).map(|k| at(f64::from(k) / f64::from(pieces)));
        Self::new([from].into_iter().chain(inner).chain([to]).collect())
    }

    /// An arc of a circle; `bulge` is the tangent of a quarter of its angle.
    fn arc(from: DVec2, bulge: f64, to: DVec2) -> Self {
        let angle = 4.0 * trig::atan2(bulge, 1.0);
        // From the middle of the chord to the centre, which lies to the left of an arc against the clock of less than half a circle.
        let centre = from.midpoint(to) + (to - from).perp() * (1.0 - bulge * bulge) / (4.0 * bulge);
        let at = |share: f64| {
            centre + DVec2::new(trig::cos(share * angle), trig::sin(share * angle)).rotate(from - centre)
        };
        // As fine as a Bezier curve of a quarter of a circle.
        let pieces = PIECES * (2.0 * angle.abs() / PI).ceil().max(1.0) as u32;
        let inner = (1..pieces).map(|k| at(f64::from(k) / f64::from(pieces)));
        Self::new([from].into_iter().chain(inner).chain([to]).collect())
    }

    /// Its length [m].
    pub fn length(&self) -> f64 {
        self.along.last().copied().unwrap_or(0.0)
    }

    /// The point so far along it [m].
    pub fn at(&self, far: f64) -> DVec2 {
        let k = self.along.partition_point(|a| *a <= far).clamp(1, self.points.len() - 1);
        let (from, to) = (self.along[k - 1], self.along[k]);
        let share = if to > from { ((far - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        // The ends are the points themselves, bit for bit.
        if share == 1.0 { self.points[k] } else { self.points[k - 1].lerp(self.points[k], share) }
    }

    /// How far along its point nearest to `p` is, and how far away that is [m].
    pub fn nearest(&self, p: DVec2) -> (f64, f64) {
        let pieces = self.points.windows(2).zip(&self.along);
        let at = |(piece, far): (&[DVec2], &f64)| {
            let (way, to) = (piece[1] - piece[0], p - piece[0]);
            let share = (to.dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            (far + share * way.length(), (to - share * way).length())
        };
        pieces.map(at).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, f64::INFINITY))
    }

    /// The points that it is drawn with, both ends among them [m].
    pub fn points(&self) -> &[DVec2] {
        &self.points
    }

    /// The part from `from` to `to` [m].
    pub fn part(&self, from: f64, to: f64) -> Self {
        let inner = self.along.iter().zip(&self.points).filter(|(a, _)| (from < **a) & (**a < to));
        let points = [self.at(from)].into_iter().chain(inner.map(|(_, p)| *p)).chain([self.at(to)]);
        Self::new(points.collect())
    }

    /// Its start and so many points in all, equally far apart; its end is left to what follows.
    pub fn samples(&self, pieces: u32) -> impl Iterator<Item = DVec2> {
        (0..pieces).map(move |k| self.at(self.length() * f64::from(k) / f64::from(pieces)))
    }
}

/// What a run along an outline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// A part of an edge, by its number in the panel.
    Edge(usize),
    /// The first side of a dart, by its number in the panel: from the edge to the tip.
    In(usize),
    /// The second side, back to the edge.
    Out(usize),
}

/// The outline of a panel, run after run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// What each run is, and its curve.
    pub runs: Vec<(Run, Curve)>,
}

impl Outline {
    /// The outline of a panel with its darts.
    pub fn new(panel: &Panel) -> Self {
        let mut runs = Vec::new();
        for (number, curve) in edges(panel).into_iter().enumerate() {
            let mut darts: Vec<(usize, &Dart)> = panel.dart.iter().enumerate().collect();
            darts.retain(|(_, dart)| panel.edge(&dart.edge) == Some(number));
            darts.sort_by(|(_, a), (_, b)| a.at.total_cmp(&b.at));
            let mut done = 0.0;
            for (d, dart) in darts {
                let [from, to] = mouth(dart, &curve);
                let (a, b) = (curve.at(from), curve.at(to));
                // The inside lies to the left.
                let tip = a.midpoint(b) + dart.depth * (b - a).perp().normalize_or_zero();
                runs.push((Run::Edge(number), curve.part(done, from)));
                runs.push((Run::In(d), Curve::new(vec![a, tip])));
                runs.push((Run::Out(d), Curve::new(vec![tip, b])));
                done = to;
            }
            let rest = if done > 0.0 { curve.part(done, curve.length()) } else { curve };
            runs.push((Run::Edge(number), rest));
        }
        Self { runs }
    }

    /// Length of an edge without the mouths of its darts [m].
    pub fn sewn_length(&self, edge: usize) -> f64 {
        self.runs.iter().filter(|(run, _)| *run == Run::Edge(edge)).map(|(_, curve)| curve.length()).sum()
    }

    /// Twice the area that it encloses, positive where it runs against the clock [m²].
    pub fn doubled_area(&self) -> f64 {
        let corners: Vec<DVec2> = self.pieces().map(|(_, [a, _])| a).collect();
        let Some(first) = corners.first() else { return 0.0 };
        corners.windows(2).map(|pair| (pair[0] - first).perp_dot(pair[1] - first)).sum()
    }

    /// Width and height of all of it [m].
    pub fn size(&self) -> DVec2 {
        let corners = || self.pieces().map(|(_, [a, _])| a);
        corners().fold(DVec2::NEG_INFINITY, DVec2::max) - corners().fold(DVec2::INFINITY, DVec2::min)
    }

    /// Two runs that meet elsewhere than where one follows the other.
    pub fn crossing(&self) -> Option<[Run; 2]> {
        let pieces: Vec<(Run, [DVec2; 2])> = self.pieces().collect();
        for (k, (run, first)) in pieces.iter().enumerate() {
            for (l, (other, second)) in pieces.iter().enumerate().skip(k + 1) {
                let follows = l == k + 1 || (k == 0 && l + 1 == pieces.len());
                if boxes_meet(first, second) && meet(first, second, follows) {
                    return Some([*run, *other]);
                }
            }
        }
        None
    }

    fn pieces(&self) -> impl Iterator<Item = (Run, [DVec2; 2])> {
        let of = |(run, curve): &(Run, Curve)| {
            let (run, points) = (*run, curve.points.clone());
            (1..points.len()).map(move |k| (run, [points[k - 1], points[k]]))
        };
        self.runs.iter().flat_map(of)
    }
}

/// The edges of a panel without darts.
pub fn edges(panel: &Panel) -> Vec<Curve> {
    let mut from = DVec2::from(panel.start);
    let curve = |edge: &super::garment::PanelEdge| {
        let via: Vec<DVec2> = edge.via.iter().map(|p| DVec2::from(*p)).collect();
        let to = DVec2::from(edge.to);
        let from = std::mem::replace(&mut from, to);
        match edge.bulge.filter(|bulge| bulge.abs() > STRAIGHT) {
            Some(bulge) => Curve::arc(from, bulge, to),
            None if !edge.through.is_empty() => {
                let through = edge.through.iter().map(|p| DVec2::from(*p));
                Curve::new([from].into_iter().chain(through).chain([to]).collect())
            }
            None => Curve::bezier(from, &via, to),
        }
    };
    panel.edge.iter().map(curve).collect()
}

/// Where a dart begins and ends along its edge [m].
pub fn mouth(dart: &Dart, edge: &Curve) -> [f64; 2] {
    let middle = dart.at * edge.length();
    [middle - 0.5 * dart.width, middle + 0.5 * dart.width]
}

fn boxes_meet([a, b]: &[DVec2; 2], [c, d]: &[DVec2; 2]) -> bool {
    a.min(*b).cmple(c.max(*d)).all() && c.min(*d).cmple(a.max(*b)).all()
}

/// Whether two pieces share a point; of two that follow one another, another point than the one between them.
fn meet([a, b]: &[DVec2; 2], [c, d]: &[DVec2; 2], follow: bool) -> bool {
    let side = |a: &DVec2, b: &DVec2, c: &DVec2| {
        let turn = orient2d(coord(a), coord(b), coord(c));
        if turn > 0.0 {
            1
        } else if turn < 0.0 {
            -1
        } else {
            0
        }
    };
    let (c_side, d_side) = (side(a, b, c), side(a, b, d));
    if follow {
        // They share an end, so they can only overlap: on one line, and back the way that the first came.
        return c_side == 0 && d_side == 0 && (*b - *a).dot(*d - *c) < 0.0;
    }
    // Boxes that meet decide between pieces on one line.
    c_side * d_side <= 0 && side(c, d, a) * side(c, d, b) <= 0
}

fn coord(p: &DVec2) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}
