//! What pulls on particles before lengths are corrected: kept tensions, gravity, air; and how heavy tension makes them.
//!
//! A sub-step of length h takes forces at the free motion y = x + h v, less what the motion from there takes back. For tensions t that is
//! (M + h² L) (q - y) = h² f(y) with L the Laplacian of t. Here L is replaced by its bound 2 Σ t on the diagonal, as added mass: a particle under tension
//! moves as if it were heavier, h² 2 Σ t / m times, where that is more than 1. Without it the sub-step would have to follow the fastest vibration across
//! the tightest edge; with it slow motion near pins lags, which [`Sums::added`] tells.

use crate::math::lanes::{Four, Wide, by_instruction_set};
use crate::math::{DVec3, Vec4};
use std::ops::Range;

/// Who pulls on whom.
#[derive(Debug, Clone, Default)]
pub struct Predictor {
    /// Per particle: where its edges start in `edges`.
    starts: Vec<u32>,
    /// The other end, and the place of the tension.
    edges: Vec<[u32; 2]>,
    /// One more than the largest of these places.
    tensions: usize,
}

/// What one sub-step gives to every particle.
#[derive(Debug, Clone, Copy)]
pub struct PredictInputs<'a> {
    /// Mass [kg] and one over it, 0 for those that are held [1/kg], of every particle.
    pub mass: &'a [f64],
    /// See `mass`.
    pub inverse_mass: &'a [f64],
    /// Acceleration of all that is free [m/s²].
    pub gravity: DVec3,
    /// Duration [s].
    pub h: f64,
    /// Where particles are [m].
    pub x: &'a [Vec4],
    /// Where they would be without forces [m]; where pinned ones will be. The fourth number is 1.
    pub y: &'a [Vec4],
    /// Forces that are held [N]; empty in a vacuum.
    pub held: &'a [Vec4],
    /// Tension per length of every edge [N/m], and the share of it that pulls [1].
    pub tension: &'a [f64],
    /// See `tension`.
    pub warm_start: f64,
    /// Per particle: share of h² f / m by which a force displaces it [1].
    pub share: &'a [f64],
}

/// Sums over particles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Twice the kinetic energy [J].
    pub moving: f64,
    /// The same of the added mass [J].
    pub added: f64,
}

impl Predictor {
    /// From edges: their ends, particles below `particles`, and places of their tensions.
    pub fn new(particles: usize, edges: impl Iterator<Item = ([u32; 2], u32)>) -> Self {
        let mut pull = Predictor::default();
        let mut of: Vec<Vec<[u32; 2]>> = vec![Vec::new(); particles];
        for ([a, b], slot) in edges {
            of[a as usize].push([b, slot]);
            of[b as usize].push([a, slot]);
            pull.tensions = pull.tensions.max(slot as usize + 1);
        }
        for around in of {
            pull.starts.push(pull.edges.len() as u32);
            pull.edges.extend(around);
        }
        pull.starts.push(u32::try_from(pull.edges.len()).expect("edges have 32-bit numbers"));
        pull
    }

