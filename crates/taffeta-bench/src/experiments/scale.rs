//! How time falls with the threads and grows with the particles, stage by stage.

use super::Common;
use crate::measure::{FrameSteps, Milliseconds, machine, median, warm_up};
use crate::page::{Form, Section, all_columns, column};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures};
use serde::Serialize;
use serde_json::{Map, Value, json};
use taffeta::Simulation;
use taffeta::step::StepError;
use taffeta_io::scene_file::{self, SceneSource};
use taffeta_render::plot::{Line, Plot, Stroke};

/// Strong and weak scaling of built-in scenes with one sheet: how time falls with the threads, and how it grows with the particles.
///
/// Every grid runs on every number of threads, and each of these also with as many particles for every thread as the first grid has. All rows of a scene and a
/// grid have the same bits. Times are medians over the frames.
#[derive(clap::Args)]
pub struct Args {
    /// Built-in scenes.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "drape")]
    scene: Vec<String>,
    /// Particles along a side [default: 50,100,200, quick 30].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=2000))]
    grid: Vec<u32>,
    /// Frames that are measured [default: 10, quick 2].
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Frames before them: contact begins only after some.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u32,
    /// Cloth does not meet cloth.
    #[arg(long)]
    no_self_contact: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Clone, Serialize)]
struct Row {
    scene: String,
    /// Whether particles stay as many, or as many for every thread.
    scaling: &'static str,
    grid: u32,
    particles: usize,
    threads: usize,
    ms_per_frame: Milliseconds,
    /// Wall time of the first number of threads over this one [1]; of a weak row, times the work: sub-steps and particles.
    speed_up: f64,
    /// That over the ratio of the threads [1].
    efficiency: f64,
    substeps: f64,
    /// Wall time for every particle and sub-step [ns].
    ns_per_particle: f64,
    stage_ms: Map<String, Value>,
    /// Of the last state.
    hash: String,
}

/// Measures all scenes, grids and numbers of threads.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let quick = args.common.quick;
    let grids = match &args.grid[..] {
        [] if quick => vec![30],
        [] => vec![50, 100, 200],
        grids => grids.to_vec(),
    };
    let threads = args.common.threads();
    let mut table = Table { title: Some("Scaling over threads and sizes"), ..Table::default() };
    for scene in &args.scene {
        for (kind, grid) in grids.iter().map(|grid| ("strong", *grid)).chain([("weak", grids[0])]) {
            let mut first: Option<Row> = None;
            for &threads in &threads {
                let share = threads as f64 / first.as_ref().map_or(threads, |row| row.threads) as f64;
                let side =
                    if kind == "weak" { (f64::from(grid) * share.sqrt()).round() as u32 } else { grid };
                let row = take(args, scene, (kind, side), threads)?.map(|row| row.compared(first.as_ref()));
                first = first.or_else(|| row.as_ref().ok().cloned());
                table.take(&format!("{scene}, {side} x {side}, {threads} threads"), row, words)?;
            }
        }
    }
    tell("times are medians over the frames")?;
    table.page = sections(&table.rows);
    Ok(table)
}

