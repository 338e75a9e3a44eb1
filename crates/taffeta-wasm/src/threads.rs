//! Who computes frames where memory is shared: threads of a pool, each on a worker of the page that only helps. The worker of the session hears all the while.
//!
//! The session's worker starts helpers with what [`shared`] returns, and each of them calls [`serve`], which does not return.

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use taffeta_session::{Computed, Work};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Tells the worker of the session that a frame is there. Helpers define it.
    #[wasm_bindgen(js_namespace = globalThis, js_name = taffetaIsComputed)]
    fn is_computed();
}

/// Threads that wait for a helper.
static THREADS: Mutex<Vec<ThreadBuilder>> = Mutex::new(Vec::new());
static MORE: Condvar = Condvar::new();

/// The module and its memory, for helpers.
#[wasm_bindgen]
pub fn shared() -> js_sys::Array {
    js_sys::Array::of2(&wasm_bindgen::module(), &wasm_bindgen::memory())
}

/// What a helper does: it is a thread of one pool after the other.
#[wasm_bindgen]
pub fn serve() {
    loop {
        let waiting = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = MORE.wait_while(waiting, |waiting| waiting.is_empty());
        let thread = waiting.unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(thread) = thread {
            thread.run();
        }
    }
}

/// The threads of the page.
pub struct Crew {
    helpers: usize,
    pool: Option<ThreadPool>,
    done: Sender<Computed>,
    computed: Receiver<Computed>,
}

impl Crew {
    /// So many helpers. All but one compute, so that there is a processor for what is drawn.
    pub fn new(helpers: usize) -> Self {
        let (done, computed) = channel();
        let mut crew = Self { helpers, pool: None, done, computed };
        // Without a pool nothing moves, and the page says that it computes.
        let _ = crew.set_threads(helpers.saturating_sub(1).max(1));
        crew
    }

    /// Threads that compute.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    /// How many there could be.
    pub fn most(&self) -> usize {
        self.helpers
    }

    /// Computes on so many from now on, or says why not. Threads of the pool before end, and their helpers are free again.
    pub fn set_threads(&mut self, count: usize) -> Result<(), String> {
        self.pool = None;
        let wait = |thread: ThreadBuilder| {
            THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            MORE.notify_one();
            Ok(())
        };
        let pool = ThreadPoolBuilder::new().num_threads(count).spawn_handler(wait).build();
        self.pool = Some(pool.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Has a frame computed, until `cancelled`.
    pub fn compute(&mut self, ticket: u64, mut work: Work, cancelled: Arc<AtomicBool>) {
        let Some(pool) = &self.pool else { return };
        let done = self.done.clone();
        pool.spawn(move || {
            let outcome = work.run(|| cancelled.load(Ordering::Relaxed));
            // Nobody waits for it where the session has ended.
            let _ = done.send(Computed { ticket, work, outcome });
            is_computed();
        });
    }

    /// A frame that was computed.
    pub fn computed(&mut self) -> Option<Computed> {
        self.computed.try_recv().ok()
    }
}
