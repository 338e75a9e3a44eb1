//! The guard: no motion is accepted unless every pair of features was shown apart along all of it.
//!
//! A method takes a stretch of time at once: one or more of its sub-steps. [`Guard::begin`] finds what may touch on the way, the method
//! answers these contacts as it goes, and [`Guard::settle`] proves the straight motion from the start of the stretch to its end, or changes the end
//! until the proof holds: a few rounds of pushes, then zones that move together. No property of a method is used.

use super::candidates::{Candidates, Pair};
use super::contact::{self, Contact, Done, Moved};
use super::distance::{Kind, closest, lower_bound};
use super::free::{FreeBodies, Lie};
use super::is_smooth;
use super::nearest::nearest;
use super::passage::{Passage, passage};
use super::sift::Sieve;
use super::surface::{Kept, Surface};
use super::tangles::Tangles;
use super::touch::{self, Begin, Touches};
use super::zones::Zones;
use crate::math::lanes::InstructionSet;
use crate::math::{DVec3, Pose, Vec4};
use crate::model::{Collider, Form, Model, PosedShape, Shape};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Range};

/// Rounds in which features that would meet are pushed apart, and rounds in all.
const PUSHES: u32 = 4;
const ROUNDS: u32 = 64;
/// Pairs that one task looks at.
const TASK: usize = 2048;
/// Features that start nearer than the floor may lose this share of their distance in a stretch.
const KEEPS: f64 = 0.9;
/// How far the pairs at the end of a stretch reach beyond the distances that are kept, as a share of the longest edge: the guard may move points by half of it.
const PAD: f64 = 0.05;
/// The pairs at its start reach so many times as far: what the method then does seldom makes it necessary to find them anew.
const FORESIGHT: f64 = 3.0;
/// How far particles may move against each other in a stretch, as a share of the longest edge: contacts are found at its start.
const REACH: f64 = 0.25;
/// One in so many particles may be faster, by so many times: a hand that pulls at one point shall not make all of the cloth slow.
const FEW: usize = 50;
const FASTER: f64 = 8.0;

/// Watches over a model. All of it is scratch: what it does depends on the positions alone.
#[derive(Debug)]
pub struct Guard {
    surface: Surface,
    candidates: Candidates,
    free: FreeBodies,
    touches: Touches,
    /// Particles of cloths; those of free bodies follow.
    cloth_particles: usize,
    /// One over the mass of every point, 0 for what is led [1/kg].
    inverse_mass: Vec<f64>,
    /// All points at the start of the stretch and at its end; bodies after the particles [m].
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    /// The ends for which pairs were found, and how far other ends may be from them [m]; not above 0 if no pairs were.
    found_for: Vec<DVec3>,
    found_within: f64,
    /// Start and end once more, for many pairs at a time [m].
    wide: [Vec<Vec4>; 2],
    set: InstructionSet,
    pad: f64,
    /// How far particles may move against each other in a stretch [m].
    reach: f64,
    /// Squares of how far they would [m²].
    squares: Vec<f64>,
    contacts: Vec<Contact>,
    shadowed: Vec<bool>,
    done: Vec<Done>,
    /// Points of bodies at the start and at the end of a sub-step [m].
    bodies: [Vec<DVec3>; 2],
    /// The object of every point, and for every two objects what they keep between them.
    object: Vec<u32>,
    kept: Vec<Kept>,
    /// For every two objects, cloth first: whether their contacts are none of features: particles keep clear of the solid on their own, or one moves freely.
    met_otherwise: Vec<bool>,
    /// Half-spaces, as numbers of objects.
    planes: Vec<usize>,
    /// Per object the pose of its collider at the start and at the end.
    poses: Vec<Option<[Pose; 2]>>,
    /// Per point: whether the last round moved it; per pair: whether it waits for its proof.
    changed: Vec<bool>,
    waiting: Vec<bool>,
    tasks: Vec<Task>,
    hits: Vec<Hit>,
    tangles: Tangles,
    zones: Zones,
    commons: Vec<Common>,
    /// Per object: whether it is a body whose points move against each other.
    deforms: Vec<bool>,
    /// Per particle: what such bodies have led it by where it met them, as a sum [m], and how often.
    carried: Vec<(DVec3, f64)>,
    /// The ends before zones changed them [m].
    proposed: Vec<DVec3>,
}

