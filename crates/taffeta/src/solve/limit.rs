//! Super-elasticity kept in check (P5): edges that are too long are shortened, in sweeps from the pins outwards.
//!
//! Selle's way moves both ends by half the excess. P5's way gives every particle a priority, which falls whenever the particle is moved: an edge
//! moves only its end of higher priority, so that a correction travels outwards and does not come back. Where both have the same
//! the end that moves away from the other is taken, both where that tells nothing. P5 leaves the order of the sweep open; we go by the number
//! of edges from the nearest pin.

use crate::math::DVec3;
use crate::model::topology::Topology;
use crate::model::{Environment, LimitWay, Model, StrainLimit};

/// An edge counts as too long beyond this share of its limit.
const SLACK: f64 = 1e-6;

/// Shortens edges; has all its room from the start.
#[derive(Debug)]
pub struct Limiter {
    /// Edges in the order of the sweep, with their rest lengths [m].
    edges: Vec<([u32; 2], f64)>,
    fixed: Vec<bool>,
    priority: Vec<i32>,
    /// Positions [m] and velocities [m/s] before the sweeps.
    before: [Vec<DVec3>; 2],
}

/// What sweeps came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitStats {
    /// Sweeps in which an edge was shortened.
    pub sweeps: u32,
    /// Whether no edge is too long any more.
    pub done: bool,
}

impl Limiter {
    /// For the structural edges of a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let fixed: Vec<bool> = environment.inverse_mass.iter().map(|w| *w == 0.0).collect();
        let far = distances(model, &fixed);
        let mut edges: Vec<([u32; 2], f64)> =
            model.edges.iter().copied().zip(model.rest_lengths.iter().copied()).collect();
        let nearer = |[a, b]: [u32; 2]| far[a as usize].min(far[b as usize]);
        let further = |[a, b]: [u32; 2]| far[a as usize].max(far[b as usize]);
        edges.sort_by_key(|(ends, _)| (nearer(*ends), further(*ends)));
        let before = [(); 2].map(|_| vec![DVec3::ZERO; fixed.len()]);
        Self { edges, priority: vec![0; fixed.len()], fixed, before }
    }

    /// Sweeps over positions [m] and velocities [m/s] until no edge is longer than the limit allows.
    pub fn run(&mut self, limit: &StrainLimit, x: &mut [DVec3], v: &mut [DVec3]) -> LimitStats {
        self.priority.fill(0);
        self.before[0].copy_from_slice(x);
        self.before[1].copy_from_slice(v);
        for sweeps in 0..limit.sweeps {
            let mut any = false;
            for e in 0..self.edges.len() {
                any |= self.shorten(e, limit, x, v);
            }
            if !any {
                return LimitStats { sweeps, done: true };
            }
        }
        LimitStats { sweeps: limit.sweeps, done: !self.edges.iter().any(|edge| excess(edge, limit, x).is_some()) }
    }

    /// Goes back to before the sweeps where all that is too long is more than it was then, in squares; whether it is. Where pins are too far apart, sweeps heap it
    /// upon a few edges, further in every step; where bodies are in the way, so does what parts cloth and bodies again.
    pub fn take_back_if_worse(&self, limit: &StrainLimit, x: &mut [DVec3], v: &mut [DVec3]) -> bool {
        let too_long = |x: &[DVec3]| {
            let squares = self.edges.iter().filter_map(|edge| excess(edge, limit, x));
            squares.map(|(_, excess)| excess * excess).sum::<f64>()
        };
        let is_worse = too_long(x) > too_long(&self.before[0]);
        if is_worse {
            x.copy_from_slice(&self.before[0]);
            v.copy_from_slice(&self.before[1]);
        }
        is_worse
    }

    /// The edge that is stretched most at these places [m] and its strain [1], if that is beyond the limit.
    pub fn too_long(&self, limit: &StrainLimit, x: &[DVec3]) -> Option<([u32; 2], f64)> {
        self.longest(x).filter(|(_, strain)| 1.0 + strain > (1.0 + limit.strain) * (1.0 + SLACK))
    }

    fn longest(&self, x: &[DVec3]) -> Option<([u32; 2], f64)> {
        let strain = |(ends, rest): &([u32; 2], f64)| {
            let [a, b] = ends.map(|i| x[i as usize]);
            (*ends, a.distance(b) / rest - 1.0)
        };
        self.edges.iter().map(strain).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Shortens one edge if it is too long; whether it was.
    fn shorten(&mut self, e: usize, limit: &StrainLimit, x: &mut [DVec3], v: &mut [DVec3]) -> bool {
        let edge = &self.edges[e];
        let Some((n, excess)) = excess(edge, limit, x) else { return false };
        let [a, b] = edge.0.map(|i| i as usize);
        let (first, second) = match (self.fixed[a], self.fixed[b]) {
            (true, true) => return false,
            (true, false) => (0.0, 1.0),
            (false, true) => (1.0, 0.0),
            (false, false) => self.shares(limit.way, [a, b], n, v),
        };
        // Positions and velocities are corrected alike: the part that lengthens the edge goes.
        let apart = (v[b] - v[a]).dot(n).max(0.0);
        for (i, share, towards) in [(a, first, n), (b, second, -n)] {
            x[i] += towards * (share * excess);
            v[i] += towards * (share * apart);
            self.priority[i] -= i32::from(share > 0.0);
        }
        true
    }

    /// Which share of the correction each end of a free edge takes.
    fn shares(&self, way: LimitWay, [a, b]: [usize; 2], n: DVec3, v: &[DVec3]) -> (f64, f64) {
        let (a_leaves, b_leaves) = (v[a].dot(n) < 0.0, v[b].dot(n) > 0.0);
        match (way, self.priority[a].cmp(&self.priority[b])) {
            (LimitWay::Half, _) => (0.5, 0.5),
            (_, std::cmp::Ordering::Greater) => (1.0, 0.0),
            (_, std::cmp::Ordering::Less) => (0.0, 1.0),
            _ if a_leaves != b_leaves => (f64::from(u8::from(a_leaves)), f64::from(u8::from(b_leaves))),
            _ => (0.5, 0.5),
        }
    }
}

/// Direction of an edge that is too long, and by how much [m].
fn excess(&([a, b], rest): &([u32; 2], f64), limit: &StrainLimit, x: &[DVec3]) -> Option<(DVec3, f64)> {
    let d = x[b as usize] - x[a as usize];
    let (longest, squared) = ((1.0 + limit.strain) * rest, d.length_squared());
    if squared <= (longest * (1.0 + SLACK)).powi(2) {
        return None;
    }
    let length = squared.sqrt();
    Some((d / length, length - longest))
}

/// How many edges each particle is from the nearest that is fixed, `u32::MAX` where none is.
fn distances(model: &Model, fixed: &[bool]) -> Vec<u32> {
    let (starts, list) = Topology::neighbours(&model.edges, fixed.len());
    let mut far = vec![u32::MAX; fixed.len()];
    let mut reached: Vec<u32> = (0..fixed.len() as u32).filter(|i| fixed[*i as usize]).collect();
    reached.iter().for_each(|i| far[*i as usize] = 0);
    let mut next = 0;
    while next < reached.len() {
        let i = reached[next] as usize;
        next += 1;
        for &j in &list[starts[i] as usize..starts[i + 1] as usize] {
            if far[j as usize] == u32::MAX {
                far[j as usize] = far[i] + 1;
                reached.push(j);
            }
        }
    }
    far
}
