//! Trees of boxes that follow a moving sheet (P5, experiment II).

use super::Common;
use super::moving::{MovingSheet, START, STEP};
use crate::broad_phase::bvh::{Tree, Update};
use crate::broad_phase::bvh_queries::QueryWalk;
use crate::measure::{Took, machine, median, timed};
use crate::table::{Table, draw};
use crate::tell::tell;
use crate::{BenchError, figures};
use serde::Serialize;
use std::path::PathBuf;
use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::broad_phase::wide_bvh::{BvhTask, WideBvh};
use taffeta::math::DVec3;
use taffeta_render::plot::{Line, Plot, Stroke};

/// A sheet falls, rolls up and twists; trees of boxes around its triangles follow, and tell after every step which boxes meet.
///
/// `refit`, `rebuild`, `selle` and `reinsert` are the updates of P5 on a tree with one triangle in every leaf; `heap` is what contact uses:
/// sixteen triangles in a leaf, put in order once. Times are medians over the steps of CPU time on one thread, in ns for
/// each triangle.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of triangles [default: 1000,10000,100000,1000000, quick 1000].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=8_000_000))]
    triangles: Vec<u32>,
    /// Steps of 1/600 s [default: 20, quick 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    steps: Option<u32>,
    /// Draw the times over the number of triangles here.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table; times in ns for each triangle.
#[derive(Serialize, Clone)]
struct Row {
    update: &'static str,
    triangles: usize,
    steps: u32,
    update_ns: f64,
    query_ns: f64,
    /// Longest way from the root to a leaf at the end.
    depth: usize,
    /// Pairs of boxes that meet at the end, for each triangle.
    pairs: f64,
}

/// One tree of the comparison.
enum Kind {
    Binary(Tree, Update),
    WideBvh(Box<WideBvh>),
}

/// Measures all trees at all sizes.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let usual: &[u32] = if args.common.quick { &[1000] } else { &[1000, 10_000, 100_000, 1_000_000] };
    let sizes = if args.triangles.is_empty() { usual } else { &args.triangles };
    let steps = args.steps.unwrap_or(if args.common.quick { 3 } else { 20 });
    let pool = machine::pool(Some(1))?;
    let mut table = Table::default();
    let mut rows: Vec<Row> = Vec::new();
    tell("triangles  update     update [ns]  query [ns]  depth  pairs per triangle")?;
    for size in sizes {
        let sheet = MovingSheet::new(*size as usize);
        for name in Update::ALL.iter().map(|(_, name)| *name).chain(["heap"]) {
            let row = pool.install(|| follow(&sheet, name, steps));
            rows.push(row.clone());
            table.take(name, Ok(row), words)?;
        }
    }
    table.plots = vec![plot(&rows)];
    draw(args.plot.as_ref(), &table.plots[0])?;
    Ok(table)
}

fn words(row: &Row) -> String {
    let (update, query) = (figures(row.update_ns), figures(row.query_ns));
    let Row { update: name, triangles, depth, .. } = row;
    format!("{triangles:9}  {name:9}  {update:>11}  {query:>10}  {depth:5}  {:>8}", figures(row.pairs))
}

/// Lets one tree follow the sheet.
fn follow(sheet: &MovingSheet, name: &'static str, steps: u32) -> Row {
    let (mut from, mut to, mut boxes) = (Vec::new(), Vec::new(), Vec::new());
    let mut look = |step: u32, boxes: &mut Vec<Bounds>| {
        sheet.at(START + STEP * f64::from(step), &mut from);
        sheet.at(START + STEP * f64::from(step + 1), &mut to);
        around_triangles(sheet, &from, &to, boxes);
    };
    look(0, &mut boxes);
    let mut kind = Kind::new(sheet, name, &boxes);
    let (mut updates, mut queries, mut pairs) = (Vec::new(), Vec::new(), 0);
    for step in 1..=steps {
        look(step, &mut boxes);
        updates.push(timed(|| kind.update(&boxes)).1);
        queries.push(timed(|| pairs = kind.pairs()).1);
    }
    let triangles = boxes.len();
    let each = |times: Vec<Took>| {
        median(times.iter().map(|t| 1e9 * t.cpu_or_wall().as_secs_f64()).collect()) / triangles as f64
    };
    Row {
        update: name,
        triangles,
        steps,
        update_ns: each(updates),
        query_ns: each(queries),
        depth: kind.depth(),
        pairs: pairs as f64 / triangles as f64,
    }
}

/// Boxes around triangles on their way, with half the thickness of the cloth.
fn around_triangles(sheet: &MovingSheet, from: &[DVec3], to: &[DVec3], boxes: &mut Vec<Bounds>) {
    let room = sheet.surface.objects[0].radius;
    let points: Vec<Bounds> = from.iter().zip(to).map(|(a, b)| Bounds::around(*a, *b, room)).collect();
    boxes.clear();
    boxes.extend(sheet.surface.triangles.iter().map(|t| {
        let [a, b, c] = t.map(|p| points[p as usize]);
        a.join(&b).join(&c)
    }));
}

impl Kind {
    fn new(sheet: &MovingSheet, name: &str, boxes: &[Bounds]) -> Self {
        if let Some((way, _)) = Update::ALL.iter().find(|(_, known)| *known == name) {
            return Self::Binary(Tree::new(boxes), *way);
        }
        let corner = |p: u32| sheet.surface.rest[p as usize];
        let centres: Vec<DVec3> =
            sheet.surface.triangles.iter().map(|t| t.map(corner).iter().sum::<DVec3>() / 3.0).collect();
        Self::WideBvh(Box::new(WideBvh::new(&centres)))
    }

    fn update(&mut self, boxes: &[Bounds]) {
        match self {
            Self::Binary(tree, way) => tree.update(boxes, *way),
            Self::WideBvh(heap) => heap.refit(|k| boxes[k as usize]),
        }
    }

    /// How many pairs of boxes meet.
    fn pairs(&self) -> usize {
        let mut pairs = 0;
        match self {
            Self::Binary(tree, _) => tree.pairs_within(&mut Vec::new(), |_, _| pairs += 1),
            Self::WideBvh(heap) => heap.walk(heap, BvhTask::Within(1), &mut Vec::new(), |_, _| pairs += 1),
        }
        pairs
    }

    fn depth(&self) -> usize {
        match self {
            Self::Binary(tree, _) => tree.depth(),
            Self::WideBvh(heap) => heap.depth(),
        }
    }
}

/// Update and following query over the number of triangles.
fn plot(rows: &[Row]) -> Plot {
    let mut names: Vec<&str> = rows.iter().map(|row| row.update).collect();
    names.dedup();
    names.truncate(Update::ALL.len() + 1);
    let line = |name: &str, colour: usize, stroke, what: &str, of: fn(&Row) -> f64| Line {
        name: format!("{name}, {what}"),
        points: rows.iter().filter(|r| r.update == name).map(|r| [r.triangles as f64, of(r)]).collect(),
        colour,
        stroke,
    };
    let both = |(colour, name): (usize, &&str)| {
        [
            line(name, colour, Stroke::Marked, "update", |row| row.update_ns),
            line(name, colour, Stroke::Dashed, "query", |row| row.query_ns),
        ]
    };
    Plot {
        title: "Trees of boxes that follow a moving sheet".into(),
        x_label: "triangles".into(),
        y_label: "CPU time [ns per triangle]".into(),
        log_x: true,
        log_y: true,
        lines: names.iter().enumerate().flat_map(both).collect(),
        levels: Vec::new(),
    }
}
