//! Contacts of features in blocks of eight that are answered at once: no two of a block, and no two blocks of a group, have the same particle.
//!
//! Groups are colours of the graph in which contacts that share a particle are neighbours, level by level, each contact taking the first colour that is free. So they
//! follow from the list alone, and threads only decide who answers a block.

use super::projection::{Done, FeatureContact, Side};
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};
use crate::math::{DVec3, Vec4};
use crate::model::params::CollisionParams;
use crate::parallel;
use std::marker::PhantomData;
use std::ops::Range;

/// Colours of a level; a contact that finds none free is a group of its own.
const COLOURS: u32 = u64::BITS;
/// Blocks that a thread answers at a time, at least.
const LEAST: usize = 16;

/// Contacts, and what was done for them in this sub-step.
#[derive(Debug, Default)]
pub struct ContactBlocks {
    blocks: Vec<Block>,
    answers: Vec<Answer>,
    /// Blocks of every group, one after the other.
    groups: Vec<Range<usize>>,
    /// Σ weights x over points of bodies at the start and at the end of the sub-step, of the blocks that have any [m].
    led: Vec<[[Lanes; 3]; 2]>,
    /// Scratch: colours that contacts of a particle have taken, and contacts by level and colour.
    taken: Vec<u64>,
    order: Vec<(u32, u32)>,
}

/// Eight contacts; lanes without one never push.
#[derive(Debug, Clone)]
struct Block {
    /// Which contacts of the list they are; there may be fewer than eight.
    numbers: [u32; LANES],
    count: usize,
    /// Particles; a place that has no weight, or is one of a body, names another particle of its contact.
    points: [[u32; LANES]; 4],
    weights: [Lanes; 4],
    drags: [Lanes; 4],
    normal: [Lanes; 3],
    distance: Lanes,
    friction: Lanes,
    /// Infinite for what CCD has found: its distance is kept however near it was at the start [1].
    slowness: Lanes,
    /// How many times as far the upper side parts alone as both do, and the sign of its weights; 0 if nothing stands [1].
    alone: Lanes,
    upper: Lanes,
    /// Where the list of what is led has this block, if any of it is.
    led: Option<usize>,
    /// As [`Done`] has it.
    push: Lanes,
    stopped: Lanes,
    grip: [Lanes; 3],
    load: Lanes,
}

/// What came of a block.
#[derive(Debug, Clone, Copy)]
struct Answer {
    /// How far the last sweep moved features at most [m].
    furthest: f64,
    /// Which lanes have been moved since it began, and for which that was told.
    moved: [bool; LANES],
    told: [bool; LANES],
    /// Whether nothing was done since it began.
    is_new: bool,
}

impl Answer {
    const NONE: Self = Self { furthest: 0.0, moved: [false; LANES], told: [false; LANES], is_new: true };
}

/// Particles in a sub-step.
#[derive(Debug, Clone, Copy)]
pub struct BlockMotion<'a> {
    /// At its start [m].
    pub before: &'a [Vec4],
    /// Its duration [s].
    pub h: f64,
    /// Whether what friction holds is held no further.
    pub slips: bool,
    /// How far led bodies move in it, on average [m]: what stands goes along with them.
    pub carried: DVec3,
    /// The tuned numbers.
    pub params: CollisionParams,
}

