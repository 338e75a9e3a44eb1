//! Which way cloth that intersects comes apart: the way that shortens the line along which it does (Volino and Magnenat-Thalmann 2006), or out of a solid.
//!
//! Where an edge with the direction E enters a triangle with the normal N, the line of intersection begins; R is the direction in which it runs on from there. If
//! the edge moves by δ against the triangle, it enters at δ - (N·δ)/(N·E) E from where it did, so the line loses the length G·δ with G = R - (E·R)/(E·N) N.
//! The edge therefore goes along G and the triangle against it. Every end of every line has its say.

use crate::collide::rigid::nearest::{Nearest, nearest};
use crate::math::DVec3;
use crate::model::PosedShape;

/// How often the steps are halved in which the deepest point of a triangle is looked for.
const HALVINGS: u32 = 16;

/// Where a triangle's edge enters another triangle.
struct Entry {
    edge: [u32; 2],
    place: DVec3,
    direction: DVec3,
}

/// Adds to `ways` which way every particle has to go, for pairs of triangles that intersect: about 1 for each line that ends at it [1].
pub fn ways_apart(positions: &[DVec3], triangles: &[[u32; 3]], pairs: &[[u32; 2]], ways: &mut [DVec3]) {
    for pair in pairs {
        let [t, u] = pair.map(|t| triangles[t as usize]);
        let entries = [entries(positions, t, u), entries(positions, u, t)];
        let middle = {
            let places = entries.iter().flatten().map(|e| e.place);
            places.clone().sum::<DVec3>() / places.count().max(1) as f64
        };
        for (entries, other) in entries.iter().zip([u, t]) {
            let n = normal(positions, other);
            for Entry { edge, place, direction } in entries {
                let onward = (middle - *place).normalize_or_zero();
                let g = onward - direction.dot(onward) / direction.dot(n) * n;
                let way = g / (1.0 + g.length_squared()).sqrt();
                edge.iter().for_each(|p| ways[*p as usize] += way);
                other.iter().for_each(|p| ways[*p as usize] -= way);
            }
        }
    }
}

/// Adds to `ways` which way out of a solid the corners of triangles have to go that lie in it but for their corners, which leave it by themselves: 1 for a depth
/// of `most` [m] or more.
pub fn ways_out(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    (solid, inside): (&PosedShape, &[u32]),
    most: f64,
    ways: &mut [DVec3],
) {
    for corners in inside.iter().map(|t| triangles[*t as usize]) {
        let at = corners.map(|p| positions[p as usize]);
        let (weights, deepest) = deepest(solid, &at);
        if deepest.gap < 0.0 && at.iter().all(|x| nearest(solid, *x, 0.0).is_none()) {
            let way = (-deepest.gap / most).min(1.0) / weights.iter().map(|w| w * w).sum::<f64>() * deepest.normal;
            corners.iter().zip(weights).for_each(|(p, w)| ways[*p as usize] += w * way);
        }
    }
}

/// The deepest point of a triangle in a solid, by weights of its corners. Solids are convex, so no other place of the triangle is deepest among its neighbours.
fn deepest(solid: &PosedShape, corners: &[DVec3; 3]) -> ([f64; 3], Nearest) {
    let at = |w: &[f64; 3]| {
        let x = corners.iter().zip(w).map(|(x, w)| *w * *x).sum();
        nearest(solid, x, f64::INFINITY).unwrap_or(Nearest { gap: f64::INFINITY, normal: DVec3::Y })
    };
    let mut best = [1.0 / 3.0; 3];
    let (mut found, mut step) = (at(&best), 1.0 / 3.0);
    for _ in 0..HALVINGS {
        loop {
            let around = (0..6).map(|k| {
                let (to, from) = (k % 3, (k + 1 + k / 3) % 3);
                let mut w = best;
                let moved = w[from].min(step);
                (w[to], w[from]) = (w[to] + moved, w[from] - moved);
                (w, at(&w))
            });
            let Some((w, near)) = around.min_by(|a, b| a.1.gap.total_cmp(&b.1.gap)) else { break };
            if near.gap >= found.gap {
                break;
            }
            (best, found) = (w, near);
        }
        step *= 0.5;
    }
    (best, found)
}

/// Edges of `t` that go through `u`, which shares no point with them.
fn entries(positions: &[DVec3], t: [u32; 3], u: [u32; 3]) -> Vec<Entry> {
    let at = |p: u32| positions[p as usize];
    let (n, [a, b, c]) = (normal(positions, u), u.map(at));
    let through = |k: usize| {
        let edge = [t[k], t[(k + 1) % 3]];
        let [from, to] = edge.map(at);
        let (before, after) = (n.dot(from - a), n.dot(to - a));
        if edge.iter().any(|p| u.contains(p)) || before * after >= 0.0 {
            return None;
        }
        let place = from.lerp(to, before / (before - after));
        let inside = |p: DVec3, q: DVec3| (q - p).cross(place - p).dot(n) >= 0.0;
        (inside(a, b) && inside(b, c) && inside(c, a)).then(|| Entry {
            edge,
            place,
            direction: (to - from).normalize_or_zero(),
        })
    };
    (0..3).filter_map(through).collect()
}

fn normal(positions: &[DVec3], triangle: [u32; 3]) -> DVec3 {
    let [a, b, c] = triangle.map(|p| positions[p as usize]);
    (b - a).cross(c - a).normalize_or_zero()
}
