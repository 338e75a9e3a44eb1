//! The three ways to keep lengths: edge by edge (P2 Alg. 1), strip by strip (P1 §3.3), all at once (P2 §3.4.2).

use super::elements as parts;
use crate::math::Vec4;
use crate::math::lanes::{InstructionSet, LANES, Lanes};
use crate::model::{Direction, Environment, Method, Model};
use crate::parallel;
use crate::solve::sparse::direct::LengthSystem;
use crate::solve::strips::bends::{self, Fold};
use crate::solve::strips::blocks::{StripEdge, Strips};
use crate::solve::strips::extensible::{self, BoundedStretch, StretchRoom};
use crate::solve::strips::tridiagonal::{self, Limits, Start, StripRow};
use crate::solve::strips::twists::Rung;

/// What a pass over strips needs on one thread.
#[derive(Debug, Clone)]
pub struct StripScratch {
    pub rows: Vec<StripRow>,
    pub folds: Vec<Fold>,
    pub rungs: Vec<Rung>,
    sides: Vec<Lanes>,
}

impl StripScratch {
    /// For strips of so many rows, and ladders.
    pub fn new(strip: usize, ladder: usize) -> Self {
        Self {
            rows: vec![StripRow::default(); strip],
            folds: vec![Fold::default(); strip],
            rungs: vec![Rung::default(); ladder],
            sides: vec![Lanes::ZERO; strip],
        }
    }
}

/// Hard edges, and how their lengths are kept.
#[derive(Debug)]
pub struct Lengths {
    set: InstructionSet,
    /// Hard edges in strips; single edges are the shortest strips.
    pub strips: Strips,
    /// StretchRoom for what every block of a group says.
    extents: Vec<[f64; 2]>,
    /// How far they stretch, if they do.
    pub stretch: Option<BoundedStretch>,
    /// All edges in one system, if that is the method.
    direct: Option<Box<LengthSystem>>,
    /// How many structural edges there are: stitches have numbers after theirs.
    pub edges: usize,
    /// Whether the last group of strips goes first: rows of a grid, which are the first one, then end where the next sub-step begins, and fewer particles go over
    /// to other threads.
    last_first: bool,
    /// How many sweeps it takes where one over strips would do.
    pub iterations_per_substep: u32,
}

impl Lengths {
    /// Analyses the hard edges of a model for its method.
    pub fn new(model: &Model, environment: &Environment, strips: Strips, set: InstructionSet) -> Self {
        let direct = (model.method == Method::ImpulseDirect)
            .then(|| Box::new(parts::direct(model, environment, &strips)));
        let iterations_per_substep =
            if model.method == Method::ImpulseIterative { model.params.impulse.sweeps_of_edges } else { 1 };
        let last_first = model.method == Method::ImpulseStrips && model.direction != Direction::Start;
        let (extents, edges) = (Vec::new(), model.edges.len());
        let stretch = parts::stretch(model, environment);
        Self { set, strips, extents, stretch, direct, edges, last_first, iterations_per_substep }
    }

    /// One iteration of position impulses over all hard edges. One system for all is solved by Newton's method, which finds a solution that is near: if
    /// it is `far`, strips come first.
    ///
    /// If `bends` tells where particles were at the start of the sub-step, the last group of strips bends before its lengths are kept, while it is at hand.
    pub fn correct(
        &mut self,
        q: &mut [Vec4],
        (start, bends): (Start<&[Vec4]>, Option<&[Vec4]>),
        tension: &mut [Lanes],
        scratch: &mut [StripScratch],
        limits: Limits,
        far: bool,
    ) {
        if let Some(direct) = self.direct.as_mut().filter(|_| !far) {
            return direct.correct(q, start, numbers_mut(tension), (limits, self.stretch));
        }
        let (set, stretch, last) = (self.set, self.stretch, self.strips.group_count().saturating_sub(1));
        for k in 0..self.strips.group_count() {
            let group = if self.last_first { last - k } else { k };
            let bends = bends.filter(|_| group == last);
            self.strips.sweep_group(group, q, tension, scratch, |mut q, tension, scratch| {
                if let Some(x) = bends {
                    bends::bend(set, x, &mut q, &mut scratch.folds);
                }
                if let Some(stretch) = stretch {
                    let room = StretchRoom { rows: &mut scratch.rows, sides: &mut scratch.sides };
                    extensible::stretch(set, q, start, tension, room, (limits, stretch));
                } else {
                    tridiagonal::hard(set, q, start, tension, &mut scratch.rows, limits);
                }
            });
        }
    }

