//! Overrides: `key=value` pairs of the command line, laid over what the file says.

use super::faults::ReadRule;
use super::tree;
use serde_json::{Map, Value};
use taffeta_scene::Fault;
use taffeta_scene::place::{Step, spelt, steps};

/// An override that was laid over a scene.
pub(super) struct Override {
    /// As it was written.
    pub text: String,
    /// The outermost thing that it made or replaced.
    made: Vec<Step>,
    /// The list that it made longer.
    lengthened: Option<Vec<Step>>,
}

impl Override {
    /// Whether what stands at the path came in by this override.
    pub fn brought(&self, path: &[Step]) -> bool {
        path.starts_with(&self.made) || self.lengthened.as_deref() == Some(path)
    }
}

/// Lays `key=value` over a scene. The value is taken as TOML, and as text where it is not TOML.
///
/// A fault leaves the scene as it was, except that values which no scene can hold are laid in as `null`.
pub(super) fn apply(scene: &mut Value, text: &str) -> Result<(Override, Vec<Fault>), Fault> {
    let assignment = text.split_once('=').and_then(|(path, value)| Some((steps(path.trim())?, value.trim())));
    let Some((path, value)) = assignment else {
        let remedy = "write it like `solver.tolerance=0.001` or `cloth[0].fabric=silk`";
        return Err(ReadRule::NoAssignment.fault("", text, "", remedy));
    };
    let (value, mut faults) = tree::parse_value(value).unwrap_or_else(|| (Value::from(value), Vec::new()));
    let mut changed = scene.clone();
    let mut laid = Override { text: text.into(), made: Vec::new(), lengthened: None };
    let mut place = &mut changed;
    let mut done: Vec<Step> = Vec::new();
    for step in &path {
        place = descend(place, step, &mut done, &mut laid)?;
    }
    *place = value;
    if laid.made.is_empty() {
        laid.made = done;
    }
    *scene = changed;
    // Faults inside the value are named from the value on; the scene names them from its root.
    for fault in &mut faults {
        let dot = if fault.key.is_empty() || fault.key.starts_with('[') { "" } else { "." };
        fault.key = format!("{}{dot}{}", spelt(&path), fault.key);
    }
    Ok((laid, faults))
}

/// One step down, making what is not there: `done` grows by the step as it was understood.
fn descend<'v>(
    place: &'v mut Value,
    step: &Step,
    done: &mut Vec<Step>,
    laid: &mut Override,
) -> Result<&'v mut Value, Fault> {
    if place.is_null() {
        *place = match step {
            Step::Key(_) => Value::Object(Map::new()),
            Step::Item(_) => Value::Array(Vec::new()),
        };
    }
    // A table may have a key that is a number.
    let step = match step {
        Step::Item(index) if place.is_object() => Step::Key(index.to_string()),
        step => step.clone(),
    };
    let above = done.clone();
    done.push(step.clone());
    let is_new = match (&step, &*place) {
        (Step::Key(name), Value::Object(table)) => !table.contains_key(name),
        (Step::Item(index), Value::Array(items)) if *index <= items.len() => {
            if *index == items.len() {
                laid.lengthened.get_or_insert(above.clone());
            }
            *index == items.len()
        }
        (Step::Item(_), Value::Array(items)) => {
            let remedy = format!(
                "the list has {} items; {} would add one",
                items.len(),
                spelt(&[&above[..], &[Step::Item(items.len())]].concat())
            );
            return Err(ReadRule::NoSuchItem.fault(&spelt(done), "", "", remedy));
        }
        (_, other) => {
            let other = taffeta_scene::rules::written(other);
            let remedy = "`taffeta schema` lists the keys";
            return Err(ReadRule::NotATable.fault(&spelt(&above), other, "", remedy));
        }
    };
    if is_new && laid.made.is_empty() {
        laid.made = done.clone();
    }
    Ok(match (step, place) {
        (Step::Key(name), Value::Object(table)) => table.entry(name).or_insert(Value::Null),
        (Step::Item(index), Value::Array(items)) => {
            if index == items.len() {
                items.push(Value::Null);
            }
            &mut items[index]
        }
        // The other cases have been refused above.
        (_, place) => place,
    })
}
