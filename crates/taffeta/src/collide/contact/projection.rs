//! Places where two features are near, answered inside the iteration of a method: push apart, hold below the friction limit.

use crate::collide::broad_phase::candidates::Pair;
use crate::collide::ccd::distance::{Closest, PairKind, closest};
use crate::collide::surface::CollisionSurface;
use crate::math::{DVec3, Vec4};
use crate::model::params::CollisionParams;

/// By how many times as far as features part a point of them is moved at most [1]. Where all points of a feature are free it is no more than two; beside a led one
/// the way would have no bound, and end as a velocity.
const MOST_LEVER: f64 = 4.0;

/// How far features part by an impulse, from the weights of their points and one over the masses of these [1/kg]: more than they do where a light point has to do
/// it alone, so that it goes no further than `MOST_LEVER` says.
pub fn give(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let most = points.clone().map(|(w, inverse)| w.abs() * inverse).fold(0.0, f64::max);
    points.map(|(w, inverse)| w * w * inverse).sum::<f64>().max(most / MOST_LEVER)
}

/// Two features near one another: Σ weights x leads from the second to the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureContact {
    /// Points, in the numbering of [`CollisionSurface`].
    pub points: [u32; 4],
    /// Weights of the points; those of the first feature sum to 1, of the second to -1 [1].
    pub weights: [f64; 4],
    /// How far each point moves if the features part by one metre [1]; 0 for what is pinned, part of a body, or stands.
    pub moves: [f64; 4],
    /// How far each point moves if the features move by one metre along one another [1]; 0 for what is pinned or part of a body.
    pub drags: [f64; 4],
    /// How far the features part by an impulse [1/kg].
    pub give: f64,
    /// How far they would if nothing stood [1/kg].
    pub whole_give: f64,
    /// The side that lies on the other, which stands.
    pub upper: Option<Side>,
    /// Unit vector from the second to the first.
    pub normal: DVec3,
    /// The distance that they keep [m].
    pub distance: f64,
    /// Coulomb friction [1].
    pub friction: f64,
    /// Share of the speed with which it parts what is too near [1].
    pub slowness: f64,
    /// Whether CCD found it: then the distance is kept however near the features were at the start.
    pub learned: bool,
    /// Whether it leads back what has gone through.
    pub back: bool,
}

/// Which edges are contacts that are nearest at an end. They are nearer still as a point and a face, but round bodies have no faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Those of round bodies.
    OfRound,
    /// None.
    OfNone,
}

/// A side of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// That with positive weights.
    First,
    /// That with negative weights.
    Second,
}

impl Side {
    /// The sign of its weights.
    pub fn sign(self) -> f64 {
        if self == Self::First { 1.0 } else { -1.0 }
    }

    /// The side that it meets.
    pub fn other(self) -> Self {
        if self == Self::First { Self::Second } else { Self::First }
    }
}

/// What contacts have done so far in a sub-step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    /// How far they have parted the features, at least 0 [m].
    pub push: f64,
    /// How far of that the upper side alone has moved, because the lower one stands [m].
    pub stopped: f64,
    /// How far they have moved them along one another, at most friction times the push [m].
    pub grip: DVec3,
    /// How far what weighs on the upper side would part them, had it been felt here; friction counts with it [m].
    pub load: f64,
}

impl FeatureContact {
    /// The contact of a pair at `points`, if it is nearer than the distance it keeps plus `reach(normal)` [m].
    pub fn of(
        surface: &CollisionSurface,
        pair: &Pair,
        points: &[DVec3],
        inverse_mass: &[f64],
        reach: impl Fn(&FeatureContact) -> f64,
        ends: Ends,
    ) -> Option<Self> {
        let (contact, gap) = Self::at(surface, pair, &pair.points.map(|p| points[p as usize]), inverse_mass)?;
        let at_an_end = || pair.kind == PairKind::EdgeEdge && contact.weights.contains(&0.0);
        let has_faces = || [pair.points[0], pair.points[3]].iter().all(|p| surface.has_faces(*p));
        let is_other = at_an_end() && (ends == Ends::OfNone || has_faces());
        (gap < contact.distance + reach(&contact) && !is_other).then_some(contact)
    }

    /// The contact that leads the first feature of a pair back through the second: towards that and beyond.
    pub fn back(surface: &CollisionSurface, pair: &Pair, points: &[DVec3], inverse_mass: &[f64]) -> Option<Self> {
        let (contact, _) = Self::at(surface, pair, &pair.points.map(|p| points[p as usize]), inverse_mass)?;
        Some(Self { normal: -contact.normal, back: true, ..contact })
    }

    /// The contact of a pair that CCD saw meet with its points at `at` [m].
    pub fn learn(surface: &CollisionSurface, pair: &Pair, at: &[DVec3; 4], inverse_mass: &[f64]) -> Option<Self> {
        let (contact, _) = Self::at(surface, pair, at, inverse_mass)?;
        let [a, b] = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        Some(Self { distance: surface.between(a, b).parted(), learned: true, ..contact })
    }

