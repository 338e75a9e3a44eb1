//! Preconditioned conjugate gradients with pinned particles (P4, filtered as by Baraff & Witkin 1998).
//!
//! Sums are made chunk by chunk and then in the order of the chunks, so that the thread count cannot change a bit.

use super::preconditioner::{BadDiagonal, Preconditioner, PreconditionerKind, filtered_dot};
use super::sparse::matrix::{BlockMatrix, Pattern};
use crate::math::Vec4;
use crate::math::vec4::with_avx2;
use crate::parallel::{self, chunk};
use thiserror::Error;

/// How to solve, and how well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgParams {
    /// The largest residual of a solution, (rᵀ P⁻¹ r)^½ relative to that of the right-hand side (P4).
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: u32,
    /// The approximate inverse P⁻¹.
    pub preconditioner: PreconditionerKind,
}

impl Default for PcgParams {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 10_000, preconditioner: PreconditionerKind::default() }
    }
}

/// How a system was solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// Products with the matrix that moved the solution.
    pub iterations: u32,
    /// The residual, relative as in [`PcgParams::tolerance`], computed afresh from the solution.
    pub residual: f64,
    /// The square of what it is relative to, rᵀ P⁻¹ r: roots of masses depend on their unit.
    pub scale: f64,
}

/// Before the first iteration.
const START: Info = Info { iterations: 0, residual: 1.0, scale: 0.0 };

/// Why a system was not solved. All residuals are relative as in [`PcgParams::tolerance`], and the last known.
#[allow(clippy::enum_variant_names)] // each says what the system or its solution is not
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Error {
    /// The tolerance is out of reach, or the iterations were too few.
    #[error(
        "residual {residual:e} after {iterations} iterations, but {tolerance:e} was asked for: allow more iterations \
         or a larger tolerance"
    )]
    NotConverged {
        /// Iterations made.
        iterations: u32,
        /// The residual.
        residual: f64,
        /// What was asked for.
        tolerance: f64,
    },
    /// A direction p has pᵀ A p <= 0.
    #[error(
        "the matrix is not positive definite: pᵀ A p = {curvature:e} in iteration {iteration} (residual {residual:e}); \
         project the derivatives of the elements, or shorten the step"
    )]
    NotPositiveDefinite {
        /// The iteration that met it, counted from 1.
        iteration: u32,
        /// pᵀ A p.
        curvature: f64,
        /// The residual before it.
        residual: f64,
    },
    /// Something is infinite or no number.
    #[error(
        "numbers are not finite after {iterations} iterations (last residual {residual:e}): look at matrix, right-hand \
         side and start"
    )]
    NotFinite {
        /// Iterations made before.
        iterations: u32,
        /// The last residual that was a number, 1 if none was.
        residual: f64,
    },
}

/// Share of the start's residual above which moving pieces as a whole is worth another product.
const MOVED: f64 = 1e-6;

/// Solves systems of one pattern; has all its room from the start.
#[derive(Debug)]
pub struct Pcg {
    /// How to solve; the kind of preconditioner is that of the start.
    pub params: PcgParams,
    preconditioner: Preconditioner,
    pinned: Vec<bool>,
    chunk_size: usize,
    /// Residual, preconditioned residual, direction, its product with the matrix.
    r: Vec<Vec4>,
    z: Vec<Vec4>,
    p: Vec<Vec4>,
    q: Vec<Vec4>,
    /// The sum of every chunk.
    sums: Vec<f64>,
}

impl Pcg {
    /// Room for matrices of this pattern.
    pub fn new(pattern: &Pattern, params: PcgParams) -> Self {
        let room = vec![Vec4::ZERO; pattern.particles()];
        Self {
            params,
            preconditioner: Preconditioner::new(params.preconditioner, pattern),
            pinned: vec![false; room.len()],
            chunk_size: pattern.chunk_size(),
            r: room.clone(),
            z: room.clone(),
            p: room.clone(),
            q: room,
            sums: vec![0.0; pattern.chunks().len()],
        }
    }

    /// Fits the preconditioner to a matrix and takes note of who is pinned. To be called whenever either changes.
    pub fn prepare(&mut self, matrix: &BlockMatrix, pinned: &[bool]) -> Result<(), BadDiagonal> {
        self.pinned.copy_from_slice(pinned);
        self.preconditioner.prepare(matrix, pinned)
    }

