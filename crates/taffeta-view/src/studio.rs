//! The simulation's own thread: a session whose frames are computed on the threads of a pool, and whose pages are at the hub.

use crate::hub::{Event, Hub};
use rayon::ThreadPool;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use taffeta_session::{Computed, Host, Session, Shot, Work};

/// At the end a frame that is under way is waited for no longer than this.
const FAREWELL: Duration = Duration::from_millis(150);

/// The threads and the pages of the program.
pub struct Studio {
    /// Where pages are.
    pub hub: Arc<Hub>,
    /// What computes.
    pub pool: ThreadPool,
}

impl Host for Studio {
    fn show(&mut self, shot: Shot) {
        self.hub.shot.send_replace(Some(Arc::new(shot)));
    }

    fn tell_status(&mut self, status: Value) {
        self.hub.status.send_replace(Arc::new(status));
    }

    fn tell(&mut self, notice: String) {
        self.hub.tell(notice);
    }

    fn is_watched(&self) -> bool {
        !self.hub.pages.borrow().present.is_empty()
    }

    fn control(&self) -> Option<u64> {
        self.hub.pages.borrow().control
    }

    fn compute(&mut self, ticket: u64, mut work: Work, cancelled: Arc<AtomicBool>) {
        // The program ends.
        let Some(events) = self.hub.events() else { return };
        self.pool.spawn(move || {
            let outcome = work.run(|| cancelled.load(Ordering::Relaxed));
            // Nobody waits for it where the program has ended.
            let _ = events.send(Event::Computed(Box::new(Computed { ticket, work, outcome })));
        });
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn cores(&self) -> usize {
        crate::cores()
    }

    fn set_threads(&mut self, count: usize) -> Result<(), String> {
        self.pool = crate::pool(count).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// Works until the hub is closed.
pub fn run(mut session: Session<Studio>, events: &Receiver<Event>) {
    loop {
        match events.recv_timeout(session.wait()) {
            Ok(Event::Asked(job)) => session.hear(job),
            Ok(Event::Computed(computed)) => session.take_back(*computed),
            Ok(Event::Closing) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => session.tick(),
        }
    }
    session.cancel();
    let until = Instant::now() + FAREWELL;
    while session.is_recorded() {
        match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Computed(computed)) => session.take_back(*computed),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    session.end();
}