/// A pair that was not shown apart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hit {
    pair: u32,
    /// When in the stretch [1].
    time: f64,
}

/// Room for looking at some of the pairs.
#[derive(Debug, Default)]
struct Task {
    sieve: Sieve,
    hits: Vec<Hit>,
    contacts: Vec<Contact>,
}

/// What the end of a stretch took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Pairs that would have met.
    pub hits: u32,
    /// Rounds of proof.
    pub rounds: u32,
    /// Rounds in which particles had to move together.
    pub slowed: u32,
    /// Pairs that led things press through one another: no motion of the cloth keeps them apart.
    pub pinched: u32,
}

impl AddAssign for Settled {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.rounds += other.rounds;
        self.slowed += other.slowed;
        self.pinched += other.pinched;
    }
}

impl Guard {
    /// Room for a model; `None` if nothing in it can touch.
    pub fn new(model: &Model) -> Option<Self> {
        let surface = Surface::new(model);
        if !model.cloth_meets_cloth && model.colliders.is_empty() {
            return None;
        }
        let mut inverse_mass = model.inverse_mass.clone();
        inverse_mass.resize(surface.points, 0.0);
        let free = FreeBodies::new(model, &surface);
        let mut movable: Vec<bool> = inverse_mass.iter().map(|w| *w > 0.0).collect();
        free.iter().for_each(|body| movable[body.points.clone()].fill(true));
        let longest = model.cloths.iter().map(|c| c.longest_edge).fold(0.0, f64::max);
        let is_plane = |o: &usize| {
            surface.objects[*o].body.is_some_and(|b| model.colliders[b].form == Form::Closed(Shape::Plane))
        };
        Some(Self {
            candidates: Candidates::new(&surface, &movable),
            touches: Touches::new(&surface, &free),
            free,
            cloth_particles: model.cloth_particle_count(),
            inverse_mass,
            start: vec![DVec3::ZERO; surface.points],
            end: vec![DVec3::ZERO; surface.points],
            found_for: vec![DVec3::ZERO; surface.points],
            found_within: 0.0,
            wide: [(); 2].map(|_| vec![Vec4::ZERO; surface.points]),
            set: InstructionSet::available()[0],
            pad: PAD * longest,
            reach: REACH * longest,
            squares: Vec::new(),
            contacts: Vec::new(),
            shadowed: Vec::new(),
            done: Vec::new(),
            bodies: [(); 2].map(|_| vec![DVec3::ZERO; surface.points - surface.particles]),
            object: (0..surface.points as u32).map(|p| surface.object_of_point(p) as u32).collect(),
            kept: for_every_two(&surface, |a, b| surface.between(a, b)),
            met_otherwise: met_otherwise(model, &surface),
            planes: (0..surface.objects.len()).filter(is_plane).collect(),
            poses: vec![None; surface.objects.len()],
            changed: vec![false; surface.points],
            waiting: Vec::new(),
            tasks: Vec::new(),
            hits: Vec::new(),
            tangles: Tangles::default(),
            zones: Zones::new(surface.points + surface.objects.len()),
            commons: vec![Common::default(); surface.points + surface.objects.len()],
            deforms: surface
                .objects
                .iter()
                .map(|o| o.body.is_some_and(|b| deforms(&model.colliders[b].form)))
                .collect(),
            carried: vec![(DVec3::ZERO, 0.0); surface.particles],
            proposed: Vec::new(),
            surface,
        })
    }

    /// Tells what intersects now: pairs of cloth triangles, and cloth triangles that cut into a body. They do not block one another.
    pub fn tangle(&mut self, cloth_cloth: &[[u32; 2]], in_bodies: impl Iterator<Item = u32>) {
        self.tangles.set(&self.surface, cloth_cloth, in_bodies);
    }

    /// Whether something intersected when [`Guard::tangle`] was last called.
    pub fn is_tangled(&self) -> bool {
        !self.tangles.is_empty()
    }

