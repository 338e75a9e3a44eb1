//! Contact and friction in the incremental potential: barriers between all that is near, and friction by the pushes of a moment before (IPC, §4 and §5).

use crate::collide::contact::near_features::{NearFeatures, NearPair};
use crate::collide::contact::smooth_friction::SmoothFriction;
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::Model;
use crate::solve::sparse::matrix::BlockMatrix;
use crate::solve::sparse::rank_one::Coupling;

/// All contacts of a sub-step.
#[derive(Debug)]
pub(super) struct BarrierContacts {
    pub near: NearFeatures,
    /// What pushes at the last place that was asked for.
    list: Vec<NearPair>,
    rubs: Vec<LaggedFriction>,
    /// Room for forces of friction on all points [N].
    forces: [Vec<Vec4>; 2],
    /// Particles of the model; points of bodies follow.
    particles: usize,
    /// How far a contact gives before it slides [m].
    give: f64,
}

/// Friction of one contact, by its push when it was listed.
#[derive(Debug, Clone, Copy)]
struct LaggedFriction {
    points: [u32; 4],
    weights: [f64; 4],
    /// How far a half-space carries what lies on it in all of the sub-step [m].
    carries: DVec3,
    friction: SmoothFriction,
}

/// Where all points are: now and at the start of the sub-step [m], and which share of its way all that is led has gone [1].
#[derive(Clone, Copy)]
pub(super) struct PlacedPoints<'a> {
    pub x: &'a [Vec4],
    pub start: &'a [Vec4],
    pub led: f64,
}

impl LaggedFriction {
    /// How far both sides have moved against each other [m].
    fn way(&self, at: &PlacedPoints) -> DVec3 {
        let members = self.points.iter().zip(&self.weights).map(|(p, w)| (*p as usize, *w));
        members.fold(self.carries * -at.led, |sum, (p, w)| sum + (at.x[p] - at.start[p]).xyz() * w)
    }
}

impl BarrierContacts {
    pub fn new(model: &Model, near: NearFeatures) -> Self {
        let room = vec![Vec4::ZERO; near.points()];
        let (list, rubs, particles) = (Vec::new(), Vec::new(), model.particle_count());
        Self { near, list, rubs, forces: [room.clone(), room], particles, give: 0.0 }
    }

    /// Begins a sub-step in which a contact gives by so much before it slides [m].
    pub fn begin(&mut self, give: f64, at: &PlacedPoints) {
        self.give = give;
        self.list_near(at);
        self.rubs.clear();
        self.renew_friction(at);
    }

    /// Lists what pushes.
    pub fn list_near(&mut self, at: &PlacedPoints) {
        let Self { near, list, .. } = self;
        list.clear();
        near.each_near(at.x, at.led, |pair| list.push(pair));
    }

    /// Takes the pushes that were last listed for those of friction; returns the share of all friction that there can be by which forces were wrong before [1].
    pub fn renew_friction(&mut self, at: &PlacedPoints) -> f64 {
        let Self { list, rubs, forces: [before, after], particles, give, .. } = self;
        rub(rubs, at, before);
        rubs.clear();
        rubs.extend(list.iter().filter(|pair| pair.friction > 0.0).map(|pair| LaggedFriction {
            points: pair.points,
            weights: pair.repulsion.weights,
            carries: pair.carries,
            friction: SmoothFriction {
                normal: pair.repulsion.normal,
                limit: pair.friction * pair.repulsion.push,
                give: *give,
            },
        }));
        rub(rubs, at, after);
        let forces = before[..*particles].iter().zip(&after[..*particles]);
        let changed: f64 = forces.map(|(before, after)| (*before - *after).xyz().length()).sum();
        let most: f64 = rubs.iter().map(|rub| rub.friction.limit).sum();
        if changed > 0.0 { changed / most.max(f64::MIN_POSITIVE) } else { 0.0 }
    }

