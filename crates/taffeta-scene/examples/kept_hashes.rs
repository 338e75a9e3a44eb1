//! The kept hashes of the determinism tests, found again by an optimised build on this processor; `TAFFETA_INSTRUCTIONS` chooses avx512, avx2 or plain.
//!
//!     cargo run --release -p taffeta-scene --features golden --example kept_hashes

#[path = "golden.rs"]
#[allow(dead_code)] // what WebAssembly asks for
mod golden;

// Where the cases look for it.
use golden::common;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

fn main() -> ExitCode {
    let count = golden::golden_count();
    // What takes longest comes first.
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_key(|number| !golden::name(*number).ends_with("barrier"));
    let (next, wrong) = (AtomicUsize::new(0), AtomicU32::new(0));
    let find = || {
        while let Some(&number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
            let (kept, found) = (golden::golden_kept(number), alone.install(|| golden::golden_found(number)));
            if kept != found {
                wrong.fetch_add(1, Ordering::Relaxed);
                println!("{}: {found:016x}, kept is {kept:016x}", golden::name(number));
            }
        }
    };
    scope(|scope| (0..available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(find))));
    let wrong = wrong.into_inner();
    println!("{} of {count} hashes are those that are kept", count - wrong);
    ExitCode::from(u8::from(wrong > 0))
}
