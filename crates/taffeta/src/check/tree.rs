//! Which boxes overlap: a tree of boxes that is halved again and again, walked against itself or another.
//!
//! Faces stand in the order of their centres along a curve that fills space (Morton 1966). Boxes are those of the faces that a node has, whatever their order, so
//! huge coordinates and mixed sizes cost time, and nothing else.

use crate::math::DVec3;
use crate::parallel;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckBounds {
    low: DVec3,
    high: DVec3,
}

/// A triangle in its box.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    /// Which triangle of the surface.
    pub index: u32,
    /// Its particles.
    pub corners: [u32; 3],
    /// Its box.
    pub bounds: CheckBounds,
}

/// A group of faces and the box around them.
pub(super) struct CheckNode<'a> {
    bounds: CheckBounds,
    faces: &'a [Face],
    below: Below<'a>,
}

/// What is below a node.
enum Below<'a> {
    Halves(Box<[CheckNode<'a>; 2]>),
    Leaf(Box<Eight>),
}

/// The boxes of a leaf side by side: per axis all least coordinates, then per axis all largest ones, rounded outwards [m].
struct Eight([[f32; LEAF]; 6]);

/// Judges two faces whose boxes overlap.
pub(super) type Test<'a> = dyn Fn(&Face, &Face) -> bool + Sync + 'a;

/// Measures two faces; what is not less than the last number may be told as just that number.
pub(super) type Measure<'a> = dyn Fn(&Face, &Face, f64) -> f64 + 'a;

/// Faces in a leaf, at most: boxes that are compared side by side.
const LEAF: usize = 8;
/// Cells of the curve along each axis.
const CELLS: f64 = 1024.0;
/// Below this many faces a task costs more than it gains.
const TASK: usize = 512;

impl CheckBounds {
    const NOTHING: CheckBounds = CheckBounds { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// The box around a triangle.
    pub fn around([a, b, c]: [DVec3; 3]) -> Self {
        Self { low: a.min(b).min(c), high: a.max(b).max(c) }
    }

    fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// How far apart two boxes are [m].
    fn gap(&self, other: &Self) -> f64 {
        (self.low - other.high).max(other.low - self.high).max(DVec3::ZERO).length()
    }

    fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    /// Least and largest coordinates, rounded outwards [m].
    fn rounded(&self) -> [[f32; 3]; 2] {
        [self.low.to_array().map(not_above), self.high.to_array().map(|x| -not_above(-x))]
    }
}

/// The largest f32 that is not above `x`.
fn not_above(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}

impl Eight {
    /// The boxes of at most eight faces; lanes without a face meet nothing.
    fn of(faces: &[Face]) -> Self {
        let (nothing, never) = ([f32::INFINITY; LEAF], [f32::NEG_INFINITY; LEAF]);
        let mut eight = Self([nothing, nothing, nothing, never, never, never]);
        for (lane, face) in faces.iter().enumerate() {
            let [low, high] = face.bounds.rounded();
            for k in 0..3 {
                (eight.0[k][lane], eight.0[3 + k][lane]) = (low[k], high[k]);
            }
        }
        eight
    }

    /// The box in a lane.
    fn get(&self, lane: usize) -> [[f32; 3]; 2] {
        [[0, 1, 2].map(|k| self.0[k][lane]), [3, 4, 5].map(|k| self.0[k][lane])]
    }

    /// The lanes whose boxes meet another, as bits.
    fn meet(&self, [low, high]: [[f32; 3]; 2]) -> u32 {
        let mut gap = [0.0_f32; LEAF];
        for k in 0..3 {
            for (lane, gap) in gap.iter_mut().enumerate() {
                // Of infinities nothing is known: they meet.
                let (below, above) = (self.0[k][lane] - high[k], low[k] - self.0[3 + k][lane]);
                let wider = if below > above { below } else { above };
                *gap = if wider > *gap { wider } else { *gap };
            }
        }
        (0..LEAF).fold(0, |bits, lane| bits | u32::from(gap[lane] <= 0.0) << lane)
    }
}

impl<'a> CheckNode<'a> {
    /// A tree over `faces`, which are put into its order.
    pub fn new(faces: &'a mut [Face]) -> Self {
        put_in_order(faces);
        Self::over(faces)
    }

    fn over(faces: &'a [Face]) -> Self {
        if faces.len() <= LEAF {
            return Self { bounds: bounds(faces), faces, below: Below::Leaf(Box::new(Eight::of(faces))) };
        }
        let (left, right) = faces.split_at(faces.len() / 2);
        let halves = if faces.len() > TASK {
            parallel::join(|| Self::over(left), || Self::over(right)).into()
        } else {
            [Self::over(left), Self::over(right)]
        };
        Self {
            bounds: halves[0].bounds.join(halves[1].bounds),
            faces,
            below: Below::Halves(Box::new(halves)),
        }
    }

    fn halves(&self) -> Option<&[CheckNode<'a>; 2]> {
        match &self.below {
            Below::Halves(halves) => Some(halves),
            Below::Leaf(_) => None,
        }
    }

    /// Every two faces of this tree whose boxes overlap and that pass `test`, in no particular order.
    pub fn pairs_within(&self, test: &Test) -> Vec<[u32; 2]> {
        match &self.below {
            Below::Halves(halves) => {
                let [left, right] = &**halves;
                let work = self.faces.len();
                let inside = || join(work, || left.pairs_within(test), || right.pairs_within(test));
                join(work, inside, || left.pairs_with(right, test))
            }
            Below::Leaf(eight) => {
                let mut found = Vec::new();
                for (lane, face) in self.faces.iter().enumerate() {
                    // Only lanes after each lane, so that no pair comes twice.
                    let later = !0 << (lane + 1);
                    collect(face, self.faces, eight.meet(eight.get(lane)) & later, test, &mut found);
                }
                found
            }
        }
    }

    /// Every face of this tree and face of `other` whose boxes overlap and that pass `test`, in no particular
    /// order.
    pub fn pairs_with(&self, other: &CheckNode, test: &Test) -> Vec<[u32; 2]> {
        let mut found = Vec::new();
        if !self.bounds.meets(&other.bounds) {
            return found;
        }
        let (mine, theirs) = (self.faces.len(), other.faces.len());
        // The larger side is split, so that both boxes shrink together.
        if let Some([left, right]) = self.halves()
            && (mine >= theirs || other.halves().is_none())
        {
            return join(mine + theirs, || left.pairs_with(other, test), || right.pairs_with(other, test));
        }
        if let Some([left, right]) = other.halves() {
            return join(mine + theirs, || self.pairs_with(left, test), || self.pairs_with(right, test));
        }
        if let (Below::Leaf(own), Below::Leaf(eight)) = (&self.below, &other.below) {
            let mut rows = own.meet(other.bounds.rounded()) & ((1 << mine) - 1);
            while rows != 0 {
                let lane = rows.trailing_zeros() as usize;
                collect(&self.faces[lane], other.faces, eight.meet(own.get(lane)), test, &mut found);
                rows &= rows - 1;
            }
        }
        found
    }

    /// The least `measure` of a face of this tree and a face of `other`, to a share of 1e-12; or `least` where none is less.
    pub fn least_with(&self, other: &CheckNode, measure: &Measure, least: f64) -> f64 {
        // What could be less by rounding alone is not looked for: surfaces that lie on each other are as far apart everywhere.
        if self.bounds.gap(&other.bounds) >= least * (1.0 - 1e-12) {
            return least;
        }
        if let Some([left, right]) = self.halves()
            && self.faces.len() >= other.faces.len()
        {
            let nearer_first = left.bounds.gap(&other.bounds) <= right.bounds.gap(&other.bounds);
            let [near, far] = if nearer_first { [left, right] } else { [right, left] };
            return far.least_with(other, measure, near.least_with(other, measure, least));
        }
        if other.halves().is_some() {
            return other.least_with(self, &|f, g, least| measure(g, f, least), least);
        }
        let pairs = self.faces.iter().flat_map(|face| other.faces.iter().map(move |other| (face, other)));
        pairs.fold(least, |least, (face, other)| {
            let near = face.bounds.gap(&other.bounds) < least;
            if near { least.min(measure(face, other, least)) } else { least }
        })
    }
}

/// Orders `faces` by their centres along the curve, and where these are in one cell by their numbers.
fn put_in_order(faces: &mut [Face]) {
    let CheckBounds { low, high } = bounds(faces);
    // Halved, lest sums of the largest coordinates overflow.
    let centre = |face: &Face| 0.5 * face.bounds.low + 0.5 * face.bounds.high;
    let cell = |x: f64, k: usize| (CELLS * ((x - low[k]) / (high[k] - low[k]))).min(CELLS - 1.0) as u32;
    let place = |face: &Face| {
        let x = centre(face);
        spread(cell(x.x, 0)) << 2 | spread(cell(x.y, 1)) << 1 | spread(cell(x.z, 2))
    };
    let mut order: Vec<u64> =
        faces.iter().zip(0..).map(|(face, k)| u64::from(place(face)) << 32 | k).collect();
    order.sort_unstable();
    let sorted: Vec<Face> = order.iter().map(|key| faces[*key as u32 as usize]).collect();
    faces.copy_from_slice(&sorted);
}

/// Ten bits with two between every two of them.
fn spread(bits: u32) -> u32 {
    [(16, 0x30000ff), (8, 0x300f00f), (4, 0x30c30c3), (2, 0x9249249)]
        .iter()
        .fold(bits, |x, (shift, mask)| (x | x << shift) & mask)
}

fn bounds(faces: &[Face]) -> CheckBounds {
    faces.iter().fold(CheckBounds::NOTHING, |all, face| all.join(face.bounds))
}

/// Adds the faces in some lanes that pass `test` with a face.
fn collect(face: &Face, others: &[Face], mut lanes: u32, test: &Test, found: &mut Vec<[u32; 2]>) {
    // Lanes without a face tell nothing.
    lanes &= (1 << others.len()) - 1;
    while lanes != 0 {
        let other = &others[lanes.trailing_zeros() as usize];
        if test(face, other) {
            found.push([face.index, other.index]);
        }
        lanes &= lanes - 1;
    }
}

/// The results of both, found side by side if `work` is worth it.
fn join(
    work: usize,
    first: impl FnOnce() -> Vec<[u32; 2]> + Send,
    second: impl FnOnce() -> Vec<[u32; 2]> + Send,
) -> Vec<[u32; 2]> {
    let (mut found, more) = if work > TASK { parallel::join(first, second) } else { (first(), second()) };
    found.extend(more);
    found
}
