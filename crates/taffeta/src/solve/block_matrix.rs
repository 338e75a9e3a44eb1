//! Symmetric matrices of 3×3 blocks over particles, in compressed rows (P4), assembled and multiplied chunk by chunk.
//!
//! Rows are cut into chunks that depend on the number of particles alone. A chunk holds its rows whole, also those blocks that
//! the transposed row holds again, and an element on a border is computed on both sides: nothing is shared, nothing is atomic,
//! and the thread count cannot change a bit. Half the blocks would do for a symmetric matrix, but the product must
//! then scatter, which takes back what the saved bytes give. A block is three columns padded to a 256-bit register: more bytes than nine
//! numbers, but no load that straddles cache lines, which is faster in cache and no slower beyond.

use super::coupling::{Coupling, Swelling};
use crate::math::vec4::with_avx2;
use crate::math::{DMat3, DVec3, Vec4};
use rayon::prelude::*;
use thiserror::Error;

/// Chunks are at least this large, so that borders stay cheap, and at most this many, so that every core finds work.
const SMALLEST_CHUNK: usize = 512;
const MOST_CHUNKS: usize = 128;

/// A place in a row that the chunk does not own.
const FOREIGN: u32 = u32::MAX;

/// The three columns of a 3×3 block.
pub type Block = [Vec4; 3];

/// An element that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ElementError {
    /// It names a particle that is not there.
    #[error(
        "element {element} names particle {particle}, but there are {particles}: number particles from 0"
    )]
    UnknownParticle {
        /// Place of the element in its list.
        element: usize,
        /// The particle it names.
        particle: u32,
        /// How many there are.
        particles: usize,
    },
    /// It joins particles that the pattern does not join.
    #[error(
        "element {element} joins particles {i} and {j}, but the pattern does not: make the pattern from all elements"
    )]
    NotInPattern {
        /// Place of the element in its list.
        element: usize,
        /// One of the particles.
        i: u32,
        /// The other.
        j: u32,
    },
}

/// Which blocks of a matrix may be other than zero: the diagonal, and (i, j) for all i, j that share an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    particles: usize,
    chunk_size: usize,
    chunks: Vec<Rows>,
}

/// The rows of a chunk: row r has the blocks `starts[r]..starts[r + 1]`, by rising column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) first: usize,
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<u32>,
    diagonal: Vec<u32>,
}

impl Rows {
    /// The blocks of row `r` of the chunk.
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> std::ops::Range<usize> {
        self.starts[r] as usize..self.starts[r + 1] as usize
    }

    /// The block of row `r` that is on the diagonal.
    #[inline(always)]
    pub(super) fn diagonal(&self, r: usize) -> usize {
        self.diagonal[r] as usize
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

impl Pattern {
    /// The pattern of a matrix over `particles`, from the particles of every element.
    pub fn new<'a>(
        particles: usize,
        elements: impl Iterator<Item = &'a [u32]>,
    ) -> Result<Self, ElementError> {
        let mut neighbours: Vec<Vec<u32>> = (0..particles).map(|i| vec![i as u32]).collect();
        for (e, element) in elements.enumerate() {
            check(element, e, particles)?;
            for &i in element {
                neighbours[i as usize].extend_from_slice(element);
            }
        }
        let chunk_size = particles.div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK);
        let mut chunks = Vec::with_capacity(particles.div_ceil(chunk_size));
        for lists in neighbours.chunks_mut(chunk_size) {
            let first = chunks.len() * chunk_size;
            let mut rows = Rows { first, starts: vec![0], ..Rows::default() };
            for (r, list) in lists.iter_mut().enumerate() {
                list.sort_unstable();
                list.dedup();
                let before = list.partition_point(|&j| (j as usize) < first + r);
                rows.diagonal.push((rows.columns.len() + before) as u32);
                rows.columns.extend_from_slice(list);
                rows.starts.push(rows.columns.len() as u32);
            }
            chunks.push(rows);
        }
        Ok(Self { particles, chunk_size, chunks })
    }

