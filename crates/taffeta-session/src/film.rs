//! A recording that is looked at: any frame of it, forwards and back.

use crate::look::{self, Figure};
use serde_json::{Value, json};
use std::ops::Range;
use taffeta::math::DVec3;
use taffeta::model::Form;
use taffeta_io::export::{ExportError, ExportSummary, Format, Options, export_bytes};
use taffeta_io::recording::{Frame, Header, Reader, RecordingError};
use taffeta_io::scene_file;
use taffeta_scene::Scene;

/// Colour of cloth whose recording does not say.
const GREY: &str = "#8a8f98";

/// A recording and the frame of it that is shown.
pub struct Film {
    /// The scene as it was run, where this program can read it.
    pub scene: Option<Scene>,
    /// What is drawn.
    pub figure: Figure,
    /// The frame that is shown, counted from 0.
    pub at: usize,
    /// What is wrong with the file.
    pub damage: Option<String>,
    reader: Reader,
    frame: Frame,
    positions: Vec<DVec3>,
    velocities: Vec<DVec3>,
}

impl Film {
    /// Shows a recording at its first frame.
    pub fn of(mut reader: Reader) -> Result<Self, RecordingError> {
        reader.show_torn()?;
        let header = reader.header();
        let scene = scene_file::from_text("the recorded scene", &header.scene, &[]).ok();
        let mut film = Self {
            scene,
            figure: figure(header),
            at: 0,
            damage: reader.damage().map(ToString::to_string),
            reader,
            frame: Frame::default(),
            positions: Vec::new(),
            velocities: Vec::new(),
        };
        film.seek(0)?;
        Ok(film)
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.reader.frame_count()
    }

    /// Time from one frame to the next [s].
    pub fn frame_time(&self) -> f64 {
        self.reader.header().frame_time
    }

    /// Number of the frame that is shown, and its time [s].
    pub fn shown(&self) -> (u32, f64) {
        (self.frame.number, self.frame.time)
    }

    /// Shows a frame, the last for numbers beyond it. Speeds come from the frame before.
    pub fn seek(&mut self, frame: usize) -> Result<(), RecordingError> {
        let frame = frame.min(self.frames().saturating_sub(1));
        let first = frame.saturating_sub(1);
        self.reader.seek(first)?;
        let mut before = Vec::new();
        for _ in first..=frame {
            std::mem::swap(&mut before, &mut self.positions);
            if !self.reader.next_frame(&mut self.frame)? {
                self.damage = self.reader.damage().map(ToString::to_string);
                return Ok(());
            }
            self.positions.clear();
            self.positions.extend(self.frame.absolute());
        }
        self.velocities.clear();
        let pairs = before.iter().zip(&self.positions).filter(|_| first < frame);
        let per_second = 1.0 / self.reader.header().frame_time;
        self.velocities.extend(pairs.map(|(from, to)| (*to - *from) * per_second));
        self.velocities.resize(self.positions.len(), DVec3::ZERO);
        self.at = frame;
        Ok(())
    }

    /// All frames as a file for other programs, called `name`.
    pub fn export(&mut self, format: Format, name: &str) -> Result<(Vec<u8>, ExportSummary), ExportError> {
        let exported = export_bytes(&mut self.reader, format, name, &Options::default());
        // The reader is elsewhere now.
        self.seek(self.at).map_err(ExportError::from)?;
        exported
    }

    /// The frame as it is shown.
    pub fn look(&self) -> look::Side<'_> {
        look::Side {
            positions: &self.positions,
            velocities: &self.velocities,
            pressure: None,
            time: self.frame.time,
            bodies: self.frame.bodies.clone(),
            report: self.frame.report.clone(),
            certificate: self.certificate(),
        }
    }

    /// What was certified when the frame was recorded.
    fn certificate(&self) -> Value {
        let report = &self.frame.report;
        if report["cloth_cloth"].is_null() {
            return Value::Null;
        }
        json!({
            "frame": self.frame.number,
            "tolerance": self.figure.tolerance,
            "max_strain": report["max_strain"],
            "mean_strain": report["mean_strain"],
            "cloth_cloth": report["cloth_cloth"],
            "cloth_body": report["cloth_body"],
            "min_gap_m": report["min_gap_m"],
        })
    }
}

fn figure(header: &Header) -> Figure {
    let about = &header.about;
    let list = |key: &str| about[key].as_array().map_or(&[][..], Vec::as_slice);
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_string();
    let cloth = |item: &Value| {
        let particles = range(&item["particles"], header.rest_positions.len())?;
        let triangles = range(&item["triangles"], header.triangles.len())?;
        Some((name(item), item["colour"].as_str().unwrap_or(GREY).into(), particles, triangles))
    };
    let cloths: Option<Vec<_>> = list("cloths").iter().map(cloth).collect();
    let whole =
        || vec![("cloth".into(), GREY.into(), 0..header.rest_positions.len(), 0..header.triangles.len())];
    // Poses are told by number, so that a form which is not known ends the list.
    let body = |item: &Value| Some((name(item), serde_json::from_value::<Form>(item["shape"].clone()).ok()?));
    Figure {
        cloths: cloths.filter(|cloths| !cloths.is_empty()).unwrap_or_else(whole),
        bending: Vec::new(),
        thrown: 0,
        bodies: list("colliders").iter().map_while(body).collect(),
        triangles: header.triangles.clone(),
        edges: header.edges.clone(),
        rest_lengths: header.rest_lengths.clone(),
        rest_positions: header.rest_positions.clone(),
        material: header.material.clone(),
        pinned: header.pinned.clone(),
        methods: vec![about["method"].as_str().unwrap_or("recording").into()],
        tolerance: about["tolerance"].as_f64().unwrap_or(0.0),
    }
}

/// A pair of numbers as a range that ends by `limit`.
fn range(pair: &Value, limit: usize) -> Option<Range<usize>> {
    let end = |k: usize| pair[k].as_u64().and_then(|n| usize::try_from(n).ok());
    let (first, last) = (end(0)?, end(1)?);
    (first <= last && last <= limit).then_some(first..last)
}