impl ContactBlocks {
    /// Takes a list of contacts between `particles` particles and points of bodies, sorted by their levels.
    ///
    /// # Panics
    /// If there is no level for every contact.
    pub fn take(&mut self, contacts: &[FeatureContact], levels: &[u16], particles: usize) {
        assert_eq!(contacts.len(), levels.len(), "a level for every contact");
        self.colour(contacts, levels, particles);
        self.blocks.clear();
        self.groups.clear();
        self.led.clear();
        let Self { blocks, groups, led, order, .. } = self;
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let first = blocks.len();
            for eight in group.chunks(LANES) {
                let mut block = Block::nothing();
                for (lane, (_, number)) in eight.iter().enumerate() {
                    block.put(lane, *number, &contacts[*number as usize], particles);
                }
                block.fill(eight.len());
                let has_body = |(_, number): &(u32, u32)| {
                    contacts[*number as usize].points.iter().any(|p| *p as usize >= particles)
                };
                if eight.iter().any(has_body) {
                    block.led = Some(led.len());
                    led.push([[Lanes::ZERO; 3]; 2]);
                }
                blocks.push(block);
            }
            groups.push(first..blocks.len());
        }
    }

    /// Puts contacts in order by level and colour.
    fn colour(&mut self, contacts: &[FeatureContact], levels: &[u16], particles: usize) {
        let Self { taken, order, .. } = self;
        taken.clear();
        taken.resize(particles, 0);
        order.clear();
        let mut first = 0;
        for level in levels.chunk_by(|a, b| a == b) {
            let (start, mut alone) = (order.len(), COLOURS);
            let own = first as u32..(first + level.len()) as u32;
            for number in own {
                let own = || own_points(&contacts[number as usize], particles);
                let colour = own().fold(0, |all, p| all | taken[p]).trailing_ones();
                if own().next().is_none() {
                    continue;
                }
                if colour < COLOURS {
                    own().for_each(|p| taken[p] |= 1 << colour);
                    order.push((colour, number));
                } else {
                    order.push((alone, number));
                    alone += 1;
                }
            }
            order[start..].sort_unstable();
            // Colours of one level are not those of another.
            let before = start.checked_sub(1).map_or(0, |last| order[last].0 + 1);
            order[start..].iter_mut().for_each(|(colour, _)| *colour += before);
            let all = contacts[first..first + level.len()].iter();
            all.flat_map(|contact| own_points(contact, particles)).for_each(|p| taken[p] = 0);
            first += level.len();
        }
    }

    /// The contacts in the order in which a sweep answers them.
    pub fn order(&self) -> impl Iterator<Item = usize> + '_ {
        self.order.iter().map(|(_, number)| *number as usize)
    }

    /// Starts from what was `done`, if anything was, with points of bodies at the start and at the end of the sub-step [m], which are numbered on from the
    /// particles.
    pub fn begin(
        &mut self,
        contacts: &[FeatureContact],
        done: Option<&[Done]>,
        bodies: [&[DVec3]; 2],
        particles: usize,
    ) {
        self.answers.clear();
        self.answers.resize(self.blocks.len(), Answer::NONE);
        for block in &mut self.blocks {
            (block.push, block.stopped, block.load, block.grip) =
                (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, [Lanes::ZERO; 3]);
            for (lane, done) in done.into_iter().flat_map(|done| (0..block.count).map(move |lane| (lane, done))) {
                let Done { push, stopped, grip, load } = done[block.numbers[lane] as usize];
                (block.push.0[lane], block.stopped.0[lane], block.load.0[lane]) = (push, stopped, load);
                (0..3).for_each(|axis| block.grip[axis].0[lane] = grip[axis]);
            }
            if let Some(k) = block.led {
                for (led, bodies) in self.led[k].iter_mut().zip(bodies) {
                    for lane in 0..block.count {
                        let of = contacts[block.numbers[lane] as usize].of_bodies(bodies, particles);
                        (0..3).for_each(|axis| led[axis].0[lane] = of[axis]);
                    }
                }
            }
        }
    }

    /// Tells what was done since it began.
    pub fn end(&self, done: &mut [Done]) {
        for (block, _) in self.blocks.iter().zip(&self.answers).filter(|(_, answer)| !answer.is_new) {
            for lane in 0..block.count {
                let grip = DVec3::from_array([0, 1, 2].map(|axis| block.grip[axis].0[lane]));
                let done = &mut done[block.numbers[lane] as usize];
                *done = Done { push: block.push.0[lane], stopped: block.stopped.0[lane], grip, ..*done };
            }
        }
    }

    /// One sweep over all contacts, group by group: `after` are the particles at the end of the sub-step, and `touched` is told who was moved, once since it
    /// began. Returns how far they moved features at most [m].
    ///
    /// # Panics
    /// If a contact has a particle that is not there.
    pub fn project(
        &mut self,
        set: InstructionSet,
        motion: BlockMotion,
        after: &mut [Vec4],
        mut touched: impl FnMut(usize),
    ) -> f64 {
        let (lent, led) = (Lent::new(after), &self.led);
        for group in &self.groups {
            let (blocks, answers) = (&mut self.blocks[group.clone()], &mut self.answers[group.clone()]);
            parallel::each_two(blocks, answers, LEAST, |_, block, to| {
                let led = block.led.map(|k| &led[k]);
                answer(set, block, led, motion, &lent, to);
            });
        }
        let mut furthest = 0.0_f64;
        for (block, answer) in self.blocks.iter().zip(&mut self.answers) {
            furthest = furthest.max(answer.furthest);
            if answer.told == answer.moved {
                continue;
            }
            let told = std::mem::replace(&mut answer.told, answer.moved);
            for lane in (0..block.count).filter(|lane| answer.moved[*lane] && !told[*lane]) {
                let points = (0..4).filter(|k| block.drags[*k].0[lane] != 0.0);
                points.for_each(|k| touched(block.points[k][lane] as usize));
            }
        }
        furthest
    }
}

