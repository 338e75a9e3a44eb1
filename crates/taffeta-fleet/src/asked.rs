//! The sweep file: a scene, what is changed in all runs, the axes, the measures. TOML to a [`Plan`], or to a fault with its line.

use crate::FleetError;
use crate::measure::Measure;
use crate::plan::{Axis, Plan, SceneText};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use taffeta::math::random::Random;
use taffeta_io::scene_file::{self, SceneSource};
use toml::Spanned;

/// No sweep has more runs; a mistyped count should not fill the memory.
const MOST_RUNS: u64 = 10_000_000;

/// What a sweep file says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    /// A scene file, relative to the folder of this file, or a built-in scene.
    pub scene: Spanned<String>,
    /// Keys of the scene that all runs have other values of.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// Keys of the scene and the values that runs have of them; the first varies slowest.
    #[serde(default)]
    pub axis: BTreeMap<String, Spanned<Values>>,
    /// How often axes of random numbers are drawn, all together.
    pub draw: Option<Draw>,
    /// A file of rows: each is a point of several keys.
    pub rows: Option<Spanned<String>>,
    /// What is measured, by the names of columns.
    #[serde(default)]
    pub measure: BTreeMap<String, Spanned<Measure>>,
    /// Whether the recordings are kept.
    #[serde(default)]
    pub record: bool,
    /// What a data set needs beyond a sweep.
    pub dataset: Option<Spanned<toml::Value>>,
}

/// The values of an axis.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// These.
    List(Vec<toml::Value>),
    /// So many, from one number to another, both included.
    Range(Steps),
    /// Drawn at random.
    Drawn(Interval),
}

/// Numbers at equal distances, or equal ratios.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    from: f64,
    to: f64,
    count: u32,
    #[serde(default)]
    log: bool,
}

/// Numbers drawn between two others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    low: f64,
    high: f64,
    /// Uniform in the logarithm.
    #[serde(default)]
    log: bool,
    /// Whole numbers, both ends included.
    #[serde(default)]
    whole: bool,
}

/// How random numbers are drawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    count: u32,
    seed: u64,
    #[serde(default)]
    by: DrawWay,
}

/// How draws lie in the space of their axes.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawWay {
    /// Each for itself.
    #[default]
    Random,
    /// One in each of `count` equal parts of every axis.
    LatinHypercube,
}

/// A sweep file and where it lies.
pub struct Asked {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub file: SweepFile,
}

