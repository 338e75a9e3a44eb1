//! The report: one JSON object of a whole run, made from the frames of its recording.

use crate::certificate::Worst;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use taffeta::Simulation;
use taffeta::check::{Certificate, seam_opening};
use taffeta::collide::CcdStats;
use taffeta::model::{Model, Split};
use taffeta::solve::strips::parts::{self, Statistics};
use taffeta::step::momentum;
use taffeta_bench::{FrameSteps, machine};
use taffeta_io::recording::{Frame, Reader, RecordingError};
use taffeta_io::replacement::Replacement;
use taffeta_scene::Method;

/// What is told of one frame. Numbers that are not finite are `None`, which JSON calls null.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FrameReport {
    /// The frame; frame 0 is the start, frame k comes after k frames of time.
    pub frame: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Wall time of stepping alone [ms].
    pub wall_ms: f64,
    /// Wall time of the stages of the steps [ms]; then `certificate`, and `recording`, which is the time that it took to
    /// write the frame before, because that of this one is not over yet.
    pub stage_ms: Map<String, Value>,
    /// Iterations of the solver.
    pub iterations: u64,
    /// Sub-steps.
    pub substeps: u64,
    /// Whether every step reached what its method promises.
    pub converged: bool,
    /// Why not, where the method can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Largest strain of a structural edge [1].
    pub max_strain: Option<f64>,
    /// Mean strain of structural edges [1].
    pub mean_strain: Option<f64>,
    /// What touches at the end: particles on colliders, and pairs of features.
    pub contacts: u32,
    /// What the guard did: pairs that would have met, rounds of proof, of those rounds in which particles had to move together, and
    /// pairs that led things press through one another.
    #[serde(default)]
    pub guard: CcdStats,
    /// Steps that a device left to the host.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_to_host: u32,
    /// Intersections of both kinds.
    pub intersections: usize,
    /// Pairs of cloth triangles that intersect.
    pub cloth_cloth: usize,
    /// Cloth triangles that cut into a collider.
    pub cloth_body: usize,
    /// Smallest distance between cloth and colliders, negative inside [m]; null without colliders.
    pub min_gap_m: Option<f64>,
    /// How far seams are open at most, beyond what their threads allow at this time [m]; null without seams.
    #[serde(default)]
    pub seam_opening_m: Option<f64>,
    /// All particles that are split by now, where cloth is torn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<Split>,
    /// Kinetic, gravity and elastic energy [J].
    pub energy_j: Value,
    /// Momentum of all particles [kg·m/s].
    pub momentum: Value,
    /// Fingerprint of every bit of the state, 16 hexadecimal digits.
    pub state_hash: String,
}

impl FrameReport {
    /// Certifies the present state and puts down what the steps towards it did.
    pub fn new(simulation: &Simulation, frame: u32, steps: &FrameSteps, recording_s: f64) -> Self {
        let begun = Instant::now();
        let certificate = simulation.certificate();
        let certificate_s = begun.elapsed().as_secs_f64();
        let own = [("certificate", certificate_s), ("recording", recording_s)];
        let stages = steps.stages.iter().chain(own);
        let (model, state) = (simulation.model(), simulation.state());
        Self {
            frame,
            time_s: state.time,
            wall_ms: 1e3 * steps.wall.as_secs_f64(),
            stage_ms: stages.map(|(name, seconds)| (name.into(), json!(1e3 * seconds))).collect(),
            iterations: u64::from(steps.report.iterations),
            substeps: u64::from(steps.report.substeps),
            converged: steps.report.converged,
            shortfall: steps.report.shortfall.map(|why| why.to_string()),
            max_strain: finite(certificate.max_strain),
            mean_strain: finite(certificate.mean_strain),
            contacts: steps.report.contacts,
            guard: steps.report.ccd,
            left_to_host: steps.report.left_to_host,
            intersections: certificate.cloth_cloth + certificate.cloth_body,
            cloth_cloth: certificate.cloth_cloth,
            cloth_body: certificate.cloth_body,
            min_gap_m: finite(certificate.min_gap),
            seam_opening_m: seam_opening(model, state).and_then(finite),
            torn: model.splits.clone(),
            energy_j: json!(simulation.energy()),
            momentum: json!(momentum(model, state).to_array()),
            state_hash: format!("{:016x}", state.hash()),
        }
    }