    /// The contact of a pair with its points at `at`, and the distance between them [m]; `None` if nothing of it can move, or it has no direction.
    fn at(
        surface: &CollisionSurface,
        pair: &Pair,
        at: &[DVec3; 4],
        inverse_mass: &[f64],
    ) -> Option<(Self, f64)> {
        let Closest { weights, vector } = closest(pair.kind, at);
        let gap = vector.length();
        let inverse = pair.points.map(|p| inverse_mass.get(p as usize).copied().unwrap_or(0.0));
        let both = give(weights.into_iter().zip(inverse));
        if gap <= 0.0 || both <= 0.0 {
            return None;
        }
        let [a, b] = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        let mut kept = surface.between(a, b);
        let (first, second) = pair.points.split_at(if pair.kind == PairKind::EdgeEdge { 2 } else { 1 });
        if surface.are_sewn(first, second) {
            kept.distance = kept.parted();
        }
        let moves = std::array::from_fn(|k| weights[k] * inverse[k] / both);
        let contact = Self {
            points: pair.points,
            weights,
            moves,
            drags: moves,
            give: both,
            whole_give: both,
            upper: None,
            normal: vector / gap,
            distance: kept.distance,
            friction: kept.friction,
            slowness: 1.0,
            learned: false,
            back: false,
        };
        Some((contact, gap))
    }

    /// Whether a point of a body, which are numbered on from so many particles, has a weight in it.
    pub fn meets_body(&self, particles: usize) -> bool {
        self.points.iter().zip(self.weights).any(|(p, w)| *p as usize >= particles && w != 0.0)
    }

    /// Points of a side with their weights.
    pub fn of_side(&self, side: Side) -> impl Iterator<Item = (u32, f64)> {
        let of = move |(_, w): &(u32, f64)| *w * side.sign() > 0.0;
        self.points.into_iter().zip(self.weights).filter(of)
    }

    /// Lets what is below the `upper` side stand; masses are those of `inverse_mass` [1/kg].
    pub fn stand(&mut self, upper: Side, inverse_mass: &[f64]) {
        let inverse: [f64; 4] = std::array::from_fn(|k| {
            if self.weights[k] * upper.sign() > 0.0 { inverse_mass[self.points[k] as usize] } else { 0.0 }
        });
        let give = give(self.weights.into_iter().zip(inverse));
        if give > 0.0 {
            (self.give, self.upper) = (give, Some(upper));
            let further = self.alone() + 1.0;
            self.moves = std::array::from_fn(|k| if inverse[k] > 0.0 { self.drags[k] * further } else { 0.0 });
        }
    }

    /// How much further the features part by an impulse on both than by one on the upper side alone, as a share of that [1]; 0 if nothing stands.
    pub fn alone(&self) -> f64 {
        self.whole_give / self.give - 1.0
    }

    /// How far the upper side has come nearer by itself, if the other stands [m].
    fn advance(&self, moved: &ContactMotion, after: &[Vec4]) -> f64 {
        let Some(upper) = self.upper else { return 0.0 };
        let (before, carried) = (moved.before, moved.carried.dot(self.normal));
        let way = |(p, w): (u32, f64)| {
            w * ((after[p as usize] - before[p as usize]).xyz().dot(self.normal) - carried)
        };
        (-self.of_side(upper).map(way).sum::<f64>()).max(0.0)
    }

    /// Σ weights x over positions of particles and of bodies.
    pub fn between(&self, particles: &[Vec4], bodies: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (&point, weight) in self.points.iter().zip(self.weights) {
            sum += particles.get(point as usize).map_or(DVec3::ZERO, |p| weight * p.xyz());
        }
        sum + self.of_bodies(bodies, particles.len())
    }

    /// Σ weights x over points of bodies alone, which are numbered on from so many particles.
    pub fn of_bodies(&self, bodies: &[DVec3], particles: usize) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (&point, weight) in self.points.iter().zip(self.weights).filter(|(p, _)| **p as usize >= particles) {
            sum += weight * bodies[point as usize - particles];
        }
        sum
    }
}

/// Takes away contacts of a particle with the rim of a triangle if it also meets the inside of a neighbour of that triangle: the rim is then no part of what
/// is nearest, and its direction is wrong. Contacts of one point stand together.
pub fn drop_shadowed(contacts: &mut Vec<FeatureContact>, shadowed: &mut Vec<bool>) {
    shadowed.clear();
    shadowed.resize(contacts.len(), false);
    let is_point = |c: &FeatureContact| c.weights[0] == 1.0 && c.moves[0] != 0.0;
    let on_rim = |c: &FeatureContact| c.weights[1..].contains(&0.0);
    let mut first = 0;
    while first < contacts.len() {
        let point = contacts[first].points[0];
        let same = |c: &&FeatureContact| is_point(c) && c.points[0] == point;
        let count = contacts[first..].iter().take_while(same).count();
        let group = &contacts[first..first + count];
        for (k, contact) in group.iter().enumerate().filter(|(_, c)| on_rim(c)) {
            let neighbour =
                |c: &FeatureContact| c.points[1..].iter().any(|p| contact.points[1..].contains(p));
            shadowed[first + k] = group.iter().any(|c| !on_rim(c) && neighbour(c));
        }
        first += count.max(1);
    }
    let mut kept = shadowed.iter();
    contacts.retain(|_| kept.next() == Some(&false));
}

