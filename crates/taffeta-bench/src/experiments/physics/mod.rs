//! Physics that has an answer: every method against closed forms, tables and measurements.

mod balloon;
mod buckling;
mod curve;
mod drape;
mod friction;
mod hysteresis;
mod invariance;
mod meshes;
mod references;
mod statics;
mod stick_slip;
mod swing;

use super::{Common, parse_method};
use crate::measure::{build, machine};
use crate::page::{Form, Section, column, text};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures, percent};
use curve::Curve;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{Air, Cloth, ClothModel, Contact, FabricChange, Mesh, Method, Scene, Solver};

/// Acceleration of gravity [m/s²].
const GRAVITY: f64 = 9.81;
/// Particles moved in sub-steps and iterations after which cloth is not waited for any longer.
const MOST_WORK: u64 = 3_000_000_000;

/// Compares every method with physics that has an answer.
///
/// A row has the reference, what was found, the error and whether it passes. Exit code 1 says that a row does not. `backward-euler, triangles` is
/// that method with Baraff and Witkin's triangles, which bend as a plate, in place of springs.
#[derive(clap::Args)]
pub struct Args {
    /// Experiments by name; all, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    /// Methods by name; all, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_method)]
    method: Vec<Method>,
    /// Sub-steps of every step, in place of what methods take: to see whether what is missed goes with them.
    #[arg(long, value_name = "N")]
    substeps: Option<u32>,
    /// The same of iterations.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// The same of rings of a specimen that drapes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=64))]
    rings: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// A method and the elements that it moves.
#[derive(Clone, Copy)]
struct Way {
    method: Method,
    model: ClothModel,
    /// Sub-steps, iterations and rings of what drapes, if not the usual ones.
    substeps: Option<u32>,
    iterations: Option<u32>,
    rings: Option<u32>,
}

impl Way {
    fn new(method: Method, model: ClothModel) -> Self {
        Self { method, model, substeps: None, iterations: None, rings: None }
    }

    fn name(&self) -> String {
        match self.model {
            ClothModel::Triangles => format!("{}, triangles", self.method.name()),
            _ => self.method.name().into(),
        }
    }

    /// Whether it holds lengths to the tolerance, whatever the stiffness of the fabric.
    fn keeps_lengths(&self) -> bool {
        matches!(self.method, Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect)
    }
}

/// Every method with springs, and one with triangles.
fn usual_ways() -> Vec<Way> {
    let springs = Method::ALL.iter().map(|method| Way::new(*method, ClothModel::Springs));
    springs.chain([Way::new(Method::BackwardEuler, ClothModel::Triangles)]).collect()
}

/// What is compared with what.
struct Experiment {
    name: &'static str,
    /// What is done, and where the reference comes from.
    about: &'static str,
    /// Why rows are missed, for those that are.
    misses: &'static [Miss],
    /// What is drawn above the table, where the reference is a curve.
    curve: Option<Curve>,
    ways: fn() -> Vec<Way>,
    find: fn(Way, bool) -> Result<Vec<Finding>, BenchError>,
}

/// Why methods miss rows, and how that goes with sub-steps, iterations or cells.
#[derive(Clone, Copy)]
struct Miss {
    /// Ways by name; none are all.
    of: &'static [&'static str],
    why: &'static str,
}

impl Experiment {
    /// Why a way misses its rows.
    fn reason(&self, way: &str) -> Option<&'static str> {
        let found = self.misses.iter().find(|miss| miss.of.is_empty() || miss.of.contains(&way));
        found.map(|miss| miss.why)
    }
}

/// One number that was found.
#[derive(Serialize)]
struct Finding {
    case: String,
    /// Where on the curve of the experiment, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<f64>,
    unit: &'static str,
    /// What it should be: between the two.
    reference: [f64; 2],
    found: f64,
    /// How far outside it is: relative to the reference or, if that is 0, as it is.
    error: f64,
    allowed: f64,
}

