//! Strips as tridiagonal systems, eight strips side by side in SIMD lanes (P1 §3.3).
//!
//! Edge i of a strip reaches from particle i to i + 1; d is that vector. A tension t per length [N/m] pulls its ends together: x_i += b_i t d_i,
//! x_{i+1} -= b_{i+1} t d_i, where the mobility b = h²/m [m/N] is the fourth number of a particle. The unknowns are changes of t. All lengths of a
//! strip are met to first order by A Δt = C - a t with A_ii = (b_i + b_{i+1}) d_i² + a and A_{i,i-1} = -b_i d_i·d_{i-1}: tridiagonal, solved in one pass
//! forth and one back.
//!
//! Edges that keep their length have C = (d² - L²)/2, without a root (P1 has |d| - L; same zero). Their small compliance a makes a straight strip between
//! two pins, one constraint too many, regular. Soft edges are springs, implicit in time: t = k (1 - L/|d|), that is C = d² - L |d|, a = d²/k.

use super::parts::Strip;
use crate::math::Vec4;
use crate::math::lanes::by_instruction_set;
use crate::math::lanes::{LANES, Lanes, Lanes3, apart, together};

/// Compliance of an edge whose ends cannot move, and of one that is not there: tensions stay 0.
pub const NO_TENSION: f64 = 1e200;
const NO_EDGE: f64 = 1e210;
/// Diagonals count an edge as at least this share of its squared length, so that a crushed one opens without overshooting.
const CRUSHED: f64 = 0.25;
/// A pivot below this share of its diagonal is an edge that the others determine already.
const SMALLEST_PIVOT: f64 = 1e-9;

/// An edge as strips see it.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Rest length [m].
    pub rest: f64,
    /// Hard: stretch C per tension, L³ / (E A) [m³/N]. Soft: one over the stiffness [m/N].
    pub compliance: f64,
}

/// Eight lanes of strips of one group, one after the other in every lane.
#[derive(Debug, Clone)]
pub struct Block {
    /// Particles along the lanes.
    particles: Vec<[u32; LANES]>,
    /// One row of edges from each row of particles to the next.
    links: Vec<Links>,
    /// Where its tensions start in the list of all.
    first: usize,
}

#[derive(Debug, Clone, Copy)]
struct Links {
    rest: Lanes,
    compliance: Lanes,
}

/// Scratch of one row of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    d: Lanes3,
    mobility: Lanes,
    off: Lanes,
    inverse: Lanes,
    rhs: Lanes,
}

/// Blocks of all groups, hard or soft, and where the tension of every edge stands.
#[derive(Debug, Clone, Default)]
pub struct Strips {
    /// The blocks of each group; those of one group share no particle.
    pub groups: Vec<Vec<Block>>,
    /// Place of every edge in the list of tensions, counted in numbers.
    pub slots: Vec<u32>,
    /// Rows in all.
    pub rows: usize,
    /// Rows of the longest block.
    pub longest: usize,
    /// Particles that stand for none, two for each block.
    pub idle: usize,
}

impl Strips {
    /// Packs groups of strips. `idle` is the first particle that stands for none, `first_row` where tensions may start.
    pub fn new(
        groups: &[Vec<Strip>],
        link: impl Fn(u32) -> Link,
        edges: usize,
        idle: usize,
        first_row: usize,
    ) -> Self {
        let mut packed = Strips { slots: vec![0; edges], ..Strips::default() };
        for group in groups {
            let mut blocks = Vec::new();
            for strips in lanes_of(group) {
                let idle = idle + packed.idle;
                packed.idle += 2;
                let block = Block::new(&strips, &link, idle, first_row + packed.rows, &mut packed.slots);
                packed.rows += block.links.len();
                packed.longest = packed.longest.max(block.links.len());
                blocks.push(block);
            }
            packed.groups.push(blocks);
        }
        packed
    }
}

/// Strips dealt out to lanes of even length, eight lanes to a block. The order depends on the strips alone.
fn lanes_of(group: &[Strip]) -> Vec<Vec<Vec<&Strip>>> {
    let longest = group.iter().map(|s| s.edges.len()).max().unwrap_or(0);
    // A lane is filled up to the longest strip: longest first, each into the first lane with room.
    let mut lanes: Vec<(usize, Vec<&Strip>)> = Vec::new();
    for strip in group {
        let length = strip.edges.len() + 1;
        match lanes.iter_mut().find(|(used, _)| used + length <= longest + 1) {
            Some((used, lane)) => {
                *used += length;
                lane.push(strip);
            }
            None => lanes.push((length, vec![strip])),
        }
    }
    let lanes: Vec<Vec<&Strip>> = lanes.into_iter().map(|(_, lane)| lane).collect();
    lanes.chunks(LANES).map(<[_]>::to_vec).collect()
}

