//! Plots of a sweep: a number of every run over one key, a line for every value of another.

use crate::FleetError;
use crate::job::{Finished, Outcome};
use crate::plan::Plan;
use crate::store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use taffeta_render::plot::{Line, Plot, Stroke};

/// The most lines that can be told apart.
const MOST_LINES: usize = 8;

/// What is drawn.
pub struct Asked<'a> {
    /// The measure, or a number of the certificate.
    pub measure: &'a str,
    /// The key along the page.
    pub over: &'a str,
    /// The key that has a line for every value, if any.
    pub each: Option<&'a str>,
    /// Whether the axes are logarithmic.
    pub log: [bool; 2],
}

/// The plot of a sweep. Of runs that differ in further keys only, the mean is drawn as a line and every one as a mark.
pub fn plot(folder: &Path, plan: &Plan, asked: &Asked) -> Result<Plot, FleetError> {
    let keys: Vec<&str> = plan.keys().collect();
    let place = |key: &str| {
        let known = || format!("the axes are {}", keys.join(", "));
        keys.iter()
            .position(|k| *k == key)
            .ok_or_else(|| FleetError::asked(folder, format!("{key} is no axis of this sweep"), known()))
    };
    let x = place(asked.over)?;
    let each = asked.each.map(place).transpose()?;
    let numbers: Vec<&str> = plan
        .measures
        .iter()
        .map(|m| m.name.as_str())
        .chain(["max_strain", "intersections", "min_gap_m"])
        .collect();
    if !numbers.contains(&asked.measure) {
        let remedy = format!("choose one of {}", numbers.join(", "));
        return Err(FleetError::asked(folder, format!("{} was not measured", asked.measure), remedy));
    }
    let mut lines: BTreeMap<usize, (String, Vec<[f64; 2]>)> = BTreeMap::new();
    let mut names: Vec<Value> = Vec::new();
    let mut words: Vec<Value> = Vec::new();
    for run in 0..plan.runs() {
        let Some(result) = store::result(folder, plan, &plan.address(run)) else { continue };
        let Outcome::Done(finished) = &result.outcome else { continue };
        let Some(y) = number(finished, asked.measure) else { continue };
        let values = plan.values(run);
        let line = each.map_or(0, |each| index_of(&mut names, values[each]));
        // Words stand side by side, in the order of the plan.
        let x = values[x].as_f64().unwrap_or_else(|| index_of(&mut words, values[x]) as f64);
        let name = each.map_or(String::new(), |each| {
            format!("{} = {}", short(asked.each.unwrap_or_default()), shown(values[each]))
        });
        lines.entry(line).or_insert((name, Vec::new())).1.push([x, y]);
    }
    if lines.len() > MOST_LINES {
        let remedy = format!("name a key with at most {MOST_LINES}, or none");
        return Err(FleetError::asked(
            folder,
            format!("{} has {} values", asked.each.unwrap_or_default(), lines.len()),
            remedy,
        ));
    }
    let mut drawn = Vec::new();
    for (colour, (name, mut points)) in lines {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let groups: Vec<&[[f64; 2]]> = points.chunk_by(|a, b| a[0] == b[0]).collect();
        let several = groups.iter().any(|group| group.len() > 1);
        let mean =
            |group: &&[[f64; 2]]| [group[0][0], group.iter().map(|p| p[1]).sum::<f64>() / group.len() as f64];
        let means = groups.iter().map(mean).collect();
        if several {
            drawn.push(Line { name: String::new(), points: points.clone(), colour, stroke: Stroke::Marks });
        }
        let stroke = if several { Stroke::Solid } else { Stroke::Marked };
        drawn.push(Line { name, points: means, colour, stroke });
    }
    let legend: Vec<String> =
        words.iter().enumerate().map(|(k, word)| format!("{k} {}", shown(word))).collect();
    let x_label = if legend.is_empty() {
        asked.over.to_string()
    } else {
        format!("{}: {}", asked.over, legend.join(", "))
    };
    Ok(Plot {
        title: format!("{} of {}", asked.measure, plan.scene.name),
        x_label,
        y_label: asked.measure.into(),
        log_x: asked.log[0] && words.is_empty(),
        log_y: asked.log[1],
        lines: drawn,
        levels: Vec::new(),
    })
}

fn number(finished: &Finished, name: &str) -> Option<f64> {
    match name {
        "max_strain" => finished.max_strain,
        "intersections" => Some(finished.intersections as f64),
        "min_gap_m" => finished.min_gap_m,
        name => finished.measures.get(name).copied().flatten(),
    }
}

fn index_of(seen: &mut Vec<Value>, value: &Value) -> usize {
    seen.iter().position(|known| known == value).unwrap_or_else(|| {
        seen.push(value.clone());
        seen.len() - 1
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Number(number) => number.as_f64().map_or(number.to_string(), taffeta_bench::figures),
        other => other.to_string(),
    }
}

/// The last part of a key.
fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}