    /// Begins a step, which is to depend on nothing that was before it but the state.
    pub fn begin_step(&mut self) {
        self.touches.forget();
    }

    /// How many sub-steps a stretch may have in which particles would move by `ways` each [m]: no more than in which what touches changes.
    pub fn substeps(&mut self, ways: impl Iterator<Item = DVec3> + Clone) -> u32 {
        let n = self.surface.particles;
        let mean = ways.clone().sum::<DVec3>() / n.max(1) as f64;
        if n == 0 {
            return 1;
        }
        self.squares.clear();
        self.squares.extend(ways.clone().map(|way| way.distance_squared(mean)));
        let (_, fast, fastest) = self.squares.select_nth_unstable_by(n - 1 - n / FEW, f64::total_cmp);
        let longest = fastest.iter().fold(*fast, |a, b| a.max(b / (FASTER * FASTER)));
        // Bodies have few particles and much to meet.
        let of_bodies = ways.skip(self.cloth_particles).map(|way| way.distance_squared(mean));
        let longest = of_bodies.fold(longest, f64::max).sqrt();
        (self.reach / longest.max(f64::MIN_POSITIVE)).clamp(1.0, 1e6) as u32
    }

    /// Starts a stretch of time `[from, until]` [s] at clean positions, from which particles would move by `ways` [m], and finds what may touch.
    pub fn begin(
        &mut self,
        model: &Model,
        times: [f64; 2],
        positions: impl Iterator<Item = DVec3>,
        ways: impl Iterator<Item = DVec3>,
    ) {
        self.place(model, times, positions, ways);
        self.find(FORESIGHT * self.pad);
        self.list_contacts();
    }

    /// The same for a stretch in which no contacts are answered.
    pub fn place(
        &mut self,
        model: &Model,
        [from, until]: [f64; 2],
        positions: impl Iterator<Item = DVec3>,
        ways: impl Iterator<Item = DVec3>,
    ) {
        let n = self.surface.particles;
        self.found_within = 0.0;
        for ((start, end), (x, way)) in self.start.iter_mut().zip(&mut self.end).zip(positions.zip(ways)) {
            (*start, *end) = (x, x + way);
        }
        self.surface.place_bodies(model, from, &mut self.start[n..]);
        self.surface.place_bodies(model, until, &mut self.end[n..]);
        self.free.place(&mut self.start);
        self.free.place(&mut self.end);
        for (poses, object) in self.poses.iter_mut().zip(&self.surface.objects) {
            *poses = object.body.map(|b| [from, until].map(|time| model.colliders[b].pose(time)));
        }
    }

    /// Starts a sub-step `[from, until]` [s] of the stretch.
    pub fn begin_substep(&mut self, model: &Model, times: [f64; 2]) {
        self.done.fill(Done::default());
        let place = |object: usize| {
            let poses = |c: &Collider| times.map(|time| c.pose(time));
            self.surface.objects[object].body.map_or([Pose::IDENTITY; 2], |b| poses(&model.colliders[b]))
        };
        self.touches.begin_substep(place);
        if !self.contacts.is_empty() || !self.free.is_empty() {
            for (bodies, time) in self.bodies.iter_mut().zip(times) {
                self.surface.place_bodies(model, time, bodies);
            }
        }
    }

    /// One sweep over the contacts: particles were `before` [m] and are `after`, which is changed; `moved` is told who moved how far [m]. Returns
    /// whether anything moved.
    pub fn part(
        &mut self,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        mut moved: impl FnMut(usize, DVec3),
    ) -> bool {
        let bodies = [&self.bodies[0][..], &self.bodies[1][..]];
        let any =
            contact::part(&self.contacts, &mut self.done, &Moved { before, bodies, h }, after, &mut moved);
        any | self.touches.part(&self.free, &touch::Moved { before, bodies, h }, after, moved)
    }

