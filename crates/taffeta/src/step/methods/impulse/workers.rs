//! Particles in parts for threads.

use crate::math::Vec4;
use crate::model::Model;
use crate::parallel;
use crate::solve::strips::predict::Sums;
use std::ops::Range;

/// Particles from which threads pay, and those in the part of one thread.
pub const LARGE: usize = 20_000;
const CHUNK: usize = 2048;

/// Some particles of one cloth, and what came of them.
#[derive(Debug)]
pub struct ParticleWorker {
    pub particles: Range<usize>,
    pub cloth: usize,
    pub sums: Sums,
    pub contacts: u32,
}

/// All particles in parts for threads; one part for each cloth where threads do not pay.
pub fn workers(model: &Model) -> Vec<ParticleWorker> {
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
    workers
}

/// Calls `work` for every part of the particles, on several threads where they pay.
pub fn each_chunk(
    workers: &mut [ParticleWorker],
    mut a: &mut [Vec4],
    mut b: &mut [Vec4],
    work: impl Fn(&mut ParticleWorker, &mut [Vec4], &mut [Vec4]) + Sync,
) {
    if a.len() >= LARGE {
        return parallel::for_each_chunk(workers, |w| w.particles.clone(), a, b, work);
    }
    for worker in workers {
        let (own_a, rest_a) = a.split_at_mut(worker.particles.len());
        let (own_b, rest_b) = b.split_at_mut(worker.particles.len());
        work(worker, own_a, own_b);
        (a, b) = (rest_a, rest_b);
    }
}
