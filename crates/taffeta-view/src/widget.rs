//! Cloth as messages to a page that has no server: the widget of a notebook. They are those of `docs/viewer.md`.

use crate::page;
use serde_json::{Map, Value, json};
use std::path::Path;
use taffeta::Simulation;
use taffeta_io::recording::{Reader, RecordingError};
use taffeta_session::{Figure, Film, Packet, Side};

/// The widget as one module of JavaScript, three.js and all; nothing where the page could not be built.
pub fn source() -> Option<&'static str> {
    page::file("widget.js").and_then(|file| std::str::from_utf8(file.bytes).ok())
}

/// The message that shows what a simulation is made of.
pub fn shape(simulation: &Simulation) -> Vec<u8> {
    figure(simulation).packet(0).into()
}

/// The message that shows its present state, with what is told of it.
pub fn frame(simulation: &Simulation, serial: u32, number: u32, report: Value) -> Vec<u8> {
    let (model, state) = (simulation.model(), simulation.state());
    let side = Side {
        positions: &state.positions,
        velocities: &state.velocities,
        pressure: None,
        time: state.time,
        bodies: model.poses(state).collect(),
        certificate: report.clone(),
        report,
    };
    message(&side, &figure(simulation), serial, number, state.time)
}

fn figure(simulation: &Simulation) -> Figure {
    let model = simulation.model();
    Figure::of(model, vec![model.method.name().into()])
}

fn message(side: &Side, figure: &Figure, serial: u32, frame: u32, time: f64) -> Vec<u8> {
    let mut packet = Packet::default();
    let side = side.pack(figure, 0, &mut packet);
    let head = Map::from_iter([
        ("kind".into(), json!("frame")),
        ("shape".into(), json!(0)),
        ("serial".into(), json!(serial)),
        ("frame".into(), json!(frame)),
        ("time".into(), json!(time)),
        ("sides".into(), json!([side])),
    ]);
    packet.finish(head).into()
}

/// A recording that is shown.
pub struct Recorded(Film);

impl Recorded {
    /// Opens it.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        Film::of(Reader::open(path)?).map(Self)
    }

    /// The message that shows what it is of.
    pub fn shape(&self) -> Vec<u8> {
        self.0.figure.packet(0).into()
    }

    /// The message that shows a frame, counted from 0.
    pub fn frame(&mut self, serial: u32, index: usize) -> Result<Vec<u8>, RecordingError> {
        self.0.seek(index)?;
        let (number, time) = self.0.shown();
        Ok(message(&self.0.look(), &self.0.figure, serial, number, time))
    }
}
