//! Lists that are kept from step to step (P4): pairs that may meet soon, asleep while the way since has not used up their distance.
//!
//! Every point has room to roam. All pairs whose rooms meet are listed; as long as every point stays in its room no other pair can meet.
//! Points that left get new room and their pairs are added. Each step the listed pairs are filtered by their exact boxes, so
//! that what comes out is what a fresh search finds, whatever the lists hold beside it (`docs/contact.md`, FatAabbCache).

use rayon::prelude::*;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use taffeta::collide::broad_phase::boxes::{Bounds, mean_motion, numbers_of};
use taffeta::collide::broad_phase::candidates::{Candidates, Pair};
use taffeta::collide::broad_phase::features::{Boxes, Features};
use taffeta::collide::broad_phase::finder::Finder;
use taffeta::collide::broad_phase::sorted::{PairList, Sorted};
use taffeta::collide::surface::CollisionSurface;
use taffeta::math::DVec3;

/// Room is made for so many steps like the present one, but for no more than so many edges; and on all sides for this share of an edge.
const HORIZON: f64 = 6.0;
const FURTHEST: f64 = 0.5;
const MARGIN: f64 = 0.15;
/// If in a step more than this share of the points leaves its room, mending the lists costs more than making them anew.
const MANY: f64 = 0.03;
/// Lists that had to be made anew before so many steps have passed did not pay.
const PAYS: u32 = 6;
/// Then so many steps are searched afresh before lists are made again; twice as many each time, up to the last number.
const PAUSE: [u32; 2] = [4, 64];
/// The lists are made anew on another thread when they have grown by this factor since, and at once when by its square.
const GROWTH: f64 = 1.5;
/// Pairs that one task filters.
const EACH: usize = 4096;

/// Finds pairs, step after step, with lists that are kept: faster than [`Candidates`] where steps are small, the same pairs.
#[derive(Debug)]
pub struct CoherentCandidates {
    candidates: Candidates,
    cache: FatAabbCache,
}

impl CoherentCandidates {
    /// As [`Candidates::new`].
    pub fn new(surface: &CollisionSurface, movable: &[bool]) -> Self {
        Self { candidates: Candidates::new(surface, movable), cache: FatAabbCache::new(surface, movable) }
    }

    /// As [`Candidates::find`].
    pub fn find(&mut self, surface: &CollisionSurface, from: &[DVec3], to: &[DVec3], pad: f64) {
        let way = Way { from, to, mean: mean_motion(&self.cache.features.movable, from, to) };
        self.candidates.find_by(surface, from, to, pad, |_, _, boxes, out| self.cache.find(way, boxes, out));
    }

    /// As [`Candidates::pairs`].
    pub fn pairs(&self) -> &[Pair] {
        self.candidates.pairs()
    }

    /// What the lists did so far.
    pub fn tally(&self) -> Tally {
        self.cache.tally
    }
}

/// The lists, and what they rest on.
#[derive(Debug)]
struct FatAabbCache {
    features: Arc<Features>,
    /// The part of space that every point may roam, seen from the mean of movable points.
    rooms: Vec<Bounds>,
    /// Sum of what the box of every point has moved by since the start [m].
    odometers: Vec<f64>,
    /// Whether there are lists, and what follows is known.
    keeps_lists: bool,
    /// Inner and outer boxes of the step before, and the mean position then [m].
    before: [Vec<Bounds>; 2],
    origin_before: DVec3,
    points: List,
    edges: List,
    /// How many pairs the lists had when they were made anew.
    made: usize,
    /// Mean length of edges of cloth at rest [m].
    edge: f64,
    /// Steps since lists were made anew.
    age: u32,
    /// Steps until lists are made again, and how many it will be the next time.
    pause: u32,
    next_pause: u32,
    left: Vec<bool>,
    /// Triangles around points that left, by number and by mark.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    finder: Finder,
    fresh: Sorted,
    found: Vec<PairList>,
    spare: Option<Box<Rebuild>>,
    done: (SyncSender<Box<Rebuild>>, Receiver<Box<Rebuild>>),
    /// Whether what comes from the other thread is still wanted.
    wanted: bool,
    tally: Tally,
}

/// What coherence has done since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps.
    pub steps: usize,
    /// Steps that were searched afresh, without lists.
    pub afresh: usize,
    /// How often all lists were made anew at once.
    pub rebuilds: usize,
    /// How often they came from another thread.
    pub taken_over: usize,
    /// Points that left their room.
    pub left: usize,
    /// Pairs in the lists, summed over steps.
    pub listed: usize,
    /// Pairs whose boxes were looked at; the others slept.
    pub examined: usize,
}

