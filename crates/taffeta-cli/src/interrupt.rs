//! Ctrl-C and SIGTERM: the first asks for an end, which comes between two sub-steps; the second ends at once.

use crate::Failure;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use taffeta_bench::tell::aside;

/// Whether the user has asked for an end.
pub struct Interrupt(Arc<Heard>);

#[derive(Default)]
struct Heard {
    /// Whether there is something to end in good order.
    begun: AtomicBool,
    asked: AtomicBool,
}

impl Interrupt {
    /// Listens from now on, and says `ending` when the first is heard.
    pub fn watch(ending: &'static str) -> Result<Self, Failure> {
        let heard = Arc::<Heard>::default();
        let own = heard.clone();
        // The handler has a thread of its own, so that it may end the program. What is recorded can be resumed.
        let handler = move || {
            if own.asked.swap(true, Ordering::Relaxed) {
                std::process::exit(3);
            }
            if !own.begun.load(Ordering::Relaxed) {
                aside("ended before the first frame");
                std::process::exit(3);
            }
            aside(ending);
        };
        ctrlc::set_handler(handler).map_err(Failure::work)?;
        Ok(Self(heard))
    }

    /// From here on there is something to end in good order; before, the first ends at once.
    pub fn begin(&self) {
        self.0.begun.store(true, Ordering::Relaxed);
    }

    /// Whether an end was asked for.
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }
}
