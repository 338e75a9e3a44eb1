//! A fabric from measurements: simulated testers, a search for the numbers with which they read what the laboratory read.
//!
//! Numbers are searched by their logarithms, those that share testers together: CMA-ES from where textbooks' formulas put them, then
//! Gauss and Newton's steps, whose derivatives the confidence intervals need anyway.

mod cma;
mod sheet;
mod tester;

pub use cma::{Cma, eigen};
pub use sheet::{NUMBERS, Reading, Sheet};
pub use tester::Tester;

use crate::FleetError;
use crate::job::{Job, Outcome};
use crate::plan::{Address, Plan, SceneText};
use crate::pool::{Event, Pool};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// Length of the first steps, and that at which derivatives take over.
const STEPS: [f64; 2] = [0.1, 0.03];
/// Generations of the search at most.
const GENERATIONS: u32 = 12;
/// A misfit that is far below what readings spread by: the sum of squares, in standard errors.
const WITHIN: f64 = 0.1;
/// Relative change of a number for a derivative.
const CHANGE: f64 = 0.02;
/// Steps by derivatives.
const NEWTON: u32 = 4;
/// A number is undetermined from this half width of its interval on, relative.
const UNDETERMINED: f64 = 0.5;
/// Half width of an interval of 95 %, in standard errors.
const INTERVAL: f64 = 1.96;

/// Numbers of a fabric by name.
pub type Numbers = BTreeMap<String, f64>;

/// What was found.
pub struct Fitted {
    /// The numbers that were fitted, and the half width of their interval of 95 % as a share of them; infinite where nothing tells.
    pub numbers: BTreeMap<String, (f64, f64)>,
    /// What every tester reads of the fabric, in the order of the sheet; nothing where the run failed.
    pub readings: Vec<Option<f64>>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How many runs it took.
    pub runs: usize,
}

/// The testers of a sheet, and the processes that carry them out.
pub struct Laboratory<'a> {
    sheet: &'a Sheet,
    pool: &'a Pool,
    ended: &'a dyn Fn() -> bool,
    known: HashMap<Address, Option<f64>>,
    /// Fails of runs, told once.
    pub failures: Vec<String>,
}

/// The user has asked for an end.
pub const INTERRUPTED: &str = "interrupted";

impl<'a> Laboratory<'a> {
    /// Testers that wait.
    pub fn new(sheet: &'a Sheet, pool: &'a Pool, ended: &'a dyn Fn() -> bool) -> Self {
        Self { sheet, pool, ended, known: HashMap::new(), failures: Vec::new() }
    }

    /// What the testers of some readings read of several fabrics: for every fabric a number for every reading.
    pub fn read(
        &mut self,
        fabrics: &[Numbers],
        readings: &[&Reading],
    ) -> Result<Vec<Vec<Option<f64>>>, FleetError> {
        let mut asked: Vec<Vec<Address>> = Vec::new();
        let mut jobs: Vec<(Job, &Reading)> = Vec::new();
        for fabric in fabrics {
            let mut row = Vec::new();
            for reading in readings {
                // Only what a reading depends on is told to its tester: a change of another number is no new run.
                let matters = |name: &String| {
                    reading.tester.depends_on().contains(&name.as_str())
                        || self.sheet.known.contains_key(name)
                };
                let numbers = fabric
                    .iter()
                    .filter(|(name, _)| matters(name))
                    .map(|(name, x)| (name.clone(), *x))
                    .collect();
                let text = reading.tester.scene(reading, &self.sheet.base, &numbers);
                let name = reading.tester.name().to_string();
                let scene = SceneText { name, text, folder: PathBuf::new() };
                let job = Plan::new(scene, Vec::new(), Vec::new(), reading.tester.measures(), false)?.job(0);
                row.push(job.address.clone());
                let new = !self.known.contains_key(&job.address)
                    && jobs.iter().all(|(other, _)| other.address != job.address);
                if new {
                    jobs.push((job, reading));
                }
            }
            asked.push(row);
        }
        let whose: HashMap<Address, &Reading> =
            jobs.iter().map(|(job, reading)| (job.address.clone(), *reading)).collect();
        let (known, failures) = (&mut self.known, &mut self.failures);
        self.pool.carry_out(jobs.into_iter().map(|(job, _)| Ok(job)), self.ended, &mut |event| {
            if let Event::Ended(result) = event {
                let read = match &result.outcome {
                    Outcome::Done(done) => {
                        whose.get(&result.address).and_then(|r| r.tester.read(r, &done.measures))
                    }
                    failed => {
                        let reason = failed.reason().unwrap_or_default().to_string();
                        if !failures.contains(&reason) {
                            failures.push(reason);
                        }
                        None
                    }
                };
                known.insert(result.address, read.filter(|x| x.is_finite()));
            }
            Ok(())
        })?;
        if (self.ended)() {
            return Err(FleetError::asked(INTERRUPTED, "the search was ended", "begin again"));
        }
        let found = |row: Vec<Address>| {
            row.iter().map(|address| self.known.get(address).copied().flatten()).collect()
        };
        Ok(asked.into_iter().map(found).collect())
    }

