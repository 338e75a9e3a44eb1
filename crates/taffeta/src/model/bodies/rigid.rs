//! Free bodies as four particles each: masses, centres and axes of solids, and the rigid placement of four points.
//!
//! Four equal masses m/4 at (a, b, c), (a, -b, -c), (-a, b, -c) and (-a, -b, c) along the principal axes have the mass, the centre and the inertia tensor of
//! any solid if a² is the mean of x² over it, and so on. Every point of the body is a mean of the four with constant weights: where they move straight, it does.

use super::body_mesh::BodyMesh;
use super::collider::{Form, Shape};
use crate::math::{DMat3, DQuat, DVec3, Pose};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Range;

/// On which side of the centre each of the four particles lies along the principal axes.
const SIDES: [DVec3; 4] = [
    DVec3::new(1.0, 1.0, 1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(-1.0, 1.0, -1.0),
    DVec3::new(-1.0, -1.0, 1.0),
];
/// Rounds after which an iteration that converges quadratically has long ended.
const MOST_ROUNDS: usize = 60;

/// A body that moves freely.
#[derive(Debug, Clone, PartialEq)]
pub struct RigidBody {
    /// The collider that has its form.
    pub collider: usize,
    /// Its four particles.
    pub nodes: Range<usize>,
    /// Its mass [kg].
    pub mass: f64,
    /// Centre of mass and principal axes, in the axes of its form.
    pub own: Pose,
    /// How far its particles lie from the centre along the principal axes [m].
    pub arms: DVec3,
    /// Share of the speed of an impact that is left after it [1].
    pub restitution: f64,
}

/// What the mass of a solid of density 1 does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solid {
    /// Volume [m³].
    pub volume: f64,
    /// Centre [m].
    pub centre: DVec3,
    /// Mean of (x - centre) (x - centre)ᵀ over the volume [m²].
    pub spread: DMat3,
}

/// Why a surface does not enclose a solid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotSolid {
    /// An edge that has not just one face on either side.
    #[error("the surface is not closed at the edge between {} and {}", .0[0], .0[1])]
    Open([DVec3; 2]),
    /// Faces look inwards.
    #[error("the surface is inside out: it encloses {0:.3e} m³")]
    InsideOut(f64),
    /// Nothing in it.
    #[error("the surface encloses no volume")]
    Flat,
    /// It has no end.
    #[error("a plane has no mass")]
    Endless,
}

impl NotSolid {
    /// What helps.
    pub fn remedy(&self) -> &'static str {
        match self {
            NotSolid::Open(_) => {
                "close the surface, let `weld` join double points, or make it a `[[collider]]`"
            }
            NotSolid::InsideOut(_) => "turn its faces: counter-clockwise seen from outside",
            NotSolid::Flat | NotSolid::Endless => "give it a volume, or make it a `[[collider]]`",
        }
    }
}

impl Solid {
    /// The solid of a form.
    pub fn of(form: &Form) -> Result<Self, NotSolid> {
        let centred = |volume: f64, means: DVec3| Self {
            volume,
            centre: DVec3::ZERO,
            spread: DMat3::from_diagonal(means),
        };
        match form {
            Form::Closed(Shape::Plane) => Err(NotSolid::Endless),
            Form::Closed(Shape::Sphere { radius }) => {
                Ok(centred(4.0 / 3.0 * PI * radius.powi(3), DVec3::splat(radius * radius / 5.0)))
            }
            Form::Closed(Shape::Box { half_size }) => {
                Ok(centred(8.0 * half_size.element_product(), *half_size * *half_size / 3.0))
            }
            Form::Closed(Shape::Capsule { radius: r, half_length: l }) => {
                let (tube, ends) = (2.0 * PI * r * r * l, 4.0 / 3.0 * PI * r.powi(3));
                let across = (tube * r * r / 4.0 + ends * r * r / 5.0) / (tube + ends);
                // A half ball beyond the end of the tube has its centre 3/8 r further out.
                let along =
                    (tube * l * l / 3.0 + ends * (l * l + 0.75 * l * r + r * r / 5.0)) / (tube + ends);
                Ok(centred(tube + ends, DVec3::new(across, along, across)))
            }
            Form::Mesh(mesh) => Self::of_mesh(mesh),
        }
    }

    /// The sum over tetrahedra between a point and every face; those outside count as negative.
    fn of_mesh(mesh: &BodyMesh) -> Result<Self, NotSolid> {
        let points = mesh.points(0.0, &Pose::IDENTITY);
        if let Some(open) = open_edge(mesh.triangles()) {
            return Err(NotSolid::Open(open.map(|i| points[i as usize])));
        }
        let from = points.first().copied().unwrap_or(DVec3::ZERO);
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for t in mesh.triangles() {
            let [a, b, c] = t.map(|i| points[i as usize] - from);
            let (sixfold, sum) = (a.dot(b.cross(c)), a + b + c);
            volume += sixfold / 6.0;
            first += sixfold / 24.0 * sum;
            let squares = outer(sum) + outer(a) + outer(b) + outer(c);
            second += squares * (sixfold / 120.0);
        }
        let size = points.iter().map(|p| p.distance_squared(from)).fold(0.0, f64::max).sqrt();
        if volume.abs() < 1e-12 * size.powi(3) {
            return Err(NotSolid::Flat);
        }
        if volume < 0.0 {
            return Err(NotSolid::InsideOut(volume));
        }
        let centre = first / volume;
        Ok(Self { volume, centre: from + centre, spread: second * (1.0 / volume) - outer(centre) })
    }
}

