//! Whether moving features come near each other on the way: directional conservative advancement.
//!
//! A direction along which every point of one feature is further than the separation from every point of the other keeps the features apart.
//! Gaps along a direction are linear in time, so one direction that holds at two times holds in between. The closest points only propose
//! directions: a bad proposal costs a false alarm, never a miss. `docs/contact.md` derives the rounding margin.

use super::distance::{PairKind, closest_from, gaps, margin, relative, unit};
use crate::math::DVec3;

/// What happens to two features on a straight motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimeOfImpact {
    /// They stay further apart than the separation, at all times from 0 to 1.
    Free,
    /// They may come within the separation, not before this time in [0, 1]; up to it they certainly stay apart, unless it is 0.
    At(f64),
}

/// Directions tried before a passage counts as not free.
const MOST_DIRECTIONS: usize = 256;
/// Features that have used up all but this share of their clearance at the start count as meeting, lest the last of it take many directions;
/// but none that are further apart than twice the separation.
const NEAR: f64 = 1.0 / 64.0;

/// Whether two features whose points move straight `from` one place `to` another stay further apart than `separation` [m].
///
/// What meets is never called free. What is free may be called meeting if all but 1/64 of its clearance at the start is used up and it is nearer than
/// twice the separation, or by rounding.
pub fn time_of_impact(kind: PairKind, from: &[DVec3; 4], to: &[DVec3; 4], separation: f64) -> TimeOfImpact {
    // Each end has its own origin: gaps are differences, and what all points have in common is no motion.
    let (start, end) = (relative(from), relative(to));
    let size = [start, end].as_flattened().iter().map(|point| point.abs()).sum();
    let (mut time, mut clearance) = (0.0, None);
    for _ in 0..MOST_DIRECTIONS {
        let now: [DVec3; 3] = std::array::from_fn(|k| (1.0 - time) * start[k] + time * end[k]);
        let direction = unit(closest_from(kind, &now).vector);
        let margin = margin(direction, size, separation);
        let level = separation.max(0.0) + margin;
        let before = gaps(kind, &start, direction);
        let after = gaps(kind, &end, direction);
        let gaps_at = |t: f64| -> [f64; 4] { std::array::from_fn(|k| (1.0 - t) * before[k] + t * after[k]) };
        // A gap that is not a number is above nothing, so it never counts as free.
        let above = |gaps: &[f64; 4]| gaps.iter().all(|gap| *gap > level);
        let present = gaps_at(time);
        if !above(&present) {
            return TimeOfImpact::At(time);
        }
        if above(&after) {
            return TimeOfImpact::Free;
        }
        let next = first_below(&before, &after, level + margin);
        let least = present.into_iter().fold(f64::INFINITY, f64::min) - level;
        let near = (NEAR * *clearance.get_or_insert(least)).min(separation) + 4.0 * margin;
        if least < near || next <= time || !above(&gaps_at(next)) {
            return TimeOfImpact::At(time);
        }
        time = next;
    }
    TimeOfImpact::At(time)
}

/// The first time at which one of the gaps, linear from `before` to `after`, is down to `level`.
fn first_below(before: &[f64; 4], after: &[f64; 4], level: f64) -> f64 {
    let reaches = |(g, h): (&f64, &f64)| if *h > level { 1.0 } else { (g - level) / (g - h) };
    before.iter().zip(after).map(reaches).fold(1.0, f64::min)
}
