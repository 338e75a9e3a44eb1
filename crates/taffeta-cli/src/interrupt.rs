//! Ctrl-C and SIGTERM: the first asks for an end after the present frame, the second ends at once.

use crate::Failure;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use taffeta_bench::tell::aside;

/// Whether the user has asked for an end.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, and says `ending` when the first is heard.
    pub fn watch(ending: &'static str) -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        let heard = asked.clone();
        // The handler has a thread of its own, so that it may end the program. What is recorded can be resumed.
        let handler = move || {
            if heard.swap(true, Ordering::Relaxed) {
                std::process::exit(3);
            }
            aside(ending);
        };
        ctrlc::set_handler(handler).map_err(Failure::work)?;
        Ok(Self(asked))
    }

    /// Whether an end was asked for.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
