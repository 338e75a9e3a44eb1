//! Twist along ladders of quads as one tridiagonal system per ladder, eight ladders side by side in SIMD lanes.
//!
//! Quad i reaches from rung i with the particles p, r to rung i + 1 with p', r'. Its twist c = (2 - s) p - t r - (2 - t) p' + s r' is twice the gap between its
//! diagonals, which at rest cross at the share s/2 of the way from p to r' and t/2 from p' to r. The force f = k c + damping dc/dt is implicit in time
//! and moves the particles by -b w f with their mobilities b and weights w. So (A + 1/K) f = c - d/(h K) c₀ with A = w b wᵀ, K = k + d/h, c without twist and c₀
//! what the pass before has left, a sub-step ago. Quads share particles with the one before and the next alone: one pass forth and one back. Quad by quad it would be cheaper and wrong, as with bends:
//! forces of quads that are twisted alike cancel along a ladder, and one sweep alone would not know.
//!
//! Of the two rows of turns over a quad the first has s for its ratio and the stiffness, the second has t.

use super::blocks::StripBlock;
use super::particles::MovedParticles;
use crate::math::lanes::{Lanes, Wide, Wide3, by_instruction_set};

/// Twists of the quads that begin at one row; of odd rows nothing.
pub type RowTwist = [Lanes; 3];

/// Scratch of one quad and the rung that it leads to: what L D Lᵀ needs on the way back, and what need not be fetched again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rung {
    /// The ends of the rung [m] and their mobilities [m/N].
    ends: [[Lanes; 3]; 2],
    mobility: [Lanes; 2],
    /// What this force adds to that of the quad before.
    share: Lanes,
    /// The force if that of the next were 0 [N].
    force: [Lanes; 3],
}

/// How many quads there are along a block, and the crossings of one.
#[inline(always)]
fn count(block: &StripBlock) -> usize {
    block.turns().len() / 2
}

#[inline(always)]
fn crossing<W: Wide>(block: &StripBlock, quad: usize) -> [W; 2] {
    [W::load(&block.turn(2 * quad).ratio), W::load(&block.turn(2 * quad + 1).ratio)]
}

/// (2 - s) p - t r - (2 - t) p' + s r'.
#[inline(always)]
fn gap<W: Wide>([p, r, p2, r2]: [Wide3<W>; 4], [s, t]: [W; 2]) -> Wide3<W> {
    let two = W::splat(2.0);
    r2.scaled_plus(s, r.scaled_from(t, p2.scaled_from(two - t, p.scaled(two - s))))
}

#[inline(always)]
fn measure_lanes<W: Wide>(x: &MovedParticles<'_>, twists: &mut [RowTwist]) {
    let block = x.block();
    let ((mut p, _), (mut r, _)) = (x.row::<W>(0), x.row::<W>(1));
    for i in 0..count(block) {
        let ((p2, _), (r2, _)) = (x.row::<W>(2 * i + 2), x.row::<W>(2 * i + 3));
        gap([p, r, p2, r2], crossing(block, i)).store(&mut twists[2 * i]);
        (p, r) = (p2, r2);
    }
}

#[inline(always)]
fn twist_lanes<W: Wide>(q: &mut MovedParticles<'_>, twists: &mut [RowTwist], rungs: &mut [Rung]) {
    if count(q.block()) > 0 {
        forth::<W>(q, twists, rungs);
        back::<W>(q, twists, rungs);
    }
}