    /// Places of the tensions of structural edges.
    pub fn edge_slots(&self) -> &[u32] {
        &self.strips.slots[..self.edges]
    }

    /// Lets edges that stretch pull at nothing at other lengths than at rest.
    pub fn make_offsets(&mut self) {
        self.strips.make_offsets();
        if let Some(direct) = &mut self.direct {
            direct.make_offsets(&self.strips.slots[..self.edges]);
        }
    }

    /// Lets edge `edge` of a rest length [m] pull at nothing when it is longer by `aside` [m].
    pub fn set_aside(&mut self, edge: usize, rest: f64, aside: f64) {
        // What is beyond the bound is of no elastic force.
        let bound = self.stretch.map_or(0.0, |stretch| rest * rest * stretch.bound);
        let offset = (rest * aside).clamp(-bound, bound);
        self.strips.set_offset(edge, offset);
        if let Some(direct) = &mut self.direct {
            direct.set_offset(edge, offset);
        }
    }

    /// Lets edges that push start the next sub-step from 0: what is pressed gives way sideways.
    pub fn forget_pushes(&self, tension: &mut [Lanes]) {
        for lanes in &mut tension[..self.strips.rows] {
            lanes.0.iter_mut().for_each(|tension| *tension = tension.max(0.0));
        }
    }

    /// Sets the length and the compliance of a stitch.
    pub fn set_stitch(&mut self, stitch: usize, link: StripEdge) {
        self.strips.set_stitch(stitch, link);
        if let Some(direct) = &mut self.direct {
            direct.set_stitch(stitch, link);
        }
    }

    /// One iteration of velocity impulses: edges at `q` keep their lengths on the way to `y`.
    pub fn project_velocities(
        &mut self,
        q: &[Vec4],
        y: &mut [Vec4],
        tension: &mut [Lanes],
        scratch: &mut [StripScratch],
    ) {
        if let Some(direct) = &mut self.direct {
            return direct.level(q, y);
        }
        let set = self.set;
        self.strips.sweep(y, tension, scratch, |y, _, scratch| {
            tridiagonal::project_velocities(set, q, y, &mut scratch.rows);
        });
    }

    /// The largest strain of a hard edge at positions that end with those of no particle.
    pub fn strain(&mut self, positions: &[Vec4]) -> f64 {
        let (mut most, mut least, mut lost) = (1.0_f64, 1.0_f64, 0.0);
        let set = self.set;
        for group in self.strips.groups() {
            self.extents.resize(group.len(), [1.0; 2]);
            parallel::each(&mut self.extents, 1, |k, extent| {
                *extent = tridiagonal::extent(set, &group[k], positions);
            });
            for [up, down] in &self.extents {
                (most, least, lost) = (most.max(*up), least.min(*down), lost + 0.0 * up);
            }
        }
        (most.sqrt() - 1.0).max(1.0 - least.sqrt()) + lost
    }

    /// Edges whose lengths follow from those of the others at `q`; only the method that solves for all at once can tell.
    pub fn redundant(&mut self, q: &[Vec4]) -> Option<u32> {
        self.direct.as_mut().map(|direct| direct.redundant(q) as u32)
    }
}

/// Tensions as one list of numbers.
pub fn numbers(lanes: &[Lanes]) -> &[f64] {
    // SAFETY: `Lanes` is `repr(C)` around eight numbers, which fill it: 64 bytes at a multiple of 64.
    unsafe { std::slice::from_raw_parts(lanes.as_ptr().cast(), LANES * lanes.len()) }
}

fn numbers_mut(lanes: &mut [Lanes]) -> &mut [f64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(lanes.as_mut_ptr().cast(), LANES * lanes.len()) }
}
