//! Where a block matrix may have blocks: compressed rows, in chunks that depend on the number of particles alone.

use std::ops::Range;
use thiserror::Error;

/// Chunks are at least this large, so that borders stay cheap, and at most this many, so that every core finds work.
const SMALLEST_CHUNK: usize = 512;
const MOST_CHUNKS: usize = 128;

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
    pub(in crate::solve) particles: usize,
    pub(in crate::solve) chunk_size: usize,
    pub(in crate::solve) chunks: Vec<Rows>,
}

/// The rows of a chunk: row r has the blocks `starts[r]..starts[r + 1]`, by rising column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::solve) struct Rows {
    pub(in crate::solve) first: usize,
    pub(in crate::solve) starts: Vec<u32>,
    pub(in crate::solve) columns: Vec<u32>,
    diagonal: Vec<u32>,
}

impl Rows {
    /// The blocks of row `r` of the chunk.
    #[inline(always)]
    pub(in crate::solve) fn row(&self, r: usize) -> Range<usize> {
        self.starts[r] as usize..self.starts[r + 1] as usize
    }

    /// The block of row `r` that is on the diagonal.
    #[inline(always)]
    pub(in crate::solve) fn diagonal(&self, r: usize) -> usize {
        self.diagonal[r] as usize
    }

    /// How many rows there are.
    pub(in crate::solve) fn len(&self) -> usize {
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
    pub(in crate::solve) fn row(&self, i: u32) -> &[u32] {
        let rows = &self.chunks[i as usize / self.chunk_size];
        &rows.columns[rows.row(i as usize - rows.first)]
    }

    /// Rows in a chunk; the last may have fewer.
    pub(in crate::solve) fn chunk_size(&self) -> usize {
        self.chunk_size
    }

    /// The rows, chunk by chunk.
    pub(in crate::solve) fn chunks(&self) -> &[Rows] {
        &self.chunks
    }
}

/// Refuses an element that names a particle which is not there.
pub(in crate::solve) fn check(element: &[u32], e: usize, particles: usize) -> Result<(), ElementError> {
    match element.iter().find(|i| **i as usize >= particles) {
        Some(&particle) => Err(ElementError::UnknownParticle { element: e, particle, particles }),
        None => Ok(()),
    }
}
