//! The direct solution on the coarsest level: Cholesky's factors of 3×3 blocks within the envelope of the matrix.

use super::positive_inverse;
use crate::math::vec4::with_avx2;
use crate::math::{DMat3, Vec4};
use crate::solve::sparse::matrix::{Block, BlockMatrix, Pattern, matrix_of};

/// L D Lᵀ of a block matrix, with rows ordered so that blocks stand near the diagonal.
#[derive(Debug)]
pub(super) struct CoarseCholesky {
    /// Which row of the matrix stands at each place, and the reverse.
    row_at: Vec<u32>,
    place_of: Vec<u32>,
    factors: Factors,
}

/// The factors, and room for a solution.
#[derive(Debug)]
struct Factors {
    /// Row p of L holds the places `first[p]..p`, from `starts[p]` on, every block transposed: then both substitutions work on whole columns.
    first: Vec<usize>,
    starts: Vec<usize>,
    lower: Vec<Block>,
    diagonal: Vec<Block>,
    inverse_pivots: Vec<Block>,
    x: Vec<Vec4>,
}

impl CoarseCholesky {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let row_at = order(pattern);
        let mut place_of = vec![0; row_at.len()];
        row_at.iter().enumerate().for_each(|(p, &i)| place_of[i as usize] = p as u32);
        let (mut first, mut starts) = (Vec::new(), vec![0]);
        for (p, &i) in row_at.iter().enumerate() {
            let leftmost = pattern.row(i).iter().map(|&j| place_of[j as usize] as usize).min();
            first.push(leftmost.unwrap_or(p).min(p));
            starts.push(starts[p] + p - first[p]);
        }
        let zero = [Vec4::ZERO; 3];
        let (lower, diagonal) = (vec![zero; starts[row_at.len()]], vec![zero; row_at.len()]);
        let (inverse_pivots, x) = (diagonal.clone(), vec![Vec4::ZERO; row_at.len()]);
        let factors = Factors { first, starts, lower, diagonal, inverse_pivots, x };
        Self { row_at, place_of, factors }
    }

    /// Factorises. A pivot that is not positive, be it by round-off, is replaced by what stood there before elimination.
    pub(super) fn prepare(&mut self, matrix: &BlockMatrix) {
        self.load(matrix);
        factorise_fast(&mut self.factors);
    }

    /// Puts all blocks of the matrix into their places.
    fn load(&mut self, matrix: &BlockMatrix) {
        let Factors { first, starts, lower, diagonal, .. } = &mut self.factors;
        lower.fill([Vec4::ZERO; 3]);
        for (p, &i) in self.row_at.iter().enumerate() {
            for (&j, block) in matrix.pattern().row(i).iter().zip(matrix.row(i)) {
                let q = self.place_of[j as usize] as usize;
                if q < p {
                    lower[starts[p] + q - first[p]] = *block;
                } else if q == p {
                    diagonal[p] = *block;
                }
            }
        }
    }

    /// z = A⁻¹ r.
    pub(super) fn solve(&mut self, r: &[Vec4], z: &mut [Vec4]) {
        for (x, &i) in self.factors.x.iter_mut().zip(&self.row_at) {
            *x = r[i as usize];
        }
        substitute_fast(&mut self.factors);
        for (x, &i) in self.factors.x.iter().zip(&self.row_at) {
            z[i as usize] = *x;
        }
    }
}

with_avx2! {
    fn factorise_fast = factorise(factors: &mut Factors)
}

#[inline(always)]
fn factorise(factors: &mut Factors) {
    factors.factorise();
}

with_avx2! {
    fn substitute_fast = substitute(factors: &mut Factors)
}

#[inline(always)]
fn substitute(factors: &mut Factors) {
    factors.substitute();
}

impl Factors {
    #[inline(always)]
    fn factorise(&mut self) {
        for p in 0..self.first.len() {
            let (before, row) = self.lower.split_at_mut(self.starts[p]);
            let row = &mut row[..p - self.first[p]];
            // With W = L D: W_pq = A_pq - Σ_k W_pk L_qkᵀ, k before q.
            for q in self.first[p]..p {
                let from = self.first[p].max(self.first[q]);
                let other = &before[self.starts[q] + from - self.first[q]..self.starts[q + 1]];
                let mut sum = row[q - self.first[p]];
                for (w, l) in row[from - self.first[p]..].iter().zip(other) {
                    sum = less(&sum, &times(w, l));
                }
                row[q - self.first[p]] = sum;
            }
            let mut pivot = self.diagonal[p];
            for (w, q) in row.iter_mut().zip(self.first[p]..) {
                let (l, across) = (times(w, &self.inverse_pivots[q]), transposed(w));
                pivot = less(&pivot, &times(&l, &across));
                *w = transposed(&l);
            }
            let inverse = positive_inverse(&matrix_of(&pivot));
            let inverse = inverse.or_else(|| positive_inverse(&matrix_of(&self.diagonal[p])));
            let DMat3 { x_axis, y_axis, z_axis } = inverse.unwrap_or(DMat3::ZERO);
            self.inverse_pivots[p] = [x_axis, y_axis, z_axis].map(Vec4::from);
        }
    }

