//! Basting: before anything else panels are drawn together around the bodies, puffed up and free to pass through one another, so that no fold is caught
//! between seams. Positions alone are moved, by constraints answered in turn (Müller et al. 2007); what comes of it is a start, and the guard takes over.

use super::Tailored;
use crate::build::shapes::Blank;
use crate::scene::Garment;
use std::collections::BTreeMap;
use taffeta::math::DVec3;
use taffeta::model::{Collider, Form};

/// One step of it [s].
const STEP: f64 = 1.0 / 120.0;
/// Answers to all constraints in a step.
const SWEEPS: u32 = 4;
/// Share of the time in which seams close [1].
const CLOSED: f64 = 0.55;
/// Share of the time after which nothing puffs any more and lengths are put right [1].
const PUFFED: f64 = 0.85;
/// How far sewn edges stay apart: the seams of the simulation close the rest [m].
const GAP: f64 = 3e-3;
/// Acceleration to the side that cloth looks to [m/s²]: what lies around a body is pressed outwards, and comes off what it lay in.
const PUFF: f64 = 0.7;
/// Share of what is missing across edges that an answer mends [1]: panels bend, but do not crumple.
const BEND: f64 = 0.03;
/// How much of its growth a body that starts slim has behind it while a garment is basted [1]: so much room is left at the start.
const GROWN: f64 = 0.25;
/// Rate at which motion is lost [1/s].
const DAMPING: f64 = 4.0;
/// The most that a particle moves in a step [m]: less than a body is thick.
const FURTHEST: f64 = 0.01;
/// Panels of more than this are large [m²].
const LARGE: f64 = 0.02;
/// Tops within this of the highest are as high [m].
const LEVEL: f64 = 0.04;
/// How easily the topmost panels are moved, where others are by 1.
const STAYS: f64 = 0.002;
/// Points of bodies are as far apart as this [m]; there are no finer shapes that cloth is hung on.
const GRAIN: f64 = 0.01;

/// Bastes a garment for its time; its panels start where that leaves them.
pub fn baste(garment: &Garment, colliders: &[Collider], tailored: &mut Tailored) {
    let mut cloth = BastedCloth::new(tailored);
    let bodies = BodyPoints::new(colliders, (0.6 * garment.edge_length).max(0.008));
    let steps = (garment.baste / STEP).ceil().max(1.0) as u32;
    for step in 1..=steps {
        cloth.step(f64::from(step) / f64::from(steps), &bodies);
    }
    let mut first = 0;
    for blank in &mut tailored.blanks {
        let count = blank.start.len();
        blank.start.copy_from_slice(&cloth.x[first..first + count]);
        first += count;
    }
}

/// Two particles and their distance [m].
type Tie = ([usize; 2], f64);

/// A garment that is being basted.
struct BastedCloth {
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    /// How easily each is moved [1].
    ease: Vec<f64>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<Tie>,
    /// Particles across edges: what keeps panels from crumpling.
    across: Vec<Tie>,
    seams: Vec<Tie>,
}

impl BastedCloth {
    fn new(tailored: &Tailored) -> Self {
        let (mut x, mut triangles, mut edges, mut across): (Vec<DVec3>, Vec<[u32; 3]>, Vec<Tie>, Vec<Tie>) =
            Default::default();
        let mut firsts = Vec::new();
        for blank in &tailored.blanks {
            let first = x.len();
            firsts.push(first);
            let rest = &blank.rest;
            let tie = |a: u32, b: u32| {
                let [a, b] = [a as usize, b as usize];
                ([first + a, first + b], rest.positions[a].distance(rest.positions[b]))
            };
            let mut sides: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
            for &[a, b, c] in &rest.triangles {
                for [p, q, opposite] in [[a, b, c], [b, c, a], [c, a, b]] {
                    sides.entry([p.min(q), p.max(q)]).or_default().push(opposite);
                }
            }
            for ([p, q], opposite) in &sides {
                edges.push(tie(*p, *q));
                if let [r, s] = opposite[..] {
                    across.push(tie(r, s));
                }
            }
            triangles.extend(rest.triangles.iter().map(|t| t.map(|i| i + first as u32)));
            x.extend(&blank.start);
        }
        let particle = |(panel, i): super::Member| firsts[panel] + i as usize;
        let seam = |pair: &[super::Member; 2]| {
            let ends = pair.map(particle);
            (ends, x[ends[0]].distance(x[ends[1]]))
        };
        let seams = tailored.stitches.iter().map(seam).collect();
        let ease = eases(&tailored.blanks);
        Self { v: vec![DVec3::ZERO; x.len()], x, ease, triangles, edges, across, seams }
    }

