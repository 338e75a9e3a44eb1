//! Contacts inside an implicit stage: stiff rows in its system (P4's second matrix), with friction that holds.
//!
//! Along the normal a contact is a stiff spring that only pushes. Along the surface it is a spring to the point where it stuck, whose force is
//! never more than friction times the pressure: beyond that the point is dragged along (return mapping, as in plasticity). Below the
//! limit nothing creeps, and every row is symmetric and resists. With the limits held, all that is the slope of a convex energy, whose lowest place
//! says which contacts push, stick and slide. It is found by solving again from the solution at hand, first from velocities at which nothing is
//! deep: from there the energy bounds all that a pass can do. Where forces are nearly those of the lowest place, limits follow the pressures
//! there, until the forces that the solution was found with are those that it asks for.

use super::contact_row::{ContactPoint, ContactReach, ContactRow, FrictionState, OF_FEATURES};
use super::particles::OrderedParticles;
use crate::collide::MovingBody;
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::Model;
use crate::model::memory::HeldContact;
use crate::model::params::ImplicitParams;
use crate::solve::sparse::matrix::BlockMatrix;
use crate::solve::sparse::rank_one::Coupling;
use crate::step::boundary::Boundary;

/// Share of all pressure below which a force is round-off; and of what rows would push if their points had not moved, for there they start.
const ROUNDING: [f64; 2] = [1e-12, 8.0 * f64::EPSILON];

/// All contacts of a stage.
#[derive(Debug)]
pub(super) struct ContactRows {
    params: ImplicitParams,
    rows: Vec<ContactRow>,
    /// Whether a particle has a row with a collider, `[particle × colliders + collider]`.
    listed: Vec<bool>,
    /// Diagonal and right-hand side as they were before rows were added.
    before: Vec<(u32, DMat3, Vec4)>,
    /// By how much forces were wrong after the last pass, along normals and along surfaces [N].
    left: [f64; 2],
}

impl ContactRows {
    pub fn new(model: &Model) -> Self {
        let (particles, colliders) = (model.cloth_particle_count(), model.colliders.len());
        // In contact every particle may have a row, and some two.
        let room = if colliders == 0 { 0 } else { 2 * particles };
        Self {
            params: model.params.implicit,
            rows: Vec::with_capacity(room),
            listed: vec![false; particles * colliders],
            before: Vec::with_capacity(room),
            left: [0.0; 2],
        }
    }

    /// Forgets all rows and finds those that touched, where velocities `v` lead, and those that will where `falling` leads.
    pub fn begin(
        &mut self,
        boundary: &Boundary,
        particles: &OrderedParticles,
        reach: &ContactReach,
        [v, falling]: [&[Vec4]; 2],
        memory: &[HeldContact],
        matrix: &BlockMatrix,
    ) {
        self.listed.fill(false);
        self.rows.clear();
        self.before.clear();
        self.find(boundary, particles, reach, v, matrix, Some(memory));
        self.find(boundary, particles, reach, falling, matrix, None);
    }

    /// Velocities of particles that touched go along with what they touched, as far as their distance from it.
    pub fn go_along(&self, reach: &ContactReach, v: &mut [Vec4]) {
        for row in self.rows.iter().filter(|row| row.contact.pressure > 0.0 && row.collider != OF_FEATURES) {
            let ContactPoint { particles: [i, ..], normal, carried, .. } = row.contact;
            let end = reach.end(i as usize, v) - reach.x[i as usize].xyz();
            v[i as usize] += (normal * ((carried - end).dot(normal) / reach.h)).into();
        }
    }

    /// Lets rows push that have a pressure, or do where velocities `v` lead. No force there is known to be right.
    pub fn restart(&mut self, reach: &ContactReach, v: &[Vec4]) {
        self.doubt();
        for row in &mut self.rows {
            let moved = row.moved(reach, v);
            row.pushes = row.contact.pressure > 0.0 || row.push(moved) > 0.0;
            row.grip = row.first_grip(moved);
            row.secant = false;
        }
    }

    /// The system has changed: until a pass has gone some of its way all forces are wrong.
    pub fn doubt(&mut self) {
        self.left = [f64::INFINITY; 2];
    }

