//! Pairs of features that may come too near in a step: points and triangles, edges and edges.
//!
//! The list is a function of the positions alone: a pair stands in it if the boxes that its features sweep meet, unless it is one of
//! neighbours that are certified ([`OneRingCuller`]), of triangles in a flat patch ([`CurvatureCuller`]) or that one direction keeps apart ([`drop_apart`]). How it is found (tree, threads)
//! changes nothing.

use super::body_pairs::BodyPairs;
use super::boxes::{Bounds, Swept, mean_motion};
use super::curvature_culler::CurvatureCuller;
use super::features::Features;
use super::finder::Finder;
use super::one_ring_culler::OneRingCuller;
use super::sorted::{Sorted, merge};
use super::triangle_axis::{TriangleMotion, drop_apart};
pub use crate::collide::ccd::distance::PairKind;
use crate::collide::surface::{CollisionSurface, NO_EDGE};
use crate::math::lanes::InstructionSet;
use crate::math::{DVec3, Vec4};
use crate::parallel::{self, Cut};

/// Points that a thread copies at a time, at least.
const POINTS: usize = 1024;

/// Two features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// What meets what.
    pub kind: PairKind,
    /// `[p; a b c]` or `[a b; c d]`.
    pub points: [u32; 4],
}

/// Finds pairs, step after step.
#[derive(Debug)]
pub struct Candidates {
    features: Features,
    /// Start and end of all points, for many at a time [m].
    points: [Vec<Vec4>; 2],
    swept: Swept,
    /// How far movable points moved on average, and how far around them was looked [m].
    frame: DVec3,
    pad: f64,
    patches: CurvatureCuller,
    stars: OneRingCuller,
    finder: Finder,
    /// Pairs of triangles that share no point, and of those that do.
    far: Sorted,
    near: Sorted,
    /// Between bodies.
    bodies: BodyPairs,
    pairs: Vec<Pair>,
    /// Triangles with a point that has moved.
    stale: Vec<u32>,
    cut: Cut,
}

impl Candidates {
    /// For a surface whose points are `movable`, or else pinned or those of bodies.
    pub fn new(surface: &CollisionSurface, movable: &[bool]) -> Self {
        let features = Features::new(surface, movable);
        let finder = Finder::new(surface, &features);
        Self {
            points: [(); 2].map(|_| vec![Vec4::ZERO; surface.points]),
            swept: Swept::new(surface),
            frame: DVec3::ZERO,
            pad: 0.0,
            patches: CurvatureCuller::new(surface, finder.order()),
            stars: OneRingCuller::new(surface),
            finder,
            features,
            far: Sorted::default(),
            near: Sorted::default(),
            bodies: BodyPairs::new(surface, movable),
            pairs: Vec::new(),
            stale: Vec::new(),
            cut: Cut::default(),
        }
    }

    /// All pairs of features that may come within the distance they keep ([`CollisionSurface::between`]) plus `pad` [m] while every point moves
    /// straight from `from` to `to` [m].
    pub fn find(&mut self, surface: &CollisionSurface, from: &[DVec3], to: &[DVec3], pad: f64) {
        let features = &self.features;
        self.frame = mean_motion(&features.movable, from, to);
        self.pad = pad;
        self.swept.update(surface, from, to, self.frame, pad);
        for (points, new) in self.points.iter_mut().zip([from, to]) {
            parallel::each(points, POINTS, |p, point| *point = Vec4::from(new[p]));
        }
        let motion = TriangleMotion { points: [&self.points[0], &self.points[1]], pad };
        let boxes = self.swept.boxes();
        if surface.cloth_meets_cloth {
            self.patches.judge(motion);
            self.stars.judge(motion, &self.patches);
            self.finder.neighbours(features, &self.stars, boxes, &mut self.near);
        }
        self.finder.refit(features, boxes.outer);
        self.finder.all((features, &self.patches), boxes, motion, &mut self.far);
        self.pairs.clear();
        self.take_sorted();
        self.bodies.find(surface, from, to, pad, &mut self.pairs);
    }

    /// Brings what was found up to date where points of cloth, and those alone, have `moved` their ends since: pairs without one of these stay, with what `waiting` says
    /// of each; all others are found anew, come last and wait. No neighbours or patches are certified among them.
    pub fn find_moved(
        &mut self,
        surface: &CollisionSurface,
        [from, to]: [&[DVec3]; 2],
        moved: &[bool],
        waiting: &mut Vec<bool>,
    ) {
        let has_moved = |points: &[u32]| points.iter().any(|p| moved[*p as usize]);
        let mut left = 0;
        for k in 0..self.pairs.len() {
            let (pair, waits) = (self.pairs[k], waiting[k]);
            (self.pairs[left], waiting[left]) = (pair, waits);
            left += usize::from(!has_moved(&pair.points));
        }
        self.pairs.truncate(left);
        waiting.truncate(left);
        for p in (0..moved.len()).filter(|p| moved[*p]) {
            let object = &surface.objects[surface.object_of_point(p as u32)];
            self.swept.update_point(object, p, [from[p], to[p]], self.frame, self.pad);
            self.points[1][p] = Vec4::from(to[p]);
        }
        let features = &self.features;
        self.stale.clear();
        self.stale.extend((0..features.of_cloths as u32).filter(|t| has_moved(&features.triangles[*t as usize])));
        let motion = TriangleMotion { points: [&self.points[0], &self.points[1]], pad: self.pad };
        let (boxes, stale) = (self.swept.boxes(), (moved, &self.stale[..]));
        self.finder.around_moved(features, boxes, motion, stale, &mut self.far);
        self.near.clear();
        self.take_sorted();
        waiting.resize(self.pairs.len(), true);
    }