    /// How many particles, that is rows of blocks, there are.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.chunks.iter().map(|rows| rows.columns.len()).sum()
    }

    /// Chunk of row `i` and place of block (i, j) in it, if the pattern has it: found by search, so for setting up only.
    pub fn slot(&self, i: u32, j: u32) -> Option<(usize, usize)> {
        let chunk = i as usize / self.chunk_size;
        let rows = self.chunks.get(chunk)?;
        let r = i as usize - rows.first;
        let row = if r < rows.len() { rows.row(r) } else { return None };
        let place = rows.columns[row.clone()].binary_search(&j).ok()?;
        Some((chunk, row.start + place))
    }

    /// The columns of row `i`, which must be one.
    pub(super) fn row(&self, i: u32) -> &[u32] {
        let rows = &self.chunks[i as usize / self.chunk_size];
        &rows.columns[rows.row(i as usize - rows.first)]
    }

    /// Rows in a chunk; the last may have fewer.
    pub(super) fn chunk_size(&self) -> usize {
        self.chunk_size
    }

    /// The rows, chunk by chunk.
    pub(super) fn chunks(&self) -> &[Rows] {
        &self.chunks
    }
}

fn check(element: &[u32], e: usize, particles: usize) -> Result<(), ElementError> {
    match element.iter().find(|i| **i as usize >= particles) {
        Some(&particle) => Err(ElementError::UnknownParticle { element: e, particle, particles }),
        None => Ok(()),
    }
}

/// Elements of one kind with N particles each, and where their blocks go: a list for every chunk that they touch.
#[derive(Debug, Clone)]
pub struct Elements<const N: usize> {
    chunk_size: usize,
    chunks: Vec<Vec<Listed<N>>>,
}

/// An element in the list of a chunk, and the places of its N rows and N × N blocks there.
#[derive(Debug, Clone)]
struct Listed<const N: usize> {
    element: u32,
    rows: [u32; N],
    slots: [[u32; N]; N],
}

impl<const N: usize> Elements<N> {
    /// Elements that were among those which `pattern` is made from.
    pub fn new(pattern: &Pattern, elements: &[[u32; N]]) -> Result<Self, ElementError> {
        let mut chunks = vec![Vec::new(); pattern.chunks.len()];
        for (e, element) in elements.iter().enumerate() {
            check(element, e, pattern.particles)?;
            let mut slots = [[(0, 0); N]; N];
            for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
                let missing = ElementError::NotInPattern { element: e, i: element[i], j: element[j] };
                slots[i][j] = pattern.slot(element[i], element[j]).ok_or(missing)?;
            }
            let mut owners = element.map(|i| i as usize / pattern.chunk_size);
            owners.sort_unstable();
            for k in (0..N).filter(|&k| k == 0 || owners[k] != owners[k - 1]) {
                let own = |(chunk, slot)| if chunk == owners[k] { slot as u32 } else { FOREIGN };
                let rows =
                    element.map(|i| own((i as usize / pattern.chunk_size, i as usize % pattern.chunk_size)));
                let slots = slots.map(|row| row.map(own));
                chunks[owners[k]].push(Listed { element: e as u32, rows, slots });
            }
        }
        Ok(Self { chunk_size: pattern.chunk_size, chunks })
    }

    /// Adds the forces `of(element)` to those of its particles, chunk by chunk and on all threads, always in the same order.
    pub fn gather(&self, forces: &mut [Vec4], of: impl Fn(usize) -> [DVec3; N] + Sync) {
        let chunks = forces.par_chunks_mut(self.chunk_size).zip(&self.chunks);
        chunks.for_each(|(forces, listed)| {
            for Listed { element, rows, .. } in listed {
                for (row, force) in rows.iter().zip(of(*element as usize)) {
                    if let Some(own) = forces.get_mut(*row as usize) {
                        *own += force.into();
                    }
                }
            }
        });
    }
}