impl Block {
    fn new(
        lanes: &[Vec<&Strip>],
        link: impl Fn(u32) -> Link,
        idle: usize,
        first: usize,
        slots: &mut [u32],
    ) -> Self {
        let longest = |lane: &Vec<&Strip>| lane.iter().map(|s| s.particles.len()).sum();
        let rows: usize = lanes.iter().map(longest).max().unwrap_or(0);
        let none = Links { rest: Lanes::splat(1.0), compliance: Lanes::splat(NO_EDGE) };
        let mut particles: Vec<[u32; LANES]> = (0..rows).map(|i| [(idle + i % 2) as u32; LANES]).collect();
        let mut links = vec![none; rows.saturating_sub(1)];
        for (l, lane) in lanes.iter().enumerate() {
            let mut row = 0;
            for strip in lane {
                for (i, particle) in strip.particles.iter().enumerate() {
                    particles[row + i][l] = *particle;
                }
                for (i, edge) in strip.edges.iter().enumerate() {
                    let Link { rest, compliance } = link(*edge);
                    links[row + i].rest.0[l] = rest;
                    links[row + i].compliance.0[l] = compliance;
                    slots[*edge as usize] = (LANES * (first + row + i) + l) as u32;
                }
                row += strip.particles.len();
            }
        }
        Self { particles, links, first }
    }

    /// Its part of the list of tensions.
    pub fn rows(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.links.len()
    }
}

#[inline(always)]
fn load(q: *const Vec4, at: &[u32; LANES]) -> (Lanes3, Lanes) {
    // SAFETY: particles of a block exist, the idle ones included: `Strips::new` counts them.
    let of = |l: usize| unsafe { *q.add(at[l] as usize) };
    apart([of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)])
}

#[inline(always)]
fn add(q: *mut Vec4, at: &[u32; LANES], by: Lanes3) {
    let by = together(by, Lanes::ZERO);
    for l in 0..LANES {
        // SAFETY: particles of a block exist, the idle ones included: `Strips::new` counts them.
        unsafe { *q.add(at[l] as usize) += by[l] };
    }
}

/// Particles that the blocks of one group write to, each its own.
#[derive(Debug, Clone, Copy)]
pub struct Particles(pub *mut Vec4);

// SAFETY: blocks of one group share no particle, and groups follow one another.
unsafe impl Send for Particles {}
// SAFETY: as above.
unsafe impl Sync for Particles {}

#[inline(always)]
fn solve<const HARD: bool>(
    block: &Block,
    q: Particles,
    tension: &mut [Lanes],
    rows: &mut [Row],
    least_tension: f64,
) {
    let q = q.0;
    let length = block.links.len();
    let (tension, rows) = (&mut tension[..length], &mut rows[..length]);
    let Some(start) = block.particles.first() else { return };
    let (mut p0, mut b0) = load(q, start);
    let mut last = Row::default();
    for i in 0..length {
        let (p1, b1) = load(q, &block.particles[i + 1]);
        let Links { rest, compliance } = block.links[i];
        let d = p1 - p0;
        let squared = d.dot(d);
        let least = squared.max(rest * rest * Lanes::splat(CRUSHED));
        let (error, compliance) = if HARD {
            tension[i] = tension[i].max(Lanes::splat(least_tension));
            ((squared - rest * rest) * Lanes::splat(0.5) - compliance * tension[i], compliance)
        } else {
            let compliance = compliance * least;
            (squared - rest * squared.sqrt() - compliance * tension[i], compliance)
        };
        let diagonal = (b0 + b1) * least + compliance;
        let off = -(b0 * d.dot(last.d));
        let ratio = off * last.inverse;
        let pivot = (diagonal - ratio * off).max(diagonal * Lanes::splat(SMALLEST_PIVOT));
        last = Row {
            d,
            mobility: b0,
            off,
            inverse: pivot.max(Lanes::splat(1e-300)).inverse(),
            rhs: error - ratio * last.rhs,
        };
        rows[i] = last;
        (p0, b0) = (p1, b1);
    }
    let (mut change, mut off, mut pull, mut mobility) = (Lanes::ZERO, Lanes::ZERO, Lanes3::ZERO, b0);
    for i in (0..length).rev() {
        let row = &rows[i];
        change = (row.rhs - off * change) * row.inverse;
        off = row.off;
        tension[i] = tension[i] + change;
        let next = row.d.scaled(change);
        add(q, &block.particles[i + 1], (pull - next).scaled(mobility));
        (pull, mobility) = (next, row.mobility);
    }
    add(q, start, pull.scaled(mobility));
}

