//! What the tests of all crates share: reference data of others, long cases, and memory that is asked for.

pub mod memory;
pub mod skipped;

use std::path::{Path, PathBuf};

/// Whether cases that take long are wanted: `TAFFETA_LONG=1`.
pub fn long() -> bool {
    std::env::var_os("TAFFETA_LONG").is_some_and(|value| value == "1")
}

/// A folder or file of the reference data that lies beside a checkout (or at `TAFFETA_SHARED`), if it is there. Where it is not, the running
/// test is told to be skipped.
pub fn reference_data(inside: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path =
        std::env::var_os("TAFFETA_SHARED").map_or_else(beside, PathBuf::from).join("data").join(inside);
    if path.exists() {
        return Some(path);
    }
    skipped::tell(&format!("no reference data {inside} beside the checkout"));
    None
}
