//! Elements onto particles: in parallel, without atomics, always in the same order.
//!
//! Particles are cut into chunks that depend on the scene alone. A chunk has its own copy of every element that touches one of its particles and
//! writes forces on its own particles only (P4 sums private copies of shared particles instead): an element on a
//! border is computed on both sides, nothing is shared, and the thread count cannot change a bit. Springs and bends stand in blocks of
//! eight so that eight are computed side by side in SIMD lanes; the lanes round as scalars do, so every instruction set gives
//! the same bits.

use super::{air_on, spring::NO_DIRECTION};
use crate::math::DVec3;
use crate::model::Model;
use std::ops::Range;

const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Chunks are at least this large, so that borders stay cheap, and at most this many, so that every core finds work.
const SMALLEST_CHUNK: usize = 512;
const MOST_CHUNKS: usize = 128;

/// Particles `particles` of one piece of cloth, and every element that touches them.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// The particles.
    pub particles: Range<usize>,
    /// The piece of cloth they belong to.
    pub cloth: usize,
    springs: Vec<SpringBlock>,
    bends: Vec<BendBlock>,
    triangles: Vec<([u32; 3], [u32; 3])>,
    /// Forces on own particles [N]; the last entry takes what belongs to others.
    forces: Vec<DVec3>,
    /// Forces of the air on own particles, held over several sub-steps [N].
    air: Vec<DVec3>,
}

#[derive(Debug, Clone)]
struct SpringBlock {
    /// Particles of the model.
    ends: [[u32; LANES]; 2],
    /// Their places in `forces`.
    places: [[u32; LANES]; 2],
    rest_length: Lanes,
    stiffness: Lanes,
    damping: Lanes,
}

#[derive(Debug, Clone)]
struct BendBlock {
    points: [[u32; LANES]; 3],
    places: [[u32; LANES]; 3],
    inverse_lengths: [Lanes; 2],
    stiffness: Lanes,
    damping: Lanes,
}

/// The chunks of a model.
pub fn chunks(model: &Model) -> Vec<Chunk> {
    let size = model.particle_count().div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK);
    let mut chunks = Vec::new();
    for (cloth, piece) in model.cloths.iter().enumerate() {
        let count = piece.particles.len().div_ceil(size).max(1);
        for k in 0..count {
            let cut = |k: usize| piece.particles.start + piece.particles.len() * k / count;
            chunks.push(Chunk::empty(cut(k)..cut(k + 1), cloth));
        }
    }
    let owner = owners(&chunks, model.particle_count());
    let touching = |particles: &[u32]| -> Vec<usize> {
        let mut touched: Vec<usize> = particles.iter().map(|i| owner[*i as usize] as usize).collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    };
    let mut springs = vec![Vec::new(); chunks.len()];
    for (s, ends) in model.springs.ends.iter().enumerate() {
        touching(ends).into_iter().for_each(|c| springs[c].push(s));
    }
    let mut bends = vec![Vec::new(); chunks.len()];
    for (b, points) in model.bends.points.iter().enumerate() {
        touching(points).into_iter().for_each(|c| bends[c].push(b));
    }
    for triangle in &model.triangles {
        for c in touching(triangle) {
            let places = triangle.map(|i| chunks[c].place(i));
            chunks[c].triangles.push((*triangle, places));
        }
    }
    for (c, chunk) in chunks.iter_mut().enumerate() {
        chunk.springs = springs[c].chunks(LANES).map(|block| chunk.spring_block(model, block)).collect();
        chunk.bends = bends[c].chunks(LANES).map(|block| chunk.bend_block(model, block)).collect();
    }
    chunks
}

fn owners(chunks: &[Chunk], particles: usize) -> Vec<u32> {
    let mut owner = vec![0; particles];
    for (c, chunk) in chunks.iter().enumerate() {
        owner[chunk.particles.clone()].fill(c as u32);
    }
    owner
}

impl Chunk {
    fn empty(particles: Range<usize>, cloth: usize) -> Self {
        let room = vec![DVec3::ZERO; particles.len() + 1];
        let (springs, bends, triangles) = (Vec::new(), Vec::new(), Vec::new());
        Self { particles, cloth, springs, bends, triangles, forces: room.clone(), air: room }
    }

    /// Where forces on particle `i` go.
    fn place(&self, i: u32) -> u32 {
        let own = self.particles.contains(&(i as usize));
        if own { i - self.particles.start as u32 } else { self.particles.len() as u32 }
    }

    /// Lanes that are left over reach from a particle to itself with no stiffness.
    fn spring_block(&self, model: &Model, springs: &[usize]) -> SpringBlock {
        let m = &model.springs;
        let first = self.particles.start as u32;
        let ends = [0, 1].map(|e| lanes(springs, |s| m.ends[s][e], first));
        SpringBlock {
            ends,
            places: ends.map(|lane| lane.map(|i| self.place(i))),
            rest_length: lanes(springs, |s| m.rest_length[s], 1.0),
            stiffness: lanes(springs, |s| m.stiffness[s], 0.0),
            damping: lanes(springs, |s| m.damping[s], 0.0),
        }
    }

