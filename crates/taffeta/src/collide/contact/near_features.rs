//! What a barrier keeps apart in a sub-step: features and half-spaces that are near, and how far a straight motion may go before any of them meet.
//!
//! All that is led, bodies and pins, goes on together with the free particles: by a share of its way, from 0 to 1, in which all of its points move straight.

use super::barrier::{PairBarrier, Repulsion};
use crate::collide::broad_phase::candidates::Pair;
use crate::collide::ccd::candidate_cache::CandidateCache;
use crate::collide::ccd::check::{CcdCheck, KEEPS};
use crate::collide::ccd::distance::{PairKind, closest};
use crate::collide::ccd::tangles::Tangles;
use crate::collide::ccd::window::{CcdWindow, for_every_two};
use crate::collide::surface::{CollisionSurface, Kept};
use crate::math::{DVec3, Pose, Vec4};
use crate::model::{Environment, Model};

/// Candidates reach beyond what is kept by this share of the thickness of the thinnest cloth [1]: more than roundings.
const PAD: f64 = 0.05;
/// Edges are nearly parallel where the square of the area between them is below this share of what it is at right angles, at rest (IPC, §4.2) [1].
const PARALLEL: f64 = 1e-3;
/// Sewn features lie on each other for good: barriers reach so far between them, as a share of what they do otherwise [1].
const SEWN: f64 = 0.25;

/// All that can touch, in a sub-step.
#[derive(Debug)]
pub struct NearFeatures {
    window: CcdWindow,
    found: CandidateCache,
    check: CcdCheck,
    tangles: Tangles,
    /// All points at the start of the sub-step, and those of bodies at its end [m].
    first: Vec<DVec3>,
    last: Vec<DVec3>,
    /// κ for every two objects [J].
    stiffness: Vec<f64>,
    /// Share of its reach that a barrier has used up under the weight of one particle [1]: so much further it reaches, lest what lies sink below its distance.
    sunk: f64,
}

/// A contact: a pair of features, or a particle and a half-space.
#[derive(Debug, Clone, Copy)]
pub struct NearPair {
    /// Its points; those with the weight 0 do not count.
    pub points: [u32; 4],
    /// What the barrier does.
    pub repulsion: Repulsion,
    /// Coulomb friction [1].
    pub friction: f64,
    /// Whether one side is a body.
    pub of_body: bool,
    /// How far a half-space, which has no points, carries what lies on it in all of the sub-step [m].
    pub carries: DVec3,
    /// By how much it will make the distance larger on the rest of its way [m].
    pub recedes: f64,
}

impl NearFeatures {
    /// Room for a model, whose barriers have `load` times the energy that the mean particle of the lighter cloth has over what they reach.
    pub fn new(model: &Model, environment: &Environment, load: f64) -> Self {
        let window = CcdWindow::new(model, environment, 0.0);
        let surface = &window.surface;
        let gravity = environment.gravity.length();
        let gravity = if gravity > 0.0 { gravity } else { model.params.common.weightless };
        let mass = |o: usize| {
            let own = &model.mass[surface.objects[o].points.clone()];
            own.iter().sum::<f64>() / own.len().max(1) as f64
        };
        let is_cloth = |o: &usize| surface.objects[*o].body.is_none();
        let stiffness = for_every_two(surface, |a, b| {
            let kept = surface.between(a, b);
            let lighter = [a, b].into_iter().filter(is_cloth).map(mass).fold(f64::INFINITY, f64::min);
            if lighter.is_finite() { load * lighter * gravity * (kept.distance - kept.floor) } else { 0.0 }
        });
        Self {
            found: CandidateCache::new(&window),
            check: CcdCheck::new(),
            tangles: Tangles::default(),
            first: vec![DVec3::ZERO; surface.points],
            last: vec![DVec3::ZERO; surface.points],
            stiffness,
            // The barrier of a share t is t³ for small shares.
            sunk: 1.0 / (3.0 * load).sqrt(),
            window,
        }
    }

    /// How many points there are, those of bodies after the particles.
    pub fn points(&self) -> usize {
        self.window.surface.points
    }

