//! The state of a session: it owns what is open, has its frames computed at their pace, carries out requests, and publishes.
//!
//! Frames may be computed elsewhere, so that requests are answered meanwhile. What has to have the simulation at hand cancels the frame and
//! waits until it is back, no longer than a sub-step; what begins anew does not even wait for that.

use crate::brought::Upload;
use crate::certifier::Certifier;
use crate::choice::{Choice, Opened};
use crate::host::{Host, Job, Shot};
use crate::live::Work;
use crate::message::{self, Request};
use crate::packet::Packet;
use crate::tape::{Shelf, Tape};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use taffeta::step::StepError;
use web_time::Instant;

/// How often a session that has nothing to do looks whether a page has come or a certificate is there.
const IDLE: Duration = Duration::from_millis(50);

/// Pages are told of a frame that takes longer than this.
const LONG: Duration = Duration::from_millis(500);

/// A frame that is being computed.
struct UnderWay {
    ticket: u64,
    begun: Instant,
    cancelled: Arc<AtomicBool>,
    /// Whether pages have been told that it takes long.
    told: bool,
}

/// A frame that was computed, or given up.
pub struct Computed {
    /// Which of the frames sent off it is.
    pub ticket: u64,
    /// The simulations.
    pub work: Work,
    /// Whether they got to its end.
    pub outcome: Result<(), StepError>,
}

/// What is open, and all that is done to it.
pub struct Session<H> {
    /// The server or the worker around it.
    pub host: H,
    pub(crate) choices: Vec<Choice>,
    /// Which of the choices is open.
    pub(crate) choice: String,
    pub(crate) opened: Opened,
    pub(crate) playing: bool,
    /// Simulated seconds in a second; nothing for as fast as it goes.
    pub(crate) speed: Option<f64>,
    /// Where recordings go.
    pub(crate) shelf: Shelf,
    pub(crate) tape: Option<Tape>,
    /// Frames that were asked for one by one.
    pub(crate) asked: u32,
    under_way: Option<UnderWay>,
    /// Frames sent off so far.
    tickets: u64,
    /// What a page has in its hand, and which.
    pub(crate) grip: Option<(u64, u32)>,
    /// A file that a page is sending.
    pub(crate) upload: Option<Upload>,
    /// Requests that wait for the frame to be back.
    waiting: VecDeque<Job>,
    certifier: Certifier,
    /// Whether the present frame still waits to be certified.
    uncertified: bool,
    /// When the last one was handed in.
    handed_in: Instant,
    shape: u32,
    shape_packet: Bytes,
    serial: u64,
    /// When the next frame is to be there.
    pub(crate) due: Instant,
    /// What pages were told last.
    status: Value,
}

impl<H: Host> Session<H> {
    /// With one of the choices open, at its start.
    pub fn new(host: H, choices: Vec<Choice>, choice: String, opened: Opened, shelf: Shelf) -> Self {
        let mut session = Self {
            host,
            choices,
            choice,
            opened,
            playing: true,
            speed: Some(1.0),
            shelf,
            tape: None,
            asked: 0,
            under_way: None,
            tickets: 0,
            grip: None,
            upload: None,
            waiting: VecDeque::new(),
            certifier: Certifier::start(),
            uncertified: false,
            handed_in: Instant::now(),
            shape: 0,
            shape_packet: Bytes::new(),
            serial: 0,
            due: Instant::now(),
            status: Value::Null,
        };
        session.reshape();
        session.publish();
        session
    }

    /// How long to wait for something to happen before the next [`Session::tick`].
    pub fn wait(&mut self) -> Duration {
        self.let_go();
        match &self.under_way {
            Some(frame) if !frame.told => (frame.begun + LONG).saturating_duration_since(Instant::now()),
            None if self.moves() => self.due.saturating_duration_since(Instant::now()),
            _ => IDLE,
        }
    }

    /// That time has passed, and nothing has happened.
    pub fn tick(&mut self) {
        if let Some(frame) = &mut self.under_way {
            frame.told |= frame.begun.elapsed() >= LONG;
            self.tell_status();
        } else if self.moves() {
            self.advance();
        } else {
            self.take_findings();
        }
    }

    /// Whether a frame that is under way would still be recorded.
    pub fn is_recorded(&self) -> bool {
        self.under_way.is_some() && self.tape.is_some()
    }

    /// The last of it: what is recorded gets its last state.
    pub fn end(mut self) {
        if let (Some(tape), Opened::Live(live)) = (self.tape.take(), &self.opened) {
            // There is no page left to tell of a failure, and the frames that were written are safe.
            let _ = tape.end(live);
        }
    }

    /// What a page had in its hand falls when that page is gone or controls no more.
    fn let_go(&mut self) {
        let control = self.host.control();
        if let Some((_, particle)) = self.grip.take_if(|(page, _)| Some(*page) != control)
            && let Opened::Live(live) = &mut self.opened
        {
            live.free(particle);
            self.tell_status();
        }
    }