    fn bend_block(&self, model: &Model, bends: &[usize]) -> BendBlock {
        let m = &model.bends;
        let first = self.particles.start as u32;
        let points = [0, 1, 2].map(|p| lanes(bends, |b| m.points[b][p], first));
        BendBlock {
            points,
            places: points.map(|lane| lane.map(|i| self.place(i))),
            inverse_lengths: [0, 1].map(|e| lanes(bends, |b| m.inverse_lengths[b][e], 0.0)),
            stiffness: lanes(bends, |b| m.stiffness[b], 0.0),
            damping: lanes(bends, |b| m.damping[b], 0.0),
        }
    }

    /// Computes the air's forces for the next sub-steps, of the duration `h` in all [s].
    pub fn renew_air(&mut self, model: &Model, x: &[DVec3], v: &[DVec3], h: f64) {
        self.air.fill(DVec3::ZERO);
        let area_mass = 1e-3 * model.cloths[self.cloth].fabric.density;
        for (triangle, places) in &self.triangles {
            let third = air_on(triangle, x, v, model, area_mass, h) / 3.0;
            places.iter().for_each(|p| self.air[*p as usize] += third);
        }
    }

    /// Forces of springs, bends and air on the chunk's own particles [N].
    pub fn forces(&mut self, x: &[DVec3], v: &[DVec3]) -> &[DVec3] {
        self.forces.copy_from_slice(&self.air);
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                // SAFETY: the features were just detected.
                unsafe { self.add_avx512(x, v) };
                return &self.forces;
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the feature was just detected.
                unsafe { self.add_avx2(x, v) };
                return &self.forces;
            }
        }
        self.add_elements(x, v);
        &self.forces
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn add_avx512(&mut self, x: &[DVec3], v: &[DVec3]) {
        self.add_elements(x, v);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_avx2(&mut self, x: &[DVec3], v: &[DVec3]) {
        self.add_elements(x, v);
    }

    #[inline(always)]
    fn add_elements(&mut self, x: &[DVec3], v: &[DVec3]) {
        for block in &self.springs {
            let f = block.forces(x, v);
            add(&mut self.forces, &block.places[0], &f, 1.0);
            add(&mut self.forces, &block.places[1], &f, -1.0);
        }
        for block in &self.bends {
            let moment = block.moments(x, v);
            let [ia, ic] = block.inverse_lengths;
            let scaled = |w: Lanes| moment.map(|m| each(|l| m[l] * w[l]));
            add(&mut self.forces, &block.places[0], &scaled(ia), -1.0);
            add(&mut self.forces, &block.places[1], &scaled(each(|l| ia[l] + ic[l])), 1.0);
            add(&mut self.forces, &block.places[2], &scaled(ic), -1.0);
        }
    }
}

impl SpringBlock {
    /// `spring::force` in eight lanes: x, y, z of the force on the first end.
    #[inline(always)]
    fn forces(&self, x: &[DVec3], v: &[DVec3]) -> [Lanes; 3] {
        let d = difference(x, &self.ends[1], &self.ends[0]);
        let rate = difference(v, &self.ends[1], &self.ends[0]);
        let factor = each(|l| {
            let squared = d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l];
            let inverse = 1.0 / squared.max(NO_DIRECTION).sqrt();
            let lengthening = d[0][l] * rate[0][l] + d[1][l] * rate[1][l] + d[2][l] * rate[2][l];
            self.stiffness[l] * (1.0 - self.rest_length[l] * inverse)
                + self.damping[l] * lengthening * inverse * inverse
        });
        d.map(|c| each(|l| c[l] * factor[l]))
    }
}

impl BendBlock {
    /// The moment k s + c ds/dt of `bend::forces` in eight lanes.
    #[inline(always)]
    fn moments(&self, x: &[DVec3], v: &[DVec3]) -> [Lanes; 3] {
        let [ia, ic] = self.inverse_lengths;
        let turn = |from: &[DVec3]| {
            let (first, second) = (
                difference(from, &self.points[1], &self.points[0]),
                difference(from, &self.points[2], &self.points[1]),
            );
            [0, 1, 2].map(|c| each(|l| second[c][l] * ic[l] - first[c][l] * ia[l]))
        };
        let (s, rate) = (turn(x), turn(v));
        [0, 1, 2].map(|c| each(|l| s[c][l] * self.stiffness[l] + rate[c][l] * self.damping[l]))
    }
}

fn lanes<T: Copy>(elements: &[usize], of: impl Fn(usize) -> T, filler: T) -> [T; LANES] {
    std::array::from_fn(|l| elements.get(l).map_or(filler, |e| of(*e)))
}

#[inline(always)]
fn each(f: impl Fn(usize) -> f64) -> Lanes {
    let mut lanes = [0.0; LANES];
    for (l, lane) in lanes.iter_mut().enumerate() {
        *lane = f(l);
    }
    lanes
}

#[inline(always)]
fn difference(of: &[DVec3], to: &[u32; LANES], from: &[u32; LANES]) -> [Lanes; 3] {
    let mut d = [[0.0; LANES]; 3];
    for l in 0..LANES {
        let e = of[to[l] as usize] - of[from[l] as usize];
        (d[0][l], d[1][l], d[2][l]) = (e.x, e.y, e.z);
    }
    d
}

#[inline(always)]
fn add(forces: &mut [DVec3], places: &[u32; LANES], f: &[Lanes; 3], sign: f64) {
    for l in 0..LANES {
        forces[places[l] as usize] += DVec3::new(sign * f[0][l], sign * f[1][l], sign * f[2][l]);
    }
}
