//! What pulls on particles before lengths are corrected: kept tensions, bending, gravity, air; and how heavy tension makes them.
//!
//! A step of length h is implicit in time: the forces at its end are those at the free motion y = x + h v, less what the motion from there takes back.
//! For tensions t that is (M + h² L) (q - y) = h² f(y) with L the Laplacian of t. Here L is replaced by its bound 2 Σ t on the diagonal, as added
//! mass: a particle under tension moves as if it were heavier, h² 2 Σ t / m times, where that is more than 1. Without it the sub-step would have to
//! follow the fastest vibration across the tightest edge; with it slow motion near pins lags, which [`Sums::added`] tells.

use crate::math::Vec4;
use crate::math::lanes::by_instruction_set;
use crate::model::Model;
use std::ops::Range;

/// Particles of one chunk: large enough to be worth a thread.
const CHUNK: usize = 1024;

/// Who pulls on whom.
#[derive(Debug, Clone, Default)]
pub struct Pull {
    /// Per particle: where its hard edges, its soft edges and those of the next particle start in `edges`.
    starts: Vec<[u32; 2]>,
    /// The other end, and the place of the tension.
    edges: Vec<[u32; 2]>,
    /// Per particle: where its bending weights start in `bends`.
    bend_starts: Vec<u32>,
    /// The other particle and its weight [N/m].
    bends: Vec<(u32, f64)>,
    /// Bound of the bending stiffness at every particle [N/m].
    pub bend_bound: Vec<f64>,
    /// The parts that threads work on.
    pub chunks: Vec<Chunk>,
}

/// Some particles of one cloth.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The particles.
    pub particles: Range<usize>,
    /// Their cloth.
    pub cloth: usize,
    /// Damping time of bending [s].
    pub bend_time: f64,
}

/// What one sub-step gives to every particle.
#[derive(Debug, Clone, Copy)]
pub struct SubStep<'a> {
    /// The model.
    pub model: &'a Model,
    /// Duration [s].
    pub h: f64,
    /// Where particles are [m].
    pub x: &'a [Vec4],
    /// Where forces are taken [m]; where pinned particles will be.
    pub at: &'a [Vec4],
    /// Where bending is taken: ahead by its damping time [m].
    pub bent: &'a [Vec4],
    /// Velocities [m/s].
    pub v: &'a [Vec4],
    /// Forces that are held [N]; empty in a vacuum.
    pub held: &'a [Vec4],
    /// Tension per length of every edge [N/m].
    pub tension: &'a [f64],
    /// Whether bending is small enough to be explicit.
    pub bend_explicit: bool,
}

/// Sums over particles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Twice the kinetic energy [J].
    pub moving: f64,
    /// The same of the added mass [J].
    pub added: f64,
}

impl Pull {
    /// For a model; `hard` and `soft` are edges, their ends and places of their tensions.
    pub fn new(model: &Model, hard: &[([u32; 2], u32)], soft: &[([u32; 2], u32)]) -> Self {
        let n = model.particle_count();
        let mut of: Vec<[Vec<[u32; 2]>; 2]> = vec![Default::default(); n];
        for (kind, edges) in [hard, soft].into_iter().enumerate() {
            for &([a, b], slot) in edges {
                of[a as usize][kind].push([b, slot]);
                of[b as usize][kind].push([a, slot]);
            }
        }
        let mut pull = Pull::default();
        for [hard, soft] in of {
            let first = pull.edges.len();
            pull.starts.push([first as u32, (first + hard.len()) as u32]);
            pull.edges.extend(hard.into_iter().chain(soft));
        }
        pull.starts.push([pull.edges.len() as u32; 2]);
        pull.add_bends(model);
        for (cloth, piece) in model.cloths.iter().enumerate() {
            let count = piece.particles.len().div_ceil(CHUNK).max(1);
            let cut = |k: usize| piece.particles.start + piece.particles.len() * k / count;
            let bend_time = 1e-3 * piece.fabric.bending_damping;
            pull.chunks.extend((0..count).map(|k| Chunk { particles: cut(k)..cut(k + 1), cloth, bend_time }));
        }
        pull
    }

