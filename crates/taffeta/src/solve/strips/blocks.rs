//! Strips packed into SIMD lanes: several strips in a lane, eight lanes in a block, blocks of a group beside one another.

use super::particles::{LentParticles, MovedParticles};
use super::parts::EdgeStrip;
use crate::math::Vec4;
use crate::math::lanes::{LANES, Lanes, Wide};
use crate::parallel::{self, Cut};
use std::collections::HashMap;
use std::hash::Hash;

/// Compliance of an edge whose ends cannot move, and of one that is not there: tensions stay 0.
pub const NO_TENSION: f64 = 1e200;
pub(super) const NO_EDGE: f64 = 1e210;
/// The least compliance [m³/N, m/N]: one over a pivot is finite even where no end moves.
const LEAST_COMPLIANCE: f64 = 1e-270;

/// Stands for the square of no length [m²].
const LEAST_SQUARE: f64 = 1e-30;

/// An edge as strips see it.
#[derive(Debug, Clone, Copy)]
pub struct StripEdge {
    /// Rest length [m].
    pub rest: f64,
    /// Hard: stretch C per tension, L³ / (E A) [m³/N]. Soft: one over the stiffness [m/N].
    pub compliance: f64,
}

/// A bend along a strip.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Turn {
    /// One over the rest lengths before and after [1/m].
    pub inverse_lengths: [f64; 2],
    /// Moment per turning angle [N·m].
    pub stiffness: f64,
    /// Moment per rate of turning [N·m·s].
    pub damping: f64,
}

/// Stands for the stiffness of a bend that has none [N/m]: its moment is 0.
const NO_STIFFNESS: f64 = 1e-200;

/// Eight lanes of strips of one group, one after the other in every lane.
#[derive(Debug, Clone)]
pub struct StripBlock {
    /// Particles along the lanes, at least one row.
    particles: Vec<[u32; LANES]>,
    /// One more than the largest of them.
    end: usize,
    /// One row of edges from each row of particles to the next.
    links: Kinds<StripEdges>,
    /// One row of bends from each row of particles over the next two; empty if nothing bends.
    bends: Kinds<Stiffnesses>,
    /// The same in a sub-step, kind by kind.
    turns: Vec<Turns>,
    /// What pulls bends away from straight, row by row [N]; empty if nothing does.
    pub(super) pulls: Vec<[Lanes; 3]>,
    /// Where its tensions start in the list of all.
    first: usize,
    /// 1 for edges that are stitches, 0 for others; empty if there is no stitch.
    pub(super) stitches: Vec<Lanes>,
    /// C of edges that pull at nothing [m²]; empty if all are then as long as at rest.
    pub(super) offsets: Vec<Lanes>,
}

/// Rows of which many are alike: a grid has a few kinds, which stay in the nearest cache.
#[derive(Debug, Clone, Default)]
struct Kinds<T> {
    of_row: Vec<u32>,
    kinds: Vec<T>,
}

impl<T: Copy> Kinds<T> {
    /// `bits` tells rows apart.
    fn new<B: Hash + Eq>(rows: &[T], bits: impl Fn(&T) -> B) -> Self {
        let (mut kinds, mut known) = (Vec::new(), HashMap::new());
        let mut kind = |row: &T| {
            *known.entry(bits(row)).or_insert_with(|| {
                kinds.push(*row);
                kinds.len() as u32 - 1
            })
        };
        let of_row = rows.iter().map(&mut kind).collect();
        Self { of_row, kinds }
    }

