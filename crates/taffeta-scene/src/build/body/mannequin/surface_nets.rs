//! The zero surface of a field: surface nets (Gibson 1998), points spread evenly on the surface, and triangles of it.

use std::collections::BTreeMap;
use taffeta::math::DVec3;

/// Rounds of spreading.
const ROUNDS: usize = 12;
/// Steps of Newton's method back to the surface at the end, and half the distance over which the field's slope is taken, as a share of a cell.
const STEPS: usize = 3;
const REACH: f64 = 0.02;

/// Where cells begin along an axis, from one end to another [m]: as far apart as a cell, or nearer where they are to be `fine`.
pub struct Lines {
    pub low: f64,
    pub high: f64,
    pub cell: f64,
    pub fine: Vec<[f64; 2]>,
}

impl Lines {
    /// The places, with cells that go over to the share `fine` of their size within two of them. From 0 to both sides, so that what a field mirrors is mirrored.
    pub fn places(&self, fine: f64) -> Vec<f64> {
        let size = |at: f64| {
            let outside = |[from, to]: &[f64; 2]| (from - at).max(at - to).max(0.0);
            let out = self.fine.iter().map(outside).fold(f64::INFINITY, f64::min);
            self.cell * (fine + (1.0 - fine) * (0.5 * out / self.cell).min(1.0))
        };
        let side = |end: f64, sign: f64| {
            let mut places = vec![0.0];
            let mut at = 0.0;
            while at < end {
                at += size(sign * at);
                places.push(sign * at);
            }
            places
        };
        let below = side(-self.low, -1.0);
        below.into_iter().rev().chain(side(self.high, 1.0).into_iter().skip(1)).collect()
    }
}

/// The surface where `field` is 0, negative inside, as points and quads seen from outside; between lines across each axis [m], whose first and last lie
/// outside.
pub fn net(field: &dyn Fn(DVec3) -> f64, lines: [Vec<f64>; 3]) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    Grid::new(field, lines).net()
}

/// The field at the corners of cells.
struct Grid {
    lines: [Vec<f64>; 3],
    counts: [usize; 3],
    values: Vec<f64>,
}

impl Grid {
    fn new(field: &dyn Fn(DVec3) -> f64, lines: [Vec<f64>; 3]) -> Self {
        let counts = [0, 1, 2].map(|axis| lines[axis].len());
        let mut grid = Self { lines, counts, values: Vec::new() };
        grid.values = (0..counts.iter().product()).map(|k| field(grid.corner(k))).collect();
        while grid.close_webs() {}
        grid
    }

    /// Where inside and outside meet crosswise around a face of a cell, four quads would share an edge: the nearest of both corners that are outside comes
    /// inside. Whether there was such a face.
    fn close_webs(&mut self) -> bool {
        let mut any = false;
        for (k, axis) in (0..self.values.len()).flat_map(|k| [0, 1, 2].map(|axis| (k, axis))) {
            let (at, [u, v]) = (self.coordinates(k), [(axis + 1) % 3, (axis + 2) % 3]);
            if at[u] + 1 >= self.counts[u] || at[v] + 1 >= self.counts[v] {
                continue;
            }
            let [su, sv] = [self.stride(u), self.stride(v)];
            let around = [k, k + su, k + su + sv, k + sv];
            let [a, b, c, d] = around.map(|k| self.values[k] < 0.0);
            if a == c && b == d && a != b {
                let [p, q] = if a { [around[1], around[3]] } else { [around[0], around[2]] };
                let nearest = if self.values[p] <= self.values[q] { p } else { q };
                self.values[nearest] = -self.values[nearest].max(f64::MIN_POSITIVE);
                any = true;
            }
        }
        any
    }

    fn coordinates(&self, k: usize) -> [usize; 3] {
        [k % self.counts[0], k / self.counts[0] % self.counts[1], k / (self.counts[0] * self.counts[1])]
    }

    fn corner(&self, k: usize) -> DVec3 {
        let [x, y, z] = self.coordinates(k);
        DVec3::new(self.lines[0][x], self.lines[1][y], self.lines[2][z])
    }

