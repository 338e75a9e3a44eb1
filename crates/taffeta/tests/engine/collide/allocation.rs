//! Detection that goes on as before allocates nothing.

use super::motions::{Motion, swaying};
use taffeta::collide::broad_phase::candidates::Candidates;
use testing::memory::Meter;

#[test]
fn steady_detection_allocates_nothing() {
    let (Motion { surface, movable, .. }, moments) = swaying();
    let meter = Meter::new(2);
    let mut candidates = Candidates::new(&surface, &movable);
    let mut go_round = || {
        for (from, to) in moments.iter().zip(&moments[1..]) {
            candidates.find(&surface, from, to, 0.02);
        }
    };
    meter.allocations(|| (0..3).for_each(|_| go_round()));
    assert_eq!(meter.allocations(go_round), 0);
    assert!(!candidates.pairs().is_empty());
}
