//! What every request does. Each is bounded, and one that is refused changes nothing.

use crate::brought::Upload;
use crate::choice::{Choice, Opened};
use crate::host::Host;
use crate::live::{Change, Live};
use crate::message::{self, Done, Request};
use crate::session::Session;
use crate::tape::Tape;
use serde_json::Value;
use taffeta::math::DVec3;
use taffeta_io::export::Format;
use taffeta_io::scene_file;
use taffeta_scene::{Fault, Method};
use web_time::Instant;

/// Bounds of what a page may ask for: speed [1]; places and speeds of things thrown and held [m, m/s]; radius of a ball [m].
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=100.0;
const FURTHEST: f64 = 1e4;
const FASTEST: f64 = 100.0;
const RADII: std::ops::RangeInclusive<f64> = 1e-3..=100.0;
/// Letters in the name of what a page brings, how many of them there may be, and how large they may be together [bytes].
const LONGEST_NAME: usize = 100;
const MOST_BROUGHT: usize = 50;
const LARGEST_BROUGHT: usize = 256 << 20;

impl<H: Host> Session<H> {
    /// Carries out a request of a page, or says why not.
    pub(crate) fn request(&mut self, request: Request, page: u64) -> Result<Done, String> {
        match request {
            Request::Play {} => self.play(true),
            Request::Pause {} => self.play(false),
            Request::Step {} => {
                self.playing = false;
                self.asked += 1;
                self.due = Instant::now();
                Ok(Done::default())
            }
            Request::Reset {} => self.reset(),
            Request::Speed { factor } => {
                if factor.is_some_and(|factor| !SPEEDS.contains(&factor)) {
                    return Err(format!("the speed lies between {} and {}", SPEEDS.start(), SPEEDS.end()));
                }
                self.speed = factor;
                Ok(Done::default())
            }
            Request::Open { choice } => self.open(&choice),
            Request::Set { key, value } => self.set(&key, &value),
            Request::Compare { method } => self.compare(method.as_deref()),
            Request::Threads { count } => self.threads(count),
            Request::Hold { particle, place, fleeting } => {
                let done = self.hold(particle, place)?;
                self.grip = fleeting.then_some((page, particle));
                Ok(done)
            }
            Request::Free { particle } => {
                self.live()?.free(particle);
                self.grip = None;
                Ok(Done::default())
            }
            Request::Ball { from, velocity, radius } => self.ball(from, velocity, radius),
            Request::Record {} => self.record(),
            Request::Stop {} => self.stop(),
            Request::Seek { frame } => self.seek(frame),
            Request::Read { name, text } => {
                named(&name)?;
                self.keep(Choice::text(&name, text))
            }
            Request::Bring { name, at, part, last } => self.bring(page, &name, at, &part, last),
            Request::Export { format } => self.export(&format),
            Request::Save {} => {
                let scene = match &self.opened {
                    Opened::Live(live) => Some(&live.scene),
                    Opened::Film(film) => film.scene.as_ref(),
                };
                let scene = scene.ok_or("this recording's scene cannot be read by this version")?;
                Ok(Done { note: "saved".into(), text: Some(scene_file::to_toml(scene)), file: None })
            }
            // Answered where the page is.
            Request::Take {} | Request::Got { .. } => Ok(Done::default()),
        }
    }

    /// The simulation, where one is open.
    fn live(&mut self) -> Result<&mut Live, String> {
        match &mut self.opened {
            Opened::Live(live) => Ok(live),
            Opened::Film(_) => Err("a recording cannot be changed; open a scene".into()),
        }
    }

    fn play(&mut self, playing: bool) -> Result<Done, String> {
        (self.playing, self.asked) = (playing, 0);
        self.due = Instant::now();
        if !playing {
            self.cancel();
        }
        // From the end of a recording it starts over.
        if let Opened::Film(film) = &mut self.opened
            && playing
            && film.at + 1 >= film.frames()
        {
            film.seek(0).map_err(|error| error.to_string())?;
            self.renewed();
        }
        Ok(Done::default())
    }

