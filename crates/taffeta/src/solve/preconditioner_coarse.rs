//! The direct solution on the coarsest level: Cholesky's factors of 3×3 blocks within the envelope of the matrix.

use super::block_matrix::{BlockMatrix, Pattern, matrix_of};
use super::preconditioner::positive_inverse;
use crate::math::{DMat3, DVec3, Vec4};

/// L D Lᵀ of a block matrix, with rows ordered so that blocks stand near the diagonal.
#[derive(Debug)]
pub(super) struct Direct {
    /// Which row of the matrix stands at each place, and the reverse.
    row_at: Vec<u32>,
    place_of: Vec<u32>,
    /// Row p of L holds the places `first[p]..p`, from `starts[p]` on.
    first: Vec<usize>,
    starts: Vec<usize>,
    lower: Vec<DMat3>,
    inverse_pivots: Vec<DMat3>,
    x: Vec<DVec3>,
}

impl Direct {
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
        let lower = vec![DMat3::ZERO; starts[row_at.len()]];
        let inverse_pivots = vec![DMat3::ZERO; row_at.len()];
        let x = vec![DVec3::ZERO; row_at.len()];
        Self { row_at, place_of, first, starts, lower, inverse_pivots, x }
    }

    /// Factorises. A pivot that is not positive, be it by round-off, is replaced by what stood there before elimination.
    pub(super) fn prepare(&mut self, matrix: &BlockMatrix) {
        self.lower.fill(DMat3::ZERO);
        for p in 0..self.row_at.len() {
            let diagonal = self.load(matrix, p);
            let (before, row) = self.lower.split_at_mut(self.starts[p]);
            let row = &mut row[..p - self.first[p]];
            // With W = L D: W_pq = A_pq - Σ_k W_pk L_qkᵀ, k before q.
            for q in self.first[p]..p {
                let from = self.first[p].max(self.first[q]);
                let other = &before[self.starts[q] + from - self.first[q]..self.starts[q + 1]];
                let mut sum = row[q - self.first[p]];
                for (w, l) in row[from - self.first[p]..].iter().zip(other) {
                    sum -= *w * l.transpose();
                }
                row[q - self.first[p]] = sum;
            }
            let mut pivot = diagonal;
            for (w, q) in row.iter_mut().zip(self.first[p]..) {
                let l = *w * self.inverse_pivots[q];
                pivot -= l * w.transpose();
                *w = l;
            }
            let inverse = positive_inverse(&pivot).or_else(|| positive_inverse(&diagonal));
            self.inverse_pivots[p] = inverse.unwrap_or(DMat3::ZERO);
        }
    }

    /// Puts row `p` of the matrix into its place and returns the block on the diagonal.
    fn load(&mut self, matrix: &BlockMatrix, p: usize) -> DMat3 {
        let i = self.row_at[p];
        let mut diagonal = DMat3::ZERO;
        for (&j, block) in matrix.pattern().row(i).iter().zip(matrix.row(i)) {
            let q = self.place_of[j as usize] as usize;
            if q < p {
                self.lower[self.starts[p] + q - self.first[p]] = matrix_of(block);
            } else if q == p {
                diagonal = matrix_of(block);
            }
        }
        diagonal
    }

    /// z = A⁻¹ r.
    pub(super) fn solve(&mut self, r: &[Vec4], z: &mut [Vec4]) {
        let x = &mut self.x;
        for (p, &i) in self.row_at.iter().enumerate() {
            let row = &self.lower[self.starts[p]..self.starts[p + 1]];
            let (known, own) = x.split_at_mut(p);
            own[0] = r[i as usize].xyz();
            row.iter().zip(&known[self.first[p]..]).for_each(|(l, x)| own[0] -= *l * *x);
        }
        x.iter_mut().zip(&self.inverse_pivots).for_each(|(x, d)| *x = *d * *x);
        for (p, &i) in self.row_at.iter().enumerate().rev() {
            let row = &self.lower[self.starts[p]..self.starts[p + 1]];
            let (before, own) = x.split_at_mut(p);
            z[i as usize] = own[0].into();
            let before = &mut before[self.first[p]..];
            row.iter().zip(before).for_each(|(l, x)| *x -= l.transpose() * own[0]);
        }
    }
}

/// Rows in an order (Cuthill & McKee 1969) that keeps joined ones close: breadth first, from an end of each connected part.
fn order(pattern: &Pattern) -> Vec<u32> {
    let mut order = Vec::with_capacity(pattern.particles());
    let mut seen = vec![false; pattern.particles()];
    for i in 0..pattern.particles() as u32 {
        if !seen[i as usize] {
            let start = order.len();
            spread(pattern, i, &mut seen, &mut order);
            // The row reached last is at an end of the part.
            let end = order[order.len() - 1];
            order.drain(start..).for_each(|j| seen[j as usize] = false);
            spread(pattern, end, &mut seen, &mut order);
        }
    }
    order
}

/// Appends all rows that are joined to row `i`, nearest first, those with few neighbours before others.
fn spread(pattern: &Pattern, i: u32, seen: &mut [bool], order: &mut Vec<u32>) {
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
