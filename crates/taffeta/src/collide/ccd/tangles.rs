//! What intersects at the start of a step: such features cannot be kept apart, so they do not block one another until they are. All others do, lest what is cut
//! in one place draws in what is around it.

use crate::collide::broad_phase::candidates::{Pair, PairKind};
use crate::collide::surface::CollisionSurface;

/// Where cloth cuts into one body.
#[derive(Debug, Clone, Default)]
pub struct Breach {
    /// Triangles of cloth that do, ascending.
    pub triangles: Vec<u32>,
    /// Edges of theirs that go through the surface of the body, smaller end first.
    pub edges: Vec<[u32; 2]>,
    /// Particles that lie in the body.
    pub inside: Vec<u32>,
}

/// Features of triangles that intersect, and those that lie in bodies or go through their surface.
#[derive(Debug, Clone, Default)]
pub struct Tangles {
    /// Pairs of features of two triangles of cloth that intersect, sorted.
    pairs: Vec<Pair>,
    /// Corners of triangles of cloth that cut into a body, and ends of edges that go through one: each in ascending order, all sorted.
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// Per particle: whether it lies in a body; empty if none does.
    inside: Vec<bool>,
}

impl Tangles {
    /// Takes all pairs of cloth triangles that intersect, and where cloth cuts into bodies.
    pub fn set(&mut self, surface: &CollisionSurface, cloth_cloth: &[[u32; 2]], breaches: impl Iterator<Item = Breach>) {
        self.pairs.clear();
        for pair in cloth_cloth {
            let [t, u] = pair.map(|t| surface.triangles[t as usize]);
            for k in 0..3 {
                self.pairs.push(Pair { kind: PairKind::PointTriangle, points: [t[k], u[0], u[1], u[2]] });
                self.pairs.push(Pair { kind: PairKind::PointTriangle, points: [u[k], t[0], t[1], t[2]] });
                self.pairs.extend((0..3).flat_map(|l| both_orders(side(t, k), side(u, l))));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.triangles.clear();
        self.edges.clear();
        self.inside.clear();
        for Breach { triangles, edges, inside } in breaches {
            self.triangles.extend(triangles.iter().map(|t| sorted(surface.triangles[*t as usize])));
            self.edges.extend(edges);
            for i in inside {
                self.inside.resize(surface.particles, false);
                self.inside[i as usize] = true;
            }
        }
        self.triangles.sort_unstable();
        self.edges.sort_unstable();
    }

    /// Whether nothing is tangled.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.triangles.is_empty()
    }

    /// Whether a pair cannot be kept apart now. Of cloth and a body it cannot where a point of the cloth is inside, or the edge or triangle of the cloth is cut: so what
    /// is cut goes in and out, and what is beside it stays out.
    pub fn has(&self, surface: &CollisionSurface, pair: &Pair) -> bool {
        let is_cloth = |p: &u32| (*p as usize) < surface.particles;
        let (cloth, count) = pair.points.iter().filter(|p| is_cloth(p)).fold(([0; 4], 0), |(mut list, count), p| {
            list[count] = *p;
            (list, count + 1)
        });
        let is_inside = |p: &u32| self.inside.get(*p as usize).is_some_and(|inside| *inside);
        match count {
            4 => self.pairs.binary_search(pair).is_ok(),
            3 => {
                cloth[..3].iter().any(is_inside)
                    || self.triangles.binary_search(&sorted([cloth[0], cloth[1], cloth[2]])).is_ok()
            }
            2 => cloth[..2].iter().any(is_inside) || self.edges.binary_search(&side([cloth[0], cloth[1], 0], 0)).is_ok(),
            _ => cloth[..count].iter().any(is_inside),
        }
    }
}

fn sorted(mut t: [u32; 3]) -> [u32; 3] {
    t.sort_unstable();
    t
}

/// An edge of a triangle, smaller end first.
pub fn side(t: [u32; 3], k: usize) -> [u32; 2] {
    let (a, b) = (t[k], t[(k + 1) % 3]);
    [a.min(b), a.max(b)]
}

/// The pair as whichever edge has the smaller number has it.
fn both_orders([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [Pair; 2] {
    [[a, b, c, d], [c, d, a, b]].map(|points| Pair { kind: PairKind::EdgeEdge, points })
}
