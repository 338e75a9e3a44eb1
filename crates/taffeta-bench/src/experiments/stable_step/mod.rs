//! The largest stable step of every integrator (P3's experiment), by bisection.

mod secant;

use super::Common;
use crate::measure::build;
use crate::table::{Table, draw};
use crate::{BenchError, figures};
use secant::Secant;
use serde::Serialize;
use std::collections::BTreeMap;
use taffeta::forces::{self, stable_step::StableStep};
use taffeta::math::Vec4;
use taffeta::model::{Environment, Model, State};
use taffeta_render::plot::{Line, Plot, Stroke};
use taffeta_scene::{Air, Cloth, ClothModel, Contact, Corner, Method, Pin, Scene, Sheet, Solver};

/// Length of a side of the sheet [m].
const SIZE: f64 = 1.0;
/// The shortest time that a step is tried for [s], and the fewest and most steps.
const TRIAL: f64 = 1.0;
const FEWEST: u32 = 40;
const MOST: u32 = 20_000;
/// Steps between which the limit is sought [s].
const SHORTEST: f64 = 1e-6;
const LONGEST: f64 = 100.0;
/// Bisections of the ratio of the two.
const HALVINGS: u32 = 10;

/// A sheet of cotton, 1 m by 1 m, level at the start, swings down from two corners, in a vacuum.
///
/// A step is stable if the sheet is tried with it for a second and at least 40 steps, and nothing is then further from its middle
/// than 3 m. Long steps of implicit methods first overshoot, for they follow straight lines, and come back. `verlet` here takes the step as it is; the method of that name cuts it below the bound of its own, which
/// stands beside it. `bdf2-secant` is P3's variant without a matrix; its iteration must come to an end too. Steps from 1e-6 s to 100 s are tried; a longer limit is told as 100.
#[derive(clap::Args)]
pub struct Args {
    /// Particles along a side.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=200))]
    grid: Vec<u32>,
    /// Draw the table here, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table: largest stable steps [s].
#[derive(Serialize)]
struct Row {
    grid: u32,
    integrator: String,
    stable_step: f64,
    /// What `verlet` holds itself to.
    bound: Option<f64>,
}

/// Measures every integrator on every grid.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let usual: &[u32] = if args.common.quick { &[5] } else { &[5, 8, 12, 16, 20] };
    let grids = if args.grid.is_empty() { usual } else { &args.grid };
    let mut table = Table::default();
    let mut lines: Vec<Line> = Vec::new();
    for (colour, (name, integrator)) in integrators().into_iter().enumerate() {
        let mut points = Vec::new();
        for &grid in grids {
            let start = build("stable-step", &scene(grid, &integrator, 1e-3), &BTreeMap::new())?;
            let stable_step = bisect(|step| integrator.survives(grid, start.model(), start.state(), step));
            let bound = matches!(integrator, Integrator::Verlet).then(|| bound(start.model(), start.state()));
            points.push([f64::from(grid), stable_step]);
            let row = Row { grid, integrator: name.clone(), stable_step, bound };
            table.take(&name, Ok(row), words)?;
        }
        lines.push(Line { name, points, colour, stroke: Stroke::Marked });
    }
    table.plots = vec![Plot {
        title: "Largest stable step".into(),
        x_label: "particles along a side".into(),
        y_label: "step [s]".into(),
        log_y: true,
        lines,
        ..Plot::default()
    }];
    draw(args.plot.as_ref(), &table.plots[0])?;
    Ok(table)
}

fn words(row: &Row) -> String {
    let bound =
        row.bound.map_or(String::new(), |bound| format!(", the method's own bound {} s", figures(bound)));
    format!("{:28} {:3} x {:<3} {} s{bound}", row.integrator, row.grid, row.grid, figures(row.stable_step))
}

/// What is tried.
enum Integrator {
    Verlet,
    Secant,
    Implicit(Method, ClothModel),
}

