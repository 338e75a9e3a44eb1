//! Which particles of cloth that a surface cuts are on the wrong side of it: those of the smaller part. A surface need not have an inside, so no other side is known.

use crate::collide::ccd::distance::{PairKind, closest};
use crate::math::DVec3;
use crate::parallel;
use std::collections::{BTreeMap, BTreeSet};

/// Cosine of the angle up to which neighbours are led the same way [1].
const SAME_WAY: f64 = 0.5;
/// Particles that a thread takes in a row.
const TASK: usize = 16;

/// Points and triangles.
#[derive(Debug, Clone, Copy)]
pub struct Mesh<'a> {
    /// Points [m].
    pub points: &'a [DVec3],
    /// Triangles, as numbers of points.
    pub triangles: &'a [[u32; 3]],
}

impl Mesh<'_> {
    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|p| self.points[p as usize])
    }
}

/// Features of cloth and of a body whose surface it has gone through, where that is: the points of a particle or an edge, then those of a face or an edge.
pub type Crossing = ([u32; 4], PairKind);

/// What of `cloth` is on the wrong side of a `surface`, and where it goes back: particles to the face that is nearest, and edges of which both ends are on the right side
/// to the edge that they go across. `pairs` of triangles intersect.
pub fn through(cloth: Mesh, surface: Mesh, pairs: &[[u32; 2]]) -> Vec<Crossing> {
    let crossed = crossed_faces(cloth, surface, pairs);
    let wrong = smaller_parts(cloth, &crossed);
    let mut found = nearest_faces(cloth, surface, &wrong, crossed.keys().flatten());
    drop_torn(cloth, surface, &mut found);
    for (edge, faces) in crossed.iter().filter(|(edge, faces)| {
        faces.len() == 2 && edge.iter().all(|p| wrong.binary_search(p).is_err())
    }) {
        let across = faces.iter().flat_map(|t| edges(surface.triangles[*t as usize]));
        let distance = |other: &[u32; 2]| {
            let [a, b] = edge.map(|p| cloth.points[p as usize]);
            let [c, d] = other.map(|p| surface.points[p as usize]);
            let near = closest(PairKind::EdgeEdge, &[a, b, c, d]);
            if near.weights.contains(&0.0) { f64::INFINITY } else { near.vector.length_squared() }
        };
        let nearest = across.map(|other| (distance(&other), other)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, [c, d])) = nearest.filter(|(distance, _)| distance.is_finite()) {
            found.push(([edge[0], edge[1], c, d], PairKind::EdgeEdge));
        }
    }
    found
}

/// For particles that are `wrong` the faces that are nearest; edges with the `ends` go through some.
fn nearest_faces<'a>(
    cloth: Mesh,
    surface: Mesh,
    wrong: &'a [u32],
    ends: impl Iterator<Item = &'a u32>,
) -> Vec<Crossing> {
    let (low, high) = wrong.iter().chain(ends).fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
        let x = cloth.points[*p as usize];
        (low.min(x), high.max(x))
    });
    // Some face meets this box, so no particle is nearest to one that is further from it than it is large.
    let around = DVec3::splat(low.distance(high));
    let (low, high) = (low - around, high + around);
    let is_near = |t: &u32| {
        let [a, b, c] = surface.corners(*t);
        a.max(b).max(c).cmpge(low).all() && a.min(b).min(c).cmple(high).all()
    };
    let near: Vec<u32> = (0..surface.triangles.len() as u32).filter(is_near).collect();
    let mut faces = vec![u32::MAX; wrong.len()];
    parallel::each(&mut faces, TASK, |k, face| {
        let x = cloth.points[wrong[k] as usize];
        let distance = |t: &u32| {
            let [a, b, c] = surface.corners(*t);
            closest(PairKind::PointTriangle, &[x, a, b, c]).vector.length_squared()
        };
        let nearest = near.iter().map(|t| (distance(t), *t)).min_by(|a, b| a.0.total_cmp(&b.0));
        *face = nearest.map_or(u32::MAX, |(_, t)| t);
    });
    let found = wrong.iter().zip(faces).filter(|(_, face)| *face != u32::MAX);
    found
        .map(|(p, face)| {
            let [a, b, c] = surface.triangles[face as usize];
            ([*p, a, b, c], PairKind::PointTriangle)
        })
        .collect()
}

