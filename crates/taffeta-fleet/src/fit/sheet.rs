//! The laboratory's sheet: which tester read what, how often, with what spread.

use super::tester::Tester;
use crate::FleetError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The numbers of a fabric that can be fitted.
pub const NUMBERS: [&str; 6] = ["warp", "weft", "bias", "bending_warp", "bending_weft", "friction"];

/// A sheet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// What the fabric is to be called.
    pub name: String,
    /// The built-in fabric that everything else is taken from.
    pub base: String,
    /// Numbers that are known, as the mass per area, which is weighed: keys of a fabric.
    #[serde(default)]
    pub known: BTreeMap<String, f64>,
    /// Numbers that are fitted.
    pub fit: Spanned<Vec<String>>,
    /// Of the search.
    #[serde(default)]
    pub seed: u64,
    /// What was read.
    pub reading: Vec<Spanned<Reading>>,
}

/// What a tester read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The tester.
    pub tester: Tester,
    /// All readings, in the tester's unit.
    pub values: Vec<f64>,
    /// Standard deviation of one of them; left out, that of `values`.
    pub spread: Option<f64>,
    /// Strain of a tensile test at which the force was read [1].
    #[serde(default = "usual_strain")]
    pub strain: f64,
    /// Overhang of a cantilever [mm]; left out, twice the bending length, as the standard has it.
    pub overhang: Option<f64>,
    /// Length of the strip of a heart loop [mm].
    #[serde(default = "usual_strip")]
    pub strip: f64,
}

fn usual_strain() -> f64 {
    0.02
}

fn usual_strip() -> f64 {
    200.0
}

impl Reading {
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// Standard error of the mean.
    pub fn error(&self) -> f64 {
        let count = self.values.len() as f64;
        let squares = self.values.iter().map(|x| (x - self.mean()).powi(2)).sum::<f64>();
        let spread = self.spread.unwrap_or_else(|| (squares / (count - 1.0)).sqrt());
        spread / count.sqrt()
    }

    /// Overhang of a cantilever [mm].
    pub fn overhang(&self) -> f64 {
        self.overhang.unwrap_or_else(|| 2.0 * self.mean())
    }

    /// What is wrong with it, and the remedy.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match () {
            () if self.values.is_empty() => Err(("it has no values", "write values = [12.1, 12.4]")),
            () if !self.values.iter().all(|x| x.is_finite() && *x > 0.0) => {
                Err(("a value is not above 0", "write what the tester has read, in its unit"))
            }
            () if self.spread.is_none() && self.values.len() < 2 => {
                Err(("one value alone has no spread", "write spread = 0.3, or several values"))
            }
            () if self.error() <= 0.0 || self.error().is_nan() => {
                Err(("its spread is 0", "write the spread of the tester, such as spread = 0.3"))
            }
            () if !(1e-4..=0.5).contains(&self.strain) => {
                Err(("the strain is not from 0.0001 to 0.5", "write 0.02 for 2 %"))
            }
            () if !(1.0..=2000.0).contains(&self.overhang()) => {
                Err(("the overhang is not from 1 to 2000 mm", "write millimetres"))
            }
            () if !(10.0..=2000.0).contains(&self.strip) => {
                Err(("the strip is not from 10 to 2000 mm", "write its length in millimetres"))
            }
            () => Ok(()),
        }
    }
}

impl Sheet {
    /// Reads a sheet.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        let unread =
            |error: std::io::Error| FleetError::asked(path, error.to_string(), "name a laboratory sheet");
        let text = std::fs::read_to_string(path).map_err(unread)?;
        let line = |at: usize| Some(1 + text.get(..at).unwrap_or_default().matches('\n').count());
        let fault = |at: Option<usize>, reason: String, remedy: &str| FleetError::Asked {
            path: PathBuf::from(path),
            line: at.and_then(line),
            reason,
            remedy: remedy.into(),
        };
        let sheet: Sheet = toml::from_str(&text).map_err(|error| {
            let at = error.span().map(|span| span.start);
            fault(at, error.message().into(), "docs/sweeps.md has every key and tester")
        })?;
        for reading in &sheet.reading {
            let tester = reading.get_ref().tester.name();
            let told =
                |(reason, remedy)| fault(Some(reading.span().start), format!("{tester}: {reason}"), remedy);
            reading.get_ref().check().map_err(told)?;
        }
        if let Some(name) = sheet.fit.get_ref().iter().find(|name| !NUMBERS.contains(&name.as_str())) {
            let remedy = format!("choose of {}", NUMBERS.join(", "));
            return Err(fault(Some(sheet.fit.span().start), format!("{name} cannot be fitted"), &remedy));
        }
        if sheet.fit.get_ref().is_empty() || sheet.reading.is_empty() {
            return Err(fault(
                None,
                "there is nothing to fit".into(),
                "write fit = [\"warp\"] and a [[reading]]",
            ));
        }
        if taffeta_scene::preset(&sheet.base).is_none() {
            return Err(fault(
                None,
                format!("{:?} is no built-in fabric", sheet.base),
                "`taffeta fabrics` lists them",
            ));
        }
        Ok(sheet)
    }

    /// The readings.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.reading.iter().map(Spanned::get_ref)
    }
}
