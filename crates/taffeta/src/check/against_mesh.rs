//! How far a cloth is from a surface of triangles, and where they intersect.

use super::bodies::BodyContact;
use super::distance::{point_triangle, segment_triangle};
use super::pairs::{Surface, at, read};
use super::tree::{CheckTree, Face};
use super::triangles::intersect;
use crate::math::DVec3;

/// Contact between a cloth and a surface. Intersections are exact; the gap is a distance in double precision, 0 where they intersect.
///
/// A surface has no inside, so a gap is never negative but where something is not finite or missing: there it is minus infinity.
pub fn against_mesh(cloth: Surface, body: Surface) -> BodyContact {
    let (points, faces) = read(cloth);
    let (body_points, body_faces) = read(body);
    let all_read = faces.len() == cloth.triangles.len() && body_faces.len() == body.triangles.len();
    let (tree, body_tree) =
        (CheckTree::new(&points, faces, &[]), CheckTree::new(&body_points, body_faces, &[]));

    let test = |f: &Face, g: &Face| intersect(&at(&points, f.corners), &at(&body_points, g.corners), 0);
    let mut intersecting: Vec<u32> = tree.pairs_with(&body_tree, &test).iter().map(|pair| pair[0]).collect();
    intersecting.sort_unstable();
    intersecting.dedup();

    let apart = |f: &Face, g: &Face, least: f64| {
        let (a, b) = (at(&points, f.corners), at(&body_points, g.corners));
        if height(&a, &b).max(height(&b, &a)) < least { distance(&a, &b) } else { least }
    };
    let min_gap = match (all_read, intersecting.is_empty()) {
        (false, _) => f64::NEG_INFINITY,
        (true, false) => 0.0,
        (true, true) => tree.least_with(&body_tree, &apart, f64::INFINITY),
    };
    BodyContact { intersecting, min_gap }
}

/// How far a triangle is from the plane of another, 0 if it meets it: they are no nearer than that [m].
fn height(a: &[DVec3; 3], b: &[DVec3; 3]) -> f64 {
    let normal = (b[1] - b[0]).cross(b[2] - b[0]).normalize_or_zero();
    let heights = a.map(|corner| (corner - b[0]).dot(normal));
    let low = heights[0].min(heights[1]).min(heights[2]);
    let high = heights[0].max(heights[1]).max(heights[2]);
    low.max(-high).max(0.0)
}

/// Distance between two triangles that do not intersect: from an edge of one to the other, or from its inside to a corner [m].
fn distance(a: &[DVec3; 3], b: &[DVec3; 3]) -> f64 {
    let edges = (0..3).map(|k| segment_triangle([a[k], a[(k + 1) % 3]], b));
    let corners = b.iter().map(|&corner| point_triangle(corner, a));
    edges.chain(corners).fold(f64::INFINITY, f64::min)
}
