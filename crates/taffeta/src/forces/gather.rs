//! Elements onto particles: in parallel, without atomics, always in the same order.
//!
//! Particles are cut into chunks that depend on the scene alone. A chunk has its own copy of every element that touches one of its particles and
//! writes forces on its own particles only (P4 sums private copies of shared particles instead): an element on a
//! border is computed on both sides, nothing is shared, and the thread count cannot change a bit. Springs stand in blocks of
//! four, whose roots and quotients are computed side by side in SIMD lanes.

use super::spring::NO_DIRECTION;
use crate::math::Vec4;
use crate::model::Model;
use std::ops::Range;

const LANES: usize = 4;

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
    /// How many particles the model has: no element names one beyond.
    count: usize,
    springs: Vec<SpringBlock>,
    bends: Vec<GatheredBend>,
    twists: Vec<GatheredTwist>,
    links: Vec<GatheredStitch>,
    /// Forces on own particles [N]; the last entry takes what belongs to others.
    forces: Vec<Vec4>,
}

/// Four springs: particles of the model, their places in `forces`, and the coefficients of `model::Springs`.
#[derive(Debug, Clone)]
struct SpringBlock {
    ends: [[u32; LANES]; 2],
    places: [[u32; LANES]; 2],
    rest_length: Vec4,
    stiffness: Vec4,
    damping: Vec4,
}

/// A bend: particles of the model, their places in `forces`, and the coefficients of `model::Bends`.
#[derive(Debug, Clone)]
struct GatheredBend {
    points: [u32; 3],
    places: [u32; 3],
    inverse_lengths: [f64; 2],
    stiffness: f64,
    damping: f64,
}

/// A twist: particles of the model, their places in `forces`, and the coefficients of `model::Twists`.
#[derive(Debug, Clone)]
struct GatheredTwist {
    points: [u32; 4],
    places: [u32; 4],
    weights: [f64; 4],
    stiffness: f64,
    damping: f64,
}

/// A link: particles of the model, their places in `forces`, its number, its rest length now [m] and its stiffness [N/m].
#[derive(Debug, Clone)]
struct GatheredStitch {
    ends: [u32; 2],
    places: [u32; 2],
    number: usize,
    rest_length: f64,
    stiffness: f64,
}