/// Factors the system of every ladder, and solves with the left factor. Twists become the damped share of what they were.
#[inline(always)]
fn forth<W: Wide>(q: &MovedParticles<'_>, twists: &mut [RowTwist], rungs: &mut [Rung]) {
    let block = q.block();
    let (zero, two) = (W::splat(0.0), W::splat(2.0));
    let ((mut p, mut bp), (mut r, mut br)) = (q.row::<W>(0), q.row::<W>(1));
    // Of the quad before: its weights at the rung that both share, without their signs, times mobilities; one over its pivot, and its force.
    let (mut before_p, mut before_r) = (zero, zero);
    let (mut inverse, mut force) = (zero, Wide3::<W>::zero());
    for (i, rung) in rungs[..count(block)].iter_mut().enumerate() {
        let ((p2, bp2), (r2, br2)) = (q.row::<W>(2 * i + 2), q.row::<W>(2 * i + 3));
        let [s, t] = crossing(block, i);
        let numbers = block.turn(2 * i);
        let (wp, wp2) = (two - s, two - t);
        // Off the diagonal, with a minus.
        let near = before_p.mul_add(wp, before_r * t);
        let share = near * inverse;
        (before_p, before_r) = (bp2 * wp2, br2 * s);
        let own = (bp * wp).mul_add(wp, (br * t).mul_add(t, W::load(&numbers.softness)));
        let diagonal = before_p.mul_add(wp2, before_r.mul_add(s, own));
        inverse = share.mul_sub_from(near, diagonal).inverse();
        let damped = Wide3::load(&twists[2 * i]).scaled(W::load(&numbers.damped));
        damped.store(&mut twists[2 * i]);
        let rhs = gap([p, r, p2, r2], [s, t]) - damped;
        force = force.scaled_plus(near, rhs).scaled(inverse);
        p2.store(&mut rung.ends[0]);
        r2.store(&mut rung.ends[1]);
        bp2.store(&mut rung.mobility[0]);
        br2.store(&mut rung.mobility[1]);
        share.store(&mut rung.share);
        force.store(&mut rung.force);
        (p, r, bp, br) = (p2, r2, bp2, br2);
    }
}

/// Finds the forces, last first, moves the particles, and leaves the twists that they then have: f = K c - d/h c₀.
#[inline(always)]
fn back<W: Wide>(q: &mut MovedParticles<'_>, twists: &mut [RowTwist], rungs: &[Rung]) {
    let block = q.block();
    let (zero, two) = (Wide3::<W>::zero(), W::splat(2.0));
    // The force of the next quad, its share in this one, and what it pushes of the rung that both share.
    let (mut force, mut share) = (zero, W::splat(0.0));
    let (mut push_p, mut push_r) = (zero, zero);
    for (i, rung) in rungs[..count(block)].iter().enumerate().rev() {
        let [s, t] = crossing(block, i);
        force = force.scaled_plus(share, Wide3::load(&rung.force));
        share = W::load(&rung.share);
        let [bp, br] = [W::load(&rung.mobility[0]), W::load(&rung.mobility[1])];
        let (p, r) = (Wide3::load(&rung.ends[0]), Wide3::load(&rung.ends[1]));
        q.put(2 * i + 2, force.scaled_from(two - t, push_p).scaled_from(bp, p), bp);
        q.put(2 * i + 3, force.scaled_plus(s, push_r).scaled_from(br, r), br);
        (push_p, push_r) = (force.scaled(two - s), zero - force.scaled(t));
        let left = force.scaled_plus(W::load(&block.turn(2 * i).softness), Wide3::load(&twists[2 * i]));
        left.store(&mut twists[2 * i]);
    }
    let ((p, bp), (r, br)) = (q.row::<W>(0), q.row::<W>(1));
    q.put(0, push_p.scaled_from(bp, p), bp);
    q.put(1, push_r.scaled_from(br, r), br);
}

by_instruction_set! {
    /// The twists of ladders at `x`.
    pub fn measure = measure_lanes(x: &MovedParticles<'_>, twists: &mut [RowTwist])
}

by_instruction_set! {
    /// Twist along ladders in a sub-step that ends at `q`, which comes without any twist and is changed, from `twists` a sub-step ago, which become those of now.
    /// `Strips::pace_bends` comes first.
    pub fn twist = twist_lanes(q: &mut MovedParticles<'_>, twists: &mut [RowTwist], rungs: &mut [Rung])
}
