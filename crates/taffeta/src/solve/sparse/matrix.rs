//! Symmetric matrices of 3×3 blocks over particles, in compressed rows (P4), assembled and multiplied chunk by chunk.
//!
//! Rows are cut into chunks that depend on the number of particles alone. A chunk holds its rows whole, also those blocks that
//! the transposed row holds again, and an element on a border is computed on both sides: nothing is shared, nothing is atomic,
//! and the thread count cannot change a bit. Half the blocks would do for a symmetric matrix, but the product must
//! then scatter, which takes back what the saved bytes give. A block is three columns padded to a 256-bit register: more bytes than nine
//! numbers, but no load that straddles cache lines, which is faster in cache and no slower beyond.

pub use super::assembly::{Assembly, AssemblyPart, Bending, Elements, Sink};
pub(in crate::solve) use super::pattern::Rows;
pub use super::pattern::{ElementError, Pattern};
use super::rank_one::{Coupling, RankOneUpdate};
use crate::math::vec4::with_avx2;
use crate::math::{DMat3, Vec4};
use crate::parallel;

/// The three columns of a 3×3 block.
pub type Block = [Vec4; 3];

/// A symmetric matrix of 3×3 blocks, and what joins particles beyond its pattern.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    pattern: Pattern,
    /// The blocks of every chunk, as its columns stand.
    blocks: Vec<Vec<Block>>,
    /// P4's second matrix: contacts come and go, so they have no place in the pattern.
    couplings: Vec<Coupling>,
    swellings: Vec<RankOneUpdate>,
}

impl BlockMatrix {
    /// All zero.
    pub fn new(pattern: Pattern) -> Self {
        let blocks = pattern.chunks.iter().map(|rows| vec![[Vec4::ZERO; 3]; rows.columns.len()]).collect();
        Self { pattern, blocks, couplings: Vec::new(), swellings: Vec::new() }
    }

    /// Where blocks may stand.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Sets all blocks to zero, then the diagonal of row i to `diagonal[i]` times the unit matrix; nothing is joined beyond the pattern.
    pub fn set_diagonal(&mut self, diagonal: &[f64]) {
        assert_eq!(diagonal.len(), self.pattern.particles, "a number for every particle");
        self.forget_beyond();
        parallel::each(&mut self.blocks, 1, |chunk, blocks| {
            let rows = &self.pattern.chunks[chunk];
            blocks.fill([Vec4::ZERO; 3]);
            for (r, &number) in diagonal[rows.first..][..rows.len()].iter().enumerate() {
                let block = &mut blocks[rows.diagonal(r)];
                (0..3).for_each(|c| block[c].0[c] = number);
            }
        });
    }

