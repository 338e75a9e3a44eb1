//! P3's own implicit variant: BDF2 with the secant (f - f⁻)/(x - x⁻) of every particle's force for a derivative, iterated to a fixed point.
//!
//! Each component of each particle has an equation of its own, without a matrix: M v⁺ = M ṽ + h (f + s (x̃ + h v⁺ - x)) with the slope s. Where
//! positions did not change the secant is 0/0 and is taken for 0, and so is one that would push. It knows nothing of the neighbours, so the sub-step
//! stays below the limit of Verlet.

use super::{Inputs, Moving};
use crate::math::{DVec3, Vec4};
use crate::model::memory::SecantMemory;
use crate::step::methods::implicit::bdf2_weights;
use std::ops::Range;

/// Share of a coordinate below which it did not change: the secant would be one of round-off.
const UNMOVED: f64 = 1e-12;

/// What lies a sub-step back, and where the present one starts from.
#[derive(Debug)]
pub(super) struct Secant {
    past: Moving,
    /// How long the sub-step before was, 0 if there was none [s].
    last: f64,
    /// Who was moved by an impact, which is no smooth past: it starts anew, with a sub-step of first order.
    fresh: Vec<bool>,
    /// x̃ and ṽ, and h of every particle [s].
    start: Moving,
    h: Vec<f64>,
    /// The end so far.
    at: Moving,
    /// Where the last sub-step led before anything touched.
    free: Moving,
}

/// A sub-step: velocities lead from x̃ and ṽ to the end within h [s].
#[derive(Debug, Clone, Copy)]
pub(super) struct Bdf2Start<'a> {
    start: &'a Moving,
    h: &'a [f64],
}

impl Secant {
    pub fn new(room: &Moving) -> Self {
        let (room, count) = (|| room.clone(), room.x.len());
        let (fresh, h) = (vec![false; count], vec![0.0; count]);
        Self { past: room(), last: 0.0, fresh, start: room(), h, at: room(), free: room() }
    }

    /// What is remembered at the start: no past.
    pub fn memory(&self) -> SecantMemory {
        let count = self.fresh.len();
        let past = vec![DVec3::ZERO; count];
        SecantMemory { last: 0.0, fresh: vec![false; count], past: [past.clone(), past] }
    }

    /// Reads the past of a step that starts `now`.
    pub fn recall(&mut self, memory: &SecantMemory, now: &Moving) {
        self.last = memory.last;
        self.fresh.copy_from_slice(&memory.fresh);
        for (own, past) in [&mut self.past.x, &mut self.past.v].into_iter().zip(&memory.past) {
            own.iter_mut().zip(past).for_each(|(own, past)| *own = (*past).into());
        }
        self.free.x.copy_from_slice(&now.x);
        self.free.v.copy_from_slice(&now.v);
    }

    /// Writes down the past of what is `now`.
    pub fn write_down(&mut self, now: &Moving, memory: &mut SecantMemory) {
        self.forget_impacts(now);
        memory.last = self.last;
        memory.fresh.copy_from_slice(&self.fresh);
        for (own, past) in [&self.past.x, &self.past.v].into_iter().zip(&mut memory.past) {
            past.iter_mut().zip(own).for_each(|(past, own)| *past = own.xyz());
        }
    }

    fn forget_impacts(&mut self, now: &Moving) {
        for (i, fresh) in self.fresh.iter_mut().enumerate() {
            *fresh |= now.x[i] != self.free.x[i] || now.v[i] != self.free.v[i];
        }
    }

    /// Starts a sub-step; returns what it starts from, and a first guess of its end.
    pub fn reach_back(&mut self, now: &Moving, duration: f64) -> (Bdf2Start<'_>, &mut Moving) {
        self.forget_impacts(now);
        let Self { past, start, at, .. } = self;
        for i in 0..now.x.len() {
            let before = if std::mem::take(&mut self.fresh[i]) { 0.0 } else { self.last };
            let (of_now, of_past, h) = bdf2_weights(duration, before);
            start.x[i] = now.x[i] * of_now - past.x[i] * of_past;
            start.v[i] = now.v[i] * of_now - past.v[i] * of_past;
            // Velocities change as they did.
            let rise = if before > 0.0 { (now.v[i] - past.v[i]) * (duration / before) } else { Vec4::ZERO };
            at.v[i] = now.v[i] + rise;
            at.x[i] = start.x[i] + at.v[i] * h;
            (past.x[i], past.v[i], self.h[i]) = (now.x[i], now.v[i], h);
        }
        self.last = duration;
        (Bdf2Start { start: &self.start, h: &self.h }, &mut self.at)
    }

    /// Keeps in mind where the sub-step led.
    pub fn leave(&mut self, x: &[Vec4], v: &[Vec4]) {
        self.free.x[..x.len()].copy_from_slice(x);
        self.free.v[..v.len()].copy_from_slice(v);
    }
}

/// What one iteration leaves to the next, for some of the particles.
#[derive(Debug, Default)]
pub(super) struct Iterate {
    /// Positions [m] and forces [N].
    before: Vec<(DVec3, DVec3)>,
    /// The largest change of a velocity, and what forces change one by at most [m/s].
    pub change: f64,
    pub whole: f64,
}

impl Iterate {
    /// Moves the ends of `particles` on from where forces are known; with slopes, if there is something to take them from.
    pub fn advance(
        &mut self,
        inputs: &Inputs,
        reach: &Bdf2Start,
        (particles, use_slopes): (Range<usize>, bool),
        forces: &[Vec4],
        [x, v]: [&[Vec4]; 2],
        [next_x, next_v]: [&mut [Vec4]; 2],
    ) {
        self.before.resize(particles.len(), (DVec3::ZERO, DVec3::ZERO));
        (self.change, self.whole) = (0.0, 0.0);
        let start = reach.start;
        for (k, i) in particles.enumerate() {
            let h = reach.h[i];
            let (mass, from, speed) = (inputs.model.mass[i], start.x[i].xyz(), start.v[i].xyz());
            let steady = inputs.gravity + inputs.damping * (inputs.wind - v[k].xyz());
            let (force, here) = (forces[k].xyz() + steady * mass, x[k].xyz());
            let slope = match use_slopes {
                true => secant(force - self.before[k].1, self.before[k].0, here),
                false => DVec3::ZERO,
            };
            self.before[k] = (here, force);
            if inputs.inverse_mass[i] > 0.0 {
                let push = force + slope * (from - here);
                let end = (speed * mass + push * h) / (DVec3::splat(mass) - slope * (h * h));
                self.change = self.change.max((end - v[k].xyz()).length());
                self.whole = self.whole.max(h * force.length() / mass);
                (next_v[k], next_x[k]) = (end.into(), (from + end * h).into());
            } else {
                (next_v[k], next_x[k]) = (Vec4::ZERO, x[k]);
            }
        }
    }
}

/// Slopes of the three components over the way `from` a place `to` another, never positive.
fn secant(force: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let slope = |f: f64, from: f64, to: f64| {
        if (to - from).abs() > UNMOVED * to.abs() { (f / (to - from)).min(0.0) } else { 0.0 }
    };
    DVec3::new(slope(force.x, from.x, to.x), slope(force.y, from.y, to.y), slope(force.z, from.z, to.z))
}
