//! All pairs of features whose boxes meet, by trees over the triangles of cloths and of bodies; neighbours are left out.

use super::boxes::Bounds;
use super::curvature_culler::CurvatureCuller;
use super::features::{Boxes, Features};
use super::one_ring_culler::OneRingCuller;
use super::sorted::{PairList, Sorted};
use super::triangle_axis::{TriangleMotion, drop_apart};
use super::wide_bvh::{BvhTask, WideBvh};
use crate::collide::surface::CollisionSurface;
use crate::math::DVec3;
use crate::math::lanes::InstructionSet;
use crate::parallel;

/// Trees and room for what is found.
#[derive(Debug, Clone)]
pub struct Finder {
    cloths: WideBvh,
    bodies: WideBvh,
    /// Room for another order of `cloths`, whether that is still the one at rest, and where triangles are then [units of their boxes].
    spare: WideBvh,
    is_in_order: bool,
    centres: Vec<DVec3>,
    /// Refits so far, and what a walk costs at best, as of the last look.
    refits: usize,
    best: f64,
    tasks: Vec<BvhTask>,
    /// A place of its own for every task.
    found: Vec<PairList>,
    used: usize,
    walks: Vec<Walk>,
    set: InstructionSet,
}

/// Room for one task of a walk.
#[derive(Debug, Clone, Default)]
struct Walk {
    stack: Vec<BvhTask>,
    /// Triangles whose boxes meet.
    met: Vec<[u32; 2]>,
}

/// A walk is cut into so many tasks: enough for many threads, few enough to cost nothing.
const TASKS: usize = 256;
/// Every so many refits the cost of the tree is looked at; it is put in a new order if that is so many times the best.
const LOOK: usize = 16;
const WORSE: f64 = 1.3;
/// Room between an object and the next where they stand side by side, as a share of its width [1].
const BETWEEN: f64 = 1e-3;
/// Points or triangles that one task looks after.
const EACH: usize = 128;

impl Finder {
    /// For a surface and its features.
    pub fn new(surface: &CollisionSurface, features: &Features) -> Self {
        let places = side_by_side(surface);
        let (of_cloths, of_bodies) = places.split_at(features.of_cloths);
        let (mut cloths, bodies) = (WideBvh::new(of_cloths), WideBvh::new(of_bodies));
        cloths.leave_out(features.neighbours());
        let (spare, centres) = (cloths.clone(), of_cloths.to_vec());
        let (tasks, found, walks) = (Vec::new(), Vec::new(), Vec::new());
        let set = InstructionSet::available()[0];
        Self { cloths, bodies, spare, is_in_order: true, centres, refits: 0, best: 0.0, tasks, found, used: 0, walks, set }
    }

    /// The triangles of cloths as the tree has them at first, sixteen in a leaf.
    pub fn order(&self) -> &[u32] {
        self.cloths.order()
    }

    /// Takes the outer boxes of all points.
    pub fn refit(&mut self, features: &Features, outer: &[Bounds]) {
        let around = |t: u32| around(features, outer, t);
        self.cloths.refit(around);
        self.bodies.refit(|t| around(t + features.of_cloths as u32));
        if self.refits.is_multiple_of(LOOK) && self.cloths.cost() > WORSE * self.best {
            self.put_in_order(features, around);
        }
        self.refits += 1;
    }

    /// Tries the order of the present shape, and keeps the better one.
    fn put_in_order(&mut self, features: &Features, around: impl Fn(u32) -> Bounds + Sync) {
        let centre = |t: u32| DVec3::from_array([0, 1, 2].map(|k| f64::from(around(t).twice_centre(k))));
        (0..).zip(&mut self.centres).for_each(|(t, to)| *to = centre(t));
        self.spare.renew(&self.centres);
        self.spare.refit(around);
        let (old, new) = (self.cloths.cost(), self.spare.cost());
        self.best = new;
        if old > WORSE * new {
            self.spare.leave_out(features.neighbours());
            std::mem::swap(&mut self.cloths, &mut self.spare);
            self.is_in_order = false;
        } else {
            // Not worth it; it will be tried again when this one has got worse still.
            self.best = old;
        }
    }

    /// All pairs of features that meet, of triangles that share no point, are not in a flat patch and not shown apart; the trees must have been refitted.
    pub fn all(
        &mut self,
        (features, patches): (&Features, &CurvatureCuller),
        boxes: Boxes,
        motion: TriangleMotion,
        out: &mut Sorted,
    ) {
        self.used = 0;
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.clear();
        if features.cloth_meets_cloth {
            let is_in_order = self.is_in_order;
            self.cloths.pass_over(
                |node| is_in_order && patches.is_flat(node),
                patches.flat_twos().filter(|_| is_in_order),
            );
            self.cloths.tasks_within(TASKS, &mut tasks);
        }
        let (set, is_in_order) = (self.set, self.is_in_order);
        // Nodes of a tree in another order are no patches.
        let is_asked = |[i, j]: &[u32; 2]| {
            is_in_order || *j as usize >= features.of_cloths || !patches.have_flat_patch(*i, *j)
        };
        let meet = |met: &mut Vec<[u32; 2]>, found: &mut PairList| {
            drop_apart(set, features, motion, met);
            met.iter().filter(|two| is_asked(two)).for_each(|[i, j]| features.meet(*i, *j, boxes, found));
        };
        let (found, walks) = make_room(&mut self.found, &mut self.walks, &mut self.used, tasks.len());
        let cloths = &self.cloths;
        parallel::each_two(found, walks, 1, |k, found, Walk { stack, met }| {
            met.clear();
            cloths.walk(cloths, tasks[k], stack, |i, j| met.push([i.min(j), i.max(j)]));
            meet(met, found);
        });
        self.cloths.tasks_between(&self.bodies, TASKS, &mut tasks);
        let (found, walks) = make_room(&mut self.found, &mut self.walks, &mut self.used, tasks.len());
        let (cloths, bodies, first) = (&self.cloths, &self.bodies, features.of_cloths as u32);
        parallel::each_two(found, walks, 1, |k, found, Walk { stack, met }| {
            met.clear();
            cloths.walk(bodies, tasks[k], stack, |i, j| met.push([i, first + j]));
            meet(met, found);
        });
        self.tasks = tasks;
        self.sort(features, out);
    }