/// Leaves out particles that would be led other ways than their neighbours: they lie between two surfaces, which would tear the cloth.
fn drop_torn(cloth: Mesh, surface: Mesh, found: &mut Vec<Crossing>) {
    let way = |points: &[u32; 4]| {
        let [a, b, c] = [1, 2, 3].map(|k| surface.points[points[k] as usize]);
        -closest(PairKind::PointTriangle, &[cloth.points[points[0] as usize], a, b, c]).vector.normalize_or_zero()
    };
    let ways: BTreeMap<u32, DVec3> = found.iter().map(|(points, _)| (points[0], way(points))).collect();
    let is_torn = |[p, q]: &[u32; 2]| {
        ways.get(p).zip(ways.get(q)).is_some_and(|(a, b)| a.dot(*b) < SAME_WAY)
    };
    let torn: BTreeSet<u32> = cloth.triangles.iter().flat_map(|t| edges(*t)).filter(is_torn).flatten().collect();
    found.retain(|(points, _)| !torn.contains(&points[0]));
}

/// Edges of cloth that go through the surface, and through which of its triangles.
fn crossed_faces(cloth: Mesh, surface: Mesh, pairs: &[[u32; 2]]) -> BTreeMap<[u32; 2], BTreeSet<u32>> {
    let mut crossed: BTreeMap<[u32; 2], BTreeSet<u32>> = BTreeMap::new();
    for [t, u] in pairs {
        let corners = surface.corners(*u);
        for edge in edges(cloth.triangles[*t as usize]) {
            if goes_through(edge.map(|p| cloth.points[p as usize]), corners) {
                crossed.entry(edge).or_default().insert(*u);
            }
        }
    }
    crossed
}

/// Particles of parts that hang on others only by edges that go through an odd number of times, and have fewer particles than one of these; ascending.
fn smaller_parts(cloth: Mesh, crossed: &BTreeMap<[u32; 2], BTreeSet<u32>>) -> Vec<u32> {
    let is_cut = |edge: &[u32; 2]| crossed.get(edge).is_some_and(|faces| faces.len() % 2 == 1);
    if !crossed.keys().any(is_cut) {
        return Vec::new();
    }
    let mut parts = ConnectedParts((0..cloth.points.len() as u32).collect());
    for edge @ [a, b] in cloth.triangles.iter().flat_map(|t| edges(*t)) {
        if !is_cut(&edge) {
            parts.join(a, b);
        }
    }
    let part: Vec<u32> = (0..cloth.points.len() as u32).map(|p| parts.root(p)).collect();
    let mut size = vec![0_u32; part.len()];
    part.iter().for_each(|root| size[*root as usize] += 1);
    let smaller = |[a, b]: &[u32; 2]| {
        let [a, b] = [*a, *b].map(|p| part[p as usize]);
        let sizes = [a, b].map(|root| size[root as usize]);
        (sizes[0] != sizes[1]).then_some(if sizes[0] < sizes[1] { a } else { b })
    };
    let wrong: BTreeSet<u32> = crossed.keys().filter(|edge| is_cut(edge)).filter_map(smaller).collect();
    (0..part.len() as u32).filter(|p| wrong.contains(&part[*p as usize])).collect()
}

/// ConnectedParts of particles that hang together: of each another that is nearer to its root, which is its own.
struct ConnectedParts(Vec<u32>);

impl ConnectedParts {
    fn root(&mut self, mut p: u32) -> u32 {
        while self.0[p as usize] != p {
            self.0[p as usize] = self.0[self.0[p as usize] as usize];
            p = self.0[p as usize];
        }
        p
    }

    fn join(&mut self, a: u32, b: u32) {
        let [a, b] = [self.root(a), self.root(b)];
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Edges of a triangle, smaller end first.
fn edges([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// Whether a segment goes through a triangle.
fn goes_through([from, to]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let n = (b - a).cross(c - a);
    let (before, after) = (n.dot(from - a), n.dot(to - a));
    if before * after >= 0.0 {
        return false;
    }
    let place = from.lerp(to, before / (before - after));
    let inside = |p: DVec3, q: DVec3| (q - p).cross(place - p).dot(n) >= 0.0;
    inside(a, b) && inside(b, c) && inside(c, a)
}
