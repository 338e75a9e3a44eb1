//! Bending across the edge of two triangles, on any mesh.
//!
//! Points are [a, b, c, d]: the edge from a to b, c on its left, d on its right, seen from outside.
//!
//! [`FlatHinge`] is the one to take for implicit cloth (Bergou et al. 2006). Its energy is quadratic in the positions, so its matrix is
//! constant, positive semi-definite without any projection and shared by all three axes, and its forces stay finite for any shape, also for
//! triangles without area. It is exact while lengths are kept, which cloth does, and it rests flat. [`AngleHinge`] works on the dihedral
//! angle itself (Grinspun et al. 2003): for rest shapes that are bent.
//!
//! Both store k θ²/2 for small θ, with k = B |e|² / A and A the area of both triangles at rest. Rolled to a cylinder of radius R this is
//! B/(2 R²) per area: on equilateral triangles in every direction, on a grid of right angles along its sides. Such a grid is three times as
//! stiff when curved along the diagonals that are its edges; a very irregular mesh comes to rest with 1.1 times the rigidity along its
//! sides and 1.7 times across. Any hinge depends on the mesh like that, for it sees one direction only. (Bergou et al. give each
//! edge A/3, so that k = 3 B |e|² / A. That takes the scatter of angles from edge to edge for curvature: three times as stiff on any mesh.)

use super::element::{Blocks, Element, cross_matrix, outer, spread, spread_blocks, weighted};
use crate::math::{DMat3, DVec3};
use std::f64::consts::{PI, TAU};

/// A triangle lower than this share of its edge has no normal worth the name.
const NO_NORMAL: f64 = 1e-6;

/// Resistance to bending that rests flat: E = k |Σ w_i x_i|² / 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlatHinge {
    /// Weights: Σ w_i x_i has the length 2 sin(θ/2) while lengths are kept [1/m].
    pub weights: [f64; 4],
    /// Moment per angle [N·m].
    pub stiffness: f64,
    /// Moment per rate of turning [N·m·s].
    pub damping: f64,
}

/// Resistance to bending that rests at an angle: E = k (θ - θ₀)² / 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AngleHinge {
    rest_angle: f64,
    stiffness: f64,
    damping: f64,
}

/// The edge and the two triangles at rest or now.
struct Wings {
    /// Length of the edge [m].
    length: f64,
    /// Heights of c and d over the edge [m].
    heights: [f64; 2],
    /// Where their feet lie on it: 0 at a, 1 at b.
    feet: [f64; 2],
    /// Twice the areas along the normals [m²].
    normals: [DVec3; 2],
}

impl Wings {
    /// Nothing if a triangle has no normal.
    fn of(&[a, b, c, d]: &[DVec3; 4]) -> Option<Self> {
        let edge = b - a;
        let length = edge.length();
        let normals = [edge.cross(c - a), (d - a).cross(edge)];
        let heights = normals.map(|n| n.length() / length);
        let feet = [c, d].map(|p| (p - a).dot(edge) / (length * length));
        // Also false for what is not a number.
        let fair = length > 0.0 && heights.iter().all(|h| *h > NO_NORMAL * length && h.is_finite());
        fair.then_some(Self { length, heights, feet, normals })
    }

    /// k = B |e|² / A [N·m].
    fn stiffness(&self, rigidity: f64) -> f64 {
        rigidity * 2.0 * self.length / (self.heights[0] + self.heights[1])
    }
}

/// The angle between the normals of both triangles [rad], positive where c and d rise to the outside; 0 if one has no area.
pub fn angle(x: &[DVec3; 4]) -> f64 {
    Wings::of(x).map_or(0.0, |wings| {
        let [left, right] = wings.normals;
        libm::atan2(right.cross(left).dot(x[1] - x[0]) / wings.length, left.dot(right))
    })
}

impl FlatHinge {
    /// From the points at rest [m], of which the lengths alone count, a bending rigidity [N·m] and the time of Kelvin-Voigt damping [s];
    /// nothing if a triangle has no area.
    pub fn new(rest: &[DVec3; 4], rigidity: f64, damping_time: f64) -> Option<Self> {
        let wings = Wings::of(rest)?;
        let ([left, right], [p, q]) = (wings.heights.map(|h| 1.0 / h), wings.feet);
        let weights = [-(1.0 - p) * left - (1.0 - q) * right, -p * left - q * right, left, right];
        let stiffness = wings.stiffness(rigidity);
        Some(Self { weights, stiffness, damping: damping_time * stiffness })
    }
}

impl Element<4> for FlatHinge {
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        0.5 * self.stiffness * weighted(&self.weights, x).length_squared()
    }

    fn forces(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        spread(&self.weights, weighted(&self.weights, x) * self.stiffness)
    }

    fn derivative(&self, _: &[DVec3; 4]) -> Blocks<4> {
        spread_blocks(&self.weights, DMat3::from_diagonal(DVec3::splat(self.stiffness)))
    }

    fn safe_derivative(&self, x: &[DVec3; 4]) -> Blocks<4> {
        self.derivative(x)
    }

    /// Constant like the stiffness. The price: it brakes the rigid turn of a bent hinge, by a moment of second order in the bend.
    fn damping(&self, _: &[DVec3; 4], v: &[DVec3; 4]) -> [DVec3; 4] {
        spread(&self.weights, weighted(&self.weights, v) * self.damping)
    }

    fn damping_derivative(&self, _: &[DVec3; 4]) -> Blocks<4> {
        spread_blocks(&self.weights, DMat3::from_diagonal(DVec3::splat(self.damping)))
    }
}

