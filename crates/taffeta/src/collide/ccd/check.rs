//! The proof of a window: which pairs are shown apart along all of it, and which are not.

use super::candidate_cache::{CandidateCache, TASK, room_for};
use super::distance::lower_bound;
use super::separating_axis_filter::SeparatingAxisFilter;
use super::tangles::Tangles;
use super::time_of_impact::{TimeOfImpact, time_of_impact};
use super::window::CcdWindow;
use crate::collide::broad_phase::candidates::Pair;
use crate::collide::surface::Kept;
use crate::math::DVec3;
use crate::math::lanes::InstructionSet;
use crate::parallel;

/// Features that start nearer than the floor may lose this share of their distance in a window.
pub const KEEPS: f64 = 0.9;

/// A pair that was not shown apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub pair: u32,
    /// When in the window [1].
    pub time: f64,
}

/// What the last attempt left.
#[derive(Debug)]
pub struct CcdCheck {
    /// In the order of the pairs.
    pub hits: Vec<Hit>,
    set: InstructionSet,
    tasks: Vec<CheckTask>,
}

/// Room for looking at some of the pairs.
#[derive(Debug, Default)]
struct CheckTask {
    filter: SeparatingAxisFilter,
    hits: Vec<Hit>,
}

impl CcdCheck {
    /// No attempt yet.
    pub fn new() -> Self {
        Self { hits: Vec::new(), set: InstructionSet::available()[0], tasks: Vec::new() }
    }

    /// Tries to prove all pairs that wait or had a point moved; those that fail are hits and wait on. Pairs that are tangled block nothing.
    pub fn run(&mut self, window: &mut CcdWindow, found: &mut CandidateCache, tangles: &Tangles) {
        window.widen();
        let window = &*window;
        let (set, wide, changed) = (self.set, window.wide(), &window.changed);
        let (pairs, waiting) = found.waiting();
        let tasks = room_for(pairs.len(), &mut self.tasks);
        parallel::each_chunk_with(waiting, TASK, tasks, |number, waiting, task| {
            let pairs = parallel::chunk(pairs, TASK, number);
            let asked = |k: usize, pair: &Pair| {
                let ask = waiting[k] || pair.points.iter().any(|p| changed[*p as usize]);
                ask.then(|| window.kept(pair).floor)
            };
            let left = task.filter.undecided(set, pairs, wide, asked);
            waiting.fill(false);
            task.hits.clear();
            for &place in left {
                let pair = &pairs[place as usize];
                match meets(window.kept(pair), pair, &window.start, &window.end) {
                    Some(time) if tangles.is_empty() || !tangles.has(&window.surface, pair) => {
                        waiting[place as usize] = true;
                        task.hits.push(Hit { pair: (number * TASK) as u32 + place, time });
                    }
                    _ => {}
                }
            }
        });
        self.hits.clear();
        tasks.iter().for_each(|task| self.hits.extend(&task.hits));
    }
}

/// When a pair may come too near, if it may. What starts in a solid or in touch has nothing to keep.
fn meets(kept: &Kept, pair: &Pair, start: &[DVec3], end: &[DVec3]) -> Option<f64> {
    let from = pair.points.map(|p| start[p as usize]);
    let to = pair.points.map(|p| end[p as usize]);
    let free = |separation: f64| match time_of_impact(pair.kind, &from, &to, separation) {
        TimeOfImpact::Free => None,
        TimeOfImpact::At(time) => Some(time),
    };
    free(kept.floor)?;
    let above = lower_bound(pair.kind, &from) - kept.solid;
    if above > 0.0 { free(kept.floor.min(kept.solid + KEEPS * above)) } else { None }
}