    /// Adds a row for every particle that would come too near to a solid and has none yet; with a memory for those that touched instead.
    fn find(
        &mut self,
        boundary: &Boundary,
        particles: &OrderedParticles,
        reach: &ContactReach,
        v: &[Vec4],
        matrix: &BlockMatrix,
        memory: Option<&[HeldContact]>,
    ) {
        let (Self { params: own_params, rows, listed, .. }, bodies) = (self, &boundary.bodies);
        let (looked_at, stiffness) = (own_params.looked_at, own_params.contact_stiffness);
        for i in (0..v.len()).filter(|i| !particles.pinned[*i] && !bodies.is_empty()) {
            let end = reach.end(i, v);
            let own = memory.map(|memory| memory[i]);
            for (c, body, params) in boundary.solids(particles.cloth[i] as usize) {
                let another = own.is_some_and(|own| own.solid as usize != c + 1);
                if another || listed[i * bodies.len() + c] {
                    continue;
                }
                let within = if own.is_some() { looked_at * params.distance } else { params.distance };
                let Some(near) = body.contact(end, within) else { continue };
                listed[i * bodies.len() + c] = true;
                let contact = ContactPoint {
                    particles: [i as u32, 0, 0, 0],
                    weights: [1.0, 0.0, 0.0, 0.0],
                    normal: near.normal,
                    other: end - near.normal * near.gap,
                    carried: near.after - near.before,
                    distance: kept(body, params.distance, reach.x[i].xyz(), reach.parting),
                    friction: params.friction,
                    held: own.map_or(DVec3::ZERO, |own| own.friction),
                    pressure: own.map_or(0.0, |own| own.pressure),
                };
                rows.push(ContactRow::new(contact, (c as u32, stiffness), reach, v, matrix));
            }
        }
    }

    /// Adds rows for contacts of features, if any of them pushes where velocities `v` lead; whether one does.
    pub fn add_features(
        &mut self,
        features: impl Iterator<Item = ContactPoint>,
        reach: &ContactReach,
        v: &[Vec4],
        matrix: &BlockMatrix,
    ) -> bool {
        let known = self.rows.len();
        let mut any = false;
        for feature in features {
            let mut row =
                ContactRow::new(feature, (OF_FEATURES, self.params.feature_stiffness), reach, v, matrix);
            row.pushes = row.push(row.moved(reach, v)) > 0.0;
            any |= row.pushes;
            self.rows.push(row);
        }
        if !any {
            self.rows.truncate(known);
        }
        any
    }

    /// Takes all contacts of features away.
    pub fn drop_features(&mut self) {
        self.rows.retain(|row| row.collider != OF_FEATURES);
    }

    /// Adds all rows to a system.
    pub fn add_rows(&mut self, h: f64, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        for row in &self.rows {
            let contact = &row.contact;
            let (block, force) = row.linear();
            for (&i, &w) in contact.members() {
                self.before.push((i, matrix.diagonal(i), rhs[i as usize]));
                rhs[i as usize] += (force * (h * w)).into();
            }
            let ContactPoint { particles, weights, .. } = *contact;
            matrix.couple(Coupling { particles, weights, block: block * (h * h) });
        }
    }

    /// Takes all rows out again.
    pub fn remove_rows(&mut self, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        matrix.clear_couplings();
        for (i, diagonal, right) in self.before.drain(..).rev() {
            matrix.set_diagonal_block(i, diagonal);
            rhs[i as usize] = right;
        }
    }