/// Bending: energies k |Σ w_i x_i|² / 2 with Σ w_i = 0, and dampers of the same kind. Their derivatives are constant and alike along all
/// axes, so that each pair of particles has one stiffness [N/m] and one damping [N·s/m], times the unit matrix, from all of them together.
#[derive(Debug, Clone)]
pub struct Bending {
    chunks: Vec<Vec<[f64; 2]>>,
}

impl Bending {
    /// None yet.
    pub fn new(pattern: &Pattern) -> Self {
        Self { chunks: pattern.chunks.iter().map(|rows| vec![[0.0; 2]; rows.columns.len()]).collect() }
    }

    /// Adds an energy over particles that the pattern joins: weights [1/m], stiffness k [N·m] and damping [N·m·s].
    pub fn add<const N: usize>(
        &mut self,
        pattern: &Pattern,
        particles: &[u32; N],
        weights: &[f64; N],
        [stiffness, damping]: [f64; 2],
    ) {
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            let (chunk, slot) = pattern.slot(particles[i], particles[j]).expect("particles that are joined");
            let [k, c] = &mut self.chunks[chunk][slot];
            *k += stiffness * weights[i] * weights[j];
            *c += damping * weights[i] * weights[j];
        }
    }
}

/// Takes the blocks of one element, and its forces.
pub struct Sink<'a, const N: usize> {
    blocks: &'a mut [Block],
    forces: &'a mut [Vec4],
    place: &'a Listed<N>,
}

impl<const N: usize> Sink<'_, N> {
    /// Adds `block` at (i, j) and, unless i = j, its transpose at (j, i); i and j count the particles of the element.
    #[inline(always)]
    pub fn add(&mut self, i: usize, j: usize, block: DMat3) {
        self.put(i, j, &block);
        if i != j {
            self.put(j, i, &block.transpose());
        }
    }

    /// Adds `factor` times a symmetric block at (i, j) and, unless i = j, at (j, i).
    #[inline(always)]
    pub fn add_symmetric(&mut self, i: usize, j: usize, block: &Block, factor: f64) {
        for (i, j) in [(i, j), (j, i)].into_iter().take(if i == j { 1 } else { 2 }) {
            if let Some(own) = self.blocks.get_mut(self.place.slots[i][j] as usize) {
                (0..3).for_each(|c| own[c] += block[c] * factor);
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, i: usize, j: usize, block: &DMat3) {
        // Rows of other chunks have no block here.
        if let Some(own) = self.blocks.get_mut(self.place.slots[i][j] as usize) {
            own[0] += block.x_axis.into();
            own[1] += block.y_axis.into();
            own[2] += block.z_axis.into();
        }
    }

    /// Adds `force` to the right-hand side of particle i of the element.
    #[inline(always)]
    pub fn push(&mut self, i: usize, force: Vec4) {
        if let Some(own) = self.forces.get_mut(self.place.rows[i] as usize) {
            *own += force;
        }
    }
}

/// Elements of one kind, as a matrix takes them in.
pub trait Assembly<const N: usize> {
    /// Puts an element's blocks and forces into `sink`. To be inlined always, so that it is compiled for the widest registers.
    fn add(&self, element: usize, sink: &mut Sink<'_, N>);
}

/// For kinds that need no speed.
impl<const N: usize, F: Fn(usize, &mut Sink<'_, N>)> Assembly<N> for F {
    fn add(&self, element: usize, sink: &mut Sink<'_, N>) {
        self(element, sink);
    }
}

/// A chunk of rows of a matrix and its right-hand side while they are assembled.
pub struct Part<'a> {
    chunk: usize,
    rows: &'a Rows,
    blocks: &'a mut [Block],
    forces: &'a mut [Vec4],
}

impl Part<'_> {
    /// Sets the right-hand side to what `bending` pulls at positions `x` [m], times h, and the blocks to h² K + h C; then adds `of(i)` to row i: a
    /// number, for that many times the unit matrix, and a vector.
    pub fn begin(&mut self, bending: &Bending, h: f64, x: &[Vec4], of: impl Fn(usize) -> (f64, Vec4)) {
        let (rows, numbers) = (self.rows, &bending.chunks[self.chunk]);
        fold_rows_fast(rows, numbers, h, x, self.blocks, self.forces);
        for (r, force) in self.forces.iter_mut().enumerate() {
            let (number, vector) = of(rows.first + r);
            let block = &mut self.blocks[rows.diagonal(r)];
            (0..3).for_each(|c| block[c].0[c] += number);
            *force += vector;
        }
    }

    /// Adds all elements of one kind that touch these rows.
    pub fn add<const N: usize>(&mut self, elements: &Elements<N>, kind: &impl Assembly<N>) {
        add_elements_fast(&elements.chunks[self.chunk], kind, self.blocks, self.forces);
    }
}

