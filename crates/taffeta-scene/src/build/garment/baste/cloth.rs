//! A garment as basting moves it: positions and constraints that are answered in turn (Müller et al. 2007).

use super::field::{DistanceField, Part};
use super::near::Near;
use crate::build::garment::{Member, Tailored};
use std::collections::{BTreeMap, BTreeSet};
use taffeta::check::self_intersections;
use taffeta::math::DVec3;
use taffeta::ways_apart;

/// Two particles and their distance [m].
pub type Tie = ([usize; 2], f64);

/// How often what comes to intersect in a step is put back before all is.
const GUARDED: u32 = 10;

/// What a step does.
#[derive(Clone, Copy)]
pub struct Stage {
    /// How much of its girth the body lacks [1].
    pub slim: f64,
    /// How far cloth keeps from the body [m].
    pub margin: f64,
    /// How far seams are open, as a share of how far they were at the start [1].
    pub open: f64,
    /// Share of what an edge is too long by that an answer mends [1].
    pub shorten: f64,
    /// How far a step moves cloth to the side that it looks to [m].
    pub puff: f64,
    /// How far a step lets cloth fall [m].
    pub fall: f64,
    /// Whether the topmost panels are held up.
    pub held: bool,
    /// Whether all cloth meets arms and feet, not sleeves arms alone.
    pub limbs: bool,
    /// Share of what is missing along a diagonal that an answer mends [1].
    pub shear: f64,
    /// Share of what is missing across edges that an answer mends [1].
    pub bend: f64,
    /// Share of what is missing where an edge is too short [1].
    pub spread: f64,
    /// How far particles keep from others that are not their neighbours [m].
    pub apart: f64,
    /// Share of its motion that a particle keeps from step to step [1].
    pub keeps: f64,
    /// Answers to all constraints.
    pub sweeps: u32,
    /// How far a step lifts what has to fold [m].
    pub lift: f64,
    /// How far a round pulls apart what intersects [m].
    pub pull: f64,
    /// Rounds of pulling apart what intersects.
    pub rounds: u32,
}

/// A garment that is being basted.
pub struct BastedCloth {
    pub x: Vec<DVec3>,
    v: Vec<DVec3>,
    /// What does not sink below this height [m].
    pub floor: Vec<f64>,
    /// The limb that a particle is threaded on, by its place among all.
    pub limb: Vec<Option<u8>>,
    /// How far out the tube on each limb may reach, in steps along it; empty if nothing is held back.
    pub ends: Vec<f64>,
    pub triangles: Vec<[u32; 3]>,
    pub edges: Vec<Tie>,
    /// Diagonals of quads, which carry shear.
    diagonals: Vec<Tie>,
    /// Particles across edges: what keeps cloth from crumpling.
    across: Vec<Tie>,
    seams: Vec<Tie>,
    /// Seams that wait until others are closed.
    waiting: Vec<[usize; 2]>,
    /// Gathered particles, which have to fold.
    gathered: Vec<usize>,
    /// Who is so near along the cloth that it may be as near in space, in increasing order.
    neighbours: Vec<Vec<u32>>,
    cell: f64,
}