    /// The contacts of the stretch but for those of particles with closed-form solids, and Σ weights x over their points of led bodies, at its
    /// start and at its end [m].
    pub fn features(&self, model: &Model) -> impl Iterator<Item = (&Contact, [DVec3; 2])> {
        let n = self.surface.particles;
        let is_closed = |p: u32| {
            let body = self.surface.objects[self.object[p as usize] as usize].body;
            body.is_some_and(|b| matches!(model.colliders[b].form, Form::Closed(_)))
        };
        let of_corner = move |c: &Contact| c.weights[0] == 1.0 && c.moves[0] != 0.0 && is_closed(c.points[1]);
        self.contacts.iter().filter(move |contact| !of_corner(contact)).map(move |contact| {
            let led = |at: &[DVec3]| {
                let parts = contact.points.iter().zip(contact.weights);
                parts.filter(|(p, _)| **p as usize >= n).map(|(p, w)| w * at[*p as usize]).sum()
            };
            (contact, [led(&self.start), led(&self.end)])
        })
    }

    /// How many contacts have pushed in this sub-step.
    pub fn touching(&self) -> u32 {
        self.done.iter().filter(|done| done.push > 0.0).count() as u32 + self.touches.touching()
    }

    /// Ends the stretch: `ends` are where the method brought the particles. Read the accepted ones from [`Guard::ends`].
    pub fn settle(&mut self, ends: impl Iterator<Item = DVec3>) -> Settled {
        self.end.iter_mut().zip(ends).for_each(|(end, x)| *end = x);
        self.free.place(&mut self.end);
        let mut settled = Settled::default();
        self.lift();
        if !self.is_covered() {
            self.find(self.pad);
        }
        for round in 0..ROUNDS {
            self.prove();
            settled.rounds = round + 1;
            settled.hits = settled.hits.max(self.hits.len() as u32);
            settled.slowed += u32::from(round > PUSHES);
            if self.hits.is_empty() {
                break;
            }
            self.changed.fill(false);
            if round < PUSHES {
                self.push();
                self.lift();
            } else {
                if round == PUSHES {
                    self.proposed.clone_from(&self.end);
                    self.zones.clear();
                    self.carried.fill((DVec3::ZERO, 0.0));
                }
                settled.pinched += self.slow_down();
            }
            if !self.is_covered() {
                self.find(self.pad);
            }
        }
        settled.pinched += self.hits.len() as u32;
        settled
    }

    /// The accepted ends of the particles [m].
    pub fn ends(&self) -> &[DVec3] {
        &self.end[..self.surface.particles]
    }

    /// Pairs that are near, or would be at the end of the stretch, in the order of the list.
    fn list_contacts(&mut self) {
        self.widen();
        let (surface, start, end, inverse_mass) = (&self.surface, &self.start, &self.end, &self.inverse_mass);
        let approach = |contact: &Contact| {
            let way = |k: usize| end[contact.points[k] as usize] - start[contact.points[k] as usize];
            let parting: f64 = (0..4).map(|k| contact.weights[k] * way(k).dot(contact.normal)).sum();
            self.pad - parting.min(0.0)
        };
        let (set, wide, pad, tangles) =
            (self.set, [&self.wide[0][..], &self.wide[1]], self.pad, &self.tangles);
        let near = |pair: &Pair| {
            let [a, b] = [pair.points[0], pair.points[3]].map(|p| self.object[p as usize] as usize);
            let of_two = a.min(b) * surface.objects.len() + a.max(b);
            (!self.met_otherwise[of_two]).then(|| self.kept[of_two].distance + pad)
        };
        let pairs = self.candidates.pairs();
        let tasks = room_for(pairs.len(), &mut self.tasks);
        pairs.par_chunks(TASK).zip(&mut *tasks).for_each(|(pairs, task)| {
            task.contacts.clear();
            let left = task.sieve.sift(set, pairs, wide, |_, pair| near(pair));
            for pair in left.iter().map(|k| &pairs[*k as usize]) {
                if !tangles.has(surface, pair) {
                    task.contacts.extend(Contact::of(surface, pair, start, inverse_mass, approach));
                }
            }
        });
        self.contacts.clear();
        tasks.iter().for_each(|task| self.contacts.extend(&task.contacts));
        contact::drop_shadowed(&mut self.contacts, &mut self.shadowed);
        self.done.clear();
        self.done.resize(self.contacts.len(), Done::default());
        self.list_touches();
    }

