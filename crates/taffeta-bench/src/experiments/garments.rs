//! Garments of others, sewn and worn: every specification of a folder on one body.

use super::Common;
use crate::measure::machine;
use crate::page::{Form, Section, column, figure};
use crate::table::{self, Table};
use crate::tell::{aside, tell};
use crate::{BenchError, figures};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use taffeta::Simulation;
use taffeta::check::seam_opening;
use taffeta::math::DVec3;
use taffeta_io::scene_file::{LoadedScene, SceneSource, load};
use taffeta_scene::simulation;

/// Sews every GarmentCode specification of a folder and lets a body wear it.
///
/// A garment is worn if, in the last frame, all seams are closed to 2 mm, nothing intersects, no edge is strained by more than 2 %, and in the last ten frames all but
/// 1.5 % of it are slower than 10 mm/s. Edges are strained against the length that they were cut to, or let out or taken in to.
#[derive(clap::Args)]
pub struct Args {
    /// The folder: all its files that end with `specification.json`.
    folder: PathBuf,
    /// The body that wears them, a mesh file in metres with y up; the built-in mannequin, if left out.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Distance of particles [m; default: 0.02, quick 0.04].
    #[arg(long, value_name = "M")]
    edge_length: Option<f64>,
    /// By how much cloth may be let out or taken in where it does not fit, as a share of its length.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    let_out: f64,
    /// The most frames of 1/30 s; a garment that was at rest in ten of them is done [default: 150, quick 2].
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Largest opening of a seam [m], and strain [1], of a garment that is worn.
const CLOSED: f64 = 2e-3;
const STRAIN: f64 = 0.02;
/// What is slower is at rest [m/s]; so many may be faster in a garment at rest [1] (as in GarmentCodeData, Korosteleva et al. 2024, which looks at how far vertices
/// went since the last frame; velocities tell what trembles in between too).
const SLOW: f64 = 0.01;
const FASTER: f64 = 0.015;
/// Frames in a row after which it stays at rest.
const RESTED: u32 = 10;
/// What was let out by more is told to be too tight [1].
const TIGHT: f64 = 0.25;
/// How far cloth sinks on average if it falls off [m].
const FALLEN: f64 = 0.2;

/// One line of the table.
#[derive(Default, Serialize)]
struct Row {
    garment: String,
    panels: usize,
    seams: usize,
    particles: usize,
    /// Wall time, basting included [s].
    seconds: f64,
    /// Largest strain [%], and how much intersects, when it is basted.
    basted_strain: f64,
    basted_intersections: usize,
    opening_mm: f64,
    /// The most that an edge was let out or taken in by [%].
    let_out: f64,
    /// Largest strain [%].
    strain: f64,
    intersections: usize,
    /// How many particles are not at rest [%], and in how many frames before the end none more than are allowed.
    moving: f64,
    rested: u32,
    /// How many went further in the last frame than what is at rest would [%]: less than are moving where cloth trembles within a frame.
    displaced: f64,
    /// How far it sank on average since it was basted [m].
    sunk: f64,
    verdict: String,
}

pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let mut table = Table { title: Some("Garments of others, sewn and worn"), ..Table::default() };
    let pool = machine::pool(args.common.threads.first().copied())?;
    for file in specifications(&args.folder)? {
        let row = pool.install(|| worn(args, &file))?;
        tell(words(&row))?;
        table.failed |= row.verdict != "worn";
        table.rows.push(serde_json::json!(row));
    }
    let count = table.rows.iter().filter(|row| row["verdict"] == "worn").count();
    tell(format_args!("{count} of {} garments are worn", table.rows.len()))?;
    let columns = vec![
        column("garment", "garment", Form::Plain),
        figure("panels", "panels"),
        figure("seams", "seams"),
        figure("particles", "particles"),
        figure("time [s]", "seconds"),
        figure("basted: strain [%]", "basted_strain"),
        figure("basted: intersections", "basted_intersections"),
        figure("largest opening [mm]", "opening_mm"),
        figure("let out [%]", "let_out"),
        figure("strain [%]", "strain"),
        figure("intersections", "intersections"),
        figure("still moving [%]", "moving"),
        figure("frames at rest", "rested"),
        figure("displaced [%]", "displaced"),
        column("verdict", "verdict", Form::Plain),
    ];
    table.page =
        vec![Section { title: "garments".into(), columns, rows: table.rows.clone(), ..Section::default() }];
    Ok(table)
}

