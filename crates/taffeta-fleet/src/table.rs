//! The tables of a sweep: a row for every run that has a result.

use crate::FleetError;
use crate::job::{Finished, Outcome, RunResult};
use crate::parquet::{self, Cells, Column};
use crate::plan::{Plan, Shard};
use crate::store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use taffeta_io::replacement::Replacement;

/// How many runs ended in which way.
pub type Tally = BTreeMap<&'static str, usize>;

/// Writes `table.parquet` and `times.parquet` of a shard of a sweep; how its runs ended, those without a result as `left`.
pub fn write(folder: &Path, plan: &Plan, shard: Shard) -> Result<Tally, FleetError> {
    let mut tally = Tally::new();
    let mut rows: Vec<(usize, RunResult)> = Vec::new();
    for run in (0..plan.runs()).filter(|run| shard.has(*run)) {
        match store::result(folder, plan, &plan.address(run)) {
            Some(result) => {
                *tally.entry(result.outcome.status()).or_default() += 1;
                rows.push((run, result));
            }
            None => *tally.entry("left").or_default() += 1,
        }
    }
    put(&folder.join("table.parquet"), &columns(plan, &rows))?;
    let ints = |number: fn(&RunResult) -> i64| {
        Cells::Int(rows.iter().map(|(_, result)| Some(number(result))).collect())
    };
    let floats = |number: fn(&RunResult) -> f64| {
        Cells::Float(rows.iter().map(|(_, result)| Some(number(result))).collect())
    };
    let times = [
        column("run", Cells::Int(rows.iter().map(|(run, _)| Some(*run as i64)).collect())),
        column("wall_ms", floats(|result| result.took.wall_ms)),
        column("cpu_ms", floats(|result| result.took.cpu_ms)),
        column("attempts", ints(|result| result.took.attempts.into())),
    ];
    put(&folder.join("times.parquet"), &times)?;
    Ok(tally)
}

fn put(path: &Path, columns: &[Column]) -> Result<(), FleetError> {
    let mut file = Replacement::begin(path).map_err(FleetError::io(path, "writing the table"))?;
    parquet::write(&mut file.out, columns)
        .and_then(|()| file.put_in_place())
        .map_err(FleetError::io(path, "writing the table"))
}

fn column(name: &str, cells: Cells) -> Column {
    Column { name: name.into(), cells }
}

/// All that does not depend on machine and order: which run, its parameters, its certificate, its measures.
fn columns(plan: &Plan, rows: &[(usize, RunResult)]) -> Vec<Column> {
    let finished = |result: &RunResult| match &result.outcome {
        Outcome::Done(finished) => Some((**finished).clone()),
        _ => None,
    };
    let done: Vec<Option<Finished>> = rows.iter().map(|(_, result)| finished(result)).collect();
    let ints =
        |number: fn(&Finished) -> i64| Cells::Int(done.iter().map(|f| f.as_ref().map(number)).collect());
    let floats = |number: fn(&Finished) -> Option<f64>| {
        Cells::Float(done.iter().map(|f| f.as_ref().and_then(number)).collect())
    };
    let mut columns = vec![
        column("run", Cells::Int(rows.iter().map(|(run, _)| Some(*run as i64)).collect())),
        column(
            "address",
            Cells::Text(rows.iter().map(|(_, result)| Some(result.address.to_string())).collect()),
        ),
    ];
    columns.extend(parameters(plan, rows));
    columns.extend([
        column(
            "status",
            Cells::Text(rows.iter().map(|(_, result)| Some(result.outcome.status().into())).collect()),
        ),
        column(
            "reason",
            Cells::Text(rows.iter().map(|(_, result)| result.outcome.reason().map(String::from)).collect()),
        ),
        column("frames", ints(|f| f.frames.into())),
        column("converged_frames", ints(|f| f.converged_frames.into())),
        column("max_strain", floats(|f| f.max_strain)),
        column("intersections", ints(|f| f.intersections as i64)),
        column("min_gap_m", floats(|f| f.min_gap_m)),
        column("good", Cells::Bool(done.iter().map(|f| f.as_ref().map(|f| f.good)).collect())),
        column(
            "state_hash",
            Cells::Text(done.iter().map(|f| f.as_ref().map(|f| f.state_hash.clone())).collect()),
        ),
    ]);
    for measure in &plan.measures {
        let cell = |f: &Option<Finished>| f.as_ref()?.measures.get(&measure.name).copied().flatten();
        columns.push(column(&measure.name, Cells::Float(done.iter().map(cell).collect())));
    }
    columns
}

/// A column for every key, of the type that all its values have in the plan.
fn parameters(plan: &Plan, rows: &[(usize, RunResult)]) -> Vec<Column> {
    let places = plan.axes.iter().flat_map(|axis| (0..axis.keys.len()).map(move |k| (axis, k)));
    let mut columns = Vec::new();
    for (index, (axis, k)) in places.enumerate() {
        let all = |test: fn(&Value) -> bool| axis.points.iter().all(|point| test(&point[k]));
        let values = || rows.iter().map(|(run, _)| plan.values(*run)[index].clone());
        let cells = match () {
            () if all(Value::is_i64) => Cells::Int(values().map(|value| value.as_i64()).collect()),
            () if all(Value::is_number) => Cells::Float(values().map(|value| value.as_f64()).collect()),
            () if all(Value::is_boolean) => Cells::Bool(values().map(|value| value.as_bool()).collect()),
            () => {
                let word =
                    |value: Value| Some(value.as_str().map_or_else(|| value.to_string(), String::from));
                Cells::Text(values().map(word).collect())
            }
        };
        columns.push(column(&axis.keys[k], cells));
    }
    columns
}
