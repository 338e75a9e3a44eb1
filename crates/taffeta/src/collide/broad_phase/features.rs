//! Which features stand with which triangle, and which of two triangles meet: what detection knows for good.

use super::boxes::Bounds;
use super::one_ring_culler::OneRingCuller;
use super::sorted::PairList;
use crate::collide::ccd::window::for_every_two;
use crate::collide::surface::{CollisionSurface, NO_EDGE, Owned};

/// The constant part of detection, made once from a surface.
#[derive(Debug)]
pub struct Features {
    /// All triangles; those of cloths come first.
    pub triangles: Vec<[u32; 3]>,
    /// All edges.
    pub edges: Vec<[u32; 2]>,
    /// How many triangles are those of cloths.
    pub of_cloths: usize,
    /// What stands with every triangle.
    owned: Vec<Owned>,
    /// Whether cloth meets cloth.
    pub cloth_meets_cloth: bool,
    /// Whether a point is moved by forces.
    pub movable: Vec<bool>,
    /// How many corners of a triangle are movable.
    free: Vec<u8>,
    /// Object of every point, how many there are, and what every two of them keep [m].
    object: Vec<u32>,
    objects: usize,
    kept: Vec<f64>,
    /// Triangles around every point: those of point p stand from `around_from[p]` to `around_from[p + 1]`.
    around: Vec<u32>,
    around_from: Vec<u32>,
}

/// The boxes of all points, for meeting the same object and for meeting others; the first lie inside the second.
#[derive(Debug, Clone, Copy)]
pub struct Boxes<'a> {
    /// For the same object.
    pub inner: &'a [Bounds],
    /// For others.
    pub outer: &'a [Bounds],
}

impl Features {
    /// Those of a surface whose points are `movable`, or else pinned or those of bodies.
    pub fn new(surface: &CollisionSurface, movable: &[bool]) -> Self {
        let free = |t: &[u32; 3]| t.iter().filter(|p| movable[**p as usize]).count() as u8;
        let (around_from, around) = triangles_around(surface);
        let cloths = surface.objects.iter().filter(|o| o.body.is_none());
        Self {
            triangles: surface.triangles.clone(),
            edges: surface.edges.clone(),
            of_cloths: cloths.map(|o| o.triangles.len()).sum(),
            owned: surface.owned.clone(),
            cloth_meets_cloth: surface.cloth_meets_cloth,
            movable: movable.to_vec(),
            free: surface.triangles.iter().map(free).collect(),
            object: (0..surface.points as u32).map(|p| surface.object_of_point(p) as u32).collect(),
            objects: surface.objects.len(),
            kept: for_every_two(surface, |a, b| surface.between(a, b).distance),
            around,
            around_from,
        }
    }

    /// The distance that the objects of two points keep [m].
    #[inline]
    pub fn kept(&self, a: u32, b: u32) -> f64 {
        self.kept[self.object[a as usize] as usize * self.objects + self.object[b as usize] as usize]
    }

    /// The triangles around a point.
    #[inline]
    pub fn around(&self, point: u32) -> &[u32] {
        let from = &self.around_from[point as usize..point as usize + 2];
        &self.around[from[0] as usize..from[1] as usize]
    }

    /// Whether two triangles share a point.
    #[inline]
    pub fn are_neighbours(&self, i: u32, j: u32) -> bool {
        let (t, u) = (self.triangles[i as usize], self.triangles[j as usize]);
        t.iter().fold(false, |any, p| any | (*p == u[0]) | (*p == u[1]) | (*p == u[2]))
    }

    /// Every two triangles of cloth that share a point, once.
    pub fn neighbours(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        (0..self.object.len() as u32).flat_map(move |p| {
            let triangles = if self.around(p).is_empty() { &[] } else { self.around(p) };
            let at_first = move |i: u32, j: u32| {
                let (t, u) = (self.triangles[i as usize], self.triangles[j as usize]);
                t.into_iter().filter(|q| u.contains(q)).min() == Some(p)
            };
            let later = move |k: usize| triangles[k + 1..].iter().map(move |j| [triangles[k], *j]);
            let in_cloth = move |[i, j]: &[u32; 2]| (*i.max(j) as usize) < self.of_cloths;
            (0..triangles.len()).flat_map(later).filter(move |[i, j]| at_first(*i, *j)).filter(in_cloth)
        })
    }

