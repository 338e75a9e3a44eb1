//! The program `taffeta`: its commands, and the exit code that each of them ends with.
//!
//! A library, so that other programs can be this one too ([`program`]), take its pictures ([`album`]) and tell what it tells ([`report`]).

pub mod album;
mod certificate;
mod check;
mod dataset;
mod export;
mod faults;
mod fit;
mod interrupt;
mod lists;
mod plot;
mod progress;
mod render;
pub mod report;
mod run;
mod sweep;
mod version;
mod view;

use clap::{Parser, Subcommand};
pub use render::still_image;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
pub use sweep::{answer, left};
use taffeta_bench::BenchError;
use taffeta_bench::tell::{aside, tell};
use taffeta_fleet::FleetError;
use taffeta_io::scene_file::SceneFaults;

/// Cloth simulation: every frame certified, the same bits on any number of threads.
///
/// Exit codes: 0 done; 1 ran, but a promise was missed (0 with `run --lenient`); 2 bad input or usage; 3 interrupted, can be resumed.
#[derive(Parser)]
#[command(name = "taffeta", disable_version_flag = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version.
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: print also which instructions are used, and on which processor.
    #[arg(long, requires = "version")]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    View(view::Args),
    Check(check::Args),
    Render(render::Args),
    Export(export::Args),
    Plot(plot::Args),
    Sweep(sweep::Args),
    Fit(fit::Args),
    Dataset(dataset::Args),
    Bench(taffeta_bench::Args),
    Scenes(lists::Scenes),
    Methods(lists::Methods),
    Fabrics(lists::Fabrics),
    Schema(lists::Schema),
}

/// How a command ended that did what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    /// It ran, but a promise was missed.
    Missed,
    /// It was interrupted and can be resumed.
    Interrupted,
}

/// Why a command could not do what it was asked to.
pub enum Failure {
    /// Scenes that cannot be run.
    Scene(Box<SceneFaults>),
    /// Anything else that was wrong before the work began.
    Input(Box<dyn Error + Send>),
    /// What went wrong in the midst of it.
    Work(Box<dyn Error + Send>),
}

impl Failure {
    fn input(error: impl Error + Send + 'static) -> Self {
        Self::Input(Box::new(error))
    }

    fn work(error: impl Error + Send + 'static) -> Self {
        Self::Work(Box::new(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Scene(faults) => write!(f, "{faults}"),
            Self::Input(error) | Self::Work(error) => write!(f, "{error}"),
        }
    }
}

impl From<SceneFaults> for Failure {
    fn from(faults: SceneFaults) -> Self {
        Self::Scene(Box::new(faults))
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Scene(faults) => Self::Scene(faults),
            asked @ BenchError::Asked(_) => Self::input(asked),
            other => Self::work(other),
        }
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::Scene(faults) => Self::Scene(faults),
            asked @ FleetError::Asked { .. } => Self::input(asked),
            other => Self::work(other),
        }
    }
}

impl Arguments {
    fn carry_out(self) -> Result<Ending, Failure> {
        let Some(command) = self.command else {
            let version = if self.verbose {
                version::with_machine()
            } else {
                format!("taffeta {}", env!("CARGO_PKG_VERSION"))
            };
            tell(version)?;
            return Ok(Ending::Done);
        };
        match command {
            Command::Run(args) => run::run(&args),
            Command::View(args) => view::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Render(args) => render::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Plot(args) => plot::run(&args),
            Command::Sweep(args) => sweep::run(&args),
            Command::Dataset(args) => dataset::run(&args),
            Command::Fit(args) => fit::run(&args),
            Command::Bench(args) => Ok(if args.run()? { Ending::Done } else { Ending::Missed }),
            Command::Scenes(args) => args.run(),
            Command::Methods(args) => args.run(),
            Command::Fabrics(args) => args.run(),
            Command::Schema(args) => args.run(),
        }
    }
}

/// Runs the program with these words, of which the first is its own name; the exit code that it ends with.
pub fn program(words: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(usage) => {
            // Help goes to stdout and usage to stderr; where neither can be written, the code says it.
            let _ = usage.print();
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
    };
    let ended = version::check_instructions().and_then(|()| arguments.carry_out());
    match ended {
        Ok(Ending::Done) => 0,
        Ok(Ending::Missed) => 1,
        Ok(Ending::Interrupted) => 3,
        Err(Failure::Scene(faults)) => {
            aside(faults::shown(&faults));
            2
        }
        Err(Failure::Input(error)) => {
            aside(format_args!("error: {error}"));
            2
        }
        Err(Failure::Work(error)) => {
            aside(format_args!("error: {error}"));
            1
        }
    }
}
