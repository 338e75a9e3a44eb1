//! Approximate inverses for conjugate gradients: 3×3 block-Jacobi (P4), alone or on several levels of aggregates.

pub mod coarse;
mod levels;
mod pieces;

use crate::math::vec4::with_avx2;
use crate::math::{DMat3, Vec4};
use crate::parallel::{self, chunk};
use crate::solve::sparse::matrix::{Block, BlockMatrix, Pattern, Rows, matrix_of};
use levels::Levels;
use pieces::Pieces;
use thiserror::Error;

/// Which approximate inverse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PreconditionerKind {
    /// The inverse of every diagonal block (P4): nothing to set up, but iterations grow with the number of particles across the cloth.
    BlockJacobi,
    /// Block-Jacobi on the particles, on aggregates of about four, of sixteen and so on, and a direct solution on the last: iterations
    /// grow little with the size of the cloth.
    #[default]
    Levels,
}

/// A diagonal block that no positive definite matrix has.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "the matrix is not positive definite: the diagonal block of particle {particle} has determinant {determinant:e}; \
     project the derivatives of its elements, or give it mass"
)]
pub struct BadDiagonal {
    /// The particle.
    pub particle: usize,
    /// Determinant of the block; a positive one stands with a negative leading minor.
    pub determinant: f64,
}

/// An approximate inverse of a matrix with pinned particles.
#[derive(Debug)]
pub(super) struct Preconditioner {
    jacobi: Jacobi,
    levels: Option<(Levels, Pieces)>,
}

impl Preconditioner {
    pub(super) fn new(kind: PreconditionerKind, pattern: &Pattern) -> Self {
        let levels = (kind == PreconditionerKind::Levels).then(|| {
            let levels = Levels::new(pattern);
            let pieces = Pieces::new(&levels);
            (levels, pieces)
        });
        Self { jacobi: Jacobi::new(pattern), levels }
    }

    /// Fits it to a matrix, whose rows and columns of pinned particles it takes for those of the unit matrix.
    pub(super) fn prepare(&mut self, matrix: &BlockMatrix, pinned: &[bool]) -> Result<(), BadDiagonal> {
        let Self { jacobi, levels } = self;
        let Some((levels, pieces)) = levels else { return jacobi.prepare(matrix, pinned) };
        let prepared = levels.prepare(matrix, pinned, || jacobi.prepare(matrix, pinned));
        pieces.prepare(levels);
        prepared
    }

    /// Moves pieces as a whole so that residuals `r` of each add up to nothing, if the error falls by more than `least`, as rᵀ P⁻¹ r measures
    /// it; whether it does.
    pub(super) fn settle(&mut self, r: &[Vec4], pinned: &[bool], x: &mut [Vec4], least: f64) -> bool {
        self.levels.as_mut().is_some_and(|(_, pieces)| pieces.settle(r, pinned, x, least))
    }

    /// z = P⁻¹ r, 0 for pinned particles, whose r is 0; `sums` gets rᵀ z of every chunk. One pass over the particles does it all, and while one
    /// thread solves on the last level, others do `meanwhile`.
    pub(super) fn apply(
        &mut self,
        r: &[Vec4],
        z: &mut [Vec4],
        pinned: &[bool],
        sums: &mut [f64],
        meanwhile: impl FnOnce() + Send,
    ) {
        let coarse = match &mut self.levels {
            Some((levels, _)) => Some(levels.solve(r, meanwhile)),
            None => {
                meanwhile();
                None
            }
        };
        let Jacobi { inverse, chunk_size: size, .. } = &self.jacobi;
        parallel::each_chunk_with(z, *size, sums, |c, z, sum| {
            let (inverse, r, pinned) =
                (chunk(inverse, *size, c), chunk(r, *size, c), chunk(pinned, *size, c));
            let coarse = coarse.map(|(of, moves)| (chunk(of, *size, c), moves));
            *sum = add_levels_fast(inverse, coarse, r, pinned, z);
        });
    }
}

with_avx2! {
    fn add_levels_fast =
        add_levels(inverse: &[Block], coarse: Option<(&[u32], &[Vec4])>, r: &[Vec4], pinned: &[bool], z: &mut [Vec4]) -> f64
}

/// z = D⁻¹ r and how aggregates move, 0 for pinned particles; returns rᵀ z.
#[inline(always)]
fn add_levels(
    inverse: &[Block],
    coarse: Option<(&[u32], &[Vec4])>,
    r: &[Vec4],
    pinned: &[bool],
    z: &mut [Vec4],
) -> f64 {
    multiply_diagonal(inverse, r, z);
    if let Some((of, moves)) = coarse {
        z.iter_mut().zip(of).for_each(|(z, a)| *z += moves[*a as usize]);
    }
    filtered_dot(z, r, pinned)
}

