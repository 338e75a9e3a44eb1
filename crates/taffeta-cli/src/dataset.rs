//! `taffeta dataset`: a sweep as data to learn from, and its verifier.

use crate::interrupt::Interrupt;
use crate::run::memory::MemoryLimit;
use crate::sweep::{How, sweep};
use crate::{Ending, Failure};
use std::path::{Path, PathBuf};
use taffeta::math::random::Random;
use taffeta_bench::machine;
use taffeta_bench::tell::{aside, tell};
use taffeta_fleet::FleetError;
use taffeta_fleet::asked::Asked;
use taffeta_fleet::dataset::{DatasetAsked, is_done};
use taffeta_fleet::job::{Outcome, RunResult};
use taffeta_fleet::plan::Plan;
use taffeta_fleet::pool::{Event, Pool};
use taffeta_fleet::store;
use tempfile::TempDir;

/// Makes a data set of a sweep: arrays of every frame, sequences, splits and a card.
///
/// FILE.toml is a sweep file with `[dataset]`, as `docs/sweeps.md` says.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<DatasetCommand>,
    /// The file.
    #[arg(value_name = "FILE.toml", required = true)]
    file: Option<PathBuf>,
    /// The folder to write to.
    #[arg(long, value_name = "DIR", required = true)]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Subcommand)]
enum DatasetCommand {
    /// Computes a random sample of runs again, perhaps on another machine, and compares every bit.
    Verify {
        /// The folder of the data set.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// How many runs.
        #[arg(long, value_name = "N", default_value_t = 5)]
        count: usize,
        /// Which ones.
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// The folder of the files that the scene names, if it names any.
        #[arg(long, value_name = "DIR", default_value = ".")]
        files: PathBuf,
    },
}

/// Makes or verifies a data set.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    match (&args.command, &args.file, &args.out) {
        (Some(DatasetCommand::Verify { folder, count, seed, files }), _, _) => {
            verify(folder, *count, *seed, files)
        }
        (None, Some(file), Some(out)) => make(file, out, &args.how),
        // The parser has refused this.
        _ => Ok(Ending::Done),
    }
}

fn make(file: &Path, out: &Path, how: &How) -> Result<Ending, Failure> {
    let asked = Asked::read(file)?;
    let (own, plan) = DatasetAsked::read(&asked)?;
    let ending = sweep(&plan, out, how)?;
    if ending == Ending::Interrupted {
        return Ok(ending);
    }
    let splits = own.finish(out, &plan)?;
    let parts: Vec<String> = splits.iter().map(|(name, runs)| format!("{} {name}", runs.len())).collect();
    if !how.quiet {
        tell(format_args!("splits {}; {}", parts.join(", "), out.join("card.md").display()))?;
    }
    Ok(ending)
}

fn verify(folder: &Path, count: usize, seed: u64, files: &Path) -> Result<Ending, Failure> {
    let mut plan = store::plan_of(folder)?;
    plan.scene.folder = std::path::absolute(files).unwrap_or_else(|_| files.into());
    let mut runs: Vec<usize> =
        (0..plan.runs()).filter(|run| is_done(folder, &plan, &plan.address(*run))).collect();
    if plan.taffeta != env!("CARGO_PKG_VERSION") || runs.is_empty() {
        let remedy = format!("use Taffeta {}, which made it", plan.taffeta);
        return Err(
            FleetError::asked(folder, "there is no run of this version to compare with", remedy).into()
        );
    }
    let mut random = Random::new(seed);
    for k in 0..count.min(runs.len()) {
        let other = k + random.below(runs.len() - k);
        runs.swap(k, other);
    }
    runs.truncate(count);
    let stop = Interrupt::watch("ending")?;
    stop.begin();
    let again = TempDir::new().map_err(Failure::work)?;
    let pool = Pool {
        workers: machine::cores(),
        command: Pool::own_command(),
        memory: MemoryLimit::new(None).most(),
    };
    let jobs = runs.iter().map(|run| {
        let mut job = plan.job(*run);
        job.samples = plan.samples.then(|| again.path().join(job.address.as_str()));
        Ok(job)
    });
    let mut differences = Vec::new();
    pool.carry_out(jobs, &|| stop.asked(), &mut |event| {
        if let Event::Ended(result) = event {
            differences.extend(difference(folder, &plan, &result, again.path()));
        }
        Ok(())
    })?;
    if stop.asked() {
        return Ok(Ending::Interrupted);
    }
    differences.iter().for_each(aside);
    let same = runs.len() - differences.len();
    tell(format_args!("{same} of {} runs came out the same, bit for bit", runs.len()))?;
    Ok(if differences.is_empty() { Ending::Done } else { Ending::Missed })
}

/// How a run that was computed again differs from what is kept of it.
fn difference(folder: &Path, plan: &Plan, again: &RunResult, samples: &Path) -> Option<String> {
    let address = &again.address;
    let kept = store::result(folder, plan, address)?;
    if let (Outcome::Done(kept), Outcome::Done(again)) = (&kept.outcome, &again.outcome)
        && kept.all_hashes != again.all_hashes
    {
        return Some(format!("run {address}: its states differ"));
    }
    if kept.outcome != again.outcome {
        let reason = again.outcome.reason().unwrap_or("what was measured differs");
        return Some(format!("run {address}: {reason}"));
    }
    let frames = std::fs::read_dir(samples.join(address.as_str())).into_iter().flatten().flatten();
    let differs = |entry: &std::fs::DirEntry| {
        let other = store::samples(folder, address).join(entry.file_name());
        std::fs::read(entry.path()).ok() != std::fs::read(other).ok()
    };
    let file = frames.into_iter().find(differs)?;
    Some(format!("run {address}: {} differs", file.file_name().to_string_lossy()))
}