    /// Begins a sub-step `[from, until]` [s] with particles at clean positions `x` [m], but for what is tangled.
    pub fn begin(&mut self, model: &Model, times: [f64; 2], x: &[Vec4], tangles: &Tangles) {
        self.window.place(model, times, |i| x[i].xyz(), |_| DVec3::ZERO);
        self.first.copy_from_slice(&self.window.start);
        self.last.copy_from_slice(&self.window.end);
        self.tangles.clone_from(tangles);
        self.window.end.copy_from_slice(&self.first);
        self.find();
    }

    /// Where the points of bodies are at the start and at the end of the sub-step [m].
    pub fn bodies(&self) -> impl Iterator<Item = [DVec3; 2]> {
        let particles = self.window.surface.particles;
        self.first[particles..].iter().zip(&self.last[particles..]).map(|(first, last)| [*first, *last])
    }

    /// The collider that a point belongs to, if it is one of a body.
    pub fn body_of(&self, point: u32) -> Option<usize> {
        self.window.surface.objects[self.window.object_of(point)].body
    }

    /// Which share of the straight way from `from` to `to` [m] is free, while the share that things are led rises. What is near on it is found, too: until the next
    /// call, places asked for have to be on this way.
    pub fn free_share(&mut self, from: &[Vec4], to: &[Vec4], [led, until]: [f64; 2]) -> f64 {
        for (points, x) in [(&mut self.window.start, from), (&mut self.window.end, to)] {
            points.iter_mut().zip(x).for_each(|(point, x)| *point = x.xyz());
        }
        self.find();
        self.check.run(&mut self.window, &mut self.found, &self.tangles);
        let of_features = self.check.hits.iter().map(|hit| hit.time).fold(1.0, f64::min);
        self.planes().fold(of_features, |share, (particle, plane)| {
            let Some(barrier) = self.barrier_of_plane(particle, &plane) else { return share };
            let [before, after] = [(from, led), (to, until)].map(|(x, led)| plane.distance(x[particle].xyz(), led));
            if after > barrier.offset { share } else { share.min((before - barrier.offset) / (before - after)) }
        })
    }

    fn find(&mut self) {
        self.found.find(&self.window, PAD * self.window.thinnest);
    }

    /// Tells every contact of points at `x` [m] where what is led has gone a share of its way.
    pub fn each_near(&self, x: &[Vec4], led: f64, mut tell: impl FnMut(NearPair)) {
        let CcdWindow { surface, .. } = &self.window;
        for pair in self.found.pairs() {
            let Some((barrier, kept)) = self.barrier(pair, x) else { continue };
            let Some(repulsion) = barrier.at(&pair.points.map(|p| x[p as usize].xyz())) else { continue };
            let of_body = pair.points.iter().any(|p| *p as usize >= surface.particles);
            let (points, friction) = (pair.points, kept.friction);
            tell(NearPair { points, repulsion, friction, of_body, carries: DVec3::ZERO, recedes: 0.0 });
        }
        for (particle, plane) in self.planes() {
            let at = x[particle].xyz();
            let Some(barrier) = self.barrier_of_plane(particle, &plane) else { continue };
            let distance = plane.distance(at, led);
            let Some([energy, push, curvature]) = barrier.along(distance) else { continue };
            let normal = plane.normal(led);
            let (weights, mut gradient) = ([1.0, 0.0, 0.0, 0.0], [DVec3::ZERO; 4]);
            gradient[0] = normal * -push;
            tell(NearPair {
                points: [particle as u32; 4],
                repulsion: Repulsion { energy, gradient, weights, normal, push, curvature },
                friction: plane.kept.friction,
                of_body: true,
                carries: plane.carries(self.first[particle]),
                recedes: plane.distance(at, 1.0) - distance,
            });
        }
    }