    /// One row, as a kind of its own.
    fn own(&mut self, row: usize) -> &mut T {
        let kind = self.of_row[row];
        if self.of_row.iter().filter(|other| **other == kind).count() > 1 {
            self.of_row[row] = self.kinds.len() as u32;
            self.kinds.push(self.kinds[kind as usize]);
        }
        &mut self.kinds[self.of_row[row] as usize]
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StripEdges {
    pub squared_rest: Lanes,
    pub compliance: Lanes,
}

impl StripEdges {
    fn bits(&self) -> [[u64; LANES]; 2] {
        [self.squared_rest, self.compliance].map(|lanes| lanes.0.map(f64::to_bits))
    }
}

/// Bends in a sub-step, each as the ways over its edges: the second less `ratio` times the first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    /// The length of the second edge over that of the first [1].
    pub ratio: Lanes,
    /// One over stiffness and damping in a sub-step [m/N].
    pub softness: Lanes,
    /// The share of damping in it [1].
    pub damped: Lanes,
}

/// What [`Turns`] of a sub-step come from.
#[derive(Debug, Clone, Copy, Default)]
struct Stiffnesses {
    /// As in [`Turns`].
    ratio: Lanes,
    /// Force per way [N/m].
    stiffness: Lanes,
    /// Force per rate of it [N·s/m].
    damping: Lanes,
}

impl Stiffnesses {
    fn bits(&self) -> [[u64; LANES]; 3] {
        [self.ratio, self.stiffness, self.damping].map(|lanes| lanes.0.map(f64::to_bits))
    }
}

/// Blocks of all groups, hard or soft, and where the tension of every edge stands.
#[derive(Debug, Clone, Default)]
pub struct Strips {
    /// The blocks of each group, and where their tensions stand in those of the group; blocks of one group share no particle.
    pub(super) groups: Vec<Vec<StripBlock>>,
    cuts: Vec<Cut>,
    /// Where the tensions of each group start.
    starts: Vec<usize>,
    /// Place of every edge in the list of tensions, counted in numbers.
    pub slots: Vec<u32>,
    /// Rows in all.
    pub rows: usize,
    /// Rows of the longest block.
    pub longest: usize,
    /// Particles that stand for none, two for each block.
    pub idle: usize,
    /// The sub-step that bends are ready for [s]; 0 for none.
    pace: f64,
    /// Where stitches stand.
    stitches: Vec<EdgePlace>,
    /// Where all edges stand, if their lengths change.
    pub(super) places: Vec<EdgePlace>,
}

/// Where an edge stands: its block among those of its group, its row and its lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgePlace {
    pub group: usize,
    pub block: usize,
    pub row: usize,
    pub lane: usize,
}

impl Strips {
    /// Packs groups of strips over `edges` edges. `idle` is the first particle that stands for none, `first_row` where tensions start. `turn` gives the
    /// bend over three particles that follow one another.
    ///
    /// # Panics
    /// If strips of one group share a particle, or name one that is not below `idle`.
    pub fn new(
        groups: &[Vec<EdgeStrip>],
        edges: usize,
        (idle, first_row): (usize, usize),
        link: impl Fn(u32) -> StripEdge,
        turn: impl Fn([u32; 3]) -> Option<Turn>,
    ) -> Self {
        check(groups, idle);
        let mut packed = Strips { slots: vec![0; edges], ..Strips::default() };
        for group in groups {
            packed.starts.push(packed.rows);
            let mut blocks = Vec::new();
            for lanes in lanes_of(group) {
                // Two for each block: numbers that came round to 0 would be those of others.
                let idle = u32::try_from(idle + packed.idle + 1).expect("particles have 32-bit numbers") - 1;
                let first = first_row + packed.rows;
                let block = StripBlock::new(&lanes, idle, first, &link, &turn, &mut packed.slots);
                packed.idle += 2;
                packed.rows += block.rows();
                packed.longest = packed.longest.max(block.rows());
                blocks.push(block);
            }
            packed.cuts.push(Cut::new(blocks.iter().map(StripBlock::rows)));
            packed.groups.push(blocks);
        }
        packed
    }
}

/// Refuses strips of one group that share a particle, and particles that are not there.
fn check(groups: &[Vec<EdgeStrip>], particles: usize) {
    let mut taken_by = vec![usize::MAX; particles];
    for (number, group) in groups.iter().enumerate() {
        for &particle in group.iter().flat_map(|strip| &strip.particles) {
            assert!((particle as usize) < particles, "particle {particle} of a strip is not there");
            let before = std::mem::replace(&mut taken_by[particle as usize], number);
            assert!(before != number, "particle {particle} comes twice in one group of strips");
        }
    }
}

