//! How far the edges of a cloth are from their rest lengths.

use crate::math::DVec3;

/// Relative change of length over a set of edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strain {
    /// The largest |l - l0| / l0; infinite if any edge cannot be measured.
    pub max: f64,
    /// The mean of |l - l0| / l0; infinite if any edge cannot be measured, 0 without edges.
    pub mean: f64,
    /// The first edge that has the largest strain; none without edges.
    pub worst_edge: Option<usize>,
}

/// Strain of `edges`, edge `k` having the rest length `rest_lengths[k]` [m].
///
/// An edge cannot be measured if an end is missing or not finite, or its rest length is missing, not finite
/// or not above zero.
pub fn strain(positions: &[DVec3], edges: &[[u32; 2]], rest_lengths: &[f64]) -> Strain {
    let mut found = Strain { max: 0.0, mean: 0.0, worst_edge: None };
    for (k, &[i, j]) in edges.iter().enumerate() {
        let ends = (positions.get(i as usize), positions.get(j as usize), rest_lengths.get(k));
        let value = match ends {
            (Some(a), Some(b), Some(&rest)) if rest > 0.0 => (a.distance(*b) - rest).abs() / rest,
            _ => f64::INFINITY,
        };
        // A NaN compares false with everything and would slip through unseen.
        let value = if value.is_nan() { f64::INFINITY } else { value };
        found.mean += value;
        if found.worst_edge.is_none() || value > found.max {
            (found.max, found.worst_edge) = (value, Some(k));
        }
    }
    found.mean /= edges.len().max(1) as f64;
    found
}