    /// Holds all rows against velocities `v`, to which a pass has gone a `share` of its way: the share by which forces are not those that the
    /// law asks for, and whether that is so little that pressures, and with them the limits of friction, have followed. Rows are then as the
    /// law asks.
    pub fn update_active_set(
        &mut self,
        boundary: &Boundary,
        particles: &OrderedParticles,
        reach: &ContactReach,
        v: &[Vec4],
        matrix: &BlockMatrix,
        share: f64,
    ) -> (f64, bool) {
        let known = self.rows.len();
        self.find(boundary, particles, reach, v, matrix, None);
        let missed: f64 = self.rows[known..].iter().map(|row| row.push(row.moved(reach, v))).sum();
        for row in &mut self.rows[..known] {
            let (block, force) = row.linear();
            row.had = force - block * row.moved(reach, v);
        }
        let wrong = self.wrong(known, missed, reach, v);
        // What a pass did not go of its way is still as wrong as it was, at most all of it.
        let all = self.in_system(known);
        let left: [f64; 2] = std::array::from_fn(|k| (1.0 - share) * self.left[k].min(all[k]));
        self.left = std::array::from_fn(|k| left[k] + wrong[k]);
        let mut error = self.share(self.left, missed, reach, v);
        let settled = error <= self.params.settled;
        if settled {
            self.rows[..known].iter_mut().for_each(|row| row.follow_pressure(row.moved(reach, v)));
            let wrong = self.wrong(known, missed, reach, v);
            self.left = std::array::from_fn(|k| left[k] + wrong[k]);
            error = error.max(self.share(self.left, missed, reach, v));
        }
        for row in &mut self.rows {
            row.settle(row.moved(reach, v));
            row.secant &= share < 1.0;
        }
        (error, settled)
    }

    /// All forces that were in the system, along the normals and along the surfaces [N].
    fn in_system(&self, known: usize) -> [f64; 2] {
        let mut all = [0.0; 2];
        for row in &self.rows[..known] {
            all[0] += row.had.dot(row.contact.normal).abs();
            all[1] += row.rubs(row.had);
        }
        all
    }

    /// By how much forces that were in the system are not those that the law asks for where velocities `v` lead, under the pressures so far,
    /// along the normals and along the surfaces [N].
    fn wrong(&self, known: usize, missed: f64, reach: &ContactReach, v: &[Vec4]) -> [f64; 2] {
        let mut wrong = [missed, 0.0];
        for row in &self.rows[..known] {
            let error = row.force(row.moved(reach, v)) - row.had;
            wrong[0] += error.dot(row.contact.normal).abs();
            wrong[1] += row.rubs(error);
        }
        wrong
    }

    /// Forces that are wrong [N] as a share of all pressure, or of all friction that there can be.
    fn share(&self, wrong: [f64; 2], missed: f64, reach: &ContactReach, v: &[Vec4]) -> f64 {
        let (mut all, mut away) = ([missed, 0.0], 0.0);
        for row in &self.rows {
            let moved = row.moved(reach, v);
            all[0] += row.push(moved);
            all[1] += row.contact.friction * row.contact.pressure;
            away += row.stiffness * moved.length();
        }
        let rounding = ROUNDING[0] * all[0] + ROUNDING[1] * away;
        let share = |k: usize| if wrong[k] > rounding { wrong[k] / all[k] } else { 0.0 };
        share(0).max(share(1))
    }

    /// Rows that would slide back over where they stuck on the way to a full solution `v` are held by their secants in the next pass: they
    /// then do not shorten it.
    pub fn note_overshoot(&mut self, reach: &ContactReach, v: &[Vec4]) {
        for row in &mut self.rows {
            if let FrictionState::Sliding(d, _) = row.grip {
                let slip = row.slip + row.contact.along(row.moved(reach, v));
                row.secant = slip.dot(d) < 0.0;
            }
        }
    }

    /// Energy of contacts where velocities `v` lead, with friction as at the pressures so far [J].
    pub fn energy(&self, reach: &ContactReach, v: &[Vec4]) -> f64 {
        self.rows.iter().map(|row| row.energy(row.moved(reach, v))).sum()
    }

    /// Work that contacts do per share of the way from velocities `from` to `to`, at a share of it, with friction as at the pressures so far [J].
    pub fn work(&self, reach: &ContactReach, from: &[Vec4], to: &[Vec4], share: f64) -> f64 {
        let work = |row: &ContactRow| {
            let start = row.moved(reach, from);
            let way = row.moved(reach, to) - start;
            row.force(start + way * share).dot(way)
        };
        self.rows.iter().map(work).sum()
    }