impl Strips {
    /// The blocks of every group.
    pub fn groups(&self) -> impl Iterator<Item = &[StripBlock]> {
        self.groups.iter().map(Vec::as_slice)
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Calls `work` for the particles of every block with its tensions, or what else a row has, and scratch, one group after the other.
    ///
    /// # Panics
    /// As [`Strips::sweep_group`] does.
    pub fn sweep<T: Send, S: Send>(
        &self,
        particles: &mut [Vec4],
        tension: &mut [T],
        scratch: &mut [S],
        work: impl Fn(MovedParticles<'_>, &mut [T], &mut S) + Sync,
    ) {
        (0..self.group_count()).for_each(|group| self.sweep_group(group, particles, tension, scratch, &work));
    }

    /// The same for one group, its blocks as a team if there is scratch for every member. Which thread computes a block changes no bit: blocks of a group share
    /// nothing that is written.
    ///
    /// # Panics
    /// If a particle is not there, or if there are fewer tensions than rows.
    pub fn sweep_group<T: Send, S: Send>(
        &self,
        group: usize,
        particles: &mut [Vec4],
        tension: &mut [T],
        scratch: &mut [S],
        work: impl Fn(MovedParticles<'_>, &mut [T], &mut S) + Sync,
    ) {
        let (blocks, first) = (&self.groups[group], self.starts[group]);
        let tension = &mut tension[first..][..blocks.iter().map(StripBlock::rows).sum()];
        let particles = LentParticles::new(particles);
        parallel::each_part_with(&self.cuts[group], tension, scratch, |k, own, scratch| {
            // SAFETY: blocks of one group share no particle: `new` has checked the strips, and each block has idle particles of its own. Groups follow one
            // another.
            work(unsafe { particles.of(&blocks[k]) }, own, scratch);
        });
    }

    /// Makes stitches of the edges from a number on: their lengths are no strain, and change ([`Strips::set_stitch`]).
    pub fn make_stitches(&mut self, from: usize) {
        self.stitches = self.slots[from..].iter().map(|slot| self.place(*slot as usize)).collect();
        for EdgePlace { group, block, row, lane } in &self.stitches {
            let block = &mut self.groups[*group][*block];
            block.stitches.resize(block.rows(), Lanes::ZERO);
            block.stitches[*row].0[*lane] = 1.0;
        }
    }

    pub(super) fn place(&self, slot: usize) -> EdgePlace {
        let (row, lane) = (slot / LANES, slot % LANES);
        let holds = |block: &StripBlock| (block.first..block.first + block.rows()).contains(&row);
        let found = self.groups.iter().enumerate().find_map(|(group, blocks)| {
            let block = blocks.iter().position(holds)?;
            Some(EdgePlace { group, block, row: row - blocks[block].first, lane })
        });
        found.expect("every edge has a block")
    }

    /// Sets the length and the compliance of a stitch.
    pub fn set_stitch(&mut self, stitch: usize, StripEdge { rest, compliance }: StripEdge) {
        let EdgePlace { group, block, row, lane } = self.stitches[stitch];
        let links = self.groups[group][block].links.own(row);
        links.squared_rest.0[lane] = (rest * rest).max(LEAST_SQUARE);
        links.compliance.0[lane] = compliance.max(LEAST_COMPLIANCE);
    }

    /// Lets the lengths of all edges change ([`Strips::set_rest`]): no two rows share a kind.
    pub fn make_lengths_change(&mut self) {
        self.places = self.slots.iter().map(|slot| self.place(*slot as usize)).collect();
        for Kinds { of_row, kinds } in self.groups.iter_mut().flatten().map(|block| &mut block.links) {
            *kinds = of_row.iter().map(|kind| kinds[*kind as usize]).collect();
            *of_row = (0..kinds.len() as u32).collect();
        }
    }

    /// Sets the rest length of an edge [m].
    pub fn set_rest(&mut self, edge: usize, rest: f64) {
        let EdgePlace { group, block, row, lane } = self.places[edge];
        self.groups[group][block].links.kinds[row].squared_rest.0[lane] = rest * rest;
    }

    /// Sets the compliance of an edge [m³/N].
    pub fn set_compliance(&mut self, edge: usize, compliance: f64) {
        let EdgePlace { group, block, row, lane } = self.place(self.slots[edge] as usize);
        self.groups[group][block].links.own(row).compliance.0[lane] = compliance;
    }

    /// Makes bends ready for sub-steps of `h` [s].
    pub fn pace_bends(&mut self, h: f64) {
        if self.pace == h {
            return;
        }
        self.pace = h;
        for block in self.groups.iter_mut().flatten() {
            for (turns, Stiffnesses { stiffness, damping, .. }) in block.turns.iter_mut().zip(&block.bends.kinds) {
                for l in 0..LANES {
                    let damping = damping.0[l] / h;
                    let softness = 1.0 / (stiffness.0[l] + damping).max(NO_STIFFNESS);
                    (turns.softness.0[l], turns.damped.0[l]) = (softness, damping * softness);
                }
            }
        }
    }
}

/// Strips dealt out to lanes of even length, eight lanes to a block. The order depends on the strips alone.
fn lanes_of(group: &[EdgeStrip]) -> Vec<Vec<Vec<&EdgeStrip>>> {
    let longest = group.iter().map(|s| s.particles.len()).max().unwrap_or(0);
    // A lane is filled up to the longest strip: longest first, each into the first lane with room.
    let mut lanes: Vec<(usize, Vec<&EdgeStrip>)> = Vec::new();
    let mut first_open = 0;
    for strip in group {
        let length = strip.particles.len();
        while lanes.get(first_open).is_some_and(|(used, _)| used + 2 > longest) {
            first_open += 1;
        }
        match lanes[first_open..].iter_mut().find(|(used, _)| used + length <= longest) {
            Some((used, lane)) => {
                *used += length;
                lane.push(strip);
            }
            None => lanes.push((length, vec![strip])),
        }
    }
    let lanes: Vec<Vec<&EdgeStrip>> = lanes.into_iter().map(|(_, lane)| lane).collect();
    lanes.chunks(LANES).map(<[_]>::to_vec).collect()
}

/// Rows of a block while it is made.
struct BlockRows {
    particles: Vec<[u32; LANES]>,
    links: Vec<StripEdges>,
    bends: Vec<Stiffnesses>,
}

impl BlockRows {
    /// Room for the longest lane, without edges.
    fn idle(lanes: &[Vec<&EdgeStrip>], idle: u32) -> Self {
        let length = |lane: &Vec<&EdgeStrip>| lane.iter().map(|s| s.particles.len()).sum();
        let rows: usize = lanes.iter().map(length).max().unwrap_or(0).max(1);
        let none = StripEdges { squared_rest: Lanes::splat(1.0), compliance: Lanes::splat(NO_EDGE) };
        Self {
            particles: (0..rows).map(|i| [idle + i as u32 % 2; LANES]).collect(),
            links: vec![none; rows - 1],
            bends: vec![Stiffnesses::default(); rows.saturating_sub(2)],
        }
    }

    /// Puts strips into lane `l`, one after the other. Tensions of the block start at the row `first`.
    fn fill(
        &mut self,
        (l, lane): (usize, &[&EdgeStrip]),
        first: usize,
        link: impl Fn(u32) -> StripEdge,
        turn: impl Fn([u32; 3]) -> Option<Turn>,
        slots: &mut [u32],
    ) {
        let mut row = 0;
        for strip in lane {
            for (i, particle) in strip.particles.iter().enumerate() {
                self.particles[row + i][l] = *particle;
            }
            for (i, edge) in strip.edges.iter().enumerate() {
                let StripEdge { rest, compliance } = link(*edge);
                let links = &mut self.links[row + i];
                links.squared_rest.0[l] = rest * rest;
                links.compliance.0[l] = compliance.max(LEAST_COMPLIANCE);
                slots[*edge as usize] = (LANES * (first + row + i) + l) as u32;
            }
            for (i, points) in strip.particles.windows(3).enumerate() {
                if let Some(turn) = turn([points[0], points[1], points[2]]) {
                    let [before, after] = turn.inverse_lengths;
                    let Stiffnesses { ratio, stiffness, damping } = &mut self.bends[row + i];
                    ratio.0[l] = before / after;
                    stiffness.0[l] = turn.stiffness * after * after;
                    damping.0[l] = turn.damping * after * after;
                }
            }
            row += strip.particles.len();
        }
    }
}

impl StripBlock {
    /// Packs lanes of strips. `idle` and the next are its particles that stand for none, tensions start at the row `first`.
    fn new(
        lanes: &[Vec<&EdgeStrip>],
        idle: u32,
        first: usize,
        link: impl Fn(u32) -> StripEdge,
        turn: impl Fn([u32; 3]) -> Option<Turn>,
        slots: &mut [u32],
    ) -> Self {
        let mut rows = BlockRows::idle(lanes, idle);
        for (l, lane) in lanes.iter().enumerate() {
            rows.fill((l, lane), first, &link, &turn, slots);
        }
        let BlockRows { particles, links, mut bends } = rows;
        let bent = |s: &Stiffnesses| s.stiffness != Lanes::ZERO || s.damping != Lanes::ZERO;
        if !bends.iter().any(bent) {
            bends.clear();
        }
        let bends = Kinds::new(&bends, Stiffnesses::bits);
        Self {
            end: 1 + *particles.as_flattened().iter().max().expect("one row") as usize,
            particles,
            links: Kinds::new(&links, StripEdges::bits),
            turns: bends.kinds.iter().map(|kind| Turns { ratio: kind.ratio, ..Turns::default() }).collect(),
            bends,
            pulls: Vec::new(),
            first,
            stitches: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Its edges, row by row.
    #[inline(always)]
    pub(super) fn links(&self) -> impl ExactSizeIterator<Item = &StripEdges> + DoubleEndedIterator {
        self.links.of_row.iter().map(|kind| &self.links.kinds[*kind as usize])
    }

    /// Its bends in a sub-step, row by row.
    #[inline(always)]
    pub(super) fn turns(&self) -> impl ExactSizeIterator<Item = &Turns> + DoubleEndedIterator {
        self.bends.of_row.iter().map(|kind| &self.turns[*kind as usize])
    }

    /// The bends of one row.
    #[inline(always)]
    pub(super) fn turn(&self, row: usize) -> &Turns {
        &self.turns[self.bends.of_row[row] as usize]
    }

    /// Whether there is a bend in a row and a lane.
    pub(super) fn is_bent(&self, row: usize, lane: usize) -> bool {
        self.bends.kinds[self.bends.of_row[row] as usize].stiffness.0[lane] > 0.0
    }

    /// Its particles, row by row.
    #[inline(always)]
    pub(super) fn particles(&self) -> &[[u32; LANES]] {
        &self.particles
    }

    /// One more than the largest of them.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// How many rows of tensions it has.
    pub fn rows(&self) -> usize {
        self.links.of_row.len()
    }
}