fn words(row: &Row) -> String {
    let Row { garment, panels, seams, particles, .. } = row;
    format!(
        "{garment}: {panels} panels, {seams} seams, {particles} particles, {} s, basted: strain {} %, {} intersections; worn: seams open by {} mm, \
         let out by {} %, strain {} %, {} intersections, {} % still moving, {} % displaced: {}",
        figures(row.seconds),
        figures(row.basted_strain),
        row.basted_intersections,
        figures(row.opening_mm),
        figures(row.let_out),
        figures(row.strain),
        row.intersections,
        figures(row.moving),
        figures(row.displaced),
        row.verdict
    )
}

/// The specifications of a folder, in alphabetical order.
fn specifications(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(BenchError::asked)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|file| file.to_string_lossy().ends_with("specification.json"));
    files.sort();
    if files.is_empty() {
        let reason = format!("{}: no file ends with specification.json", folder.display());
        return Err(BenchError::asked(std::io::Error::other(reason)));
    }
    Ok(files)
}

/// A garment on the body: basted, then gravity.
fn scene_text(args: &Args, file: &Path) -> Result<String, BenchError> {
    let path = |path: &Path| fs::canonicalize(path).map(|whole| format!("{:?}", whole.to_string_lossy()));
    let pattern = path(file).map_err(BenchError::asked)?;
    let body = match &args.body {
        Some(file) => {
            let file = path(file).map_err(BenchError::asked)?;
            format!("mesh = {{ file = {file} }}")
        }
        None => "mannequin = { arms = 45 }".into(),
    };
    let quick = args.common.quick;
    let cell = args.edge_length.unwrap_or(if quick { 0.04 } else { 0.02 });
    let frames = args.frames.unwrap_or(if quick { 2 } else { 150 });
    Ok(format!(
        "frames = {frames}\nsolver = {{ tolerance = {STRAIN} }}\nair = {{ damping = 5 }}\n\
         [[garment]]\npattern = {pattern}\nedge_length = {cell}\nbaste = true\nlet_out = {}\nsewing = 0.1\n\
         [[collider]]\nfriction = 0.2\n{body}\n",
        args.let_out
    ))
}

