//! Exact answers in integers, by other theorems than the certificate's.

pub type V = [i128; 3];

fn minus(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn dot(a: V, b: V) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn det(a: V, b: V, c: V) -> i128 {
    dot(a, cross(b, c))
}
const ZERO: V = [0; 3];

/// Closed triangles meet if the origin is in the hull of all differences of corners; by Caratheodory's
/// theorem it then is in a simplex of at most four of them.
pub fn meet(a: [V; 3], b: [V; 3]) -> bool {
    let d: Vec<V> = a.iter().flat_map(|&x| b.iter().map(move |&y| minus(x, y))).collect();
    let on_segment = |u: V, w: V| cross(u, w) == ZERO && dot(u, w) <= 0;
    let in_triangle = |u: V, w: V, x: V| {
        let n = cross(minus(w, u), minus(x, u));
        let inside = [cross(u, w), cross(w, x), cross(x, u)].iter().all(|&c| dot(n, c) >= 0);
        det(u, w, x) == 0 && n != ZERO && inside
    };
    let in_solid = |u: V, w: V, x: V, y: V| {
        let volumes = [det(w, x, y), -det(u, x, y), det(u, w, y), -det(u, w, x)];
        let all: i128 = volumes.iter().sum();
        all != 0 && volumes.iter().all(|&part| part.signum() * all.signum() >= 0)
    };
    (0..9).any(|i| {
        d[i] == ZERO
            || (0..i).any(|j| {
                on_segment(d[i], d[j])
                    || (0..j).any(|k| {
                        in_triangle(d[i], d[j], d[k]) || (0..k).any(|l| in_solid(d[i], d[j], d[k], d[l]))
                    })
            })
    })
}

/// Triangles with a common first corner share another point if the cones they span from it share a ray.
pub fn meet_beyond_point(a: [V; 3], b: [V; 3]) -> bool {
    let [a, b] = [a, b].map(|t| [minus(t[1], t[0]), minus(t[2], t[0])]);
    let same_ray = |u: V, w: V| u != ZERO && w != ZERO && cross(u, w) == ZERO && dot(u, w) > 0;
    let in_cone = |x: V, [u, w]: [V; 2]| {
        let n = cross(u, w);
        let inside = dot(n, cross(u, x)) >= 0 && dot(n, cross(x, w)) >= 0;
        x != ZERO && n != ZERO && dot(n, x) == 0 && inside
    };
    let axis = cross(cross(a[0], a[1]), cross(b[0], b[1]));
    let back = minus(ZERO, axis);
    a.iter().any(|&x| b.iter().any(|&y| same_ray(x, y)) || in_cone(x, b))
        || b.iter().any(|&y| in_cone(y, a))
        || [axis, back].iter().any(|&x| in_cone(x, a) && in_cone(x, b))
}

/// Triangles with common first and second corners overlap beyond that edge.
pub fn meet_beyond_edge(a: [V; 3], b: [V; 3]) -> bool {
    let [q, x, y] = [a[1], a[2], b[2]].map(|c| minus(c, a[0]));
    let (m, n) = (cross(q, x), cross(q, y));
    if m != ZERO || n != ZERO {
        return cross(m, n) == ZERO && dot(m, n) > 0;
    }
    if cross(x, y) != ZERO {
        return false;
    }
    // All on one line: intervals along it.
    let along = [q, x, y].into_iter().find(|&w| w != ZERO).unwrap_or(ZERO);
    let [q, x, y] = [q, x, y].map(|w| dot(w, along));
    q.max(x).max(0).min(q.max(y).max(0)) > q.max(0) || q.min(x).min(0).max(q.min(y).min(0)) < q.min(0)
}
