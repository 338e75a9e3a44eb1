//! Data sets: a sweep whose frames are kept as arrays and sequences, with splits and a card.

use crate::FleetError;
use crate::asked::Asked;
use crate::job::Outcome;
use crate::plan::{Address, Plan};
use crate::store;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use taffeta::math::random::Random;
use taffeta_io::export::{Format, Options, export};
use taffeta_io::recording::Reader;
use taffeta_io::replacement::Replacement;

/// What a data set needs beyond a sweep: `[dataset]` of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetAsked {
    /// What the card is headed by.
    pub title: String,
    /// Under which it may be used.
    pub license: String,
    /// Formats of sequences, as `taffeta export` names them.
    #[serde(default)]
    pub sequences: Vec<String>,
    /// Shares of the splits, by name.
    pub splits: BTreeMap<String, f64>,
    /// Of the splits.
    #[serde(default)]
    pub seed: u64,
}

/// Splits: the addresses of each.
pub type Splits = BTreeMap<String, Vec<Address>>;

impl DatasetAsked {
    /// Reads what a file asks for: the plan of its runs too.
    pub fn read(asked: &Asked) -> Result<(Self, Plan), FleetError> {
        let Some(table) = &asked.file.dataset else {
            let remedy = "write [dataset] with title, license and splits = { train = 0.8, test = 0.2 }";
            return Err(FleetError::asked(&asked.path, "there is no [dataset]", remedy));
        };
        let fault = |reason: String, remedy: &str| asked.fault(table.span(), reason, remedy);
        let own: Self = table.get_ref().clone().try_into().map_err(|error: toml::de::Error| {
            fault(error.message().into(), "docs/sweeps.md has every key of [dataset]")
        })?;
        let shares = own.splits.values();
        if own.splits.is_empty()
            || shares.clone().any(|x| *x <= 0.0 || x.is_nan())
            || (shares.sum::<f64>() - 1.0).abs() > 1e-9
        {
            return Err(fault(
                "the shares of the splits are not 1 together".into(),
                "write splits = { train = 0.8, test = 0.2 }",
            ));
        }
        for name in &own.sequences {
            name.parse::<Format>().map_err(|error| fault(error.to_string(), "usd and gltf are sequences"))?;
        }
        let mut plan = asked.plan()?;
        plan.record |= !own.sequences.is_empty();
        plan.samples = true;
        Ok((own, plan))
    }

    /// Puts every run that is done into a split. Which it is depends on the seed and on all runs, not on the order in which they ended.
    pub fn split(&self, mut done: Vec<Address>) -> Splits {
        done.sort();
        let mut random = Random::new(self.seed);
        for i in (1..done.len()).rev() {
            done.swap(i, random.below(i + 1));
        }
        let (all, mut share, mut from) = (done.len() as f64, 0.0, 0);
        let mut splits = Splits::new();
        for (name, part) in &self.splits {
            share += part;
            let to = ((share * all).round() as usize).clamp(from, done.len());
            splits.insert(name.clone(), done[from..to].to_vec());
            from = to;
        }
        splits
    }

    /// Writes sequences, splits and the card beside the results.
    pub fn finish(&self, folder: &Path, plan: &Plan) -> Result<Splits, FleetError> {
        let mut done: Vec<Address> = (0..plan.runs())
            .map(|run| plan.address(run))
            .filter(|address| is_done(folder, plan, address))
            .collect();
        done.sort();
        done.dedup();
        for name in &self.sequences {
            for address in &done {
                self.sequence(folder, address, name)?;
            }
        }
        let splits = self.split(done);
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            Replacement::write(&path, text).map_err(FleetError::io(path, "writing"))
        };
        put("splits.json", &serde_json::to_string_pretty(&splits).unwrap_or_default())?;
        put("card.md", &self.card(plan, &splits))?;
        Ok(splits)
    }

    fn sequence(&self, folder: &Path, address: &Address, name: &str) -> Result<(), FleetError> {
        let failed = |error: &dyn std::error::Error| {
            FleetError::io(folder, "writing a sequence")(std::io::Error::other(error.to_string()))
        };
        let format: Format = name.parse().map_err(|error| failed(&error))?;
        let place = folder.join("sequences").join(format!("{address}.{}", format.extension()));
        if place.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(folder.join("sequences"))
            .map_err(FleetError::io(&place, "making the folder"))?;
        let mut reader = Reader::open(store::recording(folder, address)).map_err(|error| failed(&error))?;
        let exported = export(&mut reader, format, &place, &Options::default(), &mut |_, _| {});
        exported.map(drop).map_err(|error| failed(&error))
    }

    /// What is in the data set, for people.
    fn card(&self, plan: &Plan, splits: &Splits) -> String {
        let mut text = format!(
            "# {}\n\nLicense: {}. Made by Taffeta {} from the scene `{}`, {} runs.\n\n| split | runs |\n|---|---|\n",
            self.title,
            self.license,
            plan.taffeta,
            plan.scene.name,
            plan.runs()
        );
        for (name, runs) in splits {
            let _ = writeln!(text, "| {name} | {} |", runs.len());
        }
        text += "\n## What varies\n\n| key | values | from | to |\n|---|---|---|---|\n";
        for axis in &plan.axes {
            for (k, key) in axis.keys.iter().enumerate() {
                let numbers = || axis.points.iter().filter_map(|point| point[k].as_f64());
                let (low, high) =
                    (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
                let ends = if low <= high {
                    format!("{low} | {high}")
                } else {
                    format!("{} | {}", axis.points[0][k], axis.points[axis.points.len() - 1][k])
                };
                let _ = writeln!(text, "| `{key}` | {} | {ends} |", axis.points.len());
            }
        }
        text += "\n## What does not\n\n";
        for set in &plan.set {
            let _ = writeln!(text, "- `{set}`");
        }
        let _ = write!(
            text,
            "\nThe scene:\n\n```toml\n{}\n```\n\n## What there is\n\n\
             `table.parquet` has a row for every run: its address, every parameter, its certificate and its measures. `samples/ADDRESS/frame_0001.npz` \
             has `positions` and `velocities` [m, m/s], `triangles`, `contacts` (number of a triangle and of the collider of closed form that it touches), `certificate` \
             (largest and mean strain, intersections of cloth with cloth and with bodies, smallest gap [m]) and `time` [s] of a frame; frame 0 is \
             the start. `splits.json` has the addresses of every split.\n\n\
             `taffeta dataset verify DIR` computes a random sample of runs again and compares every bit.\n",
            plan.scene.text.trim_end()
        );
        text
    }
}

/// Whether a run has all that belongs to it.
pub fn is_done(folder: &Path, plan: &Plan, address: &Address) -> bool {
    store::result(folder, plan, address).is_some_and(|result| matches!(result.outcome, Outcome::Done(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_share_all_runs_whatever_their_order() {
        let asked = DatasetAsked {
            title: String::new(),
            license: String::new(),
            sequences: vec![],
            splits: [("train".to_string(), 0.7), ("test".to_string(), 0.3)].into(),
            seed: 3,
        };
        let runs: Vec<Address> =
            (0..10).filter_map(|k| serde_json::from_str(&format!("\"{k:032x}\"")).ok()).collect();
        let splits = asked.split(runs.clone());
        assert_eq!((splits["train"].len(), splits["test"].len()), (7, 3));
        assert_eq!(splits, asked.split(runs.iter().rev().cloned().collect()));
        let mut all: Vec<Address> = splits.into_values().flatten().collect();
        all.sort();
        assert_eq!(all, runs);
    }
}
