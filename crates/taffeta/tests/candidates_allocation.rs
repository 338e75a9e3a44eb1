//! Detection that goes on as before allocates nothing.

#[path = "candidates/motions.rs"]
mod motions;

use motions::{Motion, Parts, sheet};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use taffeta::collide::candidates::Candidates;
use taffeta::math::{DVec3, trig};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (coherent, make) in [(false, Candidates::new as fn(_, _) -> _), (true, Candidates::coherent)] {
        let mut candidates: Candidates = make(&surface, &movable[..]);
        let mut go_round = || {
            for (from, to) in moments.iter().zip(&moments[1..]) {
                candidates.find(&surface, from, to, 0.001);
            }
        };
        let allocated = pool.install(|| {
            (0..3).for_each(|_| go_round());
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            go_round();
            ALLOCATIONS.load(Ordering::Relaxed) - before
        });
        assert_eq!(allocated, 0, "coherent: {coherent}");
        assert!(!candidates.pairs().is_empty());
    }
}