    /// Whether anything is near.
    pub fn any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Writes down what is to be remembered; how many points touch.
    pub fn remember(&self, memory: &mut [HeldContact]) -> u32 {
        memory.fill(HeldContact::default());
        let mut touching = 0;
        for row in self.rows.iter().filter(|row| row.contact.pressure > 0.0 && row.collider != OF_FEATURES) {
            let ContactPoint { particles, held, pressure, .. } = row.contact;
            touching += 1;
            let own = &mut memory[particles[0] as usize];
            // Of several solids the one that presses most.
            if pressure > own.pressure {
                *own = HeldContact { friction: held, pressure, solid: row.collider + 1 };
            }
        }
        touching
    }

    /// Tells which forces of bodies push particles along their normals [N].
    pub fn pushes_of_bodies(&self, mut tell: impl FnMut(usize, f64)) {
        for ContactRow { contact, .. } in self.rows.iter().filter(|row| row.contact.pressure > 0.0) {
            // Weights of cloth that meets cloth add up to 0, those of a side to 1.
            if contact.weights.iter().sum::<f64>().abs() > 0.5 {
                contact.members().for_each(|(i, w)| tell(*i as usize, w.abs() * contact.pressure));
            }
        }
    }

    /// Velocities of points that are held become those of what holds them, where a method's own are not the way they went. Who is held is
    /// told, with the part of motion that is: all of it, or that along the normal.
    pub fn hold(&self, duration: f64, v: &mut [Vec4], mut tell: impl FnMut(usize, DMat3)) {
        let pressed = || self.rows.iter().filter(|row| row.contact.pressure > 0.0);
        // Features hold a point between particles, which have velocities of their own.
        for row in pressed().filter(|row| row.collider == OF_FEATURES) {
            row.contact.members().for_each(|(i, _)| tell(*i as usize, row.contact.normals()));
        }
        for row in pressed().filter(|row| row.collider != OF_FEATURES) {
            let ContactPoint { particles, carried, .. } = row.contact;
            let held = match row.grip {
                FrictionState::Stuck => DMat3::IDENTITY,
                _ => row.contact.normals(),
            };
            let own = &mut v[particles[0] as usize];
            *own = (own.xyz() + held * (carried / duration - own.xyz())).into();
            tell(particles[0] as usize, held);
        }
    }

    /// Adds h times the forces that the law asks for where velocities `v` lead.
    pub fn forces(&self, reach: &ContactReach, v: &[Vec4], sum: &mut [Vec4]) {
        for row in &self.rows {
            let mut asked = *row;
            let moved = row.moved(reach, v);
            asked.follow_pressure(moved);
            let force = asked.force(moved);
            row.contact.members().for_each(|(i, w)| sum[*i as usize] += (force * (reach.h * w)).into());
        }
    }
}

/// Moves particles that are still too near to a solid out of it, and takes the approach out of their velocities. `before` is where they
/// were at the start [m], `parting` how far what was too near parts [m].
pub(super) fn keep_out(
    boundary: &Boundary,
    allowed_depth: f64,
    particles: &OrderedParticles,
    before: &[Vec4],
    [x, v]: [&mut [Vec4]; 2],
    (duration, parting): (f64, f64),
) {
    for i in (0..x.len()).filter(|i| !particles.pinned[*i]) {
        for (_, body, params) in boundary.solids(particles.cloth[i] as usize) {
            let (end, allowed) = (x[i].xyz(), allowed_depth * params.distance);
            let Some(near) = body.contact(end, params.distance - allowed) else { continue };
            let distance = kept(body, params.distance, before[i].xyz(), parting);
            if near.gap >= distance - allowed {
                continue;
            }
            let surface = (end - near.before) / duration;
            let approach = (v[i].xyz() - surface).dot(near.normal).min(0.0);
            x[i] = (end + near.normal * (distance - near.gap)).into();
            v[i] = (v[i].xyz() - near.normal * approach).into();
        }
    }
}

/// The distance that a point keeps from a body at the end of a sub-step, at the start of which it is at `from`: where it was nearer than that
/// it parts slowly [m].
fn kept(body: &MovingBody, distance: f64, from: DVec3, parting: f64) -> f64 {
    let still = MovingBody { before: body.before, after: body.before };
    still.contact(from, distance).map_or(distance, |near| distance.min(near.gap + parting))
}
