//! Particles in parts for threads.

use crate::math::Vec4;
use crate::model::Model;
use crate::parallel::{self, Cut};
use crate::solve::strips::predict::Sums;
use std::ops::Range;

/// Particles from which threads pay, and those in the part of one thread, about.
const LARGE: usize = 1000;
pub const CHUNK: usize = 512;

/// Some particles of one cloth, and what came of them.
#[derive(Debug)]
pub struct ParticleWorker {
    pub particles: Range<usize>,
    pub cloth: usize,
    pub sums: Sums,
    pub contacts: u32,
}

/// All particles of cloths in parts for threads; one part for each cloth where threads do not pay.
#[derive(Debug)]
pub struct ParticleWorkers {
    pub workers: Vec<ParticleWorker>,
    cut: Cut,
}

impl ParticleWorkers {
    /// The parts depend on the model alone.
    pub fn new(model: &Model) -> Self {
        let size = if model.particle_count() < LARGE { LARGE } else { CHUNK };
        let mut workers = Vec::new();
        for (cloth, piece) in model.cloths.iter().enumerate() {
            let count = piece.particles.len().div_ceil(size).max(1);
            let cut = |k: usize| piece.particles.start + piece.particles.len() * k / count;
            let worker = |k: usize| ParticleWorker {
                particles: cut(k)..cut(k + 1),
                cloth,
                sums: Sums::default(),
                contacts: 0,
            };
            workers.extend((0..count).map(worker));
        }
        Self { cut: Cut::new(workers.iter().map(|worker| worker.particles.len())), workers }
    }

    /// Calls `work` for every part of the particles.
    pub fn each(
        &mut self,
        a: &mut [Vec4],
        b: &mut [Vec4],
        work: impl Fn(&mut ParticleWorker, &mut [Vec4], &mut [Vec4]) + Sync,
    ) {
        parallel::each_part(&mut self.workers, &self.cut, a, b, work);
    }
}
