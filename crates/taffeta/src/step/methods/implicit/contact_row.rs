//! One contact of an implicit stage: its push, its friction, and what both are in a system.

use crate::math::{DMat3, DVec3, Vec4};
use crate::solve::sparse::matrix::BlockMatrix;

/// Share of the largest friction within which a point slides.
const AT_LIMIT: f64 = 1e-9;
/// In place of a collider: a contact of features, which is not remembered.
pub(super) const OF_FEATURES: u32 = u32::MAX;

/// A point Σ w_i x_i of cloth that comes near to something: a solid, or cloth again (then weights of both sides add up to 0).
#[derive(Debug, Clone, Copy)]
pub struct ContactPoint {
    /// The particles; those with the weight 0 do not count.
    pub particles: [u32; 4],
    /// Their weights [1].
    pub weights: [f64; 4],
    /// Unit vector away from the other side.
    pub normal: DVec3,
    /// Where the other side is at the end [m].
    pub other: DVec3,
    /// How far it moves in the sub-step [m].
    pub carried: DVec3,
    /// The distance to be kept [m].
    pub distance: f64,
    /// Coulomb friction [1].
    pub friction: f64,
    /// Force of friction on the point when it was last held [N]; 0 if it is new.
    pub held: DVec3,
    /// Pressure when it was last held [N].
    pub pressure: f64,
}

/// What a contact does along the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FrictionState {
    Stuck,
    /// Along a direction, this far from where it stuck [m].
    Sliding(DVec3, f64),
}

/// A contact in the system.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactRow {
    pub contact: ContactPoint,
    /// The collider it is with, or `OF_FEATURES`.
    pub collider: u32,
    /// Whether it pushes along the normal.
    pub pushes: bool,
    pub grip: FrictionState,
    /// Whether sliding is taken by its secant: a force in proportion to the slip.
    pub secant: bool,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Where the point is if velocities were 0, and how far from where it stuck it is then [m].
    point: DVec3,
    pub slip: DVec3,
    /// The force that it had in the system where the last pass led [N].
    pub had: DVec3,
}

/// Where a stage starts and how long it takes.
#[derive(Clone, Copy)]
pub(super) struct ContactReach<'a> {
    /// The duration by which velocities lead to the end [s].
    pub h: f64,
    /// Positions at the start [m].
    pub x: &'a [Vec4],
    /// x̃, from which velocities lead to the end [m].
    pub start: &'a [Vec4],
    /// How far what is too near parts at most, so that it does not jump [m].
    pub parting: f64,
}

impl ContactReach<'_> {
    pub fn end(&self, i: usize, v: &[Vec4]) -> DVec3 {
        (self.start[i] + v[i] * self.h).xyz()
    }
}

impl ContactPoint {
    pub fn members(&self) -> impl Iterator<Item = (&u32, &f64)> {
        self.particles.iter().zip(&self.weights).filter(|(_, w)| **w != 0.0)
    }

    fn point(&self, of: impl Fn(usize) -> DVec3) -> DVec3 {
        self.members().fold(DVec3::ZERO, |sum, (i, w)| sum + of(*i as usize) * *w)
    }

    /// n nᵀ.
    pub fn normals(&self) -> DMat3 {
        let n = self.normal;
        DMat3::from_cols(n * n.x, n * n.y, n * n.z)
    }

    /// The part of a vector along the surface.
    pub fn along(&self, vector: DVec3) -> DVec3 {
        vector - self.normal * vector.dot(self.normal)
    }
}

impl ContactRow {
    /// The part of a force that is friction [N]; without friction there is none but by roundings.
    pub fn rubs(&self, force: DVec3) -> f64 {
        if self.contact.friction > 0.0 { self.contact.along(force).length() } else { 0.0 }
    }

    pub fn new(
        contact: ContactPoint,
        (collider, stiffer): (u32, f64),
        reach: &ContactReach,
        v: &[Vec4],
        matrix: &BlockMatrix,
    ) -> Self {
        let trace = |i: u32| {
            let block = matrix.diagonal(i);
            block.x_axis.x + block.y_axis.y + block.z_axis.z
        };
        let yields: f64 = contact.members().map(|(i, w)| w * w / trace(*i)).sum();
        let stiffness = stiffer / (yields * reach.h * reach.h);
        let point = contact.point(|i| reach.start[i].xyz());
        let moved = point - contact.point(|i| reach.x[i].xyz()) - contact.carried;
        // The force that holds says how far the point is from where it stuck.
        let slip = contact.along(moved - contact.held / stiffness);
        let mut row = Self {
            contact,
            collider,
            pushes: true,
            grip: FrictionState::Stuck,
            secant: false,
            stiffness,
            point,
            slip,
            had: DVec3::ZERO,
        };
        row.grip = row.first_grip(row.moved(reach, v));
        row
    }