    /// Solves A x = b for the particles that are not pinned.
    ///
    /// `x` is where to start: what is known of the solution, or zero. Pinned particles keep their x exactly, and their rows are left out. After
    /// an error x is the last approximation. The fourth number of all vectors is to be 0.
    pub fn solve(&mut self, matrix: &BlockMatrix, b: &[Vec4], x: &mut [Vec4]) -> Result<Info, Error> {
        let count = self.pinned.len();
        assert!(b.len() == count && x.len() == count, "a vector for every particle");
        let scale = self.scale(matrix, b, x)?;
        if scale == 0.0 {
            x.iter_mut().zip(&self.pinned).filter(|(_, pinned)| !**pinned).for_each(|(x, _)| *x = Vec4::ZERO);
            return Ok(Info { iterations: 0, residual: 0.0, scale });
        }
        self.reduce(matrix, b, x, scale)
    }

    /// As [`Pcg::solve`], but the residual is relative to that of the start, as P4 has it with the change of velocities for unknown, or to
    /// the root of `at_least` where that is more.
    pub fn improve(
        &mut self,
        matrix: &BlockMatrix,
        b: &[Vec4],
        x: &mut [Vec4],
        at_least: f64,
    ) -> Result<Info, Error> {
        let count = self.pinned.len();
        assert!(b.len() == count && x.len() == count, "a vector for every particle");
        self.residual(matrix, b, x);
        let start = checked(self.precondition(), &START)?;
        let scale = start.max(at_least);
        let residual = if scale > 0.0 { (start / scale).sqrt() } else { 0.0 };
        let mut so_far = Info { residual, scale, ..START };
        // Where contacts couple pieces of cloth, none of them can be moved as a whole without the others.
        let apart = !matrix.reaches_beyond();
        let worth = MOVED * MOVED * start;
        if apart && self.preconditioner.settle(&self.r, &self.pinned, x, worth) {
            self.residual(matrix, b, x);
            so_far.residual = checked((self.precondition() / scale).sqrt(), &START)?;
        }
        if so_far.residual > self.params.tolerance {
            // Few digits are asked for, so the residual that is carried along is the true one.
            self.iterate(matrix, x, scale, &mut so_far)?;
            if apart {
                self.preconditioner.settle(&self.r, &self.pinned, x, 0.0);
            }
        }
        self.accept(so_far)
    }

    fn accept(&self, so_far: Info) -> Result<Info, Error> {
        let (Info { iterations, residual, .. }, tolerance) = (so_far, self.params.tolerance);
        if residual <= tolerance {
            return Ok(so_far);
        }
        Err(Error::NotConverged { iterations, residual, tolerance })
    }

    /// Iterates until the residual is as small as asked for, relative to the root of `scale`.
    fn reduce(
        &mut self,
        matrix: &BlockMatrix,
        b: &[Vec4],
        x: &mut [Vec4],
        scale: f64,
    ) -> Result<Info, Error> {
        let mut so_far = Info { scale, ..START };
        // The residual that is carried along drifts from the true one, which alone decides: if need be, go on from there.
        loop {
            self.residual(matrix, b, x);
            so_far.residual = checked((self.precondition() / scale).sqrt(), &so_far)?;
            if so_far.residual <= self.params.tolerance || so_far.iterations >= self.params.max_iterations {
                return self.accept(so_far);
            }
            self.iterate(matrix, x, scale, &mut so_far)?;
        }
    }

    /// Iterates from the residual in r, preconditioned in z, until the residual that is carried along satisfies.
    fn iterate(
        &mut self,
        matrix: &BlockMatrix,
        x: &mut [Vec4],
        scale: f64,
        so_far: &mut Info,
    ) -> Result<(), Error> {
        self.p.copy_from_slice(&self.z);
        let mut squared = so_far.residual * so_far.residual * scale;
        loop {
            let Info { iterations, residual, .. } = *so_far;
            let curvature = checked(self.curvature(matrix), so_far)?;
            if curvature <= 0.0 {
                return Err(Error::NotPositiveDefinite { iteration: iterations + 1, curvature, residual });
            }
            let next = self.advance(squared / curvature, x);
            so_far.residual = checked((next / scale).sqrt(), so_far)?;
            so_far.iterations += 1;
            if so_far.residual <= self.params.tolerance || so_far.iterations >= self.params.max_iterations {
                return Ok(());
            }
            self.turn(next / squared);
            squared = next;
        }
    }