    fn reset(&mut self) -> Result<Done, String> {
        self.abandon();
        self.grip = None;
        self.end_tape();
        match &mut self.opened {
            Opened::Live(live) => live.reset().map_err(|faults| all(&faults))?,
            Opened::Film(film) => film.seek(0).map_err(|error| error.to_string())?,
        }
        self.reshape();
        self.renewed();
        Ok(Done::default())
    }

    fn open(&mut self, id: &str) -> Result<Done, String> {
        let choice = self.choices.iter().find(|choice| choice.id == id).ok_or("there is no such choice")?;
        let opened = choice.open().map_err(|error| error.to_string())?;
        Ok(self.show_opened(id.into(), opened))
    }

    fn show_opened(&mut self, choice: String, opened: Opened) -> Done {
        self.abandon();
        self.end_tape();
        self.grip = None;
        (self.choice, self.opened) = (choice, opened);
        self.reshape();
        self.renewed();
        Done::default()
    }

    /// Takes a part of a file; with the last it is opened.
    fn bring(&mut self, page: u64, name: &str, at: usize, part: &str, last: bool) -> Result<Done, String> {
        named(name)?;
        let upload = Upload::take(self.upload.take(), page, name, at, part)?;
        if !last {
            self.upload = Some(upload);
            return Ok(Done::default());
        }
        self.keep(Choice::file(name, upload.bytes())?)
    }

    /// Opens what a page has brought; what cannot be opened is not kept.
    fn keep(&mut self, choice: Choice) -> Result<Done, String> {
        let name = choice.id.clone();
        if self.choices.iter().any(|other| other.id == name && other.brought().is_none()) {
            return Err(format!("there is a scene called {name} already; give this one another name"));
        }
        let others = || self.choices.iter().filter(|other| other.id != name).filter_map(Choice::brought);
        if others().count() >= MOST_BROUGHT {
            return Err(format!("{MOST_BROUGHT} files were brought already"));
        }
        if others().sum::<usize>() + choice.brought().unwrap_or(0) > LARGEST_BROUGHT {
            let most = LARGEST_BROUGHT >> 20;
            return Err(format!("files that pages have brought are larger than {most} MiB together"));
        }
        let opened = choice.open().map_err(|error| error.to_string())?;
        self.choices.retain(|other| other.id != name);
        self.choices.push(choice);
        Ok(self.show_opened(name, opened))
    }

