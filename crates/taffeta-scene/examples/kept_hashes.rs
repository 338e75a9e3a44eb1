//! The kept hashes of the determinism tests, found again by an optimised build on this processor; `TAFFETA_INSTRUCTIONS` chooses avx512, avx2 or plain.
//!
//!     cargo run --release -p taffeta-scene --features golden --example kept_hashes

#[path = "golden.rs"]
#[allow(dead_code)] // what WebAssembly asks for
mod golden;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{available_parallelism, scope};

fn main() -> ExitCode {
    let (next, wrong, count) = (AtomicU32::new(0), AtomicU32::new(0), golden::golden_count());
    let find = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let (kept, found) = (golden::golden_kept(number), golden::golden_found(number));
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