/// Pairs in order. Those that met when last examined are the possible collisions; the others sleep until the odometers of their four
/// points add up to `until`.
#[derive(Debug, Default)]
struct List {
    pairs: Vec<[u32; 2]>,
    until: Vec<f64>,
    /// For the next list while it is made.
    spare: (Vec<[u32; 2]>, Vec<f64>),
}

/// A list made on another thread.
#[derive(Debug)]
struct Rebuild {
    rooms: Vec<Bounds>,
    finder: Finder,
    fresh: Sorted,
}

/// How points move in this step.
#[derive(Debug, Clone, Copy)]
struct Way<'a> {
    /// Where they start [m].
    from: &'a [DVec3],
    /// Where they end [m].
    to: &'a [DVec3],
    /// How far movable points go on average [m].
    mean: DVec3,
}

impl FatAabbCache {
    /// No lists yet.
    fn new(surface: &CollisionSurface, movable: &[bool]) -> Self {
        let features = Arc::new(Features::new(surface, movable));
        let finder = Finder::new(surface, &features);
        let of_cloths = surface.edges.iter().filter(|e| (e[0] as usize) < surface.particles);
        let length = |e: &[u32; 2]| surface.rest[e[0] as usize].distance(surface.rest[e[1] as usize]);
        let total: f64 = of_cloths.clone().map(length).sum();
        let rooms = vec![Bounds::NOTHING; surface.points];
        let spare = Rebuild { rooms: rooms.clone(), finder: finder.clone(), fresh: Sorted::default() };
        Self {
            odometers: vec![0.0; rooms.len()],
            keeps_lists: false,
            before: [rooms.clone(), rooms.clone()],
            origin_before: DVec3::ZERO,
            points: List::default(),
            edges: List::default(),
            made: 0,
            edge: total / of_cloths.count().max(1) as f64,
            age: 0,
            pause: 0,
            next_pause: PAUSE[0],
            left: vec![true; rooms.len()],
            touched: Vec::new(),
            is_touched: vec![false; features.triangles.len()],
            features,
            rooms,
            finder,
            fresh: Sorted::default(),
            found: Vec::new(),
            spare: Some(Box::new(spare)),
            done: sync_channel(1),
            wanted: false,
            tally: Tally::default(),
        }
    }

    /// All pairs of features that meet, of triangles that share no point, in order.
    fn find(&mut self, way: Way, boxes: Boxes, out: &mut Sorted) {
        let features = &self.features.clone();
        self.tally.steps += 1;
        let movable = way.from.iter().zip(&features.movable).filter(|(_, free)| **free).map(|(p, _)| *p);
        let count = features.movable.iter().filter(|free| **free).count();
        let origin = movable.sum::<DVec3>() / count.max(1) as f64;
        self.take_over();
        if self.keeps_lists {
            self.watch(boxes, origin);
            self.keep_up(features, way, boxes, origin);
        } else if self.pause == 0 {
            self.start_watching(boxes, origin);
            self.rebuild(features, way, boxes, origin);
        }
        if self.pause > 0 {
            self.search_afresh(features, boxes, out);
        } else {
            self.filter(features, boxes, out);
            self.tally.listed += self.len();
        }
    }

    /// Mends the lists for points that have left their rooms, or gives them up for a while if those are many.
    fn keep_up(&mut self, features: &Arc<Features>, way: Way, boxes: Boxes, origin: DVec3) {
        let left = self.left.iter().filter(|left| **left).count();
        self.tally.left += left;
        self.age += 1;
        let many = left as f64 > MANY * self.rooms.len() as f64;
        if many && self.age > PAYS {
            self.next_pause = PAUSE[0];
            return self.rebuild(features, way, boxes, origin);
        }
        if many {
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(PAUSE[1]);
            (self.keeps_lists, self.wanted) = (false, false);
            return;
        }
        if left > 0 {
            self.repair(features, way, boxes, origin);
        }
        let (length, made) = (self.len() as f64, (self.made + self.rooms.len()) as f64);
        if length > GROWTH * GROWTH * made {
            self.rebuild(features, way, boxes, origin);
        } else if length > GROWTH * made {
            self.start_rebuild(features, way, boxes, origin);
        }
    }