    /// From a corner to the next along an axis.
    fn stride(&self, axis: usize) -> usize {
        [1, self.counts[0], self.counts[0] * self.counts[1]][axis]
    }

    /// A point in every cell that the surface passes, the mean of where it cuts the edges; a quad around every edge that it cuts, seen from outside.
    fn net(&self) -> (Vec<DVec3>, Vec<[u32; 4]>) {
        let mut cuts: BTreeMap<usize, (DVec3, f64)> = BTreeMap::new();
        let mut around = Vec::new();
        for k in 0..self.values.len() {
            let at = self.coordinates(k);
            for axis in 0..3 {
                let (next, [u, v]) = (k + self.stride(axis), [(axis + 1) % 3, (axis + 2) % 3]);
                // Cells around an edge reach one corner back; the border is outside.
                if at[axis] + 1 >= self.counts[axis] || at[u] == 0 || at[v] == 0 {
                    continue;
                }
                let (a, b) = (self.values[k], self.values[next]);
                if (a < 0.0) == (b < 0.0) {
                    continue;
                }
                let cut = self.corner(k).lerp(self.corner(next), a / (a - b));
                let [su, sv] = [self.stride(u), self.stride(v)];
                let cells = [k - su - sv, k - sv, k, k - su];
                for cell in cells {
                    let sum = cuts.entry(cell).or_default();
                    *sum = (sum.0 + cut, sum.1 + 1.0);
                }
                let [p, q, r, s] = cells;
                around.push(if a < 0.0 { [p, q, r, s] } else { [s, r, q, p] });
            }
        }
        let number: BTreeMap<usize, u32> = cuts.keys().enumerate().map(|(n, k)| (*k, n as u32)).collect();
        let points = cuts.values().map(|(sum, count)| *sum / *count).collect();
        (points, around.iter().map(|cells| cells.map(|k| number[&k])).collect())
    }
}

/// Moves every point towards the mean of its neighbours and back onto the surface, again and again.
pub fn spread(field: &dyn Fn(DVec3) -> f64, cell: f64, points: &mut [DVec3], quads: &[[u32; 4]]) {
    let mut means = vec![(DVec3::ZERO, 0.0); points.len()];
    for round in 1..=ROUNDS {
        means.fill((DVec3::ZERO, 0.0));
        for quad in quads {
            for k in 0..4 {
                let (a, b) = (quad[k] as usize, quad[(k + 1) % 4] as usize);
                means[a] = (means[a].0 + points[b], means[a].1 + 1.0);
            }
        }
        for (p, (sum, count)) in points.iter_mut().zip(&means) {
            *p += 0.5 * (*sum / *count - *p);
            let steps = if round < ROUNDS { 1 } else { STEPS };
            (0..steps).for_each(|_| *p = nearer(field, cell, *p));
        }
    }
}

/// A step towards the surface, no longer than half a cell.
fn nearer(field: &dyn Fn(DVec3) -> f64, cell: f64, p: DVec3) -> DVec3 {
    let reach = REACH * cell;
    let slope = |axis: DVec3| (field(p + reach * axis) - field(p - reach * axis)) / (2.0 * reach);
    let slope = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
    p - (field(p) * slope / slope.length_squared().max(0.1)).clamp_length_max(0.5 * cell)
}

/// Quads as triangles, each cut along its shorter diagonal.
pub fn triangles(points: &[DVec3], quads: &[[u32; 4]]) -> Vec<[u32; 3]> {
    quads.iter().flat_map(|quad| halves(quad, points)).collect()
}

fn halves([a, b, c, d]: &[u32; 4], points: &[DVec3]) -> [[u32; 3]; 2] {
    let apart = |p: &u32, q: &u32| points[*p as usize].distance_squared(points[*q as usize]);
    if apart(a, c) <= apart(b, d) { [[*a, *b, *c], [*a, *c, *d]] } else { [[*a, *b, *d], [*b, *c, *d]] }
}