    /// One step, after which `share` of the time has passed.
    fn step(&mut self, share: f64, bodies: &BodyPoints) {
        let before = self.x.clone();
        let puff = if share < PUFFED { PUFF } else { 0.0 };
        let normals = normals(&self.x, &self.triangles);
        for ((x, v), normal) in self.x.iter_mut().zip(&self.v).zip(&normals) {
            *x += STEP * (1.0 - DAMPING * STEP) * *v + STEP * STEP * puff * *normal;
        }
        let s = (share / CLOSED).min(1.0);
        let left = 1.0 - s * s * (3.0 - 2.0 * s);
        for _ in 0..if share > PUFFED { 3 * SWEEPS } else { SWEEPS } {
            self.seams.iter().for_each(|([a, b], start)| {
                let goal = GAP.max(left * start);
                answer(&mut self.x, &self.ease, [*a, *b], goal, 1.0, true);
            });
            self.edges
                .iter()
                .for_each(|(ends, length)| answer(&mut self.x, &self.ease, *ends, *length, 1.0, false));
            self.across
                .iter()
                .for_each(|(ends, length)| answer(&mut self.x, &self.ease, *ends, *length, BEND, false));
        }
        for ((x, v), before) in self.x.iter_mut().zip(&mut self.v).zip(&before) {
            *x = *before + (*x - *before).clamp_length_max(FURTHEST);
            *x = bodies.outside(*x, *before);
            *v = (*x - *before) / STEP;
        }
    }
}

/// Moves two particles towards their distance by a share of what is missing; one that only pulls does nothing where they are nearer.
fn answer(x: &mut [DVec3], ease: &[f64], [a, b]: [usize; 2], length: f64, share: f64, pulls: bool) {
    let way = x[b] - x[a];
    let far = way.length();
    if far > 0.0 && !(pulls && far <= length) {
        let all = share * (1.0 - length / far) / (ease[a] + ease[b]) * way;
        x[a] += ease[a] * all;
        x[b] -= ease[b] * all;
    }
}

/// How easily particles are moved: the topmost of the large panels that stand around the body hardly are, and what hangs on them comes up to them.
fn eases(panels: &[Blank]) -> Vec<f64> {
    let facing = |panel: &Blank| {
        let doubled = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| panel.start[i as usize]);
            (b - a).cross(c - a)
        };
        0.5 * panel.rest.triangles.iter().map(doubled).sum::<DVec3>()
    };
    let top = |panel: &Blank| {
        let area = facing(panel);
        let stands = area.length() > LARGE && area.z.abs() > 0.5 * area.length();
        if stands {
            panel.start.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max)
        } else {
            f64::NEG_INFINITY
        }
    };
    let highest = panels.iter().map(top).fold(f64::NEG_INFINITY, f64::max);
    let ease = |panel: &Blank| if top(panel) > highest - LEVEL { STAYS } else { 1.0 };
    panels.iter().flat_map(|panel| vec![ease(panel); panel.start.len()]).collect()
}

/// The side that cloth looks to at every particle.
fn normals(x: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; x.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|i| x[i as usize]);
        corners.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
    }
    normals.iter().map(|normal| normal.normalize_or_zero()).collect()
}

/// Points of bodies with their normals, found by place.
struct BodyPoints {
    /// How far cloth keeps from them [m].
    margin: f64,
    cells: BTreeMap<[i32; 3], Vec<[DVec3; 2]>>,
}

impl BodyPoints {
    fn new(colliders: &[Collider], margin: f64) -> Self {
        let mut kept: BTreeMap<[i32; 3], [DVec3; 2]> = BTreeMap::new();
        for collider in colliders {
            let Form::Mesh(mesh) = &collider.form else { continue };
            // One that grows has its size at the end; a quarter of the way there leaves room between it and the cloth at the start.
            let pace = mesh.pace();
            let points = mesh.points(
                if mesh.deforms() { pace.start + GROWN * pace.interval } else { 0.0 },
                &collider.pose(0.0),
            );
            for (p, n) in points.iter().zip(normals(&points, mesh.triangles())) {
                kept.entry(cell(*p, GRAIN)).or_insert([*p, n]);
            }
        }
        let mut cells: BTreeMap<[i32; 3], Vec<[DVec3; 2]>> = BTreeMap::new();
        for point in kept.into_values() {
            cells.entry(cell(point[0], 2.0 * margin)).or_default().push(point);
        }
        Self { margin, cells }
    }

    /// The place, or one at the margin of the nearest body where it is nearer or inside. Only surfaces count that the particle was outside of `before`:
    /// it does not pass through what is thin.
    fn outside(&self, x: DVec3, before: DVec3) -> DVec3 {
        let [i, j, k] = cell(x, 2.0 * self.margin);
        let mut nearest: Option<(f64, &[DVec3; 2])> = None;
        for i in i - 1..=i + 1 {
            for j in j - 1..=j + 1 {
                // Neighbours along the last axis follow one another in the tree.
                let points = self.cells.range([i, j, k - 1]..=[i, j, k + 1]).flat_map(|(_, points)| points);
                for point in points.filter(|[p, n]| (before - *p).dot(*n) > 0.0) {
                    let far = point[0].distance_squared(x);
                    if nearest.is_none_or(|(least, _)| far < least) {
                        nearest = Some((far, point));
                    }
                }
            }
        }
        match nearest {
            Some((_, [p, n])) if (x - *p).dot(*n) < self.margin => x + (self.margin - (x - *p).dot(*n)) * *n,
            _ => x,
        }
    }
}

fn cell(x: DVec3, size: f64) -> [i32; 3] {
    (x / size).floor().to_array().map(|c| c as i32)
}
