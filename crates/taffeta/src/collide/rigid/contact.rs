//! One contact of a free body: what moves with its points, and the impulse that it asks for.

use super::free::{FreeBodies, Lie, mean};
use crate::collide::contact::projection::ContactMotion;
use crate::collide::contact::supports::{UNSUPPORTED, slowness};
use crate::collide::surface::{CollisionSurface, Kept};
use crate::math::{DMat3, DVec3, Pose, Vec4};
use std::ops::Range;

/// One feature of a contact.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ContactSide {
    /// The free body that it is of.
    pub body: Option<usize>,
    /// Weights of the body's particles in the feature; they sum to the sign of the side.
    pub nodes: [f64; 4],
    /// From the centre of mass to the place of contact [m], and weights of the particles there.
    pub arm: DVec3,
    pub here: [f64; 4],
}

/// Two features near one another, at least one of them of a free body: Σ weights x leads from the second to the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct RigidContact {
    pub points: [u32; 4],
    pub weights: [f64; 4],
    /// How many of the points are those of the first feature.
    pub split: usize,
    /// How far each point moves by an impulse [1/kg]; 0 for those of bodies.
    pub moves: [f64; 4],
    pub sides: [ContactSide; 2],
    /// The half-space that the second side is, as a number of objects, and a point of it in its own axes [m].
    pub plane: Option<(usize, DVec3)>,
    pub normal: DVec3,
    pub kept: Kept,
    /// Radii of the sides [m].
    pub radii: [f64; 2],
    pub restitution: f64,
    /// Whether CCD found it: then its distance is kept however near the features were at the start.
    pub learned: bool,
    /// Share of the speed with which it parts what is too near [1].
    pub slowness: f64,
    /// Whether the cloth in it stands against its push.
    pub stands: bool,
    /// How far the features part by an impulse along the normal [1/kg], the impulse that moves them across it, and about how large it is in any direction [kg].
    pub give: f64,
    pub give_of_body: f64,
    pub hold: DMat3,
    pub slows: f64,
    /// The distance that the sub-step must end with, after an impact that bounces [m].
    pub bounce: f64,
    /// Impulses so far [kg·m]; and what of the push cloth that stands has not felt.
    pub push: f64,
    pub stopped: f64,
    pub grip: DVec3,
    /// The points that it is between, ascending: it is known by them from window to window.
    pub key: [u32; 4],
}

impl RigidContact {
    pub fn new(points: [u32; 4], normal: DVec3, kept: Kept) -> Self {
        Self {
            points,
            weights: [1.0, 0.0, 0.0, 0.0],
            split: 4,
            moves: [0.0; 4],
            sides: [ContactSide::default(); 2],
            plane: None,
            normal,
            kept,
            radii: [0.0; 2],
            restitution: 0.0,
            learned: false,
            slowness: 1.0,
            stands: false,
            give: 0.0,
            give_of_body: 0.0,
            hold: DMat3::ZERO,
            slows: 0.0,
            bounce: 0.0,
            push: 0.0,
            stopped: 0.0,
            grip: DVec3::ZERO,
            key: [u32::MAX; 4],
        }
    }

    /// Finds what moves with its points: the particles of the free bodies that the `features` are of, or the points themselves.
    fn share_out(
        &mut self,
        bodies: &FreeBodies,
        inverse_mass: &[f64],
        features: [Range<usize>; 2],
        objects: [usize; 2],
    ) {
        for ((side, of), object) in self.sides.iter_mut().zip(features).zip(objects) {
            side.body = bodies.of_object(object);
            let Some(free) = side.body.map(|number| bodies.get(number)) else {
                let inverse = |k: usize| inverse_mass.get(self.points[k] as usize).copied().unwrap_or(0.0);
                of.for_each(|k| self.moves[k] = self.weights[k] * inverse(k));
                continue;
            };
            for k in of {
                let weights = &free.weights[self.points[k] as usize - free.points.start];
                (0..4).for_each(|j| side.nodes[j] += self.weights[k] * weights[j]);
            }
        }
    }

