//! Patterns of garments, read and laid into the scene: what is checked and built has all panels and seams in one place.

use super::faults::ReadRule;
use super::garmentcode;
use super::read_text;
use super::tree::Tree;
use crate::catalogue;
use serde_json::{Map, Value};
use std::path::Path;
use taffeta_scene::Fault;
use taffeta_scene::rules::suggestion;

/// Replaces the pattern of every garment by its panels and seams, behind those that the garment has itself. Files are looked for in `folder`; without
/// one only built-in patterns are known. Returns what could not be read.
pub(super) fn lay_in(scene: &mut Value, folder: Option<&Path>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let garments = scene.get_mut("garment").and_then(Value::as_array_mut);
    for (index, garment) in garments.into_iter().flatten().enumerate() {
        let Some(garment) = garment.as_object_mut() else { continue };
        let Some(name) = garment.get("pattern").and_then(Value::as_str).map(String::from) else { continue };
        match pattern(&name, folder) {
            Ok(mut pattern) => {
                garment.remove("pattern");
                ["panel", "seam"].iter().for_each(|list| append(garment, list, pattern.remove(*list)));
            }
            Err(detail) => {
                let names: Vec<&str> = catalogue::patterns().iter().map(|pattern| pattern.name).collect();
                let intro = "name a pattern file, relative to the folder of the scene; built in are";
                let key = format!("garment[{index}].pattern");
                let remedy = suggestion(&name, &names, intro);
                faults.push(ReadRule::NoPattern.fault(&key, format!("{name:?}"), &detail, remedy));
            }
        }
    }
    faults
}

fn append(garment: &mut Map<String, Value>, list: &str, more: Option<Value>) {
    let own = garment.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    // What is no list is refused by the rules.
    match (own.as_array_mut(), more) {
        (Some(own), Some(Value::Array(more))) => own.extend(more),
        (Some(_), Some(other)) => *own = other,
        _ => {}
    }
}

/// The pattern of that name as a table, or why there is none.
fn pattern(name: &str, folder: Option<&Path>) -> Result<Map<String, Value>, String> {
    let built_in = catalogue::patterns().iter().find(|pattern| pattern.name == name);
    let text = match (built_in, folder) {
        (Some(pattern), _) => pattern.text.to_string(),
        (None, Some(folder)) => {
            read_text(&folder.join(name)).map_err(|fault| format!(": it {}", fault.reason))?
        }
        (None, None) => return Err(": a scene without a folder has none but those built in".into()),
    };
    if name.ends_with(".json") {
        return garmentcode::pattern(&text).map_err(|reason| format!(": {reason}"));
    }
    let tree = Tree::parse(&text).map_err(|mistakes| {
        let first = mistakes.first().map_or(String::new(), |m| m.fault.reason.clone());
        let at = mistakes.first().and_then(|m| m.span.clone()).map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        format!(": line {line} {first}")
    })?;
    if let Some(fault) = tree.faults.first() {
        return Err(format!(": {fault}"));
    }
    let Value::Object(table) = tree.value else { return Err(": it holds no keys".into()) };
    match table.keys().find(|key| !["title", "panel", "seam"].contains(&key.as_str())) {
        Some(key) => Err(format!(": it has the key `{key}`, which is none of `title`, `panel`, `seam`")),
        None => Ok(table),
    }
}