with_avx2! {
    fn fold_rows_fast =
        fold_rows(rows: &Rows, numbers: &[[f64; 2]], h: f64, x: &[Vec4], blocks: &mut [Block], forces: &mut [Vec4])
}

#[inline(always)]
fn fold_rows(
    rows: &Rows,
    numbers: &[[f64; 2]],
    h: f64,
    x: &[Vec4],
    blocks: &mut [Block],
    forces: &mut [Vec4],
) {
    for (r, force) in forces.iter_mut().enumerate() {
        let (row, own) = (rows.row(r), x[rows.first + r]);
        let mut pull = Vec4::ZERO;
        let places = rows.columns[row.clone()].iter().zip(&numbers[row.clone()]);
        for ((&j, &[stiffness, damping]), block) in places.zip(&mut blocks[row]) {
            let number = h * (h * stiffness + damping);
            *block = [Vec4::ZERO; 3];
            (0..3).for_each(|c| block[c].0[c] = number);
            // Numbers of a row add up to 0, so that differences say the same, and exactly nothing where all are moved.
            pull += (own - x[j as usize]) * stiffness;
        }
        *force = pull * h;
    }
}

with_avx2! {
    fn add_elements_fast[const N: usize, A: Assembly<N>] =
        add_elements(listed: &[Listed<N>], kind: &A, blocks: &mut [Block], forces: &mut [Vec4])
}

#[inline(always)]
fn add_elements<const N: usize>(
    listed: &[Listed<N>],
    kind: &impl Assembly<N>,
    blocks: &mut [Block],
    forces: &mut [Vec4],
) {
    for place in listed {
        kind.add(place.element as usize, &mut Sink { blocks, forces, place });
    }
}