    /// The contacts of free bodies.
    fn list_touches(&mut self) {
        if self.free.is_empty() {
            return;
        }
        let begin = Begin {
            surface: &self.surface,
            bodies: &self.free,
            start: &self.start,
            end: &self.end,
            inverse_mass: &self.inverse_mass,
            pad: self.pad,
        };
        let (free, object, tangles, surface) = (&self.free, &self.object, &self.tangles, &self.surface);
        let is_free = |p: u32| free.of_object(object[p as usize] as usize).is_some();
        let of_bodies = |pair: &&Pair| ends(pair).into_iter().any(is_free) && !tangles.has(surface, pair);
        let planes = self.planes.iter().filter_map(|object| Some((*object, self.poses[*object]?[0])));
        self.touches.list(&begin, self.candidates.pairs().iter().filter(of_bodies), planes);
    }

    fn widen(&mut self) {
        for (wide, points) in self.wide.iter_mut().zip([&self.start, &self.end]) {
            wide.iter_mut().zip(points).for_each(|(wide, point)| *wide = Vec4::from(*point));
        }
    }

    /// All pairs that this motion, or one that ends at most half of `pad` [m] away, may bring too near; all of them wait for their proof.
    fn find(&mut self, pad: f64) {
        self.candidates.find(&self.surface, &self.start, &self.end, pad);
        self.found_for.copy_from_slice(&self.end);
        self.found_within = 0.5 * pad;
        self.waiting.clear();
        self.waiting.resize(self.candidates.pairs().len(), true);
    }

    /// Whether the pairs at hand are all that can meet: every point ends near where it did when they were found.
    fn is_covered(&self) -> bool {
        let near = self.found_within;
        let is_near = |(end, found): (&DVec3, &DVec3)| end.distance_squared(*found) <= near * near;
        near > 0.0 && self.end.iter().zip(&self.found_for).all(is_near)
    }

    /// Tries to prove all pairs that wait or had a point moved; those that fail are hits and wait on.
    fn prove(&mut self) {
        self.widen();
        let (pairs, changed, object, kept) =
            (self.candidates.pairs(), &self.changed, &self.object, &self.kept);
        let (surface, start, end, tangles) = (&self.surface, &self.start, &self.end, &self.tangles);
        let (set, wide, objects) = (self.set, [&self.wide[0][..], &self.wide[1]], surface.objects.len());
        let kept = |pair: &Pair| {
            let [a, b] = ends(pair).map(|p| object[p as usize] as usize);
            &kept[a * objects + b]
        };
        let tasks = room_for(pairs.len(), &mut self.tasks);
        let work = pairs.par_chunks(TASK).zip(self.waiting.par_chunks_mut(TASK)).zip(&mut *tasks).enumerate();
        work.for_each(|(number, ((pairs, waiting), task))| {
            let asked = |k: usize, pair: &Pair| {
                let ask = waiting[k] || pair.points.iter().any(|p| changed[*p as usize]);
                ask.then(|| kept(pair).floor)
            };
            let left = task.sieve.sift(set, pairs, wide, asked);
            waiting.fill(false);
            task.hits.clear();
            for &place in left {
                let pair = &pairs[place as usize];
                match meets(kept(pair), pair, start, end) {
                    Some(time) if tangles.is_empty() || !tangles.has(surface, pair) => {
                        waiting[place as usize] = true;
                        task.hits.push(Hit { pair: (number * TASK) as u32 + place, time });
                    }
                    _ => {}
                }
            }
        });
        self.hits.clear();
        tasks.iter().for_each(|task| self.hits.extend(&task.hits));
    }

