//! `taffeta bench`: experiments that time the methods, told as tables and as JSON.

mod compare;
mod detect;
mod drape;
mod flags;
mod garments;
mod gpu;
mod hang;
mod limit;
mod moving;
mod papers;
mod params;
mod peers;
mod physics;
mod scale;
mod stable_step;
mod tree;

use crate::BenchError;
use crate::measure::machine;
use crate::page;
use crate::table::{self, Table};
use crate::tell::{described, tell};
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use taffeta_scene::Method;

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
    Params(params::Args),
    Compare(compare::Args),
    Peers(peers::Args),
    Scale(scale::Args),
    Gpu(gpu::Args),
    Garments(garments::Args),
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
            Self::Params(args) => ("params", &args.common),
            Self::Compare(args) => ("compare", &args.common),
            Self::Peers(args) => ("peers", &args.common),
            Self::Scale(args) => ("scale", &args.common),
            Self::Gpu(args) => ("gpu", &args.common),
            Self::Garments(args) => ("garments", &args.common),
        }
    }

    fn measure(&self) -> Result<Table, BenchError> {
        match self {
            Self::Hang(args) => hang::measure(args),
            Self::Drape(args) => drape::measure(args),
            Self::Tree(args) => tree::measure(args),
            Self::StableStep(args) => stable_step::measure(args),
            Self::Flags(args) => flags::measure(args),
            Self::Params(args) => params::measure(args),
            Self::Limit(args) => limit::measure(args),
            Self::Detect(args) => detect::measure(args),
            Self::Physics(args) => physics::measure(args),
            Self::Papers(args) => papers::measure(args),
            Self::Compare(args) => compare::measure(args),
            Self::Peers(args) => peers::measure(args),
            Self::Scale(args) => scale::measure(args),
            Self::Gpu(args) => gpu::measure(args),
            Self::Garments(args) => garments::measure(args),
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
fn repeat(command: &str) -> Result<Table, BenchError> {
    let words = std::iter::once("taffeta bench").chain(command.split_whitespace());
    Alone::try_parse_from(words).map_err(BenchError::asked)?.experiment.measure()
}

impl Args {
    /// Runs the experiment; whether all of its rows are there and good.
    pub fn run(&self) -> Result<bool, BenchError> {
        let (name, common) = self.experiment.common();
        let machine = machine::description();
        let text = |key: &str| machine[key].as_str().unwrap_or("unknown").to_string();
        let (version, cpu, os) = (env!("CARGO_PKG_VERSION"), text("cpu"), text("os"));
        tell(format_args!("taffeta {version} on {cpu}, {} cores, {os}", machine::cores()))?;
        let table = self.experiment.measure()?;
        let good = !table.failed;
        let all = json!({ "machine": machine, "version": version, "command": command(), "date": machine::date(), "rows": table.rows });
        if let Some(path) = &common.json {
            table::write(path, &format!("{all:#}\n"))?;
        }
        if let Some(folder) = &common.out {
            let path = |ending: &str| folder.join(format!("{name}.{ending}"));
            table::write(&path("json"), &format!("{all:#}\n"))?;
            table::write(&path("csv"), &table::csv(&table.rows))?;
            let about = [
                ("version", format!("taffeta {version}")),
                ("machine", format!("{cpu}, {} cores, {os}", machine::cores())),
                ("date", machine::date()),
                ("command", command()),
            ];
            let (title, sections) = (table.title(name), table.sections(name));
            table::write(&path("md"), &page::markdown(&title, &about, &sections))?;
            table::write(&path("html"), &page::html(&title, &about, &sections))?;
            tell(described(&path("html")))?;
        }
        Ok(good)
    }
}

/// The command line, with the program by its name alone.
fn command() -> String {
    let words = std::env::args().skip(1);
    std::iter::once("taffeta".into()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A method by its name on the command line.
fn parse_method(name: &str) -> Result<Method, String> {
    let known = || Method::ALL.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ");
    let found = Method::ALL.iter().find(|method| method.name() == name);
    found.copied().ok_or_else(|| format!("the methods are: {}", known()))
}
