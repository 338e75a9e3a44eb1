//! Soft solids from closed surfaces: a body-centred lattice of tetrahedra, kept where it is inside, its border drawn out to the surface.
//!
//! Every tetrahedron spans the centres of two neighbouring cubes and an edge of the face between them. So all are alike, none is a sliver, and what is kept has a
//! surface of its own, which is what touches. The border is moved only as far as every tetrahedron keeps a good part of its volume.

use crate::scene::{Mesh, SoftSolid};
use std::collections::BTreeMap;
use taffeta::math::{DVec3, trig};
use taffeta::model::Springs;

/// More cubes than this are not looked at.
const MOST_CUBES: f64 = 2e6;
/// The share of its volume that every tetrahedron keeps when the border is drawn out, and how often the border gives way for it.
const KEPT: f64 = 0.2;
const ROUNDS: usize = 40;
/// By how much it gives way each time.
const GIVES_WAY: f64 = 0.8;

/// A surface filled with tetrahedra.
pub struct Stuffed {
    /// Its particles, and the triangles of its surface, which look outwards.
    pub mesh: Mesh,
    /// Its tetrahedra, all turned the same way.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// Why a surface cannot be filled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StuffingProblem {
    /// It holds too many cells.
    #[error("cells of {cell} m make {cubes:.0} cubes around it, where {MOST_CUBES:.0} is the most")]
    TooFine {
        /// Side of a cube [m].
        cell: f64,
        /// How many there would be.
        cubes: f64,
    },
    /// No tetrahedron lies inside it.
    #[error("no cell of {cell} m fits into it")]
    TooCoarse {
        /// Side of a cube [m].
        cell: f64,
    },
}

/// Fills a closed surface whose triangles look outwards.
pub fn stuff(surface: &Mesh, triangles: &[[u32; 3]], cell: f64) -> Result<Stuffed, StuffingProblem> {
    let corners: Vec<[DVec3; 3]> =
        triangles.iter().map(|t| t.map(|i| surface.positions[i as usize])).collect();
    let lattice = StuffingLattice::around(&corners, cell)?;
    let mut inside = BTreeMap::new();
    let mut tetrahedra: Vec<[[i32; 3]; 4]> = Vec::new();
    lattice.each_tetrahedron(|points| {
        let mut is_inside =
            |p: [i32; 3]| *inside.entry(p).or_insert_with(|| winds_around(&corners, lattice.at(p)));
        if points.into_iter().all(&mut is_inside) {
            tetrahedra.push(points);
        }
    });
    if tetrahedra.is_empty() {
        return Err(StuffingProblem::TooCoarse { cell });
    }
    // Particles are numbered in the order of the lattice.
    let mut numbers: BTreeMap<[i32; 3], u32> = tetrahedra.iter().flatten().map(|p| (*p, 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let positions: Vec<DVec3> = numbers.keys().map(|p| lattice.at(*p)).collect();
    let tetrahedra: Vec<[u32; 4]> = tetrahedra.iter().map(|t| t.map(|p| numbers[&p])).collect();
    let triangles = border(&tetrahedra);
    let positions = drawn_out(positions, &tetrahedra, &triangles, &corners);
    Ok(Stuffed { mesh: Mesh { positions, triangles, ..Mesh::default() }, tetrahedra })
}

impl Stuffed {
    /// Mass of every particle [kg]: a quarter of each of its tetrahedra.
    pub fn masses(&self, density: f64) -> Vec<f64> {
        let mut mass = vec![0.0; self.mesh.positions.len()];
        for tetrahedron in &self.tetrahedra {
            let quarter = 0.25 * density * volume(tetrahedron, &self.mesh.positions);
            tetrahedron.iter().for_each(|i| mass[*i as usize] += quarter);
        }
        mass
    }

    /// Springs along all edges of tetrahedra.
    ///
    /// A network of springs that point evenly in all directions, with s = Σ k L² per volume, has the Lamé numbers λ = μ = s/15: Poisson's ratio 1/4, and Young's modulus
    /// 5/2 μ = s/6. With k = E V / L², V the volume of the tetrahedra around an edge, s is 6 E, because every tetrahedron has six edges.
    pub fn springs(&self, solid: &SoftSolid) -> Springs {
        let x = &self.mesh.positions;
        let mut around: BTreeMap<[u32; 2], f64> = BTreeMap::new();
        for t in &self.tetrahedra {
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                *around.entry([t[i].min(t[j]), t[i].max(t[j])]).or_default() += volume(t, x);
            }
        }
        let mut springs = Springs::default();
        for ([a, b], volume) in around {
            let length = x[a as usize].distance(x[b as usize]);
            let stiffness = solid.modulus * volume / (length * length);
            springs.ends.push([a, b]);
            springs.rest_length.push(length);
            springs.stiffness.push(stiffness);
            springs.damping.push(1e-3 * solid.damping * stiffness);
        }
        springs
    }
}

/// Cubes of which some are inside a surface. Points are numbered in half sides: corners of cubes have even numbers, centres odd ones.
struct StuffingLattice {
    low: DVec3,
    half: f64,
    cubes: [i32; 3],
}

impl StuffingLattice {
    fn around(corners: &[[DVec3; 3]], cell: f64) -> Result<Self, StuffingProblem> {
        let all = || corners.iter().flatten().copied();
        let low = all().reduce(DVec3::min).unwrap_or_default();
        let high = all().reduce(DVec3::max).unwrap_or_default();
        let count = ((high - low) / cell).ceil() + 1.0;
        let cubes = count.element_product();
        if cubes.is_nan() || cubes > MOST_CUBES {
            return Err(StuffingProblem::TooFine { cell, cubes });
        }
        // Centred, so that what is symmetrical stays so.
        let low = 0.5 * (low + high) - 0.5 * cell * count;
        Ok(Self { low, half: 0.5 * cell, cubes: count.to_array().map(|n| n as i32) })
    }

    fn at(&self, p: [i32; 3]) -> DVec3 {
        self.low + self.half * DVec3::from(p.map(f64::from))
    }

    /// Every two neighbouring centres with every edge of the face between them, turned so that volumes are positive.
    fn each_tetrahedron(&self, mut of: impl FnMut([[i32; 3]; 4])) {
        let [nx, ny, nz] = self.cubes;
        for (axis, u, v) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            for k in 0..nx * ny * nz {
                let cube = [k % nx, k / nx % ny, k / (nx * ny)];
                if cube[axis] + 1 == self.cubes[axis] {
                    continue;
                }
                let centre = cube.map(|i| 2 * i + 1);
                let moved = |du: i32, dv: i32, along: i32| {
                    let mut p = centre;
                    (p[axis], p[u], p[v]) = (p[axis] + along, p[u] + du, p[v] + dv);
                    p
                };
                let face = [(-1, -1), (1, -1), (1, 1), (-1, 1)].map(|(du, dv)| moved(du, dv, 1));
                for e in 0..4 {
                    of([centre, moved(0, 0, 2), face[e], face[(e + 1) % 4]]);
                }
            }
        }
    }
}

