//! Pieces of cloth moved as a whole: what conjugate gradients that stop early leave of the momentum is put right exactly.

use super::levels::Levels;
use super::positive_inverse;
use crate::math::{DMat3, DVec3, Vec4};
use crate::solve::sparse::matrix::{BlockMatrix, Pattern, matrix_of};

/// No piece yet.
const NONE: u32 = u32::MAX;

/// Pieces that nothing in the pattern joins, and how each resists being moved as a whole.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The piece of every particle, and of every row of the last level.
    of: Vec<u32>,
    of_last: Vec<u32>,
    /// The inverse of the sum of all blocks of a piece, zero where there is none.
    inverse: Vec<DMat3>,
    sums: Vec<DVec3>,
}

impl Pieces {
    pub(super) fn new(levels: &Levels) -> Self {
        let last = levels.last().map(BlockMatrix::pattern);
        let count = last.map_or(0, Pattern::particles);
        let (mut of_last, mut pieces) = (vec![NONE; count], 0);
        let mut todo = Vec::new();
        for first in 0..count as u32 {
            if of_last[first as usize] != NONE {
                continue;
            }
            todo.push(first);
            while let Some(row) = todo.pop() {
                if std::mem::replace(&mut of_last[row as usize], pieces) == NONE {
                    let joined = last.iter().flat_map(|pattern| pattern.row(row));
                    todo.extend(joined.filter(|j| of_last[**j as usize] == NONE));
                }
            }
            pieces += 1;
        }
        let pieces = pieces as usize;
        Self {
            of: levels.spread(&of_last),
            of_last,
            inverse: vec![DMat3::ZERO; pieces],
            sums: vec![DVec3::ZERO; pieces],
        }
    }

    pub(super) fn prepare(&mut self, levels: &Levels) {
        self.inverse.fill(DMat3::ZERO);
        let Some(last) = levels.last() else { return };
        for (row, &piece) in self.of_last.iter().enumerate() {
            for block in last.row(row as u32) {
                self.inverse[piece as usize] += matrix_of(block);
            }
        }
        for sum in &mut self.inverse {
            *sum = positive_inverse(sum).unwrap_or(DMat3::ZERO);
        }
    }

    /// Moves every piece as a whole so that its residuals add up to nothing, if rᵀ A⁻¹ r falls by more than `least`; whether it does.
    ///
    /// Elements only pull particles against one another: without pins and contacts this alone sets the momentum, and sets it exactly.
    pub(super) fn settle(&mut self, r: &[Vec4], pinned: &[bool], x: &mut [Vec4], least: f64) -> bool {
        self.sums.fill(DVec3::ZERO);
        for (r, piece) in r.iter().zip(&self.of) {
            self.sums[*piece as usize] += r.xyz();
        }
        let mut gained = 0.0;
        for (sum, inverse) in self.sums.iter_mut().zip(&self.inverse) {
            let moved = *inverse * *sum;
            gained += moved.dot(*sum);
            *sum = moved;
        }
        if gained <= least {
            return false;
        }
        for ((x, piece), pinned) in x.iter_mut().zip(&self.of).zip(pinned) {
            if !*pinned {
                *x += self.sums[*piece as usize].into();
            }
        }
        true
    }
}