    /// bᵀ P⁻¹ b of the system that is left for the others when pinned particles have their x.
    fn scale(&mut self, matrix: &BlockMatrix, b: &[Vec4], x: &[Vec4]) -> Result<f64, Error> {
        for ((p, x), pinned) in self.p.iter_mut().zip(x).zip(&self.pinned) {
            *p = if *pinned { *x } else { Vec4::ZERO };
        }
        let led = std::mem::take(&mut self.p);
        self.residual(matrix, b, &led);
        self.p = led;
        checked(self.precondition(), &START)
    }

    /// r = b - A x, 0 for pinned particles.
    fn residual(&mut self, matrix: &BlockMatrix, b: &[Vec4], x: &[Vec4]) {
        if x.iter().any(|x| *x != Vec4::ZERO) {
            matrix.multiply(x, &mut self.q);
        } else {
            self.q.fill(Vec4::ZERO);
        }
        let size = self.chunk_size;
        parallel::each_chunk(&mut self.r, size, |c, r| {
            let (q, b, pinned) = (chunk(&self.q, size, c), chunk(b, size, c), chunk(&self.pinned, size, c));
            for (((r, q), b), pinned) in r.iter_mut().zip(q).zip(b).zip(pinned) {
                *r = if *pinned { Vec4::ZERO } else { *b - *q };
            }
        });
    }

    /// z = P⁻¹ r, 0 for pinned particles; returns rᵀ z.
    fn precondition(&mut self) -> f64 {
        self.preconditioner.apply(&self.r, &mut self.z, &self.pinned, &mut self.sums, || ());
        self.sums.iter().sum()
    }

    /// q = A p, 0 for pinned particles; returns pᵀ q.
    fn curvature(&mut self, matrix: &BlockMatrix) -> f64 {
        let (size, p, pinned) = (self.chunk_size, &self.p, &self.pinned);
        let beyond = matrix.reaches_beyond();
        parallel::each_chunk_with(&mut self.q, size, &mut self.sums, |c, q, sum| {
            matrix.multiply_chunk(c, p, q);
            if !beyond {
                *sum = filtered_dot_fast(q, chunk(p, size, c), chunk(pinned, size, c));
            }
        });
        if beyond {
            matrix.add_beyond(&self.p, &mut self.q);
            self.dot_of_product();
        }
        self.sums.iter().sum()
    }

    /// q is set to 0 for pinned particles, and the sums to pᵀ q.
    fn dot_of_product(&mut self) {
        let (size, p, pinned) = (self.chunk_size, &self.p, &self.pinned);
        parallel::each_chunk_with(&mut self.q, size, &mut self.sums, |c, q, sum| {
            *sum = filtered_dot_fast(q, chunk(p, size, c), chunk(pinned, size, c));
        });
    }

    /// x += α p, r -= α q, z = P⁻¹ r; returns rᵀ z.
    fn advance(&mut self, alpha: f64, x: &mut [Vec4]) -> f64 {
        let Self { preconditioner, pinned, chunk_size, r, z, p, q, sums, .. } = self;
        let add = |y: &mut [Vec4], factor: f64, x: &[Vec4]| {
            parallel::each_chunk(y, *chunk_size, |c, y| add_scaled_fast(y, factor, chunk(x, *chunk_size, c)));
        };
        add(r, -alpha, q);
        // Nobody waits for x.
        preconditioner.apply(r, z, pinned, sums, || add(x, alpha, p));
        sums.iter().sum()
    }

    /// p = z + β p.
    fn turn(&mut self, beta: f64) {
        let size = self.chunk_size;
        parallel::each_chunk(&mut self.p, size, |c, p| scale_and_add_fast(p, beta, chunk(&self.z, size, c)));
    }
}

with_avx2! {
    fn filtered_dot_fast = filtered_dot(a: &mut [Vec4], b: &[Vec4], pinned: &[bool]) -> f64
}

with_avx2! {
    fn add_scaled_fast = add_scaled(y: &mut [Vec4], factor: f64, x: &[Vec4])
}

/// y += factor × x.
#[inline(always)]
fn add_scaled(y: &mut [Vec4], factor: f64, x: &[Vec4]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += *x * factor);
}

with_avx2! {
    fn scale_and_add_fast = scale_and_add(y: &mut [Vec4], factor: f64, x: &[Vec4])
}

/// y = x + factor × y.
#[inline(always)]
fn scale_and_add(y: &mut [Vec4], factor: f64, x: &[Vec4]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = *x + *y * factor);
}

/// The number, if it is one.
fn checked(number: f64, so_far: &Info) -> Result<f64, Error> {
    let Info { iterations, residual, .. } = *so_far;
    if number.is_finite() { Ok(number) } else { Err(Error::NotFinite { iterations, residual }) }
}
