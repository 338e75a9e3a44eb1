//! L D Lᵀ of a sparse symmetric matrix, whose rows come in the order of their elimination. Numbers are summed in a fixed order and by one thread.

use super::elimination::FactorPattern;
use crate::solve::strips::tridiagonal::SMALLEST_PIVOT;
use std::ops::{Div, Mul, Sub};

/// The factors of a matrix, and room to make them anew.
#[derive(Debug, Clone)]
pub struct Ldl {
    pattern: FactorPattern,
    /// L column by column, D, and how much of every column is there already.
    factor: Vec<f64>,
    pivots: Vec<f64>,
    filled: Vec<usize>,
    /// A row of numbers.
    row: Vec<f64>,
}

impl Ldl {
    /// Analyses a matrix with so many rows, of which row k has numbers in the columns `coupled(k)` left of the diagonal.
    pub fn new(size: usize, coupled: impl Fn(usize) -> Vec<u32>) -> Self {
        let pattern = FactorPattern::new(size, coupled);
        Self {
            factor: vec![0.0; pattern.rows.len()],
            pivots: vec![0.0; size],
            filled: vec![0; size],
            row: vec![0.0; size],
            pattern,
        }
    }

    /// How many numbers the factor has.
    pub fn fill(&self) -> usize {
        self.factor.len()
    }

    /// Factorises. `add_row(k, row)` adds row k left of the diagonal to a row of zeros, and returns what is on the diagonal. Returns how many pivots were
    /// near 0 and raised.
    pub fn factorise(&mut self, mut add_row: impl FnMut(usize, &mut [f64]) -> f64) -> usize {
        let Self { pattern, row, factor, filled, pivots } = self;
        let mut raised = 0;
        filled.copy_from_slice(&pattern.column_starts[..pivots.len()]);
        for k in 0..pivots.len() {
            let diagonal = add_row(k, row);
            let mut pivot = diagonal;
            for &c in &pattern.columns[pattern.starts[k]..pattern.starts[k + 1]] {
                let c = c as usize;
                let number = std::mem::take(&mut row[c]);
                let done = pattern.column_starts[c]..filled[c];
                for (r, l) in pattern.rows[done.clone()].iter().zip(&factor[done]) {
                    row[*r as usize] -= l * number;
                }
                let l = number / pivots[c];
                pivot -= l * number;
                factor[filled[c]] = l;
                filled[c] += 1;
            }
            let smallest = (diagonal * SMALLEST_PIVOT).max(f64::MIN_POSITIVE);
            raised += usize::from(pivot <= smallest);
            pivots[k] = pivot.max(smallest);
        }
        raised
    }

    /// Solves for `x`, in place.
    pub fn solve<T>(&self, x: &mut [T])
    where
        T: Copy + Sub<Output = T> + Mul<f64, Output = T> + Div<f64, Output = T>,
    {
        let Self { pattern, factor, pivots, .. } = self;
        let column = |c: usize| {
            let column = pattern.column_starts[c]..pattern.column_starts[c + 1];
            pattern.rows[column.clone()].iter().zip(&factor[column])
        };
        for c in 0..pivots.len() {
            let number = x[c];
            column(c).for_each(|(r, l)| x[*r as usize] = x[*r as usize] - number * *l);
        }
        for c in (0..pivots.len()).rev() {
            x[c] = column(c).fold(x[c] / pivots[c], |number, (r, l)| number - x[*r as usize] * *l);
        }
    }
}
