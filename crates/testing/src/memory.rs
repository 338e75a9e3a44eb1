//! An allocator that counts: how often some threads ask for memory, how much one of them holds, how much it has asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static USED: Cell<Use> = const { Cell::new(Use { calls: 0, asked: 0, held: 0, peak: 0 }) };
    static METER: Cell<Option<&'static AtomicUsize>> = const { Cell::new(None) };
}

/// Memory that a thread used [bytes], and how often it asked.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// How often memory was asked for.
    pub calls: usize,
    /// All that was asked for, given back or not [bytes].
    pub asked: usize,
    held: isize,
    peak: isize,
}

impl Use {
    /// The most that was held at once [bytes].
    pub fn peak(&self) -> usize {
        self.peak.max(0) as usize
    }
}

/// Runs `work` and says what it used of this thread's memory.
pub fn used<T>(work: impl FnOnce() -> T) -> (T, Use) {
    let before = USED.get();
    USED.set(Use { peak: before.held, ..before });
    let result = work();
    let after = USED.get();
    let used = Use {
        calls: after.calls - before.calls,
        asked: after.asked - before.asked,
        held: after.held - before.held,
        peak: after.peak - before.held,
    };
    USED.set(Use { peak: after.peak.max(before.peak), ..after });
    (result, used)
}

/// Counts how often the threads of a pool of its own ask for memory. Other threads, as those of a test beside it, may ask when they like.
pub struct Meter {
    calls: &'static AtomicUsize,
    pool: rayon::ThreadPool,
}

impl Meter {
    /// A meter with a pool of so many threads.
    pub fn new(threads: usize) -> Meter {
        let calls: &'static AtomicUsize = Box::leak(Box::default());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |_| METER.set(Some(calls)))
            .exit_handler(|_| METER.set(None))
            .build()
            .expect("a pool of threads");
        Meter { calls, pool }
    }

    /// Runs `work` on the pool and says how often it asked for memory.
    pub fn allocations(&self, work: impl FnOnce() + Send) -> usize {
        let before = self.calls.load(Ordering::Relaxed);
        self.pool.install(work);
        self.calls.load(Ordering::Relaxed) - before
    }
}

/// Notes that this thread asks for `asked` bytes and holds `change` more.
fn note(asked: usize, change: isize) {
    // A thread that is ending has no cells any more.
    let _ = USED.try_with(|used| {
        let Use { calls, asked: all, held, peak } = used.get();
        let held = held + change;
        let calls = calls + usize::from(asked > 0);
        used.set(Use { calls, asked: all + asked, held, peak: peak.max(held) });
    });
    if asked > 0 {
        let _ = METER.try_with(|meter| meter.get().map(|calls| calls.fetch_add(1, Ordering::Relaxed)));
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, size as isize - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
