//! Pairs of features that may come too near in a step: points and triangles, edges and edges.
//!
//! The list is a function of the positions alone: a pair stands in it if the boxes swept by its features meet. How it is found (tree,
//! coherence, threads) changes nothing.

use super::boxes::Bounds;
pub use super::distance::Kind;
use super::surface::Surface;
use crate::math::DVec3;

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
    /// Per point: whether it is moved by forces.
    movable: Vec<bool>,
    swept: Swept,
    pairs: Vec<Pair>,
}

impl Candidates {
    /// For a surface whose points are `movable`, or else pinned or those of bodies.
    pub fn new(surface: &Surface, movable: &[bool]) -> Self {
        Self { movable: movable.to_vec(), swept: Swept::new(surface), pairs: Vec::new() }
    }

    /// All pairs of features that may come within the distance they keep ([`Surface::between`]) plus `pad` [m] while every point moves
    /// straight from `from` to `to` [m].
    pub fn find(&mut self, surface: &Surface, from: &[DVec3], to: &[DVec3], pad: f64) {
        self.swept.update(surface, &self.movable, from, to, pad);
        self.pairs.clear();
        brute_force(surface, &self.movable, &self.swept, &mut self.pairs);
    }

    /// What was found, sorted by kind and the numbers of the features.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }
}

/// The boxes that points sweep.
#[derive(Debug, Clone)]
pub struct Swept {
    /// Object of every point.
    object: Vec<u32>,
    /// Boxes for meeting another object: two of them meet wherever their points may come within both radii.
    outer: Vec<Bounds>,
    /// Boxes for meeting the same object.
    inner: Vec<Bounds>,
}

impl Swept {
    /// No boxes yet.
    pub fn new(surface: &Surface) -> Self {
        let object = (0..surface.points as u32).map(|p| surface.object_of_point(p) as u32).collect();
        let nothing = vec![Bounds::NOTHING; surface.points];
        Self { object, outer: nothing.clone(), inner: nothing }
    }

    /// Sweeps every point, seen from a frame that moves as the movable points do on average: distances are the same in every frame, boxes not.
    pub fn update(&mut self, surface: &Surface, movable: &[bool], from: &[DVec3], to: &[DVec3], pad: f64) {
        let moved = from.iter().zip(to).zip(movable).filter(|(_, free)| **free).map(|((a, b), _)| *b - *a);
        let count = movable.iter().filter(|free| **free).count().max(1);
        let mean = moved.sum::<DVec3>() / count as f64;
        for (p, (a, b)) in from.iter().zip(to).enumerate().take(surface.points) {
            let object = &surface.objects[self.object[p] as usize];
            let end = *b - mean;
            self.outer[p] = Bounds::around(*a, end, object.radius + 0.5 * pad);
            self.inner[p] = Bounds::around(*a, end, 0.5 * (object.self_distance + pad));
        }
    }

    /// Whether the boxes of two features meet.
    fn meet(&self, first: &[u32], second: &[u32]) -> bool {
        let same = self.object[first[0] as usize] == self.object[second[0] as usize];
        let boxes = if same { &self.inner } else { &self.outer };
        let around =
            |points: &[u32]| points.iter().fold(Bounds::NOTHING, |all, p| all.join(&boxes[*p as usize]));
        around(first).meets(&around(second))
    }
}

/// The slow twin: every feature against every other.
pub fn brute_force(surface: &Surface, movable: &[bool], swept: &Swept, pairs: &mut Vec<Pair>) {
    let body = |p: u32| surface.objects[swept.object[p as usize] as usize].body.is_some();
    let mut try_pair = |kind, points: [u32; 4], split: usize| {
        let (first, second) = points.split_at(split);
        let apart = !first.iter().any(|p| second.contains(p));
        let free = points.iter().any(|p| movable[*p as usize]);
        let bodies = u8::from(body(first[0])) + u8::from(body(second[0]));
        let may = bodies == 1 || bodies == 0 && surface.cloth_meets_cloth;
        if apart && free && may && swept.meet(first, second) {
            pairs.push(Pair { kind, points });
        }
    };
    let mut points: Vec<u32> = surface.triangles.iter().flatten().copied().collect();
    points.sort_unstable();
    points.dedup();
    for p in points {
        for ([a, b, c], _) in surface.triangles.iter().zip(&surface.owned).filter(|(_, o)| o.is_face) {
            try_pair(Kind::PointTriangle, [p, *a, *b, *c], 1);
        }
    }
    for (k, [a, b]) in surface.edges.iter().enumerate() {
        for [c, d] in &surface.edges[k + 1..] {
            try_pair(Kind::EdgeEdge, [*a, *b, *c, *d], 2);
        }
    }
}