    /// What keeps a pair apart whose points are at `x` [m]; `None` if it is further apart than anything reaches, or is not to be kept apart.
    fn barrier(&self, pair: &Pair, x: &[Vec4]) -> Option<(PairBarrier, &Kept)> {
        let CcdWindow { surface, .. } = &self.window;
        let kept = self.window.kept(pair);
        let distance = |at: [DVec3; 4]| closest(pair.kind, &at).vector.length();
        let reach = kept.distance + self.sunk * (kept.distance - kept.solid);
        let far = distance(pair.points.map(|p| x[p as usize].xyz())) >= reach;
        if far || (!self.tangles.is_empty() && self.tangles.has(surface, pair)) {
            return None;
        }
        let split = if pair.kind == PairKind::PointTriangle { 1 } else { 2 };
        let (first, second) = pair.points.split_at(split);
        let sewn = surface.are_sewn(first, second);
        let before = distance(pair.points.map(|p| self.first[p as usize]));
        let parallel = if pair.kind == PairKind::PointTriangle { 0.0 } else { parallel(surface, &pair.points) };
        let stiffness = self.stiffness[self.window.place_of_two(self.window.objects(pair))];
        let barrier = PairBarrier { kind: pair.kind, parallel, ..self.between(kept, before, sewn, stiffness)? };
        Some((barrier, kept))
    }

    fn barrier_of_plane(&self, particle: usize, plane: &HalfSpace) -> Option<PairBarrier> {
        self.between(&plane.kept, plane.distance(self.first[particle], 0.0), false, plane.stiffness)
    }

    /// The barrier of two sides that were `before` apart [m]; what started in a solid or in touch has nothing to keep, what started too near keeps most of what it had.
    fn between(&self, kept: &Kept, before: f64, sewn: bool, stiffness: f64) -> Option<PairBarrier> {
        let above = before - kept.solid;
        if above <= 0.0 {
            return None;
        }
        let offset = kept.floor.min(kept.solid + KEEPS * above);
        let reach = (kept.distance - offset) * if sewn { SEWN } else { 1.0 + self.sunk };
        Some(PairBarrier { kind: PairKind::PointTriangle, offset, reach, stiffness, parallel: 0.0 })
    }

    /// Every movable particle with every half-space.
    fn planes(&self) -> impl Iterator<Item = (usize, HalfSpace)> {
        let CcdWindow { surface, planes, poses, inverse_mass, .. } = &self.window;
        planes.iter().flat_map(move |plane| {
            let poses = poses[*plane].unwrap_or([Pose::IDENTITY; 2]);
            surface.objects.iter().enumerate().filter(|(_, object)| object.body.is_none()).flat_map(
                move |(cloth, object)| {
                    let stiffness = self.stiffness[self.window.place_of_two([cloth, *plane])];
                    let half = HalfSpace { poses, kept: surface.between(cloth, *plane), stiffness };
                    let movable = object.points.clone().filter(|i| inverse_mass[*i] > 0.0);
                    movable.map(move |i| (i, half))
                },
            )
        })
    }
}

/// The square of the area between two edges below which they count as parallel [m⁴].
fn parallel(surface: &CollisionSurface, points: &[u32; 4]) -> f64 {
    let [a, b, c, d] = points.map(|p| surface.rest[p as usize]);
    PARALLEL * a.distance_squared(b) * c.distance_squared(d)
}

/// A half-space at the start and at the end of a sub-step.
#[derive(Debug, Clone, Copy)]
struct HalfSpace {
    poses: [Pose; 2],
    kept: Kept,
    stiffness: f64,
}

impl HalfSpace {
    /// How far above it a point is [m] when it has gone a share of its way: in between, its equation is between those of the ends.
    fn distance(&self, point: DVec3, led: f64) -> f64 {
        let [before, after] = self.poses.map(|pose| pose.to_local(point).y);
        before + (after - before) * led
    }

    fn normal(&self, led: f64) -> DVec3 {
        let [before, after] = self.poses.map(|pose| pose.rotation * DVec3::Y);
        before + (after - before) * led
    }

    /// How far it carries what lies on it at a point [m].
    fn carries(&self, point: DVec3) -> DVec3 {
        let [before, after] = self.poses;
        after.to_world(before.to_local(point)) - point
    }
}
