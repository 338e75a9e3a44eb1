//! What pulls on particles before lengths are corrected: kept tensions, gravity, air; and how heavy tension makes them.
//!
//! A step of length h is implicit in time: the forces at its end are those at the free motion y = x + h v, less what the motion from there takes back.
//! For tensions t that is (M + h² L) (q - y) = h² f(y) with L the Laplacian of t. Here L is replaced by its bound 2 Σ t on the diagonal, as added
//! mass: a particle under tension moves as if it were heavier, h² 2 Σ t / m times, where that is more than 1. Without it the sub-step would have to
//! follow the fastest vibration across the tightest edge; with it slow motion near pins lags, which [`Sums::added`] tells.

use crate::math::Vec4;
use crate::math::lanes::{Wide, by_instruction_set};
use crate::model::Model;
use std::ops::Range;

/// Who pulls on whom.
#[derive(Debug, Clone, Default)]
pub struct Pull {
    /// Per particle: where its hard edges and its soft edges start in `edges`.
    starts: Vec<[u32; 2]>,
    /// The other end, and the place of the tension.
    edges: Vec<[u32; 2]>,
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
    /// Where they would be without forces [m]; where pinned ones will be.
    pub y: &'a [Vec4],
    /// Forces that are held [N]; empty in a vacuum.
    pub held: &'a [Vec4],
    /// Tension per length of every edge [N/m].
    pub tension: &'a [f64],
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
    /// `hard` and `soft` are edges: their ends, particles below `particles`, and places of their tensions.
    pub fn new(particles: usize, hard: &[([u32; 2], u32)], soft: &[([u32; 2], u32)]) -> Self {
        let mut of: Vec<[Vec<[u32; 2]>; 2]> = vec![Default::default(); particles];
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
        pull
    }
}

/// `list[i]` without a check.
#[inline(always)]
fn at<T: Copy>(list: &[T], i: usize) -> T {
    debug_assert!(i < list.len());
    // SAFETY: `Pull::new` is given particles of the model and places that `Strips` gave out; lists of a `SubStep` have one entry for each.
    unsafe { *list.get_unchecked(i) }
}

// Generic only to be compiled for every instruction set: its vectors are those of one particle.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn pull_all<W: Wide>(pull: &Pull, particles: Range<usize>, now: &SubStep, q: &mut [Vec4]) -> Sums {
    let SubStep { model, h, .. } = *now;
    let (gravity, squared) = (Vec4::from(model.gravity), h * h);
    let mut sums = Sums::default();
    for (q, i) in q.iter_mut().zip(particles) {
        let (w, y) = (at(&model.inverse_mass, i), at(now.y, i));
        if w == 0.0 {
            *q = y;
            continue;
        }
        let [first, soft] = at(&pull.starts, i);
        let end = at(&pull.starts, i + 1)[0];
        let (mut by_hard, mut by_soft, mut tight) = (Vec4::ZERO, Vec4::ZERO, 0.0);
        for k in first..soft {
            let [other, slot] = at(&pull.edges, k as usize);
            // Hard edges that were pressed start again from 0: what is pressed gives way sideways.
            let t = at(now.tension, slot as usize).max(0.0);
            by_hard += (at(now.y, other as usize) - y) * t;
            tight += t;
        }
        for k in soft..end {
            let [other, slot] = at(&pull.edges, k as usize);
            let t = at(now.tension, slot as usize);
            by_soft += (at(now.y, other as usize) - y) * t;
            tight += t.max(0.0);
        }
        let mut force = by_hard + by_soft;
        if !now.held.is_empty() {
            force += at(now.held, i);
        }
        let heavier = (squared * w * 2.0 * tight).max(1.0);
        let mobility = squared * w / heavier;
        let mut end = y + force * mobility + gravity * (squared / heavier);
        end.0[3] = mobility;
        *q = end;
        let way = y - at(now.x, i);
        let moving = at(&model.mass, i) * (way.0[0] * way.0[0] + way.0[1] * way.0[1] + way.0[2] * way.0[2]);
        sums.moving += moving;
        sums.added += moving * (heavier - 1.0);
    }
    Sums { moving: sums.moving / squared, added: sums.added / squared }
}

by_instruction_set! {
    /// Moves `particles` from their free motion by all that pulls; `q` gets their positions and mobilities h²/m [m/N].
    pub fn apply = pull_all(pull: &Pull, particles: Range<usize>, now: &SubStep, q: &mut [Vec4]) -> Sums
}