fn worn(args: &Args, file: &Path) -> Result<Row, BenchError> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut row = Row { garment: name.trim_end_matches("_specification").into(), ..Row::default() };
    let folder = tempfile::tempdir().map_err(BenchError::asked)?;
    let scene = folder.path().join("garment.toml");
    table::write(&scene, &scene_text(args, file)?)?;
    let loaded = load(&SceneSource::File(scene), &[]);
    let LoadedScene { scene, meshes, .. } = match loaded {
        Ok(loaded) => loaded,
        Err(faults) => {
            aside(format_args!("{faults}"));
            row.verdict = "refused".into();
            return Ok(row);
        }
    };
    (row.panels, row.seams) = (scene.garment[0].panel.len(), scene.garment[0].seam.len());
    let start = Instant::now();
    let mut simulation = match simulation(&scene, &meshes) {
        Ok(simulation) => simulation,
        Err(faults) => {
            aside(format_args!("{faults}"));
            row.verdict = "cannot be cut".into();
            return Ok(row);
        }
    };
    row.particles = simulation.model().cloth_particle_count();
    row.let_out = 100.0 * simulation.model().cloths.iter().map(|cloth| cloth.let_out).fold(0.0, f64::max);
    (row.basted_strain, row.basted_intersections) = faults(&simulation);
    let start_height = height(&simulation);
    for _ in 0..scene.frames {
        let before = simulation.positions().to_vec();
        simulation.step_frame(&mut ())?;
        row.displaced = 100.0 * displaced(&simulation, &before);
        row.moving = 100.0 * moving(&simulation);
        row.rested = if row.moving <= 100.0 * FASTER { row.rested + 1 } else { 0 };
        if row.rested == RESTED {
            break;
        }
    }
    row.seconds = start.elapsed().as_secs_f64();
    row.sunk = start_height - height(&simulation);
    row.opening_mm = 1e3 * seam_opening(simulation.model(), simulation.state()).unwrap_or(0.0);
    (row.strain, row.intersections) = faults(&simulation);
    open_seams(&simulation).iter().for_each(|told| aside(format_args!("{}: {told}", row.garment)));
    if row.let_out > 100.0 * TIGHT {
        aside(format_args!("{} is too tight somewhere: let out by {} %", row.garment, figures(row.let_out)));
    }
    row.verdict = verdict(&row);
    Ok(row)
}

/// The mean height of all cloth [m].
fn height(simulation: &Simulation) -> f64 {
    let all = &simulation.positions()[..simulation.model().cloth_particle_count()];
    all.iter().map(|x| x.y).sum::<f64>() / all.len().max(1) as f64
}

/// The largest strain [%], and how much intersects.
fn faults(simulation: &Simulation) -> (f64, usize) {
    let certificate = simulation.certificate();
    (100.0 * certificate.max_strain, certificate.cloth_cloth + certificate.cloth_body)
}

/// The share of particles that are not at rest [1].
fn moving(simulation: &Simulation) -> f64 {
    let all = &simulation.velocities()[..simulation.model().cloth_particle_count()];
    all.iter().filter(|v| v.length() > SLOW).count() as f64 / all.len().max(1) as f64
}

/// The share of particles that went further in a step than those at rest would [1]; GarmentCodeData looks at this.
fn displaced(simulation: &Simulation, before: &[DVec3]) -> f64 {
    let (count, way) = (simulation.model().cloth_particle_count(), SLOW * simulation.model().step_time);
    let pairs = before[..count].iter().zip(simulation.positions());
    pairs.filter(|(before, now)| before.distance(**now) > way).count() as f64 / count.max(1) as f64
}

/// Which panels' seams are open, and how far.
fn open_seams(simulation: &Simulation) -> Vec<String> {
    let (model, x) = (simulation.model(), simulation.positions());
    let mut worst: BTreeMap<[&str; 2], f64> = BTreeMap::new();
    for (l, ends) in model.links.ends.iter().enumerate() {
        let [a, b] = ends.map(|i| x[i as usize]);
        let open = a.distance(b) - model.links.rest_length(l, simulation.state().time);
        if open > CLOSED {
            let names = ends.map(|i| model.cloth_of(i as usize).map_or("", |cloth| cloth.name.as_str()));
            let most = worst.entry(names).or_default();
            *most = most.max(open);
        }
    }
    worst
        .iter()
        .map(|([a, b], open)| format!("the seam of {a} and {b} is open by {:.1} mm", 1e3 * open))
        .collect()
}

/// What keeps a garment from being worn.
fn verdict(row: &Row) -> String {
    let found = [
        (row.opening_mm > 1e3 * CLOSED, "open"),
        (row.strain > 100.0 * STRAIN * 1.001, "strained"),
        (row.intersections > 0, "intersects"),
        (row.rested < RESTED && row.sunk > FALLEN, "falls off"),
        (row.rested < RESTED && row.sunk <= FALLEN, "moves"),
    ];
    let words: Vec<&str> = found.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    if words.is_empty() { "worn".into() } else { words.join(", ") }
}