/// One simulation on so many threads.
fn take(
    args: &Args,
    scene: &str,
    (scaling, grid): (&'static str, u32),
    threads: usize,
) -> Result<Result<Row, StepError>, BenchError> {
    let mut sets = vec![format!("cloth[0].sheet.columns={grid}"), format!("cloth[0].sheet.rows={grid}")];
    sets.extend(args.no_self_contact.then(|| "contact.cloth_cloth=false".to_string()));
    let loaded = scene_file::load(&SceneSource::find(scene)?, &sets)?;
    let frames = args.frames.unwrap_or(if args.common.quick { 2 } else { 10 });
    machine::pool(Some(threads))?.install(|| {
        let built = taffeta_scene::simulation(&loaded.scene, &loaded.meshes);
        let mut simulation = built.map_err(|faults| loaded.refuse(faults))?;
        Ok(go_through(&mut simulation, [args.skip, frames]).map(|(steps, hash)| {
            let particles = simulation.model().particle_count();
            let ms_per_frame = Milliseconds::of(&steps);
            let all: f64 = steps.iter().map(|frame| f64::from(frame.report.substeps)).sum();
            let substeps = all / f64::from(frames);
            Row {
                scene: scene.into(),
                scaling,
                grid,
                particles,
                threads,
                speed_up: 1.0,
                efficiency: 1.0,
                substeps,
                ns_per_particle: 1e6 * ms_per_frame.median / (substeps * particles as f64),
                ms_per_frame,
                stage_ms: stages(&steps),
                hash: format!("{hash:016x}"),
            }
        }))
    })
}

fn go_through(
    simulation: &mut Simulation,
    [skip, frames]: [u32; 2],
) -> Result<(Vec<FrameSteps>, u64), StepError> {
    warm_up(simulation)?;
    for _ in 0..skip {
        simulation.step_frame(&mut ())?;
    }
    let steps: Result<Vec<FrameSteps>, StepError> =
        (0..frames).map(|_| FrameSteps::take(simulation)).collect();
    Ok((steps?, simulation.state().hash()))
}

/// Median time of every stage [ms], in the order of the step.
fn stages(steps: &[FrameSteps]) -> Map<String, Value> {
    let names = steps.first().into_iter().flat_map(|frame| frame.stages.iter().map(|(name, _)| name));
    let of = |name: &str| -> Vec<f64> {
        let times = steps.iter().flat_map(|frame| frame.stages.iter());
        times.filter(|(stage, _)| *stage == name).map(|(_, seconds)| 1e3 * seconds).collect()
    };
    names.map(|name| (name.into(), json!(median(of(name))))).collect()
}

impl Row {
    /// Against the row with the first number of threads.
    fn compared(self, first: Option<&Row>) -> Row {
        let Some(first) = first else { return self };
        let work = |row: &Row| row.substeps * row.particles as f64;
        let work = if self.scaling == "weak" { work(&self) / work(first) } else { 1.0 };
        let speed_up = work * first.ms_per_frame.median / self.ms_per_frame.median;
        Row { speed_up, efficiency: speed_up * first.threads as f64 / self.threads as f64, ..self }
    }
}

fn words(row: &Row) -> String {
    let stage =
        |(name, ms): (&String, &Value)| format!("{name} {}", figures(ms.as_f64().unwrap_or(f64::NAN)));
    format!(
        "{:6} {:6} {:>4} x {:<4} {:>3} threads: {:>7} ms a frame (cpu {:>7}), {:>5} times as fast, efficiency {:>5}, {:>5} sub-steps, {:>5} ns a particle\n  stages [ms]: {}",
        row.scene,
        row.scaling,
        row.grid,
        row.grid,
        row.threads,
        figures(row.ms_per_frame.median),
        row.ms_per_frame.cpu.map_or("-".into(), figures),
        figures(row.speed_up),
        figures(row.efficiency),
        figures(row.substeps),
        figures(row.ns_per_particle),
        row.stage_ms.iter().map(stage).collect::<Vec<_>>().join(", "),
    )
}

/// All rows with plots, and the stages of every size on the fewest and on the most threads.
fn sections(rows: &[Value]) -> Vec<Section> {
    let plots = vec![
        plot(rows, "strong", "Speed-up over threads", "threads", "times as fast", ["threads", "speed_up"]),
        plot(
            rows,
            "strong",
            "CPU time over threads",
            "threads",
            "CPU time of a frame [ms]",
            ["threads", "ms_per_frame.cpu"],
        ),
        plot(
            rows,
            "weak",
            "As many particles for every thread",
            "threads",
            "efficiency [1]",
            ["threads", "efficiency"],
        ),
        by_particles(rows),
    ];
    let all = Section {
        title: "All rows".into(),
        words: vec!["Strong: as many particles on more threads. Weak: as many particles for every thread; time is then compared for every particle and sub-step.".into()],
        columns: all_columns(rows).into_iter().filter(|column| !column.key.starts_with("stage_ms")).collect(),
        rows: rows.to_vec(),
        plots,
        ..Section::default()
    };
    let stages = Section {
        title: "Stages".into(),
        words: vec![
            "Which stage bounds the speed-up: its time on the fewest and on the most threads.".into(),
        ],
        columns: vec![
            column("scene", "scene", Form::Text),
            column("grid", "grid", Form::Figures),
            column("stage", "stage", Form::Plain),
            column("threads", "fewest", Form::Figures),
            column("ms", "slow", Form::Figures),
            column("threads", "most", Form::Figures),
            column("ms", "fast", Form::Figures),
            column("times as fast", "speed_up", Form::Figures),
            column("share of the frame then", "share", Form::Percent),
        ],
        rows: by_stage(rows),
        ..Section::default()
    };
    vec![all, stages]
}

fn number(row: &Value, way: &str) -> f64 {
    way.split('.').fold(row, |row, key| &row[key]).as_f64().unwrap_or(f64::NAN)
}

/// Scene and grid of every size, in order.
fn sizes(rows: &[Value], scaling: &str) -> Vec<(Value, Value)> {
    let of = |row: &Value| {
        (row["scene"].clone(), if scaling == "weak" { Value::Null } else { row["grid"].clone() })
    };
    let mut sizes: Vec<(Value, Value)> =
        rows.iter().filter(|row| row["scaling"] == scaling).map(of).collect();
    sizes.dedup();
    sizes
}

fn of_size<'a>(
    rows: &'a [Value],
    scaling: &'a str,
    size: &'a (Value, Value),
) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| {
        row["scaling"] == scaling && row["scene"] == size.0 && (size.1.is_null() || row["grid"] == size.1)
    })
}

