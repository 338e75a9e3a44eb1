//! Detection on a moving sheet: all pairs of features that may meet, searched afresh and with lists that are kept (P4).

use super::Common;
use super::moving::{MovingSheet, START, STEP};
use crate::broad_phase::fat_aabb_cache::CoherentCandidates;
use crate::measure::{machine, timed};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures};
use serde::Serialize;
use taffeta::collide::broad_phase::candidates::Candidates;

/// A sheet falls, rolls up and twists; every step all pairs of features are found that may come nearer than the cloth is thick and a
/// tenth of an edge.
///
/// `plain` searches afresh in every step, `coherent` keeps lists; both find the same pairs, which is checked. Speed 1 is a fall with
/// steps of 1/600 s, 0 stands still. Times are means over the steps but the first, in ns for each triangle.
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
    plain_ns: f64,
    coherent_ns: f64,
    /// CPU time of all threads.
    plain_cpu_ns: Option<f64>,
    coherent_cpu_ns: Option<f64>,
    /// Pairs for each triangle at the end.
    pairs: f64,
    /// Pairs in the lists for each triangle and step, and those of them that were awake.
    listed: f64,
    examined: f64,
    afresh: usize,
    rebuilds: usize,
    taken_over: usize,
}

/// Measures all sizes and speeds on every number of threads asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let usual: &[u32] = if args.common.quick { &[1000] } else { &[1000, 10_000, 100_000, 1_000_000] };
    let sizes = if args.triangles.is_empty() { usual } else { &args.triangles };
    let steps = args.steps.unwrap_or(if args.common.quick { 5 } else { 60 });
    let mut table = Table::default();
    tell(
        "triangles threads speed | plain: wall, cpu [ns] | coherent: wall, cpu [ns] | per triangle: pairs listed awake | afresh rebuilds taken",
    )?;
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
    let Row { triangles, speed, threads, afresh, rebuilds, taken_over, .. } = row;
    let cpu = |ns: Option<f64>| ns.map_or("-".into(), figures);
    format!(
        "{triangles:9} {threads:7} {speed:5} | {:>10} {:>10} | {:>13} {:>10} | {:>18} {:>6} {:>5} | {afresh:6} {rebuilds:8} {taken_over:5}",
        figures(row.plain_ns),
        cpu(row.plain_cpu_ns),
        figures(row.coherent_ns),
        cpu(row.coherent_cpu_ns),
        figures(row.pairs),
        figures(row.listed),
        figures(row.examined),
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

/// Follows the sheet with both ways at once.
fn follow(sheet: &MovingSheet, speed: f64, steps: u32, threads: usize) -> Row {
    let surface = &sheet.surface;
    let movable = vec![true; surface.points];
    let mut plain = Candidates::new(surface, &movable);
    let mut coherent = CoherentCandidates::new(surface, &movable);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let (mut spent_plain, mut spent_coherent) = (Spent::default(), Spent::default());
    for step in 0..steps {
        if step == 1 {
            // The first step makes room; it is not counted.
            (spent_plain, spent_coherent) = (Spent::default(), Spent::default());
        }
        sheet.at(START + speed * STEP * f64::from(step), &mut from);
        sheet.at(START + speed * STEP * f64::from(step + 1), &mut to);
        let pad = 0.1 * sheet.edge;
        spent_plain.take(|| plain.find(surface, &from, &to, pad));
        spent_coherent.take(|| coherent.find(surface, &from, &to, pad));
        assert!(plain.pairs() == coherent.pairs(), "lists must change nothing");
    }
    let tally = coherent.tally();
    let triangles = surface.triangles.len();
    let each = |seconds: f64| 1e9 * seconds / triangles as f64 / f64::from(steps - 1);
    let per_step = |count: usize| count as f64 / triangles as f64 / f64::from(steps);
    Row {
        triangles,
        speed,
        threads,
        steps,
        plain_ns: each(spent_plain.wall),
        coherent_ns: each(spent_coherent.wall),
        plain_cpu_ns: spent_plain.cpu.map(each),
        coherent_cpu_ns: spent_coherent.cpu.map(each),
        pairs: plain.pairs().len() as f64 / triangles as f64,
        listed: per_step(tally.listed),
        examined: per_step(tally.examined),
        afresh: tally.afresh,
        rebuilds: tally.rebuilds,
        taken_over: tally.taken_over,
    }
}