    /// Bending is linear in positions: row i of its matrix as weights of the ways to other particles.
    fn add_bends(&mut self, model: &Model) {
        let n = model.particle_count();
        let mut of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        self.bend_bound = vec![0.0; n];
        for (points, ([ia, ic], k)) in
            model.bends.points.iter().zip(model.bends.inverse_lengths.iter().zip(&model.bends.stiffness))
        {
            let share = [-ia, ia + ic, -ic];
            for (i, si) in points.iter().zip(share) {
                self.bend_bound[*i as usize] += k * si.abs() * 2.0 * (ia + ic);
                for (j, sj) in points.iter().zip(share).filter(|(j, _)| *j != i) {
                    let row = &mut of[*i as usize];
                    match row.iter_mut().find(|(other, _)| other == j) {
                        Some((_, weight)) => *weight -= k * si * sj,
                        None => row.push((*j, -k * si * sj)),
                    }
                }
            }
        }
        for row in of {
            self.bend_starts.push(self.bends.len() as u32);
            self.bends.extend(row);
        }
        self.bend_starts.push(self.bends.len() as u32);
    }
}

/// `list[i]` without a check.
#[inline(always)]
fn at<T: Copy>(list: &[T], i: usize) -> T {
    debug_assert!(i < list.len());
    // SAFETY: `Pull::new` names particles of the model and places that `Strips` gave out; `SubStep` lists have one entry for each.
    unsafe { *list.get_unchecked(i) }
}

#[inline(always)]
fn pull_chunk(pull: &Pull, chunk: &Chunk, now: &SubStep, q: &mut [Vec4]) -> Sums {
    let SubStep { model, h, .. } = *now;
    let (gravity, squared) = (Vec4::from(model.gravity), h * h);
    let damped = 1.0 + chunk.bend_time / h;
    let mut sums = Sums::default();
    for (q, i) in q.iter_mut().zip(chunk.particles.clone()) {
        let (w, here) = (at(&model.inverse_mass, i), at(now.at, i));
        if w == 0.0 {
            *q = here;
            continue;
        }
        let [first, soft] = at(&pull.starts, i);
        let end = at(&pull.starts, i + 1)[0];
        let (mut force, mut tight) = (Vec4::ZERO, 0.0);
        for k in first..soft {
            let [other, slot] = at(&pull.edges, k as usize);
            let t = at(now.tension, slot as usize).max(0.0);
            force += (at(now.at, other as usize) - here) * t;
            tight += t;
        }
        for k in soft..end {
            let [other, slot] = at(&pull.edges, k as usize);
            let t = at(now.tension, slot as usize);
            force += (at(now.at, other as usize) - here) * t;
            tight += t.max(0.0);
        }
        let bent = at(now.bent, i);
        for k in at(&pull.bend_starts, i)..at(&pull.bend_starts, i + 1) {
            let (other, weight) = at(&pull.bends, k as usize);
            force += (at(now.bent, other as usize) - bent) * weight;
        }
        if !now.held.is_empty() {
            force += at(now.held, i);
        }
        let stiff = if now.bend_explicit { at(&pull.bend_bound, i) * damped } else { 0.0 };
        let heavier = (squared * w * (2.0 * tight + stiff)).max(1.0);
        let mobility = squared * w / heavier;
        let v = at(now.v, i);
        let mut end = at(now.x, i) + v * h + force * mobility + gravity * (squared / heavier);
        end.0[3] = mobility;
        *q = end;
        let moving = at(&model.mass, i) * (v.0[0] * v.0[0] + v.0[1] * v.0[1] + v.0[2] * v.0[2]);
        sums.moving += moving;
        sums.added += moving * (heavier - 1.0);
    }
    sums
}

by_instruction_set! {
    /// Moves the particles of a chunk from their free motion by all that pulls; `q` gets positions and mobilities h²/m [m/N].
    pub fn apply = pull_chunk(pull: &Pull, chunk: &Chunk, now: &SubStep, q: &mut [Vec4]) -> Sums
}

/// What bending takes back of the way from the free motion x + h v to `q`, one bend after the other, each implicit in time.
pub fn bend_back(model: &Model, h: f64, x: &[Vec4], v: &[Vec4], q: &mut [Vec4]) {
    for (b, points) in model.bends.points.iter().enumerate() {
        let [ia, ic] = model.bends.inverse_lengths[b];
        let k = model.bends.stiffness[b] + model.bends.damping[b] / h;
        let share = [-ia, ia + ic, -ic];
        let (mut turn, mut mobility) = (Vec4::ZERO, 0.0);
        for (i, s) in points.iter().map(|i| *i as usize).zip(share) {
            turn += (q[i] - x[i] - v[i] * h) * -s;
            mobility += q[i].0[3] * s * s;
        }
        let mut moment = turn * (k / (1.0 + k * mobility));
        moment.0[3] = 0.0;
        for (i, s) in points.iter().map(|i| *i as usize).zip(share) {
            q[i] += moment * (s * q[i].0[3]);
        }
    }
}
