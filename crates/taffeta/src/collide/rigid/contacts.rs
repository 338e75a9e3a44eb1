//! Contacts of free bodies with cloth, with colliders and with each other, answered inside the iteration of a method.
//!
//! A push is an impulse at the point of contact; a body gives way to it as 1/m + (r×)ᵀ I⁻¹ (r×) says, and moves as a whole. Impulses add up
//! over the sweeps of a sub-step: along the normal they are at least 0, across it at most friction times that, so that what rests does not creep.

use super::contact::{ContactSide, RigidContact};
use crate::collide::contact::projection::ContactMotion;
use super::free::{FreeBodies, Lie};
use crate::collide::broad_phase::candidates::{Pair, PairKind};
use crate::collide::broad_phase::features::triangles_around;
use crate::collide::ccd::distance::closest;
use crate::collide::surface::{CollisionSurface, Kept};
use crate::math::{DVec3, Pose, Vec4};

/// The least and the most sweeps in one call, and about how many contacts they answer in all: through a pile a push goes body by body.
const SWEEPS: [usize; 2] = [4, 40];
const ANSWERS: usize = 1000;
/// Sine of the angle by which what is around a contact may rise above it: what is nearly flat has contacts all over.
const RISES: f64 = 0.3;
/// Sine of the angle below which edges run side by side.
const SIDE_BY_SIDE: f64 = 1e-3;

/// All contacts of free bodies in a window of time.
#[derive(Debug, Default)]
pub struct RigidContacts {
    list: Vec<RigidContact>,
    /// Per free body how it lies at the start of the sub-step.
    lies: Vec<Lie>,
    is_fresh: bool,
    /// Half-spaces at the start and at the end of the sub-step, by object.
    planes: Vec<(usize, [Pose; 2])>,
    /// Triangles around every point, as starts and one list.
    around: (Vec<u32>, Vec<u32>),
    /// Contacts of the window before.
    before: Vec<RigidContact>,
    /// Those that CCD found and that no sweep has seen yet.
    learned: Vec<RigidContact>,
    /// Impulses of the list before CCD found any; empty if it did not. What these then move has no velocity.
    held: Vec<(f64, DVec3)>,
    /// Duration of the sub-step before [s]; 0 if a step has just begun.
    last: f64,
}

/// What a window of time begins with.
pub struct Begin<'a> {
    /// All that can touch.
    pub surface: &'a CollisionSurface,
    /// The bodies among it.
    pub bodies: &'a FreeBodies,
    /// All points at the start and where velocities lead them [m].
    pub start: &'a [DVec3],
    /// See `start`.
    pub end: &'a [DVec3],
    /// One over the mass of particles [1/kg].
    pub inverse_mass: &'a [f64],
    /// How far beyond the distance kept contacts are looked for [m].
    pub pad: f64,
}

impl Begin<'_> {
    fn restitution(&self, objects: [usize; 2]) -> f64 {
        let of = |object: usize| self.bodies.of_object(object).map(|b| self.bodies.get(b).body.restitution);
        let is_body = |object: usize| self.surface.objects[object].body.is_some();
        match objects.map(of) {
            [Some(e), Some(f)] => (e * f).sqrt(),
            [Some(e), None] if is_body(objects[1]) => e,
            [None, Some(f)] if is_body(objects[0]) => f,
            _ => 0.0,
        }
    }
}

impl RigidContacts {
    /// Room for the contacts of a surface.
    pub fn new(surface: &CollisionSurface, bodies: &FreeBodies) -> Self {
        let around = if bodies.is_empty() { Default::default() } else { triangles_around(surface) };
        Self { around, ..Self::default() }
    }