impl AngleHinge {
    /// From the points at rest [m], whose angle is kept, a bending rigidity [N·m] and the time of Kelvin-Voigt damping [s]; nothing if a
    /// triangle has no area.
    pub fn new(rest: &[DVec3; 4], rigidity: f64, damping_time: f64) -> Option<Self> {
        let stiffness = Wings::of(rest)?.stiffness(rigidity);
        Some(Self { rest_angle: angle(rest), stiffness, damping: damping_time * stiffness })
    }

    /// How far the angle is from rest, the short way round [rad]: opposite to the rest angle the moment changes its sign.
    fn turned(&self, x: &[DVec3; 4]) -> f64 {
        let off = angle(x) - self.rest_angle;
        if off > PI {
            off - TAU
        } else if off < -PI {
            off + TAU
        } else {
            off
        }
    }
}

/// ∂θ/∂x [1/m]; zero if a triangle has no area.
fn gradient(x: &[DVec3; 4]) -> [DVec3; 4] {
    Wings::of(x).map_or([DVec3::ZERO; 4], |wings| {
        let [left, right] = wings.normals.map(|n| n * (wings.length / n.length_squared()));
        let [p, q] = wings.feet;
        [left * (p - 1.0) + right * (q - 1.0), left * -p - right * q, left, right]
    })
}

/// ∂²θ/∂x∂x [1/m²] (Tamstorf & Grinspun 2013); zero if a triangle has no area.
fn hessian(x: &[DVec3; 4]) -> Blocks<4> {
    let Some(wings) = Wings::of(x) else { return [[DMat3::ZERO; 4]; 4] };
    let [a, b, ..] = *x;
    let edge = b - a;
    let mut blocks = [[DMat3::ZERO; 4]; 4];
    for side in 0..2 {
        let (tip, other) = (2 + side, 3 - side);
        let (c, foot, normal) = (x[tip], wings.feet[side], wings.normals[side]);
        let (squared, length) = (normal.length_squared(), wings.length);
        let up = normal * (length / squared);
        // How the normal follows the points; the right triangle turns the other way.
        let turn = if side == 0 { 1.0 } else { -1.0 };
        let mut by_point = [c - b, a - c, DVec3::ZERO, DVec3::ZERO].map(|e| cross_matrix(e * turn));
        by_point[tip] = cross_matrix(edge * turn);
        // How the foot follows them.
        let from_foot = c - a - edge * (2.0 * foot);
        let mut foot_by = [-edge - from_foot, from_foot, DVec3::ZERO, DVec3::ZERO];
        foot_by[tip] = edge;
        let mirror = DMat3::IDENTITY - outer(normal, normal) * (2.0 / squared);
        for j in (0..4).filter(|j| *j != other) {
            let longer = [-edge, edge, DVec3::ZERO, DVec3::ZERO][j] / length;
            let up_by = mirror * by_point[j] * (length / squared) + outer(normal, longer) * (1.0 / squared);
            let slide = outer(up, foot_by[j]) * (1.0 / (length * length));
            blocks[0][j] += up_by * (foot - 1.0) + slide;
            blocks[1][j] += up_by * -foot - slide;
            blocks[tip][j] += up_by;
        }
    }
    blocks
}

impl Element<4> for AngleHinge {
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        0.5 * self.stiffness * self.turned(x).powi(2)
    }

    fn forces(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        let moment = self.stiffness * self.turned(x);
        gradient(x).map(|g| g * -moment)
    }

    fn derivative(&self, x: &[DVec3; 4]) -> Blocks<4> {
        let (moment, mut blocks) = (self.stiffness * self.turned(x), self.safe_derivative(x));
        for (row, more) in blocks.iter_mut().zip(hessian(x)) {
            row.iter_mut().zip(more).for_each(|(block, h)| *block -= h * moment);
        }
        blocks
    }

    /// Only k ∂θ ∂θᵀ: the other part, moment × ∂²θ, is indefinite, vanishes at rest, and its projection would cost more than it helps.
    fn safe_derivative(&self, x: &[DVec3; 4]) -> Blocks<4> {
        rank_one(&gradient(x), self.stiffness)
    }

    fn damping(&self, x: &[DVec3; 4], v: &[DVec3; 4]) -> [DVec3; 4] {
        let gradient = gradient(x);
        let rate: f64 = gradient.iter().zip(v).map(|(g, v)| g.dot(*v)).sum();
        gradient.map(|g| g * (-self.damping * rate))
    }

    fn damping_derivative(&self, x: &[DVec3; 4]) -> Blocks<4> {
        rank_one(&gradient(x), self.damping)
    }
}

/// -factor g gᵀ.
fn rank_one(gradient: &[DVec3; 4], factor: f64) -> Blocks<4> {
    gradient.map(|a| gradient.map(|b| outer(a, b) * -factor))
}
