//! A plan: all runs of a sweep in their order, each with its address.

use crate::asked::load;
use crate::job::Job;
use crate::measure::Measure;
use crate::{FleetError, asked};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use taffeta_io::scene_file::{self, SceneSource};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A scene as a program holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SceneText {
    /// What it goes by.
    pub name: String,
    /// The text, TOML.
    pub text: String,
    /// The folder that its files are named from.
    pub folder: PathBuf,
}

impl SceneText {
    /// As the reader of scenes takes it.
    pub fn source(&self) -> SceneSource {
        SceneSource::Text { name: self.name.clone(), text: self.text.clone(), folder: self.folder.clone() }
    }
}

/// Keys that vary together, and the values they have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The keys of the scene.
    pub keys: Vec<String>,
    /// At every point a value for each key.
    pub points: Vec<Vec<Value>>,
}

/// The fingerprint of all that decides what comes out of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Address {
    /// The text: 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// All runs of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of the program.
    pub taffeta: String,
    /// The scene.
    pub scene: SceneText,
    /// Hash of the scene with the common changes, all defaults written out, and of its meshes.
    inputs: String,
    /// Hashes of the files that values of axes name.
    files: BTreeMap<String, String>,
    /// Changes that all runs have, as `key=value`.
    pub set: Vec<String>,
    /// What varies; the first varies slowest.
    pub axes: Vec<Axis>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// Whether recordings are kept.
    pub record: bool,
    /// What workers leave of every frame beside the recording, if anything.
    #[serde(default)]
    pub samples: bool,
}

impl Plan {
    /// A plan of a scene, which is read with the common changes.
    pub fn new(
        scene: SceneText,
        set: Vec<String>,
        axes: Vec<Axis>,
        measures: Vec<Measure>,
        record: bool,
    ) -> Result<Self, FleetError> {
        let taffeta = env!("CARGO_PKG_VERSION").into();
        let inputs = match load(&scene, &set) {
            Ok(loaded) => {
                // What is written for debugging has every bit of every number.
                let meshes = format!("{:?}", loaded.meshes);
                format!("{:032x}", xxh3_128((scene_file::to_toml(&loaded.scene) + &meshes).as_bytes()))
            }
            // A scene may lack what every run brings.
            Err(_) => format!("{:032x}", xxh3_128(format!("{}{set:?}", scene.text).as_bytes())),
        };
        let words = axes.iter().flat_map(|axis| axis.points.iter().flatten()).filter_map(Value::as_str);
        let file = |word: &str| Some((word.to_string(), content(&scene.folder, word)?));
        let files = words.collect::<BTreeSet<_>>().into_iter().filter_map(file).collect();
        Ok(Self { taffeta, scene, inputs, files, set, axes, measures, record, samples: false })
    }

    /// The plan without what may differ from machine to machine: where the scene's files lie.
    pub fn portable(&self) -> Self {
        let scene = SceneText { folder: PathBuf::new(), ..self.scene.clone() };
        Self { scene, ..self.clone() }
    }

    /// Reads the first and the last run. Where both are refused, so that what is wrong is hardly one value of an axis, it is told.
    pub fn check(&self) -> Result<(), FleetError> {
        match asked::load(&self.scene, &self.sets(0)) {
            Ok(_) => Ok(()),
            Err(faults) => {
                load(&self.scene, &self.sets(self.runs().saturating_sub(1))).map(drop).map_err(|_| faults)
            }
        }
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product()
    }

    /// The keys that vary, in the order of columns.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().flat_map(|axis| &axis.keys).map(String::as_str)
    }

    /// The values of the keys in a run.
    pub fn values(&self, run: usize) -> Vec<&Value> {
        let mut rest = run;
        let mut points: Vec<&Vec<Value>> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            points.push(&axis.points[rest % axis.points.len()]);
            rest /= axis.points.len();
        }
        points.into_iter().rev().flatten().collect()
    }

    /// The changes of a run, as `key=value`.
    pub fn sets(&self, run: usize) -> Vec<String> {
        let own = self.keys().zip(self.values(run)).map(|(key, value)| format!("{key}={value}"));
        self.set.iter().cloned().chain(own).collect()
    }

    /// The address of a run.
    pub fn address(&self, run: usize) -> Address {
        let mut hash = Xxh3::new();
        let mut add = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(&self.taffeta);
        add(&self.inputs);
        for (key, value) in self.keys().zip(self.values(run)) {
            add(key);
            add(&value.to_string());
            if let Some(content) = value.as_str().and_then(|name| self.files.get(name)) {
                add(content);
            }
        }
        for measure in &self.measures {
            add(&measure.to_string());
        }
        add(if self.record { "recorded" } else { "" });
        add(if self.samples { "sampled" } else { "" });
        Address(format!("{:032x}", hash.digest128()))
    }

    /// A run as a worker is handed it.
    pub fn job(&self, run: usize) -> Job {
        Job {
            address: self.address(run),
            scene: self.scene.clone(),
            sets: self.sets(run),
            measures: self.measures.clone(),
            recording: None,
            samples: None,
            memory: None,
        }
    }
}