/// Whether a surface winds around a point: the sum of the solid angles of its triangles (van Oosterom and Strackee 1983) is a full one.
fn winds_around(corners: &[[DVec3; 3]], p: DVec3) -> bool {
    let half_angle = |triangle: &[DVec3; 3]| {
        let [a, b, c] = triangle.map(|corner| corner - p);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        trig::atan2(a.dot(b.cross(c)), below)
    };
    corners.iter().map(half_angle).sum::<f64>() > std::f64::consts::PI
}

/// Six times the volume of a tetrahedron is positive if its last three corners run against the clock seen from the first [m³].
pub fn volume(&[a, b, c, d]: &[u32; 4], x: &[DVec3]) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|i| x[i as usize]);
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// Faces that one tetrahedron alone has, looking outwards.
fn border(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces: BTreeMap<[u32; 3], (usize, [u32; 3])> = BTreeMap::new();
    for &[a, b, c, d] in tetrahedra {
        for face in [[a, c, b], [a, b, d], [a, d, c], [b, c, d]] {
            let mut key = face;
            key.sort_unstable();
            faces.entry(key).or_insert((0, face)).0 += 1;
        }
    }
    faces.into_values().filter(|(count, _)| *count == 1).map(|(_, face)| face).collect()
}

/// The nearest point of a surface [m]; the first of several.
fn nearest_on(corners: &[[DVec3; 3]], p: DVec3) -> DVec3 {
    let mut nearest = (f64::INFINITY, p);
    for triangle in corners {
        let [a, b, c] = *triangle;
        // Most triangles are further away than their boxes allow to matter.
        let beyond = (a.min(b).min(c) - p).max(p - a.max(b).max(c)).max(DVec3::ZERO);
        if beyond.length_squared() < nearest.0 {
            let point = nearest_in(p, triangle);
            let far = point.distance_squared(p);
            nearest = if far < nearest.0 { (far, point) } else { nearest };
        }
    }
    nearest.1
}

/// The nearest point of a triangle [m].
fn nearest_in(p: DVec3, triangle: &[DVec3; 3]) -> DVec3 {
    let [a, b, c] = *triangle;
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let (mut inside, mut nearest) = (true, (f64::INFINITY, a));
    for k in 0..3 {
        let (from, along) = (triangle[k], triangle[(k + 1) % 3] - triangle[k]);
        inside &= normal.cross(along).dot(p - from) >= 0.0;
        let t = ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let point = from + t * along;
        let far = point.distance_squared(p);
        nearest = if far < nearest.0 { (far, point) } else { nearest };
    }
    if inside { p - (p - a).dot(normal) * normal } else { nearest.1 }
}

/// Moves the border out to the nearest points of a surface, as far as no tetrahedron loses too much.
fn drawn_out(
    lattice: Vec<DVec3>,
    tetrahedra: &[[u32; 4]],
    border: &[[u32; 3]],
    corners: &[[DVec3; 3]],
) -> Vec<DVec3> {
    let mut ways = vec![DVec3::ZERO; lattice.len()];
    for i in border.iter().flatten().map(|i| *i as usize) {
        ways[i] = nearest_on(corners, lattice[i]) - lattice[i];
    }
    let mut drawn = lattice.clone();
    for _ in 0..ROUNDS {
        drawn = lattice.iter().zip(&ways).map(|(x, way)| *x + *way).collect();
        let squeezed = tetrahedra.iter().filter(|t| volume(t, &drawn) < KEPT * volume(t, &lattice));
        let tight: Vec<u32> = squeezed.flatten().copied().collect();
        if tight.is_empty() {
            return drawn;
        }
        let mut gives = vec![1.0; ways.len()];
        tight.iter().for_each(|i| gives[*i as usize] = GIVES_WAY);
        ways.iter_mut().zip(gives).for_each(|(way, share)| *way *= share);
    }
    drawn
}
