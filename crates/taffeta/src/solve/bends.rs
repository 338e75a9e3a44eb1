//! Bending along strips as one system per strip, with five diagonals, eight strips side by side in SIMD lanes.
//!
//! Bend i turns from edge i to edge i + 1: s_i = g·x over the particles i, i + 1, i + 2 with g = (1/L, -1/L - 1/L', 1/L'). Its moment is implicit in time,
//! M = k s + c ds/dt with s at the end of the sub-step of h, and moves the particles by -b g M with their mobilities b. So (A + 1/K) M = s - c/(h K) s₀ with
//! A = g b gᵀ, K = k + c/h, s without bending and s₀ before: two off-diagonals, one pass forth and one back. Bend by bend it would be cheaper and wrong: one
//! sweep leaves stiff strips too soft, and energy in those that are much damped.

use super::blocks::Block;
use super::strips::Particles;
use crate::math::lanes::{Lanes, Wide, Wide3, by_instruction_set};

/// Stands for the stiffness of a bend that has none [N·m]: its moment is 0.
const NO_STIFFNESS: f64 = 1e-200;

/// Scratch of one row of bends: what L D Lᵀ needs on the way back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fold {
    /// Left of the diagonal: the bend before, and the one before that.
    off: [Lanes; 2],
    inverse: Lanes,
    rhs: [Lanes; 3],
}

#[inline(always)]
fn bend_lanes<W: Wide>(block: &Block, x: Particles, q: Particles, folds: &mut [Fold], h: f64) {
    if block.bends.is_empty() {
        return;
    }
    forth::<W>(block, x, q, folds, h);
    back::<W>(block, q, folds);
}

/// Factors the system of every strip, and solves with the left factor.
#[inline(always)]
fn forth<W: Wide>(block: &Block, x: Particles, q: Particles, folds: &mut [Fold], h: f64) {
    let (zero, rate, least) = (W::splat(0.0), W::splat(1.0 / h), W::splat(NO_STIFFNESS));
    let ((mut a, mut ba), (mut b, mut bb)) = (q.row::<W>(block, 0), q.row::<W>(block, 1));
    let ((mut xa, _), (mut xb, _)) = (x.row::<W>(block, 0), x.row::<W>(block, 1));
    // Of the bend before and the one before that: shares of their last two particles, factors, right sides.
    let (mut middle, mut end, mut end2) = (zero, zero, zero);
    let (mut before, mut inverse, mut inverse2) = (zero, zero, zero);
    let (mut rhs, mut rhs2) = (Wide3::<W>::zero(), Wide3::<W>::zero());
    for (i, (bend, fold)) in block.bends.iter().zip(folds).enumerate() {
        let ((c, bc), (xc, _)) = (q.row::<W>(block, i + 2), x.row::<W>(block, i + 2));
        let (ia, ic) = (W::load(&bend.inverse_lengths[0]), W::load(&bend.inverse_lengths[1]));
        let ib = ia + ic;
        let damping = W::load(&bend.damping) * rate;
        let softness = (W::load(&bend.stiffness) + damping).max(least).inverse();
        let turn = (c - b).scaled(ic) - (b - a).scaled(ia);
        let turn_before = (xc - xb).scaled(ic) - (xb - xa).scaled(ia);
        let near = zero - (ba * middle * ia + bb * end * ib);
        let far = ba * end2 * ia;
        let near = near - far * before;
        let (left, left2) = (near * inverse, far * inverse2);
        let diagonal = ba * ia * ia + bb * ib * ib + bc * ic * ic + softness;
        let now = turn - turn_before.scaled(damping * softness) - rhs.scaled(left) - rhs2.scaled(left2);
        (inverse2, inverse) = (inverse, (diagonal - left * near - left2 * far).inverse());
        (rhs2, rhs, before) = (rhs, now, left);
        left.store(&mut fold.off[0]);
        left2.store(&mut fold.off[1]);
        inverse.store(&mut fold.inverse);
        rhs.store(&mut fold.rhs);
        (end2, end, middle) = (end, ic, ib);
        (a, ba, xa) = (b, bb, xb);
        (b, bb, xb) = (c, bc, xc);
    }
}

/// Finds the moments, last first, and moves the particles.
#[inline(always)]
fn back<W: Wide>(block: &Block, q: Particles, folds: &[Fold]) {
    let zero = Wide3::<W>::zero();
    // Moments of the next bend and the one after it, times their factors for this; what the next ones push of this bend's last two particles.
    let (mut next, mut next2, mut after) = (zero, zero, zero);
    let (mut push, mut push2) = (zero, zero);
    for (i, (bend, fold)) in block.bends.iter().zip(folds).enumerate().rev() {
        let (ia, ic) = (W::load(&bend.inverse_lengths[0]), W::load(&bend.inverse_lengths[1]));
        let moment = Wide3::load(&fold.rhs).scaled(W::load(&fold.inverse)) - next - after;
        (after, next2, next) =
            (next2, moment.scaled(W::load(&fold.off[1])), moment.scaled(W::load(&fold.off[0])));
        let (at, b) = q.row::<W>(block, i + 2);
        q.put(block, i + 2, at - (push + moment.scaled(ic)).scaled(b), b);
        (push, push2) = (push2 - moment.scaled(ia + ic), moment.scaled(ia));
    }
    let (at, b) = q.row::<W>(block, 1);
    q.put(block, 1, at - push.scaled(b), b);
    let (at, b) = q.row::<W>(block, 0);
    q.put(block, 0, at - push2.scaled(b), b);
}

by_instruction_set! {
    /// Bends along strips in a sub-step of `h` [s] from `x` to `q`, which comes without any bending and is changed.
    pub fn bend = bend_lanes(block: &Block, x: Particles, q: Particles, folds: &mut [Fold], h: f64)
}