impl Finding {
    /// A number that should be near a reference other than 0, to a share of it.
    fn near(case: String, unit: &'static str, reference: f64, found: f64, allowed: f64) -> Self {
        let error = (found / reference - 1.0).abs();
        Self { case, at: None, unit, reference: [reference; 2], found, error, allowed }
    }

    /// A number that should be 0.
    fn nothing(case: String, unit: &'static str, found: f64, allowed: f64) -> Self {
        Self { case, at: None, unit, reference: [0.0; 2], found, error: found.abs(), allowed }
    }

    /// A number that should lie in a range, to a share of its middle.
    fn between(case: String, unit: &'static str, [low, high]: [f64; 2], found: f64, allowed: f64) -> Self {
        let outside = (low - found).max(found - high).max(0.0);
        Self {
            case,
            at: None,
            unit,
            reference: [low, high],
            found,
            error: outside / (0.5 * (low + high)),
            allowed,
        }
    }

    /// The same at a place on the curve of its experiment.
    fn at(self, x: f64) -> Self {
        Self { at: Some(x), ..self }
    }
}

/// A line of the table.
#[derive(Serialize)]
struct Row {
    experiment: &'static str,
    method: String,
    #[serde(flatten)]
    finding: Option<Finding>,
    pass: bool,
    /// Why it is missed, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

const EXPERIMENTS: &[Experiment] = &[
    swing::PENDULUM,
    swing::ROPE,
    statics::CATENARY,
    statics::ELONGATION,
    statics::STRETCH,
    statics::ELASTICA,
    statics::BENDING_LENGTH,
    buckling::LATERAL,
    swing::TORSION,
    hysteresis::LOOPS,
    drape::CUSICK,
    drape::CUSICK_WITH_HYSTERESIS,
    friction::SLOPE,
    friction::CAPSTAN,
    stick_slip::STICK_SLIP,
    friction::TERMINAL_SPEED,
    balloon::BALLOON,
    statics::REFINEMENT_IN_SPACE,
    swing::REFINEMENT_IN_TIME,
    invariance::INVARIANCE,
];

/// An experiment that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no experiment {name:?}; they are: {}", EXPERIMENTS.iter().map(|e| e.name).collect::<Vec<_>>().join(", "))]
struct NoExperiment {
    name: String,
}

/// Runs all experiments that were asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let known = |name: &&String| EXPERIMENTS.iter().any(|e| e.name == **name);
    if let Some(name) = args.only.iter().find(|name| !known(name)) {
        return Err(BenchError::asked(NoExperiment { name: name.clone() }));
    }
    let mut table = Table { title: Some("Physics that has an answer"), ..Table::default() };
    // Threads change no bit; one number of them is enough.
    let pool = machine::pool(args.common.threads().first().copied())?;
    for experiment in EXPERIMENTS {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == experiment.name) {
            continue;
        }
        let ways = (experiment.ways)();
        let asked = |way: &Way| args.method.is_empty() || args.method.contains(&way.method);
        let mut rows = Vec::new();
        let asked_for =
            |way| Way { substeps: args.substeps, iterations: args.iterations, rings: args.rings, ..way };
        for way in ways.into_iter().filter(asked).map(asked_for) {
            for row in rows_of(experiment, way, pool.install(|| (experiment.find)(way, args.common.quick)))? {
                tell(row.line())?;
                table.failed |= !row.pass;
                rows.push(row);
            }
        }
        table.rows.extend(rows.iter().map(|row| json!(row)));
        table.page.push(section(experiment, &rows));
    }
    tell(verdict(&table.rows))?;
    table.page.insert(0, overview(&table.rows));
    Ok(table)
}

