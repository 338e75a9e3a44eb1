//! Distances between points, segments and triangles, in double precision.

use crate::math::DVec3;

/// Distance between a point and a closed triangle, which may have no area.
pub(super) fn point_triangle(p: DVec3, t: &[DVec3; 3]) -> f64 {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    let length = normal.length();
    if length > 0.0 && over(p, t, normal) {
        return ((p - t[0]).dot(normal) / length).abs();
    }
    (0..3).map(|k| segment_segment([p, p], [t[k], t[(k + 1) % 3]])).fold(f64::INFINITY, f64::min)
}

/// Distance between a closed segment and a closed triangle, which may have no area.
pub(super) fn segment_triangle([p, q]: [DVec3; 2], t: &[DVec3; 3]) -> f64 {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    let (from, to) = ((p - t[0]).dot(normal), (q - t[0]).dot(normal));
    if from * to < 0.0 && over(p + (q - p) * (from / (from - to)), t, normal) {
        return 0.0;
    }
    let ends = point_triangle(p, t).min(point_triangle(q, t));
    (0..3).map(|k| segment_segment([p, q], [t[k], t[(k + 1) % 3]])).fold(ends, f64::min)
}

/// Whether the projection of `p` along the normal lies in the triangle.
fn over(p: DVec3, t: &[DVec3; 3], normal: DVec3) -> bool {
    (0..3).all(|k| normal.cross(t[(k + 1) % 3] - t[k]).dot(p - t[k]) >= 0.0)
}

/// Distance between two closed segments, which may be points or parallel.
pub(super) fn segment_segment([p, q]: [DVec3; 2], [u, v]: [DVec3; 2]) -> f64 {
    let (d, e, r) = (q - p, v - u, p - u);
    let ratio = |above: f64, below: f64| if below > 0.0 { (above / below).clamp(0.0, 1.0) } else { 0.0 };
    // Where the lines are nearest, by cross products because they stay accurate for almost parallel lines;
    // then each segment in turn is kept within its ends.
    let n = d.cross(e);
    let s = ratio(e.cross(r).dot(n), n.dot(n));
    let t = ratio(e.dot(r) + s * d.dot(e), e.dot(e));
    let s = ratio(t * d.dot(e) - d.dot(r), d.dot(d));
    (r + s * d - t * e).length()
}