    fn search_afresh(&mut self, features: &Features, boxes: Boxes, out: &mut Sorted) {
        self.pause -= 1;
        self.tally.afresh += 1;
        self.finder.refit(features, boxes.outer);
        self.finder.all(features, boxes, out);
    }

    /// How many pairs are listed.
    fn len(&self) -> usize {
        self.points.pairs.len() + self.edges.pairs.len()
    }

    fn start_watching(&mut self, boxes: Boxes, origin: DVec3) {
        let [inner, outer] = &mut self.before;
        inner.copy_from_slice(boxes.inner);
        outer.copy_from_slice(boxes.outer);
        (self.origin_before, self.keeps_lists) = (origin, true);
    }

    /// Reads how far boxes have moved, and notes which points left their rooms.
    fn watch(&mut self, boxes: Boxes, origin: DVec3) {
        let (o, o_before) = (numbers_of(origin), numbers_of(self.origin_before));
        let [inner, outer] = &mut self.before;
        let boxes_now = boxes.inner.par_iter().zip(boxes.outer);
        let kept = inner.par_iter_mut().zip(outer).zip(&mut self.odometers);
        let rooms = self.rooms.par_iter().zip(&mut self.left);
        boxes_now.zip(kept).zip(rooms).with_min_len(2048).for_each(|((now, kept), (room, left))| {
            let ((inner, outer), odometer) = kept;
            *odometer += now.0.way_from(inner, &o, &o_before).max(now.1.way_from(outer, &o, &o_before));
            (*inner, *outer) = (*now.0, *now.1);
            *left = !now.1.is_in_room(room, &o);
        });
        self.origin_before = origin;
    }

    /// New room for points that left, and their pairs.
    fn repair(&mut self, features: &Features, way: Way, boxes: Boxes, origin: DVec3) {
        self.touched.clear();
        for p in (0..self.left.len()).filter(|p| self.left[*p]) {
            self.rooms[p] = self.room(p, way, boxes, origin);
            for t in features.around(p as u32) {
                if !std::mem::replace(&mut self.is_touched[*t as usize], true) {
                    self.touched.push(*t);
                }
            }
        }
        self.touched.sort_unstable();
        self.finder.refit(features, &self.rooms);
        let rooms = Boxes { inner: &self.rooms, outer: &self.rooms };
        self.finder.with_some(features, rooms, &self.touched, &self.is_touched, &mut self.fresh);
        self.touched.iter().for_each(|t| self.is_touched[*t as usize] = false);
        self.points.add(&self.fresh.points);
        self.edges.add(&self.fresh.edges);
    }

    /// New room for all points, and new lists.
    fn rebuild(&mut self, features: &Features, way: Way, boxes: Boxes, origin: DVec3) {
        for p in 0..self.rooms.len() {
            self.rooms[p] = self.room(p, way, boxes, origin);
        }
        self.finder.refit(features, &self.rooms);
        let rooms = Boxes { inner: &self.rooms, outer: &self.rooms };
        self.finder.all(features, rooms, &mut self.fresh);
        self.replace_lists();
        self.tally.rebuilds += 1;
        self.wanted = false;
    }

    fn replace_lists(&mut self) {
        self.points.replace(&self.fresh.points);
        self.edges.replace(&self.fresh.edges);
        (self.made, self.age) = (self.len(), 0);
    }

    /// The part of space that a point may roam.
    fn room(&self, point: usize, way: Way, boxes: Boxes, origin: DVec3) -> Bounds {
        let furthest = DVec3::splat(FURTHEST * self.edge);
        let ahead = (HORIZON * (way.to[point] - way.from[point] - way.mean)).clamp(-furthest, furthest);
        boxes.outer[point].room(&numbers_of(origin), &numbers_of(ahead), MARGIN * self.edge)
    }

    /// Begins to make new lists on another thread of the pool, unless that is under way; the old ones serve on.
    fn start_rebuild(&mut self, features: &Arc<Features>, way: Way, boxes: Boxes, origin: DVec3) {
        let Some(mut job) = self.spare.take() else { return };
        for p in 0..job.rooms.len() {
            job.rooms[p] = self.room(p, way, boxes, origin);
        }
        let (features, done) = (features.clone(), self.done.0.clone());
        self.wanted = true;
        rayon::spawn(move || {
            job.finder.refit(&features, &job.rooms);
            let Rebuild { rooms, finder, fresh } = &mut *job;
            finder.all(&features, Boxes { inner: rooms, outer: rooms }, fresh);
            // Nobody waits any more if the run has ended.
            let _ = done.send(job);
        });
    }