impl BastedCloth {
    /// The panels with every particle as number `of` says; those of one number are one. Seams are left where they join different numbers.
    pub fn new(tailored: &Tailored, of: &[usize], sewn: &[usize], cell: f64) -> Self {
        let count = of.iter().max().map_or(0, |last| last + 1);
        let (mut x, mut shares) = (vec![DVec3::ZERO; count], vec![0.0; count]);
        let (mut triangles, mut edges) = (Vec::new(), BTreeMap::<[usize; 2], (f64, f64, bool)>::new());
        // Heights of the corners opposite to an edge, and where their feet are along it.
        let mut sides: BTreeMap<[usize; 2], Vec<(usize, DVec3)>> = BTreeMap::new();
        let mut firsts = Vec::new();
        let mut first = 0;
        for blank in &tailored.blanks {
            firsts.push(first);
            let rest = &blank.rest;
            let shears: BTreeSet<[u32; 2]> = rest.topology().map_or_else(
                |_| BTreeSet::new(),
                |topology| topology.diagonals.iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect(),
            );
            for (i, start) in blank.start.iter().enumerate() {
                x[of[first + i]] += *start;
                shares[of[first + i]] += 1.0;
            }
            for t in &rest.triangles {
                let at = t.map(|i| of[first + i as usize]);
                if at[0] == at[1] || at[1] == at[2] || at[2] == at[0] {
                    continue;
                }
                triangles.push(at.map(|i| i as u32));
                for k in 0..3 {
                    let [mut a, mut b, c] = [k, (k + 1) % 3, (k + 2) % 3];
                    if at[a] > at[b] {
                        (a, b) = (b, a);
                    }
                    let [p, q, r] = [a, b, c].map(|k| rest.positions[t[k] as usize]);
                    let length = p.distance(q);
                    let shear = shears.contains(&[t[a].min(t[b]), t[a].max(t[b])]);
                    let mean = edges.entry([at[a], at[b]]).or_insert((0.0, 0.0, shear));
                    *mean = (mean.0 + length, mean.1 + 1.0, mean.2);
                    let whole = t.map(|i| sewn[first + i as usize]);
                    let [p, q] = if whole[a] < whole[b] { [p, q] } else { [q, p] };
                    let along = (r - p).dot(q - p) / length;
                    let height = (r - p).cross(q - p).length() / length;
                    let side = [whole[a].min(whole[b]), whole[a].max(whole[b])];
                    sides.entry(side).or_default().push((at[c], DVec3::new(along, height, 0.0)));
                }
            }
            first += blank.start.len();
        }
        x.iter_mut().zip(&shares).for_each(|(x, shares)| *x /= *shares);
        let across = sides.values().filter_map(|opposite| match opposite[..] {
            [(r, p), (s, q)] if r != s => Some(([r, s], (p.x - q.x).hypot(p.y + q.y))),
            _ => None,
        });
        let across = across.collect();
        let particle = |(panel, i): Member| of[firsts[panel] + i as usize];
        let seams = tailored.stitches.iter().map(|pair| pair.map(particle)).filter(|[a, b]| a != b);
        let seams = seams.map(|[a, b]| ([a, b], x[a].distance(x[b]))).collect();
        let gathered = tailored.gathered.iter().map(|member| particle(*member)).collect();
        let neighbours = neighbours(x.len(), edges.keys());
        let of_kind = |kind: bool| -> Vec<Tie> {
            let found = edges.iter().filter(|(_, (_, _, shear))| *shear == kind);
            found.map(|(ends, (sum, n, _))| (*ends, sum / n)).collect()
        };
        let (edges, diagonals) = (of_kind(false), of_kind(true));
        Self {
            v: vec![DVec3::ZERO; count],
            floor: vec![f64::NEG_INFINITY; count],
            limb: vec![None; count],
            ends: Vec::new(),
            x,
            triangles,
            edges,
            diagonals,
            across,
            seams,
            waiting: Vec::new(),
            gathered,
            neighbours,
            cell,
        }
    }

    /// One step of a stage.
    pub fn step(&mut self, stage: &Stage, field: Option<&DistanceField>) {
        let before = self.x.clone();
        let furthest = 0.3 * self.cell;
        if stage.puff > 0.0 || stage.lift > 0.0 {
            let normals = normals(&self.x, &self.triangles);
            self.gathered.iter().for_each(|g| self.x[*g] += stage.lift * normals[*g]);
            self.x.iter_mut().zip(&normals).for_each(|(x, normal)| *x += stage.puff * *normal);
        }
        self.x
            .iter_mut()
            .zip(&self.v)
            .for_each(|(x, v)| *x += stage.keeps * *v - DVec3::new(0.0, stage.fall, 0.0));
        let near = if stage.apart > 0.0 { self.near(1.3 * stage.apart) } else { Vec::new() };
        for _ in 0..stage.sweeps {
            let Self { x, seams, edges, diagonals, across, .. } = self;
            for (ends, start) in seams.iter() {
                answer(x, *ends, stage.open * start, [1.0, 0.0]);
            }
            edges.iter().for_each(|(ends, length)| answer(x, *ends, *length, [stage.shorten, stage.spread]));
            diagonals.iter().for_each(|(ends, length)| answer(x, *ends, *length, [stage.shear; 2]));
            across.iter().for_each(|(ends, length)| answer(x, *ends, *length, [0.0, stage.bend]));
            near.iter().for_each(|ends| answer(x, *ends, stage.apart, [0.0, 0.5]));
            if let Some(field) = field {
                self.keep_out(stage, field);
            }
        }
        for (x, before) in self.x.iter_mut().zip(&before) {
            *x = *before + (*x - *before).clamp_length_max(furthest);
        }
        if stage.held {
            self.x.iter_mut().zip(&self.floor).for_each(|(x, floor)| x.y = x.y.max(*floor));
            if let Some(field) = field {
                self.hold_back(field);
            }
        }
        if let Some(field) = field {
            self.keep_out(stage, field);
        }
        for _ in 0..stage.rounds {
            if !self.untangle(stage.pull) {
                break;
            }
            if let Some(field) = field {
                self.keep_out(stage, field);
            }
        }
        for ((v, x), before) in self.v.iter_mut().zip(&self.x).zip(&before) {
            *v = *x - *before;
        }
    }

