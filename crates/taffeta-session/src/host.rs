//! Where a session lives, and what passes between the two.

use crate::live::Work;
use crate::message::Request;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Frames under way to a page that it has not shown yet.
const MOST_UNSHOWN: usize = 2;

/// What is sent of a frame, and of the shape it belongs to.
#[derive(Debug, Clone)]
pub struct Shot {
    /// Number of the message.
    pub serial: u64,
    /// Number of the shape.
    pub shape: u32,
    /// The shape as a message.
    pub shape_packet: Bytes,
    /// The frame as a message.
    pub packet: Bytes,
}

/// Takes an answer.
pub type Answer = Box<dyn FnOnce(String, Option<Bytes>) + Send>;

/// A request on its way to the session, and where its answer goes.
pub struct Job {
    /// The number that the answer repeats.
    pub id: Option<u64>,
    /// What is asked.
    pub request: Request,
    /// Which page asks.
    pub page: u64,
    /// Takes the answer, a text message, and the file that belongs to it, a binary one.
    pub answer: Answer,
}

/// The server or the worker around a session.
pub trait Host {
    /// Shows a frame to all pages: it is the newest from now on.
    fn show(&mut self, shot: Shot);
    /// Tells all pages what the controls show.
    fn tell_status(&mut self, status: Value);
    /// Tells all pages something, a text message.
    fn tell(&mut self, notice: String);
    /// Whether there is a page.
    fn is_watched(&self) -> bool;
    /// The page that controls.
    fn control(&self) -> Option<u64>;
    /// Has a frame computed, until `cancelled`; [`crate::Session::take_back`] gets it.
    fn compute(&mut self, ticket: u64, work: Work, cancelled: Arc<AtomicBool>);
    /// Threads that frames are computed on.
    fn threads(&self) -> usize;
    /// How many there could be.
    fn cores(&self) -> usize;
    /// Computes on so many from now on, or says why not.
    fn set_threads(&mut self, count: usize) -> Result<(), String>;
}

/// Frames that were sent to a page and not shown yet, by their serial numbers.
#[derive(Debug, Default)]
pub struct Unshown(Vec<u64>);

impl Unshown {
    /// Whether another may be sent.
    pub fn has_room(&self) -> bool {
        self.0.len() < MOST_UNSHOWN
    }

    /// A frame is sent.
    pub fn sent(&mut self, serial: u64) {
        self.0.push(serial);
    }

    /// The page has shown it, and with it all before.
    pub fn shown(&mut self, serial: u64) {
        self.0.retain(|sent| *sent > serial);
    }
}
