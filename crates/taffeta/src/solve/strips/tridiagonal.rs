//! Strips as tridiagonal systems, eight strips side by side in SIMD lanes (P1 §3.3).
//!
//! Edge i of a strip reaches from particle i to i + 1; d is that vector. A tension t per length [N/m] pulls its ends together: x_i += b_i t d_i,
//! x_{i+1} -= b_{i+1} t d_i, where the mobility b = h²/m [m/N] is the fourth number of a particle. The unknowns are changes of t. All lengths of a
//! strip are met to first order by A Δt = C - a t with A_ii = (b_i + b_{i+1}) d_i² + a and A_{i,i-1} = -b_i d_i·d_{i-1}: tridiagonal, solved in one pass
//! forth and one back.
//!
//! P1 and P2 take d for the impulses at the start of a step; here that is an option, for which C = |d| (|e| - L) with e the vector at the end.
//!
//! Stitches of seams are rows like those of edges. They are so short that a load may part them by more than their length in a sub-step: for them
//! C = |d| (|d| - L), which meets the length at once.
//!
//! Edges that keep their length have C = (d² - L²)/2, without a root (P1 has |d| - L; same zero). Their small compliance a makes a straight strip between
//! two pins, one constraint too many, regular. Soft edges are springs, implicit in time: t = k (1 - L/|d|), that is C = d² - L |d|, a = d²/k.

use super::blocks::{NO_EDGE, StripBlock, StripEdges};
use super::particles::{MovedParticles, SeenParticles};
use crate::math::Vec4;
use crate::math::lanes::{Lanes, Wide, Wide3, by_instruction_set};

/// Diagonals count an edge as at least this share of its squared length, so that a crushed one opens without overshooting.
pub(in crate::solve) const CRUSHED: f64 = 0.25;
/// A pivot below this share of its diagonal is an edge that the others determine already.
pub(in crate::solve) const SMALLEST_PIVOT: f64 = 1e-9;
/// Scratch of one row of particles and the edges that lead on from it.
#[derive(Debug, Clone, Copy, Default)]
pub struct StripRow {
    pub(super) position: [Lanes; 3],
    pub(super) mobility: Lanes,
    /// The share of this edge's change of tension that the edge before takes [1].
    pub(super) share: Lanes,
    /// The change of tension if the next edge's did not change [N/m].
    pub(super) change: Lanes,
}

/// How far a solution may go.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Tensions below it are raised to it afterwards [N/m].
    pub least_tension: f64,
    /// Largest strain that compliance may bring about [1].
    pub most_give: f64,
    /// Share of the tensions so far that counts [1].
    pub warm_start: f64,
    /// Changes of tension over what a strip alone asks for [1]: strips that cross it will undo some.
    pub over_relaxation: f64,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits {
        least_tension: f64::NEG_INFINITY,
        most_give: f64::INFINITY,
        warm_start: 1.0,
        over_relaxation: 1.0,
    };
}

/// What positions at the start of a sub-step are for when lengths are corrected.
#[derive(Debug, Clone, Copy)]
pub enum Start<T> {
    /// Nothing.
    Unused,
    /// Impulses act along the edges as they were.
    Directions(T),
    /// This share of the error that edges had is left to them [1], times the fourth numbers of both ends: 1, or 0 where something touches, which errors come
    /// from again and again.
    Errors(T, f64),
}

/// What a strip is solved for.
const SOFT: u8 = 0;
const HARD: u8 = 1;
/// Hard, with a limit to what compliance brings about, and over-relaxed.
const LIMITED: u8 = 2;
/// The same with impulses along the edges at the start.
const ALONG: u8 = 3;
/// The same with a share of the errors at the start left.
const EASED: u8 = 4;