fn plot(rows: &[Value], scaling: &str, title: &str, x: &str, y: &str, [key_x, key_y]: [&str; 2]) -> Plot {
    let line = |(colour, size): (usize, &(Value, Value))| Line {
        name: match (size.0.as_str().unwrap_or_default(), size.1.as_u64()) {
            (scene, Some(grid)) => format!("{scene}, {grid} × {grid}"),
            (scene, None) => scene.into(),
        },
        points: of_size(rows, scaling, size).map(|row| [number(row, key_x), number(row, key_y)]).collect(),
        colour,
        stroke: Stroke::Marked,
    };
    Plot {
        title: title.into(),
        x_label: x.into(),
        y_label: y.into(),
        log_x: true,
        log_y: true,
        lines: sizes(rows, scaling).iter().enumerate().map(line).collect(),
        levels: Vec::new(),
    }
}

/// Time for every particle and sub-step over the particles: one line for every scene and number of threads.
fn by_particles(rows: &[Value]) -> Plot {
    let strong = || rows.iter().filter(|row| row["scaling"] == "strong");
    let mut kinds: Vec<(Value, Value)> =
        strong().map(|row| (row["scene"].clone(), row["threads"].clone())).collect();
    kinds.sort_by_key(|(scene, threads)| (scene.to_string(), threads.as_u64()));
    kinds.dedup();
    let line = |(colour, (scene, threads)): (usize, &(Value, Value))| Line {
        name: format!("{}, {threads} threads", scene.as_str().unwrap_or_default()),
        points: strong()
            .filter(|row| row["scene"] == *scene && row["threads"] == *threads)
            .map(|row| [number(row, "particles"), number(row, "ns_per_particle")])
            .collect(),
        colour,
        stroke: Stroke::Marked,
    };
    Plot {
        title: "Time for a particle and a sub-step".into(),
        x_label: "particles".into(),
        y_label: "wall time [ns]".into(),
        log_x: true,
        log_y: true,
        lines: kinds.iter().enumerate().map(line).collect(),
        levels: Vec::new(),
    }
}

/// Every stage of every size on the fewest and on the most threads.
fn by_stage(rows: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for size in sizes(rows, "strong") {
        let by_threads = |row: &&Value| row["threads"].as_u64();
        let of = || of_size(rows, "strong", &size);
        let (Some(fewest), Some(most)) = (of().min_by_key(by_threads), of().max_by_key(by_threads)) else {
            continue;
        };
        for (stage, slow) in fewest["stage_ms"].as_object().into_iter().flatten() {
            let (slow, fast) = (slow.as_f64().unwrap_or(f64::NAN), number(&most["stage_ms"], stage));
            all.push(json!({
                "scene": size.0, "grid": size.1, "stage": stage,
                "fewest": fewest["threads"], "slow": slow, "most": most["threads"], "fast": fast,
                "speed_up": slow / fast, "share": fast / number(most, "ms_per_frame.median"),
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scaling: &'static str, particles: usize, threads: usize, ms: f64) -> Row {
        let ms_per_frame = Milliseconds { median: ms, min: ms, cpu: None, cpu_quartiles: None };
        let stage_ms = Map::from_iter([("pull".to_string(), json!(ms / 2.0))]);
        let (scene, hash) = ("drape".into(), String::new());
        let (speed_up, efficiency, substeps, ns_per_particle) = (1.0, 1.0, 10.0, 1.0);
        Row {
            scene,
            scaling,
            grid: 30,
            particles,
            threads,
            ms_per_frame,
            speed_up,
            efficiency,
            substeps,
            ns_per_particle,
            stage_ms,
            hash,
        }
    }

    #[test]
    fn speed_up_is_of_time_or_of_time_for_the_work() {
        let strong = row("strong", 900, 4, 25.0).compared(Some(&row("strong", 900, 1, 50.0)));
        assert_eq!((strong.speed_up, strong.efficiency), (2.0, 0.5));
        let weak = row("weak", 3600, 4, 50.0).compared(Some(&row("weak", 900, 1, 50.0)));
        assert_eq!((weak.speed_up, weak.efficiency), (4.0, 1.0));
    }

    #[test]
    fn stages_are_compared_on_the_fewest_and_the_most_threads() {
        let rows =
            [(1, 50.0), (8, 5.0), (2, 25.0)].map(|(threads, ms)| json!(row("strong", 900, threads, ms)));
        let stages = by_stage(&rows);
        assert_eq!(stages.len(), 1);
        let [fewest, most, speed_up, share] =
            ["fewest", "most", "speed_up", "share"].map(|key| number(&stages[0], key));
        assert_eq!([fewest, most, speed_up, share], [1.0, 8.0, 10.0, 0.5]);
    }
}