    /// Whoever slid goes on sliding, whoever was held tries to hold. Under a pressure that nobody knows yet nothing holds.
    pub fn first_grip(&self, moved: DVec3) -> FrictionState {
        let ContactPoint { friction, pressure, held, .. } = self.contact;
        if held.length() < friction * pressure * (1.0 - AT_LIMIT) {
            FrictionState::Stuck
        } else {
            self.grip_at(moved)
        }
    }

    /// How far velocities move the point [m].
    pub fn moved(&self, reach: &ContactReach, v: &[Vec4]) -> DVec3 {
        self.contact.point(|i| v[i].xyz()) * reach.h
    }

    /// How far from the other side it is then [m].
    fn gap(&self, moved: DVec3) -> f64 {
        (self.point + moved - self.contact.other).dot(self.contact.normal)
    }

    /// B and f: the force on the point is f - B × how far it moves.
    pub fn linear(&self) -> (DMat3, DVec3) {
        let ContactPoint { normal: n, other, distance, friction, pressure, .. } = self.contact;
        let normals = self.contact.normals();
        let tangents = DMat3::IDENTITY - normals;
        // Along normal and surface it is equally stiff.
        let (mut block, mut force) = match self.grip {
            FrictionState::Stuck => (tangents * self.stiffness, self.slip * -self.stiffness),
            FrictionState::Sliding(_, slip) if self.secant => {
                let block = tangents * (friction * pressure / slip);
                (block, block * -self.slip)
            }
            FrictionState::Sliding(d, slip) => {
                let across =
                    (tangents - DMat3::from_cols(d * d.x, d * d.y, d * d.z)) * (friction * pressure / slip);
                (across, d * (-friction * pressure) - across * self.slip)
            }
        };
        if self.pushes {
            block += normals * self.stiffness;
            force += n * (self.stiffness * (distance - (self.point - other).dot(n)));
        }
        (block, force)
    }

    /// How it holds where the point has moved that far, under the pressure so far.
    fn grip_at(&self, moved: DVec3) -> FrictionState {
        let slip = self.slip + self.contact.along(moved);
        let (far, most) = (slip.length(), self.contact.friction * self.contact.pressure);
        if most == 0.0 {
            return FrictionState::Sliding(DVec3::ZERO, 1.0);
        }
        if self.stiffness * far <= most {
            FrictionState::Stuck
        } else {
            FrictionState::Sliding(slip / far, far)
        }
    }

    /// How hard it pushes where the point has moved that far [N].
    pub fn push(&self, moved: DVec3) -> f64 {
        (self.stiffness * (self.contact.distance - self.gap(moved))).max(0.0)
    }

    /// Friction where the point has moved that far, under the pressure so far [N].
    fn drag(&self, moved: DVec3) -> DVec3 {
        let ContactPoint { friction, pressure, .. } = self.contact;
        ((self.slip + self.contact.along(moved)) * -self.stiffness).clamp_length_max(friction * pressure)
    }

    /// Energy of the push and of what is held or dragged [J].
    pub fn energy(&self, moved: DVec3) -> f64 {
        let ContactPoint { friction, pressure, .. } = self.contact;
        let most = friction * pressure;
        let slip = (self.slip + self.contact.along(moved)).length();
        let held = slip.min(most / self.stiffness);
        0.5 * self.push(moved).powi(2) / self.stiffness
            + 0.5 * self.stiffness * held * held
            + most * (slip - held)
    }

    pub fn force(&self, moved: DVec3) -> DVec3 {
        self.drag(moved) + self.contact.normal * self.push(moved)
    }

    /// The pressure becomes the one that balanced all forces. How deep a point got that nothing held says nothing of the pressure that will.
    pub fn follow_pressure(&mut self, moved: DVec3) {
        self.contact.pressure = if self.pushes { self.push(moved) } else { 0.0 };
    }

    /// The row becomes as the law says where the point has moved that far.
    pub fn settle(&mut self, moved: DVec3) {
        self.contact.held = self.drag(moved);
        (self.pushes, self.grip) = (self.push(moved) > 0.0, self.grip_at(moved));
    }
}
