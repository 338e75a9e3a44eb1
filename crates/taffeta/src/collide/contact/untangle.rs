//! Which way cloth that intersects comes apart: the way that shortens the line along which it does (Volino and Magnenat-Thalmann 2006).
//!
//! Where an edge with the direction E enters a triangle with the normal N, the line of intersection begins; R is the direction in which it runs on from there. If
//! the edge moves by δ against the triangle, it enters at δ - (N·δ)/(N·E) E from where it did, so the line loses the length G·δ with G = R - (E·R)/(E·N) N.
//! The edge therefore goes along G and the triangle against it. Every end of every line has its say.

use crate::math::DVec3;

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
