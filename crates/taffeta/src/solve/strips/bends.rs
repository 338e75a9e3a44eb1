//! Bending along strips as one system per strip, with five diagonals, eight strips side by side in SIMD lanes.
//!
//! Bend i turns from edge i to edge i + 1: s_i = g·x over the particles i, i + 1, i + 2 with g = (1/L, -1/L - 1/L', 1/L'). Its moment is implicit in time,
//! M = k s + c ds/dt with s at the end of the sub-step of h, and moves the particles by -b g M with their mobilities b. So (A + 1/K) M = s - c/(h K) s₀ with
//! A = g b gᵀ, K = k + c/h, s without bending and s₀ before: two off-diagonals, one pass forth and one back. A bend that is pulled away from straight by a moment p
//! has p/K less on the right. Every bend is taken times its L', so that
//! g = (r, -1 - r, 1) with r = L'/L, M a force, and 1/K times L'²: fewer products. Bend by bend it would be cheaper and wrong: one sweep leaves stiff strips
//! too soft, and energy in those that are much damped.

use super::blocks::Turns;
use super::particles::MovedParticles;
use crate::math::Vec4;
use crate::math::lanes::{Lanes, Wide, Wide3, by_instruction_set};

/// Scratch of one row of bends: what L D Lᵀ needs on the way back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fold {
    /// What this moment adds to that of the bend before, and takes from the one before that.
    shares: [Lanes; 2],
    /// The moment if those of the next two were 0.
    moment: [Lanes; 3],
}

#[inline(always)]
fn bend_lanes<W: Wide>(x: &[Vec4], q: &mut MovedParticles<'_>, folds: &mut [Fold]) {
    if q.block().turns().len() == 0 {
        return;
    }
    if q.block().pulls.is_empty() {
        forth::<W, false>(x, q, folds);
    } else {
        forth::<W, true>(x, q, folds);
    }
    back::<W>(q, folds);
}

/// Factors the system of every strip, and solves with the left factor. `PULLED` if some do not rest straight.
#[inline(always)]
fn forth<W: Wide, const PULLED: bool>(x: &[Vec4], q: &MovedParticles<'_>, folds: &mut [Fold]) {
    let x = q.seen_in(x);
    let zero = W::splat(0.0);
    let ((a, mut ba), (mut b, mut bb)) = (q.row::<W>(0), q.row::<W>(1));
    let ((xa, _), (mut xb, _)) = (x.row::<W>(0), x.row::<W>(1));
    let (mut way, mut way_before) = (b - a, xb - xa);
    // Of the bend before, and the one before that; where there is none, one over its pivot is 0.
    let (mut last_middle, mut share) = (zero, zero);
    let (mut inverse, mut inverse2) = (zero, zero);
    let (mut moment, mut moment2) = (Wide3::<W>::zero(), Wide3::<W>::zero());
    for (i, (Turns { ratio, softness, damped }, fold)) in q.block().turns().zip(folds).enumerate() {
        let ((c, bc), (xc, _)) = (q.row::<W>(i + 2), x.row::<W>(i + 2));
        let (next_way, next_before) = (c - b, xc - xb);
        let ratio = W::load(ratio);
        let turn = way.scaled_from(ratio, next_way);
        let turn_before = way_before.scaled_from(ratio, next_before);
        // Off the diagonal: `far`, and `near` with a minus.
        let (middle, far) = (W::splat(1.0) + ratio, ba * ratio);
        let moved_middle = bb * middle;
        let near = far.mul_sub_from(share, far.mul_add(last_middle, moved_middle));
        let (next_share, share2) = (near * inverse, far * inverse2);
        let diagonal = moved_middle.mul_add(middle, far.mul_add(ratio, bc + W::load(softness)));
        let pivot = share2.mul_sub_from(far, next_share.mul_sub_from(near, diagonal));
        let rhs = turn_before.scaled_from(W::load(damped), turn);
        let rhs = if PULLED {
            Wide3::load(&q.block().pulls[i]).scaled_from(W::load(softness), rhs)
        } else {
            rhs
        };
        let rhs = moment2.scaled_from(far, moment.scaled_plus(near, rhs));
        (inverse2, inverse) = (inverse, pivot.inverse());
        (moment2, moment) = (moment, rhs.scaled(inverse));
        next_share.store(&mut fold.shares[0]);
        share2.store(&mut fold.shares[1]);
        moment.store(&mut fold.moment);
        (last_middle, share) = (middle, next_share);
        (way, way_before) = (next_way, next_before);
        (b, xb, ba, bb) = (c, xc, bb, bc);
    }
}

/// Finds the moments, last first, and moves the particles.
#[inline(always)]
fn back<W: Wide>(q: &mut MovedParticles<'_>, folds: &[Fold]) {
    let (none, zero) = (W::splat(0.0), Wide3::<W>::zero());
    // The next moment and the one after it, with their shares in this one; `coming` is what the next has in the one before this.
    let (mut next, mut next2) = (zero, zero);
    let (mut share, mut share2, mut coming) = (none, none, none);
    // What both push of this bend's last two particles.
    let (mut push, mut push2) = (zero, zero);
    for (i, (Turns { ratio, .. }, fold)) in q.block().turns().zip(folds).enumerate().rev() {
        let ratio = W::load(ratio);
        let moment = next2.scaled_from(share2, next.scaled_plus(share, Wide3::load(&fold.moment)));
        (next2, next) = (next, moment);
        (share2, coming, share) = (coming, W::load(&fold.shares[1]), W::load(&fold.shares[0]));
        let (at, b) = q.row::<W>(i + 2);
        q.put(i + 2, (push + moment).scaled_from(b, at), b);
        (push, push2) = (moment.scaled_from(W::splat(1.0) + ratio, push2), moment.scaled(ratio));
    }
    let (at, b) = q.row::<W>(1);
    q.put(1, push.scaled_from(b, at), b);
    let (at, b) = q.row::<W>(0);
    q.put(0, push2.scaled_from(b, at), b);
}

by_instruction_set! {
    /// Bends along strips in a sub-step from `x` to `q`, which comes without any bending and is changed. `Strips::pace_bends` comes first.
    pub fn bend = bend_lanes(x: &[Vec4], q: &mut MovedParticles<'_>, folds: &mut [Fold])
}