#[inline(always)]
fn solve<W: Wide, const KIND: u8, const SEWN: bool>(
    mut q: MovedParticles<'_>,
    (start, left): (SeenParticles<'_>, f64),
    tension: &mut [Lanes],
    rows: &mut [StripRow],
    limits: Limits,
) {
    let (links, stitches) = (q.block().links(), &q.block().stitches[..]);
    let edges = links.len();
    let (tension, rows) = (&mut tension[..edges], &mut rows[..edges]);
    let (zero, half) = (W::splat(0.0), W::splat(0.5));
    let (mut p, mut b) = q.row::<W>(0);
    let mut begun = if KIND == EASED { start.row::<W>(0) } else { (p, b) };
    let mut last = Last::<W>::none();
    for (i, (row, StripEdges { squared_rest, compliance })) in rows.iter_mut().zip(links).enumerate() {
        let (next_p, next_b) = q.row::<W>(i + 1);
        let (squared_rest, compliance) = (W::load(squared_rest), W::load(compliance));
        let d = if KIND == ALONG { start.way::<W>(i) } else { next_p - p };
        let squared = d.fused_dot(d);
        let least = squared.max(squared_rest * W::splat(CRUSHED));
        let kept = W::load(&tension[i]) * W::splat(limits.warm_start);
        let (error, compliance) = if KIND == SOFT {
            let compliance = compliance * least;
            (compliance.mul_sub_from(kept, squared - (squared_rest * squared).sqrt()), compliance)
        } else {
            let error = if KIND == ALONG {
                let end = next_p - p;
                squared.sqrt() * (end.fused_dot(end).sqrt() - squared_rest.sqrt())
            } else if SEWN {
                let beyond = squared.sqrt() - squared_rest.sqrt();
                (squared - squared_rest + W::load(&stitches[i]) * beyond * beyond) * half
            } else {
                (squared - squared_rest) * half
            };
            let stretch = compliance * kept;
            let stretch = if KIND == HARD {
                stretch
            } else {
                let most = squared_rest * W::splat(limits.most_give);
                stretch.min(most).max(zero - most)
            };
            if KIND == EASED {
                let ((a, free), (b, next_free)) = (begun, start.row::<W>(i + 1));
                begun = (b, next_free);
                let d = b - a;
                let before = (d.fused_dot(d) - squared_rest) * half - stretch;
                let left = if SEWN { W::splat(left) * (W::splat(1.0) - W::load(&stitches[i])) } else { W::splat(left) };
                (error - stretch - before * (free * next_free * left), compliance)
            } else {
                (error - stretch, compliance)
            }
        };
        let (change, share) = last.eliminate(d, [b, next_b], least, compliance, error);
        p.store(&mut row.position);
        b.store(&mut row.mobility);
        share.store(&mut row.share);
        change.store(&mut row.change);
        (p, b) = (next_p, next_b);
    }
    let (mut change, mut share, mut pull) = (zero, zero, Wide3::<W>::zero());
    for i in (0..edges).rev() {
        let row = &rows[i];
        change = share.mul_add(change, W::load(&row.change));
        share = W::load(&row.share);
        let applied = if KIND == LIMITED { change * W::splat(limits.over_relaxation) } else { change };
        let whole = W::load(&tension[i]).mul_add(W::splat(limits.warm_start), applied);
        whole.max(W::splat(limits.least_tension)).store(&mut tension[i]);
        let before = Wide3::load(&row.position);
        let d = if KIND == ALONG { start.way::<W>(i) } else { p - before };
        let next_pull = d.scaled(applied);
        q.put(i + 1, (pull - next_pull).scaled_plus(b, p), b);
        (p, b, pull) = (before, W::load(&row.mobility), next_pull);
    }
    q.put(0, pull.scaled_plus(b, p), b);
}

/// The edge before the one at hand, with all before it eliminated.
pub(super) struct Last<W> {
    d: Wide3<W>,
    inverse: W,
    change: W,
}

impl<W: Wide> Last<W> {
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self { d: Wide3::zero(), inverse: W::splat(0.0), change: W::splat(0.0) }
    }

    /// Eliminates it from the next edge `d` between ends with `mobilities`, where d² counts as `least`. Returns that edge's change of tension if the
    /// one after it did not change, and the share of that change which the edge before takes.
    #[inline(always)]
    pub(super) fn eliminate(&mut self, d: Wide3<W>, mobilities: [W; 2], least: W, compliance: W, error: W) -> (W, W) {
        let [b, next_b] = mobilities;
        let diagonal = (b + next_b).mul_add(least, compliance);
        let coupling = b * d.fused_dot(self.d);
        let share = coupling * self.inverse;
        let pivot = share.mul_sub_from(coupling, diagonal).max(diagonal * W::splat(SMALLEST_PIVOT));
        let inverse = pivot.inverse();
        *self = Self { d, inverse, change: coupling.mul_add(self.change, error) * inverse };
        (self.change, share)
    }
}

#[inline(always)]
fn solve_hard<W: Wide>(
    q: MovedParticles<'_>,
    start: Start<&[Vec4]>,
    tension: &mut [Lanes],
    rows: &mut [StripRow],
    limits: Limits,
) {
    if q.block().stitches.is_empty() {
        solve_kind::<W, false>(q, start, tension, rows, limits);
    } else {
        solve_kind::<W, true>(q, start, tension, rows, limits);
    }
}

#[inline(always)]
fn solve_kind<W: Wide, const SEWN: bool>(
    q: MovedParticles<'_>,
    start: Start<&[Vec4]>,
    tension: &mut [Lanes],
    rows: &mut [StripRow],
    limits: Limits,
) {
    let none = SeenParticles::NONE;
    match start {
        Start::Unused if limits.most_give == f64::INFINITY => {
            solve::<W, HARD, SEWN>(q, (none, 0.0), tension, rows, limits);
        }
        Start::Unused => solve::<W, LIMITED, SEWN>(q, (none, 0.0), tension, rows, limits),
        Start::Directions(x) => {
            let start = (q.seen_in(x), 0.0);
            solve::<W, ALONG, SEWN>(q, start, tension, rows, limits);
        }
        Start::Errors(x, left) => {
            let start = (q.seen_in(x), left);
            solve::<W, EASED, SEWN>(q, start, tension, rows, limits);
        }
    }
}

