//! Work and precision: what an error costs with every method, on one scene, against a reference that has converged.

use super::{Common, parse_method};
use crate::measure::{FrameSteps, Milliseconds, machine, warm_up};
use crate::page::{Form, Section, column, figure, text};
use crate::table::Table;
use crate::tell::{aside, tell};
use crate::{BenchError, figures, percent};
use serde::Serialize;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_io::scene_file::{self, LoadedScene, SceneSource};
use taffeta_render::plot::{Level, Line, Plot, Stroke};
use taffeta_scene::Method;

/// How many times the sub-steps of its finest run the reference takes.
const FINER: u32 = 4;

/// The colour of what methods choose by themselves.
const CHOSEN: usize = 7;

/// Runs one scene by every method with more and more sub-steps, and compares each with a reference that has converged.
///
/// The error is the distance of particles from where the reference has them, root mean square over all particles and frames, over the
/// size of the cloth at rest. The reference is one method with four times the sub-steps of its finest run; what half as many change is told as its own
/// error, and nothing below that means anything. Methods that keep lengths solve cloth that does not stretch: their error ends where
/// the stretch of the fabric begins to count. Crumpling cloth is chaotic: take few frames.
#[derive(clap::Args)]
pub struct Args {
    /// The scene: a file, or a built-in one by name.
    #[arg(default_value = "hang")]
    scene: String,
    /// Methods by name; all, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_method)]
    methods: Vec<Method>,
    /// The method of the reference.
    #[arg(long, value_name = "NAME", default_value = "verlet", value_parser = parse_method)]
    reference: Method,
    /// Changes of the scene, as of `taffeta run`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Frames to compare [default: 30, quick 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: Option<u32>,
    /// How often sub-steps are doubled [default: 6, quick 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=12))]
    doublings: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// Sub-steps in a frame.
    substeps: f64,
    /// `us` or `the method`.
    chosen_by: &'static str,
    threads: usize,
    frames: u32,
    ms_per_frame: Milliseconds,
    /// Root mean square over the size of the cloth.
    error: f64,
    /// The largest of any particle over the size of the cloth.
    largest_error: f64,
    max_strain: f64,
}

/// A run: where all particles were at the end of every frame, and what it took.
struct Run {
    positions: Vec<Vec<DVec3>>,
    steps: Vec<FrameSteps>,
    max_strain: f64,
}

/// What runs are made of.
struct Bench<'a> {
    args: &'a Args,
    source: SceneSource,
    frames: u32,
}

/// Compares all methods.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let frames = args.frames.unwrap_or(if args.common.quick { 10 } else { 30 });
    let doublings = args.doublings.unwrap_or(if args.common.quick { 3 } else { 6 });
    let bench = Bench { args, source: SceneSource::find(&args.scene)?, frames };
    let threads = args.common.threads().last().copied().unwrap_or(1);
    let pool = machine::pool(Some(threads))?;
    let mut table = Table { title: Some("Work and precision"), ..Table::default() };

    let finest = FINER << ladder_top(doublings, args.reference);
    let (exact, own_error, size) = pool.install(|| bench.reference(finest))?;
    tell(format_args!("reference {}: its own error is about {}", args.reference.name(), figures(own_error)))?;
    let (mut lines, mut chosen, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
    let methods = if args.methods.is_empty() { Method::ALL } else { &args.methods };
    for (colour, &method) in methods.iter().enumerate() {
        let mut points = Vec::new();
        let given = (0..=ladder_top(doublings, method)).map(|k| Some(1 << k));
        for multiple in given.chain([None]) {
            let run = match pool.install(|| bench.run(method, multiple)) {
                Ok(run) => run,
                Err(BenchError::Step(error)) => {
                    aside(format_args!("{}: {error}", method.name()));
                    continue;
                }
                Err(other) => return Err(other),
            };
            let row = row(method, multiple, &run, &exact, size, threads);
            let point = [row.ms_per_frame.cpu.unwrap_or(row.ms_per_frame.median), row.error];
            let ends = row.ms_per_frame.cpu_quartiles.unwrap_or([point[0]; 2]);
            spreads.push(Line {
                points: ends.map(|ms| [ms, row.error]).to_vec(),
                colour: if multiple.is_some() { colour } else { CHOSEN },
                ..Line::default()
            });
            if multiple.is_some() { &mut points } else { &mut chosen }.push(point);
            table.take(method.name(), Ok(row), words)?;
        }
        lines.push(Line { name: method.name().into(), points, colour, stroke: Stroke::Marked });
    }
    lines.push(Line {
        name: "as the method chooses".into(),
        points: chosen,
        colour: CHOSEN,
        stroke: Stroke::Marks,
    });
    lines.extend(spreads);
    table.plots = vec![plot(args, lines, own_error)];
    table.page = vec![section(args, &table, own_error, finest)];
    Ok(table)
}

/// How often the sub-steps of a method are doubled. Verlet starts where it is stable, which is far finer.
fn ladder_top(doublings: u32, method: Method) -> u32 {
    if method == Method::Verlet { doublings.min(2) } else { doublings }
}

