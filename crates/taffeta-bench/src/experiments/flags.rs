//! Flags in the wind (P4's experiment): time against threads, order of particles and size, and how near to the memory's speed it is.

use super::{Common, parse_method};
use crate::measure::{FrameSteps, Milliseconds, build, machine, warm_up};
use crate::table::Table;
use crate::{BenchError, figures, percent};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use taffeta::Simulation;
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta::model::Model;
use taffeta::solve::sparse::matrix::{BlockMatrix, Pattern};
use taffeta::step::StepError;
use taffeta_scene::{Air, Cloth, Mesh, MeshShape, Method, ParticleOrder, Pin, Scene, Solver};

/// Frames a second.
const RATE: f64 = 30.0;
/// The mesh in the scene.
const FILE: &str = "flag";

/// A flag of cotton, 1.5 m by 1 m, pinned at its left side, in a wind of 6 m/s; triangles whose particles are numbered at random.
///
/// P4's flags have 599, 2602 and 3520 particles. Speed-up and efficiency are against the first number of threads in the list. The speed of the
/// matrix product and of reading memory are measured in the same run with the same threads: bytes of matrix and vectors over the
/// least time of one product, against the least time of reading 256 MB.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of particles; others than P4's are rounded to a grid of 3:2.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "599,2602,3520", value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    particles: Vec<u32>,
    /// The method.
    #[arg(long, value_name = "NAME", default_value = "backward-euler", value_parser = parse_method)]
    method: Method,
    /// Frames to simulate [default: 90, quick 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Sub-steps in a frame of 1/30 s [default: the method's own].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    substeps: Option<u32>,
    /// Orders of particles; all, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_order)]
    order: Vec<ParticleOrder>,
    #[command(flatten)]
    pub(super) common: Common,
}

const ORDERS: [(&str, ParticleOrder); 3] = [
    ("given", ParticleOrder::Given),
    ("striped", ParticleOrder::Striped),
    ("recursive", ParticleOrder::Recursive),
];

fn parse_order(name: &str) -> Result<ParticleOrder, String> {
    let found = ORDERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, order)| *order).ok_or_else(|| "the orders are: given, striped, recursive".into())
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    particles: usize,
    order: &'static str,
    threads: usize,
    frames: u32,
    /// Wall time for a second of simulated time [s].
    seconds_per_second: f64,
    ms_per_frame: Milliseconds,
    speed_up: f64,
    efficiency: f64,
    substeps: f64,
    iterations_per_substep: f64,
    stage_ms: Map<String, Value>,
    max_strain: f64,
    product_gb_per_s: f64,
    memory_gb_per_s: f64,
    hash: String,
}

/// Measures all combinations of what was asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let frames = args.frames.unwrap_or(if args.common.quick { 3 } else { 90 });
    let mut table = Table::default();
    for &particles in &args.particles {
        let (mesh, pinned) = flag(particles);
        let meshes = BTreeMap::from([(FILE.to_string(), mesh)]);
        for (name, order) in ORDERS.iter().filter(|(_, o)| args.order.is_empty() || args.order.contains(o)) {
            let mut first = None;
            for threads in args.common.threads() {
                let scene = scene(args, *order, &pinned);
                let mut simulation = build("flags", &scene, &meshes)?;
                let row = machine::pool(Some(threads))?.install(|| go_through(&mut simulation, frames));
                let row = row.map(|row| row.compared(name, threads, &mut first));
                table.take(&format!("{particles} particles, {name}"), row, words)?;
            }
        }
    }
    Ok(table)
}