#[inline(always)]
fn solve_soft<W: Wide>(q: MovedParticles<'_>, tension: &mut [Lanes], rows: &mut [StripRow], warm_start: f64) {
    let none = (SeenParticles::NONE, 0.0);
    solve::<W, SOFT, false>(q, none, tension, rows, Limits { warm_start, ..Limits::NONE });
}

by_instruction_set! {
    /// Meets the lengths of hard strips to first order; changes particles and tensions, within `limits`.
    pub fn hard = solve_hard(
        q: MovedParticles<'_>,
        start: Start<&[Vec4]>,
        tension: &mut [Lanes],
        rows: &mut [StripRow],
        limits: Limits,
    )
}

by_instruction_set! {
    /// One implicit step of soft strips; changes particles and tensions, of which the share `warm_start` [1] counts.
    pub fn soft = solve_soft(q: MovedParticles<'_>, tension: &mut [Lanes], rows: &mut [StripRow], warm_start: f64)
}

#[inline(always)]
fn level_lanes<W: Wide>(q: &[Vec4], mut y: MovedParticles<'_>, rows: &mut [StripRow]) {
    let (q, links) = (y.seen_in(q), y.block().links());
    let rows = &mut rows[..links.len()];
    let zero = W::splat(0.0);
    let (mut p, mut b) = q.row::<W>(0);
    let mut last = Last::<W>::none();
    for (i, (row, StripEdges { squared_rest, compliance })) in rows.iter_mut().zip(links).enumerate() {
        let (next_p, next_b) = q.row::<W>(i + 1);
        let d = next_p - p;
        let least = d.fused_dot(d).max(W::load(squared_rest) * W::splat(CRUSHED));
        let error = d.fused_dot(y.row::<W>(i + 1).0 - y.row::<W>(i).0 - d);
        let (change, share) = last.eliminate(d, [b, next_b], least, W::load(compliance), error);
        share.store(&mut row.share);
        change.store(&mut row.change);
        (p, b) = (next_p, next_b);
    }
    let (mut change, mut share, mut pull) = (zero, zero, Wide3::<W>::zero());
    for i in (0..rows.len()).rev() {
        let row = &rows[i];
        change = share.mul_add(change, W::load(&row.change));
        share = W::load(&row.share);
        let (before, next_pull) = (q.row::<W>(i), q.way::<W>(i).scaled(change));
        let (end, fourth) = y.row::<W>(i + 1);
        y.put(i + 1, (pull - next_pull).scaled_plus(b, end), fourth);
        (b, pull) = (before.1, next_pull);
    }
    let (end, fourth) = y.row::<W>(0);
    y.put(0, pull.scaled_plus(b, end), fourth);
}

by_instruction_set! {
    /// Velocity impulses (P1 §3.2, P2 eq. 3): no edge of a hard strip at `q` then changes its length from `q` to `y`, to first order. Changes `y`;
    /// mobilities are those of `q`.
    pub fn project_velocities = level_lanes(q: &[Vec4], y: MovedParticles<'_>, rows: &mut [StripRow])
}

#[inline(always)]
fn extent_of<W: Wide>(block: &StripBlock, q: &[Vec4]) -> [f64; 2] {
    let q = SeenParticles::new(block, q);
    let (one, mut lost) = (W::splat(1.0), W::splat(0.0));
    let (mut most, mut least) = (one, one);
    let (mut p, _) = q.row::<W>(0);
    for (i, StripEdges { squared_rest, compliance }) in block.links().enumerate() {
        let (next, _) = q.row::<W>(i + 1);
        let d = next - p;
        // An edge that is not there counts as one at rest.
        let there = W::splat(NO_EDGE).max(W::load(compliance)) - W::load(compliance);
        let there = there.min(one);
        let there = match block.stitches.get(i) {
            Some(stitch) => there * (one - W::load(stitch)),
            None => there,
        };
        let share = (d.fused_dot(d) * W::load(squared_rest).inverse() - one) * there + one;
        (most, least) = (most.max(share), least.min(share));
        // Comparisons pass over what is not a number; products do not.
        lost = lost + share * W::splat(0.0);
        p = next;
    }
    let (mut high, mut low) = (Lanes::ZERO, Lanes::ZERO);
    (most + lost).store(&mut high);
    (least + lost).store(&mut low);
    let keeping = |a: f64, b: f64, choose: fn(f64, f64) -> f64| if b.is_nan() { b } else { choose(a, b) };
    [
        high.0.into_iter().fold(1.0, |a, b| keeping(a, b, f64::max)),
        low.0.into_iter().fold(1.0, |a, b| keeping(a, b, f64::min)),
    ]
}

by_instruction_set! {
    /// The largest and the smallest squared length over its rest, at least and at most 1; NaN may tell that one is lost.
    pub fn extent = extent_of(block: &StripBlock, q: &[Vec4]) -> [f64; 2]
}
