//! Pairs of features that may come too near in a step: points and triangles, edges and edges.
//!
//! The list is a function of the positions alone: a pair stands in it if the boxes that its features sweep meet, unless it is one of
//! neighbours that are certified ([`Stars`]). How it is found (tree, threads, coherence) changes nothing.

use super::boxes::{Bounds, Swept, mean_motion};
pub use super::distance::Kind;
use super::heap::{Heap, Task};
use super::stars::Stars;
use super::surface::{NO_EDGE, Surface};
use crate::math::DVec3;
use rayon::prelude::*;

/// Two features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// What meets what.
    pub kind: Kind,
    /// `[p; a b c]` or `[a b; c d]`.
    pub points: [u32; 4],
}

/// Finds pairs, step after step.
#[derive(Debug, Clone)]
pub struct Candidates {
    movable: Vec<bool>,
    /// Per triangle: how many of its corners are movable.
    free: Vec<u8>,
    /// Triangles around every point of cloth: those of point p stand from `around[p]` to `around[p + 1]`.
    around: Vec<u32>,
    triangles_around: Vec<u32>,
    swept: Swept,
    stars: Stars,
    cloths: Heap,
    bodies: Heap,
    tasks: Vec<Task>,
    found: Vec<Found>,
    points: Sorted,
    edges: Sorted,
    pairs: Vec<Pair>,
}

/// What a task finds: numbers of features, in no particular order.
#[derive(Debug, Clone, Default)]
struct Found {
    /// Point and triangle.
    points: Vec<[u32; 2]>,
    /// Two edges, the smaller number first.
    edges: Vec<[u32; 2]>,
    stack: Vec<Task>,
}

/// A walk is cut into so many tasks: enough for many threads, few enough to cost nothing.
const TASKS: usize = 256;
/// Points that one task of neighbours looks after.
const NEIGHBOURS: usize = 128;

impl Candidates {
    /// For a surface whose points are `movable`, or else pinned or those of bodies.
    pub fn new(surface: &Surface, movable: &[bool]) -> Self {
        let centre = |t: &[u32; 3]| t.iter().map(|p| surface.rest[*p as usize]).sum::<DVec3>() / 3.0;
        let of_cloths = surface.objects.iter().filter(|o| o.body.is_none()).map(|o| o.triangles.len()).sum();
        let centres: Vec<DVec3> = surface.triangles.iter().map(centre).collect();
        let (of_cloth, of_body) = centres.split_at(of_cloths);
        let (around, triangles_around) = triangles_around(surface);
        let mut cloths = Heap::new(of_cloth);
        cloths.leave_out(neighbours(surface, &around, &triangles_around));
        let free = |t: &[u32; 3]| t.iter().filter(|p| movable[**p as usize]).count() as u8;
        Self {
            movable: movable.to_vec(),
            free: surface.triangles.iter().map(free).collect(),
            around,
            triangles_around,
            swept: Swept::new(surface),
            stars: Stars::new(surface),
            cloths,
            bodies: Heap::new(of_body),
            tasks: Vec::new(),
            found: Vec::new(),
            points: Sorted::default(),
            edges: Sorted::default(),
            pairs: Vec::new(),
        }
    }

    /// All pairs of features that may come within the distance they keep ([`Surface::between`]) plus `pad` [m] while every point moves
    /// straight from `from` to `to` [m].
    pub fn find(&mut self, surface: &Surface, from: &[DVec3], to: &[DVec3], pad: f64) {
        let frame = mean_motion(&self.movable, from, to);
        self.swept.update(surface, from, to, frame, pad);
        self.stars.judge(from, to, pad);
        let (outer, first_body) = (&self.swept.outer, self.cloths.len() as u32);
        let around = |t: u32| {
            let [a, b, c] = surface.triangles[t as usize].map(|p| &outer[p as usize]);
            a.join(b).join(c)
        };
        self.cloths.refit(around);
        self.bodies.refit(|t| around(t + first_body));
        self.found.iter_mut().for_each(Found::clear);
        let (mut found, mut tasks) = (std::mem::take(&mut self.found), std::mem::take(&mut self.tasks));
        let mut used = 0;
        self.cloths.tasks_within(TASKS, &mut tasks);
        in_parallel(&mut found, &mut used, tasks.par_iter(), |found, task| {
            let mut stack = std::mem::take(&mut found.stack);
            self.cloths.walk(&self.cloths, *task, &mut stack, |i, j| self.features(surface, i, j, found));
            found.stack = stack;
        });
        self.cloths.tasks_between(&self.bodies, TASKS, &mut tasks);
        in_parallel(&mut found, &mut used, tasks.par_iter(), |found, task| {
            let mut stack = std::mem::take(&mut found.stack);
            let walk = &mut stack;
            self.cloths
                .walk(&self.bodies, *task, walk, |i, j| self.features(surface, i, first_body + j, found));
            found.stack = stack;
        });
        let neighbours = self.stars.uncertified().par_chunks(NEIGHBOURS);
        in_parallel(&mut found, &mut used, neighbours, |found, points| {
            points.iter().for_each(|p| self.meet_neighbours(surface, *p, found));
        });
        (self.found, self.tasks) = (found, tasks);
        self.gather(surface);
    }

