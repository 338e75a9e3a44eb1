//! Who touches whom: edges, neighbours, boundary, and which edges are structure.
//!
//! If all edges of a triangle mesh were kept at their length the cloth would lock: about 3 V constraints meet 3 V
//! unknowns. P2 counts about 2 V for quads. So triangles are paired into quads where two of them make a fair one; sides of quads
//! (and edges of triangles left over) are structure, both diagonals of every quad carry shear.

use crate::math::DVec3;

/// Marks the missing second face of a boundary edge.
pub const NO_FACE: u32 = u32::MAX;

/// A surface and everything that can be said of it without knowing the fabric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// All triangles; quads are cut along their shorter diagonal.
    pub triangles: Vec<[u32; 3]>,
    /// Quads: those given, then those paired from triangles. Corners in order around.
    pub quads: Vec<[u32; 4]>,
    /// Structural edges, smaller particle first, sorted.
    pub edges: Vec<[u32; 2]>,
    /// The one or two triangles at every structural edge.
    pub edge_triangles: Vec<[u32; 2]>,
    /// Both diagonals of every quad.
    pub diagonals: Vec<[u32; 2]>,
    /// Particles on the boundary, sorted.
    pub boundary: Vec<u32>,
    /// Pairs of structural edges that meet nearly straight: (end, middle, end).
    pub straights: Vec<[u32; 3]>,
}

/// Why a surface cannot be cloth.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeshProblem {
    /// There is nothing to simulate.
    #[error("the mesh has no triangles or quads")]
    Empty,
    /// An index that names no point.
    #[error("face {face} names point {index}, but there are only {points} points")]
    Index {
        /// The face, triangles first, then quads.
        face: usize,
        /// The index.
        index: u32,
        /// How many points there are.
        points: usize,
    },
    /// A face that uses a point twice.
    #[error("face {face} uses point {index} twice")]
    Repeated {
        /// The face, triangles first, then quads.
        face: usize,
        /// The point.
        index: u32,
    },
    /// A point that is nowhere.
    #[error("point {index} is not finite")]
    NotFinite {
        /// The point.
        index: usize,
    },
    /// A triangle, or half of a quad, without area.
    #[error("triangle {triangle:?} has no area")]
    NoArea {
        /// Its points.
        triangle: [u32; 3],
    },
    /// An edge that is not a surface's.
    #[error("the edge between points {} and {} has {faces} faces", edge[0], edge[1])]
    TooManyFaces {
        /// Its points.
        edge: [u32; 2],
        /// How many faces meet there.
        faces: usize,
    },
}

impl MeshProblem {
    /// What to do about it, in the words of modelling programs.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Empty => "export the mesh with its faces",
            Self::Index { .. } => "export the mesh again: its file is damaged",
            Self::Repeated { .. } | Self::NoArea { .. } => {
                "remove these faces in a modelling program (Blender: Clean Up > Degenerate Dissolve), or join near points with `weld`"
            }
            Self::NotFinite { .. } => "find out how the mesh came to hold it, and delete these points",
            Self::TooManyFaces { .. } => {
                "delete the faces inside the surface or doubled faces (Blender: Select Non Manifold, then Delete Faces)"
            }
        }
    }

    /// The same problem with the points' numbers in their file.
    pub fn in_file(self, point_of: &[u32]) -> Self {
        let file = |i: u32| point_of.get(i as usize).copied().unwrap_or(i);
        match self {
            Self::Empty => Self::Empty,
            Self::Index { face, index, points } => Self::Index { face, index, points },
            Self::Repeated { face, index } => Self::Repeated { face, index: file(index) },
            Self::NotFinite { index } => Self::NotFinite { index: file(index as u32) as usize },
            Self::NoArea { triangle } => Self::NoArea { triangle: triangle.map(file) },
            Self::TooManyFaces { edge, faces } => Self::TooManyFaces { edge: edge.map(file), faces },
        }
    }
}

