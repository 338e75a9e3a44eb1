//! The scene reference, made from the schema so that it cannot say anything else than the program does.

use serde_json::Value;
use taffeta_scene::rules::{ValueKind, range, resolved, words, written};

/// The scene reference as Markdown: an introduction, then every table with all its keys.
pub fn reference_markdown() -> String {
    let schema = taffeta_scene::schema();
    let mut page = Page { definitions: &schema["$defs"], text: include_str!("introduction.md").into() };
    page.section("", "The scene", schema);
    page.text
}

struct Page<'s> {
    definitions: &'s Value,
    text: String,
}

impl<'s> Page<'s> {
    /// A section on the table at `path`, and one on each table within it.
    fn section(&mut self, path: &str, heading: &str, schema: &'s Value) {
        self.text += &format!("\n## {heading}\n\n{}\n", on_one_line(&schema["description"]));
        let Some(keys) = schema["properties"].as_object() else { return };
        self.text += "\n| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n";
        let mut inner = Vec::new();
        for (name, key) in keys {
            let required =
                schema["required"].as_array().is_some_and(|list| list.contains(&name.as_str().into()));
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let table = self.inner_table(&path, key);
            self.text +=
                &self.row(name, key, required, table.as_ref().map(|(_, heading, _)| heading.as_str()));
            inner.extend(table);
        }
        for (path, heading, schema) in inner {
            self.section(&path, &heading, schema);
        }
    }

    /// Path, heading and schema of the table that a key holds, alone, in a list, or by name.
    fn inner_table(&self, path: &str, key: &'s Value) -> Option<(String, String, &'s Value)> {
        let schema = resolved(self.definitions, key);
        let item = resolved(self.definitions, &schema["items"]);
        let named = resolved(self.definitions, &schema["additionalProperties"]);
        match ValueKind::of(schema) {
            ValueKind::List if ValueKind::of(item) == ValueKind::Table => {
                Some((path.into(), format!("`[[{path}]]`"), item))
            }
            ValueKind::Table if named.is_object() => {
                let path = format!("{path}.NAME");
                Some((path.clone(), format!("`[{path}]`"), named))
            }
            ValueKind::Table => Some((path.into(), format!("`[{path}]`"), schema)),
            _ => None,
        }
    }

    fn row(&self, name: &str, key: &Value, required: bool, table: Option<&str>) -> String {
        let schema = resolved(self.definitions, key);
        let (unit, mut meaning) = unit_and_meaning(&on_one_line(&key["description"]));
        let item = resolved(self.definitions, &schema["items"]);
        for word in [schema, item].iter().filter_map(|schema| schema["oneOf"].as_array()).flatten() {
            let about = on_one_line(&word["description"]);
            meaning += &format!(" `{}`: {about}", word["const"].as_str().unwrap_or_default());
        }
        let default = match &key["default"] {
            // A list that may not be empty is required, whatever its default.
            _ if required || schema["minItems"] == 1 => "required".into(),
            Value::Null | Value::Object(_) => String::new(),
            default => format!("`{}`", written(default)),
        };
        let kind = table.map_or_else(|| self.kind(schema), String::from);
        format!("| `{name}` | {kind} | {unit} | {} | {default} | {meaning} |\n", self.range(schema))
    }

    fn kind(&self, schema: &Value) -> String {
        match ValueKind::of(schema) {
            ValueKind::Number => "number".into(),
            ValueKind::Whole => "whole number".into(),
            ValueKind::Switch => "`true`, `false`".into(),
            ValueKind::Text => "text".into(),
            ValueKind::Word => "word".into(),
            ValueKind::Table => "table".into(),
            ValueKind::List => {
                let item = self.kind(resolved(self.definitions, &schema["items"]));
                match schema["maxItems"].as_u64() {
                    Some(count) => format!("list of {count} {item}s"),
                    None => format!("list of {item}s"),
                }
            }
        }
    }

    fn range(&self, schema: &Value) -> String {
        match (ValueKind::of(schema), range(schema)) {
            (ValueKind::List, _) if schema["minItems"] != schema["maxItems"] => {
                format!("{} to {} of them", schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"])
            }
            (ValueKind::List, _) => self.range(resolved(self.definitions, &schema["items"])),
            (ValueKind::Word, _) => {
                words(schema).iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
            }
            (ValueKind::Text, _) if schema["pattern"].is_string() => "`#rrggbb`".into(),
            (kind, (Some(least), Some(most))) => format!("{} to {}", kind.limit(least), kind.limit(most)),
            _ => String::new(),
        }
    }
}

fn on_one_line(description: &Value) -> String {
    let text = description.as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A description's first `[unit]`, and the rest of it.
fn unit_and_meaning(description: &str) -> (String, String) {
    let parts = description.split_once(" [").and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    match parts {
        Some((before, (unit, after))) => (unit.into(), format!("{before}{after}")),
        None => (String::new(), description.into()),
    }
}
