//! What pulls on particles before lengths are corrected: kept tensions, gravity, air; and how heavy tension makes them.
//!
//! A sub-step of length h takes forces at the free motion y = x + h v, less what the motion from there takes back. For tensions t that is
//! (M + h² L) (q - y) = h² f(y) with L the Laplacian of t. Here L is replaced by its bound 2 Σ t on the diagonal, as added mass: a particle under tension
//! moves as if it were heavier, h² 2 Σ t / m times, where that is more than 1. Without it the sub-step would have to follow the fastest vibration across
//! the tightest edge; with it slow motion near pins lags, which [`Sums::added`] tells.

use crate::math::lanes::{Four, LANES, Wide, by_instruction_set};
use crate::math::{DVec3, Vec4};
use std::ops::Range;

/// Who pulls on whom.
#[derive(Debug, Clone, Default)]
pub struct Predictor {
    /// Particles one after the other, all in one of them.
    runs: Vec<Run>,
    /// Per run: ways to the others [bytes].
    ways: Vec<[isize; 2]>,
    /// Per particle: where the tensions towards them stand.
    places: Vec<u32>,
    /// One more than the largest of these places.
    tensions: usize,
}

/// Particles in a row whose edges lead the same ways. On a grid that is a row of it but for its ends, so that nothing but tensions is looked up.
#[derive(Debug, Clone)]
struct Run {
    particles: Range<usize>,
    ways: Range<usize>,
    /// Where the places of its first particle start; every particle has as many as there are ways.
    places: usize,
    /// Whether every way has two directions, back and forth along a strip: tensions towards both stand [`LANES`] numbers apart, and the place is that of the
    /// second. Otherwise there is only the first direction.
    paired: bool,
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
    /// How far goes in this time what the motion is seen from [m].
    pub drift: DVec3,
}

/// Sums over particles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Twice the kinetic energy, seen from what drifts [J].
    pub moving: f64,
    /// The same of the added mass [J].
    pub added: f64,
}

impl Predictor {
    /// From edges: their ends, particles below `particles`, and places of their tensions.
    pub fn new(particles: usize, edges: impl Iterator<Item = ([u32; 2], u32)>) -> Self {
        let mut pull = Predictor::default();
        let mut of: Vec<Vec<(u32, u32)>> = vec![Vec::new(); particles];
        for ([a, b], place) in edges {
            of[a as usize].push((place, b));
            of[b as usize].push((place, a));
            pull.tensions = pull.tensions.max(place as usize + 1);
        }
        for (i, around) in of.iter().enumerate() {
            pull.append(i, around);
        }
        pull
    }

    /// Adds the next particle with the edges around it: places of their tensions and other ends.
    fn append(&mut self, particle: usize, around: &[(u32, u32)]) {
        let way = |other: u32| (other as isize - particle as isize) * size_of::<Vec4>() as isize;
        let paired = pairs(around);
        // In the order of the ways, which neighbours have in common.
        let mut ways: Vec<([isize; 2], u32)> = match &paired {
            Some(pairs) => pairs.iter().map(|[back, forth]| ([way(back.1), way(forth.1)], forth.0)).collect(),
            None => around.iter().map(|(place, other)| ([way(*other), 0], *place)).collect(),
        };
        ways.sort_unstable();
        let alike = |run: &Run| {
            run.paired == paired.is_some()
                && self.ways[run.ways.clone()].iter().eq(ways.iter().map(|(way, _)| way))
        };
        if self.runs.last().is_some_and(alike) {
            self.runs.last_mut().expect("there is one").particles.end += 1;
        } else {
            let first = self.ways.len();
            self.ways.extend(ways.iter().map(|(way, _)| way));
            self.runs.push(Run {
                particles: particle..particle + 1,
                ways: first..self.ways.len(),
                places: self.places.len(),
                paired: paired.is_some(),
            });
        }
        self.places.extend(ways.iter().map(|(_, place)| place));
    }

    fn particles(&self) -> usize {
        self.runs.last().map_or(0, |run| run.particles.end)
    }
}

/// Edges around a particle two by two, if each has another along its strip: places of tensions and other ends, that which is further along second.
fn pairs(around: &[(u32, u32)]) -> Option<Vec<[(u32, u32); 2]>> {
    let mut left = around.to_vec();
    left.sort_unstable();
    let mut pairs = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let second = left.iter().position(|edge| edge.0 == first.0 + LANES as u32)?;
        pairs.push([first, left.remove(second)]);
    }
    Some(pairs)
}