impl Bench<'_> {
    fn load(&self, method: Method, substeps: Option<u32>) -> Result<LoadedScene, BenchError> {
        let mut sets = self.args.set.clone();
        sets.push(format!("solver.method={}", method.name()));
        sets.extend(substeps.map(|substeps| format!("solver.substeps={substeps}")));
        Ok(scene_file::load(&self.source, &sets)?)
    }

    fn simulation(&self, method: Method, substeps: Option<u32>) -> Result<Simulation, BenchError> {
        let loaded = self.load(method, substeps)?;
        let built = taffeta_scene::simulation(&loaded.scene, &loaded.meshes);
        Ok(built.map_err(|faults| loaded.refuse(faults))?)
    }

    /// Sub-steps in a step that a method starts from: what it needs to be stable, or one.
    fn fewest(&self, method: Method) -> Result<u32, BenchError> {
        if method != Method::Verlet {
            return Ok(1);
        }
        // The limit moves with the cloth: the most of all steps is stable throughout.
        let mut simulation = self.simulation(method, None)?;
        let mut most = 1;
        for _ in 0..self.frames * simulation.model().steps_per_frame {
            most = simulation.step()?.substeps.max(most);
        }
        Ok(most + most / 4)
    }

    /// A run with a multiple of the fewest sub-steps, or as the method likes.
    fn run(&self, method: Method, multiple: Option<u32>) -> Result<Run, BenchError> {
        let substeps = match multiple {
            Some(multiple) => Some(multiple * self.fewest(method)?),
            None => None,
        };
        let mut simulation = self.simulation(method, substeps)?;
        warm_up(&mut simulation)?;
        let mut run = Run { positions: Vec::new(), steps: Vec::new(), max_strain: 0.0 };
        for _ in 0..self.frames {
            run.steps.push(FrameSteps::take(&mut simulation)?);
            run.positions.push(simulation.state().positions.clone());
            run.max_strain = run.max_strain.max(simulation.certificate().max_strain);
        }
        Ok(run)
    }

    /// The reference, how far it is from one with half the sub-steps, and the size of the cloth [m].
    fn reference(&self, multiple: u32) -> Result<(Run, f64, f64), BenchError> {
        let simulation = self.simulation(self.args.reference, None)?;
        let rest = &simulation.model().rest_positions;
        let low = rest.iter().copied().reduce(DVec3::min).unwrap_or_default();
        let high = rest.iter().copied().reduce(DVec3::max).unwrap_or_default();
        let size = (high - low).length();
        let half = self.run(self.args.reference, Some(multiple / 2))?;
        let exact = self.run(self.args.reference, Some(multiple))?;
        let own = distance(&half, &exact).0 / size;
        Ok((exact, own, size))
    }
}

/// Root mean square and largest distance of all particles in all frames [m].
fn distance(run: &Run, exact: &Run) -> (f64, f64) {
    let pairs = run.positions.iter().flatten().zip(exact.positions.iter().flatten());
    let (sum, largest, count) = pairs.fold((0.0, 0.0_f64, 0.0), |(sum, largest, count), (a, b)| {
        let squared = a.distance_squared(*b);
        (sum + squared, largest.max(squared), count + 1.0)
    });
    (f64::sqrt(sum / count), largest.sqrt())
}

fn row(method: Method, multiple: Option<u32>, run: &Run, exact: &Run, size: f64, threads: usize) -> Row {
    let (mean, largest) = distance(run, exact);
    let frames = run.steps.len();
    Row {
        method: method.name(),
        substeps: run.steps.iter().map(|frame| f64::from(frame.report.substeps)).sum::<f64>() / frames as f64,
        chosen_by: if multiple.is_some() { "us" } else { "the method" },
        threads,
        frames: frames as u32,
        ms_per_frame: Milliseconds::of(&run.steps),
        error: mean / size,
        largest_error: largest / size,
        max_strain: run.max_strain,
    }
}

fn words(row: &Row) -> String {
    format!(
        "{:18} {:>6} sub-steps chosen by {:10} {:>8} ms a frame (cpu {:>8})  error {:>9}  largest {:>9}  strain {}",
        row.method,
        figures(row.substeps),
        row.chosen_by,
        figures(row.ms_per_frame.median),
        row.ms_per_frame.cpu.map_or("-".into(), figures),
        figures(row.error),
        figures(row.largest_error),
        percent(row.max_strain),
    )
}

fn plot(args: &Args, lines: Vec<Line>, own_error: f64) -> Plot {
    Plot {
        title: format!("Error against time: {}", args.scene),
        x_label: "CPU time of a frame [ms]".into(),
        y_label: "error / size of the cloth (RMS)".into(),
        log_x: true,
        log_y: true,
        lines,
        levels: vec![Level { name: "the reference's own error".into(), y: own_error }],
    }
}

fn section(args: &Args, table: &Table, own_error: f64, finest: u32) -> Section {
    let changes = if args.set.is_empty() { String::new() } else { format!(" with {}", args.set.join(", ")) };
    Section {
        title: format!("Scene {}{changes}", args.scene),
        words: vec![
            "Further left is cheaper, further down is better. Every point is one run with twice the sub-steps of the one before; times are medians of the CPU times of frames, bars go from the first to the third quartile of them.".into(),
            format!(
                "The reference is `{}` with {finest} times the sub-steps that it needs; half as many change it by {}. Errors are distances of particles over the diagonal of the cloth at rest, root mean square over all particles and frames. Methods that keep lengths solve a cloth that does not stretch: where their line turns level, the stretch of the fabric is all that is left.",
                args.reference.name(),
                figures(own_error)
            ),
        ],
        columns: vec![
            text("method", "method"),
            figure("sub-steps in a frame", "substeps"),
            column("chosen by", "chosen_by", Form::Plain),
            figure("CPU ms a frame", "ms_per_frame.cpu"),
            figure("first quartile", "ms_per_frame.cpu_quartiles.0"),
            figure("third", "ms_per_frame.cpu_quartiles.1"),
            figure("wall ms a frame", "ms_per_frame.median"),
            figure("error", "error"),
            figure("largest error", "largest_error"),
            column("largest strain", "max_strain", Form::Percent),
        ],
        rows: table.rows.clone(),
        plots: table.plots.clone(),
        ..Section::default()
    }
}