    /// Lists the contacts of a window: of pairs that are near, or would be at its end, and of points near half-spaces.
    pub fn list<'p>(
        &mut self,
        begin: &Begin,
        pairs: impl Iterator<Item = &'p Pair>,
        planes: impl Iterator<Item = (usize, Pose)>,
    ) {
        std::mem::swap(&mut self.list, &mut self.before);
        self.before.retain(|touch| !touch.learned);
        let held = self.held.drain(..).zip(&mut self.before);
        held.for_each(|((push, grip), touch)| (touch.push, touch.grip) = (push, grip));
        self.list.clear();
        self.learned.clear();
        self.planes.clear();
        for pair in pairs {
            if let Some(touch) = self.of_pair(begin, pair) {
                self.list.push(touch);
            }
        }
        for (object, pose) in planes {
            self.planes.push((object, [pose; 2]));
            for (number, free) in begin.bodies.iter().enumerate() {
                let points = free.points.clone().zip(&free.weights);
                self.list.extend(
                    points.filter_map(|(p, nodes)| on_plane(begin, (object, &pose), number, p, nodes)),
                );
            }
        }
        // Rims belong to several faces: one of all contacts between the same points is enough.
        self.list.sort_unstable_by_key(|touch| (touch.key, touch.points));
        self.list.dedup_by_key(|touch| touch.key);
        self.recall();
        let room = self.list.len();
        self.held.reserve(room);
        self.learned.reserve(room);
    }

    fn of_pair(&self, begin: &Begin, pair: &Pair) -> Option<RigidContact> {
        let Begin { surface, start, end, .. } = *begin;
        let near = closest(pair.kind, &pair.points.map(|p| start[p as usize]));
        let gap = near.vector.length();
        if gap <= 0.0
            || (pair.kind == PairKind::EdgeEdge && are_parallel(pair.points.map(|p| start[p as usize])))
        {
            return None;
        }
        let normal = near.vector / gap;
        let split = if pair.kind == PairKind::PointTriangle { 1 } else { 2 };
        let objects = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        let kept = surface.between(objects[0], objects[1]);
        let way = |k: usize| end[pair.points[k] as usize] - start[pair.points[k] as usize];
        let parting: f64 = (0..4).map(|k| near.weights[k] * way(k).dot(normal)).sum();
        let features = [(0..split, -normal), (split..4, normal)];
        if gap >= kept.distance + begin.pad - parting.min(0.0)
            || features.iter().any(|(of, out)| {
                !self.faces(begin, &pair.points[of.clone()], &near.weights[of.clone()], *out)
            })
        {
            return None;
        }
        let mut touch = RigidContact {
            restitution: begin.restitution(objects),
            ..RigidContact::new(pair.points, normal, kept)
        };
        touch.take_features(surface, begin.bodies, begin.inverse_mass, (near.weights, split), objects);
        Some(touch)
    }

    /// Sets aside the impulses so far: what contacts that CCD finds move has no velocity.
    pub fn begin_learning(&mut self) {
        if self.held.is_empty() {
            self.held.extend(self.list.iter().map(|touch| (touch.push, touch.grip)));
        }
    }

    /// Takes a pair that CCD saw meet with its points at `at` [m] for a contact of the sub-step under way.
    pub fn learn(
        &mut self,
        surface: &CollisionSurface,
        bodies: &FreeBodies,
        inverse_mass: &[f64],
        pair: &Pair,
        at: &[DVec3; 4],
    ) {
        let near = closest(pair.kind, at);
        let gap = near.vector.length();
        if gap <= 0.0 {
            return;
        }
        let split = if pair.kind == PairKind::PointTriangle { 1 } else { 2 };
        let objects = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        let kept = surface.between(objects[0], objects[1]);
        let kept = Kept { distance: kept.parted(), ..kept };
        let mut touch =
            RigidContact { learned: true, ..RigidContact::new(pair.points, near.vector / gap, kept) };
        touch.take_features(surface, bodies, inverse_mass, (near.weights, split), objects);
        self.learned.push(touch);
    }

    /// Whether the part of a feature that is nearest, that with weights, is so for all of its surface: nothing around it is nearer in the direction `out`.
    fn faces(&self, begin: &Begin, points: &[u32], weights: &[f64], out: DVec3) -> bool {
        let mut support = points.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(|(p, _)| *p);
        let (Some(a), b) = (support.next(), support.next()) else { return true };
        if support.next().is_some() {
            return true;
        }
        let at = |p: u32| begin.start[p as usize];
        let along = b.filter(|b| *b != a).map(|b| (b, at(b) - at(a)));
        let around =
            &self.around.1[self.around.0[a as usize] as usize..self.around.0[a as usize + 1] as usize];
        let corners = around.iter().map(|t| begin.surface.triangles[*t as usize]);
        let others = corners.filter(|t| along.is_none_or(|(b, _)| t.contains(&b))).flatten();
        others.filter(|c| *c != a && along.is_none_or(|(b, _)| b != *c)).all(|c| {
            let to = at(c) - at(a);
            let across =
                along.map_or(to, |(_, e)| to - e * (to.dot(e) / e.length_squared().max(f64::MIN_POSITIVE)));
            out.dot(across) <= RISES * across.length()
        })
    }

    /// Impulses of the window before are what those of this one start from: what rests needs the same ones again and again.
    fn recall(&mut self) {
        for touch in &mut self.list {
            if let Ok(known) = self.before.binary_search_by_key(&touch.key, |before| before.key) {
                let RigidContact { push, grip, .. } = self.before[known];
                (touch.push, touch.grip) = (push, grip - grip.dot(touch.normal) * touch.normal);
            }
        }
    }

    /// Lets cloth below bodies stand where it is held against the direction of their push.
    pub fn settle(&mut self, level: impl Fn(u32, DVec3) -> u16) {
        self.list.iter_mut().for_each(|touch| touch.settle(&level));
    }

    /// The impulses that particles which stand have not felt in this sub-step [kg·m].
    pub fn loads(&self) -> impl Iterator<Item = (u32, f64)> {
        self.on_particles(|touch| touch.stopped)
    }

    /// Those by which bodies have pushed particles in this sub-step, felt or not [kg·m].
    pub fn pushes(&self) -> impl Iterator<Item = (u32, f64)> {
        self.on_particles(|touch| touch.push)
    }

    /// Shares impulses of contacts out to the particles in them.
    fn on_particles(&self, impulse: fn(&RigidContact) -> f64) -> impl Iterator<Item = (u32, f64)> {
        let of = move |touch: &RigidContact| {
            let weights = touch.points.into_iter().zip(touch.weights).zip(touch.moves);
            let push = impulse(touch);
            weights.filter(|((_, _), moves)| *moves != 0.0).map(move |((p, w), _)| (p, w.abs() * push))
        };
        self.list.iter().filter(move |touch| impulse(touch) > 0.0).flat_map(of)
    }

    /// Forgets all impulses: a step depends on the state alone.
    pub fn forget(&mut self) {
        self.list.clear();
        self.last = 0.0;
    }

    /// Starts a sub-step at whose start and end half-spaces are where `pose` has them.
    pub fn begin_substep(&mut self, pose: impl Fn(usize) -> [Pose; 2]) {
        self.is_fresh = true;
        self.planes.iter_mut().for_each(|(object, poses)| *poses = pose(*object));
    }

    /// How many contacts have pushed in this sub-step.
    pub fn touching(&self) -> u32 {
        self.list.iter().filter(|touch| touch.push > 0.0).count() as u32
    }
}

