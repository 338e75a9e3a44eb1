//! Sheets on a card: what a frame takes, stage by stage, beside the CPU.

mod batch;

use super::{Common, hang};
use crate::measure::{FrameSteps, Milliseconds, build, machine, median, warm_up};
use crate::table::Table;
use crate::{BenchError, figures, percent};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use taffeta::Simulation;
use taffeta::step::StepError;
use taffeta_io::scene_file::{self, SceneSource};
use taffeta_scene::{Cloth, Scene};

/// The sheet of `bench hang`, or a built-in scene with contact such as `drape`, on a CUDA card, by `impulse-strips`.
///
/// A row has the wall time of a frame with its state on the host: median, least and largest. Stages are medians over all frames. `start` is
/// the time to lay the scene out, with the kernels compiled or found on disk. Every frame is certified by the CPU. The CPU's own row
/// comes after each, unless --no-cpu is given.
#[derive(clap::Args)]
pub struct Args {
    /// `hang`, or a built-in scene of one sheet.
    #[arg(long, value_name = "NAME", default_value = "hang")]
    scene: String,
    /// So many sheets of `hang` side by side in one scene.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    cloths: u32,
    /// So many members of a batch that stays on the card, instead of a scene; they start from eight different kicks. A row has the wall time of a frame of all.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["cloths", "scene"], value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: Option<u32>,
    /// Particles along a side [default: 100, 200, 316, 500; quick 30].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=4000))]
    grid: Vec<u32>,
    /// Largest strain that is good (0.01 is 1 %).
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.01,0.0001")]
    tolerance: Vec<f64>,
    /// Distance of the pins over the size: below 1 the sheet sags between them.
    #[arg(long, value_name = "X", default_value_t = 0.95)]
    slack: f64,
    /// Frames to simulate [default: 150, quick 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// The card: cuda or cuda:N.
    #[arg(long, value_name = "NAME", default_value = "cuda")]
    device: String,
    /// Leave the CPU out.
    #[arg(long)]
    no_cpu: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    scene: String,
    cloths: u32,
    device: String,
    threads: usize,
    grid: u32,
    tolerance: f64,
    slack: f64,
    frames: u32,
    start_s: f64,
    ms_per_frame: Milliseconds,
    largest_ms: f64,
    stage_ms: Map<String, Value>,
    substeps: f64,
    most_substeps: u32,
    iterations: f64,
    max_strain: f64,
    /// Frames whose strain is within the tolerance by the certificate.
    within: usize,
    /// Pairs of triangles that intersect, in the worst frame, where they are to be kept apart.
    intersections: usize,
    /// Steps that the card left to the host.
    left_to_host: u32,
    hash: String,
}

/// Measures all combinations of what was asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let quick = args.common.quick;
    let usual: &[u32] = if quick { &[30] } else { &[100, 200, 316, 500] };
    let grids = if args.grid.is_empty() { usual } else { &args.grid };
    let frames = args.frames.unwrap_or(if quick { 10 } else { 150 });
    let mut table = Table::default();
    if let Some(count) = args.batch {
        for (&grid, &tolerance) in grids.iter().flat_map(|grid| args.tolerance.iter().map(move |t| (grid, t)))
        {
            let row = Ok(batch::measure(args, count, grid, tolerance, frames)?);
            table.take(&format!("{count} of {grid} x {grid} on {}", args.device), row, batch::words)?;
        }
        return Ok(table);
    }
    for (&grid, &tolerance) in grids.iter().flat_map(|grid| args.tolerance.iter().map(move |t| (grid, t))) {
        let threads = args.common.threads();
        // What the host does for the card it does on as many threads as it may.
        let most = threads.iter().copied().max().unwrap_or(1);
        let cpu = threads.into_iter().filter(|_| !args.no_cpu);
        let on =
            std::iter::once((args.device.clone(), most)).chain(cpu.map(|threads| ("cpu".into(), threads)));
        for (device, threads) in on {
            let scene = scene(args, grid, tolerance, frames, &device)?;
            let row = machine::pool(Some(threads))?.install(|| {
                let begun = Instant::now();
                let mut simulation = build("gpu", &scene, &BTreeMap::new())?;
                let start_s = begun.elapsed().as_secs_f64();
                Ok::<_, BenchError>(go_through(&mut simulation, frames).map(|row| Row {
                    scene: args.scene.clone(),
                    cloths: args.cloths,
                    device: device.clone(),
                    threads,
                    grid,
                    slack: args.slack,
                    start_s,
                    ..row
                }))
            })?;
            table.take(&format!("{grid} x {grid} on {device}"), row, words)?;
        }
    }
    Ok(table)
}