with_avx2! {
    fn multiply_diagonal_fast = multiply_diagonal(diagonal: &[Block], r: &[Vec4], z: &mut [Vec4])
}

#[inline(always)]
fn multiply_diagonal(diagonal: &[Block], r: &[Vec4], z: &mut [Vec4]) {
    for ((z, r), d) in z.iter_mut().zip(r).zip(diagonal) {
        *z = d[0] * r.0[0] + d[1] * r.0[1] + d[2] * r.0[2];
    }
}

/// aᵀ b, after a is set to 0 for pinned particles.
#[inline(always)]
pub(super) fn filtered_dot(a: &mut [Vec4], b: &[Vec4], pinned: &[bool]) -> f64 {
    let mut sum = Vec4::ZERO;
    for ((a, b), pinned) in a.iter_mut().zip(b).zip(pinned) {
        if *pinned {
            *a = Vec4::ZERO;
        }
        sum += *a * *b;
    }
    sum.0[0] + sum.0[1] + sum.0[2]
}

/// The inverses of the diagonal blocks of a matrix.
#[derive(Debug)]
pub(super) struct Jacobi {
    inverse: Vec<Block>,
    /// The first block of every chunk that cannot be inverted.
    bad: Vec<Option<BadDiagonal>>,
    chunk_size: usize,
}

impl Jacobi {
    pub(super) fn new(pattern: &Pattern) -> Self {
        Self {
            inverse: vec![[Vec4::ZERO; 3]; pattern.particles()],
            bad: vec![None; pattern.chunks().len()],
            chunk_size: pattern.chunk_size(),
        }
    }

    /// Inverts the diagonal, on all threads. Blocks of pinned particles, and those that cannot be inverted, get zero; the first of the
    /// latter is returned.
    pub(super) fn prepare(&mut self, matrix: &BlockMatrix, pinned: &[bool]) -> Result<(), BadDiagonal> {
        let rows = matrix.pattern().chunks();
        parallel::each_chunk_with(&mut self.inverse, self.chunk_size, &mut self.bad, |c, inverse, bad| {
            *bad = invert_diagonal_fast(&rows[c], matrix.blocks(c), pinned, inverse);
        });
        self.bad.iter().flatten().next().map_or(Ok(()), |bad| Err(*bad))
    }

    /// z = D⁻¹ r.
    pub(super) fn apply(&self, r: &[Vec4], z: &mut [Vec4]) {
        let size = self.chunk_size;
        parallel::each_chunk(z, size, |c, z| {
            multiply_diagonal_fast(chunk(&self.inverse, size, c), chunk(r, size, c), z);
        });
    }
}

with_avx2! {
    fn invert_diagonal_fast =
        invert_diagonal(rows: &Rows, blocks: &[Block], pinned: &[bool], inverse: &mut [Block]) -> Option<BadDiagonal>
}

#[inline(always)]
fn invert_diagonal(
    rows: &Rows,
    blocks: &[Block],
    pinned: &[bool],
    inverse: &mut [Block],
) -> Option<BadDiagonal> {
    let mut first_bad = None;
    for (r, inverse) in inverse.iter_mut().enumerate() {
        *inverse = [Vec4::ZERO; 3];
        let particle = rows.first + r;
        if pinned.get(particle) == Some(&true) {
            continue;
        }
        let block = matrix_of(&blocks[rows.diagonal(r)]);
        match positive_inverse(&block) {
            Some(i) => *inverse = [i.x_axis.into(), i.y_axis.into(), i.z_axis.into()],
            None => {
                first_bad.get_or_insert(BadDiagonal { particle, determinant: block.determinant() });
            }
        }
    }
    first_bad
}

/// The inverse of a symmetric block whose leading minors are all positive (and are numbers), which makes it positive definite.
#[inline(always)]
pub(super) fn positive_inverse(block: &DMat3) -> Option<DMat3> {
    let DMat3 { x_axis, y_axis, z_axis } = *block;
    let minors = [y_axis.cross(z_axis), z_axis.cross(x_axis), x_axis.cross(y_axis)];
    let determinant = z_axis.dot(minors[2]);
    let positive = x_axis.x > 0.0 && minors[2].z > 0.0 && determinant > 0.0;
    let [x, y, z] = minors.map(|minor| minor * (1.0 / determinant));
    let inverse = DMat3::from_cols(x, y, z).transpose();
    (positive && inverse.is_finite()).then_some(inverse)
}
