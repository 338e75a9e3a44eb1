//! What intersects at the start: such features cannot be kept apart, so they do not block one another until they are.

use crate::collide::broad_phase::candidates::{Pair, PairKind};
use crate::collide::contact::through::Crossing;
use crate::collide::surface::CollisionSurface;

/// Features of triangles that intersect, and those that lie in bodies.
#[derive(Debug, Clone, Default)]
pub struct Tangles {
    /// Pairs of features of two triangles of cloth that intersect, sorted.
    pairs: Vec<Pair>,
    /// Per particle: whether it is a corner of a triangle that cuts into a body; empty if none does.
    in_body: Vec<bool>,
    /// Features of cloth that have gone through a surface, each with the feature of that where they go back.
    through: Vec<Pair>,
}

impl Tangles {
    /// Takes all pairs of cloth triangles that intersect, all cloth triangles that cut into a body, and what has gone through the surface of a collider.
    pub fn set(
        &mut self,
        surface: &CollisionSurface,
        cloth_cloth: &[[u32; 2]],
        in_bodies: impl Iterator<Item = u32>,
        through: impl Iterator<Item = (usize, Crossing)>,
    ) {
        self.pairs.clear();
        for pair in cloth_cloth {
            let [t, u] = pair.map(|t| surface.triangles[t as usize]);
            for k in 0..3 {
                self.pairs.push(Pair { kind: PairKind::PointTriangle, points: [t[k], u[0], u[1], u[2]] });
                self.pairs.push(Pair { kind: PairKind::PointTriangle, points: [u[k], t[0], t[1], t[2]] });
                self.pairs.extend((0..3).flat_map(|l| both_orders(edge(t, k), edge(u, l))));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.in_body.clear();
        for triangle in in_bodies {
            self.in_body.resize(surface.particles, false);
            surface.triangles[triangle as usize].iter().for_each(|p| self.in_body[*p as usize] = true);
        }
        self.through.clear();
        for (collider, (mut points, kind)) in through {
            if let Some(object) = surface.objects.iter().find(|object| object.body == Some(collider)) {
                let (of_cloth, of_body) = points.split_at_mut(if kind == PairKind::PointTriangle { 1 } else { 2 });
                of_cloth.iter().for_each(|p| self.in_body[*p as usize] = true);
                of_body.iter_mut().for_each(|p| *p += object.points.start as u32);
                self.through.push(Pair { kind, points });
            }
        }
    }

    /// Whether nothing is tangled.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.in_body.is_empty()
    }

    /// What has gone through a surface, and where it goes back.
    pub fn through(&self) -> &[Pair] {
        &self.through
    }

    /// Whether cloth cuts into a body.
    pub fn any_in_bodies(&self) -> bool {
        !self.in_body.is_empty()
    }

    /// Whether a pair cannot be kept apart now.
    pub fn has(&self, surface: &CollisionSurface, pair: &Pair) -> bool {
        let of_cloth = |p: &u32| (*p as usize) < surface.particles;
        if pair.points.iter().all(of_cloth) {
            self.pairs.binary_search(pair).is_ok()
        } else {
            let inside = |p: &u32| self.in_body.get(*p as usize).is_some_and(|inside| *inside);
            let mut of_cloth = pair.points.iter().filter(|p| of_cloth(p)).peekable();
            of_cloth.peek().is_some() && of_cloth.all(inside)
        }
    }
}

/// An edge of a triangle, smaller end first.
fn edge(t: [u32; 3], k: usize) -> [u32; 2] {
    let (a, b) = (t[k], t[(k + 1) % 3]);
    [a.min(b), a.max(b)]
}

/// The pair as whichever edge has the smaller number has it.
fn both_orders([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [Pair; 2] {
    [[a, b, c, d], [c, d, a, b]].map(|points| Pair { kind: PairKind::EdgeEdge, points })
}