    /// Takes up its features, `split` points of the first, with weights; and what moves with them.
    pub fn take_features(
        &mut self,
        surface: &CollisionSurface,
        bodies: &FreeBodies,
        inverse_mass: &[f64],
        (weights, split): ([f64; 4], usize),
        objects: [usize; 2],
    ) {
        (self.weights, self.split) = (weights, split);
        self.share_out(bodies, inverse_mass, [0..split, split..4], objects);
        self.radii =
            objects.map(|o| if surface.objects[o].body.is_some() { surface.objects[o].radius } else { 0.0 });
        self.name_points();
    }

    /// Lets cloth stand that is held against the direction of the push.
    pub fn settle(&mut self, level: impl Fn(u32, DVec3) -> u16) {
        let out = |k: usize| if k < self.split { -self.normal } else { self.normal };
        let of_cloth = (0..4).filter(|k| self.moves[*k] != 0.0);
        let highest = of_cloth.map(|k| level(self.points[k], out(k))).max().filter(|l| *l != UNSUPPORTED);
        self.stands = highest.is_some();
        self.slowness = highest.map_or(1.0, slowness);
    }

    /// What is the same in all sweeps of a sub-step: where it is on its bodies, which lie as told, and how it gives.
    pub fn prepare(&mut self, bodies: &FreeBodies, lies: &[Lie], moved: &ContactMotion) {
        let n = self.normal;
        let of_points: f64 = (0..4).map(|k| self.weights[k] * self.moves[k]).sum();
        let mut give = DMat3::from_diagonal(DVec3::splat(of_points));
        for (k, (side, outwards)) in self.sides.iter_mut().zip([n, -n]).enumerate() {
            let Some(number) = side.body else { continue };
            let (lie, sign) = (&lies[number], if k == 0 { 1.0 } else { -1.0 });
            let first = bodies.get(number).body.nodes.start;
            let at: [DVec3; 4] = std::array::from_fn(|j| moved.before[first + j].xyz());
            side.arm = sign * mean(&side.nodes, &at) - self.radii[k] * outwards - lie.centre;
            side.here = lie.weights(side.arm).map(|w| sign * w);
            give += lie.give(side.arm);
        }
        self.give = n.dot(give * n);
        let across = DMat3::IDENTITY - outer(n);
        let along = across * give * across;
        self.hold = (along + outer(n) * self.give).inverse();
        self.give_of_body = self.give - of_points;
        self.slows = 2.0 / (along.x_axis.x + along.y_axis.y + along.z_axis.z);
    }

    /// Takes the points with weights, each once, for its key.
    fn name_points(&mut self) {
        let mut used = 0;
        for (p, _) in self.points.iter().zip(self.weights).filter(|(_, w)| *w != 0.0) {
            if !self.key[..used].contains(p) {
                self.key[used] = *p;
                used += 1;
            }
        }
        self.key.sort_unstable();
    }

    /// What leads from the second feature to the first, at the start (0) or the end (1) of the sub-step [m].
    pub fn between(
        &self,
        bodies: &FreeBodies,
        planes: &[(usize, [Pose; 2])],
        particles: &[Vec4],
        led: &[DVec3],
        end: usize,
    ) -> DVec3 {
        self.sum(bodies, particles, led, |side| &side.nodes) - self.anchor(planes, end)
    }

    /// The point of its half-space.
    fn anchor(&self, planes: &[(usize, [Pose; 2])], end: usize) -> DVec3 {
        let Some((object, local)) = self.plane else { return DVec3::ZERO };
        planes.iter().find(|(o, _)| *o == object).map_or(DVec3::ZERO, |(_, poses)| poses[end].to_world(local))
    }

