//! Strips of edges that stretch: as their fabric does up to a bound, there no further.
//!
//! The law of an edge is C(t) = a t up to the bound C_b, then ± C_b + a_h (t ∓ C_b / a) with the small compliance a_h of an edge that keeps its length. It has three
//! straight sides; an edge with internal friction has C(t) = a t + o below its bound, o from where it is anchored. For known sides a strip is a system as in [`super::tridiagonal`]. The sides are found as an active set: a tension that leaves the side
//! it was found for goes over to the next one, and all is solved again (Newton's method for a law with corners). Where that does not end soon one edge
//! at a time goes over (Murty's pivoting rule, for which such a system has no cycles).
//!
//! A side that is only guessed, as from the tensions of the sub-step before, lets edges push that should pull: cloth that is stretched to its bound nearly
//! everywhere then explodes.

use super::blocks::{NO_TENSION, StripEdges};
use super::particles::{MovedParticles, SeenParticles};
use super::tridiagonal::{CRUSHED, Last, Limits, Start, StripRow};
use crate::math::Vec4;
use crate::math::lanes::{LANES, Lanes, Wide, Wide3, by_instruction_set};

/// How often sides are found at most; in so many of these passes all edges that are to go over do.
pub(in crate::solve) const MOST_PASSES: usize = 24;
pub(in crate::solve) const AT_ONCE: usize = 4;
/// From here on a compliance stands for an edge without tension.
const MOST_COMPLIANCE: f64 = 0.1 * NO_TENSION;
/// Stands for the tension at the bound where there is none.
const NO_BOUND: f64 = 1e150;

/// How far edges stretch.
#[derive(Debug, Clone, Copy)]
pub struct BoundedStretch {
    /// The largest strain that a fabric may give by [1].
    pub bound: f64,
    /// Strain per force beyond it [1/N].
    pub give: f64,
}

/// StretchRoom for solving a strip.
#[derive(Debug)]
pub struct StretchRoom<'a> {
    /// Its rows.
    pub rows: &'a mut [StripRow],
    /// On which side of its law every edge is: -1 or 1 beyond the bound, 0 below it.
    pub sides: &'a mut [Lanes],
}

/// The law of one edge, as [`Law`] has it for eight.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve) struct EdgeLaw {
    compliance: f64,
    beyond: f64,
    pub bound: f64,
    tension: f64,
    offset: f64,
    shift: f64,
}

impl EdgeLaw {
    /// Of an edge with a rest length [m] that pulls at nothing where C is `offset` [m²].
    pub fn new(rest: f64, compliance: f64, offset: f64, stretch: BoundedStretch) -> Self {
        let bound = rest * rest * stretch.bound;
        let beyond = (rest.powi(3) * stretch.give).min(compliance);
        let (tension, shift) = (bound / compliance, offset / compliance);
        Self { compliance, beyond, bound, tension, offset, shift }
    }

    /// The side of a tension.
    pub fn side(&self, tension: f64) -> f64 {
        let from_middle = tension + self.shift;
        if from_middle.abs() > self.tension { from_middle.signum() } else { 0.0 }
    }

    /// C at a tension on a side.
    pub fn at(&self, tension: f64, side: f64) -> f64 {
        match side {
            0.0 => self.compliance * tension + self.offset,
            _ => side * self.bound + self.beyond * (tension + self.shift - side * self.tension),
        }
    }

    /// C per tension on a side.
    pub fn slope(&self, side: f64) -> f64 {
        if side == 0.0 { self.compliance } else { self.beyond }
    }
}

/// The law of a row of edges.
struct Law<W> {
    /// C per tension below the bound and beyond it [m³/N].
    compliance: W,
    beyond: W,
    /// C [m²] and the tension [N/m] at the bound.
    bound: W,
    tension: W,
    /// C without tension [m²], and the tension [N/m] of which that is the stretch.
    offset: W,
    shift: W,
}

impl<W: Wide> Law<W> {
    /// Of edges of which some are stitches. These, and edges without tension, have no bound.
    #[inline(always)]
    fn of(edge: &StripEdges, stitch: W, offset: W, stretch: BoundedStretch) -> Self {
        let (squared_rest, compliance) = (W::load(&edge.squared_rest), W::load(&edge.compliance));
        let (most, far) = (W::splat(MOST_COMPLIANCE), W::splat(NO_BOUND));
        let bound = squared_rest * W::splat(stretch.bound);
        let tension = (bound * compliance.inverse()).where_less(compliance, most, far);
        let beyond = (squared_rest * squared_rest.sqrt() * W::splat(stretch.give)).min(compliance);
        let beyond = beyond.where_less(compliance, most, compliance);
        let shift = offset * compliance.inverse();
        Self { compliance, beyond, bound, tension: stitch.mul_add(far, tension), offset, shift }
    }

