//! The plate that the triangles of a piece of cloth make: which particles weigh how much in the curvature of every triangle, on any mesh.
//!
//! By Gauss' theorem the second derivatives of the surface are on average over a triangle x,ij = 1/A Σ l n_j x,i over its three sides, with
//! the slopes x,i in their middles (the basic shell triangle of Oñate and Zárate 2000). Two things make it converge on any mesh:
//!
//! - Both triangles of a side have the same slope there. So constant moments leave all particles inside in balance: the patch test.
//! - The slope is exact for every quadratic surface, and so is the curvature. Along a side the difference of its ends is. Across it a quadratic is
//!   laid by least squares through the corners of its triangles and of their neighbours; a mean of the slopes of the two triangles alone would be
//!   exact on regular meshes only.
//!
//! Where cloth ends the same is done from one side: with the moments that a free edge has, no slope across it does work. Triangles around a side are
//! unfolded into a plane, so lengths at rest alone count and any surface is a plate that rests flat.

use super::membranes::on_fabric;
use crate::Mesh;
use std::collections::BTreeMap;
use taffeta::math::DVec3;
use taffeta::model::topology::Topology;
use taffeta::model::{Fabric, PlatePatch, Plates};

/// A quadratic has so many numbers.
const NUMBERS: usize = 6;
/// Share of its own square that each quadratic term counts more: where points do not tell two surfaces apart the flatter one is taken.
const FLATTER: f64 = 1e-6;

/// The plate of a piece of cloth.
pub(super) fn plates(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Plates {
    let patches = Patches::new(&topology.triangles, &rest.positions);
    let slopes: BTreeMap<[u32; 2], Slope> =
        patches.sides.keys().map(|ends| (*ends, patches.slope(*ends))).collect();
    let rigidity = [fabric.bending_warp, fabric.bending_weft, fabric.twist()].map(|d| 1e-6 * d);
    let mut plates = Plates::default();
    for (t, triangle) in topology.triangles.iter().enumerate() {
        let place = on_fabric(triangle, rest);
        let area = 0.5 * cross(minus(place[1], place[0]), minus(place[2], place[0])).abs();
        let mut sums: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            let along = minus(place[(k + 1) % 3], place[k]);
            let length = dot(along, along).sqrt();
            // Outward, as long as the side.
            let inward = cross(along, minus(place[(k + 2) % 3], place[k])) > 0.0;
            let out = if inward { [along[1], -along[0]] } else { [-along[1], along[0]] };
            let mut add = |i: u32, slope: [f64; 2]| {
                let sum = sums.entry(i).or_insert([0.0; 3]);
                sum[0] += out[0] * slope[0] / area;
                sum[1] += out[1] * slope[1] / area;
                sum[2] += (out[0] * slope[1] + out[1] * slope[0]) / area;
            };
            add(a, along.map(|c| -c / (length * length)));
            add(b, along.map(|c| c / (length * length)));
            let slope = &slopes[&[a.min(b), a.max(b)]];
            let sign = if slope.into == t { -1.0 } else { 1.0 };
            for (i, across) in &slope.weights {
                add(*i, out.map(|c| sign * across * c / length));
            }
        }
        let points: Vec<u32> = sums.keys().copied().collect();
        let weights: Vec<[f64; 3]> = sums.into_values().collect();
        plates.push(PlatePatch {
            points: &points,
            weights: &weights,
            rest: [0.0; 3],
            stiffness: rigidity.map(|d| d * area),
            damping: rigidity.map(|d| 1e-3 * fabric.bending_damping * (d * area)),
        });
    }
    plates
}

/// The slope across a side in its middle: what particles weigh in it [1/m].
struct Slope {
    /// The triangle that it leads into.
    into: usize,
    weights: Vec<(u32, f64)>,
}

/// A particle and its place in a plane [m].
type Placed = (u32, [f64; 2]);

/// Triangles and who is beside whom.
struct Patches<'a> {
    triangles: &'a [[u32; 3]],
    x: &'a [DVec3],
    /// The one or two triangles of every side, smaller particle first.
    sides: BTreeMap<[u32; 2], Vec<usize>>,
}

impl<'a> Patches<'a> {
    fn new(triangles: &'a [[u32; 3]], x: &'a [DVec3]) -> Self {
        let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (t, triangle) in triangles.iter().enumerate() {
            sides_of(triangle).for_each(|ends| sides.entry(ends).or_default().push(t));
        }
        Self { triangles, x, sides }
    }