/// A symmetric matrix of 3×3 blocks, and what joins particles beyond its pattern.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    pattern: Pattern,
    /// The blocks of every chunk, as its columns stand.
    blocks: Vec<Vec<Block>>,
    /// P4's second matrix: contacts come and go, so they have no place in the pattern.
    couplings: Vec<Coupling>,
    swellings: Vec<Swelling>,
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
        self.blocks.par_iter_mut().zip(&self.pattern.chunks).for_each(|(blocks, rows)| {
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
        let parts = self.blocks.par_iter_mut().zip(&self.pattern.chunks).enumerate();
        parts.for_each(|(chunk, (blocks, rows))| {
            Part { chunk, rows, blocks, forces: &mut [] }.add(elements, &of);
        });
    }

    /// Calls `of(part)` for every chunk of rows, on all threads: matrix and right-hand side `forces` in one pass. A part is to begin, and takes in
    /// all other elements; as in [`BlockMatrix::add`] they must depend on nothing else. Nothing is joined beyond the pattern.
    pub fn assemble(&mut self, forces: &mut [Vec4], of: impl Fn(&mut Part<'_>) + Sync) {
        assert_eq!(forces.len(), self.pattern.particles, "a vector for every particle");
        self.forget_beyond();
        let forces = forces.par_chunks_mut(self.pattern.chunk_size);
        let parts = self.blocks.par_iter_mut().zip(&self.pattern.chunks).zip(forces).enumerate();
        parts.for_each(|(chunk, ((blocks, rows), forces))| of(&mut Part { chunk, rows, blocks, forces }));
    }

    fn forget_beyond(&mut self) {
        self.couplings.clear();
        self.swellings.iter_mut().for_each(|swelling| swelling.factor = 0.0);
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
    pub fn swell(&mut self, factor: f64, particles: &[u32], gradient: &[Vec4]) {
        // Those of before give their room.
        let free = self.swellings.iter().position(|swelling| swelling.factor == 0.0);
        let place = free.unwrap_or_else(|| {
            self.swellings.push(Swelling::default());
            self.swellings.len() - 1
        });
        let Swelling { factor: own, particles: members, gradient: vectors } = &mut self.swellings[place];
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
    pub(super) fn reaches_beyond(&self) -> bool {
        !self.couplings.is_empty() || self.swellings.iter().any(|swelling| swelling.factor != 0.0)
    }

    /// Adds to y what joins particles beyond the pattern, in the order in which it came.
    pub(super) fn add_beyond(&self, x: &[Vec4], y: &mut [Vec4]) {
        self.couplings.iter().for_each(|coupling| coupling.add_product(x, y));
        let swollen = self.swellings.iter().filter(|swelling| swelling.factor != 0.0);
        swollen.for_each(|swelling| swelling.add_product(x, y));
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
        y.par_chunks_mut(self.pattern.chunk_size).enumerate().for_each(|(c, y)| self.multiply_chunk(c, x, y));
        self.add_beyond(x, y);
    }

    /// The rows of one chunk of y = A x, without what reaches beyond the pattern.
    pub(super) fn multiply_chunk(&self, chunk: usize, x: &[Vec4], y: &mut [Vec4]) {
        let (rows, blocks) = (&self.pattern.chunks[chunk], &self.blocks[chunk]);
        assert!(x.len() == self.pattern.particles && y.len() == rows.len(), "a vector for every particle");
        multiply_rows_fast(rows, blocks, x, y);
    }

    /// The blocks of a chunk, as its columns stand.
    pub(super) fn blocks(&self, chunk: usize) -> &[Block] {
        &self.blocks[chunk]
    }

    /// The pattern, and the blocks of every chunk to be written.
    pub(super) fn parts_mut(&mut self) -> (&Pattern, &mut [Vec<Block>]) {
        (&self.pattern, &mut self.blocks)
    }

    /// The blocks of row `i`, which must be one, by rising column.
    pub(super) fn row(&self, i: u32) -> &[Block] {
        let chunk = i as usize / self.pattern.chunk_size;
        let rows = &self.pattern.chunks[chunk];
        &self.blocks[chunk][rows.row(i as usize - rows.first)]
    }
}

/// A block as a matrix.
pub(super) fn matrix_of(block: &Block) -> DMat3 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::Random;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut random = Random::new(9);
        let count = 100;
        let pairs: Vec<[u32; 2]> =
            (0..600).map(|_| [0; 2].map(|_: u32| random.below(count) as u32)).collect();
        let pattern = Pattern::new(count, pairs.iter().map(|pair| &pair[..])).unwrap();
        let mut vector = || Vec4([random.unit(), random.unit(), random.unit(), 0.0]);
        let blocks: Vec<Block> = (0..pattern.blocks()).map(|_| [vector(), vector(), vector()]).collect();
        let x: Vec<Vec4> = (0..count).map(|_| vector()).collect();
        let mut plain = vec![Vec4::ZERO; count];
        let mut wide = plain.clone();
        multiply_rows(&pattern.chunks[0], &blocks, &x, &mut plain);
        multiply_rows_fast(&pattern.chunks[0], &blocks, &x, &mut wide);
        let bits = |y: &[Vec4]| y.iter().map(|y| y.0.map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&plain), bits(&wide));
        assert!(plain.iter().any(|y| *y != Vec4::ZERO));
    }
}
