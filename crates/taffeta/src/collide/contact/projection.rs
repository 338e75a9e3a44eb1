//! Places where two features are near, answered inside the iteration of a method: push apart, hold below the friction limit.

use crate::collide::broad_phase::candidates::Pair;
use crate::collide::ccd::distance::{PairKind, closest};
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
    /// How far each point moves if the features part by one metre [1]; 0 for what is pinned or part of a body.
    pub moves: [f64; 4],
    /// Unit vector from the second to the first.
    pub normal: DVec3,
    /// The distance that they keep [m].
    pub distance: f64,
    /// Coulomb friction [1].
    pub friction: f64,
}

/// What contacts have done so far in a sub-step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    /// How far they have parted the features, at least 0 [m].
    pub push: f64,
    /// How far they have moved them along one another, at most friction times the push [m].
    pub grip: DVec3,
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
        let near = closest(pair.kind, &pair.points.map(|p| points[p as usize]));
        // Edges that are nearest at an end are nearer still as a point and a face.
        if pair.kind == PairKind::EdgeEdge && near.weights.contains(&0.0) {
            return None;
        }
        let gap = near.vector.length();
        if gap <= 0.0 {
            return None;
        }
        let ends = [pair.points[0], pair.points[3]].map(|p| surface.object_of_point(p));
        let mut kept = surface.between(ends[0], ends[1]);
        let (first, second) = pair.points.split_at(if pair.kind == PairKind::EdgeEdge { 2 } else { 1 });
        if surface.are_sewn(first, second) {
            kept.distance = 0.5 * (kept.distance + kept.floor);
        }
        let inverse = pair.points.map(|p| inverse_mass.get(p as usize).copied().unwrap_or(0.0));
        let weights = near.weights;
        let both: f64 = (0..4).map(|k| weights[k] * weights[k] * inverse[k]).sum();
        let contact = Self {
            points: pair.points,
            weights,
            moves: std::array::from_fn(|k| if both > 0.0 { weights[k] * inverse[k] / both } else { 0.0 }),
            normal: near.vector / gap,
            distance: kept.distance,
            friction: kept.friction,
        };
        (both > 0.0 && gap < kept.distance + reach(&contact)).then_some(contact)
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
        let kept = contact.distance.min(n.dot(from) + moved.params.parting_speed * moved.h);
        let push = (done.push + kept - gap).max(0.0);
        let slip = to - from;
        let wanted = done.grip - (slip - n.dot(slip) * n);
        let (length, limit) = (wanted.length(), contact.friction * push);
        let grip = if length > limit { wanted * (limit / length) } else { wanted };
        let way = (push - done.push) * n + (grip - done.grip);
        *done = Done { push, grip };
        any |= way != DVec3::ZERO;
        for (&point, moves) in contact.points.iter().zip(contact.moves) {
            if moves != 0.0 {
                after[point as usize] += Vec4::from(moves * way);
                touched(point as usize, moves * way);
            }
        }
    }
    any
}
