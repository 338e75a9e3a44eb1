//! Levels of aggregates: what block-Jacobi does on particles is done again on groups of particles that move as one.
//!
//! Block-Jacobi carries an error one neighbour further in each iteration, so a sheet of N by N particles takes of the order of N. A group of
//! particles that moves as one carries it over the whole group. With P = 1 where a particle belongs to an aggregate, the matrix of the
//! aggregates is Pᵀ A P (Galerkin): sums of blocks, of the same kind as A, so that they are grouped again. All levels are added (Bramble, Pasciak &
//! Xu 1990): no level waits for another but to hand down sums.

use super::Jacobi;
use super::coarse::CoarseCholesky;
use crate::math::Vec4;
use crate::math::vec4::with_avx2;
use crate::parallel;
use crate::solve::sparse::matrix::{Block, BlockMatrix, Pattern};

/// Members of an aggregate, but for particles that were left over.
const AGGREGATE: usize = 4;

/// The last level has at most this many times √particles rows: a factorisation of n rows costs of the order of n², and is not to cost more
/// than a few iterations.
const LAST_LEVEL: f64 = 8.0;

/// No aggregate yet.
const NONE: u32 = u32::MAX;

/// Members that a thread moves at a time.
const PROLONGED: usize = 4096;

/// All levels but the particles' own.
#[derive(Debug)]
pub(super) struct Levels {
    levels: Vec<Level>,
    last: Option<CoarseCholesky>,
}

/// Aggregates of what is on the level before.
#[derive(Debug)]
struct Level {
    /// The aggregate that each member belongs to.
    aggregate_of: Vec<u32>,
    /// Aggregate a has the members `members[starts[a]..starts[a + 1]]`.
    starts: Vec<usize>,
    members: Vec<u32>,
    matrix: BlockMatrix,
    jacobi: Jacobi,
    /// Where the blocks of the members go, member by member, for every chunk of the matrix.
    slots: Vec<Vec<u32>>,
    r: Vec<Vec4>,
    z: Vec<Vec4>,
}

impl Levels {
    pub(super) fn new(particles: &Pattern) -> Self {
        let few = LAST_LEVEL * (particles.particles() as f64).sqrt();
        let mut levels = vec![Level::new(particles)];
        while let Some(finer) = levels.last().filter(|level| level.r.len() as f64 > few) {
            levels.push(Level::new(finer.matrix.pattern()));
        }
        let last = levels.last().map(|level| CoarseCholesky::new(level.matrix.pattern()));
        Self { levels, last }
    }

    /// Fits all levels to a matrix. One thread factorises the last; others do `meanwhile`, whose answer is returned.
    pub(super) fn prepare<T: Send>(
        &mut self,
        matrix: &BlockMatrix,
        pinned: &[bool],
        meanwhile: impl FnOnce() -> T + Send,
    ) -> T {
        let mut finer = matrix;
        let mut pinned = pinned;
        for level in &mut self.levels {
            level.sum_up(finer, pinned);
            finer = &level.matrix;
            pinned = &[];
        }
        let Self { levels, last } = self;
        let Some((coarsest, between)) = levels.split_last_mut() else { return meanwhile() };
        let others = || {
            for Level { jacobi, matrix, .. } in between {
                // Zero where there is no inverse is what is wanted.
                let _ = jacobi.prepare(matrix, &[]);
            }
            meanwhile()
        };
        parallel::join(|| last.iter_mut().for_each(|last| last.prepare(&coarsest.matrix)), others).1
    }

    /// The matrix of the last level.
    pub(super) fn last(&self) -> Option<&BlockMatrix> {
        self.levels.last().map(|level| &level.matrix)
    }

    /// What `of_last` says of the rows of the last level, said of every particle.
    pub(super) fn spread(&self, of_last: &[u32]) -> Vec<u32> {
        let down = |of: Vec<u32>, level: &Level| level.aggregate_of.iter().map(|a| of[*a as usize]).collect();
        self.levels.iter().rev().fold(of_last.to_vec(), down)
    }

    /// What all levels make of `r`: the aggregate of every particle, and how aggregates move. One thread solves on the last level; others do
    /// `meanwhile` what needs none of it.
    pub(super) fn solve(&mut self, r: &[Vec4], meanwhile: impl FnOnce() + Send) -> (&[u32], &[Vec4]) {
        let mut finer = r;
        for level in &mut self.levels {
            level.restrict(finer);
            finer = &level.r;
        }
        let Self { levels, last } = self;
        if let Some((coarsest, between)) = levels.split_last_mut() {
            let others = || {
                between.iter_mut().for_each(|Level { jacobi, r, z, .. }| jacobi.apply(r, z));
                meanwhile();
            };
            let Level { r, z, .. } = coarsest;
            parallel::join(|| last.iter_mut().for_each(|last| last.solve(r, z)), others);
        }
        for k in (1..self.levels.len()).rev() {
            let (finer, coarser) = self.levels.split_at_mut(k);
            coarser[0].prolong(&mut finer[k - 1].z);
        }
        self.levels.first().map_or((&[], &[]), |first| (&first.aggregate_of, &first.z))
    }
}