    /// All pairs of features around points whose triangles are not certified.
    pub fn neighbours(&mut self, features: &Features, stars: &OneRingCuller, boxes: Boxes, out: &mut Sorted) {
        self.used = 0;
        let points = stars.uncertified();
        let tasks = points.len().div_ceil(EACH);
        let (found, _) = make_room(&mut self.found, &mut self.walks, &mut self.used, tasks);
        parallel::each(found, 1, |k, found| {
            let own = parallel::chunk(points, EACH, k);
            own.iter().for_each(|p| features.meet_around(*p, stars, boxes, found));
        });
        self.sort(features, out);
    }

    /// All pairs of features with a point that has `moved`, which `stale` triangles of cloth have as a corner, those of neighbours included; the boxes of these
    /// points must be new.
    pub fn around_moved(
        &mut self,
        features: &Features,
        boxes: Boxes,
        motion: TriangleMotion,
        (moved, stale): (&[bool], &[u32]),
        out: &mut Sorted,
    ) {
        let around = |t: u32| around(features, boxes.outer, t);
        self.cloths.refit(around);
        self.used = 0;
        let (found, walks) =
            make_room(&mut self.found, &mut self.walks, &mut self.used, stale.len().div_ceil(EACH));
        let (set, cloths, bodies, first) = (self.set, &self.cloths, &self.bodies, features.of_cloths as u32);
        let has_moved = |points: &[u32]| points.iter().any(|p| moved[*p as usize]);
        // Of two stale triangles the first asks.
        let asks = |t: u32, u: u32| t != u && (t < u || !has_moved(&features.triangles[u as usize]));
        parallel::each_two(found, walks, 1, |k, found, Walk { met, .. }| {
            met.clear();
            for &t in parallel::chunk(stale, EACH, k) {
                if features.cloth_meets_cloth {
                    let is_far = |u: u32| asks(t, u) && !features.are_neighbours(t, u);
                    cloths.touching(&around(t), |u| met.extend(is_far(u).then_some([t.min(u), t.max(u)])));
                    let near = features.neighbours_of(t).filter(|u| asks(t, *u));
                    near.for_each(|u| features.meet(t, u, boxes, found));
                }
                bodies.touching(&around(t), |u| met.push([t, first + u]));
            }
            drop_apart(set, features, motion, met);
            met.iter().for_each(|[i, j]| features.meet(*i, *j, boxes, found));
            let (triangles, edges) = (&features.triangles, &features.edges);
            found.points.retain(|[p, t]| moved[*p as usize] || has_moved(&triangles[*t as usize]));
            found.edges.retain(|[e, f]| has_moved(&edges[*e as usize]) || has_moved(&edges[*f as usize]));
        });
        self.sort(features, out);
    }

    fn sort(&mut self, features: &Features, out: &mut Sorted) {
        out.take(&self.found[..self.used], features.movable.len(), features.edges.len());
    }
}

/// The box of a triangle.
fn around(features: &Features, boxes: &[Bounds], triangle: u32) -> Bounds {
    let [a, b, c] = features.triangles[triangle as usize].map(|p| &boxes[p as usize]);
    a.join(b).join(c)
}

/// The centres of all triangles at rest, one object beside the other: what belongs together shall stand together in the tree.
fn side_by_side(surface: &CollisionSurface) -> Vec<DVec3> {
    let centre = |t: &[u32; 3]| t.iter().map(|p| surface.rest[*p as usize]).sum::<DVec3>() / 3.0;
    let mut places: Vec<DVec3> = surface.triangles.iter().map(centre).collect();
    let mut next = 0.0;
    for object in &surface.objects {
        let places = &mut places[object.triangles.clone()];
        let low = places.iter().fold(f64::INFINITY, |low, p| low.min(p.x));
        places.iter_mut().for_each(|p| p.x += next - low);
        let high = places.iter().fold(next, |high, p| high.max(p.x));
        next = high + BETWEEN * (high - next);
    }
    places
}

/// Empty places for so many tasks, after those in use.
fn make_room<'a>(
    found: &'a mut Vec<PairList>,
    walks: &'a mut Vec<Walk>,
    used: &mut usize,
    count: usize,
) -> (&'a mut [PairList], &'a mut [Walk]) {
    let range = *used..*used + count;
    *used = range.end;
    if found.len() < range.end {
        found.resize_with(range.end, PairList::default);
    }
    if walks.len() < count {
        walks.resize_with(count, Walk::default);
    }
    found[range.clone()].iter_mut().for_each(PairList::clear);
    (&mut found[range], &mut walks[..count])
}
