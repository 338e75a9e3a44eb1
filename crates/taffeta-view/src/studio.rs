//! The simulation's own thread: it owns what is open, moves it on at its pace, carries out requests between frames, and publishes.

use crate::certifier::Certifier;
use crate::choice::{Choice, Opened};
use crate::hub::{Hub, Job, Shot};
use crate::message;
use crate::packet::Packet;
use crate::tape::Tape;
use axum::body::Bytes;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often a thread that has nothing to do looks whether a page has come or a certificate is there.
const IDLE: Duration = Duration::from_millis(50);

/// While it plays, intersections are searched no more often than this: a search costs as much as a step.
const CERTIFY_EVERY: Duration = Duration::from_millis(200);

/// All that the thread owns.
pub struct Studio {
    pub(crate) hub: Arc<Hub>,
    pub(crate) choices: Vec<Choice>,
    /// Which of the choices is open.
    pub(crate) choice: String,
    pub(crate) opened: Opened,
    pub(crate) playing: bool,
    /// Simulated seconds in a second; nothing for as fast as it goes.
    pub(crate) speed: Option<f64>,
    pub(crate) pool: rayon::ThreadPool,
    /// Where recordings go.
    pub(crate) folder: PathBuf,
    pub(crate) tape: Option<Tape>,
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
}

impl Studio {
    /// With something open, at its start.
    pub fn new(
        hub: Arc<Hub>,
        choices: Vec<Choice>,
        choice: String,
        opened: Opened,
        folder: PathBuf,
        pool: rayon::ThreadPool,
    ) -> Self {
        let mut studio = Self {
            hub,
            choices,
            choice,
            opened,
            playing: true,
            speed: Some(1.0),
            pool,
            folder,
            tape: None,
            certifier: Certifier::start(),
            uncertified: false,
            handed_in: Instant::now(),
            shape: 0,
            shape_packet: Bytes::new(),
            serial: 0,
            due: Instant::now(),
        };
        studio.reshape();
        studio.publish();
        studio
    }

    /// Works until the hub is closed.
    pub fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            // Where nobody looks nothing moves, so that nobody misses the start.
            let moves = self.playing && !self.hub.pages.borrow().present.is_empty();
            let wait = if moves { self.due.saturating_duration_since(Instant::now()) } else { IDLE };
            match jobs.recv_timeout(wait) {
                Ok(job) => self.carry_out(job),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if moves => self.advance(),
                Err(RecvTimeoutError::Timeout) => self.take_findings(),
            }
        }
        if let (Some(tape), Opened::Live(live)) = (self.tape.take(), &self.opened) {
            // There is no page left to tell of a failure, and the frames that were written are safe.
            let _ = tape.end(live);
        }
    }

    /// Carries out a request and answers it.
    fn carry_out(&mut self, job: Job) {
        let Job { id, request, answer } = job;
        let text = match self.request(request) {
            Ok(done) => message::reply(id, &done),
            Err(reason) => message::error(id, &reason),
        };
        self.tell_status();
        // A page that does not take its answers does not get them.
        let _ = answer.try_send(text);
    }

    /// Moves on by one frame and shows it.
    pub(crate) fn advance(&mut self) {
        let frame_time = match &mut self.opened {
            Opened::Film(film) => {
                let next = film.at + 1;
                if next >= film.frames() {
                    self.playing = false;
                    return self.tell_status();
                }
                if let Err(error) = film.seek(next) {
                    return self.halt(&error.to_string());
                }
                film.frame_time()
            }
            Opened::Live(live) => {
                let frame_time = live.scene.frame_time;
                match self.pool.install(|| live.advance()) {
                    Err(error) => return self.halt(&error.to_string()),
                    // A ball has landed, or cloth has torn.
                    Ok(true) => self.reshape(),
                    Ok(false) => {}
                }
                frame_time
            }
        };
        self.keep_on_tape();
        self.uncertified = true;
        self.publish();
        self.pace(frame_time);
    }

    /// When the next frame is due. What could not be kept up with is not made up for.
    fn pace(&mut self, frame_time: f64) {
        let wait = self.speed.map_or(Duration::ZERO, |speed| Duration::from_secs_f64(frame_time / speed));
        self.due = (self.due + wait).max(Instant::now());
    }

    /// The simulation cannot go on: it stands still, and all are told why.
    fn halt(&mut self, reason: &str) {
        self.playing = false;
        self.hub.tell(reason, true);
        self.tell_status();
    }

    fn keep_on_tape(&mut self) {
        if let (Some(tape), Opened::Live(live)) = (&mut self.tape, &self.opened)
            && let Err(error) = tape.frame(live)
        {
            self.tape = None;
            self.hub.tell(&format!("the recording has ended: {error}"), true);
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
        self.hub.shot.send_replace(Some(Arc::new(Shot { serial, shape, shape_packet, packet })));
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
        let due = !self.playing || self.handed_in.elapsed() >= CERTIFY_EVERY;
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
            "threads": self.pool.current_num_threads(),
            "recording": self.tape.as_ref().map(|tape| tape.path.display().to_string()),
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
        self.hub.status.send_if_modified(|before| {
            let differs = **before != status;
            if differs {
                *before = Arc::new(status);
            }
            differs
        });
    }
}
