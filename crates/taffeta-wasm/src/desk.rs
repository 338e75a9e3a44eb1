//! The session of a page that has the engine in itself: what the server is to other pages, in a worker.
//!
//! The worker hands on what the page sends, calls [`Desk::turn`] whenever the time that it returned has passed or a frame is there, and takes the messages for the
//! page from [`Desk::texts`] and [`Desk::binaries`].

#[cfg(not(feature = "threads"))]
use crate::alone::Crew;
#[cfg(feature = "threads")]
use crate::threads::Crew;
use serde_json::{Value, json};
use std::mem::take;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use taffeta_session::message::{self, Asked, Request, VERSION};
use taffeta_session::{Choice, Host, Job, Session, Shelf, Shot, Unshown, Work};
use wasm_bindgen::prelude::*;

/// The number of the only page.
const PAGE: u64 = 1;

/// What waits to be sent; answers are put into it from where they come about.
#[derive(Default)]
struct Outbox {
    texts: Vec<String>,
    binaries: Vec<Vec<u8>>,
}

/// The worker around the session.
struct Worker {
    outbox: Arc<Mutex<Outbox>>,
    shot: Option<Shot>,
    /// Who computes.
    crew: Crew,
}

impl Worker {
    fn text(&self, text: String) {
        outbox(&self.outbox, |outbox| outbox.texts.push(text));
    }
}

fn outbox<T>(shared: &Mutex<Outbox>, with: impl FnOnce(&mut Outbox) -> T) -> T {
    with(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Host for Worker {
    fn show(&mut self, shot: Shot) {
        self.shot = Some(shot);
    }

    fn tell_status(&mut self, status: Value) {
        self.text(status.to_string());
    }

    fn tell(&mut self, notice: String) {
        self.text(notice);
    }

    fn is_watched(&self) -> bool {
        true
    }

    fn control(&self) -> Option<u64> {
        Some(PAGE)
    }

    fn compute(&mut self, ticket: u64, work: Work, cancelled: Arc<AtomicBool>) {
        self.crew.compute(ticket, work, cancelled);
    }

    fn threads(&self) -> usize {
        self.crew.threads()
    }

    fn cores(&self) -> usize {
        self.crew.most()
    }

    fn set_threads(&mut self, count: usize) -> Result<(), String> {
        self.crew.set_threads(count)
    }
}

/// A session and its only page.
#[wasm_bindgen]
pub struct Desk {
    session: Session<Worker>,
    unshown: Unshown,
    /// The shape sent last.
    shape: Option<u32>,
}

#[wasm_bindgen]
impl Desk {
    /// Opens a built-in scene, with so many helpers; fails with all that is wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(scene: &str, helpers: usize) -> Result<Desk, JsError> {
        let choices = Choice::built_in();
        let choice = choices.iter().find(|choice| choice.id == scene).or(choices.first());
        let choice = choice.ok_or_else(|| JsError::new("there are no scenes"))?;
        let opened = choice.open().map_err(|error| JsError::new(&error.to_string()))?;
        let worker = Worker { outbox: Arc::default(), shot: None, crew: Crew::new(helpers) };
        worker.text(message::hello(worker.cores()).to_string());
        worker.text(json!({ "v": VERSION, "kind": "pages", "control": true, "watching": 1 }).to_string());
        let id = choice.id.clone();
        let session = Session::new(worker, choices, id, opened, Shelf::Memory);
        Ok(Self { session, unshown: Unshown::default(), shape: None })
    }

    /// Takes a text message of the page.
    pub fn hear(&mut self, text: &str) {
        let outbox = self.session.host.outbox.clone();
        let answer = Box::new(move |text, file: Option<bytes::Bytes>| {
            self::outbox(&outbox, |outbox| {
                outbox.binaries.extend(file.map(Vec::from));
                outbox.texts.push(text);
            });
        });
        match message::read(text) {
            Err((id, malformed)) => answer(message::error(id, &malformed.to_string()), None),
            Ok(Asked { request: Request::Got { serial }, .. }) => self.unshown.shown(serial),
            Ok(Asked { id, request }) => self.session.hear(Job { id, request, page: PAGE, answer }),
        }
    }

    /// Does what is due; returns how long nothing will be [ms].
    pub fn turn(&mut self) -> f64 {
        if self.session.wait().is_zero() || !self.session.is_moving() {
            self.session.tick();
        }
        if let Some(computed) = self.session.host.crew.computed() {
            self.session.take_back(computed);
        }
        1e3 * self.session.wait().as_secs_f64()
    }

    /// Text messages for the page.
    pub fn texts(&mut self) -> Vec<String> {
        outbox(&self.session.host.outbox, |outbox| take(&mut outbox.texts))
    }

    /// Binary messages for the page: files, and the newest frame, where the page has shown one of the last two, with its shape before it.
    pub fn binaries(&mut self) -> Vec<js_sys::Uint8Array> {
        let mut binaries = outbox(&self.session.host.outbox, |outbox| take(&mut outbox.binaries));
        if self.unshown.has_room()
            && let Some(shot) = self.session.host.shot.take()
        {
            if self.shape != Some(shot.shape) {
                binaries.push(shot.shape_packet.into());
                self.shape = Some(shot.shape);
            }
            self.unshown.sent(shot.serial);
            binaries.push(shot.packet.into());
        }
        binaries.iter().map(|bytes| js_sys::Uint8Array::from(bytes.as_slice())).collect()
    }
}