/// The chunks of a model.
pub fn chunks(model: &Model) -> Vec<Chunk> {
    let size = model.particle_count().div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK);
    let mut chunks = Vec::new();
    for (cloth, piece) in model.cloths.iter().enumerate() {
        let count = piece.particles.len().div_ceil(size).max(1);
        for k in 0..count {
            let cut = |k: usize| piece.particles.start + piece.particles.len() * k / count;
            chunks.push(Chunk::empty(cut(k)..cut(k + 1), cloth, model.particle_count()));
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
    let mut twists = vec![Vec::new(); chunks.len()];
    for (t, points) in model.twists.points.iter().enumerate() {
        touching(points).into_iter().for_each(|c| twists[c].push(t));
    }
    for (number, ends) in model.links.ends.iter().enumerate() {
        for c in touching(ends) {
            let places = ends.map(|i| chunks[c].place(i));
            let stiffness = model.links.stiffness[number];
            chunks[c].links.push(GatheredStitch { ends: *ends, places, number, rest_length: 0.0, stiffness });
        }
    }
    for (c, chunk) in chunks.iter_mut().enumerate() {
        chunk.springs = springs[c].chunks(LANES).map(|block| chunk.spring_block(model, block)).collect();
        chunk.bends = bends[c].iter().map(|b| chunk.bend(model, *b)).collect();
        chunk.twists = twists[c].iter().map(|t| chunk.twist(model, *t)).collect();
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
    fn empty(particles: Range<usize>, cloth: usize, count: usize) -> Self {
        let room = particles.len() + 1;
        Self {
            particles,
            cloth,
            count,
            springs: Vec::new(),
            bends: Vec::new(),
            twists: Vec::new(),
            links: Vec::new(),
            forces: vec![Vec4::ZERO; room],
        }
    }

    /// Where forces on particle `i` go.
    fn place(&self, i: u32) -> u32 {
        let own = self.particles.contains(&(i as usize));
        if own { i - self.particles.start as u32 } else { self.particles.len() as u32 }
    }

    /// Lanes that are left over reach from a particle to itself with no stiffness.
    fn spring_block(&self, model: &Model, springs: &[usize]) -> SpringBlock {
        let m = &model.springs;
        let ends = [0, 1].map(|e| lanes(springs, |s| m.ends[s][e], m.ends[springs[0]][0]));
        SpringBlock {
            ends,
            places: ends.map(|lane| lane.map(|i| self.place(i))),
            rest_length: Vec4(lanes(springs, |s| m.rest_length[s], 1.0)),
            stiffness: Vec4(lanes(springs, |s| m.stiffness[s], 0.0)),
            damping: Vec4(lanes(springs, |s| m.damping[s], 0.0)),
        }
    }

    fn bend(&self, model: &Model, b: usize) -> GatheredBend {
        let m = &model.bends;
        GatheredBend {
            points: m.points[b],
            places: m.points[b].map(|i| self.place(i)),
            inverse_lengths: m.inverse_lengths[b],
            stiffness: m.stiffness[b],
            damping: m.damping[b],
        }
    }

    fn twist(&self, model: &Model, t: usize) -> GatheredTwist {
        let m = &model.twists;
        GatheredTwist {
            points: m.points[t],
            places: m.points[t].map(|i| self.place(i)),
            weights: m.weights(t),
            stiffness: m.stiffness[t],
            damping: m.damping[t],
        }
    }

    /// Sets the rest lengths of links to those at `time` [s].
    pub fn renew_links(&mut self, model: &Model, time: f64) {
        self.links.iter_mut().for_each(|link| link.rest_length = model.links.rest_length(link.number, time));
    }

    /// Forces of springs, bends, twists and links on the chunk's own particles [N], at positions and velocities of all particles; on top of those that the air has on
    /// all of them, if there is any.
    pub fn forces(&mut self, x: &[Vec4], v: &[Vec4], air: &[Vec4]) -> &[Vec4] {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            self.begin(x, v, air);
            // SAFETY: the processor has AVX2.
            unsafe { self.add_elements_avx2(x, v) };
            return &self.forces;
        }
        self.forces_plain(x, v, air)
    }

    /// The same in the registers that every processor has.
    pub fn forces_plain(&mut self, x: &[Vec4], v: &[Vec4], air: &[Vec4]) -> &[Vec4] {
        self.begin(x, v, air);
        self.add_elements(x, v);
        &self.forces
    }

    /// Begins with the forces of the air, at positions and velocities in which elements find all their particles.
    fn begin(&mut self, x: &[Vec4], v: &[Vec4], air: &[Vec4]) {
        assert!(x.len() == self.count && v.len() == self.count, "positions and velocities of all particles");
        self.forces.fill(Vec4::ZERO);
        if !air.is_empty() {
            let (own, n) = (&air[self.particles.clone()], self.particles.len());
            self.forces[..n].copy_from_slice(own);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_elements_avx2(&mut self, x: &[Vec4], v: &[Vec4]) {
        self.add_elements(x, v);
    }

    #[inline(always)]
    fn add_elements(&mut self, x: &[Vec4], v: &[Vec4]) {
        for block in &self.springs {
            let d = block.reach(x);
            let factor = block.factors(&d, &block.reach(v));
            let [first, second] = &block.places;
            for (((d, factor), a), b) in d.into_iter().zip(factor.0).zip(first).zip(second) {
                let f = d * factor;
                add(&mut self.forces, *a, f);
                add(&mut self.forces, *b, -f);
            }
        }
        for bend in &self.bends {
            let [ia, ic] = bend.inverse_lengths;
            let moment = bend.turn(x) * bend.stiffness + bend.turn(v) * bend.damping;
            add(&mut self.forces, bend.places[0], moment * -ia);
            add(&mut self.forces, bend.places[1], moment * (ia + ic));
            add(&mut self.forces, bend.places[2], moment * -ic);
        }
        for twist in &self.twists {
            let pull = twist.gap(x) * twist.stiffness + twist.gap(v) * twist.damping;
            for (place, weight) in twist.places.iter().zip(twist.weights) {
                add(&mut self.forces, *place, pull * -weight);
            }
        }
        for link in &self.links {
            let d = at(x, link.ends[1]) - at(x, link.ends[0]);
            let length = d.xyz().length_squared().max(NO_DIRECTION).sqrt();
            let f = d * (link.stiffness * (1.0 - link.rest_length / length).max(0.0));
            add(&mut self.forces, link.places[0], f);
            add(&mut self.forces, link.places[1], -f);
        }
    }
}

impl SpringBlock {
    /// From first to second end, spring by spring.
    #[inline(always)]
    fn reach(&self, of: &[Vec4]) -> [Vec4; LANES] {
        let from_to = |l: usize| at(of, self.ends[1][l]) - at(of, self.ends[0][l]);
        [from_to(0), from_to(1), from_to(2), from_to(3)]
    }

    /// The factor of `spring::force` for each of the four: force = factor × reach.
    #[inline(always)]
    fn factors(&self, d: &[Vec4; LANES], rate: &[Vec4; LANES]) -> Vec4 {
        let ([dx, dy, dz], [rx, ry, rz]) = (side_by_side(d), side_by_side(rate));
        let inverse = (dx * dx + dy * dy + dz * dz).inverse_sqrt(NO_DIRECTION);
        let lengthening = dx * rx + dy * ry + dz * rz;
        self.stiffness * (Vec4::splat(1.0) - self.rest_length * inverse)
            + self.damping * lengthening * inverse * inverse
    }
}

impl GatheredBend {
    /// `bend::turn` of positions or velocities.
    #[inline(always)]
    fn turn(&self, of: &[Vec4]) -> Vec4 {
        let [a, b, c] = [at(of, self.points[0]), at(of, self.points[1]), at(of, self.points[2])];
        let [ia, ic] = self.inverse_lengths;
        (c - b) * ic - (b - a) * ia
    }
}

impl GatheredTwist {
    /// Twice the gap between the diagonals, of positions or velocities.
    #[inline(always)]
    fn gap(&self, of: &[Vec4]) -> Vec4 {
        let [a, b, c, d] = self.points.map(|i| at(of, i));
        let [wa, wb, wc, wd] = self.weights;
        a * wa + b * wb + c * wc + d * wd
    }
}

fn lanes<T: Copy>(elements: &[usize], of: impl Fn(usize) -> T, filler: T) -> [T; LANES] {
    std::array::from_fn(|l| elements.get(l).map_or(filler, |e| of(*e)))
}

/// x, y and z of four vectors, each four side by side.
#[inline(always)]
fn side_by_side(v: &[Vec4; LANES]) -> [Vec4; 3] {
    let of = |c: usize| Vec4([v[0].0[c], v[1].0[c], v[2].0[c], v[3].0[c]]);
    [of(0), of(1), of(2)]
}

#[inline(always)]
fn at(of: &[Vec4], i: u32) -> Vec4 {
    // SAFETY: elements name particles of the model, as `chunks` finds when it asks for their owners, and `Chunk::begin` has checked that there are as many vectors.
    unsafe { *of.get_unchecked(i as usize) }
}

#[inline(always)]
fn add(forces: &mut [Vec4], place: u32, f: Vec4) {
    // SAFETY: places come from `Chunk::place`, which stays within the room made by `Chunk::empty`.
    unsafe { *forces.get_unchecked_mut(place as usize) += f };
}
