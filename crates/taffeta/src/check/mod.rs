//! The certificate: strain and intersections, measured by code that shares nothing with the solvers.
//!
//! # What an intersection is
//! Triangles are closed: border and corners belong to them. Two triangles of one surface that have
//! - no particle in common intersect if they share at least one point; touching counts;
//! - one particle in common intersect if they share a point other than that particle;
//! - two particles in common intersect if they overlap beyond that edge, which takes both to be in one
//!   plane on the same side of the edge;
//! - three particles in common always intersect.
//!
//! Triangles of two different surfaces have no particle in common. A triangle without area is the segment or
//! the point that it is, under the same rules.
//!
//! # Where exactness ends
//! Between triangles the answer is exact for the coordinates as given, up to three limits. A coordinate below
//! 2^-300 m in magnitude is read as zero, because products of such numbers underflow. A triangle with a corner
//! beyond 1e100 m, with a corner that is not finite, or with a corner that does not exist intersects nothing;
//! a frame is therefore certified by its intersections and its [`strain()`] together, which is infinite then.
//! Distances to closed-form solids ([`against_body`]) are in double precision.

mod bodies;
mod distance;
mod pairs;
mod strain;
mod tree;
mod triangles;

pub use bodies::{BodyContact, against_body};
pub use pairs::{
    Surface, intersections_between, intersections_between_brute_force, self_intersections,
    self_intersections_brute_force,
};
pub use strain::{Strain, strain};

use crate::model::{Model, State};
use serde::Serialize;

/// What is certified of a state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Certificate {
    /// Largest strain of a structural edge [1].
    pub max_strain: f64,
    /// Mean strain of structural edges [1].
    pub mean_strain: f64,
    /// Pairs of cloth triangles that intersect.
    pub cloth_cloth: usize,
    /// Cloth triangles that cut into a collider.
    pub cloth_body: usize,
    /// Smallest distance between cloth and colliders, negative inside [m]; infinite without colliders.
    pub min_gap: f64,
}

/// Measures a state.
pub fn certify(model: &Model, state: &State) -> Certificate {
    let strain = strain(&state.positions, &model.edges, &model.rest_lengths);
    let mut certificate = Certificate {
        max_strain: strain.max,
        mean_strain: strain.mean,
        cloth_cloth: self_intersections(&state.positions, &model.triangles).len(),
        cloth_body: 0,
        min_gap: f64::INFINITY,
    };
    for collider in &model.colliders {
        let contact = against_body(&state.positions, &model.triangles, &collider.at(state.time));
        certificate.cloth_body += contact.intersecting.len();
        certificate.min_gap = certificate.min_gap.min(contact.min_gap);
    }
    certificate
}