    #[inline(always)]
    fn substitute(&mut self) {
        let x = &mut self.x;
        for p in 0..x.len() {
            let row = &self.lower[self.starts[p]..self.starts[p + 1]];
            let mut sums = [Vec4::ZERO; 3];
            for (l, x) in row.iter().zip(&x[self.first[p]..p]) {
                (0..3).for_each(|c| sums[c] += l[c] * *x);
            }
            x[p] = x[p] - Vec4([sum(sums[0]), sum(sums[1]), sum(sums[2]), 0.0]);
        }
        for (x, d) in x.iter_mut().zip(&self.inverse_pivots) {
            *x = moved(d, x);
        }
        for p in (0..x.len()).rev() {
            let row = &self.lower[self.starts[p]..self.starts[p + 1]];
            let (before, own) = x.split_at_mut(p);
            for (l, x) in row.iter().zip(&mut before[self.first[p]..]) {
                *x = *x - moved(l, &own[0]);
            }
        }
    }
}

/// a x. Written out here and below: what is not inlined has no AVX2.
#[inline(always)]
fn moved(a: &Block, x: &Vec4) -> Vec4 {
    a[0] * x.0[0] + a[1] * x.0[1] + a[2] * x.0[2]
}

/// a b.
#[inline(always)]
fn times(a: &Block, b: &Block) -> Block {
    [moved(a, &b[0]), moved(a, &b[1]), moved(a, &b[2])]
}

/// a - b.
#[inline(always)]
fn less(a: &Block, b: &Block) -> Block {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn transposed(a: &Block) -> Block {
    let [x, y, z] = [&a[0].0, &a[1].0, &a[2].0];
    [Vec4([x[0], y[0], z[0], 0.0]), Vec4([x[1], y[1], z[1], 0.0]), Vec4([x[2], y[2], z[2], 0.0])]
}

#[inline(always)]
fn sum(lanes: Vec4) -> f64 {
    lanes.0[0] + lanes.0[1] + lanes.0[2]
}

/// Rows from which an order is tried to start, in each connected part.
const STARTS: usize = 64;

/// Rows in an order (Cuthill & McKee 1969, turned round as by George 1971) that keeps joined ones close: breadth first, for each connected part from
/// the row for which factors cost least, of some that are tried.
pub fn order(pattern: &Pattern) -> Vec<u32> {
    let mut order = Vec::with_capacity(pattern.particles());
    let mut seen = vec![false; pattern.particles()];
    let mut place = vec![0; pattern.particles()];
    for i in 0..pattern.particles() as u32 {
        if seen[i as usize] {
            continue;
        }
        let mut part = Vec::new();
        spread(pattern, i, &mut seen, &mut part);
        let starts = part.iter().step_by(part.len().div_ceil(STARTS));
        let orders = starts.map(|start| {
            part.iter().for_each(|j| seen[*j as usize] = false);
            let mut order = Vec::with_capacity(part.len());
            spread(pattern, *start, &mut seen, &mut order);
            order.reverse();
            order
        });
        order.extend(orders.min_by_key(|order| cost(pattern, order, &mut place)).into_iter().flatten());
    }
    order
}

/// What factors of a connected part cost with its rows in this order: squares of how far they reach to the left.
pub fn cost(pattern: &Pattern, order: &[u32], place: &mut [usize]) -> usize {
    order.iter().enumerate().for_each(|(p, i)| place[*i as usize] = p);
    let first = |i: u32| pattern.row(i).iter().map(|j| place[*j as usize]).min();
    order.iter().enumerate().map(|(p, i)| (p - first(*i).unwrap_or(p)).pow(2)).sum()
}

/// Appends all rows that are joined to row `i`, nearest first, those with few neighbours before others.
pub fn spread(pattern: &Pattern, i: u32, seen: &mut [bool], order: &mut Vec<u32>) {
    let mut next = order.len();
    seen[i as usize] = true;
    order.push(i);
    while next < order.len() {
        let joined = pattern.row(order[next]);
        next += 1;
        let before = order.len();
        for &j in joined {
            if !std::mem::replace(&mut seen[j as usize], true) {
                order.push(j);
            }
        }
        order[before..].sort_by_key(|&j| pattern.row(j).len());
    }
}
