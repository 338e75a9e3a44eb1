//! Detection on a moving sheet: all pairs of features that may meet.

use super::Common;
use super::moving::{MovingSheet, START, STEP};
use crate::measure::{machine, timed};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures};
use serde::Serialize;
use taffeta::collide::broad_phase::candidates::Candidates;

/// A sheet falls, rolls up and twists; every step all pairs of features are found that may come nearer than the cloth is thick and a
/// tenth of an edge.
///
/// Speed 1 is a fall with steps of 1/600 s, 0 stands still. Times are means over the steps but the first, in ns for each triangle.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of triangles [default: 1000,10000,100000,1000000, quick 1000].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=8_000_000))]
    triangles: Vec<u32>,
    /// How fast the sheet moves.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,0.1,0.3,1")]
    speed: Vec<f64>,
    /// Steps [default: 60, quick 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=600))]
    steps: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table; times in ns for each triangle.
#[derive(Serialize)]
struct Row {
    triangles: usize,
    speed: f64,
    threads: usize,
    steps: u32,
    wall_ns: f64,
    /// CPU time of all threads.
    cpu_ns: Option<f64>,
    /// Pairs for each triangle at the end.
    pairs: f64,
}

/// Measures all sizes and speeds on every number of threads asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let usual: &[u32] = if args.common.quick { &[1000] } else { &[1000, 10_000, 100_000, 1_000_000] };
    let sizes = if args.triangles.is_empty() { usual } else { &args.triangles };
    let steps = args.steps.unwrap_or(if args.common.quick { 5 } else { 60 });
    let mut table = Table::default();
    tell("triangles threads speed |  wall [ns]   cpu [ns] | pairs per triangle")?;
    for &threads in &args.common.threads() {
        let pool = machine::pool(Some(threads))?;
        for size in sizes {
            let sheet = MovingSheet::new(*size as usize);
            for speed in &args.speed {
                let row = pool.install(|| follow(&sheet, *speed, steps, threads));
                table.take(&format!("{size} triangles"), Ok(row), words)?;
            }
        }
    }
    Ok(table)
}

fn words(row: &Row) -> String {
    let Row { triangles, speed, threads, .. } = row;
    let cpu = row.cpu_ns.map_or("-".into(), figures);
    format!(
        "{triangles:9} {threads:7} {speed:5} | {:>10} {cpu:>10} | {:>18}",
        figures(row.wall_ns),
        figures(row.pairs)
    )
}

/// Wall and CPU time so far [s].
#[derive(Default)]
struct Spent {
    wall: f64,
    cpu: Option<f64>,
}

impl Spent {
    fn take(&mut self, work: impl FnOnce()) {
        let ((), took) = timed(work);
        self.wall += took.wall.as_secs_f64();
        self.cpu = took.cpu.map(|cpu| cpu.as_secs_f64() + self.cpu.unwrap_or(0.0));
    }
}

/// Follows the sheet.
fn follow(sheet: &MovingSheet, speed: f64, steps: u32, threads: usize) -> Row {
    let surface = &sheet.surface;
    let mut candidates = Candidates::new(surface, &vec![true; surface.points]);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let mut spent = Spent::default();
    for step in 0..steps {
        if step == 1 {
            // The first step makes room; it is not counted.
            spent = Spent::default();
        }
        sheet.at(START + speed * STEP * f64::from(step), &mut from);
        sheet.at(START + speed * STEP * f64::from(step + 1), &mut to);
        spent.take(|| candidates.find(surface, &from, &to, 0.1 * sheet.edge));
    }
    let triangles = surface.triangles.len();
    let each = |seconds: f64| 1e9 * seconds / triangles as f64 / f64::from(steps - 1);
    Row {
        triangles,
        speed,
        threads,
        steps,
        wall_ns: each(spent.wall),
        cpu_ns: spent.cpu.map(each),
        pairs: candidates.pairs().len() as f64 / triangles as f64,
    }
}