/// Sums up what the edges of particles of a run pull, the first of which is `own`: t y, and in the fourth number t. Every particle has so many `places` as there
/// are ways.
///
/// # Safety
/// There must be a particle at the end of every way, a tension at every place, and one [`LANES`] before it where ways are `PAIRED`.
#[inline(always)]
unsafe fn sum_up<'a, W: Wide, const PAIRED: bool>(
    own: *const Vec4,
    ways: &[[isize; 2]],
    places: impl Iterator<Item = &'a [u32]>,
    tension: &[f64],
    sums: &mut [Vec4],
) {
    let tension = tension.as_ptr();
    for (k, (sum, places)) in sums.iter_mut().zip(places).enumerate() {
        let own = own.wrapping_add(k);
        let mut pulled = W::Four::splat(0.0);
        for ([back, forth], place) in ways.iter().zip(places) {
            // SAFETY: as the caller promises.
            unsafe {
                let tension = tension.add(*place as usize);
                let other = W::Four::load(&*own.wrapping_byte_offset(*back));
                if PAIRED {
                    pulled = other.mul_add(W::Four::splat(*tension.sub(LANES)), pulled);
                    let other = W::Four::load(&*own.wrapping_byte_offset(*forth));
                    pulled = other.mul_add(W::Four::splat(*tension), pulled);
                } else {
                    pulled = other.mul_add(W::Four::splat(*tension), pulled);
                }
            }
        }
        pulled.store(sum);
    }
}

#[inline(always)]
fn pull_all<W: Wide>(
    pull: &Predictor,
    particles: Range<usize>,
    now: &PredictInputs<'_>,
    q: &mut [Vec4],
) -> Sums {
    assert!(now.y.len() >= pull.particles() && now.tension.len() >= pull.tensions, "all that edges name");
    assert!(particles.end <= pull.particles() && q.len() == particles.len(), "particles of the model");
    let mut number = pull.runs.partition_point(|run| run.particles.end <= particles.start);
    let mut at = particles.start;
    while at < particles.end {
        let run = &pull.runs[number];
        let end = run.particles.end.min(particles.end);
        let (ways, count) = (&pull.ways[run.ways.clone()], run.ways.len());
        let places = &pull.places[run.places..][count * (at - run.particles.start)..][..count * (end - at)];
        let (own, sums) = (now.y[at..].as_ptr(), &mut q[at - particles.start..end - particles.start]);
        // SAFETY: `Predictor::new` has seen that edges name particles, and counted the tensions; there are as many of both, as asserted above. Places come in
        // pairs where it says so.
        unsafe {
            match (run.paired, <&[[isize; 2]; 4]>::try_from(ways)) {
                // Strips along and across, and both diagonals.
                (true, Ok(ways)) => {
                    let (ways, places) = (*ways, places.as_chunks::<4>().0.iter().map(|places| &places[..]));
                    sum_up::<W, true>(own, &ways, places, now.tension, sums);
                }
                _ if count == 0 => sums.fill(Vec4::ZERO),
                (true, _) => sum_up::<W, true>(own, ways, places.chunks_exact(count), now.tension, sums),
                (false, _) => sum_up::<W, false>(own, ways, places.chunks_exact(count), now.tension, sums),
            }
        }
        (at, number) = (end, number + 1);
    }
    move_all::<W>(particles, now, q)
}

/// Moves particles from their free motion; `q` has what their edges pull.
#[inline(always)]
fn move_all<W: Wide>(particles: Range<usize>, now: &PredictInputs<'_>, q: &mut [Vec4]) -> Sums {
    let (gravity, kept) = (W::Four::load(&Vec4::from(now.gravity)), W::Four::splat(now.warm_start));
    let (zero, one, square) = (W::Four::splat(0.0), W::Four::splat(1.0), W::Four::splat(now.h * now.h));
    let (mut moving, mut added, drift) = (zero, zero, W::Four::load(&Vec4::from(now.drift)));
    let ways = now.x[particles.clone()].iter().zip(&now.y[particles.clone()]);
    let masses = now.inverse_mass[particles.clone()].iter().zip(&now.mass[particles.clone()]);
    let own = ways.zip(masses).zip(&now.share[particles.clone()]).zip(particles);
    for (q, ((((x, y), (w, mass)), share), i)) in q.iter_mut().zip(own) {
        let y = W::Four::load(y);
        if *w == 0.0 {
            y.with_fourth(zero).store(q);
            continue;
        }
        let w = W::Four::splat(*w);
        // Σ t (y' - y) is Σ t y' - y Σ t. Fourth numbers of y are 1: that of the first sum is Σ t.
        let pulled = W::Four::load(q) * kept;
        let tight = pulled.fourth();
        let mut force = y.mul_sub_from(tight, pulled);
        if let Some(held) = now.held.get(i) {
            force = force + W::Four::load(held);
        }
        let squared = square * W::Four::splat(*share);
        let heavier = (squared * w * (tight + tight)).max(one);
        // Most are not, and to divide takes longest.
        let inertia = if heavier.first() > 1.0 { squared.over(heavier) } else { squared };
        let acceleration = force.mul_add(w, gravity);
        acceleration.mul_add(inertia, y).with_fourth(w * inertia).store(q);
        let way = y - W::Four::load(x) - drift;
        let energy = way * way * W::Four::splat(*mass);
        moving = moving + energy;
        added = energy.mul_add(heavier - one, added);
    }
    let sum = |all: W::Four| {
        let mut each = Vec4::ZERO;
        all.store(&mut each);
        each.0[0] + each.0[1] + each.0[2]
    };
    let rate = 1.0 / (now.h * now.h);
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
