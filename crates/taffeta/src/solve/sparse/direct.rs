//! All lengths at once: the sparse system A p = Δv of P2 §3.4.2 by A = L D Lᵀ.
//!
//! Unknowns, right-hand sides and compliances are those of `solve::strips`; here A couples every two edges that share a particle, with
//! A_ij = ± b d_i·d_j, plus if the particle is the first or the second end of both. An edge that the others determine already has a pivot near 0, which
//! is raised: such redundant edges are counted.

use super::elimination::order;
use super::ldl::Ldl;
use crate::math::{DVec3, Vec4};
use crate::solve::strips::blocks::{NO_TENSION, StripEdge};
use crate::solve::strips::extensible::{AT_ONCE, EdgeLaw, MOST_PASSES, BoundedStretch};
use crate::solve::strips::tridiagonal::{CRUSHED, Limits, Start};
use std::collections::BTreeMap;

/// The system of one mesh: its analysis, and room for its numbers.
#[derive(Debug, Clone)]
pub struct LengthSystem {
    /// Edges in the order of elimination.
    edges: Vec<Edge>,
    /// Where the couplings of every edge to earlier ones start, and the couplings.
    starts: Vec<usize>,
    couplings: Vec<EdgeCoupling>,
    ldl: Ldl,
    /// Directions d [m], and right-hand sides that become changes of tension.
    way: Vec<Vec4>,
    change: Vec<f64>,
    /// On which side of its law every edge is, of edges that stretch.
    sides: Vec<f64>,
    /// Where stitches are in the order of elimination, if they have a row.
    stitches: Vec<Option<usize>>,
    /// Where the edges are that [`LengthSystem::set_offset`] sets.
    places: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    link: StripEdge,
    /// Place of its tension.
    slot: u32,
    is_stitch: bool,
    /// C without tension, of an edge that stretches [m²].
    offset: f64,
}

#[derive(Debug, Clone, Copy)]
struct EdgeCoupling {
    /// Position of the earlier edge in the order.
    to: u32,
    /// The particle that both have.
    particle: u32,
    /// 1 if it is the same end of both, else -1.
    sign: f64,
}