impl RigidContacts {
    /// Sweeps over all contacts: `after` are the particles at the end of the sub-step, and `touched` is told who touches and was moved how far [m]. Returns whether
    /// anything was moved.
    pub fn project(
        &mut self,
        bodies: &FreeBodies,
        moved: &ContactMotion,
        after: &mut [Vec4],
        mut touched: impl FnMut(usize, DVec3),
    ) -> bool {
        let mut any = false;
        let first_learned = self.list.len();
        self.list.append(&mut self.learned);
        let count = self.list.len();
        // The two lists change places, and each is to have room for the longest.
        self.before.reserve(count.saturating_sub(self.before.len()));
        if std::mem::take(&mut self.is_fresh) {
            self.prepare(bodies, moved, after);
            for touch in self.list.iter().filter(|touch| touch.push > 0.0) {
                let impulses = [touch.push * touch.normal + touch.grip, DVec3::ZERO];
                touch.apply(bodies, &self.lies, impulses, |i, way| {
                    after[i] += Vec4::from(way);
                    touched(i, way);
                });
            }
        }
        if first_learned < count {
            // They are where CCD found them, and so are their bodies.
            self.lay(bodies, moved);
        }
        for touch in &mut self.list[first_learned..] {
            touch.prepare(bodies, &self.lies, moved);
        }
        for sweep in 0..(ANSWERS / count.max(1)).clamp(SWEEPS[0], SWEEPS[1]) {
            let mut furthest = 0.0_f64;
            for k in 0..count {
                // There and back: neither end of the list comes first.
                let touch = &mut self.list[if sweep % 2 == 0 { k } else { count - 1 - k }];
                let impulses = touch.resolve_contact(bodies, &self.planes, moved, after);
                if impulses != [DVec3::ZERO; 2] {
                    touch.apply(bodies, &self.lies, impulses, |i, way| {
                        after[i] += Vec4::from(way);
                        touched(i, way);
                    });
                    furthest = furthest.max((impulses[0] + impulses[1]).length() * touch.give);
                }
            }
            if furthest <= moved.params.still_speed * moved.h {
                break;
            }
            any = true;
        }
        any
    }