fn scene(args: &Args, order: ParticleOrder, pinned: &[u32]) -> Scene {
    let cloth = Cloth {
        name: "flag".into(),
        mesh: Some(MeshShape { file: FILE.into(), scale: 1.0, up: Default::default(), weld: 0.0 }),
        rotation: [90.0, 0.0, 0.0],
        pin: vec![Pin { vertices: pinned.to_vec(), ..Pin::default() }],
        ..Cloth::default()
    };
    Scene {
        frame_time: 1.0 / RATE,
        air: Air { wind: [6.0, 0.0, 0.6], ..Air::default() },
        solver: Solver { method: args.method, substeps: args.substeps, order, ..Solver::default() },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn go_through(simulation: &mut Simulation, frames: u32) -> Result<Row, StepError> {
    warm_up(simulation)?;
    let mut steps = Vec::new();
    let mut max_strain: f64 = 0.0;
    for _ in 0..frames {
        steps.push(FrameSteps::take(simulation)?);
        max_strain = max_strain.max(simulation.certificate().max_strain);
    }
    let wall: f64 = steps.iter().map(|frame| frame.wall.as_secs_f64()).sum();
    let substeps = steps.iter().map(|frame| u64::from(frame.report.substeps)).sum::<u64>() as f64;
    let iterations = steps.iter().map(|frame| u64::from(frame.report.iterations)).sum::<u64>() as f64;
    let mut stages: Map<String, Value> = Map::new();
    for (name, seconds) in steps.iter().flat_map(|frame| frame.stages.iter()) {
        let before = stages.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        stages.insert(name.into(), json!(before + 1e3 * seconds / f64::from(frames)));
    }
    let (product_gb_per_s, memory_gb_per_s) = speeds(simulation.model());
    Ok(Row {
        method: simulation.model().method.name(),
        particles: simulation.model().particle_count(),
        order: "",
        threads: 0,
        frames,
        seconds_per_second: wall * RATE / f64::from(frames),
        ms_per_frame: Milliseconds::of(&steps),
        speed_up: 1.0,
        efficiency: 1.0,
        substeps: substeps / f64::from(frames),
        iterations_per_substep: iterations / substeps,
        stage_ms: stages,
        max_strain,
        product_gb_per_s,
        memory_gb_per_s,
        hash: format!("{:016x}", simulation.state().hash()),
    })
}

impl Row {
    fn compared(mut self, order: &'static str, threads: usize, first: &mut Option<(usize, f64)>) -> Self {
        let (fewest, time) = *first.get_or_insert((threads, self.ms_per_frame.median));
        self.speed_up = time / self.ms_per_frame.median;
        self.efficiency = self.speed_up * fewest as f64 / threads as f64;
        Self { order, threads, ..self }
    }
}

fn words(row: &Row) -> String {
    let stage =
        |(name, ms): (&String, &Value)| format!("{name} {}", figures(ms.as_f64().unwrap_or(f64::NAN)));
    format!(
        "{} {:6} particles, {:9} {} threads: {} s for a second, {} ms a frame (least {}, cpu {}), speed-up {}, efficiency {}\n  \
         {} sub-steps a frame, {} iterations in each, largest strain {}, hash {}\n  stages [ms]: {}\n  matrix product {} GB/s, memory {} GB/s",
        row.method,
        row.particles,
        row.order,
        row.threads,
        figures(row.seconds_per_second),
        figures(row.ms_per_frame.median),
        figures(row.ms_per_frame.min),
        row.ms_per_frame.cpu.map_or("-".into(), figures),
        figures(row.speed_up),
        figures(row.efficiency),
        figures(row.substeps),
        figures(row.iterations_per_substep),
        percent(row.max_strain),
        row.hash,
        row.stage_ms.iter().map(stage).collect::<Vec<_>>().join(", "),
        figures(row.product_gb_per_s),
        figures(row.memory_gb_per_s),
    )
}

/// How fast a product with the model's matrix and plain reading go through memory [GB/s], on the threads of the present pool.
fn speeds(model: &Model) -> (f64, f64) {
    const READ: usize = 32 << 20;
    let lists = model.springs.ends.iter().map(|e| &e[..]);
    let lists = lists.chain(model.bends.points.iter().map(|e| &e[..]));
    let Ok(pattern) = Pattern::new(model.particle_count(), lists) else { return (f64::NAN, f64::NAN) };
    // A block, its column, and the two vectors.
    let bytes = pattern.blocks() * 100 + model.particle_count() * 64;
    let mut matrix = BlockMatrix::new(pattern);
    matrix.set_diagonal(&model.mass);
    let x = vec![Vec4::splat(1.0); model.particle_count()];
    let mut y = x.clone();
    let least = |mut work: Box<dyn FnMut() + '_>| {
        (0..20).fold(f64::INFINITY, |least, _| {
            let begun = Instant::now();
            work();
            least.min(begun.elapsed().as_secs_f64())
        })
    };
    let product = least(Box::new(|| matrix.multiply(&x, &mut y)));
    let plain = vec![1.0_f64; READ];
    let sum = |part: &[f64]| part.chunks_exact(8).fold([0.0; 8], |s, c| std::array::from_fn(|i| s[i] + c[i]));
    let read = least(Box::new(|| {
        plain.par_chunks(READ / 64).for_each(|part| {
            std::hint::black_box(sum(part));
        });
    }));
    (1e-9 * bytes as f64 / product, 8e-9 * READ as f64 / read)
}

/// A flag of triangles whose points are numbered at random, and the points of its left side.
fn flag(particles: u32) -> (Mesh, Vec<u32>) {
    // P4's own numbers: 599 and 2602 are one more than a grid has.
    let (columns, rows) = match particles {
        599 => (26, 23),
        2602 => (51, 51),
        3520 => (64, 55),
        other => {
            let rows = (f64::from(other) / 1.5).sqrt().round().max(2.0);
            ((f64::from(other) / rows).round().max(2.0) as u32, rows as u32)
        }
    };
    let mut points = Vec::new();
    for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        let share = |at: u32, count: u32| f64::from(at) / f64::from(count - 1);
        points.push(DVec3::new(1.5 * share(c, columns), 0.0, -share(r, rows)));
    }
    let mut triangles = Vec::new();
    for (r, c) in (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| (r, c))) {
        let (a, b) = (r * columns + c, r * columns + c + 1);
        let (d, e) = (a + columns, b + columns);
        triangles.extend([[a, b, e], [a, e, d]]);
    }
    if particles == points.len() as u32 + 1 {
        let [a, b, c] = triangles.swap_remove(triangles.len() / 2);
        let centre = points.len() as u32;
        points.push([a, b, c].iter().map(|i| points[*i as usize]).sum::<DVec3>() / 3.0);
        triangles.extend([[a, b, centre], [b, c, centre], [c, a, centre]]);
    }
    let mut random = Random::new(4);
    let mut number: Vec<u32> = (0..points.len() as u32).collect();
    (1..number.len()).rev().for_each(|i| number.swap(i, random.below(i + 1)));
    let mut mesh = Mesh { positions: points.clone(), ..Mesh::default() };
    number.iter().zip(&points).for_each(|(n, p)| mesh.positions[*n as usize] = *p);
    mesh.triangles = triangles.iter().map(|t| t.map(|i| number[i as usize])).collect();
    let pinned = (0..rows).map(|r| number[(r * columns) as usize]).collect();
    (mesh, pinned)
}

#[cfg(test)]
mod tests {
    use super::flag;

    #[test]
    fn flags_have_as_many_particles_as_the_paper_s() {
        for count in [599, 2602, 3520, 600] {
            let (mesh, pinned) = flag(count);
            assert_eq!(mesh.positions.len(), count as usize);
            assert!(pinned.iter().all(|i| mesh.positions[*i as usize].x == 0.0));
            let up = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                (b - a).cross(c - a).y > 0.0
            };
            assert!(mesh.triangles.iter().all(up));
        }
    }
}
