//! Outlines that cross themselves, drawn so that they do not. Programs that make patterns cut necklines and armholes one by one: a strap between them may end up
//! with no width, a neckline may leave its corner on the wrong side.

use std::collections::BTreeSet;
use taffeta::math::DVec2;
use taffeta_scene::Panel;
use taffeta_scene::outline::{Curve, Outline, Run, edges};

/// How far apart edges that cross are drawn [m]: as wide as narrow straps are.
const STRAP: f64 = 0.01;
/// How fast they part from where they are held nearer, at a corner or where they go on as they were [1].
const PARTING: f64 = 0.5;
/// How far beyond where they cross they are moved [m], and the distance of points that they are drawn through [m].
const BEYOND: f64 = 0.03;
const STEP: f64 = 0.005;
/// The most crossings that are mended in a panel.
const MOST: usize = 8;

/// Parts edges of a panel that cross one another, and notes which. A panel that stays crossed is left as it is.
pub fn mend(panel: &mut Panel, notes: &mut Vec<String>) {
    let mut mended = panel.clone();
    let mut crossed = BTreeSet::new();
    let mut tries = 0;
    while let Some(runs) = Outline::new(&mended).crossing() {
        let [Run::Edge(a), Run::Edge(b)] = runs else { return };
        if tries == MOST || !part(&mut mended, [a, b]) {
            return;
        }
        crossed.insert([a, b]);
        tries += 1;
    }
    for [a, b] in crossed {
        let [a, b] = [a, b].map(|edge| &panel.edge[edge].name);
        let apart = 100.0 * STRAP;
        notes.push(format!(
            "panel `{}`: edges `{a}` and `{b}` cross, and are drawn {apart} cm apart",
            panel.name
        ));
    }
    *panel = mended;
}

/// Draws two edges apart where they cross, half of the way each; whether that can be.
fn part(panel: &mut Panel, of: [usize; 2]) -> bool {
    let curves = edges(panel);
    let [first, second] = of.map(|edge| &curves[edge]);
    let hits = hits(first, second);
    // Edges that follow one another meet at their corner too.
    if first.length() == 0.0 || second.length() == 0.0 || hits.len() < 2 {
        return false;
    }
    let reach = |side: usize, curve: &Curve| {
        let all = || hits.iter().map(|hit| hit[side]);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        [(low - BEYOND).max(0.0), (high + BEYOND).min(curve.length())]
    };
    let [[a, b], [c, d]] = [reach(0, first), reach(1, second)];
    let count = ((b - a).max(d - c) / STEP).ceil().max(8.0);
    let shares: Vec<f64> = (0..=count as u32).map(|k| f64::from(k) / count).collect();
    // The other side of a strap runs the other way.
    let here: Vec<DVec2> = shares.iter().map(|s| first.at(a + s * (b - a))).collect();
    let there: Vec<DVec2> = shares.iter().map(|s| second.at(d - s * (d - c))).collect();
    let ways = ways(&here, &there);
    let moved = |points: &[DVec2], sign: f64| -> Vec<DVec2> {
        points.iter().zip(&ways).map(|(point, way)| *point + sign * *way).collect()
    };
    let (here, mut there) = (moved(&here, -1.0), moved(&there, 1.0));
    there.reverse();
    let drawn = [redrawn(first, [a, b], &here), redrawn(second, [c, d], &there)];
    for (edge, through) in of.into_iter().zip(drawn) {
        let edge = &mut panel.edge[edge];
        (edge.via, edge.bulge) = (Vec::new(), None);
        edge.through = through;
    }
    true
}

/// How far along both curves they meet [m].
fn hits(first: &Curve, second: &Curve) -> Vec<[f64; 2]> {
    let mut hits = Vec::new();
    let mut far = 0.0;
    for piece in first.points().windows(2) {
        let (p, way) = (piece[0], piece[1] - piece[0]);
        let mut other_far = 0.0;
        for other in second.points().windows(2) {
            let (q, other_way) = (other[0], other[1] - other[0]);
            let across = way.perp_dot(other_way);
            let [s, t] = [(q - p).perp_dot(other_way) / across, (q - p).perp_dot(way) / across];
            let within = -1e-9..=1.0 + 1e-9;
            if across != 0.0 && within.contains(&s) && within.contains(&t) {
                hits.push([far + s * way.length(), other_far + t * other_way.length()]);
            }
            other_far += other_way.length();
        }
        far += way.length();
    }
    hits
}

/// How far the points there are moved, and those here the other way, to be apart [m]. The inside lies to the left of here.
fn ways(here: &[DVec2], there: &[DVec2]) -> Vec<DVec2> {
    let middles: Vec<DVec2> = here.iter().zip(there).map(|(p, q)| p.midpoint(*q)).collect();
    let along = Curve::new(middles.clone());
    let last = middles.len() - 1;
    let across = |k: usize| (middles[(k + 1).min(last)] - middles[k.max(1) - 1]).perp().normalize_or_zero();
    let gap = |k: usize| (there[k] - here[k]).dot(across(k));
    let mut far = 0.0;
    (0..=last)
        .map(|k| {
            far += if k > 0 { middles[k].distance(middles[k - 1]) } else { 0.0 };
            let begins = gap(0).max(0.0) + PARTING * far;
            let ends = gap(last).max(0.0) + PARTING * (along.length() - far);
            let held = k == 0 || k == last;
            let missing = if held { 0.0 } else { (STRAP.min(begins).min(ends) - gap(k)).max(0.0) };
            0.5 * missing * across(k)
        })
        .collect()
}

/// The points between the ends of a curve that goes through these from `from` to `to` [m].
fn redrawn(curve: &Curve, [from, to]: [f64; 2], points: &[DVec2]) -> Vec<[f64; 2]> {
    let [before, behind] = [curve.part(0.0, from), curve.part(to, curve.length())];
    let mut all: Vec<DVec2> = [before.points(), points, behind.points()].concat();
    all.dedup_by(|a, b| a.distance(*b) < 1e-6);
    all[1..all.len() - 1].iter().map(|point| [point.x, point.y]).collect()
}