    /// Calls `of(element, sink)` for all elements, chunk by chunk and on all threads; what goes into a sink is added to the matrix.
    ///
    /// An element that touches several chunks is computed for each of them: `of` must depend on nothing but the element.
    pub fn add<const N: usize>(
        &mut self,
        elements: &Elements<N>,
        of: impl Fn(usize, &mut Sink<'_, N>) + Sync,
    ) {
        parallel::each(&mut self.blocks, 1, |chunk, blocks| {
            let rows = &self.pattern.chunks[chunk];
            AssemblyPart { chunk, rows, blocks, forces: &mut [] }.add(elements, &of);
        });
    }

    /// Calls `of(part)` for every chunk of rows, on all threads: matrix and right-hand side `forces` in one pass. A part is to begin, and takes in
    /// all other elements; as in [`BlockMatrix::add`] they must depend on nothing else. Nothing is joined beyond the pattern.
    pub fn assemble(&mut self, forces: &mut [Vec4], of: impl Fn(&mut AssemblyPart<'_>) + Sync) {
        assert_eq!(forces.len(), self.pattern.particles, "a vector for every particle");
        self.forget_beyond();
        let Pattern { chunks, chunk_size, .. } = &self.pattern;
        parallel::each_chunk_with(forces, *chunk_size, &mut self.blocks, |chunk, forces, blocks| {
            let rows = &chunks[chunk];
            of(&mut AssemblyPart { chunk, rows, blocks, forces })
        });
    }

    fn forget_beyond(&mut self) {
        self.couplings.clear();
        self.swellings.iter_mut().for_each(|rank_one| rank_one.factor = 0.0);
    }

    /// Adds `coupling.block` for the point Σ w_i x_i of up to four particles, which the pattern need not join.
    pub fn couple(&mut self, coupling: Coupling) {
        // What falls on the diagonal goes there, where preconditioners see it.
        for (&i, &w) in coupling.particles.iter().zip(&coupling.weights).filter(|(_, w)| **w != 0.0) {
            self.set_diagonal_block(i, self.diagonal(i) + coupling.block * (w * w));
        }
        if coupling.joins() {
            self.couplings.push(coupling);
        }
    }

    /// Takes all couplings away; what they added to the diagonal stays.
    pub fn clear_couplings(&mut self) {
        self.couplings.clear();
    }

    /// Sets the block on the diagonal of row `i`, which must be one.
    pub fn set_diagonal_block(&mut self, i: u32, block: DMat3) {
        let chunk = i as usize / self.pattern.chunk_size;
        let rows = &self.pattern.chunks[chunk];
        let own = &mut self.blocks[chunk][rows.diagonal(i as usize - rows.first)];
        *own = [block.x_axis.into(), block.y_axis.into(), block.z_axis.into()];
    }

    /// Adds the matrix factor × g gᵀ, where g has the vectors `gradient` at `particles`.
    pub fn add_rank_one(&mut self, factor: f64, particles: &[u32], gradient: &[Vec4]) {
        // Those of before give their room.
        let free = self.swellings.iter().position(|rank_one| rank_one.factor == 0.0);
        let place = free.unwrap_or_else(|| {
            self.swellings.push(RankOneUpdate::default());
            self.swellings.len() - 1
        });
        let RankOneUpdate { factor: own, particles: members, gradient: vectors } = &mut self.swellings[place];
        *own = factor;
        members.clear();
        members.extend_from_slice(particles);
        vectors.clear();
        vectors.extend_from_slice(gradient);
    }

    /// The block on the diagonal of row `i`, which must be one.
    pub fn diagonal(&self, i: u32) -> DMat3 {
        let chunk = i as usize / self.pattern.chunk_size;
        let rows = &self.pattern.chunks[chunk];
        matrix_of(&self.blocks[chunk][rows.diagonal(i as usize - rows.first)])
    }

    /// Whether particles are joined beyond the pattern.
    pub(in crate::solve) fn reaches_beyond(&self) -> bool {
        !self.couplings.is_empty() || self.swellings.iter().any(|rank_one| rank_one.factor != 0.0)
    }

    /// Adds to y what joins particles beyond the pattern, in the order in which it came.
    pub(in crate::solve) fn add_beyond(&self, x: &[Vec4], y: &mut [Vec4]) {
        self.couplings.iter().for_each(|coupling| coupling.add_product(x, y));
        let swollen = self.swellings.iter().filter(|rank_one| rank_one.factor != 0.0);
        swollen.for_each(|rank_one| rank_one.add_product(x, y));
    }

    /// Block (i, j), zero where the pattern has none.
    pub fn block(&self, i: u32, j: u32) -> DMat3 {
        let columns =
            self.pattern.slot(i, j).map_or([Vec4::ZERO; 3], |(chunk, slot)| self.blocks[chunk][slot]);
        matrix_of(&columns)
    }

    /// y = A x. The fourth number of every vector is to be 0, and is.
    pub fn multiply(&self, x: &[Vec4], y: &mut [Vec4]) {
        assert_eq!(y.len(), self.pattern.particles, "a vector for every particle");
        parallel::each_chunk(y, self.pattern.chunk_size, |c, y| self.multiply_chunk(c, x, y));
        self.add_beyond(x, y);
    }

    /// The rows of one chunk of y = A x, without what reaches beyond the pattern.
    pub(in crate::solve) fn multiply_chunk(&self, chunk: usize, x: &[Vec4], y: &mut [Vec4]) {
        let (rows, blocks) = (&self.pattern.chunks[chunk], &self.blocks[chunk]);
        assert!(x.len() == self.pattern.particles && y.len() == rows.len(), "a vector for every particle");
        multiply_rows_fast(rows, blocks, x, y);
    }

    /// The blocks of a chunk, as its columns stand.
    pub(in crate::solve) fn blocks(&self, chunk: usize) -> &[Block] {
        &self.blocks[chunk]
    }

    /// The pattern, and the blocks of every chunk to be written.
    pub(in crate::solve) fn parts_mut(&mut self) -> (&Pattern, &mut [Vec<Block>]) {
        (&self.pattern, &mut self.blocks)
    }

    /// The blocks of row `i`, which must be one, by rising column.
    pub(in crate::solve) fn row(&self, i: u32) -> &[Block] {
        let chunk = i as usize / self.pattern.chunk_size;
        let rows = &self.pattern.chunks[chunk];
        &self.blocks[chunk][rows.row(i as usize - rows.first)]
    }
}

/// A block as a matrix.
pub(in crate::solve) fn matrix_of(block: &Block) -> DMat3 {
    DMat3::from_cols(block[0].xyz(), block[1].xyz(), block[2].xyz())
}

with_avx2! {
    fn multiply_rows_fast = multiply_rows(rows: &Rows, blocks: &[Block], x: &[Vec4], y: &mut [Vec4])
}

#[inline(always)]
fn multiply_rows(rows: &Rows, blocks: &[Block], x: &[Vec4], y: &mut [Vec4]) {
    for (r, y) in y.iter_mut().enumerate() {
        let row = rows.row(r);
        // A sum for each column: one sum alone would wait for itself.
        let mut sums = [Vec4::ZERO; 3];
        for (&j, block) in rows.columns[row.clone()].iter().zip(&blocks[row]) {
            // SAFETY: columns are particles of the pattern, and the caller has checked that there are as many vectors.
            let x = unsafe { x.get_unchecked(j as usize) };
            for c in 0..3 {
                sums[c] += block[c] * x.0[c];
            }
        }
        *y = sums[0] + sums[1] + sums[2];
    }
}
