//! `taffeta sweep`: a scene many times, each with other values of its keys.

mod progress;
mod work;

use crate::interrupt::Interrupt;
use crate::run::memory::{self, MemoryLimit};
use crate::{Ending, Failure};
use progress::SweepProgress;
use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use taffeta_bench::machine;
use taffeta_bench::tell::{aside, described, tell};
use taffeta_fleet::asked::Asked;
use taffeta_fleet::job::RunResult;
use taffeta_fleet::plan::{Address, Plan, Shard};
use taffeta_fleet::plot;
use taffeta_fleet::pool::{Event, Pool};
use taffeta_fleet::store::{self, Store};
use taffeta_fleet::table::{self, Tally};
use taffeta_io::replacement::Replacement;
use taffeta_render::plot::lines_svg;

/// Runs a scene at every point of some axes and makes one table of it.
///
/// FILE.toml names a scene and the axes, as `docs/sweeps.md` says. The folder gets `table.parquet`, with a row for every run, and `times.parquet`. A
/// run that fails is a row with its reason; exit code 1 says that there is one.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<SweepCommand>,
    /// The sweep file.
    #[arg(value_name = "FILE.toml", required = true)]
    file: Option<PathBuf>,
    /// The folder to write to.
    #[arg(long, value_name = "DIR", required = true)]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// How many runs are carried out; a fit and a data set need the same.
#[derive(clap::Args)]
pub struct How {
    /// Go on with a sweep that lies in the folder; runs that the machine has lost are tried again.
    #[arg(long)]
    pub resume: bool,
    /// Only the runs of one part of several, such as 3/16; `taffeta sweep merge` puts them together.
    #[arg(long, value_name = "K/N", value_parser = Shard::parse)]
    pub shard: Option<Shard>,
    /// How many runs at once, each on one thread; as many as there are cores, if left out.
    #[arg(long, value_name = "N", value_parser = machine::parse_threads)]
    pub threads: Option<usize>,
    /// The most memory that all runs together may hold, such as 8G; what the machine has free, if left out.
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    pub memory: Option<u64>,
    /// Say nothing unless something is wrong.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(clap::Subcommand)]
enum SweepCommand {
    /// Tells what a sweep file asks for: its axes, how many runs, the first of them.
    Plan {
        /// The sweep file.
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
    },
    /// Puts the shards of one sweep together.
    Merge {
        /// The folders of the shards.
        #[arg(required = true, value_name = "DIR")]
        shards: Vec<PathBuf>,
        /// The folder to write to; it may be one of a merge before.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Draws a measure over one or two axes as SVG.
    Plot(PlotArgs),
    /// Carries out runs that come as lines of JSON, for a sweep.
    #[command(hide = true)]
    Work,
}

/// What is drawn of a sweep.
#[derive(clap::Args)]
struct PlotArgs {
    /// The folder of the sweep.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The measure; or max_strain, intersections, min_gap_m.
    #[arg(long, value_name = "NAME")]
    measure: String,
    /// The key along the page.
    #[arg(long, value_name = "KEY")]
    over: String,
    /// The key with a line for each of its values.
    #[arg(long, value_name = "KEY")]
    each: Option<String>,
    /// Show the key by its logarithm.
    #[arg(long)]
    log_x: bool,
    /// Show the measure by its logarithm.
    #[arg(long)]
    log_y: bool,
    /// The file to write.
    #[arg(long, value_name = "FILE.svg")]
    out: PathBuf,
}

/// Carries out `taffeta sweep`.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    match (&args.command, &args.file, &args.out) {
        (Some(SweepCommand::Plan { file }), _, _) => tell_plan(file),
        (Some(SweepCommand::Merge { shards, out }), _, _) => merge(shards, out),
        (Some(SweepCommand::Plot(asked)), _, _) => draw(asked),
        (Some(SweepCommand::Work), _, _) => serve(),
        (None, Some(file), Some(out)) => sweep(&Asked::read(file)?.plan()?, out, &args.how),
        // The parser has refused this.
        (None, _, _) => Ok(Ending::Done),
    }
}

/// Carries out a plan into a folder, writes its tables and tells how it went.
pub fn sweep(plan: &Plan, out: &Path, how: &How) -> Result<Ending, Failure> {
    let stop = Interrupt::watch("ending; once more to end at once")?;
    let store = Store::open(out, plan, how.resume)?;
    stop.begin();
    let shard = how.shard.unwrap_or(Shard::ALL);
    carry_out(plan, &store, shard, how, &|| stop.asked())?;
    let tally = table::write(store.path(), plan, shard)?;
    if !how.quiet {
        tell(in_words(&tally))?;
        tell(format_args!("files  {}", described(&out.join("table.parquet"))))?;
    }
    failures(out, plan, shard, &tally);
    if tally.contains_key("left") {
        aside(format_args!("interrupted; the same command with --resume goes on"));
        return Ok(Ending::Interrupted);
    }
    Ok(if tally.keys().all(|status| *status == "done") { Ending::Done } else { Ending::Missed })
}

/// Carries out those runs of a shard that have no result yet.
pub fn carry_out(
    plan: &Plan,
    store: &Store,
    shard: Shard,
    how: &How,
    ended: &(dyn Fn() -> bool + Sync),
) -> Result<(), Failure> {
    let pool = Pool {
        workers: how.threads.unwrap_or_else(machine::cores),
        command: Pool::own_command(),
        memory: MemoryLimit::new(how.memory).most(),
    };
    let left = left(plan, store, shard);
    let mut progress = SweepProgress::new(how.quiet, left.len());
    let jobs = left.iter().map(|run| store.place(plan, plan.job(*run)));
    pool.carry_out(jobs, ended, &mut |event| {
        if let Event::Ended(result) = &event {
            store.keep(plan, result)?;
        }
        progress.take(&event);
        Ok(())
    })?;
    Ok(())
}

