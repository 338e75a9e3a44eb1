//! A table of the frames' reports: one row per frame, one column per number, however deep it lies.

use super::pending::{Pending, settle};
use super::{ExportError, Job};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Columns that every frame has.
const OWN: [&str; 3] = ["frame", "time", "state_hash"];

/// Writes the table.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    job.film.plan(2);
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    // Reports may differ from frame to frame; columns stand in the order in which they first appear.
    let (mut columns, mut titles) = (BTreeMap::new(), Vec::new());
    job.film.play(&mut |moment| {
        flatten(&moment.report, &mut String::new(), &mut |name, _| {
            if !columns.contains_key(name) {
                columns.insert(name.to_owned(), titles.len());
                let clash = OWN.contains(&name);
                titles.push(if clash { format!("report.{name}") } else { name.to_owned() });
            }
        });
        Ok(())
    })?;
    let header = OWN.iter().map(|own| own.to_string()).chain(titles.iter().map(|title| quoted(title)));
    let header = header.collect::<Vec<_>>().join(",");
    writeln!(out, "{header}").map_err(job.film.failed())?;
    let mut row = vec![String::new(); titles.len()];
    job.film.play(&mut |moment| {
        row.iter_mut().for_each(String::clear);
        flatten(&moment.report, &mut String::new(), &mut |name, value| {
            // Absent only if the recording changed in between.
            if let Some(cell) = columns.get(name).and_then(|column| row.get_mut(*column)) {
                *cell = cell_text(value);
            }
        });
        write_row(
            &mut out,
            &[moment.number.to_string(), moment.time.to_string(), format!("{:016x}", moment.state_hash)],
            &row,
        )
    })?;
    let bytes = settle(out).map_err(job.film.failed())?;
    Ok((vec![pending.commit()?], bytes))
}

fn write_row(out: &mut impl Write, own: &[String], row: &[String]) -> io::Result<()> {
    let mut cells = own.iter().chain(row);
    cells.next().map_or(Ok(()), |first| out.write_all(first.as_bytes()))?;
    cells.try_for_each(|cell| write!(out, ",{cell}"))?;
    out.write_all(b"\n")
}

/// Shows every leaf with the path to it: keys and indices, joined by dots.
fn flatten(value: &Value, path: &mut String, leaf: &mut dyn FnMut(&str, &Value)) {
    let length = path.len();
    let mut step = |key: &str, value: &Value, path: &mut String| {
        if length > 0 {
            path.push('.');
        }
        path.push_str(key);
        flatten(value, path, leaf);
        path.truncate(length);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| step(key, value, path)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| step(&i.to_string(), value, path))
        }
        Value::Null if path.is_empty() => {}
        _ => leaf(if path.is_empty() { "report" } else { path }, value),
    }
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// Text as RFC 4180 wants it: in quotes where it holds something that would end the cell.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}