    /// Whether frames come at their pace; where not, a tick only looks around.
    pub fn is_moving(&self) -> bool {
        self.under_way.is_some() || self.moves()
    }

    /// Whether a frame is wanted. Where nobody looks nothing moves by itself, so that nobody misses the start.
    fn moves(&self) -> bool {
        self.asked > 0 || (self.playing && self.host.is_watched())
    }

    /// Carries a request out now, or when the simulation is back.
    pub fn hear(&mut self, job: Job) {
        let at_once = match &job.request {
            _ if self.under_way.is_none() => true,
            Request::Pause {} | Request::Play {} | Request::Speed { .. } => true,
            // What a recording ends with is the simulation's state.
            Request::Bring { last: false, .. } => true,
            Request::Reset {} | Request::Open { .. } | Request::Read { .. } | Request::Bring { .. } => {
                self.tape.is_none()
            }
            _ if !self.waiting.is_empty() => false,
            Request::Set { key, value } => match &self.opened {
                Opened::Live(live) => live.is_quick(key, value),
                Opened::Film(_) => true,
            },
            Request::Compare { .. } | Request::Ball { .. } | Request::Record {} | Request::Stop {} => false,
            _ => true,
        };
        if at_once {
            return self.carry_out(job);
        }
        self.cancel();
        self.waiting.push_back(job);
    }

    /// Carries out a request and answers it.
    fn carry_out(&mut self, job: Job) {
        let Job { id, request, page, answer } = job;
        let (text, file) = match self.request(request, page) {
            Ok(mut done) => {
                let file = done.file.take().map(|(name, bytes)| message::file(&name, &bytes));
                (message::reply(id, &done), file)
            }
            Err(reason) => (message::error(id, &reason), None),
        };
        self.tell_status();
        answer(text, file);
    }

