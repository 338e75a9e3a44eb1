//! `taffeta fit`: a fabric from what a laboratory has measured.

use crate::interrupt::Interrupt;
use crate::run::memory::MemoryLimit;
use crate::{Ending, Failure};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use taffeta_bench::tell::{aside, described, tell};
use taffeta_bench::{figures, machine, percent};
use taffeta_fleet::FleetError;
use taffeta_fleet::fit::{Fitted, INTERRUPTED, Laboratory, Reading, Sheet, fit, of_base};
use taffeta_fleet::pool::Pool;
use taffeta_io::replacement::Replacement;
use taffeta_render::plot::{Level, Line, Plot, Stroke, lines_svg};

/// Finds the fabric that simulated testers read the laboratory's numbers of.
///
/// SHEET.toml has the readings, as `docs/sweeps.md` says. The folder gets `fabric.toml`, a table for a scene, and `residuals.svg`. Exit code 1 says
/// that a reading contradicts the others or that a number is not determined.
#[derive(clap::Args)]
pub struct Args {
    /// The laboratory's sheet.
    #[arg(value_name = "SHEET.toml")]
    sheet: PathBuf,
    /// The folder to write to.
    #[arg(long, value_name = "DIR", required_unless_present = "simulate")]
    out: Option<PathBuf>,
    /// Fit nothing: tell what the testers read of the base, with what is known of the fabric.
    #[arg(long)]
    simulate: bool,
    /// How many testers at once, each on one thread; as many as there are cores, if left out.
    #[arg(long, value_name = "N", value_parser = machine::parse_threads)]
    threads: Option<usize>,
    /// Say nothing on the way.
    #[arg(long)]
    quiet: bool,
}

/// Fits a fabric.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let sheet = Sheet::read(&args.sheet)?;
    let stop = Interrupt::watch("ending")?;
    stop.begin();
    let pool = Pool {
        workers: args.threads.unwrap_or_else(machine::cores),
        command: Pool::own_command(),
        memory: MemoryLimit::new(None).most(),
    };
    let ended = || stop.asked();
    let mut laboratory = Laboratory::new(&sheet, &pool, &ended);
    let outcome = match (&args.out, args.simulate) {
        (Some(out), false) => fitted(args, &sheet, &mut laboratory, out),
        _ => simulate(&sheet, &mut laboratory),
    };
    match outcome {
        Err(Failure::Input(error)) if stop.asked() => {
            debug_assert!(error.to_string().starts_with(INTERRUPTED));
            Ok(Ending::Interrupted)
        }
        other => other,
    }
}

fn simulate(sheet: &Sheet, laboratory: &mut Laboratory) -> Result<Ending, Failure> {
    let readings: Vec<&Reading> = sheet.readings().collect();
    let read = laboratory.read(&[of_base(sheet)], &readings)?.remove(0);
    for (reading, read) in readings.iter().zip(&read) {
        let shown = read.map_or("failed".into(), |x| format!("{x}"));
        tell(format_args!("{:16} {shown} {}", reading.tester.name(), reading.tester.unit()))?;
    }
    laboratory.failures.iter().for_each(aside);
    Ok(if read.iter().all(Option::is_some) { Ending::Done } else { Ending::Missed })
}

fn fitted(args: &Args, sheet: &Sheet, laboratory: &mut Laboratory, out: &Path) -> Result<Ending, Failure> {
    let found = fit(laboratory, &mut |line| {
        if !args.quiet {
            aside(line);
        }
    })?;
    tell(format_args!("{}, from {} runs of testers:", sheet.name, found.runs))?;
    for (name, (value, interval)) in &found.numbers {
        let width = if interval.is_finite() { percent(*interval) } else { "not determined".into() };
        tell(format_args!("  {name:13} {:>9}  ± {width} (95 %)", figures(*value)))?;
    }
    for (reading, read) in sheet.readings().zip(&found.readings) {
        let read = read.map_or("failed".into(), figures);
        let (mean, error) = (figures(reading.mean()), figures(reading.error()));
        let (name, unit) = (reading.tester.name(), reading.tester.unit());
        tell(format_args!("  {name:16} read {mean} ± {error} {unit}, simulated {read} {unit}"))?;
    }
    std::fs::create_dir_all(out).map_err(FleetError::io(out, "making the folder"))?;
    for (name, text) in
        [("fabric.toml", table(sheet, &found)), ("residuals.svg", lines_svg(&residuals(sheet, &found)))]
    {
        let path = out.join(name);
        Replacement::write(&path, &text).map_err(FleetError::io(&path, "writing"))?;
        tell(format_args!("files  {}", described(&path)))?;
    }
    found.warnings.iter().for_each(|warning| aside(format_args!("warning: {warning}")));
    Ok(if found.warnings.is_empty() { Ending::Done } else { Ending::Missed })
}

/// The fabric as a table of a scene.
fn table(sheet: &Sheet, found: &Fitted) -> String {
    let mut text = format!(
        "# Fitted by `taffeta fit`; intervals of 95 %.\n[fabrics.{:?}]\nbase = {:?}\n",
        sheet.name, sheet.base
    );
    for (name, value) in sheet.known.iter().filter(|(name, _)| !found.numbers.contains_key(*name)) {
        let _ = writeln!(text, "{name} = {value:?}");
    }
    for (name, (value, interval)) in &found.numbers {
        let width =
            if interval.is_finite() { format!("± {}", percent(*interval)) } else { "not determined".into() };
        let _ = writeln!(text, "{name} = {value:?} # {width}");
    }
    text
}

/// How far every reading is missed, tester by tester.
fn residuals(sheet: &Sheet, found: &Fitted) -> Plot {
    let line = |(k, (reading, read)): (usize, (&Reading, &Option<f64>))| {
        let off = |value: &f64| [k as f64 + 1.0, (read.unwrap_or(f64::NAN) - value) / reading.error()];
        let mut points: Vec<[f64; 2]> = reading.values.iter().map(off).collect();
        points.push(off(&reading.mean()));
        let name = format!("{} {}", k + 1, reading.tester.name());
        Line { name, points, colour: k, stroke: Stroke::Marks }
    };
    let level = |y: f64, name: &str| Level { name: name.into(), y };
    Plot {
        title: format!("{}: simulated less read", sheet.name),
        x_label: "reading of the sheet".into(),
        y_label: "standard errors of the mean".into(),
        lines: sheet.readings().zip(&found.readings).enumerate().map(line).collect(),
        levels: vec![level(1.96, "+1.96"), level(-1.96, "-1.96")],
        ..Plot::default()
    }
}
