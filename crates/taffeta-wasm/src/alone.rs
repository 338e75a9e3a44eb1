//! Who computes frames where there is one thread: the worker itself, which hears nothing meanwhile.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use taffeta_session::{Computed, Work};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Asked between sub-steps: whether the page waits for an answer, so that the frame has to end. The worker defines it.
    #[wasm_bindgen(js_namespace = globalThis, js_name = taffetaIsAwaited)]
    fn is_awaited() -> bool;
}

/// The worker alone.
pub struct Crew {
    /// A frame to be computed.
    work: Option<(u64, Work)>,
}

impl Crew {
    /// One thread, whoever could help.
    pub fn new(_: usize) -> Self {
        Self { work: None }
    }

    /// Threads that compute.
    pub fn threads(&self) -> usize {
        1
    }

    /// How many there could be.
    pub fn most(&self) -> usize {
        1
    }

    /// There is one thread.
    pub fn set_threads(&mut self, _: usize) -> Result<(), String> {
        Ok(())
    }

    /// Keeps a frame until somebody asks for it.
    pub fn compute(&mut self, ticket: u64, work: Work, _: Arc<AtomicBool>) {
        self.work = Some((ticket, work));
    }

    /// Computes the frame, if there is one.
    pub fn computed(&mut self) -> Option<Computed> {
        let (ticket, mut work) = self.work.take()?;
        let outcome = work.run(is_awaited);
        Some(Computed { ticket, work, outcome })
    }
}