/// The particles that a contact reads or moves.
fn own_points(contact: &FeatureContact, particles: usize) -> impl Iterator<Item = usize> {
    let all = contact.points.into_iter().zip(contact.weights.into_iter().zip(contact.drags));
    all.filter(|(_, (weight, drag))| *weight != 0.0 || *drag != 0.0)
        .map(|(p, _)| p as usize)
        .filter(move |p| *p < particles)
}

impl Block {
    fn nothing() -> Self {
        let zero = Lanes::ZERO;
        Self {
            numbers: [0; LANES],
            count: 0,
            points: [[0; LANES]; 4],
            weights: [zero; 4],
            drags: [zero; 4],
            normal: [zero; 3],
            distance: Lanes([f64::NEG_INFINITY; LANES]),
            friction: zero,
            slowness: zero,
            alone: zero,
            upper: zero,
            led: None,
            push: zero,
            stopped: zero,
            grip: [zero; 3],
            load: zero,
        }
    }

    fn put(&mut self, lane: usize, number: u32, contact: &FeatureContact, particles: usize) {
        self.numbers[lane] = number;
        let any = own_points(contact, particles).next().unwrap_or(0) as u32;
        for (k, &point) in contact.points.iter().enumerate() {
            let is_read = (point as usize) < particles && contact.weights[k] != 0.0;
            let (point, weight) = if is_read { (point, contact.weights[k]) } else { (any, 0.0) };
            (self.points[k][lane], self.weights[k].0[lane]) = (point, weight);
            self.drags[k].0[lane] = contact.drags[k];
        }
        (0..3).for_each(|axis| self.normal[axis].0[lane] = contact.normal[axis]);
        self.distance.0[lane] = contact.distance;
        self.friction.0[lane] = contact.friction;
        self.slowness.0[lane] = if contact.learned { f64::INFINITY } else { contact.slowness };
        self.alone.0[lane] = contact.alone();
        self.upper.0[lane] = contact.upper.map_or(0.0, Side::sign);
    }

    /// Lets the other lanes read what the first one reads.
    fn fill(&mut self, count: usize) {
        self.count = count;
        for points in &mut self.points {
            let first = points[0];
            points[count..].fill(first);
        }
    }
}

/// Particles that several threads move, each its own.
struct Lent<'a> {
    particles: *mut Vec4,
    length: usize,
    lent: PhantomData<&'a mut [Vec4]>,
}

// SAFETY: no two blocks of a group have the same particle.
unsafe impl Sync for Lent<'_> {}

impl<'a> Lent<'a> {
    fn new(particles: &'a mut [Vec4]) -> Self {
        Self { particles: particles.as_mut_ptr(), length: particles.len(), lent: PhantomData }
    }
}

by_instruction_set! {
    fn answer = answer_eight(block: &mut Block, led: Option<&[[Lanes; 3]; 2]>, motion: BlockMotion<'_>, after: &Lent<'_>, answer: &mut Answer)
}

// Closures and iterators over lanes would not be compiled for the instruction set, so everything below is a function that is inlined.