impl Asked {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        let unread = |error: std::io::Error| FleetError::asked(path, error.to_string(), "name a sweep file");
        let text = std::fs::read_to_string(path).map_err(unread)?;
        let file = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| line_of(&text, &span));
            let remedy = "docs/sweeps.md has every key; keys of the scene stand in quotes, such as \"solver.tolerance\"";
            FleetError::Asked { path: path.into(), line, reason: error.message().into(), remedy: remedy.into() }
        })?;
        Ok(Self { path: path.into(), text, file })
    }

    /// A fault with its line.
    pub fn fault(
        &self,
        span: Range<usize>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> FleetError {
        let line = Some(line_of(&self.text, &span));
        FleetError::Asked { path: self.path.clone(), line, reason: reason.into(), remedy: remedy.into() }
    }

    /// The folder that other files are named from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// All runs that the file asks for. The scene is read once; what is wrong with it is told now.
    pub fn plan(&self) -> Result<Plan, FleetError> {
        let scene = self.scene()?;
        let mut set = Vec::new();
        for (key, value) in &self.file.set {
            flatten(key, value, &mut set).map_err(|key| {
                FleetError::asked(
                    &self.path,
                    format!("[set] {key} is a date or a time"),
                    "no key of a scene takes one",
                )
            })?;
        }
        let mut axes = self.axes()?;
        if let Some(rows) = &self.file.rows {
            axes.push(self.rows(rows)?);
        }
        let runs = axes.iter().try_fold(1u64, |runs, axis| runs.checked_mul(axis.points.len() as u64));
        if runs.is_none_or(|runs| runs > MOST_RUNS) {
            let remedy = "shorten an axis, or draw at random";
            return Err(FleetError::asked(
                &self.path,
                format!("the axes make more than {MOST_RUNS} runs"),
                remedy,
            ));
        }
        let mut keys: Vec<&String> = axes.iter().flat_map(|axis| &axis.keys).collect();
        keys.sort();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(FleetError::asked(
                &self.path,
                format!("{} is on two axes", pair[0]),
                "keep one of them",
            ));
        }
        let mut measures: Vec<(usize, Measure)> = Vec::new();
        for (name, asked) in &self.file.measure {
            let measure = Measure { name: name.clone(), ..asked.get_ref().clone() };
            measure.check().map_err(|(reason, remedy)| self.fault(asked.span(), reason, remedy))?;
            measures.push((asked.span().start, measure));
        }
        measures.sort_by_key(|(at, _)| *at);
        let measures = measures.into_iter().map(|(_, measure)| measure).collect();
        let plan = Plan::new(scene, set, axes, measures, self.file.record)?;
        plan.check()?;
        Ok(plan)
    }

    /// The scene as text: a file beside this one, or a built-in scene.
    fn scene(&self) -> Result<SceneText, FleetError> {
        let name = self.file.scene.get_ref();
        let beside = self.folder().join(name);
        let source = if beside.is_file() {
            SceneSource::File(beside.clone())
        } else {
            SceneSource::find(name).map_err(FleetError::from)?
        };
        match source {
            SceneSource::BuiltIn(scene) => {
                Ok(SceneText { name: scene.name.into(), text: scene.text.into(), folder: PathBuf::new() })
            }
            SceneSource::File(path) => {
                let text = std::fs::read_to_string(&path).map_err(|error| {
                    let (path, remedy) = (path.display(), "name a scene file, relative to the sweep file");
                    self.fault(self.file.scene.span(), format!("{path}: {error}"), remedy)
                })?;
                let folder = Path::new(".").join(path.parent().unwrap_or(Path::new("")));
                // Workers need not stand in the same folder.
                let folder = std::path::absolute(&folder).unwrap_or(folder);
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Ok(SceneText { name, text, folder })
            }
            SceneSource::Text { name, text, folder } => Ok(SceneText { name, text, folder }),
        }
    }

    /// Lists and ranges in the order of the file, each an axis of its own; then all drawn keys as one.
    fn axes(&self) -> Result<Vec<Axis>, FleetError> {
        let mut asked: Vec<(&String, &Spanned<Values>)> = self.file.axis.iter().collect();
        asked.sort_by_key(|(_, values)| values.span().start);
        let mut axes = Vec::new();
        let mut drawn = Vec::new();
        for (key, values) in asked {
            let fault = |reason: &str, remedy: &str| {
                self.fault(values.span(), format!("axis {key}: {reason}"), remedy)
            };
            let points = match values.get_ref() {
                Values::Drawn(interval) => {
                    if !(interval.low < interval.high && interval.high - interval.low < f64::INFINITY) {
                        return Err(fault("low is not below high", "write low = 1.0, high = 2.0"));
                    }
                    if interval.log && interval.low <= 0.0 {
                        return Err(fault(
                            "a logarithm needs numbers above 0",
                            "raise `low`, or take `log` out",
                        ));
                    }
                    drawn.push((key, interval));
                    continue;
                }
                Values::List(list) if list.is_empty() => {
                    return Err(fault("the list is empty", "write at least one value"));
                }
                Values::List(list) => {
                    let plain = list.iter().map(plain).collect::<Option<Vec<Value>>>();
                    plain.ok_or_else(|| {
                        let remedy = "an axis has numbers, words, true or false, and lists of them; for more, vary several keys by `rows`";
                        fault("a table or a date is no value of an axis", remedy)
                    })?
                }
                Values::Range(steps) => {
                    if steps.count < 2 || (steps.log && (steps.from <= 0.0 || steps.to <= 0.0)) {
                        let remedy = "write count = 2 or more; with `log`, numbers above 0";
                        return Err(fault("the range has no steps", remedy));
                    }
                    steps.numbers().into_iter().map(Value::from).collect()
                }
            };
            axes.push(Axis {
                keys: vec![key.clone()],
                points: points.into_iter().map(|point| vec![point]).collect(),
            });
        }
        match (&self.file.draw, drawn.is_empty()) {
            (Some(draw), false) if draw.count > 0 => axes.push(draw.points(&drawn)),
            (None, true) => {}
            (Some(_), false) => {
                return Err(FleetError::asked(&self.path, "[draw] has the count 0", "draw once at least"));
            }
            (None, false) => {
                let remedy = "say how often: [draw] with count = 100 and seed = 1";
                return Err(FleetError::asked(
                    &self.path,
                    "an axis is drawn at random and there is no [draw]",
                    remedy,
                ));
            }
            (Some(_), true) => {
                let remedy =
                    "write an axis such as \"air.wind[0]\" = { low = 0.0, high = 8.0 }, or take [draw] out";
                return Err(FleetError::asked(&self.path, "[draw] has no axis to draw", remedy));
            }
        }
        Ok(axes)
    }

    /// A file of rows as one axis: its first line names the keys.
    fn rows(&self, file: &Spanned<String>) -> Result<Axis, FleetError> {
        let path = self.folder().join(file.get_ref());
        let text = std::fs::read_to_string(&path).map_err(|error| {
            self.fault(
                file.span(),
                format!("{}: {error}", path.display()),
                "name a CSV file, relative to this one",
            )
        })?;
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let keys: Vec<String> = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
        let mut points = Vec::new();
        for (number, line) in lines {
            let row = cells(line);
            if row.len() != keys.len() {
                let reason = format!("{} cells, and the first line names {} keys", row.len(), keys.len());
                let remedy = "give every key a value; quote what has commas".into();
                return Err(FleetError::Asked { path, line: Some(number + 1), reason, remedy });
            }
            points.push(row.iter().map(|cell| cell_value(cell)).collect());
        }
        if points.is_empty() {
            return Err(FleetError::asked(
                path,
                "it has no rows",
                "write keys in the first line and values below",
            ));
        }
        Ok(Axis { keys, points })
    }
}