    /// Takes away with which velocity still comes nearer what this sub-step has pushed apart: `after` are places one sub-step after those at the start [m].
    pub fn stop_approach(&self, bodies: &FreeBodies, moved: &ContactMotion, after: &mut [Vec4]) {
        for touch in self.list.iter().filter(|touch| touch.push > 0.0) {
            let n = touch.normal;
            let from = n.dot(touch.between(bodies, &self.planes, &moved.before[..after.len()], moved.bodies[0], 0));
            let approach = from - n.dot(touch.between(bodies, &self.planes, after, moved.bodies[1], 1));
            if approach > 0.0 {
                let stopped = approach.min(touch.advance(bodies, moved, after));
                let by_body = if stopped > 0.0 { stopped / touch.give_of_body } else { 0.0 };
                let impulses = [(approach - stopped) / touch.give * n, by_body * n];
                touch.apply(bodies, &self.lies, impulses, |i, way| after[i] += Vec4::from(way));
            }
        }
    }

    /// Finds how bodies lie before they are moved.
    fn lay(&mut self, bodies: &FreeBodies, moved: &ContactMotion) {
        let nodes =
            |free: &super::free::Free| std::array::from_fn(|k| moved.before[free.body.nodes.start + k].xyz());
        self.lies.clear();
        self.lies.extend(bodies.iter().map(|free| free.lie(&nodes(free))));
    }

    /// What is the same in all sweeps of a sub-step: how bodies lie, and how contacts give.
    fn prepare(&mut self, bodies: &FreeBodies, moved: &ContactMotion, after: &[Vec4]) {
        self.lay(bodies, moved);
        // An impulse is a force times the square of the duration.
        let longer = if self.last > 0.0 { (moved.h / self.last).powi(2) } else { 0.0 };
        self.last = moved.h;
        for touch in &mut self.list {
            let n = touch.normal;
            touch.prepare(bodies, &self.lies, moved);
            // What stands needs no help, and would throw off what has just landed on it.
            let kept = if touch.stands { 0.0 } else { longer };
            (touch.push, touch.stopped, touch.grip) = (kept * touch.push, 0.0, kept * touch.grip);
            let [from, to] = [(moved.before, 0), (after, 1)].map(|(particles, end)| {
                n.dot(touch.between(bodies, &self.planes, particles, moved.bodies[end], end))
            });
            let approach = (from - to) / moved.h;
            let bounces = touch.restitution > 0.0 && approach > moved.params.bounce_speed && to < touch.kept.distance;
            touch.bounce = if bounces { from + touch.restitution * approach * moved.h } else { 0.0 };
        }
    }
}

/// The contact of a point of a free body with a half-space, if it is near.
fn on_plane(
    begin: &Begin,
    (object, pose): (usize, &Pose),
    number: usize,
    p: usize,
    nodes: &[f64; 4],
) -> Option<RigidContact> {
    let (surface, free) = (begin.surface, begin.bodies.get(number));
    let (normal, kept) = (pose.rotation * DVec3::Y, surface.between(free.object, object));
    let local = pose.to_local(begin.start[p]);
    let down = (begin.start[p] - begin.end[p]).dot(normal);
    if local.y >= kept.distance + begin.pad + down.max(0.0) {
        return None;
    }
    let mut touch = RigidContact::new([p as u32; 4], normal, kept);
    touch.sides[0] = ContactSide { body: Some(number), nodes: *nodes, ..ContactSide::default() };
    touch.key = [p as u32, u32::MAX - 1 - object as u32, u32::MAX, u32::MAX];
    touch.plane = Some((object, DVec3::new(local.x, 0.0, local.z)));
    touch.radii[0] = surface.objects[free.object].radius;
    touch.restitution = free.body.restitution;
    Some(touch)
}

/// Edges that run side by side meet at their ends, which other pairs have too.
fn are_parallel([a, b, c, d]: [DVec3; 4]) -> bool {
    let (e, f) = (b - a, d - c);
    e.cross(f).length_squared() <= SIDE_BY_SIDE * SIDE_BY_SIDE * e.length_squared() * f.length_squared()
}
