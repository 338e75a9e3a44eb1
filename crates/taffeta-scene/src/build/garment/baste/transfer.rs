//! From coarse panels to fine ones: every fine particle goes where its place on the coarse panel is.

use crate::build::shapes::Blank;
use taffeta::math::{DVec2, DVec3};

/// Lets fine panels start on the surfaces that coarse panels of the same outlines start on.
pub fn transfer(coarse: &[Blank], fine: &mut [Blank]) {
    for (coarse, fine) in coarse.iter().zip(fine) {
        let flat = |p: &DVec3| DVec2::new(p.x, p.z);
        let corners: Vec<[DVec2; 3]> = coarse
            .rest
            .triangles
            .iter()
            .map(|t| t.map(|i| flat(&coarse.rest.positions[i as usize])))
            .collect();
        for (start, rest) in fine.start.iter_mut().zip(&fine.rest.positions) {
            let p = flat(rest);
            // Beside a curved edge a fine particle may lie outside of all coarse triangles: the one that it is least outside of has it.
            let mut best = (f64::NEG_INFINITY, [0.0; 3], 0);
            for (t, corners) in corners.iter().enumerate() {
                let shares = shares(p, corners);
                let least = shares[0].min(shares[1]).min(shares[2]);
                if least > best.0 {
                    best = (least, shares, t);
                }
            }
            let (_, shares, t) = best;
            let at = coarse.rest.triangles[t].map(|i| coarse.start[i as usize]);
            *start = shares[0] * at[0] + shares[1] * at[1] + shares[2] * at[2];
        }
    }
}

/// Barycentric coordinates.
fn shares(p: DVec2, [a, b, c]: &[DVec2; 3]) -> [f64; 3] {
    let all = (*b - *a).perp_dot(*c - *a);
    let [u, v] = [(*b - p).perp_dot(*c - p) / all, (*c - p).perp_dot(*a - p) / all];
    [u, v, 1.0 - u - v]
}
