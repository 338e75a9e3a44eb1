//! Particles as a block of strips sees them: rows of eight. All places are checked when a block and particles come together, none afterwards.

use super::blocks::StripBlock;
use crate::math::Vec4;
use crate::math::lanes::{LANES, Wide, Wide3};
use std::marker::PhantomData;

/// Particles that a block reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenParticles<'a> {
    /// Places in `particles`, all inside.
    rows: &'a [[u32; LANES]],
    particles: &'a [Vec4],
}

impl<'a> SeenParticles<'a> {
    /// Not one row.
    pub const NONE: Self = Self { rows: &[], particles: &[] };

    #[inline(always)]
    pub fn new(block: &'a StripBlock, particles: &'a [Vec4]) -> Self {
        assert!(block.end() <= particles.len(), "a vector for every particle of the block");
        Self { rows: block.particles(), particles }
    }

    /// The first three numbers of one row, and the fourth.
    #[inline(always)]
    pub fn row<W: Wide>(self, row: usize) -> (Wide3<W>, W) {
        // SAFETY: `new` has checked that there is a vector at every place.
        let [x, y, z, w] = unsafe { W::gather(self.particles.as_ptr(), &self.rows[row]) };
        (Wide3([x, y, z]), w)
    }

    /// From the particles of one row to those of the next.
    #[inline(always)]
    pub fn way<W: Wide>(self, row: usize) -> Wide3<W> {
        self.row::<W>(row + 1).0 - self.row::<W>(row).0
    }
}

/// A block and its particles, which it alone may use.
#[derive(Debug)]
pub struct MovedParticles<'a> {
    block: &'a StripBlock,
    /// Its places, all inside what is lent.
    rows: &'a [[u32; LANES]],
    first: *mut Vec4,
    lent: PhantomData<&'a mut [Vec4]>,
}

impl<'a> MovedParticles<'a> {
    /// The block.
    #[inline(always)]
    pub fn block(&self) -> &'a StripBlock {
        self.block
    }

    /// The same particles in another list.
    #[inline(always)]
    pub(super) fn seen_in(&self, particles: &'a [Vec4]) -> SeenParticles<'a> {
        SeenParticles { rows: self.rows, ..SeenParticles::new(self.block, particles) }
    }

    /// Positions and mobilities of one row.
    #[inline(always)]
    pub(super) fn row<W: Wide>(&self, row: usize) -> (Wide3<W>, W) {
        // SAFETY: `LentParticles::of` has checked that there is a vector at every place of the block, and only this block uses it.
        let [x, y, z, w] = unsafe { W::gather(self.first, &self.rows[row]) };
        (Wide3([x, y, z]), w)
    }

    /// Moves the particles of one row.
    #[inline(always)]
    pub(super) fn put<W: Wide>(&mut self, row: usize, position: Wide3<W>, mobility: W) {
        let [x, y, z] = position.0;
        // SAFETY: as in `row`.
        unsafe { W::scatter(self.first, &self.rows[row], [x, y, z, mobility]) }
    }
}

/// Particles lent to blocks that share none of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LentParticles<'a> {
    first: *mut Vec4,
    count: usize,
    lent: PhantomData<&'a mut [Vec4]>,
}

// SAFETY: it stands for `&mut [Vec4]`, and to reach a particle through one of its copies takes `of`, whose caller promises that no two threads reach the same.
unsafe impl Send for LentParticles<'_> {}
// SAFETY: as above.
unsafe impl Sync for LentParticles<'_> {}

impl<'a> LentParticles<'a> {
    pub fn new(particles: &'a mut [Vec4]) -> Self {
        Self { first: particles.as_mut_ptr(), count: particles.len(), lent: PhantomData }
    }

    /// The particles of a block.
    ///
    /// # Safety
    /// While it lives, no other block with one of these particles may have its own.
    #[inline(always)]
    pub unsafe fn of<'b>(self, block: &'b StripBlock) -> MovedParticles<'b>
    where
        'a: 'b,
    {
        assert!(block.end() <= self.count, "a vector for every particle of the block");
        MovedParticles { block, rows: block.particles(), first: self.first, lent: PhantomData }
    }
}