    /// Energy of barriers and friction [J].
    pub fn energy(&self, at: &PlacedPoints) -> f64 {
        let mut energy = 0.0;
        self.near.each_near(at.x, at.led, |pair| energy += pair.repulsion.energy);
        energy + self.rubs.iter().map(|rub| rub.friction.energy(rub.way(at))).sum::<f64>()
    }

    /// Adds forces of what was last listed to particles [N].
    pub fn add_forces(&mut self, at: &PlacedPoints, sum: &mut [Vec4]) {
        for pair in &self.list {
            for (p, gradient) in pair.points.iter().zip(pair.repulsion.gradient) {
                if let Some(sum) = sum.get_mut(*p as usize) {
                    *sum += (-gradient).into();
                }
            }
        }
        let forces = &mut self.forces[0];
        rub(&self.rubs, at, forces);
        sum.iter_mut().zip(&*forces).for_each(|(sum, force)| *sum += *force);
    }

    /// Adds h² K of what was last listed to a matrix for velocities, and to its right-hand side what the rest of the `ways` of all that is led does, if the step leads it on [m].
    pub fn add_to(
        &self,
        h: f64,
        at: &PlacedPoints,
        (ways, leads): (&[Vec4], bool),
        (matrix, rhs): (&mut BlockMatrix, &mut [Vec4]),
    ) {
        let led = |points: &[u32; 4], weights: &[f64; 4]| {
            let members = points.iter().zip(weights).filter(|(p, _)| **p as usize >= self.particles);
            members.fold(DVec3::ZERO, |sum, (p, w)| sum + ways[*p as usize].xyz() * *w)
        };
        let mut couple = |points: &[u32; 4], weights: &[f64; 4], block: DMat3, led: DVec3| {
            let is_particle = |k: usize| (points[k] as usize) < self.particles;
            let coupling = Coupling {
                particles: std::array::from_fn(|k| if is_particle(k) { points[k] } else { 0 }),
                weights: std::array::from_fn(|k| if is_particle(k) { weights[k] } else { 0.0 }),
                block: block * (h * h),
            };
            let push = block * led * -h;
            for (p, w) in coupling.particles.iter().zip(&coupling.weights) {
                rhs[*p as usize] += (push * *w).into();
            }
            matrix.couple(coupling);
        };
        for NearPair { points, repulsion, recedes, .. } in &self.list {
            let (n, weights) = (repulsion.normal, &repulsion.weights);
            let block = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * repulsion.curvature;
            couple(points, weights, block, led(points, weights) + n * (if leads { *recedes } else { 0.0 }));
        }
        for rub in &self.rubs {
            let LaggedFriction { points, weights, carries, friction } = rub;
            couple(
                points,
                weights,
                friction.block(rub.way(at)),
                led(points, weights) - *carries * (if leads { 1.0 - at.led } else { 0.0 }),
            );
        }
    }

    /// Tells how hard bodies press on every particle, of what was last listed [N].
    pub fn pushes_of_bodies(&self, mut tell: impl FnMut(usize, f64)) {
        for pair in self.list.iter().filter(|pair| pair.of_body) {
            for (p, w) in pair.points.iter().zip(&pair.repulsion.weights) {
                if (*p as usize) < self.particles && *w != 0.0 {
                    tell(*p as usize, w.abs() * pair.repulsion.push);
                }
            }
        }
    }

    /// How many contacts push.
    pub fn touching(&self) -> u32 {
        self.list.len() as u32
    }
}

/// Sets forces of friction [N].
fn rub(rubs: &[LaggedFriction], at: &PlacedPoints, forces: &mut [Vec4]) {
    forces.fill(Vec4::ZERO);
    for rub in rubs {
        let force = rub.friction.gradient(rub.way(at)) * -1.0;
        for (p, w) in rub.points.iter().zip(&rub.weights) {
            forces[*p as usize] += (force * *w).into();
        }
    }
}