    /// Parts every hit at the end along the direction that it has just before it meets.
    fn push(&mut self) {
        for hit in &self.hits {
            let pair = &self.candidates.pairs()[hit.pair as usize];
            let points = pair.points.map(|p| p as usize);
            let near = closest(pair.kind, &points.map(|p| self.start[p].lerp(self.end[p], hit.time)));
            let length = near.vector.length();
            if length <= 0.0 {
                continue;
            }
            let normal = near.vector / length;
            let [a, b] = ends(pair).map(|p| self.object[p as usize] as usize);
            let kept = &self.kept[a * self.surface.objects.len() + b];
            let sum = |of: &dyn Fn(usize) -> f64| (0..4).map(of).sum::<f64>();
            let gap = sum(&|k| near.weights[k] * normal.dot(self.end[points[k]]));
            let features = if pair.kind == Kind::PointTriangle { [0..1, 1..4] } else { [0..2, 2..4] };
            let bodies =
                features.map(|of| Pushed::of(&self.free, &self.surface, pair, of, &near.weights, &self.end));
            let both = sum(&|k| near.weights[k] * near.weights[k] * self.inverse_mass[points[k]]);
            let both = both
                + bodies
                    .iter()
                    .flatten()
                    .map(|body| normal.dot(body.lie.give(body.arm) * normal))
                    .sum::<f64>();
            let depth = 0.5 * (kept.distance + kept.floor) - gap;
            if both > 0.0 && depth > 0.0 {
                for (k, p) in points.into_iter().enumerate().filter(|(_, p)| self.inverse_mass[*p] > 0.0) {
                    self.end[p] += depth * near.weights[k] * self.inverse_mass[p] / both * normal;
                    self.changed[p] = true;
                }
                for body in bodies.iter().flatten() {
                    let free = self.free.get(body.number);
                    let ways = body.lie.moves(body.arm, body.sign * depth / both * normal);
                    self.end[free.body.nodes.clone()].iter_mut().zip(ways).for_each(|(end, way)| *end += way);
                    free.keep_rigid(&mut self.end);
                    self.changed[free.points.clone()].fill(true);
                }
            }
        }
    }

    /// Lifts ends of particles out of half-spaces.
    fn lift(&mut self) {
        for (p, end) in self.end[..self.cloth_particles].iter_mut().enumerate() {
            for object in self.planes.iter().filter(|_| self.inverse_mass[p] > 0.0) {
                let Some(after) = plane(&self.poses, *object) else { continue };
                let floor = self.surface.between(self.surface.object_of_point(p as u32), *object).floor;
                if let Some(near) = nearest(&after, *end, floor) {
                    *end += (floor - near.gap) * near.normal;
                    self.changed[p] = true;
                }
            }
        }
        for (free, object) in
            self.free.iter().flat_map(|free| self.planes.iter().map(move |plane| (free, *plane)))
        {
            let Some(after) = plane(&self.poses, object) else { continue };
            let floor = self.surface.between(free.object, object).floor;
            let deepest = |most: f64, x: &DVec3| {
                nearest(&after, *x, floor).map_or(most, |near| most.max(floor - near.gap))
            };
            let depth = self.end[free.points.clone()].iter().fold(0.0, deepest);
            if depth > 0.0 {
                let out = depth * (after.pose.rotation * DVec3::Y);
                self.end[free.body.nodes.clone()].iter_mut().for_each(|end| *end += out);
                free.place(&mut self.end);
                self.changed[free.points.clone()].fill(true);
            }
        }
    }

    /// Joins the points of every hit into zones, which move together the more the longer they fail. Returns the pairs that nothing keeps apart.
    fn slow_down(&mut self) -> u32 {
        let mut pinched = 0;
        self.carry();
        for hit in &self.hits {
            let pair = &self.candidates.pairs()[hit.pair as usize];
            let nodes = pair.points.map(|p| self.node(p));
            if !self.zones.slow(nodes) {
                self.waiting[hit.pair as usize] = false;
                pinched += 1;
            }
        }
        for (p, object) in self.below_planes() {
            let p = self.node(p as u32);
            self.zones.slow([p, p, p, self.surface.points + object]);
        }
        self.zones.close_round();
        self.find_common_motions();
        for p in (0..self.cloth_particles).filter(|p| self.inverse_mass[*p] > 0.0) {
            let (zone, share) = self.zones.of(p);
            if share < 1.0 {
                let way = match self.carried[p] {
                    (ways, times) if times > 0.0 => ways / times,
                    _ => self.commons[zone].way(&self.poses, self.start[p]),
                };
                let end = self.start[p] + way + share * (self.proposed[p] - self.start[p] - way);
                self.changed[p] = end != self.end[p];
                self.end[p] = end;
            }
        }
        for free in self.free.iter() {
            let (zone, share) = self.zones.of(self.surface.points + free.object);
            if share < 1.0 {
                for p in free.body.nodes.clone() {
                    let way = self.commons[zone].way(&self.poses, self.start[p]);
                    self.end[p] = self.start[p] + way + share * (self.proposed[p] - self.start[p] - way);
                }
                free.keep_rigid(&mut self.end);
                self.changed[free.points.clone()].fill(true);
            }
        }
        pinched
    }

