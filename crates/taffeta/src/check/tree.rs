//! Which boxes overlap: a tree of boxes split at the median, walked against itself or another.
//!
//! Median splits depend on the order of centres alone, so huge coordinates and mixed sizes do no harm.

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
    halves: Option<Box<[CheckNode<'a>; 2]>>,
}

/// Judges two faces whose boxes overlap.
pub(super) type Test<'a> = dyn Fn(&Face, &Face) -> bool + Sync + 'a;

/// Measures two faces; what is not less than the last number may be told as just that number.
pub(super) type Measure<'a> = dyn Fn(&Face, &Face, f64) -> f64 + 'a;

/// Larger leaves test more boxes, smaller ones visit more nodes.
const LEAF: usize = 8;
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
}

impl<'a> CheckNode<'a> {
    /// A tree over `faces`, which are put into its order.
    pub fn new(faces: &'a mut [Face]) -> Self {
        split(faces);
        Self::over(faces)
    }

    fn over(faces: &'a [Face]) -> Self {
        if faces.len() <= LEAF {
            return Self { bounds: bounds(faces), faces, halves: None };
        }
        let (left, right) = faces.split_at(faces.len() / 2);
        let halves = [Self::over(left), Self::over(right)];
        Self { bounds: halves[0].bounds.join(halves[1].bounds), faces, halves: Some(Box::new(halves)) }
    }

    /// Every two faces of this tree whose boxes overlap and that pass `test`, in no particular order.
    pub fn pairs_within(&self, test: &Test) -> Vec<[u32; 2]> {
        let Some([left, right]) = self.halves.as_deref() else {
            let mut found = Vec::new();
            for (k, face) in self.faces.iter().enumerate() {
                collect(face, &self.faces[k + 1..], test, &mut found);
            }
            return found;
        };
        let work = self.faces.len();
        let inside = || join(work, || left.pairs_within(test), || right.pairs_within(test));
        join(work, inside, || left.pairs_with(right, test))
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
        if let Some([left, right]) = self.halves.as_deref()
            && mine >= theirs
        {
            return join(mine + theirs, || left.pairs_with(other, test), || right.pairs_with(other, test));
        }
        if let Some([left, right]) = other.halves.as_deref() {
            return join(mine + theirs, || self.pairs_with(left, test), || self.pairs_with(right, test));
        }
        for face in self.faces.iter().filter(|face| face.bounds.meets(&other.bounds)) {
            collect(face, other.faces, test, &mut found);
        }
        found
    }

    /// The least `measure` of a face of this tree and a face of `other`, to a share of 1e-12; or `least` where none is less.
    pub fn least_with(&self, other: &CheckNode, measure: &Measure, least: f64) -> f64 {
        // What could be less by rounding alone is not looked for: surfaces that lie on each other are as far apart everywhere.
        if self.bounds.gap(&other.bounds) >= least * (1.0 - 1e-12) {
            return least;
        }
        if let Some([left, right]) = self.halves.as_deref()
            && self.faces.len() >= other.faces.len()
        {
            let nearer_first = left.bounds.gap(&other.bounds) <= right.bounds.gap(&other.bounds);
            let [near, far] = if nearer_first { [left, right] } else { [right, left] };
            return far.least_with(other, measure, near.least_with(other, measure, least));
        }
        if other.halves.is_some() {
            return other.least_with(self, &|f, g, least| measure(g, f, least), least);
        }
        let pairs = self.faces.iter().flat_map(|face| other.faces.iter().map(move |other| (face, other)));
        pairs.fold(least, |least, (face, other)| {
            let near = face.bounds.gap(&other.bounds) < least;
            if near { least.min(measure(face, other, least)) } else { least }
        })
    }
}

/// Orders `faces` so that halving them again and again gives compact groups.
fn split(faces: &mut [Face]) {
    if faces.len() <= LEAF {
        return;
    }
    let CheckBounds { low, high } = bounds(faces);
    let axis = (high - low).max_position();
    let middle = faces.len() / 2;
    faces.select_nth_unstable_by(middle, |f, g| {
        let centre = |face: &Face| face.bounds.low[axis] + face.bounds.high[axis];
        centre(f).total_cmp(&centre(g)).then(f.index.cmp(&g.index))
    });
    let large = faces.len() > TASK;
    let (left, right) = faces.split_at_mut(middle);
    if large {
        parallel::join(|| split(left), || split(right));
    } else {
        split(left);
        split(right);
    }
}

fn bounds(faces: &[Face]) -> CheckBounds {
    faces.iter().fold(CheckBounds::NOTHING, |all, face| all.join(face.bounds))
}

fn collect(face: &Face, others: &[Face], test: &Test, found: &mut Vec<[u32; 2]>) {
    let near = others.iter().filter(|other| face.bounds.meets(&other.bounds) && test(face, other));
    found.extend(near.map(|other| [face.index, other.index]));
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