impl Level {
    fn new(finer: &Pattern) -> Self {
        let (aggregate_of, count) = aggregates(finer);
        let mut members: Vec<u32> = (0..finer.particles() as u32).collect();
        members.sort_by_key(|&i| aggregate_of[i as usize]);
        let mut starts = vec![0; count + 1];
        aggregate_of.iter().for_each(|&a| starts[a as usize + 1] += 1);
        (0..count).for_each(|a| starts[a + 1] += starts[a]);

        let of = |i: u32| aggregate_of[i as usize];
        let joined = |i: u32| finer.row(i).iter().map(move |&j| [of(i), of(j)]);
        let mut pairs: Vec<[u32; 2]> = members.iter().flat_map(|&i| joined(i)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let pattern =
            Pattern::new(count, pairs.iter().map(|pair| &pair[..])).expect("aggregates are counted");
        let slot = |[a, b]: [u32; 2]| pattern.slot(a, b).expect("made from these pairs").1 as u32;
        let slots = pattern.chunks().iter().map(|rows| {
            let own = starts[rows.first]..starts[rows.first + rows.len()];
            members[own].iter().flat_map(|&i| joined(i)).map(slot).collect()
        });
        let slots = slots.collect();
        let room = vec![Vec4::ZERO; count];
        let jacobi = Jacobi::new(&pattern);
        let matrix = BlockMatrix::new(pattern);
        Self { starts, members, matrix, jacobi, slots, r: room.clone(), z: room, aggregate_of }
    }

    /// The matrix of the aggregates. One that has nothing but pinned members stays zero, and so does its motion.
    fn sum_up(&mut self, finer: &BlockMatrix, pinned: &[bool]) {
        let (pattern, blocks) = self.matrix.parts_mut();
        parallel::each(blocks, 1, |c, blocks| {
            let rows = &pattern.chunks()[c];
            let own = self.starts[rows.first]..self.starts[rows.first + rows.len()];
            sum_blocks_fast(finer, pinned, &self.members[own], &self.slots[c], blocks);
        });
    }

    /// r of an aggregate is the sum over its members.
    fn restrict(&mut self, finer: &[Vec4]) {
        // One chunk of aggregates is summed sooner than another thread wakes.
        let size = 2 * self.matrix.pattern().chunk_size();
        parallel::each_chunk(&mut self.r, size, |c, sums| {
            sum_members_fast(finer, &self.members, &self.starts[c * size..], sums);
        });
    }

    /// Every member moves with its aggregate.
    fn prolong(&self, finer: &mut [Vec4]) {
        parallel::each_chunk(finer, PROLONGED, |c, finer| {
            let aggregates = parallel::chunk(&self.aggregate_of, PROLONGED, c);
            finer.iter_mut().zip(aggregates).for_each(|(z, &a)| *z += self.z[a as usize]);
        });
    }
}

with_avx2! {
    fn sum_blocks_fast =
        sum_blocks(finer: &BlockMatrix, pinned: &[bool], members: &[u32], slots: &[u32], sums: &mut [Block])
}

/// Adds the blocks of all members into their slots, but for those of pinned particles.
#[inline(always)]
fn sum_blocks(finer: &BlockMatrix, pinned: &[bool], members: &[u32], slots: &[u32], sums: &mut [Block]) {
    let held = |i: u32| pinned.get(i as usize) == Some(&true);
    sums.fill([Vec4::ZERO; 3]);
    let mut slots = slots.iter();
    for &i in members {
        let row = finer.pattern().row(i).iter().zip(finer.row(i));
        for ((&j, block), &slot) in row.zip(slots.by_ref()) {
            if !held(i) && !held(j) {
                let sum = &mut sums[slot as usize];
                (0..3).for_each(|c| sum[c] += block[c]);
            }
        }
    }
}

with_avx2! {
    fn sum_members_fast = sum_members(finer: &[Vec4], members: &[u32], starts: &[usize], sums: &mut [Vec4])
}

#[inline(always)]
fn sum_members(finer: &[Vec4], members: &[u32], starts: &[usize], sums: &mut [Vec4]) {
    for (sum, range) in sums.iter_mut().zip(starts.windows(2)) {
        let own = members[range[0]..range[1]].iter().map(|&i| finer[i as usize]);
        *sum = own.fold(Vec4::ZERO, |sum, r| sum + r);
    }
}

/// The aggregate of every row, and how many there are. Rows are taken as they come; each that is not yet taken draws those to it with which it has
/// most neighbours in common: compact groups, which on a grid are squares.
fn aggregates(pattern: &Pattern) -> (Vec<u32>, usize) {
    let mut of = vec![NONE; pattern.particles()];
    let mut count = 0;
    let mut group = Vec::with_capacity(AGGREGATE);
    for seed in 0..pattern.particles() as u32 {
        if of[seed as usize] != NONE {
            continue;
        }
        group.clear();
        group.push(seed);
        while let (true, Some(next)) =
            (group.len() < AGGREGATE, closest(pattern, &group, |j| of[j as usize] == NONE))
        {
            group.push(next);
        }
        // One that is left over goes with its neighbours, or, having none, with the last: so that every level has at most half the rows.
        let own = match closest(pattern, &group, |_| true) {
            _ if group.len() > 1 => count,
            Some(neighbour) => of[neighbour as usize],
            None => count.saturating_sub(1),
        };
        group.iter().for_each(|&i| of[i as usize] = own);
        count = count.max(own + 1);
    }
    (of, count as usize)
}

/// The row outside the group that has most neighbours in common with its rows, of those that may be taken.
fn closest(pattern: &Pattern, group: &[u32], may: impl Fn(u32) -> bool) -> Option<u32> {
    let candidates = group.iter().flat_map(|&i| pattern.row(i)).copied();
    let candidates = candidates.filter(|j| !group.contains(j) && may(*j));
    let common = |j: u32| -> usize { group.iter().map(|&i| shared(pattern.row(i), pattern.row(j))).sum() };
    candidates.max_by_key(|&j| (common(j), std::cmp::Reverse(j)))
}

/// How many numbers two rising lists share.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let mut b = b.iter().peekable();
    a.iter()
        .filter(|i| {
            while b.next_if(|j| j < i).is_some() {}
            b.peek() == Some(i)
        })
        .count()
}