    fn particles(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

// Generic only to be compiled for every instruction set: its vectors are those of one particle.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn pull_all<W: Wide>(
    pull: &Predictor,
    particles: Range<usize>,
    now: &PredictInputs<'_>,
    q: &mut [Vec4],
) -> Sums {
    let h = now.h;
    assert!(now.y.len() >= pull.particles() && now.tension.len() >= pull.tensions, "all that edges name");
    let (gravity, kept) = (W::Four::load(&Vec4::from(now.gravity)), W::Four::splat(now.warm_start));
    let one = W::Four::load(&Vec4([0.0, 0.0, 0.0, 1.0]));
    let (mut moving, mut added) = (W::Four::splat(0.0), W::Four::splat(0.0));
    let starts = pull.starts[particles.start..=particles.end].windows(2);
    let ways = now.x[particles.clone()].iter().zip(&now.y[particles.clone()]);
    let masses = now.inverse_mass[particles.clone()].iter().zip(&now.mass[particles.clone()]);
    let own = starts.zip(ways).zip(masses).zip(&now.share[particles.clone()]).zip(particles);
    for (q, ((((starts, (x, y)), (w, mass)), share), i)) in q.iter_mut().zip(own) {
        let (w, y) = (*w, W::Four::load(y));
        if w == 0.0 {
            (y - one).store(q);
            continue;
        }
        // Σ t (y' - y) is Σ t y' - y Σ t. Fourth numbers of y are 1: that of the first sum is Σ t.
        let mut pulled = W::Four::splat(0.0);
        // SAFETY: `Predictor::new` makes starts that grow and end with the list.
        let around = unsafe { pull.edges.get_unchecked(starts[0] as usize..starts[1] as usize) };
        for [other, slot] in around {
            // SAFETY: `Predictor::new` has seen that edges name particles, and counted the tensions; there are as many of both, as asserted above.
            let (tension, other) =
                unsafe { (now.tension.get_unchecked(*slot as usize), now.y.get_unchecked(*other as usize)) };
            pulled = W::Four::load(other).mul_add(W::Four::splat(*tension), pulled);
        }
        let pulled = pulled * kept;
        let mut tight = Vec4::ZERO;
        pulled.store(&mut tight);
        let mut force = y.mul_add(W::Four::splat(-tight.0[3]), pulled);
        if let Some(held) = now.held.get(i) {
            force = force + W::Four::load(held);
        }
        let squared = h * h * share;
        let heavier = (squared * w * 2.0 * tight.0[3]).max(1.0);
        let inertia = squared / heavier;
        let acceleration = force.mul_add(W::Four::splat(w), gravity);
        acceleration.mul_add(W::Four::splat(inertia), y).store(q);
        q.0[3] = w * inertia;
        let way = y - W::Four::load(x);
        let energy = way * way * W::Four::splat(*mass);
        moving = moving + energy;
        added = energy.mul_add(W::Four::splat(heavier - 1.0), added);
    }
    let sum = |all: W::Four| {
        let mut each = Vec4::ZERO;
        all.store(&mut each);
        each.0[0] + each.0[1] + each.0[2]
    };
    let rate = 1.0 / (h * h);
    Sums { moving: sum(moving) * rate, added: sum(added) * rate }
}

by_instruction_set! {
    /// Moves `particles` from their free motion by all that pulls; `q` gets their positions and mobilities h²/m [m/N].
    ///
    /// # Panics
    /// If something is missing for one of them.
    pub fn apply = pull_all(pull: &Predictor, particles: Range<usize>, now: &PredictInputs<'_>, q: &mut [Vec4]) -> Sums
}

/// What [`update_velocities`] needs besides positions.
#[derive(Debug, Clone, Copy)]
pub struct VelocityUpdate<'a> {
    /// One over the mass of every particle, 0 for those that are held [1/kg].
    pub inverse_mass: &'a [f64],
    /// Velocity of the air [m/s], and the rate at which all velocity relative to it is lost [1/s].
    pub wind: DVec3,
    /// See `wind`.
    pub damping: f64,
    /// Duration of the sub-step [s].
    pub h: f64,
    /// The end of the sub-step [m].
    pub q: &'a [Vec4],
    /// Contacts: a fourth number above 0 tells that a particle touches. Empty where there is nothing to touch.
    pub grip: &'a [Vec4],
    /// As in [`PredictInputs`].
    pub share: &'a [f64],
}

#[inline(always)]
fn lead_all<W: Wide>(particles: Range<usize>, now: &VelocityUpdate<'_>, x: &mut [Vec4], y: &mut [Vec4]) {
    let rate = now.h * now.damping;
    let wind = W::Four::load(&Vec4::from(now.wind)) * W::Four::splat(now.h * rate);
    let (slower, one) = (W::Four::splat(1.0 / (1.0 + rate)), W::Four::load(&Vec4([0.0, 0.0, 0.0, 1.0])));
    let mask = W::Four::load(&Vec4([1.0, 1.0, 1.0, 0.0]));
    let masses = &now.inverse_mass[particles.clone()];
    let own = now.q[particles.clone()].iter().zip(&now.share[particles.clone()]).zip(masses).zip(particles);
    for ((x, y), (((q, share), w), i)) in x.iter_mut().zip(y).zip(own) {
        let end = W::Four::load(q) * mask;
        let (from, free) = (W::Four::load(x) * mask, W::Four::load(y));
        // What touches must not bounce.
        let touches = now.grip.get(i).is_some_and(|grip| grip.0[3] > 0.0);
        let way =
            if touches { end - from } else { (free - from) + (end - free) * W::Four::splat(1.0 / share) };
        let damped = if *w > 0.0 { (way + wind) * slower } else { way };
        if touches { end } else { end + one }.store(x);
        ((end + damped) * mask + one).store(y);
    }
}

by_instruction_set! {
    /// Makes the end of a sub-step the start of the next, and lets its velocity lead on: new `x` and `y` of some particles. The fourth number of `x` is 0 for
    /// those that touch, 1 for others.
    ///
    /// # Panics
    /// If something is missing for one of them.
    pub fn update_velocities = lead_all(particles: Range<usize>, now: &VelocityUpdate<'_>, x: &mut [Vec4], y: &mut [Vec4])
}
