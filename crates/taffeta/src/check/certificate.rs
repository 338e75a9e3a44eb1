//! All that is certified of one state, in one record.

use super::{against_body, self_intersections, strain};
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
    /// Pairs of a cloth triangle and a collider that it cuts into.
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
