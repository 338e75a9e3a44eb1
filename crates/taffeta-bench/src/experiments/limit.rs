//! Sweeps and time that strain limits take (P5's experiment): both ways, on a chain and on a sheet.

use super::Common;
use crate::measure::{build, median};
use crate::table::Table;
use crate::{BenchError, figures, percent};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model, State};
use taffeta::solve::limit::Limiter;
use taffeta_scene::{Cloth, Corner, LimitWay, Pin, Scene, Sheet, StrainLimit};

/// The most sweeps that are tried.
const MOST_SWEEPS: u32 = 100_000;
/// How often each is timed.
const REPEATS: usize = 5;

/// A chain hangs from its end and a square sheet from two corners, stretched evenly downwards and still falling; edges are shortened until none is too
/// long.
///
/// The chain is one column of a sheet. Times are medians of five.
#[derive(clap::Args)]
pub struct Args {
    /// Particles along a side [default: 10,20,40, quick 10].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1000))]
    grid: Vec<u32>,
    /// How much all edges downwards are stretched at the start (0.3 is 30 %).
    #[arg(long, value_name = "STRAIN", default_value_t = 0.3)]
    stretch: f64,
    /// Limits that are to be reached.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.1,0.05,0.01")]
    limit: Vec<f64>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    what: &'static str,
    particles: u32,
    limit: f64,
    way: &'static str,
    sweeps: u32,
    done: bool,
    ms: f64,
}

/// Measures both ways on both bodies.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let usual: &[u32] = if args.common.quick { &[10] } else { &[10, 20, 40] };
    let grids = if args.grid.is_empty() { usual } else { &args.grid };
    let mut table = Table::default();
    for what in ["chain", "sheet"] {
        for &grid in grids {
            let (model, state) = stretched(what, grid, args.stretch)?;
            for &limit in &args.limit {
                for (way, name) in [(LimitWay::Half, "half"), (LimitWay::Priority, "priority")] {
                    let limit = StrainLimit { strain: limit, way, sweeps: MOST_SWEEPS };
                    let row = Row { what, way: name, ..timed(&model, &state, &limit, grid) };
                    table.take(what, Ok(row), words)?;
                }
            }
        }
    }
    Ok(table)
}

fn words(row: &Row) -> String {
    let Row { what, particles, way, sweeps, .. } = row;
    let end = if row.done { "" } else { ", not done" };
    format!(
        "{what} {particles:4} {:>5} {way:8} {sweeps:6} sweeps {:>8} ms{end}",
        percent(row.limit),
        figures(row.ms)
    )
}

fn timed(model: &Model, state: &State, limit: &StrainLimit, particles: u32) -> Row {
    let mut limiter = Limiter::new(model, &Environment::new(model));
    let mut times = Vec::new();
    let mut swept = None;
    for _ in 0..REPEATS {
        let State { mut positions, mut velocities, .. } = state.clone();
        let begun = Instant::now();
        swept = Some(limiter.run(limit, &mut positions, &mut velocities));
        times.push(1e3 * begun.elapsed().as_secs_f64());
    }
    let (sweeps, done) = swept.map_or((0, false), |swept| (swept.sweeps, swept.done));
    Row { what: "", way: "", particles, limit: limit.strain, sweeps, done, ms: median(times) }
}

/// A sheet that hangs from its upper corners, or its first column alone, drawn out downwards.
fn stretched(what: &str, grid: u32, stretch: f64) -> Result<(Model, State), BenchError> {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: grid, rows: grid, slack: 1.0 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    let cloth = Cloth { sheet: Some(sheet), rotation: [90.0, 0.0, 0.0], pin: vec![pin], ..Cloth::default() };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let simulation = build("limit", &scene, &BTreeMap::new())?;
    let (mut model, mut state) = (Model::clone(simulation.model()), simulation.state().clone());
    for (x, v) in state.positions.iter_mut().zip(&mut state.velocities) {
        // The upper side is at 0.5 m; what is lower falls faster.
        let below = 0.5 - x.y;
        x.y -= stretch * below;
        *v = DVec3::NEG_Y * below;
    }
    if what == "chain" {
        let keep: Vec<bool> = model.edges.iter().map(|[a, b]| a % grid == 0 && b % grid == 0).collect();
        let mut kept = keep.iter();
        model.edges.retain(|_| kept.next() == Some(&true));
        let mut kept = keep.iter();
        model.rest_lengths.retain(|_| kept.next() == Some(&true));
    }
    Ok((model, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_one_edge_less_than_particles_and_is_stretched() {
        let Ok((model, state)) = stretched("chain", 6, 0.3) else { panic!("a scene without faults") };
        assert_eq!(model.edges.len(), 5);
        for ([a, b], rest) in model.edges.iter().zip(&model.rest_lengths) {
            let length = state.positions[*a as usize].distance(state.positions[*b as usize]);
            assert!((length / rest - 1.3).abs() < 1e-9);
        }
    }
}