    /// The side of a tension.
    #[inline(always)]
    fn side(&self, tension: W) -> W {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let tension = tension + self.shift;
        let up = one.where_less(self.tension, tension, zero);
        (zero - one).where_less(tension, zero - self.tension, up)
    }

    /// C at a tension on a side, and its slope.
    #[inline(always)]
    fn at(&self, tension: W, side: W) -> (W, W) {
        let (zero, out) = (W::splat(0.0), side * side);
        let from_middle = tension + self.shift;
        let beyond = self.beyond.mul_add(from_middle - side * self.tension, side * self.bound);
        let below = self.compliance * tension + self.offset;
        (beyond.where_less(zero, out, below), self.beyond.where_less(zero, out, self.compliance))
    }

    /// What of a C is within the bound, and the slope beyond it; of stitches C at a tension, and their slope.
    #[inline(always)]
    fn within(&self, length: W, tension: W, stitch: W) -> (W, W) {
        let zero = W::splat(0.0);
        let within = length.min(self.bound).max(zero - self.bound);
        let sewn = self.compliance * tension;
        (sewn.where_less(zero, stitch, within), self.compliance.where_less(zero, stitch, self.beyond))
    }
}

/// 1 for edges that are stitches, 0 for others.
#[inline(always)]
fn stitch<W: Wide, const SEWN: bool>(stitches: &[Lanes], i: usize) -> W {
    if SEWN { W::load(&stitches[i]) } else { W::splat(0.0) }
}

/// C of edges without tension.
#[inline(always)]
fn offset<W: Wide>(offsets: &[Lanes], i: usize) -> W {
    if offsets.is_empty() { W::splat(0.0) } else { W::load(&offsets[i]) }
}