/// How many rows pass, and how many of the others have a reason.
fn verdict(rows: &[Value]) -> String {
    let passed = rows.iter().filter(|row| row["pass"] == true).count();
    let told = rows.iter().filter(|row| row["reason"].is_string()).count();
    let (all, missed) = (rows.len(), rows.len() - passed);
    match missed {
        0 => format!("{passed} of {all} rows pass"),
        _ => format!("{passed} of {all} rows pass; of {missed} that are missed {told} have a stated reason"),
    }
}

/// The rows of one way; a step that failed is a row that failed.
fn rows_of(
    experiment: &Experiment,
    way: Way,
    found: Result<Vec<Finding>, BenchError>,
) -> Result<Vec<Row>, BenchError> {
    let row = |finding: Option<Finding>, fault| {
        let pass = finding.as_ref().is_some_and(|f| f.error <= f.allowed);
        let method = way.name();
        let reason = if pass { None } else { experiment.reason(&method) };
        Row { experiment: experiment.name, method, pass, reason, finding, fault }
    };
    match found {
        Ok(findings) => Ok(findings.into_iter().map(|finding| row(Some(finding), None)).collect()),
        Err(BenchError::Step(error)) => Ok(vec![row(None, Some(error.to_string()))]),
        Err(other) => Err(other),
    }
}

impl Row {
    fn line(&self) -> String {
        let shown = self.shown();
        let word = |key: &str| shown[key].as_str().unwrap_or_default().to_string();
        format!(
            "{:22} {:28} {:26} reference {:>14}  found {:>12}  error {:>9} of {:>9}  {}",
            self.experiment,
            word("case"),
            self.method,
            word("reference"),
            word("found"),
            word("error"),
            word("allowed"),
            if self.pass { "pass" } else { "MISSED" },
        )
    }

    /// The row in words.
    fn shown(&self) -> Value {
        let Some(Finding { case, unit, reference: [low, high], found, error, allowed, .. }) = &self.finding
        else {
            return json!({ "method": self.method, "found": self.fault, "pass": false });
        };
        let with_unit = |number: String| format!("{number} {unit}").trim_end().to_string();
        let relative = |number: f64| if *high == 0.0 { with_unit(figures(number)) } else { percent(number) };
        let reference =
            if low == high { figures(*low) } else { format!("{} to {}", figures(*low), figures(*high)) };
        json!({
            "case": case,
            "method": self.method,
            "reference": with_unit(reference),
            "found": with_unit(figures(*found)),
            "error": relative(*error),
            "allowed": relative(*allowed),
            "pass": self.pass,
        })
    }
}

fn section(experiment: &Experiment, rows: &[Row]) -> Section {
    let mut words = vec![experiment.about.to_string()];
    for Miss { of, why } in experiment.misses {
        if rows.iter().any(|row| row.reason == Some(*why)) {
            let by: Vec<String> = of.iter().map(|way| format!("`{way}`")).collect();
            let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
            words.push(format!("What is missed{by}: {why}"));
        }
    }
    // Cases together, methods below one another.
    let mut shown: Vec<Value> = rows.iter().map(Row::shown).collect();
    let cases: Vec<Value> = shown.iter().map(|row| row["case"].clone()).collect();
    shown.sort_by_key(|row| cases.iter().position(|case| *case == row["case"]));
    let title = experiment.name.replace('-', " ");
    Section {
        plots: experiment.curve.iter().map(|curve| curve.plot(&title, rows)).collect(),
        title,
        words,
        columns: vec![
            text("case", "case"),
            text("method", "method"),
            column("reference", "reference", Form::Word),
            column("ours", "found", Form::Word),
            column("error", "error", Form::Word),
            column("allowed", "allowed", Form::Word),
            column("pass", "pass", Form::Verdict),
        ],
        rows: shown,
        ..Section::default()
    }
}