fn integrators() -> Vec<(String, Integrator)> {
    let mut all =
        vec![("verlet".to_string(), Integrator::Verlet), ("bdf2-secant".to_string(), Integrator::Secant)];
    for method in [Method::BackwardEuler, Method::Bdf2] {
        for (model, word) in [(ClothModel::Springs, "springs"), (ClothModel::ChoiKo, "choi-ko")] {
            all.push((format!("{} {word}", method.name()), Integrator::Implicit(method, model)));
        }
    }
    all
}

fn scene(grid: u32, integrator: &Integrator, step: f64) -> Scene {
    let (method, model) = match *integrator {
        Integrator::Verlet | Integrator::Secant => (Method::Verlet, ClothModel::Springs),
        Integrator::Implicit(method, model) => (method, model),
    };
    let sheet = Sheet { width: SIZE, height: SIZE, columns: grid, rows: grid, slack: 1.0 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    Scene {
        frame_time: step,
        air: Air { density: 0.0, ..Air::default() },
        // P3 has no collisions; a guard that keeps cloth apart would limit the step by itself.
        contact: Contact { cloth_cloth: false },
        solver: Solver { method, substeps: Some(1), ..Solver::default() },
        cloth: vec![Cloth { sheet: Some(sheet), model, pin: vec![pin], ..Cloth::default() }],
        ..Scene::default()
    }
}

impl Integrator {
    fn survives(&self, grid: u32, model: &Model, state: &State, step: f64) -> bool {
        let count = ((TRIAL / step).ceil() as u32).clamp(FEWEST, MOST);
        match self {
            Self::Verlet => verlet_survives(model, state, step, count),
            Self::Secant => {
                let mut secant = Secant::new(state);
                (0..count).all(|_| secant.step(model, step)) && is_whole(&secant.state)
            }
            Self::Implicit(..) => {
                let Ok(mut simulation) =
                    taffeta_scene::simulation(&scene(grid, self, step), &BTreeMap::new())
                else {
                    return false;
                };
                (0..count).all(|_| simulation.step().is_ok()) && is_whole(simulation.state())
            }
        }
    }
}

/// P3 eq. 6 with no guard.
fn verlet_survives(model: &Model, start: &State, h: f64, count: u32) -> bool {
    let mut state = start.clone();
    let environment = Environment::new(model);
    let inverse_mass = environment.inverse_mass();
    for _ in 0..count {
        let forces = forces::all_forces(model, &model.air, &state, h);
        for (i, force) in forces.into_iter().enumerate().filter(|(i, _)| inverse_mass[*i] > 0.0) {
            state.velocities[i] += h * (force * inverse_mass[i] + model.gravity);
            state.positions[i] += h * state.velocities[i];
        }
    }
    is_whole(&state)
}

fn is_whole(state: &State) -> bool {
    state.positions.iter().all(|x| x.length() < 3.0 * SIZE)
}

fn bound(model: &Model, state: &State) -> f64 {
    let x: Vec<Vec4> = state.positions.iter().map(|x| Vec4::from(*x)).collect();
    StableStep::new(model).at(model, &Environment::new(model), &x)
}

/// The largest step that survives, between the shortest and the longest.
fn bisect(survives: impl Fn(f64) -> bool) -> f64 {
    if survives(LONGEST) {
        return LONGEST;
    }
    let (mut stable, mut unstable) = (SHORTEST, LONGEST);
    // First by tens, so that few trials take many steps.
    while unstable > 10.0 * stable && !survives(unstable / 10.0) {
        unstable /= 10.0;
    }
    stable = stable.max(unstable / 10.0);
    for _ in 0..HALVINGS {
        let middle = (stable * unstable).sqrt();
        *if survives(middle) { &mut stable } else { &mut unstable } = middle;
    }
    stable
}

#[cfg(test)]
mod tests {
    use super::bisect;

    #[test]
    fn bisection_finds_a_limit_within_a_percent() {
        for limit in [3e-5, 0.7, 42.0] {
            let found = bisect(|step| step < limit);
            assert!((found / limit - 1.0).abs() < 0.01, "{found} for {limit}");
        }
        assert_eq!(bisect(|_| true), 100.0);
    }
}