    /// Lets particles that meet a body that deforms go with the very place where they meet it: it has no motion in common with the rest of the body.
    fn carry(&mut self) {
        for hit in &self.hits {
            let pair = &self.candidates.pairs()[hit.pair as usize];
            let points = pair.points.map(|p| p as usize);
            let of_body = |p: usize| {
                p >= self.surface.particles && self.deforms[self.surface.object_of_point(p as u32)]
            };
            if !points.iter().any(|p| of_body(*p)) {
                continue;
            }
            let near = closest(pair.kind, &points.map(|p| self.start[p]));
            let (mut way, mut weight) = (DVec3::ZERO, 0.0);
            for k in (0..4).filter(|k| of_body(points[*k])) {
                way += near.weights[k].abs() * (self.end[points[k]] - self.start[points[k]]);
                weight += near.weights[k].abs();
            }
            for p in points.into_iter().filter(|p| weight > 0.0 && *p < self.surface.particles) {
                let (ways, times) = &mut self.carried[p];
                (*ways, *times) = (*ways + way / weight, *times + 1.0);
            }
        }
    }

    /// The node of a point in [`Zones`]: its own, or that of its body.
    fn node(&self, point: u32) -> usize {
        let object = self.surface.object_of_point(point);
        let own = (point as usize) < self.surface.particles || self.deforms[object];
        if own { point as usize } else { self.surface.points + object }
    }

    /// The common motion of every zone: of the body in it, of a pin, or the mean.
    fn find_common_motions(&mut self) {
        self.commons.fill(Common::default());
        // Points of bodies that deform are nodes of their own, led like pins.
        for p in 0..self.surface.points {
            let (zone, share) = self.zones.of(p);
            if share < 1.0 {
                let (way, w) = (self.proposed[p] - self.start[p], self.inverse_mass[p]);
                self.commons[zone].add(way, if w > 0.0 { 1.0 / w } else { f64::INFINITY });
            }
        }
        for object in 0..self.surface.objects.len() {
            let (zone, share) = self.zones.of(self.surface.points + object);
            if share < 1.0 {
                match self.free.of_object(object).map(|number| &self.free.get(number).body) {
                    Some(body) => {
                        let ways = body.nodes.clone().map(|p| self.proposed[p] - self.start[p]);
                        self.commons[zone].add(0.25 * ways.sum::<DVec3>(), body.mass);
                    }
                    None => {
                        self.commons[zone].body.get_or_insert(object);
                    }
                }
            }
        }
    }

    /// Particles that end in a half-space, with its object.
    fn below_planes(&self) -> Vec<(usize, usize)> {
        let mut below = Vec::new();
        for &object in &self.planes {
            let Some(after) = plane(&self.poses, object) else { continue };
            let of_cloths = (0..self.cloth_particles).filter(|p| self.inverse_mass[*p] > 0.0);
            for p in of_cloths.chain(self.free.iter().flat_map(|free| free.points.clone())) {
                let floor =
                    KEEPS * self.surface.between(self.surface.object_of_point(p as u32), object).floor;
                if nearest(&after, self.end[p], floor).is_some() {
                    below.push((p, object));
                }
            }
        }
        below
    }
}

/// The motion that a zone has in common.
#[derive(Debug, Clone, Copy, Default)]
struct Common {
    /// The object that leads it, if one does.
    body: Option<usize>,
    /// Mass [kg] and mass times way [kg·m] of its particles; of pins their number and ways.
    mass: f64,
    ways: DVec3,
    pins: f64,
    pin_ways: DVec3,
}