    /// How many runs were carried out.
    pub fn runs(&self) -> usize {
        self.known.len()
    }
}

/// The numbers of the base, and what is known of the fabric.
pub fn of_base(sheet: &Sheet) -> Numbers {
    let mut numbers = Numbers::new();
    let Some(base) = taffeta_scene::preset(&sheet.base).map(|preset| preset.fabric) else { return numbers };
    numbers.insert("density".into(), base.density);
    let of_base = [base.warp, base.weft, base.bias, base.bending_warp, base.bending_weft, base.friction];
    numbers.extend(NUMBERS.iter().zip(of_base).map(|(name, x)| (name.to_string(), x)));
    numbers.extend(sheet.known.clone());
    numbers
}

/// Where the search begins: at what textbooks' formulas make of the readings.
fn first_guess(sheet: &Sheet) -> Numbers {
    let mut numbers = of_base(sheet);
    let density = numbers.get("density").copied().unwrap_or(1.0);
    for reading in sheet.readings() {
        if let Some((name, x)) = reading.tester.first_guess(reading, density)
            && sheet.fit.get_ref().iter().any(|fitted| fitted == name)
            && x > 0.0
        {
            numbers.insert(name.into(), x);
        }
    }
    // The bias is soft or the fabric is none.
    let most = 1.9 * numbers["warp"].min(numbers["weft"]);
    numbers.entry("bias".into()).and_modify(|bias| *bias = bias.min(most));
    numbers
}

/// Numbers that share testers, each group with its readings.
fn groups(sheet: &Sheet) -> Vec<(Vec<String>, Vec<usize>)> {
    let mut groups: Vec<(Vec<String>, Vec<usize>)> =
        sheet.fit.get_ref().iter().map(|name| (vec![name.clone()], Vec::new())).collect();
    for (k, reading) in sheet.readings().enumerate() {
        let depends = |group: &(Vec<String>, Vec<usize>)| {
            group.0.iter().any(|name| reading.tester.depends_on().contains(&name.as_str()))
        };
        let (joined, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(depends);
        if !joined.is_empty() {
            let mut one = (Vec::new(), vec![k]);
            for (names, readings) in joined {
                one.0.extend(names);
                one.1.extend(readings);
            }
            others.push(one);
        }
        groups = others;
    }
    groups
}

/// Searches the fabric that the testers read what the laboratory read of. `told` hears of every group and its generations.
pub fn fit(laboratory: &mut Laboratory, told: &mut dyn FnMut(&str)) -> Result<Fitted, FleetError> {
    let sheet = laboratory.sheet;
    let mut numbers = first_guess(sheet);
    let mut found = BTreeMap::new();
    let mut warnings = Vec::new();
    let all: Vec<&Reading> = sheet.readings().collect();
    for (names, places) in groups(sheet) {
        let readings: Vec<&Reading> = places.iter().map(|k| all[*k]).collect();
        if readings.is_empty() {
            warnings.push(format!(
                "no reading determines {}: it stays what it is in {}",
                names.join(", "),
                sheet.base
            ));
            found.extend(names.iter().map(|name| (name.clone(), (numbers[name], f64::INFINITY))));
            continue;
        }
        let mut valley = Valley { laboratory, numbers: &numbers, names: &names, readings: &readings };
        let (x, intervals) = valley.go_down(sheet.seed, told)?;
        for ((name, x), interval) in names.iter().zip(&x).zip(intervals) {
            numbers.insert(name.clone(), libm::exp(*x));
            found.insert(name.clone(), (libm::exp(*x), interval));
            if interval > UNDETERMINED {
                warnings.push(format!(
                    "the readings do not determine {name}: its interval is ± {:.0} %",
                    100.0 * interval
                ));
            }
        }
    }
    let readings = laboratory.read(&[numbers], &all)?.remove(0);
    for (reading, read) in all.iter().zip(&readings) {
        let off = read.map(|read| (read - reading.mean()) / reading.error());
        match off {
            None => warnings.push(format!("{}: its run failed", reading.tester.name())),
            Some(off) if off.abs() > 3.0 => warnings.push(format!(
                "{} contradicts the other readings, or the model cannot do it: it is missed by {:.1} standard errors",
                reading.tester.name(),
                off.abs()
            )),
            Some(_) => {}
        }
    }
    warnings.extend(laboratory.failures.iter().map(|reason| format!("a run failed: {}", reason.trim_end())));
    Ok(Fitted { numbers: found, readings, warnings, runs: laboratory.runs() })
}

/// Some numbers, by their logarithms, and the readings that they decide.
struct Valley<'v, 'a> {
    laboratory: &'v mut Laboratory<'a>,
    numbers: &'v Numbers,
    names: &'v [String],
    readings: &'v [&'v Reading],
}