/// The scene of a row.
fn scene(args: &Args, grid: u32, tolerance: f64, frames: u32, device: &str) -> Result<Scene, BenchError> {
    if args.scene == "hang" {
        let mut scene = hang::scene(grid, tolerance, args.slack, frames, device);
        let beside = |k: u32| Cloth { position: [2.0 * f64::from(k), 0.0, 0.0], ..scene.cloth[0].clone() };
        scene.cloth = (0..args.cloths).map(beside).collect();
        return Ok(scene);
    }
    let sets = [
        format!("frames={frames}"),
        format!("solver.tolerance={tolerance}"),
        format!("solver.device=\"{device}\""),
        format!("cloth[0].sheet.columns={grid}"),
        format!("cloth[0].sheet.rows={grid}"),
    ];
    Ok(scene_file::load(&SceneSource::find(&args.scene)?, &sets)?.scene)
}

fn go_through(simulation: &mut Simulation, frames: u32) -> Result<Row, StepError> {
    warm_up(simulation)?;
    let (mut steps, mut max_strain, mut within, mut intersections) = (Vec::new(), 0.0_f64, 0, 0);
    let (tolerance, meets) = (simulation.model().tolerance, simulation.model().cloth_meets_cloth);
    for _ in 0..frames {
        steps.push(FrameSteps::take(simulation)?);
        let certificate = simulation.certificate();
        max_strain = max_strain.max(certificate.max_strain);
        within += usize::from(certificate.max_strain <= tolerance);
        let cloth_cloth = if meets { certificate.cloth_cloth } else { 0 };
        intersections = intersections.max(cloth_cloth + certificate.cloth_body);
    }
    let mean = |of: fn(&FrameSteps) -> u32| {
        steps.iter().map(|frame| f64::from(of(frame))).sum::<f64>() / f64::from(frames)
    };
    let mut stages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, seconds) in steps.iter().flat_map(|frame| frame.stages.iter()) {
        stages.entry(name).or_default().push(1e3 * seconds);
    }
    Ok(Row {
        scene: String::new(),
        cloths: 0,
        device: String::new(),
        threads: 0,
        grid: 0,
        tolerance,
        slack: 0.0,
        frames,
        start_s: 0.0,
        ms_per_frame: Milliseconds::of(&steps),
        largest_ms: steps.iter().map(|frame| 1e3 * frame.wall.as_secs_f64()).fold(0.0, f64::max),
        stage_ms: stages.into_iter().map(|(name, ms)| (name.into(), json!(median(ms)))).collect(),
        substeps: mean(|frame| frame.report.substeps),
        most_substeps: steps.iter().map(|frame| frame.report.substeps).max().unwrap_or(0),
        iterations: mean(|frame| frame.report.iterations),
        max_strain,
        within,
        intersections,
        left_to_host: steps.iter().map(|frame| frame.report.left_to_host).sum(),
        hash: format!("{:016x}", simulation.state().hash()),
    })
}

fn words(row: &Row) -> String {
    let stage =
        |(name, ms): (&String, &Value)| format!("{name} {}", figures(ms.as_f64().unwrap_or(f64::NAN)));
    format!(
        "{} x {} x {} of {} at {} on {} ({} threads): {} ms a frame (least {}, largest {}), start {} s\n  stages [ms]: {}\n  \
         {} sub-steps a frame (most {}), {} iterations, largest strain {}, {} of {} frames within, {} intersections at most, \
         {} steps left to the host, hash {}",
        row.cloths,
        row.grid,
        row.grid,
        row.scene,
        percent(row.tolerance),
        row.device,
        row.threads,
        figures(row.ms_per_frame.median),
        figures(row.ms_per_frame.min),
        figures(row.largest_ms),
        figures(row.start_s),
        row.stage_ms.iter().map(stage).collect::<Vec<_>>().join(", "),
        figures(row.substeps),
        row.most_substeps,
        figures(row.iterations),
        percent(row.max_strain),
        row.within,
        row.frames,
        row.intersections,
        row.left_to_host,
        row.hash,
    )
}