    /// Asks a frame that is under way to end.
    pub fn cancel(&mut self) {
        if let Some(frame) = &self.under_way {
            frame.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Gives up a frame that is under way: all begins anew. Who waited for it is told.
    pub(crate) fn abandon(&mut self) {
        self.asked = 0;
        let Some(frame) = self.under_way.take() else { return };
        frame.cancelled.store(true, Ordering::Relaxed);
        for Job { id, answer, .. } in std::mem::take(&mut self.waiting) {
            answer(message::error(id, "this was not done: the scene has begun anew since"), None);
        }
    }

    /// Moves on by one frame: shows the next of a recording, or has that of a simulation computed.
    fn advance(&mut self) {
        let live = match &mut self.opened {
            Opened::Live(live) => live,
            Opened::Film(film) => {
                let (next, frame_time) = (film.at + 1, film.frame_time());
                if next >= film.frames() {
                    (self.playing, self.asked) = (false, 0);
                    return self.tell_status();
                }
                if let Err(error) = film.seek(next) {
                    return self.halt(&error.to_string());
                }
                return self.arrive(frame_time);
            }
        };
        let (work, landed) = live.next_frame();
        self.tickets += 1;
        let (ticket, cancelled) = (self.tickets, Arc::new(AtomicBool::new(false)));
        let asked = cancelled.clone();
        self.under_way = Some(UnderWay { ticket, begun: Instant::now(), cancelled, told: false });
        self.host.compute(ticket, work, asked);
        if landed {
            self.reshape();
        }
    }

    /// Takes a frame back, unless it was given up, and carries out what waited for it.
    pub fn take_back(&mut self, computed: Computed) {
        let Computed { ticket, work, outcome } = computed;
        let (Some(frame), Opened::Live(live)) = (&self.under_way, &mut self.opened) else { return };
        if frame.ticket != ticket {
            return;
        }
        let told = frame.told;
        self.under_way = None;
        let frame_time = live.scene.frame_time;
        match live.take_back(work, outcome) {
            Ok(reshaped) => {
                // Cloth has torn.
                if reshaped {
                    self.reshape();
                }
                self.arrive(frame_time);
            }
            Err(StepError::Cancelled) => {}
            Err(error) => self.halt(&error.to_string()),
        }
        if told {
            self.tell_status();
        }
        while let Some(job) = self.waiting.pop_front() {
            self.carry_out(job);
        }
    }

    /// A new frame is there.
    fn arrive(&mut self, frame_time: f64) {
        self.asked = self.asked.saturating_sub(1);
        self.keep_on_tape();
        self.uncertified = true;
        self.publish();
        self.pace(frame_time);
        if !self.playing {
            self.tell_status();
        }
    }

    /// When the next frame is due. What could not be kept up with is not made up for.
    fn pace(&mut self, frame_time: f64) {
        let wait = self.speed.map_or(Duration::ZERO, |speed| Duration::from_secs_f64(frame_time / speed));
        self.due = (self.due + wait).max(Instant::now());
    }

    /// The simulation cannot go on: it stands still, and all are told why.
    fn halt(&mut self, reason: &str) {
        (self.playing, self.asked) = (false, 0);
        self.host.tell(message::notice(reason, true));
        self.tell_status();
    }

    fn keep_on_tape(&mut self) {
        if let (Some(tape), Opened::Live(live)) = (&mut self.tape, &self.opened)
            && let Err(error) = tape.frame(live)
        {
            self.tape = None;
            self.host.tell(message::notice(&format!("the recording has ended: {error}"), true));
            self.tell_status();
        }
    }

    /// What is drawn has changed: pages need the new shape before the next frame.
    pub(crate) fn reshape(&mut self) {
        self.shape += 1;
        self.shape_packet = match &self.opened {
            Opened::Live(live) => live.figure.packet(self.shape),
            Opened::Film(film) => film.figure.packet(self.shape),
        };
        self.tell_status();
    }

    /// Shows the present frame to all pages.
    pub(crate) fn publish(&mut self) {
        self.collect_findings();
        self.certify();
        self.serial += 1;
        let mut packet = Packet::default();
        let (time, sides) = match &self.opened {
            Opened::Live(live) => {
                let pack =
                    |(number, side): (usize, crate::look::Side)| side.pack(&live.figure, number, &mut packet);
                (live.time(), live.looks().enumerate().map(pack).collect())
            }
            Opened::Film(film) => {
                let (_, time) = film.shown();
                (time, vec![film.look().pack(&film.figure, 0, &mut packet)])
            }
        };
        let packet = packet.finish(Map::from_iter([
            ("kind".into(), json!("frame")),
            ("shape".into(), json!(self.shape)),
            ("serial".into(), json!(self.serial)),
            ("frame".into(), json!(self.opened.frame())),
            ("time".into(), json!(time)),
            ("sides".into(), Value::Array(sides)),
        ]));
        let (serial, shape, shape_packet) = (self.serial, self.shape, self.shape_packet.clone());
        self.host.show(Shot { serial, shape, shape_packet, packet });
    }

    /// Puts certificates to their sides; says whether there were any.
    fn collect_findings(&mut self) -> bool {
        let mut any = false;
        for finding in self.certifier.found() {
            if let (true, Opened::Live(live)) = (finding.shape == self.shape, &mut self.opened) {
                live.certified(finding.side, finding.told);
                any = true;
            }
        }
        any
    }

    /// Has the present frame certified, unless the frames before still are.
    fn certify(&mut self) {
        let due = !self.playing || self.handed_in.elapsed() >= self.certifier.pause;
        if let (true, Opened::Live(live)) =
            (self.uncertified && due && self.certifier.is_free(), &self.opened)
        {
            live.certify(&mut self.certifier, self.shape);
            (self.uncertified, self.handed_in) = (false, Instant::now());
        }
    }

    /// While nothing moves, certificates of the present frame come in.
    fn take_findings(&mut self) {
        if self.collect_findings() {
            self.publish();
        }
        self.certify();
    }

    /// The present frame is another one than before, or is looked at anew.
    pub(crate) fn renewed(&mut self) {
        self.uncertified = true;
        self.due = Instant::now();
        self.publish();
    }

    /// Tells all pages what the controls show.
    pub(crate) fn tell_status(&mut self) {
        let mut status = json!({
            "v": message::VERSION,
            "kind": "status",
            "choice": self.choice,
            "choices": self.choices.iter().map(Choice::told).collect::<Vec<_>>(),
            "playing": self.playing,
            "speed": self.speed,
            // Where it stands still: the last frame may come later than this.
            "at": (!self.playing).then(|| self.opened.frame()),
            "computing": self.under_way.as_ref().is_some_and(|frame| frame.told),
            "threads": self.host.threads(),
            "recording": self.tape.as_ref().map(|tape| &tape.name),
        });
        let more = match &self.opened {
            Opened::Live(live) => json!({
                "live": true,
                "scene": live.scene,
                "changed": live.changed,
                "compare": live.compare.map(|method| method.name()),
                "held": live.hands.held.keys().collect::<Vec<_>>(),
                "freed": live.hands.freed,
                "frames": null,
            }),
            Opened::Film(film) => json!({
                "live": false,
                "scene": film.scene,
                "changed": [],
                "compare": null,
                "held": [],
                "freed": [],
                "frames": film.frames(),
                "damage": film.damage,
            }),
        };
        if let (Value::Object(status), Value::Object(more)) = (&mut status, more) {
            status.extend(more);
        }
        if self.status != status {
            self.status = status.clone();
            self.host.tell_status(status);
        }
    }
}