    /// What was found, sorted by kind and the numbers of the features.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// All triangles around a point against one another, unless another point that they share takes care of them.
    fn meet_neighbours(&self, surface: &Surface, point: u32, found: &mut Found) {
        let range = self.around[point as usize] as usize..self.around[point as usize + 1] as usize;
        let triangles = &self.triangles_around[range];
        for (k, i) in triangles.iter().enumerate() {
            for j in &triangles[k + 1..] {
                let (t, u) = (surface.triangles[*i as usize], surface.triangles[*j as usize]);
                let elsewhere =
                    |p: u32| p != point && u.contains(&p) && (p < point || self.stars.certified(p));
                if !t.into_iter().any(elsewhere) {
                    self.features(surface, *i, *j, found);
                }
            }
        }
    }

    /// The features that stand with two triangles, if their boxes meet and they share no point.
    #[inline]
    fn features(&self, surface: &Surface, i: u32, j: u32, found: &mut Found) {
        let (i, j) = (i as usize, j as usize);
        let (t, u) = (&surface.triangles[i], &surface.triangles[j]);
        let (of_t, of_u) = (&surface.owned[i], &surface.owned[j]);
        let same = self.swept.object[t[0] as usize] == self.swept.object[u[0] as usize];
        let boxes = if same { &self.swept.inner } else { &self.swept.outer };
        let (a, b) = (t.map(|p| boxes[p as usize]), u.map(|p| boxes[p as usize]));
        let around = |c: &[Bounds; 3]| c[0].join(&c[1]).join(&c[2]);
        let (around_t, around_u) = (around(&a), around(&b));
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
        for k in (0..3).filter(|k| of_t.edges[*k] != NO_EDGE) {
            let (next, edge) = ((k + 1) % 3, of_t.edges[k]);
            let around_edge = a[k].join(&a[next]);
            if !around_edge.meets(&around_u) {
                continue;
            }
            for l in (0..3).filter(|l| of_u.edges[*l] != NO_EDGE) {
                let (after, other) = ((l + 1) % 3, of_u.edges[l]);
                if around_edge.meets(&b[l].join(&b[after])) && good(&[t[k], t[next]], &[u[l], u[after]]) {
                    found.edges.push([edge.min(other), edge.max(other)]);
                }
            }
        }
    }

    /// Sorts all that was found.
    fn gather(&mut self, surface: &Surface) {
        let (found, points, edges) = (&self.found, &mut self.points, &mut self.edges);
        rayon::join(
            || points.sort(surface.points, || found.iter().flat_map(|f| &f.points)),
            || edges.sort(surface.edges.len(), || found.iter().flat_map(|f| &f.edges)),
        );
        self.pairs.clear();
        self.pairs.extend(points.list.iter().map(|[p, t]| {
            let [a, b, c] = surface.triangles[*t as usize];
            Pair { kind: Kind::PointTriangle, points: [*p, a, b, c] }
        }));
        self.pairs.extend(edges.list.iter().map(|[e, f]| {
            let ([a, b], [c, d]) = (surface.edges[*e as usize], surface.edges[*f as usize]);
            Pair { kind: Kind::EdgeEdge, points: [a, b, c, d] }
        }));
    }
}

/// Runs every task with a place of its own for what it finds, after those that are `used`.
fn in_parallel<T: IndexedParallelIterator>(
    found: &mut Vec<Found>,
    used: &mut usize,
    tasks: T,
    work: impl Fn(&mut Found, T::Item) + Sync + Send,
) {
    let range = *used..*used + tasks.len();
    if found.len() < range.end {
        found.resize_with(range.end, Found::default);
    }
    *used = range.end;
    found[range].par_iter_mut().zip(tasks).for_each(|(found, task)| work(found, task));
}

impl Found {
    fn clear(&mut self) {
        self.points.clear();
        self.edges.clear();
    }
}

/// Pairs of numbers in their order.
#[derive(Debug, Clone, Default)]
struct Sorted {
    list: Vec<[u32; 2]>,
    starts: Vec<u32>,
}

