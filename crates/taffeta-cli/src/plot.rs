//! `taffeta plot`: strain, energy, iterations and stage times of runs over time, as SVG.

use crate::{Ending, Failure};
use std::path::{Path, PathBuf};
use taffeta_bench::tell::{described, tell};
use taffeta_io::replacement::Replacement;
use taffeta_render::plot::report_svg;

/// Draws the reports of one or several runs into one SVG.
#[derive(clap::Args)]
pub struct Args {
    /// Reports as `taffeta run` writes them.
    #[arg(required = true, value_name = "REPORT.json")]
    reports: Vec<PathBuf>,
    /// The file to write.
    #[arg(long, value_name = "FILE.svg")]
    out: PathBuf,
}

/// A file that is no report.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}; name a report.json that `taffeta run` has written")]
struct NoReport {
    path: PathBuf,
    reason: String,
}

/// Draws the plots.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let mut reports = Vec::new();
    for path in &args.reports {
        reports.push((name_of(path), read(path).map_err(Failure::input)?));
    }
    let svg = report_svg(&reports);
    let written = Replacement::write(&args.out, &svg);
    written.map_err(|error| Failure::work(NoPlot { path: args.out.clone(), error }))?;
    tell(described(&args.out))?;
    Ok(Ending::Done)
}

/// A plot that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}; choose another place")]
struct NoPlot {
    path: PathBuf,
    error: std::io::Error,
}

fn read(path: &Path) -> Result<serde_json::Value, NoReport> {
    let refuse = |reason: String| NoReport { path: path.to_path_buf(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    let report: serde_json::Value = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    match report["frames"].as_array() {
        Some(frames) if !frames.is_empty() => Ok(report),
        Some(_) => Err(refuse("it has no frames".into())),
        None => Err(refuse("it is not a report".into())),
    }
}

/// What a run is called in the legend: its folder, or the file where that says nothing.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.filter(|_| stem == "report").unwrap_or(stem)
}