/// An edge that is not passed once in each direction.
fn open_edge(triangles: &[[u32; 3]]) -> Option<[u32; 2]> {
    let mut passed: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            passed.entry([a.min(b), a.max(b)]).or_default()[usize::from(a > b)] += 1;
        }
    }
    passed.into_iter().find(|(_, passes)| *passes != [1, 1]).map(|(edge, _)| edge)
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Eigenvalues and unit eigenvectors of a symmetric matrix, by Jacobi's rotations; the vectors are right-handed.
fn axes_of(mut m: DMat3) -> (DVec3, DMat3) {
    let mut axes = DMat3::IDENTITY;
    for _ in 0..MOST_ROUNDS {
        let off = |&(p, q): &(usize, usize)| m.col(p)[q].abs();
        let (p, q) =
            [(0, 1), (0, 2), (1, 2)].into_iter().max_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or((0, 1));
        let (x, y, z) = (m.col(p)[p], m.col(q)[q], m.col(p)[q]);
        if z.abs() <= f64::EPSILON * 1e-3 * (x.abs() + y.abs()) {
            break;
        }
        let theta = (y - x) / (2.0 * z);
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let mut turn = DMat3::IDENTITY;
        (turn.col_mut(p)[p], turn.col_mut(q)[q]) = (c, c);
        (turn.col_mut(q)[p], turn.col_mut(p)[q]) = (t * c, -t * c);
        m = turn.transpose() * m * turn;
        axes *= turn;
    }
    (DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z), axes)
}

/// A rigid placement of four particles, in centre and principal axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Centre of mass [m].
    pub centre: DVec3,
    /// Principal axes, as columns.
    pub axes: DMat3,
}

impl RigidBody {
    /// The body of a solid with that mass [kg]; its particles are those from `first` on.
    pub fn new(solid: &Solid, mass: f64, collider: usize, first: usize, restitution: f64) -> Self {
        let (means, axes) = axes_of(solid.spread);
        let own = Pose { position: solid.centre, rotation: DQuat::from_mat3(&axes).normalize() };
        // Rounding may leave nothing of what is thin.
        let arms = means.max(DVec3::splat(1e-12 * means.max_element())).map(f64::sqrt);
        Self { collider, nodes: first..first + 4, mass, own, arms, restitution }
    }

    /// Its part of a list over all particles.
    pub fn of(&self, list: &[DVec3]) -> [DVec3; 4] {
        std::array::from_fn(|k| list[self.nodes.start + k])
    }

    /// Where the four particles are if its form is placed so [m].
    pub fn nodes_at(&self, form: &Pose) -> [DVec3; 4] {
        SIDES.map(|side| form.to_world(self.own.to_world(side * self.arms)))
    }

    /// The weights with which a point, in the axes of its form [m], is a mean of the four particles.
    pub fn weights(&self, point: DVec3) -> [f64; 4] {
        let inside = self.own.to_local(point) / self.arms;
        SIDES.map(|side| 0.25 * (1.0 + side.dot(inside)))
    }

    /// The placement that four particles have, or the nearest to one that they nearly have: the least squares of distances.
    pub fn placement(&self, x: &[DVec3; 4]) -> Placement {
        let centre = 0.25 * (x[0] + x[1] + x[2] + x[3]);
        let along = |axis: usize| {
            let sum = (0..4).fold(DVec3::ZERO, |sum, k| sum + SIDES[k][axis] * (x[k] - centre));
            0.25 * self.arms[axis] * sum
        };
        // The rotation of the polar decomposition, by Newton's iteration.
        let mut axes = DMat3::from_cols(along(0), along(1), along(2));
        axes *= 1.0 / axes.determinant().abs().max(f64::MIN_POSITIVE).cbrt();
        for _ in 0..MOST_ROUNDS {
            let next = (axes + axes.inverse().transpose()) * 0.5;
            let change = (next - axes).to_cols_array().iter().fold(0.0, |most: f64, c| most.max(c.abs()));
            axes = next;
            if change < 1e-9 {
                // Its square is below what can be told.
                break;
            }
        }
        Placement { centre, axes }
    }

    /// The four particles of a placement [m].
    pub fn nodes_of(&self, placed: &Placement) -> [DVec3; 4] {
        SIDES.map(|side| placed.centre + placed.axes * (side * self.arms))
    }

    /// Where its form is if its particles are there.
    pub fn pose(&self, x: &[DVec3; 4]) -> Pose {
        let placed = self.placement(x);
        let rotation = (DQuat::from_mat3(&placed.axes) * self.own.rotation.conjugate()).normalize();
        Pose { position: placed.centre - rotation * self.own.position, rotation }
    }

    /// One over its inertia tensor in a placement [1/(kg·m²)].
    pub fn inverse_inertia(&self, axes: &DMat3) -> DMat3 {
        let squares = self.arms * self.arms;
        let moments = self.mass * (DVec3::splat(squares.element_sum()) - squares);
        *axes * DMat3::from_diagonal(moments.recip()) * axes.transpose()
    }

    /// The velocities of a rigid motion from `placed` with the linear and angular momentum of velocities `v` [m/s] of particles at `x` [m].
    pub fn rigid_velocities(&self, placed: &Placement, x: &[DVec3; 4], v: &[DVec3; 4]) -> [DVec3; 4] {
        let mean = 0.25 * (v[0] + v[1] + v[2] + v[3]);
        let momentum = (0..4).fold(DVec3::ZERO, |sum, k| sum + (x[k] - placed.centre).cross(v[k] - mean));
        let spin = self.inverse_inertia(&placed.axes) * (0.25 * self.mass * momentum);
        self.nodes_of(placed).map(|node| mean + spin.cross(node - placed.centre))
    }
}
