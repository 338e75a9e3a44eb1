//! The built-in drape, or another scene with contact, stage by stage.

use super::Common;
use crate::measure::{FrameSteps, Milliseconds, machine, median, warm_up};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures, percent};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::time::Instant;
use taffeta::Simulation;
use taffeta::step::StepError;
use taffeta_io::scene_file::{self, SceneSource};

/// A built-in scene with contact, such as `drape`: a sheet falls over a sphere. Tells where the time of a frame goes.
///
/// Times are medians over all frames, in ms.
#[derive(clap::Args)]
pub struct Args {
    /// The built-in scene.
    #[arg(long, value_name = "NAME", default_value = "drape")]
    scene: String,
    /// The method by name [default: the scene's own].
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Particles along a side [default: the scene's own 100, quick 30].
    #[arg(long, value_name = "N")]
    grid: Option<u32>,
    /// Frames to simulate [default: the scene's own, quick 10].
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Largest strain that is good (0.01 is 1 %) [default: the scene's own].
    #[arg(long, value_name = "X")]
    tolerance: Option<f64>,
    /// Cloth does not meet cloth.
    #[arg(long)]
    no_self_contact: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    scene: String,
    method: &'static str,
    particles: usize,
    threads: usize,
    frames: u32,
    ms_per_frame: Milliseconds,
    stage_ms: Map<String, Value>,
    realtime_factor: f64,
    substeps: f64,
    tolerance: f64,
    max_strain: f64,
    intersections: usize,
    /// Contacts in the last frame.
    contacts: u32,
}

/// Measures the drape on every number of threads asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let quick = |number: u32| args.common.quick.then_some(number);
    let small = quick(30).filter(|_| args.scene == "drape");
    let (grid, frames) = (args.grid.or(small), args.frames.or(quick(10)));
    let mut sets: Vec<String> = frames.iter().map(|frames| format!("frames={frames}")).collect();
    sets.extend(args.method.iter().map(|method| format!("solver.method={method}")));
    sets.extend(args.tolerance.iter().map(|tolerance| format!("solver.tolerance={tolerance}")));
    sets.extend(args.no_self_contact.then(|| "contact.cloth_cloth=false".to_string()));
    for side in ["columns", "rows"] {
        sets.extend(grid.iter().map(|n| format!("cloth[0].sheet.{side}={n}")));
    }
    let loaded = scene_file::load(&SceneSource::find(&args.scene)?, &sets)?;
    let mut table = Table::default();
    for &threads in &args.common.threads() {
        let row = machine::pool(Some(threads))?.install(|| {
            let built = taffeta_scene::simulation(&loaded.scene, &loaded.meshes);
            let mut simulation = built.map_err(|faults| loaded.refuse(faults))?;
            Ok::<_, BenchError>(go_through(&mut simulation, &args.scene, loaded.scene.frames, threads))
        })?;
        table.take(&format!("{threads} threads"), row, words)?;
    }
    tell("times are medians over the frames")?;
    Ok(table)
}

fn go_through(
    simulation: &mut Simulation,
    scene: &str,
    frames: u32,
    threads: usize,
) -> Result<Row, StepError> {
    let (mut steps, mut certificate_s) = (Vec::new(), Vec::new());
    let (mut max_strain, mut intersections) = (0.0, 0);
    warm_up(simulation)?;
    for _ in 0..frames {
        steps.push(FrameSteps::take(simulation)?);
        let begun = Instant::now();
        let certificate = simulation.certificate();
        certificate_s.push(begun.elapsed().as_secs_f64());
        max_strain = certificate.max_strain.max(max_strain);
        intersections = intersections.max(certificate.cloth_cloth + certificate.cloth_body);
    }
    let model = simulation.model();
    let wall: f64 = steps.iter().map(|frame| frame.wall.as_secs_f64()).sum();
    Ok(Row {
        scene: scene.into(),
        method: model.method.name(),
        particles: model.particle_count(),
        threads,
        frames,
        ms_per_frame: Milliseconds::of(&steps),
        stage_ms: stage_medians(&steps, certificate_s),
        realtime_factor: f64::from(frames) * f64::from(model.steps_per_frame) * model.step_time / wall,
        substeps: steps.iter().map(|frame| f64::from(frame.report.substeps)).sum::<f64>() / f64::from(frames),
        tolerance: model.tolerance,
        max_strain,
        intersections,
        contacts: steps.last().map_or(0, |frame| frame.report.contacts),
    })
}

/// Median time of every stage [ms], in the order of the step; the certificate comes last.
fn stage_medians(steps: &[FrameSteps], certificate_s: Vec<f64>) -> Map<String, Value> {
    let names = steps.first().into_iter().flat_map(|frame| frame.stages.iter().map(|(name, _)| name));
    let of = |name: &str| -> Vec<f64> {
        let times = steps.iter().flat_map(|frame| frame.stages.iter());
        times.filter(|(stage, _)| *stage == name).map(|(_, seconds)| seconds).collect()
    };
    let mut medians: Map<String, Value> =
        names.map(|name| (name.into(), json!(1e3 * median(of(name))))).collect();
    medians.insert("certificate".into(), json!(1e3 * median(certificate_s)));
    medians
}

fn words(row: &Row) -> String {
    let stage =
        |(name, ms): (&String, &Value)| format!("{name} {}", figures(ms.as_f64().unwrap_or(f64::NAN)));
    format!(
        "{}, {}, {} particles, {} threads, {} frames: {} ms a frame (least {}, cpu {}), {} x real time\n  stages [ms]: {}\n  \
         {} substeps, largest strain {}, intersections {}, contacts at the end {}",
        row.scene,
        row.method,
        row.particles,
        row.threads,
        row.frames,
        figures(row.ms_per_frame.median),
        figures(row.ms_per_frame.min),
        row.ms_per_frame.cpu.map_or("-".into(), figures),
        figures(row.realtime_factor),
        row.stage_ms.iter().map(stage).collect::<Vec<_>>().join(", "),
        figures(row.substeps),
        percent(row.max_strain),
        row.intersections,
        row.contacts,
    )
}