impl Topology {
    /// All of a surface over points at `x` [m], or everything that is wrong with it.
    pub fn new(x: &[DVec3], triangles: &[[u32; 3]], quads: &[[u32; 4]]) -> Result<Self, Vec<MeshProblem>> {
        check_faces(x, triangles, quads)?;
        let (mut triangles, mut quads) = (triangles.to_vec(), quads.to_vec());
        // The triangles of quad q are `first + 2 q` and `first + 2 q + 1`.
        let first = triangles.len();
        triangles.extend(quads.iter().flat_map(|q| cut_quad(q, x)));
        check_areas(&triangles, x)?;
        let half_edges = sorted_half_edges(&triangles);
        let all_edges = join_half_edges(&half_edges)?;

        let mut inside_quad = vec![false; all_edges.len()];
        for (i, edge) in all_edges.iter().enumerate() {
            let [s, t] = edge.triangles.map(|t| t as usize);
            inside_quad[i] = s >= first && edge.triangles[1] != NO_FACE && (s - first) / 2 == (t - first) / 2;
        }
        pair_triangles(&triangles[..first], &all_edges, x, &mut inside_quad, &mut quads);
        Ok(Self::of_faces(triangles, quads, &all_edges, &inside_quad, x))
    }

    /// What follows from faces, all their edges, and which of those are cuts through quads.
    fn of_faces(
        triangles: Vec<[u32; 3]>,
        quads: Vec<[u32; 4]>,
        all_edges: &[FullEdge],
        inside_quad: &[bool],
        x: &[DVec3],
    ) -> Self {
        let structural = || all_edges.iter().zip(inside_quad).filter(|(_, inside)| !**inside).map(|(e, _)| e);
        let edges: Vec<[u32; 2]> = structural().map(|e| e.ends).collect();
        let mut boundary: Vec<u32> =
            structural().filter(|e| e.triangles[1] == NO_FACE).flat_map(|e| e.ends).collect();
        boundary.sort_unstable();
        boundary.dedup();
        let straights = straight_pairs(&edges, x);
        Self {
            edge_triangles: structural().map(|e| e.triangles).collect(),
            diagonals: quads.iter().flat_map(|q| [[q[0], q[2]], [q[1], q[3]]]).collect(),
            triangles,
            quads,
            edges,
            boundary,
            straights,
        }
    }

    /// Lets go a particle: of the faces around it those on the side of its neighbour `towards` get `spare` in its place. The sides are those of the plane
    /// across that edge at rest, `x` [m]. Returns the triangles that were given over; none, and nothing happens, if all faces are on one side. Edges stay as they were
    /// until [`Topology::find_edges`].
    pub fn split(&mut self, particle: u32, towards: u32, spare: u32, x: &[DVec3]) -> Vec<u32> {
        let at = |i: u32| x[i as usize];
        let across = at(towards) - at(particle);
        let beyond =
            |corners: &[u32]| corners.iter().map(|i| at(*i) - at(particle)).sum::<DVec3>().dot(across) > 0.0;
        let quads_around: Vec<[u32; 4]> =
            self.quads.iter().filter(|q| q.contains(&particle)).copied().collect();
        let moves = |triangle: &[u32; 3]| {
            let quad = quads_around.iter().find(|quad| triangle.iter().all(|i| quad.contains(i)));
            quad.map_or_else(|| beyond(triangle), |quad| beyond(quad))
        };
        let around: Vec<usize> =
            (0..self.triangles.len()).filter(|t| self.triangles[*t].contains(&particle)).collect();
        let moved: Vec<u32> =
            around.iter().filter(|t| moves(&self.triangles[**t])).map(|t| *t as u32).collect();
        if moved.is_empty() || moved.len() == around.len() {
            return Vec::new();
        }
        let renamed = |i: &mut u32| *i = if *i == particle { spare } else { *i };
        self.quads.iter_mut().filter(|q| q.contains(&particle) && beyond(&q[..])).flatten().for_each(renamed);
        moved.iter().for_each(|t| self.triangles[*t as usize].iter_mut().for_each(renamed));
        moved
    }