    /// Takes lists that have come from another thread; points that have left their rooms since are noticed next.
    fn take_over(&mut self) {
        let Ok(mut job) = self.done.1.try_recv() else { return };
        if std::mem::take(&mut self.wanted) {
            std::mem::swap(&mut self.rooms, &mut job.rooms);
            std::mem::swap(&mut self.fresh, &mut job.fresh);
            self.replace_lists();
            self.tally.taken_over += 1;
        }
        self.spare = Some(job);
    }

    /// The pairs of the lists whose boxes meet now.
    fn filter(&mut self, features: &Features, boxes: Boxes, out: &mut Sorted) {
        let odometers = &self.odometers;
        let corners = |[p, t]: [u32; 2]| {
            let [a, b, c] = features.triangles[t as usize];
            [p, a, b, c]
        };
        let ends = |[e, f]: [u32; 2]| {
            let ([a, b], [c, d]) = (features.edges[e as usize], features.edges[f as usize]);
            [a, b, c, d]
        };
        let point_boxes = |of: [&Bounds; 4]| (*of[0], of[1].join(of[2]).join(of[3]));
        let edge_boxes = |of: [&Bounds; 4]| (of[0].join(of[1]), of[2].join(of[3]));
        let found = &mut self.found;
        let examined = &mut self.tally.examined;
        *examined +=
            self.points.filter(features, odometers, boxes, corners, point_boxes, found, &mut out.points);
        *examined += self.edges.filter(features, odometers, boxes, ends, edge_boxes, found, &mut out.edges);
    }
}

impl List {
    fn replace(&mut self, pairs: &[[u32; 2]]) {
        self.pairs.clear();
        self.pairs.extend(pairs);
        self.until.clear();
        self.until.resize(pairs.len(), f64::NEG_INFINITY);
    }

    /// Adds sorted pairs, those that are new.
    fn add(&mut self, fresh: &[[u32; 2]]) {
        let (pairs, until) = &mut self.spare;
        pairs.clear();
        until.clear();
        let mut next = 0;
        for pair in fresh {
            let before = next + self.pairs[next..].partition_point(|p| p < pair);
            pairs.extend(&self.pairs[next..before]);
            until.extend(&self.until[next..before]);
            next = before;
            if self.pairs.get(next) != Some(pair) {
                pairs.push(*pair);
                until.push(f64::NEG_INFINITY);
            }
        }
        pairs.extend(&self.pairs[next..]);
        until.extend(&self.until[next..]);
        std::mem::swap(&mut self.pairs, pairs);
        std::mem::swap(&mut self.until, until);
    }

    /// Pairs whose boxes meet; returns how many were looked at.
    #[allow(clippy::too_many_arguments)]
    fn filter(
        &mut self,
        features: &Features,
        odometers: &[f64],
        boxes: Boxes,
        points_of: impl Fn([u32; 2]) -> [u32; 4] + Sync,
        boxes_of: impl Fn([&Bounds; 4]) -> (Bounds, Bounds) + Sync,
        found: &mut Vec<PairList>,
        out: &mut Vec<[u32; 2]>,
    ) -> usize {
        let tasks = self.pairs.len().div_ceil(EACH);
        if found.len() < tasks {
            found.resize_with(tasks, PairList::default);
        }
        let lists = self.pairs.par_chunks(EACH).zip(self.until.par_chunks_mut(EACH));
        let work = found[..tasks].par_iter_mut().zip(lists);
        let examined = work.map(|(found, (pairs, until))| {
            found.clear();
            let mut examined = 0;
            for (pair, until) in pairs.iter().zip(until) {
                let points = points_of(*pair);
                let [a, b, c, d] = points.map(|p| odometers[p as usize]);
                let sum = a + b + c + d;
                if sum < *until {
                    continue;
                }
                examined += 1;
                let of = boxes.between(features, points[0], points[3]);
                let (one, other) = boxes_of(points.map(|p| &of[p as usize]));
                let gap = one.gap(&other);
                if gap > 0.0 {
                    // A little less, for the roundings of the sums.
                    *until = (sum + gap) * (1.0 - 1e-14);
                } else {
                    *until = f64::NEG_INFINITY;
                    found.points.push(*pair);
                }
            }
            examined
        });
        let examined = examined.sum();
        out.clear();
        found[..tasks].iter().for_each(|f| out.extend(&f.points));
        examined
    }
}
