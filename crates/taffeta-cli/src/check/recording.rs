//! The certificate of a recording: every frame, every full state, and the file itself.

use super::{Findings, Measured, fit};
use crate::Failure;
use crate::certificate::counted;
use serde_json::Value;
use std::path::Path;
use taffeta::check::{PlacedBody, Surface, body_intersections, certify_parts};
use taffeta::math::DVec3;
use taffeta::model::{Form, State};
use taffeta_bench::figures;
use taffeta_io::recording::{Frame, FullState, Header, Reader, RecordingError, torn};

/// Positions are recorded relative to the middle of their bounding box, to this share of its extent.
const ROUNDING: f64 = 1.0 / (1u64 << 25) as f64;

/// Measures every frame of a recording. The tolerance is the recording's own, unless one is given.
pub fn examine(path: &Path, tolerance: Option<f64>, with_fit: bool) -> Result<Findings, Failure> {
    let mut reader = Reader::open(path).map_err(Failure::input)?;
    let header = reader.header().clone();
    let (mut torn, mut splits) = (header.clone(), 0);
    let mut found = Findings {
        subject: String::new(),
        tolerance: tolerance.or(header.about["tolerance"].as_f64()),
        frames: Vec::new(),
        faults: Vec::new(),
        notes: Vec::new(),
        fit: None,
    };
    let shapes = shapes(&header, &mut found);
    let mut states = States::default();
    let mut frame = Frame::default();
    while reader.next_frame(&mut frame).map_err(Failure::input)? {
        let mut positions: Vec<DVec3> = frame.absolute().collect();
        let mut resolution = strain_resolution(&positions, &header);
        if let Some(state) = states.of(frame.number, &mut reader).map_err(Failure::input)?
            && let Some(exact) = exact_positions(&frame, &state, &positions, &mut found)
        {
            (positions, resolution) = (exact, 0.0);
            states.good += 1;
        }
        if frame.bodies.len() != shapes.len() {
            let (there, wanted) = (frame.bodies.len(), shapes.len());
            found.faults.push(format!("frame {} has the poses of {there} bodies of {wanted}", frame.number));
        }
        check_bodies(&header, &shapes, &frame, &mut found);
        match torn::splits(&frame.report, &header) {
            Ok(list) if list.len() != splits => (splits, torn) = (list.len(), header.torn(&list)),
            Ok(_) => {}
            Err(reason) => found.faults.push(format!("frame {}: {reason}", frame.number)),
        }
        let bodies = shapes.iter().zip(&frame.bodies);
        let bodies = bodies.filter_map(|(form, pose)| Some((form.as_ref()?, *pose)));
        let cloth = Surface { positions: &positions, triangles: &torn.triangles };
        found.frames.push(Measured {
            name: format!("frame {}", frame.number),
            time: Some(frame.time),
            certificate: certify_parts(cloth, &torn.edges, &torn.rest_lengths, bodies, frame.time),
            resolution,
        });
    }
    describe(&mut found, &reader, &header, path, &states);
    if with_fit {
        found.fit = fit::measure(path)?;
        if found.fit.is_none() {
            found.notes.push("there is no fit to tell: no body is a mesh".into());
        }
    }
    Ok(found)
}

/// Says what the recording is, how exact, and whether it is whole.
fn describe(found: &mut Findings, reader: &Reader, header: &Header, path: &Path, states: &States) {
    let text = |key: &str| header.about[key].as_str().unwrap_or("unknown").to_string();
    found.subject = format!(
        "{}: {} of {} ms, {}, method {}, recorded by taffeta {}",
        path.display(),
        counted(found.frames.len(), "frame"),
        figures(1e3 * header.frame_time),
        counted(header.rest_positions.len(), "particle"),
        text("method"),
        text("taffeta"),
    );
    let coarsest = found.frames.iter().map(|frame| frame.resolution).fold(0.0, f64::max);
    found.notes.push(format!(
        "{} of {} have the hash that the frame names; positions of other frames are rounded, by up to {} of strain",
        states.good,
        counted(reader.state_count(), "full state"),
        figures(coarsest),
    ));
    match reader.damage() {
        Some(damage) => {
            found.faults.push(format!("the file is damaged: {damage}; what comes before was checked"))
        }
        None if !reader.complete() => found.notes.push("the run has not come to its end".into()),
        None => {}
    }
}

