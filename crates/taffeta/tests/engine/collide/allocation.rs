//! Detection that goes on as before allocates nothing.

use super::motions::{Motion, Parts, sheet};
use taffeta::collide::broad_phase::candidates::Candidates;
use taffeta::math::{DVec3, trig};
use testing::memory::Meter;

#[test]
fn steady_detection_allocates_nothing() {
    let (points, triangles) = sheet(20);
    let mut parts = Parts::default();
    parts.add(&points, &triangles, 0.004, None);
    parts.add(&[DVec3::new(0.5, -0.31, 0.5)], &[[0; 3]], 0.3, Some(0));
    let Motion { surface, movable, from, .. } = parts.moved(points, 1_000_000);
    let sway = |step: usize| -> Vec<DVec3> {
        let far = 0.02 * trig::sin(0.1 * (step % 63) as f64);
        from.iter().map(|p| *p + far * DVec3::new(0.0, trig::sin(20.0 * p.x), p.z)).collect()
    };
    let moments: Vec<_> = (0..64).map(sway).collect();
    let meter = Meter::new(2);
    for (coherent, make) in [(false, Candidates::new as fn(_, _) -> _), (true, Candidates::coherent)] {
        let mut candidates: Candidates = make(&surface, &movable[..]);
        let mut go_round = || {
            for (from, to) in moments.iter().zip(&moments[1..]) {
                candidates.find(&surface, from, to, 0.001);
            }
        };
        meter.allocations(|| (0..3).for_each(|_| go_round()));
        let allocated = meter.allocations(go_round);
        assert_eq!(allocated, 0, "coherent: {coherent}");
        assert!(!candidates.pairs().is_empty());
    }
}