    /// What was certified. A strain of null could not be measured; a gap of null has no body.
    pub fn certificate(&self) -> Certificate {
        Certificate {
            max_strain: self.max_strain.unwrap_or(f64::INFINITY),
            mean_strain: self.mean_strain.unwrap_or(f64::INFINITY),
            cloth_cloth: self.cloth_cloth,
            cloth_body: self.cloth_body,
            min_gap: self.min_gap_m.unwrap_or(f64::INFINITY),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// What is told of a run as a whole.
#[derive(Debug)]
pub struct Summary {
    /// Frames of the report.
    pub frames: usize,
    /// Time from one frame to the next [s].
    pub frame_time: f64,
    /// Wall time of stepping all of them [ms].
    pub wall_ms: f64,
    /// Frames in which every step reached what its method promises.
    pub converged: usize,
    /// Intersections of both kinds at the start.
    pub at_start: usize,
    /// The first frame that did not and could tell why.
    pub shortfall: Option<(u32, String)>,
    /// The worst of their certificates.
    pub worst: Worst,
}

impl Summary {
    fn take(&mut self, frame: &FrameReport) {
        self.frames += 1;
        self.wall_ms += frame.wall_ms;
        self.converged += usize::from(frame.converged);
        if self.shortfall.is_none() && !frame.converged {
            self.shortfall = frame.shortfall.clone().map(|why| (frame.frame, why));
        }
        self.worst.take(&format!("frame {}", frame.frame), &frame.certificate());
    }

    /// Simulated seconds over wall seconds of stepping.
    pub fn realtime_factor(&self) -> f64 {
        self.frames as f64 * self.frame_time / (1e-3 * self.wall_ms)
    }

    fn json(&self, complete: bool) -> Value {
        let worst = &self.worst;
        json!({
            "wall_ms_per_frame": finite(self.wall_ms / self.frames as f64),
            "realtime_factor": finite(self.realtime_factor()),
            "max_strain": finite(worst.strain),
            "intersections": worst.intersections,
            "cloth_cloth": worst.cloth_cloth,
            "cloth_body": worst.cloth_body,
            "min_gap_m": finite(worst.min_gap),
            "converged_frames": self.converged,
            "complete": complete,
            "peak_rss_bytes": machine::peak_memory(),
        })
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The recording cannot be read back.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A frame of it holds no report of this kind.
    #[error("{path}: the report of frame {frame} is not of this version ({reason}); record the run again")]
    Frame {
        /// The recording.
        path: PathBuf,
        /// The frame.
        frame: u32,
        /// What is wrong.
        reason: String,
    },
    /// The file cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The head of a report: all that is said before its frames.
pub fn head(scene: &str, model: &Model, threads: usize) -> Value {
    json!({
        "taffeta": env!("CARGO_PKG_VERSION"),
        "scene": scene,
        "method": model.method.name(),
        "threads": threads,
        "particles": model.particle_count(),
        "triangles": model.triangles.len(),
        "constraints": model.edges.len(),
        "step_s": model.step_time,
        "tolerance": model.tolerance,
        "cut": cut(model),
    })
}

/// How the method has cut the structural edges, if it cuts them.
fn cut(model: &Model) -> Option<Value> {
    let single = match model.method {
        Method::ImpulseIterative => true,
        Method::ImpulseStrips => false,
        _ => return None,
    };
    let Statistics { groups, strips, longest, mean } = Statistics::of(&parts::of_model(model, single));
    Some(json!({ "groups": groups, "strips": strips, "longest_edges": longest, "mean_edges": mean }))
}

/// Writes the report of a recording, all of it or nothing. Frame 0, the start, is in the recording alone.
pub fn write(path: &Path, head: &Value, recording: &Path) -> Result<Summary, ReportError> {
    let mut reader = Reader::open(recording)?;
    let mut summary = Summary {
        frames: 0,
        frame_time: reader.header().frame_time,
        wall_ms: 0.0,
        converged: 0,
        at_start: 0,
        shortfall: None,
        worst: Worst::default(),
    };
    let failure = |source| ReportError::Io { path: path.into(), source };
    let mut file = Replacement::begin(path).map_err(failure)?;
    let text = head.to_string();
    write!(file.out, "{},\n\"frames\": [", text.strip_suffix('}').unwrap_or(&text)).map_err(failure)?;
    let mut frame = Frame::default();
    while reader.next_frame(&mut frame)? {
        let told: FrameReport = serde_json::from_value(frame.report.take()).map_err(|error| {
            ReportError::Frame { path: recording.into(), frame: frame.number, reason: error.to_string() }
        })?;
        if frame.number > 0 {
            let separator = if summary.frames == 0 { "" } else { "," };
            write!(file.out, "{separator}\n{}", json!(told)).map_err(failure)?;
            summary.take(&told);
        } else {
            summary.at_start = told.intersections;
        }
    }
    let end = summary.json(reader.complete());
    write!(file.out, "\n],\n\"summary\": {end}}}\n").map_err(failure)?;
    file.put_in_place().map_err(failure)?;
    Ok(summary)
}