    /// Appends what was found far and near.
    fn take_sorted(&mut self) {
        let (pairs, Features { triangles, edges, .. }) = (&mut self.pairs, &self.features);
        merge([&self.far.points, &self.near.points], &mut self.cut, pairs, |[p, t]| {
            let [a, b, c] = triangles[t as usize];
            Pair { kind: PairKind::PointTriangle, points: [p, a, b, c] }
        });
        merge([&self.far.edges, &self.near.edges], &mut self.cut, pairs, |[e, f]| {
            let ([a, b], [c, d]) = (edges[e as usize], edges[f as usize]);
            Pair { kind: PairKind::EdgeEdge, points: [a, b, c, d] }
        });
    }

    /// What was found, sorted by kind and the numbers of the features; pairs between bodies come last.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }
}

/// The slow twin of [`Candidates::find`]: every feature against every other.
pub fn brute_force(
    surface: &CollisionSurface,
    movable: &[bool],
    from: &[DVec3],
    to: &[DVec3],
    pad: f64,
) -> Vec<Pair> {
    let (mut swept, mut stars, mut pairs) = (Swept::new(surface), OneRingCuller::new(surface), Vec::new());
    swept.update(surface, from, to, mean_motion(movable, from, to), pad);
    let [from, to] = [from, to].map(|points| points.iter().map(|x| Vec4::from(*x)).collect::<Vec<_>>());
    let motion = TriangleMotion { points: [&from, &to], pad };
    let (features, set) = (Features::new(surface, movable), InstructionSet::available()[0]);
    let mut patches = CurvatureCuller::new(surface, Finder::new(surface, &features).order());
    if surface.cloth_meets_cloth {
        patches.judge(motion);
    }
    stars.judge(motion, &patches);
    let is_apart = |[t, u]: [usize; 2]| {
        let mut left = vec![[t as u32, u as u32]];
        drop_apart(set, &features, motion, &mut left);
        left.is_empty()
    };
    let object = |p: u32| surface.object_of_point(p);
    let body = |p: u32| surface.objects[object(p)].body.is_some();
    let mut try_pair = |kind, points: [u32; 4], split: usize, owners: [usize; 2]| {
        let (first, second) = points.split_at(split);
        let apart = !first.iter().any(|p| second.contains(p));
        let free = points.iter().any(|p| movable[*p as usize]);
        let same = object(first[0]) == object(second[0]);
        let boxes = if same { &swept.inner } else { &swept.outer };
        let around = |of: &[u32]| of.iter().fold(Bounds::NOTHING, |all, p| all.join(&boxes[*p as usize]));
        let [t, u] = owners.map(|t| surface.triangles[t]);
        let neighbours = t.iter().any(|p| u.contains(p) && stars.certified(*p));
        let is_flat = |[t, u]: [usize; 2]| u < features.of_cloths && patches.have_flat_patch(t as u32, u as u32);
        let ordered = [owners[0].min(owners[1]), owners[0].max(owners[1])];
        let are_far = || !t.iter().any(|p| u.contains(p)) && (is_flat(ordered) || is_apart(ordered));
        let may = match [body(first[0]), body(second[0])] {
            [false, false] => surface.cloth_meets_cloth,
            [a, b] => a != b,
        };
        let near = || around(first).meets(&around(second));
        if apart && free && may && !neighbours && near() && !are_far() {
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
            try_pair(PairKind::PointTriangle, [p, a, b, c], 1, [owner, t]);
        }
    }
    let mut edges: Vec<_> = owned()
        .flat_map(|(t, o)| o.edges.into_iter().filter(|e| *e != NO_EDGE).map(move |e| (e as usize, t)))
        .collect();
    edges.sort_unstable();
    for (k, (e, owner)) in edges.iter().enumerate() {
        for (f, other) in &edges[k + 1..] {
            let ([a, b], [c, d]) = (surface.edges[*e], surface.edges[*f]);
            try_pair(PairKind::EdgeEdge, [a, b, c, d], 2, [*owner, *other]);
        }
    }
    pairs
}