    fn export(&mut self, format: &str) -> Result<Done, String> {
        let format = match format {
            "gltf" => Format::Gltf,
            "usdz" => Format::Usdz,
            other => {
                return Err(format!("`{other}` is not gltf or usdz; taffeta export writes other formats"));
            }
        };
        let name = format!("{}.{}", plain(&self.choice), format.extension());
        match &mut self.opened {
            Opened::Live(_) => {
                Err("a whole run is that of a recording: record it, then open the recording".into())
            }
            Opened::Film(film) => {
                let (bytes, summary) = film.export(format, &name).map_err(|error| error.to_string())?;
                let note = [vec![format!("{} frames", summary.frames)], summary.left_out].concat().join("; ");
                Ok(Done { note, text: None, file: Some((name, bytes)) })
            }
        }
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<Done, String> {
        let change = self.live()?.set(key, value).map_err(|error| error.to_string())?;
        Ok(match change {
            Change::Quick => Done::default(),
            Change::GoesOn => {
                self.reshape();
                self.renewed();
                Done::default()
            }
            Change::Restarted => {
                self.end_tape();
                self.reshape();
                self.renewed();
                Done::noted(format!("{key} changes the start: the scene begins anew"))
            }
        })
    }

    fn compare(&mut self, name: Option<&str>) -> Result<Done, String> {
        let known = |name: &str| Method::ALL.iter().copied().find(|method| method.name() == name);
        let method = match name {
            None => None,
            Some(name) => Some(known(name).ok_or_else(|| format!("`{name}` is no method"))?),
        };
        self.live()?.compare(method).map_err(|error| error.to_string())?;
        self.reshape();
        self.renewed();
        Ok(Done::default())
    }

    fn threads(&mut self, count: usize) -> Result<Done, String> {
        let most = self.host.cores();
        if !(1..=most).contains(&count) {
            return Err(format!("this machine has {most} cores: ask for 1 to {most} threads"));
        }
        self.host.set_threads(count)?;
        Ok("the result does not depend on it".into())
    }

    fn hold(&mut self, particle: u32, place: Option<[f64; 3]>) -> Result<Done, String> {
        let place = place.map(|place| bounded(place, FURTHEST)).transpose()?;
        if self.live()?.hold(particle, place) {
            return Ok(Done::default());
        }
        Err(format!("particle {particle} cannot be held: there is none, or too many are held"))
    }

    fn ball(&mut self, from: [f64; 3], velocity: [f64; 3], radius: f64) -> Result<Done, String> {
        let (from, velocity) = (bounded(from, FURTHEST)?, bounded(velocity, FASTEST)?);
        if !RADII.contains(&radius) {
            return Err(format!("the radius lies between {} and {} m", RADII.start(), RADII.end()));
        }
        self.live()?.throw(from, velocity, radius).map_err(|faults| all(&faults))?;
        self.reshape();
        self.renewed();
        Ok(Done::default())
    }

    fn record(&mut self) -> Result<Done, String> {
        if self.tape.is_some() {
            return Err("a recording is under way".into());
        }
        let (shelf, threads) = (self.shelf.clone(), self.host.threads());
        let tape = Tape::start(&shelf, self.live()?, threads).map_err(|error| error.to_string())?;
        let note = tape.as_ref().map(|tape| format!("recording to {}", tape.name));
        self.tape = tape;
        Ok(Done::noted(note.unwrap_or_default()))
    }

    fn stop(&mut self) -> Result<Done, String> {
        if self.tape.is_none() {
            return Err("nothing is being recorded".into());
        }
        Ok(Done { file: self.end_tape(), ..Done::default() })
    }

    fn seek(&mut self, frame: usize) -> Result<Done, String> {
        match &mut self.opened {
            Opened::Film(film) => film.seek(frame).map_err(|error| error.to_string())?,
            Opened::Live(_) => return Err("only recordings have a timeline".into()),
        }
        self.playing = false;
        self.renewed();
        Ok(Done::default())
    }

    /// Ends a recording that is under way; it can be opened from then on. One that is on no disk is handed out.
    fn end_tape(&mut self) -> Option<(String, Vec<u8>)> {
        let (tape, Opened::Live(live)) = (self.tape.take()?, &self.opened) else { return None };
        match tape.end(live) {
            Ok(kept) => {
                self.host.tell(message::notice(&format!("recorded {}", kept.name()), false));
                self.choices.push(Choice::recording(&kept));
                kept.bytes().map(|bytes| (kept.name(), bytes.to_vec()))
            }
            Err(error) => {
                self.host.tell(message::notice(&error.to_string(), true));
                None
            }
        }
    }
}

/// Whether something that a page brings may be called so.
fn named(name: &str) -> Result<(), String> {
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(format!("a name has 1 to {LONGEST_NAME} letters"));
    }
    Ok(())
}

/// The name of a choice without folders and ending.
fn plain(choice: &str) -> &str {
    let name = choice.rsplit(['/', '\\']).next().unwrap_or(choice);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn all(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A vector no longer than `most` in any direction. JSON has no numbers that are not finite.
fn bounded(vector: [f64; 3], most: f64) -> Result<DVec3, String> {
    let vector = DVec3::from(vector);
    if vector.abs().max_element() <= most {
        Ok(vector)
    } else {
        Err(format!("numbers here lie between -{most} and {most}"))
    }
}