    /// Lets seams close from where they are now; those that wait do not.
    pub fn begin_seams(&mut self, waits: impl Fn([usize; 2]) -> bool) {
        let all = self.seams.iter().map(|(ends, _)| *ends).chain(self.waiting.drain(..));
        let (waiting, closing) = all.partition::<Vec<[usize; 2]>, _>(|ends| waits(*ends));
        self.seams = closing.iter().map(|[a, b]| ([*a, *b], self.x[*a].distance(self.x[*b]))).collect();
        self.waiting = waiting;
    }

    /// All edges, diagonals among them.
    pub fn ties(&self) -> impl Iterator<Item = &Tie> {
        self.edges.iter().chain(&self.diagonals)
    }

    /// Moves particles, middles of edges and of triangles out of the body.
    fn keep_out(&mut self, stage: &Stage, field: &DistanceField) {
        let furthest = 0.3 * self.cell;
        let short = |x: DVec3, limb: Option<u8>| {
            let depth = field.nearer(x, stage.slim, stage.margin)?;
            let is_met = match depth.part {
                Part::Trunk => true,
                Part::Arm => stage.limbs || limb.is_some(),
                Part::Foot => stage.limbs,
            };
            let out = match depth.part {
                // Slim arms have no fingers that a sleeve could be caught between.
                Part::Arm if stage.slim == 0.0 => field.around_arm(x, depth.out, limb),
                _ => depth.out,
            };
            is_met.then(|| ((stage.margin - depth.distance) * out).clamp_length_max(furthest))
        };
        // What has both ends further away than it is long is clear of the body.
        let reach = stage.margin + self.cell;
        let mut near = vec![false; self.x.len()];
        for ((x, limb), near) in self.x.iter_mut().zip(&self.limb).zip(&mut near) {
            *near = field.distance(*x) < reach;
            if let Some(way) = near.then(|| short(*x, *limb)).flatten() {
                *x += way;
            }
        }
        for ([a, b], _) in self.edges.iter().chain(&self.diagonals).filter(|([a, b], _)| near[*a] || near[*b])
        {
            if let Some(way) = short(0.5 * (self.x[*a] + self.x[*b]), self.limb[*a].and(self.limb[*b])) {
                self.x[*a] += way;
                self.x[*b] += way;
            }
        }
        for t in self.triangles.iter().filter(|t| t.iter().any(|i| near[*i as usize])) {
            let [a, b, c] = t.map(|i| i as usize);
            let limb = self.limb[a].and(self.limb[b]).and(self.limb[c]);
            if let Some(way) = short((self.x[a] + self.x[b] + self.x[c]) / 3.0, limb) {
                [a, b, c].iter().for_each(|i| self.x[*i] += way);
            }
        }
    }

    /// Whether anything but sleeves is within arms, or nearer to them than `margin` [m].
    pub fn is_in_arms(&self, field: &DistanceField, margin: f64) -> bool {
        let is_in = |x: &DVec3| field.nearer(*x, 0.0, margin).is_some_and(|depth| depth.part == Part::Arm);
        self.x.iter().zip(&self.limb).any(|(x, limb)| limb.is_none() && is_in(x))
    }

    /// Pairs of particles that are nearer than `apart` [m] and no neighbours.
    fn near(&self, apart: f64) -> Vec<[usize; 2]> {
        let near = Near::new(&self.x, apart);
        let mut found = Vec::new();
        for (i, x) in self.x.iter().enumerate() {
            near.around(*x, |j| {
                let far = self.x[j].distance_squared(*x);
                if j > i && far < apart * apart && self.neighbours[i].binary_search(&(j as u32)).is_err() {
                    found.push([i, j]);
                }
            });
        }
        found
    }

    /// Takes a step of a stage if something intersects, `smooth`ed before it; whether nothing does.
    pub fn part(&mut self, stage: &Stage, field: Option<&DistanceField>, smooth: bool) -> bool {
        let pierced = field.is_some_and(|field| self.lift_out(field, stage.margin));
        let tangles = self.tangles();
        let is_clean = !pierced && tangles.is_empty();
        if !is_clean {
            if smooth {
                self.smooth(&tangles);
            }
            self.step(stage, field);
        }
        is_clean
    }