    /// The triangles of cloth that share a point with one of them, each once.
    pub fn neighbours_of(&self, triangle: u32) -> impl Iterator<Item = u32> + '_ {
        let corners = self.triangles[triangle as usize];
        (0..3).flat_map(move |k| {
            let others = self.around(corners[k]).iter().copied().filter(move |u| *u != triangle);
            others.filter(move |u| !corners[..k].iter().any(|p| self.triangles[*u as usize].contains(p)))
        })
    }

    /// Features of all triangles around a point, unless another point that two of them share answers for them.
    pub fn meet_around(&self, point: u32, stars: &OneRingCuller, boxes: Boxes, found: &mut PairList) {
        let triangles = self.around(point);
        for (k, i) in triangles.iter().enumerate() {
            for j in &triangles[k + 1..] {
                let (t, u) = (self.triangles[*i as usize], self.triangles[*j as usize]);
                let elsewhere = |p: u32| p != point && u.contains(&p) && (p < point || stars.certified(p));
                if !t.into_iter().any(elsewhere) {
                    self.meet(*i, *j, boxes, found);
                }
            }
        }
    }

    /// The features that stand with two triangles, one of them of cloth, if their boxes meet, they share no point and one point is movable.
    #[inline]
    pub fn meet(&self, i: u32, j: u32, boxes: Boxes, found: &mut PairList) {
        let (i, j) = (i as usize, j as usize);
        let (t, u) = (&self.triangles[i], &self.triangles[j]);
        let (of_t, of_u) = (&self.owned[i], &self.owned[j]);
        let of = boxes.between(self, t[0], u[0]);
        let (a, b) = (t.map(|p| of[p as usize]), u.map(|p| of[p as usize]));
        let sides = |a: &[Bounds; 3]| [a[0].join(&a[1]), a[1].join(&a[2]), a[2].join(&a[0])];
        let (edges_t, edges_u) = (sides(&a), sides(&b));
        let (around_t, around_u) = (edges_t[0].join(&a[2]), edges_u[0].join(&b[2]));
        if self.free[i] + self.free[j] == 0 || !around_t.meets(&around_u) {
            return;
        }
        // If one triangle is wholly movable, every pair has a movable point.
        let free = self.free[i] == 3 || self.free[j] == 3;
        let good = |first: &[u32], second: &[u32]| {
            let movable = |p: &u32| self.movable[*p as usize];
            !first.iter().any(|p| second.contains(p))
                && (free || first.iter().any(movable) || second.iter().any(movable))
        };
        for k in 0..3 {
            if of_t.corners[k] && of_u.is_face && a[k].meets(&around_u) && good(&[t[k]], u) {
                found.points.push([t[k], j as u32]);
            }
            if of_u.corners[k] && of_t.is_face && b[k].meets(&around_t) && good(&[u[k]], t) {
                found.points.push([u[k], i as u32]);
            }
        }
        // Only edges that meet the other triangle can meet one of its edges.
        let near = |owned: &Owned, edges: &[Bounds; 3], other: &Bounds| {
            [0, 1, 2].map(|k| (owned.edges[k] != NO_EDGE) & edges[k].meets(other))
        };
        let near_u = near(of_u, &edges_u, &around_t);
        if near_u == [false; 3] {
            return;
        }
        let near_t = near(of_t, &edges_t, &around_u);
        for k in (0..3).filter(|k| near_t[*k]) {
            for l in (0..3).filter(|l| near_u[*l]) {
                let (ends, others) = ([t[k], t[(k + 1) % 3]], [u[l], u[(l + 1) % 3]]);
                if edges_t[k].meets(&edges_u[l]) && good(&ends, &others) {
                    let (edge, other) = (of_t.edges[k], of_u.edges[l]);
                    found.edges.push([edge.min(other), edge.max(other)]);
                }
            }
        }
    }
}

impl<'a> Boxes<'a> {
    /// The boxes that decide whether two points meet.
    #[inline]
    pub fn between(&self, features: &Features, a: u32, b: u32) -> &'a [Bounds] {
        if features.object[a as usize] == features.object[b as usize] { self.inner } else { self.outer }
    }
}

/// For every point the triangles around it, as starts and one list.
pub fn triangles_around(surface: &CollisionSurface) -> (Vec<u32>, Vec<u32>) {
    // A capsule names an end twice, and is around it once.
    let corners = || {
        (0..).zip(&surface.triangles).flat_map(|(t, [a, b, c])| {
            let all = [Some(a), (b != a).then_some(b), (c != a && c != b).then_some(c)];
            all.into_iter().flatten().map(move |p| (*p as usize, t))
        })
    };
    let mut starts = vec![0; surface.points + 1];
    corners().for_each(|(p, _)| starts[p + 1] += 1);
    for p in 0..surface.points {
        starts[p + 1] += starts[p];
    }
    let (mut next, mut list) = (starts.clone(), vec![0; starts[surface.points] as usize]);
    for (p, t) in corners() {
        list[next[p] as usize] = t;
        next[p] += 1;
    }
    (starts, list)
}
