//! How elements come into a block matrix and its right-hand side, chunk by chunk.
//!
//! An element on a border is computed for every chunk that it touches: nothing is shared, and the thread count cannot change a bit.

use super::matrix::Block;
use super::pattern::{ElementError, Pattern, Rows, check};
use crate::math::vec4::with_avx2;
use crate::math::{DMat3, DVec3, Vec4};
use crate::parallel;

/// A place in a row that the chunk does not own.
const FOREIGN: u32 = u32::MAX;

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
        parallel::each_chunk(forces, self.chunk_size, |c, forces| {
            for Listed { element, rows, .. } in &self.chunks[c] {
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
    pub fn add(
        &mut self,
        pattern: &Pattern,
        particles: &[u32],
        weights: &[f64],
        [stiffness, damping]: [f64; 2],
    ) {
        let parts = || particles.iter().zip(weights);
        for ((i, wi), (j, wj)) in parts().flat_map(|i| parts().map(move |j| (i, j))) {
            let (chunk, slot) = pattern.slot(*i, *j).expect("particles that are joined");
            let [k, c] = &mut self.chunks[chunk][slot];
            *k += stiffness * wi * wj;
            *c += damping * wi * wj;
        }
    }

    /// Adds h times the forces at positions `x` [m] and velocities `v` [m/s].
    pub fn pull(&self, pattern: &Pattern, h: f64, [x, v]: [&[Vec4]; 2], forces: &mut [Vec4]) {
        parallel::each_chunk(forces, pattern.chunk_size, |chunk, forces| {
            let (rows, numbers) = (&pattern.chunks[chunk], &self.chunks[chunk]);
            for (r, force) in forces.iter_mut().enumerate() {
                let (row, own) = (rows.row(r), rows.first + r);
                let mut pull = Vec4::ZERO;
                for (&j, &[stiffness, damping]) in rows.columns[row.clone()].iter().zip(&numbers[row]) {
                    let j = j as usize;
                    pull += (x[own] - x[j]) * stiffness + (v[own] - v[j]) * damping;
                }
                *force += pull * h;
            }
        });
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
pub struct AssemblyPart<'a> {
    pub(in crate::solve) chunk: usize,
    pub(in crate::solve) rows: &'a Rows,
    pub(in crate::solve) blocks: &'a mut [Block],
    pub(in crate::solve) forces: &'a mut [Vec4],
}

impl AssemblyPart<'_> {
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
