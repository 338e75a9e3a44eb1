//! Assembling and solving again allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use taffeta::math::{DMat3, Vec4};
use taffeta::solve::block_matrix::{BlockMatrix, Elements, Pattern};
use taffeta::solve::pcg::{Params, Pcg};
use taffeta::solve::preconditioner::Kind;

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

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn assembling_and_solving_again_allocates_nothing() {
    // A chain of several chunks.
    let count = 3000;
    let pairs: Vec<[u32; 2]> = (1..count).map(|i| [i - 1, i]).collect();
    let mut matrix = BlockMatrix::new(Pattern::new(count as usize, pairs.iter().map(|e| &e[..])).unwrap());
    let chain = Elements::new(matrix.pattern(), &pairs).unwrap();
    let (mass, b) = (vec![1.0; count as usize], vec![Vec4([1.0, 2.0, 3.0, 0.0]); count as usize]);
    let pinned: Vec<bool> = (0..count).map(|i| i == 0).collect();
    let mut x = vec![Vec4::ZERO; count as usize];
    for preconditioner in [Kind::BlockJacobi, Kind::Levels] {
        for threads in [1, 2] {
            let mut pcg = Pcg::new(matrix.pattern(), Params { preconditioner, ..Params::default() });
            let mut again = |stiffness: f64| {
                matrix.set_diagonal(&mass);
                matrix.add(&chain, |_, sink| {
                    sink.add(0, 0, DMat3::IDENTITY * stiffness);
                    sink.add(1, 1, DMat3::IDENTITY * stiffness);
                    sink.add(0, 1, DMat3::IDENTITY * -stiffness);
                });
                pcg.prepare(&matrix, &pinned).unwrap();
                x.fill(Vec4::ZERO);
                assert!(pcg.solve(&matrix, &b, &mut x).unwrap().iterations > 3);
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let allocated = pool.install(|| {
                (0..30).for_each(|_| again(10.0));
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                again(20.0);
                again(30.0);
                ALLOCATIONS.load(Ordering::Relaxed) - before
            });
            assert_eq!(allocated, 0, "{preconditioner:?} on {threads} threads");
        }
    }
}