impl Valley<'_, '_> {
    /// How far every reading is off [standard errors], at several places; nothing where a run failed.
    fn residuals(&mut self, places: &[Vec<f64>]) -> Result<Vec<Option<Vec<f64>>>, FleetError> {
        let fabric = |place: &Vec<f64>| {
            let mut numbers = self.numbers.clone();
            numbers.extend(self.names.iter().zip(place).map(|(name, x)| (name.clone(), libm::exp(*x))));
            numbers
        };
        let fabrics: Vec<Numbers> = places.iter().map(fabric).collect();
        let read = self.laboratory.read(&fabrics, self.readings)?;
        let off = |row: Vec<Option<f64>>| {
            row.iter()
                .zip(self.readings)
                .map(|(read, reading)| Some((read.as_ref()? - reading.mean()) / reading.error()))
                .collect()
        };
        Ok(read.into_iter().map(off).collect())
    }

    /// The lowest place, and the half width of the interval of every number there.
    fn go_down(&mut self, seed: u64, told: &mut dyn FnMut(&str)) -> Result<(Vec<f64>, Vec<f64>), FleetError> {
        let cost = |off: &Option<Vec<f64>>| {
            off.as_ref().map_or(f64::INFINITY, |off| off.iter().map(|r| r * r).sum())
        };
        let start: Vec<f64> = self.names.iter().map(|name| libm::log(self.numbers[name].max(1e-6))).collect();
        let mut best = (cost(&self.residuals(std::slice::from_ref(&start))?[0]), start.clone());
        let mut search = Cma::new(start, STEPS[0], seed);
        for generation in 1..=GENERATIONS {
            let points = search.ask();
            let costs: Vec<f64> = self.residuals(&points)?.iter().map(cost).collect();
            search.tell(&points, &costs);
            for (cost, point) in costs.into_iter().zip(points) {
                if cost < best.0 {
                    best = (cost, point);
                }
            }
            told(&format!("{}: generation {generation}, misfit {:.3}", self.names.join(", "), best.0));
            if search.sigma < STEPS[1] || best.0 < WITHIN {
                break;
            }
        }
        let mut inverse = Vec::new();
        for _ in 0..NEWTON {
            let n = self.names.len();
            let mut around = vec![best.1.clone()];
            for k in 0..n {
                for change in [CHANGE, -CHANGE] {
                    let mut place = best.1.clone();
                    place[k] += change;
                    around.push(place);
                }
            }
            let off = self.residuals(&around)?;
            let Some(off) = off.into_iter().collect::<Option<Vec<Vec<f64>>>>() else { break };
            let slope = |k: usize, i: usize| (off[1 + 2 * k][i] - off[2 + 2 * k][i]) / (2.0 * CHANGE);
            let count = self.readings.len();
            let product = |k: usize, l: usize| (0..count).map(|i| slope(k, i) * slope(l, i)).sum::<f64>();
            let normal: Vec<Vec<f64>> = (0..n).map(|k| (0..n).map(|l| product(k, l)).collect()).collect();
            inverse = pseudo_inverse(&normal);
            let down: Vec<f64> = (0..n).map(|k| (0..count).map(|i| slope(k, i) * off[0][i]).sum()).collect();
            let step = |k: usize| -(0..n).map(|l| inverse[k][l] * down[l]).sum::<f64>().clamp(-0.3, 0.3);
            let steps: Vec<f64> = (0..n).map(step).collect();
            let tries: Vec<Vec<f64>> = [1.0, 0.3]
                .iter()
                .map(|share| best.1.iter().zip(&steps).map(|(x, step)| x + share * step).collect())
                .collect();
            let costs: Vec<f64> = self.residuals(&tries)?.iter().map(cost).collect();
            let before = best.0;
            for (cost, place) in costs.into_iter().zip(tries) {
                if cost < best.0 {
                    best = (cost, place);
                }
            }
            told(&format!("{}: derivatives, misfit {:.3}", self.names.join(", "), best.0));
            if best.0 > 0.99 * before || steps.iter().all(|step| step.abs() < 1e-3) {
                break;
            }
        }
        let interval = |k: usize| match inverse.get(k) {
            Some(row) if row[k] > 0.0 => INTERVAL * row[k].sqrt(),
            _ => f64::INFINITY,
        };
        let intervals = (0..self.names.len()).map(interval).collect();
        Ok((best.1, intervals))
    }
}

/// The inverse of a symmetric matrix, with what nothing determines left large.
fn pseudo_inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let (values, vectors) = eigen(matrix);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let floor = (1e-10 * largest).max(1e-12);
    let cell = |i: usize, j: usize| {
        (0..n).map(|k| vectors[i][k] * vectors[j][k] / values[k].max(floor)).sum::<f64>()
    };
    (0..n).map(|i| (0..n).map(|j| cell(i, j)).collect()).collect()
}