/// How many rows of each experiment pass, method by method.
fn overview(rows: &[Value]) -> Section {
    let mut names: Vec<&Value> = Vec::new();
    let mut methods: Vec<&str> = Vec::new();
    for row in rows {
        let method = row["method"].as_str().unwrap_or_default();
        if !names.contains(&&row["experiment"]) {
            names.push(&row["experiment"]);
        }
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    let share = |name: &Value, method: &str| {
        let own = rows.iter().filter(|row| row["experiment"] == *name && row["method"] == method);
        let (all, good) =
            own.fold((0, 0), |(all, good), row| (all + 1, good + usize::from(row["pass"] == true)));
        if all == 0 { "–".to_string() } else { format!("{good} of {all}") }
    };
    let line = |name: &&Value| {
        let mut line = json!({ "experiment": name.as_str().unwrap_or_default().replace('-', " ") });
        methods.iter().for_each(|method| line[*method] = json!(share(name, method)));
        line
    };
    let mut columns = vec![text("experiment", "experiment")];
    columns.extend(methods.iter().map(|method| column(method, method, Form::Share)));
    Section {
        title: "Overview".into(),
        words: vec![format!("{}. A dash: the method does not offer it.", verdict(rows))],
        columns,
        rows: names.iter().map(line).collect(),
        ..Section::default()
    }
}

/// A scene of one piece of cloth of a fabric of its own, in a vacuum, that does not meet itself.
fn scene(way: Way, mut cloth: Cloth, fabric: FabricChange) -> Scene {
    cloth.fabric = "bench".into();
    cloth.model = way.model;
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        gravity: [0.0, -GRAVITY, 0.0],
        solver: Solver {
            method: way.method,
            // The barrier takes it for the bound of what a fabric stretches by, from half of it on.
            tolerance: if way.method == Method::Barrier { 0.05 } else { 1e-3 },
            substeps: way.substeps,
            max_iterations: way.iterations,
            ..Solver::default()
        },
        contact: Contact { cloth_cloth: false },
        fabrics: BTreeMap::from([("bench".into(), fabric)]),
        cloth: vec![cloth],
        ..Scene::default()
    }
}

/// A fabric of 200 g/m² that hardly stretches, hardly bends and loses nothing by itself.
fn thread_like() -> FabricChange {
    FabricChange {
        base: Some("cotton".into()),
        density: Some(200.0),
        warp: Some(1e4),
        weft: Some(1e4),
        bias: Some(1e3),
        bending_warp: Some(1e-3),
        bending_weft: Some(1e-3),
        damping: Some(0.0),
        bending_damping: Some(0.0),
        ..FabricChange::default()
    }
}

fn simulation(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<Simulation, BenchError> {
    build("physics", scene, meshes)
}

/// Steps for so many seconds.
fn run(simulation: &mut Simulation, seconds: f64) -> Result<(), BenchError> {
    let steps = (seconds / simulation.model().step_time).round() as usize;
    (0..steps).try_for_each(|_| simulation.step().map(drop).map_err(BenchError::from))
}

/// Steps until nothing moves by more than 0.01 mm/s, for `seconds` at most; a run that needs [`MOST_WORK`] has no rest to find.
fn settle(simulation: &mut Simulation, seconds: f64) -> Result<(), BenchError> {
    let still = |s: &Simulation| s.state().velocities.iter().all(|v| v.length() < 1e-5);
    let particles = simulation.model().particle_count() as u64;
    let (mut work, mut checked) = (0, 0.0);
    while simulation.state().time < seconds && work < MOST_WORK {
        let report = simulation.step()?;
        work += particles * (u64::from(report.substeps) + u64::from(report.iterations));
        // Nothing moves at the start either.
        if simulation.state().time > checked + 0.2 {
            if still(simulation) {
                break;
            }
            checked = simulation.state().time;
        }
    }
    Ok(())
}

/// The centre of mass [m].
fn centre(simulation: &Simulation) -> DVec3 {
    let (model, state) = (simulation.model(), simulation.state());
    let total: f64 = model.mass.iter().sum();
    model.mass.iter().zip(&state.positions).map(|(m, x)| *m * *x).sum::<DVec3>() / total
}
