//! Which pairs of features can meet in a window, also when its end is changed a little after they were found.

use super::window::{CcdWindow, POINTS};
use crate::collide::broad_phase::candidates::{Candidates, Pair};
use crate::math::DVec3;
use crate::parallel;

/// Pairs that one task looks at.
pub const TASK: usize = 512;

/// One in so many points that are elsewhere are few.
const FEW: usize = 16;

/// The pairs at hand, and for which ends they are all there are.
#[derive(Debug)]
pub struct CandidateCache {
    candidates: Candidates,
    /// The ends for which pairs were found, and how far other ends may be from them [m]; not above 0 if no pairs were.
    ends: Vec<DVec3>,
    within: f64,
    /// The ends that were expected when contacts were listed [m].
    expected: Vec<DVec3>,
    /// Per pair: whether it waits for its check.
    waiting: Vec<bool>,
    /// Per point: whether its end is no longer near.
    moved: Vec<bool>,
}

impl CandidateCache {
    /// Nothing yet.
    pub fn new(window: &CcdWindow) -> Self {
        let mut movable: Vec<bool> = window.inverse_mass.iter().map(|w| *w > 0.0).collect();
        window.free.iter().for_each(|body| movable[body.points.clone()].fill(true));
        Self {
            candidates: Candidates::new(&window.surface, &movable),
            ends: vec![DVec3::ZERO; window.surface.points],
            within: 0.0,
            expected: vec![DVec3::ZERO; window.surface.points],
            waiting: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// What was found is of another window.
    pub fn forget(&mut self) {
        self.within = 0.0;
    }

    /// Begins a window: what was found for another is kept if it has all pairs that come within `pad` [m] of the distances they keep.
    /// If not, those are found that come within `room` [m].
    pub fn begin(&mut self, window: &CcdWindow, room: f64, pad: f64) {
        let near = self.within - 0.5 * pad;
        let is_near = |(x, found): (&DVec3, &DVec3)| x.distance_squared(*found) <= near * near;
        let is_covered = |points: &[DVec3]| points.iter().zip(&self.ends).all(is_near);
        if near > 0.0 && is_covered(&window.start) && is_covered(&window.end) {
            self.waiting.fill(true);
        } else {
            self.find(window, room);
        }
        self.expected.copy_from_slice(&window.end);
    }

    /// Finds all pairs that this motion, or one that ends at most half of `pad` [m] away, may bring too near; all of them wait for their check.
    pub fn find(&mut self, window: &CcdWindow, pad: f64) {
        self.candidates.find(&window.surface, &window.start, &window.end, pad);
        self.ends.copy_from_slice(&window.end);
        self.within = 0.5 * pad;
        self.waiting.clear();
        self.waiting.resize(self.candidates.pairs().len(), true);
    }

    /// Finds them anew if a point no longer ends near where it did; if few do, and those of cloth, only what these may meet.
    pub fn ensure_valid(&mut self, window: &CcdWindow, pad: f64) {
        let near = self.within;
        if near <= 0.0 {
            return self.find(window, pad);
        }
        let (ends, found) = (&window.end, &self.ends);
        self.moved.resize(ends.len(), false);
        parallel::each(&mut self.moved, POINTS, |p, moved| {
            *moved = ends[p].distance_squared(found[p]) > near * near;
        });
        let count = self.moved.iter().filter(|moved| **moved).count();
        let is_of_bodies = self.moved[window.cloth_particles..].contains(&true);
        if count > window.surface.points / FEW || is_of_bodies {
            self.find(window, pad);
        } else if count > 0 {
            self.candidates.find_moved(&window.surface, [&window.start, &window.end], &self.moved, &mut self.waiting);
            let ends = self.ends.iter_mut().zip(&window.end).zip(&self.moved);
            ends.filter(|(_, moved)| **moved).for_each(|((found, end), _)| *found = *end);
        }
    }

    /// Tells which points do not end within `near` [m] of where they were expected to.
    pub fn tell_changed(&self, window: &mut CcdWindow, near: f64) {
        let CcdWindow { changed, end, .. } = window;
        parallel::each(changed, POINTS, |p, changed| {
            *changed = end[p].distance_squared(self.expected[p]) > near * near;
        });
    }

    /// The pairs, sorted.
    pub fn pairs(&self) -> &[Pair] {
        self.candidates.pairs()
    }

    /// How many pairs do not wait for their check.
    pub fn shown(&self) -> usize {
        self.waiting.iter().filter(|waits| !**waits).count()
    }

    /// The pairs, and which of them wait for their check.
    pub fn waiting(&mut self) -> (&[Pair], &mut [bool]) {
        (self.candidates.pairs(), &mut self.waiting)
    }
}

/// A task for every so many of `pairs`; room that is there stays.
pub fn room_for<T: Default>(pairs: usize, tasks: &mut Vec<T>) -> &mut [T] {
    let count = pairs.div_ceil(TASK);
    if tasks.len() < count {
        tasks.resize_with(count, T::default);
    }
    &mut tasks[..count]
}