/// Where everything is before and after a sub-step.
#[derive(Debug, Clone, Copy)]
pub struct ContactMotion<'a> {
    /// Particles at the start [m].
    pub before: &'a [Vec4],
    /// Points of bodies at the start and at the end [m].
    pub bodies: [&'a [DVec3]; 2],
    /// Where half-spaces are taken at the start: 0 for there, 1 for the end, where they rest.
    pub from: usize,
    /// How far led bodies move, on average [m]: what stands goes along with them.
    pub carried: DVec3,
    /// Duration [s].
    pub h: f64,
    /// Whether friction holds nothing any more.
    pub slips: bool,
    /// The tuned numbers.
    pub params: CollisionParams,
}

/// One sweep over all contacts in their order: `after` are the particles at the end of the sub-step, and `touched` is told who touches and was moved how far [m]. Returns how far they moved features at most [m].
pub fn project(
    contacts: &[FeatureContact],
    done: &mut [Done],
    moved: &ContactMotion,
    after: &mut [Vec4],
    mut touched: impl FnMut(usize, DVec3),
) -> f64 {
    let mut furthest = 0.0_f64;
    for (contact, done) in contacts.iter().zip(done) {
        let n = contact.normal;
        let to = contact.between(after, moved.bodies[1]);
        let gap = n.dot(to);
        if gap >= moved.params.hovers * contact.distance && done.push == 0.0 {
            continue;
        }
        let from = contact.between(&moved.before[..after.len()], moved.bodies[0]);
        let kept = if contact.learned {
            contact.distance
        } else {
            contact.distance.min(n.dot(from) + contact.slowness * moved.params.parting_speed * moved.h)
        };
        let parted = Correction::of(kept - gap, done, contact.advance(moved, after));
        // Sums that come back to nothing do so but for roundings.
        done.stopped = (done.stopped + parted.stopped).max(0.0);
        done.push = (done.push + parted.by_both + parted.stopped).max(done.stopped);
        let slip = to - from;
        let wanted = done.grip - (slip - n.dot(slip) * n);
        let alone = contact.alone();
        let (length, limit) = (wanted.length(), contact.friction * (done.push + alone * done.stopped + done.load));
        let grip = match () {
            () if moved.slips => done.grip,
            () if length > limit => wanted * (limit * (1.0 / length)),
            () => wanted,
        };
        let held = grip - done.grip;
        done.grip = grip;
        furthest = furthest.max((parted.stopped + parted.by_both).abs()).max(held.length());
        for (k, &point) in contact.points.iter().enumerate() {
            if contact.drags[k] != 0.0 {
                let along = contact.moves[k] * parted.stopped + contact.drags[k] * parted.by_both;
                let way = along * n + contact.drags[k] * held;
                after[point as usize] += Vec4::from(way);
                touched(point as usize, way);
            }
        }
    }
    furthest
}

/// How features part: the upper side of what lies on the other is stopped by itself, as if that stood for good; all else both do by their masses. So what stands
/// stops what is heavy, but does not throw it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Correction {
    stopped: f64,
    by_both: f64,
}

impl Correction {
    /// For features that are to part by `missing` [m], after what was `done`; `advance` is how far the upper side has come nearer by itself [m].
    fn of(missing: f64, done: &Done, advance: f64) -> Self {
        if missing > 0.0 {
            let stopped = missing.min(advance);
            Self { stopped, by_both: missing - stopped }
        } else {
            let by_both = missing.max(done.stopped - done.push);
            Self { stopped: (missing - by_both).max(-done.stopped), by_both }
        }
    }
}

/// Takes away with which velocity features still come nearer that were pushed apart: `before` and `after` are places one sub-step apart [m].
pub fn stop_approach(contacts: &[FeatureContact], done: &[Done], moved: &ContactMotion, after: &mut [Vec4]) {
    for (contact, _) in contacts.iter().zip(done).filter(|(_, done)| done.push > 0.0) {
        let (n, before) = (contact.normal, &moved.before[..after.len()]);
        let approach = n.dot(contact.between(before, moved.bodies[0]) - contact.between(after, moved.bodies[1]));
        if approach > 0.0 {
            let parting = Correction::of(approach, &Done::default(), contact.advance(moved, after));
            for (k, &point) in contact.points.iter().enumerate().filter(|(k, _)| contact.drags[*k] != 0.0) {
                let along = contact.moves[k] * parting.stopped + contact.drags[k] * parting.by_both;
                after[point as usize] += Vec4::from(along * n);
            }
        }
    }
}
