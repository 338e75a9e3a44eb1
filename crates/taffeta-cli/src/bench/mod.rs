//! `taffeta bench`: experiments that time the methods, told as tables and as JSON.

mod base64;
mod compare;
mod detect;
mod drape;
mod flags;
mod hang;
mod hang_papers;
mod limit;
mod moving;
mod page;
mod papers;
mod peers;
mod physics;
mod picture;
mod secant;
mod stable_step;
mod tree;

use crate::report::{Replacement, ReportError};
use crate::stepping::FrameSteps;
use crate::tell::{aside, described, tell};
use crate::{Ending, Failure, machine};
use clap::Parser;
use page::Section;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use taffeta::Simulation;
use taffeta::step::StepError;
use taffeta_render::plot::{Plot, lines_svg};

/// Times the methods in an experiment.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(clap::Subcommand)]
enum Experiment {
    Hang(hang::Args),
    Drape(drape::Args),
    Tree(tree::Args),
    StableStep(stable_step::Args),
    Flags(flags::Args),
    Limit(limit::Args),
    Detect(detect::Args),
    Physics(physics::Args),
    Papers(papers::Args),
    Compare(compare::Args),
    Peers(peers::Args),
}

/// What all experiments are asked.
#[derive(clap::Args)]
struct Common {
    /// Small sizes and few frames: whether it works, not how fast.
    #[arg(long)]
    quick: bool,
    /// Numbers of threads to try; all cores, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = machine::parse_threads)]
    threads: Vec<usize>,
    /// Write the rows here as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the rows into this folder as EXPERIMENT.json and EXPERIMENT.csv, and a page of them as EXPERIMENT.html and EXPERIMENT.md.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Common {
    fn threads(&self) -> Vec<usize> {
        if self.threads.is_empty() { vec![machine::cores()] } else { self.threads.clone() }
    }
}

impl Experiment {
    /// Its name and what all experiments are asked.
    fn common(&self) -> (&'static str, &Common) {
        match self {
            Self::Hang(args) => ("hang", &args.common),
            Self::Drape(args) => ("drape", &args.common),
            Self::Tree(args) => ("tree", &args.common),
            Self::StableStep(args) => ("stable-step", &args.common),
            Self::Flags(args) => ("flags", &args.common),
            Self::Limit(args) => ("limit", &args.common),
            Self::Detect(args) => ("detect", &args.common),
            Self::Physics(args) => ("physics", &args.common),
            Self::Papers(args) => ("papers", &args.common),
            Self::Compare(args) => ("compare", &args.common),
            Self::Peers(args) => ("peers", &args.common),
        }
    }

    fn measure(&self) -> Result<Table, Failure> {
        match self {
            Self::Hang(args) => hang::measure(args),
            Self::Drape(args) => drape::measure(args),
            Self::Tree(args) => tree::measure(args),
            Self::StableStep(args) => stable_step::measure(args),
            Self::Flags(args) => flags::measure(args),
            Self::Limit(args) => limit::measure(args),
            Self::Detect(args) => detect::measure(args),
            Self::Physics(args) => physics::measure(args),
            Self::Papers(args) => papers::measure(args),
            Self::Compare(args) => compare::measure(args),
            Self::Peers(args) => peers::measure(args),
        }
    }
}

/// An experiment as it stands on a command line.
#[derive(clap::Parser)]
#[command(name = "taffeta bench")]
struct Alone {
    #[command(subcommand)]
    experiment: Experiment,
}

/// Runs the experiment that a command line names, such as `hang --papers`.
fn repeat(command: &str) -> Result<Table, Failure> {
    let words = std::iter::once("taffeta bench").chain(command.split_whitespace());
    Alone::try_parse_from(words).map_err(Failure::input)?.experiment.measure()
}

/// Runs an experiment.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let (name, common) = args.experiment.common();
    let machine = machine::description();
    let text = |key: &str| machine[key].as_str().unwrap_or("unknown").to_string();
    let (version, cpu, os) = (env!("CARGO_PKG_VERSION"), text("cpu"), text("os"));
    tell(format_args!("taffeta {version} on {cpu}, {} cores, {os}", machine::cores()))?;
    let table = args.experiment.measure()?;
    let ending = if table.failed { Ending::Missed } else { Ending::Done };
    let all = json!({ "machine": machine, "version": version, "command": command(), "date": machine::date(), "rows": table.rows });
    if let Some(path) = &common.json {
        write(path, &format!("{all:#}\n"))?;
    }
    if let Some(folder) = &common.out {
        let path = |ending: &str| folder.join(format!("{name}.{ending}"));
        write(&path("json"), &format!("{all:#}\n"))?;
        write(&path("csv"), &csv(&table.rows))?;
        let about = [
            ("version", format!("taffeta {version}")),
            ("machine", format!("{cpu}, {} cores, {os}", machine::cores())),
            ("date", machine::date()),
            ("command", command()),
        ];
        let (title, sections) = (table.title(name), table.sections(name));
        write(&path("md"), &page::markdown(&title, &about, &sections))?;
        write(&path("html"), &page::html(&title, &about, &sections))?;
        tell(described(&path("html")))?;
    }
    Ok(ending)
}