impl Common {
    fn add(&mut self, way: DVec3, mass: f64) {
        if mass.is_finite() {
            (self.mass, self.ways) = (self.mass + mass, self.ways + mass * way);
        } else {
            (self.pins, self.pin_ways) = (self.pins + 1.0, self.pin_ways + way);
        }
    }

    /// How far it takes a point at `x` [m].
    fn way(&self, poses: &[Option<[Pose; 2]>], x: DVec3) -> DVec3 {
        match self.body.and_then(|object| poses[object]) {
            Some([before, after]) => after.to_world(before.to_local(x)) - x,
            None if self.pins > 0.0 => self.pin_ways / self.pins,
            None => self.ways / self.mass,
        }
    }
}

/// A free body that a push meets.
struct Pushed {
    number: usize,
    lie: Lie,
    /// From its centre of mass to the place of contact [m].
    arm: DVec3,
    sign: f64,
}

impl Pushed {
    /// The body that a feature of a pair belongs to, if it is a free one.
    fn of(
        free: &FreeBodies,
        surface: &Surface,
        pair: &Pair,
        of: Range<usize>,
        weights: &[f64; 4],
        end: &[DVec3],
    ) -> Option<Self> {
        let number = free.of_point(surface, pair.points[of.start])?;
        let body = free.get(number);
        let (lie, sign) = (body.lie(&body.nodes(end)), if of.start == 0 { 1.0 } else { -1.0 });
        let at = of.map(|k| sign * weights[k] * end[pair.points[k] as usize]).sum::<DVec3>();
        Some(Self { number, arm: at - lie.centre, lie, sign })
    }
}

/// A half-space at the end of the stretch.
fn plane(poses: &[Option<[Pose; 2]>], object: usize) -> Option<PosedShape> {
    poses[object].map(|[_, pose]| PosedShape { shape: Shape::Plane, pose })
}

/// Whether the points of a body move against each other.
fn deforms(form: &Form) -> bool {
    matches!(form, Form::Mesh(mesh) if mesh.deforms())
}

/// A task for every so many of `pairs`; room that is there stays.
fn room_for(pairs: usize, tasks: &mut Vec<Task>) -> &mut [Task] {
    let count = pairs.div_ceil(TASK);
    if tasks.len() < count {
        tasks.resize_with(count, Task::default);
    }
    &mut tasks[..count]
}

/// Something of every two objects, those of the first side by side.
fn for_every_two<T>(surface: &Surface, of: impl Fn(usize, usize) -> T) -> Vec<T> {
    let count = surface.objects.len();
    (0..count * count).map(|k| of(k / count, k % count)).collect()
}

fn met_otherwise(model: &Model, surface: &Surface) -> Vec<bool> {
    let is_free = |o: usize| surface.objects[o].body.is_some_and(|b| model.colliders[b].free.is_some());
    for_every_two(surface, |a, b| match (model.cloths.get(a), surface.objects[b].body) {
        _ if is_free(a) || is_free(b) => true,
        (Some(cloth), Some(body)) => match &model.colliders[body].form {
            Form::Closed(shape) => is_smooth(shape, cloth),
            Form::Mesh(_) => false,
        },
        _ => false,
    })
}

/// A point of each of the two features.
fn ends(pair: &Pair) -> [u32; 2] {
    match pair.kind {
        Kind::PointTriangle => [pair.points[0], pair.points[1]],
        Kind::EdgeEdge => [pair.points[0], pair.points[2]],
    }
}

/// When a pair may come too near, if it may. What starts in a solid or in touch has nothing to keep.
fn meets(kept: &Kept, pair: &Pair, start: &[DVec3], end: &[DVec3]) -> Option<f64> {
    let from = pair.points.map(|p| start[p as usize]);
    let to = pair.points.map(|p| end[p as usize]);
    let free = |separation: f64| match passage(pair.kind, &from, &to, separation) {
        Passage::Free => None,
        Passage::Meets(time) => Some(time),
    };
    free(kept.floor)?;
    let above = lower_bound(pair.kind, &from) - kept.solid;
    if above > 0.0 { free(kept.floor.min(kept.solid + KEEPS * above)) } else { None }
}