    /// What particles weigh in the slope across a side.
    fn slope(&self, ends: [u32; 2]) -> Slope {
        let length = self.x[ends[0] as usize].distance(self.x[ends[1] as usize]);
        let points = self.unfolded(ends);
        // Lengths of the side, so that numbers are about 1.
        let terms = |[x, y]: [f64; 2]| {
            let (x, y) = (x / length, y / length);
            [1.0, x, y, x * x, x * y, y * y]
        };
        let mut squares = [[0.0; NUMBERS]; NUMBERS];
        for (_, at) in &points {
            let f = terms(*at);
            squares
                .iter_mut()
                .zip(f)
                .for_each(|(row, a)| row.iter_mut().zip(f).for_each(|(s, b)| *s += a * b));
        }
        // A term that is nothing at all points stays nothing.
        (3..NUMBERS).for_each(|k| squares[k][k] += FLATTER * squares[k][k].max(1.0));
        let mut of_slope = [0.0; NUMBERS];
        of_slope[2] = 1.0 / length;
        let mut numbers = solved(squares, of_slope);
        // Once more for what rounding has left, so that flat surfaces have their slopes to the last digit.
        let product = |row: &[f64; NUMBERS]| row.iter().zip(&numbers).map(|(s, c)| s * c).sum::<f64>();
        let left = std::array::from_fn(|k| of_slope[k] - product(&squares[k]));
        numbers.iter_mut().zip(solved(squares, left)).for_each(|(c, more)| *c += more);
        let weight = |at: [f64; 2]| terms(at).iter().zip(numbers).map(|(f, c)| f * c).sum();
        Slope {
            into: self.sides[&ends][0],
            weights: points.iter().map(|(i, at)| (*i, weight(*at))).collect(),
        }
    }

    /// The corners of the triangles of a side and of their neighbours, and of those around while they are too few for a quadratic, in the plane [m]: the side along
    /// x with its middle at 0, its first triangle above.
    fn unfolded(&self, ends: [u32; 2]) -> Vec<Placed> {
        let half = 0.5 * self.x[ends[0] as usize].distance(self.x[ends[1] as usize]);
        let mut points = vec![(ends[0], [-half, 0.0]), (ends[1], [half, 0.0])];
        let mut unfolded: Vec<usize> = Vec::new();
        // Sides to unfold over, with their ends in the plane, and a point that lies on the other side of them.
        let mut ring: Vec<(usize, [Placed; 2], [f64; 2])> = Vec::new();
        for (t, below) in self.sides[&ends].iter().zip([-1.0, 1.0]) {
            ring.push((*t, [points[0], points[1]], [0.0, below]));
        }
        let mut rings = 0;
        while !ring.is_empty() && (rings < 2 || points.len() < NUMBERS) {
            let mut next = Vec::new();
            for (t, side, beyond) in ring {
                if unfolded.contains(&t) {
                    continue;
                }
                unfolded.push(t);
                let apex = self.apex(t, side, beyond);
                if points.iter().all(|(i, _)| *i != apex.0) {
                    points.push(apex);
                }
                for (near, far) in [(side[0], side[1]), (side[1], side[0])] {
                    let ends = [near.0.min(apex.0), near.0.max(apex.0)];
                    let others = self.sides[&ends].iter().filter(|other| **other != t);
                    next.extend(others.map(|other| (*other, [near, apex], far.1)));
                }
            }
            ring = next;
            rings += 1;
        }
        points
    }

    /// The third corner of a triangle, unfolded over a side to where `beyond` is not.
    fn apex(&self, t: usize, [(a, p), (b, q)]: [Placed; 2], beyond: [f64; 2]) -> Placed {
        let c = self.triangles[t].into_iter().find(|i| *i != a && *i != b).unwrap_or(a);
        let [from, to, tip] = [a, b, c].map(|i| self.x[i as usize]);
        let (edge, reach) = (to - from, tip - from);
        let squared = edge.length_squared();
        let (foot, height) = (reach.dot(edge) / squared, edge.cross(reach).length() / squared);
        let along = minus(q, p);
        let height = if cross(along, minus(beyond, p)) > 0.0 { -height } else { height };
        (c, [p[0] + foot * along[0] - height * along[1], p[1] + foot * along[1] + height * along[0]])
    }
}

fn sides_of(triangle: &[u32; 3]) -> impl Iterator<Item = [u32; 2]> {
    let [a, b, c] = *triangle;
    [[a, b], [b, c], [c, a]].into_iter().map(|[a, b]| [a.min(b), a.max(b)])
}

/// The solution of a symmetric positive definite system, by elimination.
fn solved(mut m: [[f64; NUMBERS]; NUMBERS], mut b: [f64; NUMBERS]) -> [f64; NUMBERS] {
    for k in 0..NUMBERS {
        let pivot = m[k];
        for i in k + 1..NUMBERS {
            let factor = m[i][k] / pivot[k];
            (k..NUMBERS).for_each(|j| m[i][j] -= factor * pivot[j]);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..NUMBERS).rev() {
        let known: f64 = (k + 1..NUMBERS).map(|j| m[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / m[k][k];
    }
    b
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}