/// Eliminates the edges of strips one after the other, each on its side. If the solution `corrects`, sides do not count, and what is within the bound stays.
#[inline(always)]
fn eliminate<W: Wide, const SEWN: bool>(
    q: &MovedParticles<'_>,
    eased: Option<(SeenParticles<'_>, f64)>,
    tension: &[Lanes],
    room: &mut StretchRoom<'_>,
    (limits, stretch): (Limits, BoundedStretch),
) {
    let (zero, half) = (W::splat(0.0), W::splat(0.5));
    let (mut p, mut b) = q.row::<W>(0);
    let mut last = Last::<W>::none();
    for (i, edge) in q.block().links().enumerate() {
        let (next_p, next_b) = q.row::<W>(i + 1);
        let (squared_rest, side) = (W::load(&edge.squared_rest), W::load(&room.sides[i]));
        let sewn = stitch::<W, SEWN>(&q.block().stitches, i);
        let law = Law::of(edge, sewn, offset(&q.block().offsets, i), stretch);
        let d = next_p - p;
        let squared = d.fused_dot(d);
        let kept = W::load(&tension[i]) * W::splat(limits.warm_start);
        let mut length = (squared - squared_rest) * half;
        if SEWN {
            let beyond = squared.sqrt() - squared_rest.sqrt();
            length = length + sewn * beyond * beyond * half;
        }
        let corrects = limits.most_give < f64::INFINITY;
        let (at, slope) = if corrects { law.within(length, kept, sewn) } else { law.at(kept, side) };
        let mut error = length - at;
        if let Some((start, left)) = eased {
            let ((from, free), (to, next_free)) = (start.row::<W>(i), start.row::<W>(i + 1));
            let d = to - from;
            // Below the bound an edge has a length of its own, and no error.
            let before = side * ((d.fused_dot(d) - squared_rest) * half) - law.bound;
            error = error - side * before.max(zero) * (free * next_free * W::splat(left));
        }
        let least = squared.max(squared_rest * W::splat(CRUSHED));
        let (change, share) = last.eliminate(d, [b, next_b], least, slope, error);
        let row = &mut room.rows[i];
        p.store(&mut row.position);
        b.store(&mut row.mobility);
        share.store(&mut row.share);
        change.store(&mut row.change);
        (p, b) = (next_p, next_b);
    }
}

/// Finds all changes of tension, and lets edges go over to the sides of their tensions, one of every strip alone if so. Whether any does.
#[inline(always)]
fn find_sides<W: Wide, const SEWN: bool>(
    q: &MovedParticles<'_>,
    tension: &[Lanes],
    room: &mut StretchRoom<'_>,
    (limits, stretch): (Limits, BoundedStretch),
    one_by_one: bool,
) -> bool {
    let (zero, one) = (W::splat(0.0), W::splat(1.0));
    let (mut change, mut share, mut going) = (zero, zero, zero);
    for (i, edge) in q.block().links().enumerate().rev() {
        let (row, side) = (&mut room.rows[i], &mut room.sides[i]);
        change = share.mul_add(change, W::load(&row.change));
        share = W::load(&row.share);
        change.store(&mut row.change);
        let whole = W::load(&tension[i]).mul_add(W::splat(limits.warm_start), change);
        let pulls_at = offset(&q.block().offsets, i);
        let law = Law::of(edge, stitch::<W, SEWN>(&q.block().stitches, i), pulls_at, stretch);
        let over = (law.side(whole) - W::load(side)).max(zero - one).min(one);
        let over = if one_by_one { zero.where_less(zero, going, over) } else { over };
        going = going + over * over;
        (W::load(side) + over).store(side);
    }
    let mut any = Lanes::ZERO;
    going.store(&mut any);
    (0..LANES).any(|lane| any.0[lane] > 0.0)
}

#[inline(always)]
fn solve<W: Wide, const SEWN: bool>(
    mut q: MovedParticles<'_>,
    eased: Option<(SeenParticles<'_>, f64)>,
    tension: &mut [Lanes],
    mut room: StretchRoom<'_>,
    (limits, stretch): (Limits, BoundedStretch),
) {
    let edges = q.block().links().len();
    for (i, edge) in q.block().links().enumerate() {
        let pulls_at = offset(&q.block().offsets, i);
        let law = Law::<W>::of(edge, stitch::<W, SEWN>(&q.block().stitches, i), pulls_at, stretch);
        law.side(W::load(&tension[i])).store(&mut room.sides[i]);
    }
    for pass in 0..MOST_PASSES {
        eliminate::<W, SEWN>(&q, eased, tension, &mut room, (limits, stretch));
        let any = find_sides::<W, SEWN>(&q, tension, &mut room, (limits, stretch), pass >= AT_ONCE);
        if !any || limits.most_give < f64::INFINITY {
            break;
        }
    }
    let (mut p, mut b) = q.row::<W>(edges);
    let mut pull = Wide3::<W>::zero();
    for i in (0..edges).rev() {
        let row = &room.rows[i];
        let applied = W::load(&row.change) * W::splat(limits.over_relaxation);
        let whole = W::load(&tension[i]).mul_add(W::splat(limits.warm_start), applied);
        whole.max(W::splat(limits.least_tension)).store(&mut tension[i]);
        let before = Wide3::load(&row.position);
        let next_pull = (p - before).scaled(applied);
        q.put(i + 1, (pull - next_pull).scaled_plus(b, p), b);
        (p, b, pull) = (before, W::load(&row.mobility), next_pull);
    }
    q.put(0, pull.scaled_plus(b, p), b);
}

#[inline(always)]
fn solve_kind<W: Wide>(
    q: MovedParticles<'_>,
    start: Start<&[Vec4]>,
    tension: &mut [Lanes],
    room: StretchRoom<'_>,
    limits: (Limits, BoundedStretch),
) {
    let eased = match start {
        Start::Errors(x, left) => Some((q.seen_in(x), left)),
        Start::Unused | Start::Directions(_) => None,
    };
    if q.block().stitches.is_empty() {
        solve::<W, false>(q, eased, tension, room, limits);
    } else {
        solve::<W, true>(q, eased, tension, room, limits);
    }
}

by_instruction_set! {
    /// Lets strips stretch by their law, to first order; changes particles and tensions, within limits. With a limit to what compliance brings about it only
    /// brings back what is beyond the bound.
    pub fn stretch = solve_kind(
        q: MovedParticles<'_>,
        start: Start<&[Vec4]>,
        tension: &mut [Lanes],
        room: StretchRoom<'_>,
        limits: (Limits, BoundedStretch),
    )
}