/// The runs of a shard that have no result which would come out the same again; of equal runs the first.
pub fn left(plan: &Plan, store: &Store, shard: Shard) -> Vec<usize> {
    let mut seen: HashSet<Address> = HashSet::new();
    let is_left = |run: &usize| {
        let address = plan.address(*run);
        shard.has(*run)
            && !store.result(plan, &address).is_some_and(|result| result.outcome.is_final())
            && seen.insert(address)
    };
    (0..plan.runs()).filter(is_left).collect()
}

fn in_words(tally: &Tally) -> String {
    let all: usize = tally.values().sum();
    let parts: Vec<String> = tally.iter().map(|(status, count)| format!("{count} {status}")).collect();
    format!("{all} runs: {}", parts.join(", "))
}

/// Tells why runs have nothing to show: every reason once, with the first run that has it.
fn failures(out: &Path, plan: &Plan, shard: Shard, tally: &Tally) {
    const MOST: usize = 5;
    let failed = tally.keys().any(|status| !["done", "left"].contains(status));
    let mut reasons: Vec<(String, &str, usize, usize)> = Vec::new();
    for run in (0..plan.runs()).filter(|run| failed && shard.has(*run)) {
        let Some(result) = store::result(out, plan, &plan.address(run)) else { continue };
        let Some(reason) = result.outcome.reason() else { continue };
        match reasons.iter_mut().find(|(known, ..)| known == reason) {
            Some((_, _, _, count)) => *count += 1,
            None => reasons.push((reason.into(), result.outcome.status(), run, 1)),
        }
    }
    for (reason, status, run, count) in reasons.iter().take(MOST) {
        let others = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let sets: Vec<String> =
            plan.keys().zip(plan.values(*run)).map(|(key, value)| format!("{key}={value}")).collect();
        aside(format_args!(
            "run {run}{others} {status}: {}\n  run {run} is {}",
            reason.trim_end(),
            sets.join(" ")
        ));
    }
    if reasons.len() > MOST {
        let more = reasons.len() - MOST;
        aside(format_args!("and {more} more reasons: the column `reason` of the table has them all"));
    }
}

fn tell_plan(file: &Path) -> Result<Ending, Failure> {
    let plan = Asked::read(file)?.plan()?;
    tell(format_args!("{} runs of {}", plan.runs(), plan.scene.name))?;
    for axis in &plan.axes {
        tell(format_args!("  {} values of {}", axis.points.len(), axis.keys.join(", ")))?;
    }
    let mut distinct: HashSet<Address> = HashSet::new();
    distinct.extend((0..plan.runs()).map(|run| plan.address(run)));
    if distinct.len() < plan.runs() {
        tell(format_args!("  {} of them are different", distinct.len()))?;
    }
    for run in 0..plan.runs().min(3) {
        tell(format_args!("run {run}  {}  {}", plan.address(run), plan.sets(run).join(" ")))?;
    }
    Ok(Ending::Done)
}

fn merge(shards: &[PathBuf], out: &Path) -> Result<Ending, Failure> {
    let mut plans = shards.iter().map(|shard| store::plan_of(shard).map(|plan| (shard, plan)));
    let Some(first) = plans.next() else { return Ok(Ending::Done) };
    let (_, plan) = first?;
    for other in plans {
        let (shard, other) = other?;
        if other != plan {
            let remedy = "merge the shards of one sweep file, scene and version of the program";
            return Err(taffeta_fleet::FleetError::asked(
                shard,
                "is of another sweep than the first",
                remedy,
            )
            .into());
        }
    }
    let store = Store::open(out, &plan, true)?;
    for shard in shards {
        let taken = store.take_over(&plan, shard)?;
        tell(format_args!("{}: {taken} results", shard.display()))?;
    }
    let tally = table::write(out, &plan, Shard::ALL)?;
    tell(in_words(&tally))?;
    tell(format_args!("files  {}", described(&out.join("table.parquet"))))?;
    failures(out, &plan, Shard::ALL, &tally);
    Ok(if tally.keys().all(|status| *status == "done") { Ending::Done } else { Ending::Missed })
}

fn draw(args: &PlotArgs) -> Result<Ending, Failure> {
    let plan = store::plan_of(&args.folder)?;
    let asked = plot::Asked {
        measure: &args.measure,
        over: &args.over,
        each: args.each.as_deref(),
        log: [args.log_x, args.log_y],
    };
    let svg = lines_svg(&plot::plot(&args.folder, &plan, &asked)?);
    Replacement::write(&args.out, &svg)
        .map_err(taffeta_fleet::FleetError::io(&args.out, "writing the plot"))?;
    tell(described(&args.out))?;
    Ok(Ending::Done)
}

/// A worker: a job is a line on stdin, its result a line on stdout.
fn serve() -> Result<Ending, Failure> {
    machine::pool(Some(1))?.install(|| {
        for line in std::io::stdin().lock().lines() {
            let Some(result) = line.ok().and_then(|line| answer(&line)) else { break };
            let mut out = std::io::stdout().lock();
            // Whoever asked may be gone.
            if writeln!(out, "{result}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    });
    Ok(Ending::Done)
}

/// The result of a job, both as JSON; nothing where the job is not one.
pub fn answer(job: &str) -> Option<String> {
    let result: RunResult = work::work(&serde_json::from_str(job).ok()?);
    serde_json::to_string(&result).ok()
}