impl Steps {
    fn numbers(&self) -> Vec<f64> {
        let share = |k: u32| f64::from(k) / f64::from(self.count - 1);
        let number = |k: u32| match (k, self.log) {
            (0, _) => self.from,
            (k, _) if k + 1 == self.count => self.to,
            (k, true) => self.from * libm::pow(self.to / self.from, share(k)),
            (k, false) => self.from + (self.to - self.from) * share(k),
        };
        (0..self.count).map(number).collect()
    }
}

impl Draw {
    /// All draws: an axis of its own of all drawn keys.
    fn points(&self, drawn: &[(&String, &Interval)]) -> Axis {
        let count = self.count as usize;
        let mut points = vec![Vec::with_capacity(drawn.len()); count];
        for (k, (_, interval)) in drawn.iter().enumerate() {
            // A stream for every key, so that a further key changes none of the others.
            let mut random =
                Random::new(self.seed.wrapping_add((k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
            let mut parts: Vec<usize> = (0..count).collect();
            for i in (1..count).rev() {
                parts.swap(i, random.below(i + 1));
            }
            for (point, part) in points.iter_mut().zip(parts) {
                let unit = match self.by {
                    DrawWay::Random => random.unit(),
                    DrawWay::LatinHypercube => (part as f64 + random.unit()) / count as f64,
                };
                point.push(interval.at(unit));
            }
        }
        Axis { keys: drawn.iter().map(|(key, _)| (*key).clone()).collect(), points }
    }
}

impl Interval {
    /// The number at a share of the way, from 0 to below 1.
    fn at(&self, unit: f64) -> Value {
        if self.whole {
            let (low, high) = (self.low.ceil(), self.high.floor());
            return Value::from((low + (unit * (high - low + 1.0)).floor()).min(high) as i64);
        }
        Value::from(match self.log {
            true => self.low * libm::pow(self.high / self.low, unit),
            false => self.low + (self.high - self.low) * unit,
        })
    }
}

/// The line of the text in which a span begins, from 1.
fn line_of(text: &str, span: &Range<usize>) -> usize {
    1 + text.get(..span.start).unwrap_or_default().matches('\n').count()
}

/// A value as plain data, if it is a number, a word, true or false, or a list of them.
fn plain(value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::Table(_) | toml::Value::Datetime(_) => None,
        toml::Value::Array(items) => items.iter().map(plain).collect::<Option<Vec<_>>>().map(Value::from),
        other => serde_json::to_value(other).ok(),
    }
}

/// A change as `key=value`; tables are changes of their keys. A date is named.
fn flatten(key: &str, value: &toml::Value, set: &mut Vec<String>) -> Result<(), String> {
    match value {
        toml::Value::Table(table) => {
            table.iter().try_for_each(|(name, inner)| flatten(&format!("{key}.{name}"), inner, set))
        }
        toml::Value::Datetime(_) => Err(key.into()),
        other => {
            set.push(format!("{key}={other}"));
            Ok(())
        }
    }
}

/// The cells of a line of CSV, quotes undone.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => {
                characters.next();
                cells.last_mut().into_iter().for_each(|cell| cell.push('"'));
            }
            ('"', _) => quoted = !quoted,
            (',', false) => cells.push(String::new()),
            (c, _) => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_string()).collect()
}

/// What a cell means: a value as in TOML, else a word.
fn cell_value(cell: &str) -> Value {
    let as_toml = toml::from_str::<BTreeMap<String, toml::Value>>(&format!("x = {cell}"));
    let value = as_toml.ok().and_then(|mut table| table.remove("x"));
    value.as_ref().and_then(plain).unwrap_or_else(|| Value::from(cell))
}

/// The scene of a plan, read with the changes of one of its runs.
pub(crate) fn load(scene: &SceneText, sets: &[String]) -> Result<scene_file::LoadedScene, FleetError> {
    Ok(scene_file::load(&scene.source(), sets)?)
}
