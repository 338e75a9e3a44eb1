//! The rows of an experiment, and the files that are made of them.

use crate::BenchError;
use crate::page::{self, Section};
use crate::tell::{aside, described, tell};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use taffeta::step::StepError;
use taffeta_io::replacement::Replacement;
use taffeta_render::plot::{Plot, lines_svg};

/// The rows of an experiment.
#[derive(Default)]
pub struct Table {
    pub rows: Vec<Value>,
    /// Whether a row is missing.
    pub failed: bool,
    /// What its page shows; all columns of all rows, if it does not say.
    pub page: Vec<Section>,
    /// Drawn below all rows, if the page does not say otherwise.
    pub plots: Vec<Plot>,
    /// What its page is called; the name of the experiment, if it does not say.
    pub title: Option<&'static str>,
}

impl Table {
    pub fn title(&self, name: &str) -> String {
        self.title.map_or(format!("taffeta bench {name}"), Into::into)
    }

    pub fn sections(self, name: &str) -> Vec<Section> {
        if !self.page.is_empty() {
            return self.page;
        }
        let columns = page::all_columns(&self.rows);
        let Self { rows, plots, .. } = self;
        vec![Section { title: name.into(), columns, rows, plots, ..Section::default() }]
    }

    /// Adds a row and tells it; one that could not be measured is left out, and the others go on.
    pub fn take<R: Serialize>(
        &mut self,
        what: &str,
        row: Result<R, StepError>,
        words: impl FnOnce(&R) -> String,
    ) -> Result<(), BenchError> {
        match row {
            Ok(row) => {
                tell(words(&row))?;
                self.rows.push(json!(row));
            }
            Err(error) => {
                aside(format_args!("{what}: {error}"));
                self.failed = true;
            }
        }
        Ok(())
    }
}

/// Rows as comma-separated values, one column for every key of any row.
pub fn csv(rows: &[Value]) -> String {
    let flat: Vec<_> = rows.iter().map(page::flat).collect();
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in flat.iter().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let quoted = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(plain) => plain.to_string(),
    };
    let line = |row: &Vec<(String, &Value)>| {
        let cell = |key: &&str| quoted(row.iter().find(|(own, _)| own == key).map(|(_, value)| *value));
        keys.iter().map(cell).collect::<Vec<_>>().join(",")
    };
    std::iter::once(keys.join(",")).chain(flat.iter().map(line)).map(|line| line + "\n").collect()
}

/// Draws a plot where a path is given for it.
pub fn draw(path: Option<&PathBuf>, plot: &Plot) -> Result<(), BenchError> {
    let Some(path) = path else { return Ok(()) };
    write(path, &lines_svg(plot))?;
    tell(described(path))
}

/// Writes a file, all of it or nothing, and makes its folder if need be.
pub fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| Replacement::write(path, text));
    written.map_err(|source| BenchError::Write { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::csv;
    use serde_json::json;

    #[test]
    fn rows_of_any_keys_become_columns() {
        let rows = [json!({ "a": 1, "b": { "c": "x\"y" } }), json!({ "a": null, "d": true })];
        assert_eq!(csv(&rows), "a,b.c,d\n1,\"x\"\"y\",\n,,true\n");
    }
}