#[inline(always)]
fn solve_hard(block: &Block, q: Particles, tension: &mut [Lanes], rows: &mut [Row], least: f64) {
    solve::<true>(block, q, tension, rows, least);
}

#[inline(always)]
fn solve_soft(block: &Block, q: Particles, tension: &mut [Lanes], rows: &mut [Row]) {
    solve::<false>(block, q, tension, rows, f64::NEG_INFINITY);
}

by_instruction_set! {
    /// Meets the lengths of hard strips to first order; changes particles and tensions, which are raised to `least` before [N/m].
    pub fn hard = solve_hard(block: &Block, q: Particles, tension: &mut [Lanes], rows: &mut [Row], least: f64)
}

by_instruction_set! {
    /// One implicit step of soft strips; changes particles and tensions.
    pub fn soft = solve_soft(block: &Block, q: Particles, tension: &mut [Lanes], rows: &mut [Row])
}

#[inline(always)]
fn extent_of(block: &Block, q: Particles) -> [f64; 2] {
    let (mut most, mut least, mut lost) = (Lanes::splat(1.0), Lanes::splat(1.0), Lanes::ZERO);
    let Some(start) = block.particles.first() else { return [1.0; 2] };
    let (mut p0, _) = load(q.0, start);
    for i in 0..block.links.len() {
        let (p1, _) = load(q.0, &block.particles[i + 1]);
        let Links { rest, compliance } = block.links[i];
        let d = p1 - p0;
        let share = where_there(compliance, d.dot(d) * (rest * rest).inverse());
        (most, least) = (most.max(share), least.min(share));
        // Comparisons pass over what is not a number; products do not.
        lost = lost + share * Lanes::ZERO;
        p0 = p1;
    }
    [
        (most + lost).0.into_iter().fold(1.0, keeping(f64::max)),
        (least + lost).0.into_iter().fold(1.0, keeping(f64::min)),
    ]
}

/// A comparison that does not pass over a NaN.
fn keeping(choose: impl Fn(f64, f64) -> f64) -> impl Fn(f64, f64) -> f64 {
    move |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { choose(a, b) }
}

#[inline(always)]
fn where_there(compliance: Lanes, share: Lanes) -> Lanes {
    Lanes(std::array::from_fn(|l| if compliance.0[l] < NO_EDGE { share.0[l] } else { 1.0 }))
}

by_instruction_set! {
    /// The largest and the smallest squared length over its rest, at least and at most 1; NaN if any is lost.
    pub fn extent = extent_of(block: &Block, q: Particles) -> [f64; 2]
}

/// Calls `work` for every block of a group with its tensions and scratch, on as many threads as there are scratches, at most.
///
/// `tension` holds exactly the rows of the blocks. Which thread computes a block changes no bit: blocks share nothing that is written.
pub fn each_block(
    blocks: &[Block],
    tension: &mut [Lanes],
    scratch: &mut [Vec<Row>],
    work: &(impl Fn(&Block, &mut [Lanes], &mut [Row]) + Sync),
) {
    match (blocks, scratch) {
        ([], _) | (_, []) => {}
        (blocks, [rows]) => {
            let mut left = tension;
            for block in blocks {
                let (own, rest) = std::mem::take(&mut left).split_at_mut(block.links.len());
                work(block, own, rows);
                left = rest;
            }
        }
        (blocks, scratch) => {
            let (few, many) = scratch.split_at_mut(scratch.len() / 2);
            let (left, right) = blocks.split_at(blocks.len() * few.len() / (few.len() + many.len()));
            let cut = left.iter().map(|b| b.links.len()).sum();
            let (tension_left, tension_right) = tension.split_at_mut(cut);
            rayon::join(
                || each_block(left, tension_left, few, work),
                || each_block(right, tension_right, many, work),
            );
        }
    }
}