impl LengthSystem {
    /// Analyses `edges` between particles at rest at `positions`. Those that do not move (compliance [`NO_TENSION`]) have no row; `slots` are
    /// places of tensions.
    pub fn new(
        edges: &[[u32; 2]],
        positions: &[DVec3],
        moves: impl Fn(u32) -> bool,
        link: impl Fn(u32) -> StripEdge,
        slots: &[u32],
    ) -> Self {
        let edge = |e: u32| {
            let (ends, slot) = (edges[e as usize], slots[e as usize]);
            Edge { ends, link: link(e), slot, is_stitch: false, offset: 0.0 }
        };
        let all = order(edges, positions).into_iter().map(edge);
        let edges: Vec<Edge> = all.filter(|e| e.link.compliance < NO_TENSION).collect();
        let size = edges.len();
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); positions.len()];
        let (mut starts, mut couplings) = (vec![0], Vec::new());
        for (k, edge) in edges.iter().enumerate() {
            for (end, particle) in edge.ends.into_iter().enumerate() {
                if moves(particle) {
                    couplings.extend(around[particle as usize].iter().map(|to| {
                        let same = edges[*to as usize].ends[end] == particle;
                        EdgeCoupling { to: *to, particle, sign: if same { 1.0 } else { -1.0 } }
                    }));
                    around[particle as usize].push(k as u32);
                }
            }
            starts.push(couplings.len());
        }
        let coupled =
            |k: usize| couplings[starts[k]..starts[k + 1]].iter().map(|c: &EdgeCoupling| c.to).collect();
        Self {
            ldl: Ldl::new(size, coupled),
            way: vec![Vec4::ZERO; size],
            change: vec![0.0; size],
            sides: Vec::new(),
            edges,
            starts,
            couplings,
            stitches: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Lets edges whose tensions have these places pull at nothing at other lengths.
    pub fn make_offsets(&mut self, slots: &[u32]) {
        let rows: BTreeMap<u32, usize> = self.edges.iter().map(|edge| edge.slot).zip(0..).collect();
        self.places = slots.iter().map(|slot| rows.get(slot).copied()).collect();
    }

    /// Sets C of an edge where it pulls at nothing [m²].
    pub fn set_offset(&mut self, edge: usize, offset: f64) {
        if let Some(row) = self.places[edge] {
            self.edges[row].offset = offset;
        }
    }

    /// Makes stitches of the edges whose tensions have these places: their lengths change ([`LengthSystem::set_stitch`]).
    pub fn make_stitches(&mut self, slots: &[u32]) {
        let row = |slot: &u32| self.edges.iter().position(|edge| edge.slot == *slot);
        self.stitches = slots.iter().map(row).collect();
        self.stitches.iter().flatten().for_each(|row| self.edges[*row].is_stitch = true);
    }

    /// Sets the length and the compliance of a stitch.
    pub fn set_stitch(&mut self, stitch: usize, link: StripEdge) {
        if let Some(row) = self.stitches[stitch] {
            self.edges[row].link = link;
        }
    }

    /// How many numbers the factor has.
    pub fn fill(&self) -> usize {
        self.ldl.fill()
    }

    /// How many edges are redundant at `q`: their lengths follow from those of the others, if nothing gives.
    pub fn redundant(&mut self, q: &[Vec4]) -> usize {
        self.directions(q);
        self.factorise(q, 0.0)
    }

    /// Meets all lengths to first order, or lets edges stretch; changes particles `q` and tensions, within `limits`.
    pub fn correct(
        &mut self,
        q: &mut [Vec4],
        start: Start<&[Vec4]>,
        tension: &mut [f64],
        (limits, stretch): (Limits, Option<BoundedStretch>),
    ) {
        self.directions(if let Start::Directions(x) = start { x } else { q });
        match stretch {
            None => {
                self.factorise(q, 1.0);
                self.find_errors(q, start, tension, limits);
                self.ldl.solve(&mut self.change);
            }
            Some(stretch) => self.find_stretch(q, start, tension, (limits, stretch)),
        }
        for (k, Edge { slot, .. }) in self.edges.iter().enumerate() {
            let tension = &mut tension[*slot as usize];
            *tension = (limits.warm_start * *tension + self.change[k]).max(limits.least_tension);
        }
        self.give(q, |q, i| q[i].0[3]);
    }

    /// The right-hand sides of edges that keep their lengths.
    fn find_errors(&mut self, q: &[Vec4], start: Start<&[Vec4]>, tension: &[f64], limits: Limits) {
        for (k, Edge { ends, link, slot, is_stitch, .. }) in self.edges.iter().enumerate() {
            let rest = link.rest;
            let squared = way(q, *ends).xyz().length_squared();
            let most = rest * rest * limits.most_give;
            let stretch = (link.compliance * limits.warm_start * tension[*slot as usize]).clamp(-most, most);
            self.change[k] = match start {
                Start::Unused | Start::Errors(..) if *is_stitch => squared - squared.sqrt() * rest - stretch,
                Start::Unused => 0.5 * (squared - rest * rest) - stretch,
                Start::Directions(_) => self.way[k].xyz().length() * (squared.sqrt() - rest) - stretch,
                Start::Errors(x, left) => {
                    let before = 0.5 * (way(x, *ends).xyz().length_squared() - rest * rest) - stretch;
                    let [free, next_free] = ends.map(|i| x[i as usize].0[3]);
                    0.5 * (squared - rest * rest) - stretch - left * free * next_free * before
                }
            };
        }
    }

    /// Changes of tension of edges that stretch by the law of [`extensible`](crate::solve::strips::extensible), whose sides are found in the same way.
    fn find_stretch(
        &mut self,
        q: &[Vec4],
        start: Start<&[Vec4]>,
        tension: &[f64],
        (limits, stretch): (Limits, BoundedStretch),
    ) {
        let corrects = limits.most_give < f64::INFINITY;
        let law = |edge: &Edge| EdgeLaw::new(edge.link.rest, edge.link.compliance, edge.offset, stretch);
        let of = |edge: &Edge| tension[edge.slot as usize];
        let side = |edge: &Edge| if edge.is_stitch { 0.0 } else { law(edge).side(of(edge)) };
        self.sides.clear();
        self.sides.extend(self.edges.iter().map(side));
        for pass in 0..MOST_PASSES {
            let (edges, sides) = (&self.edges, &self.sides);
            let slope = |k: usize| match edges[k].is_stitch {
                true => edges[k].link.compliance,
                false => law(&edges[k]).slope(if corrects { 1.0 } else { sides[k] }),
            };
            factorise(&mut self.ldl, (edges, &self.starts, &self.couplings, &self.way), q, slope);
            for (k, edge) in edges.iter().enumerate() {
                let (rest, law, kept) = (edge.link.rest, law(edge), limits.warm_start * of(edge));
                let squared = way(q, edge.ends).xyz().length_squared();
                let length = 0.5 * (squared - rest * rest);
                self.change[k] = match () {
                    () if edge.is_stitch => squared - squared.sqrt() * rest - edge.link.compliance * kept,
                    () if corrects => length - length.clamp(-law.bound, law.bound),
                    () => length - law.at(kept, sides[k]),
                };
                if let Start::Errors(x, left) = start {
                    let before = 0.5 * (way(x, edge.ends).xyz().length_squared() - rest * rest);
                    let [free, next_free] = edge.ends.map(|i| x[i as usize].0[3]);
                    let beyond = sides[k] * (sides[k] * before - law.bound).max(0.0);
                    self.change[k] -= left * free * next_free * beyond;
                }
            }
            self.ldl.solve(&mut self.change);
            let mut any = false;
            for (k, edge) in self.edges.iter().enumerate().filter(|(_, edge)| !edge.is_stitch) {
                let found = law(edge).side(limits.warm_start * of(edge) + self.change[k]);
                let over = (found - self.sides[k]).clamp(-1.0, 1.0);
                if over != 0.0 && (pass < AT_ONCE || !any) {
                    self.sides[k] += over;
                    any = true;
                }
            }
            if !any || corrects {
                break;
            }
        }
    }

    /// Velocity impulses (P2 eq. 3): afterwards no edge at `q` changes its length from `q` to `y`. Mobilities are those of `q`.
    pub fn level(&mut self, q: &[Vec4], y: &mut [Vec4]) {
        self.directions(q);
        self.factorise(q, 1.0);
        for (k, edge) in self.edges.iter().enumerate() {
            let d = self.way[k].xyz();
            self.change[k] = d.dot(way(y, edge.ends).xyz() - d);
        }
        self.ldl.solve(&mut self.change);
        self.give(y, |_, i| q[i].0[3]);
    }

    fn directions(&mut self, at: &[Vec4]) {
        self.way.iter_mut().zip(&self.edges).for_each(|(d, edge)| *d = way(at, edge.ends));
    }

    /// Moves particles by what was solved for.
    fn give(&self, to: &mut [Vec4], mobility: impl Fn(&[Vec4], usize) -> f64) {
        for ((edge, way), change) in self.edges.iter().zip(&self.way).zip(&self.change) {
            let [a, b] = edge.ends.map(|i| i as usize);
            let (ka, kb) = (mobility(to, a), mobility(to, b));
            to[a] += *way * (change * ka);
            to[b] += *way * (-change * kb);
        }
    }

    /// L and D of A, with `give` times the compliances. Returns how many pivots were raised.
    fn factorise(&mut self, q: &[Vec4], give: f64) -> usize {
        let Self { edges, starts, couplings, way, ldl, .. } = self;
        factorise(ldl, (edges, starts, couplings, way), q, |k| {
            // A stitch that does not pull is not there.
            if edges[k].is_stitch { edges[k].link.compliance } else { give * edges[k].link.compliance }
        })
    }
}

/// L and D of A with a compliance for every edge. Returns how many pivots were raised.
fn factorise(
    ldl: &mut Ldl,
    (edges, starts, couplings, way): (&[Edge], &[usize], &[EdgeCoupling], &[Vec4]),
    q: &[Vec4],
    compliance: impl Fn(usize) -> f64,
) -> usize {
    ldl.factorise(|k, row| {
        let (Edge { ends: [a, b], link, .. }, d) = (edges[k], way[k].xyz());
        for EdgeCoupling { to, particle, sign } in &couplings[starts[k]..starts[k + 1]] {
            row[*to as usize] += sign * q[*particle as usize].0[3] * d.dot(way[*to as usize].xyz());
        }
        let least = d.length_squared().max(link.rest * link.rest * CRUSHED);
        let both = q[a as usize].0[3] + q[b as usize].0[3];
        both * least + compliance(k)
    })
}

/// From the first end of an edge to the second; the fourth number is 0.
fn way(at: &[Vec4], [a, b]: [u32; 2]) -> Vec4 {
    Vec4::from(at[b as usize].xyz() - at[a as usize].xyz())
}