/// As [`super::projection::project`] does it, contact by contact.
#[inline(always)]
fn answer_eight<W: Wide>(
    block: &mut Block,
    led: Option<&[[Lanes; 3]; 2]>,
    motion: BlockMotion,
    after: &Lent,
    answer: &mut Answer,
) {
    let BlockMotion { before, h, slips, carried, params } = motion;
    assert!(block.points.as_flattened().iter().all(|p| (*p as usize) < after.length.min(before.len())));
    let zero = W::splat(0.0);
    answer.furthest = 0.0;
    let normal = Wide3::<W>::load(&block.normal);
    // SAFETY: the places were checked above; no thread moves these particles meanwhile.
    let ends = unsafe { gather::<W>(after.particles, &block.points) };
    let to = between(&block.weights, ends, led, 1);
    let (gap, distance, push) = (normal.dot(to), W::load(&block.distance), W::load(&block.push));
    let active = (W::splat(params.hovers) * distance - gap).max(push);
    let mut is_active = Lanes::ZERO;
    active.store(&mut is_active);
    if !is_active.0.iter().any(|active| *active > 0.0) {
        return;
    }
    answer.is_new = false;
    // SAFETY: the places were checked above.
    let starts = unsafe { gather::<W>(before.as_ptr(), &block.points) };
    let from = between(&block.weights, starts, led, 0);
    let parted = normal.dot(from) + W::load(&block.slowness) * W::splat(params.parting_speed) * W::splat(h);
    let missing = parted.min(distance) - gap;
    let upper = W::load(&block.upper);
    let (mut advance, carried) = (zero, normal.dot(Wide3(carried.to_array().map(W::splat))));
    for k in 0..4 {
        let weight = W::load(&block.weights[k]);
        let way = weight * ((ends[k] - starts[k]).dot(normal) - carried);
        advance = advance + way.where_less(zero, weight * upper, zero);
    }
    let advance = (zero - advance).max(zero);
    let (stopped, load) = (W::load(&block.stopped), W::load(&block.load));
    // As `Correction::of` has it.
    let stops = missing.min(advance);
    let back = missing.max(stopped - push);
    let by_both = (missing - stops).where_less(zero, missing, back);
    let stop = stops.where_less(zero, missing, (missing - back).max(zero - stopped));
    let new_stopped = (stopped + stop).max(zero);
    let new_push = (push + by_both + stop).max(new_stopped);
    let (slip, grip) = (to - from, Wide3::<W>::load(&block.grip));
    let wanted = grip - (slip - normal.scaled(normal.dot(slip)));
    let alone = W::load(&block.alone);
    let length = wanted.dot(wanted).sqrt();
    let limit = W::load(&block.friction) * (new_push + alone * new_stopped + load);
    let share = (limit * length.inverse()).where_less(limit, length, W::splat(1.0));
    let new_grip = if slips { grip } else { wanted.scaled(share) };
    let held = new_grip - grip;
    let mut furthest = Lanes::ZERO;
    let both = stop + by_both;
    both.max(zero - both).max(held.dot(held).sqrt()).store(&mut furthest);
    keep(new_stopped, active, &mut block.stopped);
    keep(new_push, active, &mut block.push);
    for axis in 0..3 {
        keep(new_grip.0[axis], active, &mut block.grip[axis]);
    }
    let mut ways = [[Lanes::ZERO; 3]; 4];
    for (k, way) in ways.iter_mut().enumerate() {
        let (weight, drag) = (W::load(&block.weights[k]), W::load(&block.drags[k]));
        let moves = (drag * (alone + W::splat(1.0))).where_less(zero, weight * upper, zero);
        let along = moves * stop + drag * by_both;
        (normal.scaled(along) + held.scaled(drag)).store(way);
    }
    for lane in 0..LANES {
        if is_active.0[lane] > 0.0 {
            answer.moved[lane] = true;
            answer.furthest = answer.furthest.max(furthest.0[lane]);
            for (k, way) in ways.iter().enumerate() {
                if block.drags[k].0[lane] != 0.0 {
                    let [x, y, z] = [way[0].0[lane], way[1].0[lane], way[2].0[lane]];
                    // SAFETY: the place was checked above; no thread reads or moves this particle meanwhile.
                    unsafe { *after.particles.add(block.points[k][lane] as usize) += Vec4([x, y, z, 0.0]) };
                }
            }
        }
    }
}

/// Eight times four points.
///
/// # Safety
/// `from` must have a vector at every place in `points`.
#[inline(always)]
unsafe fn gather<W: Wide>(from: *const Vec4, points: &[[u32; LANES]; 4]) -> [Wide3<W>; 4] {
    let mut all = [Wide3::<W>::zero(); 4];
    for k in 0..4 {
        // SAFETY: as the caller promises.
        let [x, y, z, _] = unsafe { W::gather(from, &points[k]) };
        all[k] = Wide3([x, y, z]);
    }
    all
}

/// Σ weights x, with what is led at one end.
#[inline(always)]
fn between<W: Wide>(
    weights: &[Lanes; 4],
    points: [Wide3<W>; 4],
    led: Option<&[[Lanes; 3]; 2]>,
    end: usize,
) -> Wide3<W> {
    let mut sum = Wide3::zero();
    for k in 0..4 {
        sum = sum + points[k].scaled(W::load(&weights[k]));
    }
    match led {
        Some(led) => sum + Wide3::load(&led[end]),
        None => sum,
    }
}

/// Keeps a number where `active` is above 0.
#[inline(always)]
fn keep<W: Wide>(new: W, active: W, to: &mut Lanes) {
    new.where_less(W::splat(0.0), active, W::load(to)).store(to);
}
