//! `taffeta check`: the certificate of recordings and of meshes from anywhere, by code that is not the solver.

mod fit;
mod meshes;
mod recording;

use crate::certificate::Worst;
use crate::{Ending, Failure};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use taffeta::check::Certificate;
use taffeta_bench::tell::{aside, tell};
use taffeta_bench::{figures, percent};
use taffeta_io::recording::meant;

/// Certifies every frame of a recording, or meshes of any program.
///
/// Ends with exit code 1 where the strain exceeds the tolerance, triangles intersect, or a recording is damaged.
///
/// Of meshes (OBJ, PLY, STL, glTF) the first is the rest shape, unless --rest names it; all must have the same points in the same
/// order. Strain is that of structural edges: the sides of quads, and of triangles that do not pair into quads.
#[derive(clap::Args)]
pub struct Args {
    /// A recording or the folder of a run, or meshes in the order of time.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Largest strain that is good (0.01 is 1 %). Left out: a recording's own; strain of meshes is then only told.
    #[arg(long, value_name = "X", value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// The mesh whose edges have their rest lengths.
    #[arg(long, value_name = "MESH")]
    rest: Option<PathBuf>,
    /// Tell how garments fit in the last frame of a recording: ease around the body, strain and pressure by part, and what is too tight.
    #[arg(long)]
    fit: bool,
    /// Tell of every frame.
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("write a number above 0, such as 0.01 for 1 %".into()),
    }
}

/// What was found in one recording or sequence of meshes.
struct Findings {
    /// What was looked at.
    subject: String,
    /// Largest strain that is good [1], if any is.
    tolerance: Option<f64>,
    /// What was measured, frame by frame.
    frames: Vec<Measured>,
    /// What is wrong besides strain and intersections.
    faults: Vec<String>,
    /// What else should be known.
    notes: Vec<String>,
    /// How garments fit, where that was asked for.
    fit: Option<fit::Fit>,
}

/// What was measured of one frame.
struct Measured {
    /// `frame 12`, or the name of a mesh.
    name: String,
    /// Simulated time [s], where it is known.
    time: Option<f64>,
    certificate: Certificate,
    /// What rounding of the positions can do to the strain [1].
    resolution: f64,
}

impl Findings {
    /// Whether a frame is within the tolerance, as far as its positions can tell.
    fn within(&self, frame: &Measured) -> bool {
        self.tolerance.is_none_or(|tolerance| frame.certificate.max_strain <= tolerance + frame.resolution)
    }

    fn held(&self) -> bool {
        let good = |frame: &Measured| {
            self.within(frame) && frame.certificate.cloth_cloth == 0 && frame.certificate.cloth_body == 0
        };
        self.faults.is_empty() && self.frames.iter().all(good)
    }

    fn worst(&self) -> Worst {
        let mut worst = Worst::default();
        self.frames.iter().for_each(|frame| worst.take(&frame.name, &frame.certificate));
        worst
    }
}

/// Meshes alone do not tell what is worn on what.
#[derive(Debug, thiserror::Error)]
#[error("--fit is for recordings; of meshes it is not known which is the body")]
struct NoFit;

/// Checks all files that were named.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let findings = if args.files.first().is_some_and(|file| is_recording(file)) {
        let recording = |file: &PathBuf| meant(file).unwrap_or_else(|| file.clone());
        args.files
            .iter()
            .map(|file| recording::examine(&recording(file), args.tolerance, args.fit))
            .collect::<Result<Vec<_>, _>>()?
    } else if args.fit {
        return Err(Failure::input(NoFit));
    } else {
        vec![meshes::examine(&args.files, args.rest.as_deref(), args.tolerance)?]
    };
    if args.json {
        let found: Vec<Value> = findings.iter().map(as_json).collect();
        tell(format_args!("{:#}", json!({ "taffeta": env!("CARGO_PKG_VERSION"), "checked": found })))?;
    } else {
        findings.iter().try_for_each(|found| print(found, args.verbose))?;
    }
    Ok(if findings.iter().all(Findings::held) { Ending::Done } else { Ending::Missed })
}

/// Whether a file begins like a recording, or is named like one, or is a folder with one.
fn is_recording(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(7).read_to_end(&mut start));
    meant(path).is_some() || (read.is_ok() && start == b"TAFFETA")
}

fn print(found: &Findings, verbose: bool) -> Result<(), Failure> {
    tell(&found.subject)?;
    if verbose {
        tell("                     largest    mean        cloth in   cloth in   smallest")?;
        tell("                time s   strain      strain      cloth       body     gap mm")?;
        found.frames.iter().try_for_each(|frame| tell(row(frame)))?;
    }
    let worst = found.worst();
    if !found.frames.is_empty() {
        let over = found.frames.iter().filter(|frame| !found.within(frame)).count();
        let crossed = |of: fn(&Certificate) -> usize| match found
            .frames
            .iter()
            .filter(|frame| of(&frame.certificate) > 0)
            .count()
        {
            0 => String::new(),
            n => format!(", in {n} of {} frames", found.frames.len()),
        };
        let over =
            if over == 0 { String::new() } else { format!(", {over} of {} frames", found.frames.len()) };
        tell(format_args!("certificate  {}{over}", worst.strain_words(found.tolerance)))?;
        tell(format_args!("             {}{}", worst.body_words(), crossed(|c| c.cloth_body)))?;
        tell(format_args!("             {}{}", worst.cloth_words(), crossed(|c| c.cloth_cloth)))?;
    }
    found.fit.iter().flat_map(fit::Fit::lines).try_for_each(tell)?;
    found.notes.iter().try_for_each(|note| tell(format_args!("note         {note}")))?;
    found.faults.iter().for_each(|fault| aside(format_args!("fault        {fault}")));
    let verdict = if found.held() { "good" } else { "NOT GOOD" };
    tell(format_args!("verdict      {verdict}"))?;
    Ok(())
}

fn row(frame: &Measured) -> String {
    let Certificate { max_strain, mean_strain, cloth_cloth, cloth_body, min_gap } = frame.certificate;
    format!(
        "{:14} {:>7} {:>10}  {:>10} {cloth_cloth:>10} {cloth_body:>10} {:>10}",
        frame.name,
        frame.time.map_or(String::new(), |time| format!("{time:.3}")),
        percent(max_strain),
        percent(mean_strain),
        if min_gap.is_finite() { figures(1e3 * min_gap) } else { "-".into() },
    )
}

fn as_json(found: &Findings) -> Value {
    let frame = |frame: &Measured| {
        let Certificate { max_strain, mean_strain, cloth_cloth, cloth_body, min_gap } = frame.certificate;
        json!({
            "frame": frame.name,
            "time_s": frame.time,
            "max_strain": max_strain,
            "mean_strain": mean_strain,
            "strain_resolution": frame.resolution,
            "cloth_cloth": cloth_cloth,
            "cloth_body": cloth_body,
            "intersections": cloth_cloth + cloth_body,
            "min_gap_m": min_gap,
        })
    };
    let worst = found.worst();
    json!({
        "subject": found.subject,
        "tolerance": found.tolerance,
        "frames": found.frames.iter().map(frame).collect::<Vec<_>>(),
        "summary": {
            "frames": found.frames.len(),
            "max_strain": worst.strain,
            "max_strain_at": worst.strain_at,
            "intersections": worst.intersections,
            "min_gap_m": worst.min_gap,
        },
        "fit": found.fit.as_ref().map(fit::Fit::as_json),
        "notes": found.notes,
        "faults": found.faults,
        "held": found.held(),
    })
}
