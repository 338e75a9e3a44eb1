//! All pairs of triangles that intersect, within a surface and between two.

use super::fans::smooth_fans;
use super::tree::{CheckTree, Face};
use super::triangles::intersect;
use crate::math::DVec3;

/// Triangles over a list of points.
#[derive(Debug, Clone, Copy)]
pub struct Surface<'a> {
    /// Points [m].
    pub positions: &'a [DVec3],
    /// Triangles, as indices of points.
    pub triangles: &'a [[u32; 3]],
}

/// Every pair (i < j) of triangles that intersect in the sense of [`crate::check`], sorted; exact.
pub fn self_intersections(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let (points, faces) = read(Surface { positions, triangles });
    let smooth = smooth_fans(&points, &faces);
    let test = |f: &Face, g: &Face| meet(&points, f.corners, g.corners);
    let mut found = CheckTree::new(&points, faces, &smooth).pairs_within(&test);
    found.iter_mut().for_each(|pair| pair.sort_unstable());
    found.sort_unstable();
    found
}

/// The same as [`self_intersections`], by testing every pair of triangles.
pub fn self_intersections_brute_force(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let (points, faces) = read(Surface { positions, triangles });
    let mut found = Vec::new();
    for (k, f) in faces.iter().enumerate() {
        let others = faces[k + 1..].iter().filter(|g| meet(&points, f.corners, g.corners));
        found.extend(others.map(|g| [f.index, g.index]));
    }
    found
}

/// Every pair (i of `a`, j of `b`) of triangles that share a point, sorted; exact.
///
/// Surfaces only: a triangle of one that lies wholly inside a closed other meets nothing.
pub fn intersections_between(a: Surface, b: Surface) -> Vec<[u32; 2]> {
    let (a_points, a_faces) = read(a);
    let (b_points, b_faces) = read(b);
    let test = |f: &Face, g: &Face| intersect(&at(&a_points, f.corners), &at(&b_points, g.corners), 0);
    let (a_tree, b_tree) = (CheckTree::new(&a_points, a_faces, &[]), CheckTree::new(&b_points, b_faces, &[]));
    let mut found = a_tree.pairs_with(&b_tree, &test);
    found.sort_unstable();
    found
}

/// The same as [`intersections_between`], by testing every pair of triangles.
pub fn intersections_between_brute_force(a: Surface, b: Surface) -> Vec<[u32; 2]> {
    let (a_points, a_faces) = read(a);
    let (b_points, b_faces) = read(b);
    let mut found = Vec::new();
    for f in &a_faces {
        let corners = at(&a_points, f.corners);
        let others = b_faces.iter().filter(|g| intersect(&corners, &at(&b_points, g.corners), 0));
        found.extend(others.map(|g| [f.index, g.index]));
    }
    found
}

/// Coordinates beyond this are not positions of anything [m].
const LARGEST: f64 = 1e100;
/// 2^-300: coordinates below this are read as zero [m].
const SMALLEST: f64 = 4.909093465297727e-91;

/// The points as the exact predicates can take them, and the triangles whose corners all can be read.
pub(super) fn read(surface: Surface) -> (Vec<DVec3>, Vec<Face>) {
    let snap = |x: f64| if x.abs() < SMALLEST { 0.0 } else { x };
    let points: Vec<DVec3> = surface.positions.iter().map(|p| p.map(snap)).collect();
    let readable =
        |&&c: &&u32| points.get(c as usize).is_some_and(|p| p.abs().cmple(DVec3::splat(LARGEST)).all());
    let face = |(index, corners): (u32, &[u32; 3])| {
        let all = corners.iter().filter(readable).count() == 3;
        all.then_some(Face { index, corners: *corners })
    };
    let faces = (0..).zip(surface.triangles).filter_map(face).collect();
    (points, faces)
}

pub(super) fn at(points: &[DVec3], [a, b, c]: [u32; 3]) -> [DVec3; 3] {
    [points[a as usize], points[b as usize], points[c as usize]]
}

/// Whether two triangles of one surface intersect.
fn meet(points: &[DVec3], f: [u32; 3], g: [u32; 3]) -> bool {
    let (shared, [f, g]) = common(f, g);
    intersect(&at(points, f), &at(points, g), shared)
}

/// How many particles two triangles share, and both with these first, in the same order.
fn common(f: [u32; 3], g: [u32; 3]) -> (usize, [[u32; 3]; 2]) {
    let (mut common, mut shared) = ([0; 3], 0);
    for c in f {
        if g.contains(&c) && !common[..shared].contains(&c) {
            common[shared] = c;
            shared += 1;
        }
    }
    match shared {
        0 => (0, [f, g]),
        _ => (shared, [f, g].map(|corners| shared_first(corners, &common[..shared]))),
    }
}

/// The particles of a triangle in another order: those in `shared` first, as they come there.
fn shared_first(corners: [u32; 3], shared: &[u32]) -> [u32; 3] {
    // A triangle that names a particle twice is filled up with one it shares.
    let (mut order, mut next) = ([shared[0]; 3], shared.len());
    order[..next].copy_from_slice(shared);
    for c in corners {
        if !shared.contains(&c) {
            order[next] = c;
            next += 1;
        }
    }
    order
}