    /// Finds edges and all that follows from them anew, for faces that were renamed.
    pub fn find_edges(&mut self, x: &[DVec3]) {
        let (triangles, quads) = (std::mem::take(&mut self.triangles), std::mem::take(&mut self.quads));
        // Renaming corners gives no edge more faces than it had.
        let all_edges = join_half_edges(&sorted_half_edges(&triangles)).unwrap_or_default();
        let mut cuts: Vec<[u32; 2]> = quads
            .iter()
            .flat_map(|q| [[q[0], q[2]], [q[1], q[3]]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        cuts.sort_unstable();
        let inside_quad: Vec<bool> =
            all_edges.iter().map(|edge| cuts.binary_search(&edge.ends).is_ok()).collect();
        *self = Self::of_faces(triangles, quads, &all_edges, &inside_quad, x);
    }

    /// For every particle the particles at the other ends of its structural edges: `list[starts[i]..starts[i + 1]]`.
    pub fn neighbours(edges: &[[u32; 2]], particles: usize) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0u32; particles + 1];
        edges.iter().flatten().for_each(|&i| starts[i as usize + 1] += 1);
        for i in 0..particles {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut list) = (starts.clone(), vec![0; 2 * edges.len()]);
        for &[a, b] in edges {
            for (from, to) in [(a, b), (b, a)] {
                list[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        (starts, list)
    }
}

fn check_faces(x: &[DVec3], triangles: &[[u32; 3]], quads: &[[u32; 4]]) -> Result<(), Vec<MeshProblem>> {
    let points = x.len();
    let mut problems = Vec::new();
    if triangles.is_empty() && quads.is_empty() {
        problems.push(MeshProblem::Empty);
    }
    let faces = triangles.iter().map(|t| &t[..]).chain(quads.iter().map(|q| &q[..]));
    for (face, corners) in faces.enumerate() {
        for (i, &index) in corners.iter().enumerate() {
            if index as usize >= points {
                problems.push(MeshProblem::Index { face, index, points });
            } else if corners[..i].contains(&index) {
                problems.push(MeshProblem::Repeated { face, index });
            }
        }
    }
    let lost = x.iter().enumerate().filter(|(_, p)| !p.is_finite());
    problems.extend(lost.map(|(index, _)| MeshProblem::NotFinite { index }));
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn check_areas(triangles: &[[u32; 3]], x: &[DVec3]) -> Result<(), Vec<MeshProblem>> {
    let flat = |t: &&[u32; 3]| {
        let [a, b, c] = t.map(|i| x[i as usize]);
        let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
        // A height below a millionth of the longest side is a line to any solver.
        let doubled_area = (b - a).cross(c - a).length();
        doubled_area <= 1e-6 * longest || !doubled_area.is_finite()
    };
    let problems: Vec<_> =
        triangles.iter().filter(flat).map(|&triangle| MeshProblem::NoArea { triangle }).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The two triangles of a quad, cut along the shorter diagonal.
fn cut_quad(&[a, b, c, d]: &[u32; 4], x: &[DVec3]) -> [[u32; 3]; 2] {
    let length = |i: u32, j: u32| x[i as usize].distance_squared(x[j as usize]);
    if length(a, c) <= length(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

struct HalfEdge {
    ends: [u32; 2],
    triangle: u32,
}

struct FullEdge {
    ends: [u32; 2],
    triangles: [u32; 2],
}

fn sorted_half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut list: Vec<HalfEdge> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            list.push(HalfEdge { ends: [a.min(b), a.max(b)], triangle: t as u32 });
        }
    }
    list.sort_unstable_by_key(|h| (h.ends, h.triangle));
    list
}

fn join_half_edges(half_edges: &[HalfEdge]) -> Result<Vec<FullEdge>, Vec<MeshProblem>> {
    let (mut edges, mut problems) = (Vec::new(), Vec::new());
    for group in half_edges.chunk_by(|a, b| a.ends == b.ends) {
        let ends = group[0].ends;
        match group {
            [one] => edges.push(FullEdge { ends, triangles: [one.triangle, NO_FACE] }),
            [one, two] => edges.push(FullEdge { ends, triangles: [one.triangle, two.triangle] }),
            many => problems.push(MeshProblem::TooManyFaces { edge: ends, faces: many.len() }),
        }
    }
    if problems.is_empty() { Ok(edges) } else { Err(problems) }
}

/// Pairs triangles into quads, best pair first. A pair is fair if its four corners are within 50° of square.
fn pair_triangles(
    triangles: &[[u32; 3]],
    edges: &[FullEdge],
    x: &[DVec3],
    inside_quad: &mut [bool],
    quads: &mut Vec<[u32; 4]>,
) {
    let mut candidates: Vec<(f64, usize, [u32; 4])> = Vec::new();
    for (i, edge) in edges.iter().enumerate() {
        let [s, t] = edge.triangles.map(|t| t as usize);
        if s < triangles.len() && t < triangles.len() {
            let quad = quad_of(&triangles[s], &triangles[t], edge.ends);
            let skew = skewness(&quad, x);
            if skew < 0.77 {
                candidates.push((skew, i, quad));
            }
        }
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut taken = vec![false; triangles.len()];
    for (_, i, quad) in candidates {
        let [s, t] = edges[i].triangles.map(|t| t as usize);
        if !taken[s] && !taken[t] {
            (taken[s], taken[t], inside_quad[i]) = (true, true, true);
            quads.push(quad);
        }
    }
}

/// The corners around two triangles that share the edge `ends`, turning as the first does.
fn quad_of(first: &[u32; 3], second: &[u32; 3], ends: [u32; 2]) -> [u32; 4] {
    let apex = |t: &[u32; 3]| t.iter().position(|i| !ends.contains(i)).unwrap_or(0);
    let p = apex(first);
    [first[p], first[(p + 1) % 3], second[apex(second)], first[(p + 2) % 3]]
}

/// The largest |cosine| of a corner: 0 for a rectangle. Folded or reflex quads count as 1.
fn skewness(quad: &[u32; 4], x: &[DVec3]) -> f64 {
    let p = quad.map(|i| x[i as usize]);
    let normal = (p[2] - p[0]).cross(p[3] - p[1]);
    let mut worst: f64 = 0.0;
    for i in 0..4 {
        let (to_next, to_last) = (p[(i + 1) % 4] - p[i], p[(i + 3) % 4] - p[i]);
        if to_next.cross(to_last).dot(normal) <= 0.0 {
            return 1.0;
        }
        worst = worst.max((to_next.dot(to_last) / (to_next.length() * to_last.length())).abs());
    }
    worst
}

/// At every particle, structural edges matched two by two, straightest first, while they bend by less than 45°.
pub fn straight_pairs(edges: &[[u32; 2]], x: &[DVec3]) -> Vec<[u32; 3]> {
    let (starts, neighbours) = Topology::neighbours(edges, x.len());
    let mut straights = Vec::new();
    let mut candidates: Vec<(f64, u32, u32)> = Vec::new();
    for middle in 0..x.len() {
        let around = &neighbours[starts[middle] as usize..starts[middle + 1] as usize];
        candidates.clear();
        for (k, &a) in around.iter().enumerate() {
            for &b in &around[k + 1..] {
                let (ea, eb) = (x[a as usize] - x[middle], x[b as usize] - x[middle]);
                let cosine = ea.dot(eb) / (ea.length() * eb.length());
                if cosine < -std::f64::consts::FRAC_1_SQRT_2 {
                    candidates.push((cosine, a, b));
                }
            }
        }
        candidates.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        let first_new = straights.len();
        for &(_, a, b) in &candidates {
            let used = |i: u32| straights[first_new..].iter().any(|s: &[u32; 3]| s[0] == i || s[2] == i);
            if !used(a) && !used(b) {
                straights.push([a, middle as u32, b]);
            }
        }
    }
    straights
}