/// Hash of the file that a word names, if it names one.
fn content(folder: &Path, word: &str) -> Option<String> {
    let looks_like_file = Path::new(word).extension().is_some();
    let bytes = looks_like_file.then(|| std::fs::read(folder.join(word)).ok())??;
    Some(format!("{:032x}", xxh3_128(&bytes)))
}

/// A part of the runs of a plan, for one machine of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// All runs.
    pub const ALL: Shard = Shard { number: 1, of: 1 };

    /// Whether a run belongs to this part. Neighbours, which take alike long, go to different parts.
    pub fn has(&self, run: usize) -> bool {
        run % self.of == self.number - 1
    }

    /// As it is written on the command line: `3/16`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("write which part of how many, such as 3/16; the first is 1".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(axes: Vec<Axis>) -> Plan {
        let scene = SceneText {
            name: "hang".into(),
            text: "frames = 3\n[[cloth]]\nsheet = { width = 1.0, height = 1.0, columns = 4, rows = 4 }"
                .into(),
            folder: PathBuf::new(),
        };
        Plan::new(scene, vec![], axes, vec![], false).unwrap()
    }

    fn axis(key: &str, points: &[f64]) -> Axis {
        Axis { keys: vec![key.into()], points: points.iter().map(|x| vec![Value::from(*x)]).collect() }
    }

    #[test]
    fn the_first_axis_varies_slowest_and_every_run_has_an_address_of_its_own() {
        let plan = plan(vec![axis("solver.tolerance", &[0.01, 0.02]), axis("air.drag", &[1.0, 2.0, 3.0])]);
        assert_eq!(plan.runs(), 6);
        let sets = |run| plan.sets(run).join(" ");
        assert_eq!(sets(0), "solver.tolerance=0.01 air.drag=1.0");
        assert_eq!(sets(1), "solver.tolerance=0.01 air.drag=2.0");
        assert_eq!(sets(5), "solver.tolerance=0.02 air.drag=3.0");
        let mut addresses: Vec<Address> = (0..6).map(|run| plan.address(run)).collect();
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), 6);
    }

    #[test]
    fn an_address_depends_on_what_is_computed_and_on_nothing_else() {
        let small = plan(vec![axis("air.drag", &[1.0])]);
        let longer = plan(vec![axis("air.drag", &[2.0, 1.0])]);
        assert_eq!(small.address(0), longer.address(1));
        let measure =
            |name: &str| Measure { name: name.into(), of: "max_strain".into(), ..Measure::default() };
        let measured = Plan { measures: vec![measure("a")], ..small.clone() };
        assert_ne!(small.address(0), measured.address(0));
        let later = Plan { taffeta: "9.9.9".into(), ..small.clone() };
        assert_ne!(small.address(0), later.address(0));
        // Spelling is not what a scene means.
        let scene = SceneText { text: format!("# The same.\n{}", small.scene.text), ..small.scene.clone() };
        let respelt = Plan::new(scene, vec![], small.axes.clone(), vec![], false).unwrap();
        assert_eq!(small.address(0), respelt.address(0));
    }

    #[test]
    fn shards_share_all_runs_and_no_run_is_in_two() {
        let shards: Vec<Shard> = (1..=16).map(|number| Shard { number, of: 16 }).collect();
        assert!((0..1000).all(|run| shards.iter().filter(|shard| shard.has(run)).count() == 1));
        assert_eq!(Shard::parse("3/16"), Ok(Shard { number: 3, of: 16 }));
        for wrong in ["", "3", "0/4", "5/4", "a/b", "1/0"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }
}
