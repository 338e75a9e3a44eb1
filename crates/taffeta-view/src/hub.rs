//! What the simulation and the pages share: the newest of everything, and who controls. Nothing here waits for anybody.

use serde_json::Value;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use taffeta_session::{Computed, Job, Shot};
use tokio::sync::{broadcast, watch};

/// Pages at once.
const MOST_PAGES: usize = 16;

/// What the simulation's thread hears.
pub enum Event {
    /// A page asks for something.
    Asked(Job),
    /// A frame is there.
    Computed(Box<Computed>),
    /// The program ends.
    Closing,
}

/// Pages in the order in which they came, and the one that controls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pages {
    /// Their numbers.
    pub present: Vec<u64>,
    /// Who controls.
    pub control: Option<u64>,
    /// How many there have been.
    came: u64,
}

/// Meeting point of the simulation's thread and the server's.
#[derive(Debug)]
pub struct Hub {
    /// The newest frame.
    pub shot: watch::Sender<Option<Arc<Shot>>>,
    /// The newest status.
    pub status: watch::Sender<Arc<Value>>,
    /// Who looks and who controls.
    pub pages: watch::Sender<Pages>,
    /// What happened.
    pub notices: broadcast::Sender<String>,
    events: Mutex<Option<SyncSender<Event>>>,
}

impl Hub {
    /// A hub that tells the simulation's thread by `events`.
    pub fn new(events: SyncSender<Event>) -> Self {
        Self {
            shot: watch::Sender::new(None),
            status: watch::Sender::new(Arc::new(Value::Null)),
            pages: watch::Sender::default(),
            notices: broadcast::Sender::new(16),
            events: Mutex::new(Some(events)),
        }
    }

    /// Lets a page in, unless there are too many; the first one controls.
    pub fn enter(&self) -> Option<u64> {
        let mut number = None;
        self.pages.send_if_modified(|pages| {
            if pages.present.len() < MOST_PAGES {
                pages.came += 1;
                pages.present.push(pages.came);
                pages.control.get_or_insert(pages.came);
                number = Some(pages.came);
            }
            number.is_some()
        });
        number
    }

    /// A page is gone; if it controlled, the one that has been here longest does now.
    pub fn leave(&self, page: u64) {
        self.pages.send_modify(|pages| {
            pages.present.retain(|present| *present != page);
            if pages.control == Some(page) {
                pages.control = pages.present.first().copied();
            }
        });
    }

    /// A page takes control.
    pub fn take(&self, page: u64) {
        self.pages.send_modify(|pages| pages.control = Some(page));
    }

    /// Hands a request on; `false` where too many are waiting.
    pub fn ask(&self, job: Job) -> bool {
        self.events().is_some_and(|events| events.try_send(Event::Asked(job)).is_ok())
    }

    /// The way to the simulation's thread, as long as it is open.
    pub fn events(&self) -> Option<SyncSender<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the simulation's thread end.
    pub fn close(&self) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(events) = events {
            // A thread that has ended need not be told.
            let _ = events.send(Event::Closing);
        }
    }

    /// Tells all pages. Where nobody listens, nobody needs to know.
    pub fn tell(&self, notice: String) {
        let _ = self.notices.send(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn one_page_controls_and_the_next_inherits() {
        let hub = Hub::new(sync_channel(1).0);
        let control = || hub.pages.borrow().control;
        let (a, b) = (hub.enter().unwrap(), hub.enter().unwrap());
        assert_eq!(control(), Some(a));
        hub.take(b);
        assert_eq!(control(), Some(b));
        hub.leave(b);
        assert_eq!(control(), Some(a));
        hub.leave(a);
        assert_eq!(control(), None);
        let many: Vec<_> = (0..MOST_PAGES + 3).map(|_| hub.enter()).collect();
        assert_eq!(many.iter().flatten().count(), MOST_PAGES);
        assert!(!many.contains(&Some(a)), "numbers are not used again");
    }
}
