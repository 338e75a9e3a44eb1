//! How far seams are open.

use crate::model::{Model, State};

/// The largest distance by which two particles that are sewn together are further apart than their thread is long at this time [m]; none without seams.
pub fn seam_opening(model: &Model, state: &State) -> Option<f64> {
    let open = |(l, ends): (usize, &[u32; 2])| {
        let [a, b] = ends.map(|i| state.positions[i as usize]);
        let open = a.distance(b) - model.links.rest_length(l, state.time);
        // A NaN compares false with everything and would slip through unseen.
        if open.is_nan() { f64::INFINITY } else { open.max(0.0) }
    };
    model.links.ends.iter().enumerate().map(open).reduce(f64::max)
}