    /// Takes a step of a stage from where nothing intersects; what would come to intersect stays where it was.
    pub fn guarded_step(&mut self, stage: &Stage, field: Option<&DistanceField>) {
        let before = self.x.clone();
        self.step(stage, field);
        for _ in 0..GUARDED {
            let pierced = field.map_or(Vec::new(), |field| field.pierced(&self.x, &self.triangles));
            let tangles = self.tangles();
            if pierced.is_empty() && tangles.is_empty() {
                return;
            }
            for i in tangles.iter().flatten().chain(&pierced).flat_map(|t| self.triangles[*t as usize]) {
                let i = i as usize;
                (self.x[i], self.v[i]) = (before[i], DVec3::ZERO);
            }
        }
        self.x = before;
        self.v.fill(DVec3::ZERO);
    }

    /// The largest share by which an edge is longer or shorter than it is cut [1].
    pub fn strain(&self) -> f64 {
        let of = |([a, b], length): &Tie| (self.x[*a].distance(self.x[*b]) / length - 1.0).abs();
        self.edges.iter().map(of).fold(0.0, f64::max)
    }

    /// Pairs of triangles that intersect.
    fn tangles(&self) -> Vec<[u32; 2]> {
        self_intersections(&self.x, &self.triangles)
    }

    /// Moves triangles that intersect a body outwards by this [m]; whether any does.
    fn lift_out(&mut self, field: &DistanceField, way: f64) -> bool {
        let pierced = field.pierced(&self.x, &self.triangles);
        for i in pierced.iter().flat_map(|t| self.triangles[*t as usize]) {
            let i = i as usize;
            if let Some(out) = field.out(self.x[i], self.limb[i]) {
                self.x[i] += way * out;
            }
        }
        !pierced.is_empty()
    }

    /// One step of pulling apart what intersects; whether anything does.
    fn untangle(&mut self, step: f64) -> bool {
        let pairs = self.tangles();
        if pairs.is_empty() {
            return false;
        }
        let mut ways = vec![DVec3::ZERO; self.x.len()];
        ways_apart(&self.x, &self.triangles, &pairs, &mut ways);
        for _ in 0..2 {
            ways = self.spread(&ways);
        }
        self.x.iter_mut().zip(&ways).for_each(|(x, way)| *x += step * way.clamp_length_max(1.0));
        true
    }

    /// Moves all that intersects, and what is beside it, half of the way to the middle of those around it: what is crumpled becomes smooth.
    fn smooth(&mut self, tangles: &[[u32; 2]]) {
        let mut caught = vec![false; self.x.len()];
        let corners = |t: u32| self.triangles[t as usize].map(|i| i as usize);
        tangles.iter().flatten().flat_map(|t| corners(*t)).for_each(|i| caught[i] = true);
        let around = caught.clone();
        for ([a, b], _) in self.edges.iter().filter(|([a, b], _)| around[*a] != around[*b]) {
            (caught[*a], caught[*b]) = (true, true);
        }
        let mut sums = vec![(DVec3::ZERO, 0.0); self.x.len()];
        for ([a, b], _) in self.ties() {
            sums[*a] = (sums[*a].0 + self.x[*b], sums[*a].1 + 1.0);
            sums[*b] = (sums[*b].0 + self.x[*a], sums[*b].1 + 1.0);
        }
        for ((x, (sum, n)), _) in self.x.iter_mut().zip(sums).zip(caught).filter(|(_, caught)| *caught) {
            *x = x.lerp(sum / n, 0.5);
        }
    }

    /// Every value with a share of those around it.
    fn spread(&self, values: &[DVec3]) -> Vec<DVec3> {
        let mut out = values.to_vec();
        for ([a, b], _) in &self.edges {
            out[*a] += 0.25 * values[*b];
            out[*b] += 0.25 * values[*a];
        }
        out
    }
}

/// Moves two particles towards their distance by a share of what is missing: one where they are too far apart, one where they are too near.
fn answer(x: &mut [DVec3], [a, b]: [usize; 2], length: f64, [far, near]: [f64; 2]) {
    let way = x[b] - x[a];
    let distance = way.length();
    let share = if distance > length { far } else { near };
    if distance > 0.0 && share > 0.0 {
        let half = 0.5 * share * (1.0 - length / distance) * way;
        x[a] += half;
        x[b] -= half;
    }
}

/// Who is reached over at most two edges.
fn neighbours<'a>(count: usize, edges: impl Iterator<Item = &'a [usize; 2]>) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); count];
    for [a, b] in edges {
        around[*a].push(*b as u32);
        around[*b].push(*a as u32);
    }
    let reached = |first: &Vec<u32>| {
        let mut all = first.clone();
        all.extend(first.iter().flat_map(|n| &around[*n as usize]));
        all.sort_unstable();
        all.dedup();
        all
    };
    around.iter().map(reached).collect()
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