impl Sorted {
    /// Takes pairs whose first numbers are below `count`: counted out by those, then by the second.
    fn sort<'a, I: Iterator<Item = &'a [u32; 2]>>(&mut self, count: usize, all: impl Fn() -> I) {
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        all().for_each(|[first, _]| self.starts[*first as usize + 1] += 1);
        for k in 0..count {
            self.starts[k + 1] += self.starts[k];
        }
        self.list.clear();
        self.list.resize(self.starts[count] as usize, [0; 2]);
        for pair in all() {
            let place = &mut self.starts[pair[0] as usize];
            self.list[*place as usize] = *pair;
            *place += 1;
        }
        // Each start has moved to the end of its run.
        let mut start = 0;
        for end in &self.starts[..count] {
            self.list[start..*end as usize].sort_unstable();
            start = *end as usize;
        }
    }
}

/// For every point the triangles of its cloth around it, as starts and one list.
fn triangles_around(surface: &Surface) -> (Vec<u32>, Vec<u32>) {
    let cloths = surface.objects.iter().filter(|o| o.body.is_none());
    let triangles = || cloths.clone().flat_map(|o| o.triangles.clone());
    let corners = || triangles().flat_map(|t| surface.triangles[t].map(|p| (p as usize, t as u32)));
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

/// Every two triangles of cloth that share a point, once.
fn neighbours<'a>(
    surface: &'a Surface,
    around: &'a [u32],
    triangles_around: &'a [u32],
) -> impl Iterator<Item = [u32; 2]> + 'a {
    (0..surface.points as u32).flat_map(move |p| {
        let triangles = &triangles_around[around[p as usize] as usize..around[p as usize + 1] as usize];
        let first = move |i: u32, j: u32| {
            let (t, u) = (surface.triangles[i as usize], surface.triangles[j as usize]);
            t.into_iter().filter(|q| u.contains(q)).min() == Some(p)
        };
        let later = move |k: usize| triangles[k + 1..].iter().map(move |j| [triangles[k], *j]);
        (0..triangles.len()).flat_map(later).filter(move |[i, j]| first(*i, *j))
    })
}

/// The slow twin of [`Candidates::find`]: every feature against every other.
pub fn brute_force(surface: &Surface, movable: &[bool], from: &[DVec3], to: &[DVec3], pad: f64) -> Vec<Pair> {
    let (mut swept, mut stars, mut pairs) = (Swept::new(surface), Stars::new(surface), Vec::new());
    swept.update(surface, from, to, mean_motion(movable, from, to), pad);
    stars.judge(from, to, pad);
    let body = |p: u32| surface.objects[swept.object[p as usize] as usize].body.is_some();
    let mut try_pair = |kind, points: [u32; 4], split: usize, owners: [usize; 2]| {
        let (first, second) = points.split_at(split);
        let apart = !first.iter().any(|p| second.contains(p));
        let free = points.iter().any(|p| movable[*p as usize]);
        let same = swept.object[first[0] as usize] == swept.object[second[0] as usize];
        let boxes = if same { &swept.inner } else { &swept.outer };
        let around = |of: &[u32]| of.iter().fold(Bounds::NOTHING, |all, p| all.join(&boxes[*p as usize]));
        let [t, u] = owners.map(|t| surface.triangles[t]);
        let neighbours = t.iter().any(|p| u.contains(p) && stars.certified(*p));
        let near = || around(first).meets(&around(second));
        if apart && free && !(body(first[0]) && body(second[0])) && !neighbours && near() {
            pairs.push(Pair { kind, points });
        }
    };
    let owned = || surface.owned.iter().enumerate();
    let mut corners: Vec<_> = owned()
        .flat_map(|(t, o)| (0..3).filter(|k| o.corners[*k]).map(move |k| (surface.triangles[t][k], t)))
        .collect();
    corners.sort_unstable();
    for (p, owner) in corners {
        for (t, _) in owned().filter(|(_, o)| o.is_face) {
            let [a, b, c] = surface.triangles[t];
            try_pair(Kind::PointTriangle, [p, a, b, c], 1, [owner, t]);
        }
    }
    let mut edges: Vec<_> = owned()
        .flat_map(|(t, o)| o.edges.into_iter().filter(|e| *e != NO_EDGE).map(move |e| (e as usize, t)))
        .collect();
    edges.sort_unstable();
    for (k, (e, owner)) in edges.iter().enumerate() {
        for (f, other) in &edges[k + 1..] {
            let ([a, b], [c, d]) = (surface.edges[*e], surface.edges[*f]);
            try_pair(Kind::EdgeEdge, [a, b, c, d], 2, [*owner, *other]);
        }
    }
    pairs
}
