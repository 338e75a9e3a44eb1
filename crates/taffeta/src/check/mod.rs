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
//! Distances to closed-form solids ([`against_body`]) and to surfaces ([`against_mesh`]) are in double precision.

mod against_mesh;
mod bodies;
mod certificate;
mod compare;
mod curve;
mod distance;
mod eight;
mod fans;
mod free_bodies;
mod outer_box;
mod pairs;
mod seams;
mod strain;
mod tree;
mod triangles;
mod walk;

pub use against_mesh::against_mesh;
pub use bodies::{BodyContact, against_body};
pub use certificate::{Certificate, against_form, certify, certify_parts};
pub use free_bodies::{PlacedBody, body_intersections};
pub use pairs::{
    Surface, intersections_between, intersections_between_brute_force, self_intersections,
    self_intersections_brute_force,
};
pub use seams::seam_opening;
pub use strain::{Strain, strain};