/// The shapes of the bodies, in the order of their poses; none for one that is not known.
fn shapes(header: &Header, found: &mut Findings) -> Vec<Option<Form>> {
    let colliders = header.about["colliders"].as_array().map_or(&[][..], Vec::as_slice);
    let mut shape = |(i, collider): (usize, &Value)| {
        let read = serde_json::from_value(collider["shape"].clone());
        read.map_err(|error| found.faults.push(format!("body {i} has no shape that is known: {error}"))).ok()
    };
    colliders.iter().enumerate().map(&mut shape).collect()
}

/// Tells which free bodies intersect others.
fn check_bodies(header: &Header, shapes: &[Option<Form>], frame: &Frame, found: &mut Findings) {
    let about = |number: usize, key: &str| header.about["colliders"][number][key].clone();
    let numbered = shapes.iter().zip(&frame.bodies).enumerate();
    let known = numbered.filter_map(|(number, (form, pose))| {
        let is_free = about(number, "free").as_bool().unwrap_or(false);
        Some((number, PlacedBody { form: form.as_ref()?, pose: *pose, is_free }))
    });
    let (numbers, bodies): (Vec<usize>, Vec<PlacedBody>) = known.unzip();
    for pair in body_intersections(&bodies, frame.time) {
        let [a, b] = pair.map(|k| about(numbers[k], "name"));
        found.faults.push(format!("frame {}: the bodies {a} and {b} intersect", frame.number));
    }
}

/// What rounding can do to the strain of the shortest edge [1]: both ends move, along all axes.
fn strain_resolution(positions: &[DVec3], header: &Header) -> f64 {
    let low = positions.iter().copied().reduce(DVec3::min).unwrap_or_default();
    let high = positions.iter().copied().reduce(DVec3::max).unwrap_or_default();
    let shortest = header.rest_lengths.iter().copied().fold(f64::INFINITY, f64::min);
    let resolution = 2.0 * ROUNDING * (high - low).length() / shortest;
    if resolution.is_finite() { resolution } else { 0.0 }
}

/// The positions of a full state, if it is the one that the frame was made from.
fn exact_positions(
    frame: &Frame,
    state: &FullState,
    rounded: &[DVec3],
    found: &mut Findings,
) -> Option<Vec<DVec3>> {
    let number = frame.number;
    let (positions, hash) = match State::positions_in(&state.bytes, rounded.len()) {
        Ok(found) => found,
        Err(mismatch) => {
            found.faults.push(format!("frame {number}: {mismatch}"));
            return None;
        }
    };
    if hash != frame.state_hash {
        let recorded = frame.state_hash;
        found.faults.push(format!(
            "frame {number}: its state has the hash {hash:016x}, the frame says {recorded:016x}"
        ));
        return None;
    }
    let extent = positions.iter().fold(0.0, |most: f64, x| most.max((*x - frame.centre).abs().max_element()));
    let near = |(x, y): (&DVec3, &DVec3)| (*x - *y).abs().max_element() <= 4.0 * ROUNDING * extent;
    if let Some(particle) = positions.iter().zip(rounded).position(|pair| !near(pair)) {
        found.faults.push(format!("frame {number}: particle {particle} is not where the full state has it"));
        return None;
    }
    Some(positions)
}

/// The full states of a recording, gone through along with its frames.
#[derive(Default)]
struct States {
    next: usize,
    ahead: Option<FullState>,
    /// How many were found right.
    good: usize,
}

impl States {
    /// The state of a frame, if it is recorded.
    fn of(&mut self, frame: u32, reader: &mut Reader) -> Result<Option<FullState>, RecordingError> {
        while self.next < reader.state_count() && self.ahead.as_ref().is_none_or(|state| state.frame < frame)
        {
            self.ahead = reader.state(self.next)?;
            self.next += 1;
        }
        Ok(self.ahead.take_if(|state| state.frame == frame))
    }
}