/// The command line, with the program by its name alone.
fn command() -> String {
    let words = std::env::args().skip(1);
    std::iter::once("taffeta".into()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Rows as comma-separated values, one column for every key of any row.
fn csv(rows: &[Value]) -> String {
    let flat: Vec<_> = rows.iter().map(page::flat).collect();
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in flat.iter().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let quoted = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(plain) => plain.to_string(),
    };
    let line = |row: &Vec<(String, &Value)>| {
        let cell = |key: &&str| quoted(row.iter().find(|(own, _)| own == key).map(|(_, value)| *value));
        keys.iter().map(cell).collect::<Vec<_>>().join(",")
    };
    std::iter::once(keys.join(",")).chain(flat.iter().map(line)).map(|line| line + "\n").collect()
}

/// Draws a plot where a path is given for it.
fn draw(path: Option<&PathBuf>, plot: &Plot) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    write(path, &lines_svg(plot))?;
    tell(described(path))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let mut file = Replacement::begin(path)?;
        file.out.write_all(text.as_bytes())?;
        file.put_in_place()
    };
    write().map_err(|source| Failure::work(ReportError::Io { path: path.into(), source }))
}

/// The rows of an experiment.
#[derive(Default)]
struct Table {
    rows: Vec<Value>,
    /// Whether a row is missing.
    failed: bool,
    /// What its page shows; all columns of all rows, if it does not say.
    page: Vec<Section>,
    /// Drawn below all rows, if the page does not say otherwise.
    plots: Vec<Plot>,
    /// What its page is called; the name of the experiment, if it does not say.
    title: Option<&'static str>,
}

impl Table {
    fn title(&self, name: &str) -> String {
        self.title.map_or(format!("taffeta bench {name}"), Into::into)
    }

    fn sections(self, name: &str) -> Vec<Section> {
        if !self.page.is_empty() {
            return self.page;
        }
        let columns = page::all_columns(&self.rows);
        let Self { rows, plots, .. } = self;
        vec![Section { title: name.into(), columns, rows, plots, ..Section::default() }]
    }

    /// Adds a row and tells it; one that could not be measured is left out, and the others go on.
    fn take<R: Serialize>(
        &mut self,
        what: &str,
        row: Result<R, StepError>,
        words: impl FnOnce(&R) -> String,
    ) -> Result<(), Failure> {
        match row {
            Ok(row) => {
                tell(words(&row))?;
                self.rows.push(json!(row));
            }
            Err(error) => {
                aside(format_args!("{what}: {error}"));
                self.failed = true;
            }
        }
        Ok(())
    }
}

/// Wall and CPU time of frames, stepping alone [ms].
#[derive(Debug, Serialize)]
struct Milliseconds {
    median: f64,
    min: f64,
    /// Median CPU time of all threads, where the system tells it.
    cpu: Option<f64>,
    /// CPU time that a quarter of the frames is below, and that a quarter is above.
    cpu_quartiles: Option<[f64; 2]>,
}

impl Milliseconds {
    fn of(frames: &[FrameSteps]) -> Self {
        let wall: Vec<f64> = frames.iter().map(|frame| 1e3 * frame.wall.as_secs_f64()).collect();
        let cpu: Option<Vec<f64>> = frames.iter().map(|frame| Some(1e3 * frame.cpu?.as_secs_f64())).collect();
        Self {
            median: median(wall.clone()),
            min: wall.into_iter().fold(f64::INFINITY, f64::min),
            cpu_quartiles: cpu.clone().map(quartiles),
            cpu: cpu.map(median),
        }
    }
}

/// The middle of a list, or the mean of the two in the middle.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let (low, high) = (numbers.len().saturating_sub(1) / 2, numbers.len() / 2);
    numbers.get(low).zip(numbers.get(high)).map_or(f64::NAN, |(a, b)| 0.5 * (a + b))
}

/// Medians of the lower and of the upper half of a list.
fn quartiles(mut numbers: Vec<f64>) -> [f64; 2] {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len().div_ceil(2);
    [median(numbers[..half].to_vec()), median(numbers[numbers.len() - half..].to_vec())]
}

/// Takes one step and goes back, so that memory, caches and threads are warm.
fn warm_up(simulation: &mut Simulation) -> Result<(), StepError> {
    let start = simulation.state().to_bytes();
    simulation.step()?;
    go_back(simulation, &start);
    Ok(())
}

/// Goes back to a state that the simulation was in, which therefore fits.
fn go_back(simulation: &mut Simulation, bytes: &[u8]) {
    let fits = simulation.restore(bytes);
    debug_assert!(fits.is_ok());
}

#[cfg(test)]
mod tests {
    use super::{csv, median, quartiles};
    use serde_json::json;

    #[test]
    fn rows_of_any_keys_become_columns() {
        let rows = [json!({ "a": 1, "b": { "c": "x\"y" } }), json!({ "a": null, "d": true })];
        assert_eq!(csv(&rows), "a,b.c,d\n1,\"x\"\"y\",\n,,true\n");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
        assert_eq!(quartiles(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 4.0]);
        assert_eq!(quartiles(vec![4.0, 1.0, 2.0, 3.0]), [1.5, 3.5]);
    }
}
