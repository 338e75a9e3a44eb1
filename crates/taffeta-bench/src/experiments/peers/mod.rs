//! `taffeta bench peers`: other programs on the same sheet on the same machine, all judged alike from their frames.

mod driver;
mod judge;
mod table;

use super::Common;
use crate::measure::machine;
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures, percent};
use driver::{Drive, Film};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use taffeta_scene::Method;

/// A sheet that falls later than this was held by not moving [s]; converged runs take 0.43 s.
const LATEST_FALL: f64 = 0.47;

/// Lets other programs and ours simulate one sheet, and compares what an achieved strain costs.
///
/// A sheet of 1 m and 0.2 kg, level at the start, frames of 1/30 s, no air. `hang`: two neighbouring corners are pinned. `drape`: it falls from
/// 5 cm onto a fixed ball of 0.3 m with friction 0.3. Every program is raised step by step until it meets the smallest tolerance or has used up
/// its time. Strain and intersections of all frames are measured by the code of `taffeta check`, times by the drivers: CPU time of
/// stepping alone, median of the frames. A run counts if it is whole and, hanging, falls in time or, draping, comes down to the ball.
#[derive(clap::Args)]
pub struct Args {
    /// The list of peers that `peers/setup.sh` has written.
    list: PathBuf,
    /// What to simulate.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "hang", value_parser = ["hang", "drape"])]
    scene: Vec<String>,
    /// Particles along a side [default: 10,20,30,50,100, quick 10].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(3..=500))]
    grid: Vec<u32>,
    /// Strains that are to be met.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.1,0.01,0.001,0.0001")]
    tolerance: Vec<f64>,
    /// Frames to simulate [default: 90, quick 30].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: Option<u32>,
    /// CPU time for one run [s]; it is cut there and does not count [default: 60, quick 5].
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// CPU time for all runs of one program on one grid [s] [default: 240, quick 15].
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// Only these peers.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What one run is asked.
#[derive(Debug, Clone)]
struct Task {
    scene: String,
    grid: u32,
    frames: u32,
    seconds: f64,
}

/// One run.
#[derive(Serialize, Deserialize, Clone)]
struct Row {
    scene: String,
    grid: u32,
    peer: String,
    version: String,
    settings: String,
    frames: usize,
    cpu_ms: f64,
    wall_ms: f64,
    max_strain: f64,
    mean_strain: f64,
    /// Most pairs of cloth triangles that intersect in one frame, and most that cut into the ball.
    cloth_cloth: usize,
    cloth_body: usize,
    min_gap_mm: Option<f64>,
    fall_s: Option<f64>,
    /// Whether all frames were made and the sheet fell in time.
    counts: bool,
    /// CPU time of all its steps [s]; of a run that did not end, the time that was waited.
    spent_s: f64,
    /// Whether there was no time for finer settings.
    gave_up: bool,
    /// Why there are no frames.
    failure: Option<String>,
}

/// Runs all programs.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let peers = driver::read_list(&args.list)?;
    let quick = args.common.quick;
    let usual: &[u32] = if quick { &[10] } else { &[10, 20, 30, 50, 100] };
    let grids = if args.grid.is_empty() { usual } else { &args.grid };
    let budget = args.budget.unwrap_or(if quick { 15.0 } else { 240.0 });
    let tightest = args.tolerance.iter().copied().fold(f64::INFINITY, f64::min);
    let threads = args.common.threads().first().copied().unwrap_or(1);
    let mut rows: Vec<Row> = Vec::new();
    for scene in &args.scene {
        for &grid in grids {
            let task = Task {
                scene: scene.clone(),
                grid,
                frames: args.frames.unwrap_or(if quick { 30 } else { 90 }),
                seconds: args.seconds.unwrap_or(if quick { 5.0 } else { 60.0 }),
            };
            for method in [Method::ImpulseStrips, Method::ImpulseDirect] {
                for &tolerance in &args.tolerance {
                    let film =
                        machine::pool(Some(threads))?.install(|| driver::ours(&task, method, tolerance))?;
                    rows.push(tell_row(judge::row(&task, &film))?);
                }
            }
            for peer in peers.iter().filter(|peer| args.only.is_empty() || args.only.contains(&peer.name)) {
                climb(peer, &task, budget, tightest, &mut rows)?;
            }
        }
    }
    Ok(table::page(&rows, &args.tolerance))
}

/// Raises one peer until it meets the tolerance or has used up its time.
fn climb(
    peer: &Drive,
    task: &Task,
    budget: f64,
    tightest: f64,
    rows: &mut Vec<Row>,
) -> Result<(), BenchError> {
    let mut spent = 0.0;
    for rung in &peer.ladder {
        let begun = std::time::Instant::now();
        let film = peer.run(task, rung).unwrap_or_else(|error| Film::missing(peer, &error));
        // On a busy machine only CPU time is fair; what did not end tells none.
        let stepping = 1e-3 * film.cpu_ms.iter().sum::<f64>();
        let spent_s = if film.failure.is_some() { begun.elapsed().as_secs_f64() } else { stepping };
        let mut row = tell_row(judge::row(task, &film))?;
        row.spent_s = spent_s;
        spent += spent_s;
        row.gave_up = spent > budget;
        let done = row.gave_up || (row.counts && row.max_strain <= tightest);
        rows.push(row);
        if done {
            break;
        }
    }
    Ok(())
}

fn tell_row(row: Row) -> Result<Row, BenchError> {
    let Row { scene, grid, peer, settings, frames, cloth_cloth, cloth_body, .. } = &row;
    tell(format_args!(
        "{scene:5} {grid:3} {peer:12} {settings:44} {frames:3} frames {:>8} ms cpu  strain {:>9}  through cloth {cloth_cloth} ball {cloth_body}  fall {}{}",
        figures(row.cpu_ms),
        percent(row.max_strain),
        row.fall_s.map_or("-".into(), |fall| format!("{fall:.3} s")),
        match &row.failure {
            Some(failure) => format!("  {failure}"),
            None => (if row.counts { "" } else { "  does not count" }).into(),
        },
    ))?;
    Ok(row)
}

/// Settings in words: `substeps 20, stiffness 100`.
fn words(settings: &Map<String, Value>) -> String {
    let word = |(key, value): (&String, &Value)| {
        format!("{key} {}", value.as_str().map_or(value.to_string(), Into::into))
    };
    settings.iter().map(word).collect::<Vec<_>>().join(", ")
}

impl Task {
    /// What a driver is given, with the settings of a rung.
    fn with(&self, rung: &Map<String, Value>) -> Value {
        let mut all =
            json!({ "n": self.grid, "scene": self.scene, "frames": self.frames, "seconds": self.seconds });
        if let Some(all) = all.as_object_mut() {
            all.extend(rung.clone());
        }
        all
    }
}
