//! Places where two features are near, answered inside the iteration of a method: push apart, hold below the friction limit.

use crate::collide::broad_phase::candidates::Pair;
use crate::collide::ccd::distance::{Closest, PairKind, closest};
use crate::collide::surface::CollisionSurface;
use crate::math::{DVec3, Vec4};
use crate::model::params::CollisionParams;

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
    /// How far the features part, and move along one another, by an impulse [1/kg].
    pub give: f64,
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
    ) -> Option<Self> {
        let (contact, gap) = Self::at(surface, pair, &pair.points.map(|p| points[p as usize]), inverse_mass)?;
        // Edges of one thing that are nearest at an end are nearer still as a point and a face. Round bodies have no faces.
        let at_an_end = pair.kind == PairKind::EdgeEdge && contact.weights.contains(&0.0);
        let of_one = || surface.object_of_point(pair.points[0]) == surface.object_of_point(pair.points[3]);
        (gap < contact.distance + reach(&contact) && !(at_an_end && of_one())).then_some(contact)
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
        let both: f64 = (0..4).map(|k| weights[k] * weights[k] * inverse[k]).sum();
        if gap <= 0.0 || both <= 0.0 {
            return None;
        }
        let [a, b] = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        let kept = surface.between(a, b);
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
        };
        Some((contact, gap))
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
        let give: f64 = (0..4).map(|k| self.weights[k] * self.weights[k] * inverse[k]).sum();
        if give > 0.0 {
            (self.give, self.upper) = (give, Some(upper));
            self.moves = std::array::from_fn(|k| self.weights[k] * inverse[k] / give);
        }
    }

    /// Σ weights x over positions of particles and of bodies.
    pub fn between(&self, particles: &[Vec4], bodies: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (&point, weight) in self.points.iter().zip(self.weights) {
            let point = point as usize;
            sum += weight * particles.get(point).map_or_else(|| bodies[point - particles.len()], |p| p.xyz());
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
    /// Duration [s].
    pub h: f64,
    /// The tuned numbers.
    pub params: CollisionParams,
}

/// One sweep over all contacts in their order: `after` are the particles at the end of the sub-step, and `touched` is told who touches and was moved how far [m]. Returns whether anything was moved.
pub fn project(
    contacts: &[FeatureContact],
    done: &mut [Done],
    moved: &ContactMotion,
    after: &mut [Vec4],
    mut touched: impl FnMut(usize, DVec3),
) -> bool {
    let mut any = false;
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
        let push = (done.push + kept - gap).max(0.0);
        let slip = to - from;
        let wanted = done.grip - (slip - n.dot(slip) * n);
        let whole_push = push * (contact.whole_give / contact.give) + done.load;
        let (length, limit) = (wanted.length(), contact.friction * whole_push);
        let grip = if length > limit { wanted * (limit / length) } else { wanted };
        let (parted, held) = ((push - done.push) * n, grip - done.grip);
        (done.push, done.grip) = (push, grip);
        any |= parted != DVec3::ZERO || held != DVec3::ZERO;
        for (k, &point) in contact.points.iter().enumerate() {
            if contact.drags[k] != 0.0 {
                let way = contact.moves[k] * parted + contact.drags[k] * held;
                after[point as usize] += Vec4::from(way);
                touched(point as usize, way);
            }
        }
    }
    any
}

/// Takes away with which velocity features still come nearer that were pushed apart: `before` and `after` are places one sub-step apart [m].
pub fn stop_approach(contacts: &[FeatureContact], done: &[Done], moved: &ContactMotion, after: &mut [Vec4]) {
    for (contact, _) in contacts.iter().zip(done).filter(|(_, done)| done.push > 0.0) {
        let from = contact.between(&moved.before[..after.len()], moved.bodies[0]);
        let approach = contact.normal.dot(from - contact.between(after, moved.bodies[1]));
        if approach > 0.0 {
            for (&point, moves) in contact.points.iter().zip(contact.moves).filter(|(_, moves)| *moves != 0.0) {
                after[point as usize] += Vec4::from(approach * moves * contact.normal);
            }
        }
    }
}