    /// Σ weights x, where bodies have the weights that `of` tells.
    fn sum(
        &self,
        bodies: &FreeBodies,
        particles: &[Vec4],
        led: &[DVec3],
        of: impl Fn(&ContactSide) -> &[f64; 4],
    ) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (side, range) in self.sides.iter().zip([0..self.split, self.split..4]) {
            match side.body {
                Some(number) => {
                    let first = bodies.get(number).body.nodes.start;
                    (0..4).for_each(|j| sum += of(side)[j] * particles[first + j].xyz());
                }
                None => range.for_each(|k| {
                    let p = self.points[k] as usize;
                    sum += self.weights[k]
                        * particles.get(p).map_or_else(|| led[p - particles.len()], |x| x.xyz());
                }),
            }
        }
        sum
    }

    /// The impulse that is still missing [kg·m], now counted as given; and what of it cloth that stands does not feel.
    pub fn resolve_contact(
        &mut self,
        bodies: &FreeBodies,
        planes: &[(usize, [Pose; 2])],
        moved: &ContactMotion,
        after: &[Vec4],
    ) -> [DVec3; 2] {
        let n = self.normal;
        let before = &moved.before[..after.len()];
        let gap = n.dot(self.between(bodies, planes, after, moved.bodies[1], 1));
        let hovers = self.kept.solid + moved.params.hovers * (self.kept.distance - self.kept.solid);
        if gap >= hovers.max(self.bounce) && self.push == 0.0 {
            return [DVec3::ZERO; 2];
        }
        let from = n.dot(self.between(bodies, planes, before, moved.bodies[0], moved.from));
        let most = if self.learned { f64::INFINITY } else { from + self.slowness * moved.params.parting_speed * moved.h };
        let kept = self.kept.distance.min(most).max(self.bounce);
        let (missing, advance) = (kept - gap, self.advance(bodies, moved, after));
        let (stopped, by_both) = if missing > 0.0 {
            let stopped = missing.min(advance);
            (stopped / self.give_of_body, (missing - stopped) / self.give)
        } else {
            let by_both = (missing / self.give).max(self.stopped - self.push);
            let left = missing - by_both * self.give;
            let stopped = if self.stopped > 0.0 { (left / self.give_of_body).max(-self.stopped) } else { 0.0 };
            (stopped, by_both)
        };
        // Sums that come back to nothing do so but for roundings.
        let push = (self.push + stopped + by_both).max(0.0);
        let slip = self.sum(bodies, after, moved.bodies[1], |side| &side.here)
            - self.sum(bodies, before, moved.bodies[0], |side| &side.here)
            - (self.anchor(planes, 1) - self.anchor(planes, moved.from));
        let slip = slip - n.dot(slip) * n;
        let holding = self.grip - self.hold * slip;
        let holding = holding - n.dot(holding) * n;
        let limit = self.kept.friction * push;
        // What slides is pulled against its way, however it would turn; what is held is held by what it takes.
        let sliding = self.grip - self.slows * slip;
        let grip = match () {
            () if moved.slips => self.grip,
            () if holding.length() > limit => sliding.clamp_length_max(limit),
            () => holding,
        };
        let felt = by_both * n + (grip - self.grip);
        (self.push, self.stopped, self.grip) = (push, (self.stopped + stopped).clamp(0.0, push), grip);
        [felt, stopped * n]
    }

    /// How far its body has come nearer to cloth that stands, by itself [m].
    pub fn advance(&self, bodies: &FreeBodies, moved: &ContactMotion, after: &[Vec4]) -> f64 {
        if !self.stands || self.give_of_body <= 0.0 {
            return 0.0;
        }
        let (before, carried) = (moved.before, moved.carried.dot(self.normal));
        let way = |side: &ContactSide| {
            let first = side.body.map(|number| bodies.get(number).body.nodes.start);
            first.map_or(0.0, |first| {
                let way = |j: usize| (after[first + j] - before[first + j]).xyz().dot(self.normal) - carried;
                (0..4).map(|j| side.nodes[j] * way(j)).sum()
            })
        };
        (-self.sides.iter().map(way).sum::<f64>()).max(0.0)
    }

    /// Tells which particles impulses move, and how far [m]: the first acts on both sides, the second on bodies alone.
    pub fn apply(
        &self,
        bodies: &FreeBodies,
        lies: &[Lie],
        [felt, stopped]: [DVec3; 2],
        mut moves: impl FnMut(usize, DVec3),
    ) {
        for (k, side) in self.sides.iter().enumerate() {
            if let Some(number) = side.body {
                let first = bodies.get(number).body.nodes.start;
                let impulse = felt + stopped;
                let given = if k == 0 { impulse } else { -impulse };
                let ways = lies[number].moves(side.arm, given);
                ways.into_iter().enumerate().for_each(|(j, way)| moves(first + j, way));
            }
        }
        for (&point, share) in self.points.iter().zip(self.moves) {
            if share != 0.0 {
                moves(point as usize, share * felt);
            }
        }
    }
}

fn outer(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}
