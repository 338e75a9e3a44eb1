//! Pairs of features of two bodies, one of them free. Bodies are few, so every two are looked at; of large ones only what lies where both are.

use super::candidates::{Pair, PairKind};
use crate::collide::surface::{CollisionSurface, NO_EDGE};
use crate::math::DVec3;

/// Finds pairs between bodies.
#[derive(Debug, Clone, Default)]
pub struct BodyPairs {
    /// Objects that are bodies, and whether they are free.
    bodies: Vec<(usize, bool)>,
    /// Triangles of two bodies that lie where both are, with the boxes that they sweep.
    near: [Vec<(usize, Box3)>; 2],
}

/// A box by its lowest and highest corner [m].
#[derive(Debug, Clone, Copy)]
struct Box3 {
    low: DVec3,
    high: DVec3,
}

impl Box3 {
    const NOTHING: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn join(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is not a number meets.
    fn meets(&self, other: &Self) -> bool {
        !(self.low.cmpgt(other.high).any() || other.low.cmpgt(self.high).any())
    }
}

/// The straight ways of all points, and how far around them is looked.
struct Ways<'a> {
    surface: &'a CollisionSurface,
    from: &'a [DVec3],
    to: &'a [DVec3],
    pad: f64,
}

impl Ways<'_> {
    fn around(&self, point: u32, room: f64) -> Box3 {
        let (a, b) = (self.from[point as usize], self.to[point as usize]);
        // A millionth more is far above what sums round.
        let room = DVec3::splat(room) + 1e-6 * room + 1e-12 * a.abs().max(b.abs());
        Box3 { low: a.min(b) - room, high: a.max(b) + room }
    }

    fn room(&self, object: usize) -> f64 {
        self.surface.objects[object].radius + 0.5 * (self.surface.body_skin + self.pad)
    }

    fn of_triangle(&self, triangle: usize, room: f64) -> Box3 {
        self.surface.triangles[triangle].iter().fold(Box3::NOTHING, |all, p| all.join(&self.around(*p, room)))
    }

    fn of_object(&self, object: usize) -> Box3 {
        let (points, room) = (self.surface.objects[object].points.clone(), self.room(object));
        points.fold(Box3::NOTHING, |all, p| all.join(&self.around(p as u32, room)))
    }
}

impl BodyPairs {
    /// For the bodies of a surface of which those with movable points are free.
    pub fn new(surface: &CollisionSurface, movable: &[bool]) -> Self {
        let is_free = |object: &crate::collide::surface::Object| object.points.clone().any(|p| movable[p]);
        let numbered = surface.objects.iter().enumerate();
        let bodies: Vec<_> =
            numbered.filter(|(_, o)| o.body.is_some()).map(|(k, o)| (k, is_free(o))).collect();
        let any = bodies.iter().any(|(_, free)| *free);
        Self { bodies: if any { bodies } else { Vec::new() }, near: [Vec::new(), Vec::new()] }
    }

    /// Adds all pairs of features that may come within the distance they keep plus `pad` [m] on straight ways `from` and `to` [m].
    pub fn find(
        &mut self,
        surface: &CollisionSurface,
        from: &[DVec3],
        to: &[DVec3],
        pad: f64,
        out: &mut Vec<Pair>,
    ) {
        let ways = Ways { surface, from, to, pad };
        for i in 0..self.bodies.len() {
            for j in i + 1..self.bodies.len() {
                let [(a, a_free), (b, b_free)] = [self.bodies[i], self.bodies[j]];
                if (a_free || b_free) && ways.of_object(a).meets(&ways.of_object(b)) {
                    self.between(&ways, a, b, out);
                }
            }
        }
    }

    fn between(&mut self, ways: &Ways, a: usize, b: usize, out: &mut Vec<Pair>) {
        for (near, [own, other]) in self.near.iter_mut().zip([[a, b], [b, a]]) {
            let around = ways.of_object(other);
            near.clear();
            let triangles = ways.surface.objects[own].triangles.clone();
            let boxed = triangles.map(|t| (t, ways.of_triangle(t, ways.room(own))));
            near.extend(boxed.filter(|(_, own)| own.meets(&around)));
        }
        for (t, around_t) in &self.near[0] {
            for (u, _) in self.near[1].iter().filter(|(_, around_u)| around_t.meets(around_u)) {
                features(ways.surface, *t, *u, out);
            }
        }
    }
}

/// The pairs of features that stand with two triangles.
fn features(surface: &CollisionSurface, t: usize, u: usize, out: &mut Vec<Pair>) {
    for (own, other) in [(t, u), (u, t)] {
        let ([a, b, c], owned) = (surface.triangles[other], &surface.owned[other]);
        // A ball or a capsule has no faces: what stands for it is a point or an edge.
        let is_whole = owned.is_face || surface.objects[surface.object_of_point(a)].triangles.len() == 1;
        for k in (0..3).filter(|k| is_whole && surface.owned[own].corners[*k]) {
            out.push(Pair { kind: PairKind::PointTriangle, points: [surface.triangles[own][k], a, b, c] });
        }
    }
    let edges = |of: usize| surface.owned[of].edges.into_iter().filter(|e| *e != NO_EDGE);
    for e in edges(t) {
        for f in edges(u) {
            let ([a, b], [c, d]) = (surface.edges[e as usize], surface.edges[f as usize]);
            out.push(Pair { kind: PairKind::EdgeEdge, points: [a, b, c, d] });
        }
    }
}
