//! Measures: one number of a run, read off its frames.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_bench::drapemeter::{folds, shadow_area};

/// What is measured that no column of the report has, and what each needs.
const QUANTITIES: &str = "drape-coefficient (holder), fold-count, height (particle), travel (particle), droop (particle, from), volume";

/// A quantity of every frame, and how all frames become one number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// What its column is called: the key that it stands under.
    #[serde(default)]
    pub name: String,
    /// The quantity: a name of this file, or a column of the report such as `max_strain` or `energy_j.kinetic`.
    pub of: String,
    /// How frames become one number.
    #[serde(default)]
    pub by: Reduction,
    /// The frame of `by = "frame"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<u32>,
    /// What `by = "time"` waits for the quantity to reach, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// The piece of cloth, from 0.
    #[serde(default)]
    pub cloth: usize,
    /// A particle of that cloth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle: Option<usize>,
    /// The particle that a chord begins at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// Radius of the disc that holds a draped specimen [m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<f64>,
}

/// How the frames of a run become one number. The start is no frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// That of the last frame.
    #[default]
    Last,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// That of one frame.
    Frame,
    /// The time at which it first reaches a height [s], between frames by proportion.
    Time,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl Measure {
    /// What is wrong with it, and the remedy.
    pub fn check(&self) -> Result<(), (String, String)> {
        let needs = |what: &str, example: &str| {
            Err((
                format!("measure {}: {} needs `{what}`", self.name, self.of),
                format!("write {what} = {example}"),
            ))
        };
        match (self.of.as_str(), self.by) {
            ("drape-coefficient", _) if self.holder.is_none_or(|r| r <= 0.0 || r.is_nan()) => {
                needs("holder", "0.0635, in metres")
            }
            ("height" | "travel" | "droop", _) if self.particle.is_none() => needs("particle", "0"),
            ("droop", _) if self.from.is_none() => needs("from", "0"),
            (_, Reduction::Frame) if self.frame.is_none_or(|n| n == 0) => needs("frame", "30"),
            (_, Reduction::Time) if self.above.is_none() => needs("above", "0.01"),
            (of, _) if of.contains('-') && of != "drape-coefficient" && of != "fold-count" => Err((
                format!("measure {}: there is no quantity {of:?}", self.name),
                format!("name {QUANTITIES}, or a column of the report"),
            )),
            _ => Ok(()),
        }
    }

    /// The quantity now; nothing where there is nothing to measure.
    fn now(&self, simulation: &Simulation, report: &Value) -> Option<f64> {
        let model = simulation.model();
        let piece = model.cloths.get(self.cloth);
        let at = |particle: Option<usize>| {
            let index = piece?.particles.clone().nth(particle?)?;
            Some((simulation.state().positions[index], model.rest_positions.get(index).copied()?))
        };
        match self.of.as_str() {
            "height" => Some(at(self.particle)?.0.y),
            "travel" => at(self.particle).map(|(now, start)| now.distance(start)),
            "droop" => {
                let chord = at(self.particle)?.0 - at(self.from)?.0;
                Some(libm::atan2(-chord.y, libm::hypot(chord.x, chord.z)).to_degrees())
            }
            "volume" => {
                let x = &simulation.state().positions;
                let corner = |k: u32| x.get(k as usize).copied().unwrap_or(DVec3::ZERO);
                let triangles = model.triangles.get(piece?.triangles.clone())?;
                let of = |[a, b, c]: &[u32; 3]| corner(*a).dot(corner(*b).cross(corner(*c))) / 6.0;
                Some(triangles.iter().map(of).sum::<f64>().abs())
            }
            "drape-coefficient" | "fold-count" => {
                let edge = outline(model.triangles.get(piece?.triangles.clone())?);
                let places =
                    |x: &[DVec3]| edge.iter().filter_map(|k| x.get(*k as usize).copied()).collect::<Vec<_>>();
                let now = places(&simulation.state().positions);
                if now.len() < 3 {
                    return None;
                }
                if self.of == "fold-count" {
                    return Some(folds(&now));
                }
                let holder = std::f64::consts::PI * self.holder? * self.holder?;
                Some((shadow_area(&now) - holder) / (shadow_area(&places(&model.rest_positions)) - holder))
            }
            column => {
                let found = column.split('.').try_fold(report, |value, key| match key.parse::<usize>() {
                    Ok(index) if value.is_array() => value.get(index),
                    _ => value.get(key),
                })?;
                found.as_f64().or_else(|| found.as_bool().map(|yes| f64::from(u8::from(yes))))
            }
        }
    }
}

/// The measures of a run under way.
pub struct Readings {
    readings: Vec<Reading>,
}

struct Reading {
    measure: Measure,
    value: Option<f64>,
    sum: f64,
    count: u32,
    /// Time [s] and quantity of the frame before.
    before: Option<(f64, f64)>,
}

impl Readings {
    /// Nothing is read yet.
    pub fn new(measures: &[Measure]) -> Self {
        let reading = |measure: &Measure| Reading {
            measure: measure.clone(),
            value: None,
            sum: 0.0,
            count: 0,
            before: None,
        };
        Self { readings: measures.iter().map(reading).collect() }
    }

    /// Takes in a frame, with its report.
    pub fn take(&mut self, simulation: &Simulation, frame: u32, report: &Value) {
        let time = simulation.state().time;
        for reading in &mut self.readings {
            if let Some(x) = reading.measure.now(simulation, report) {
                reading.take(frame, time, x);
            }
        }
    }

    /// What was read, by name.
    pub fn done(self) -> BTreeMap<String, Option<f64>> {
        let value = |reading: Reading| (reading.measure.name, reading.value.filter(|x| x.is_finite()));
        self.readings.into_iter().map(value).collect()
    }
}

impl Reading {
    fn take(&mut self, frame: u32, time: f64, x: f64) {
        match self.measure.by {
            Reduction::Last => self.value = Some(x),
            Reduction::Max => self.value = Some(self.value.map_or(x, |y| y.max(x))),
            Reduction::Min => self.value = Some(self.value.map_or(x, |y| y.min(x))),
            Reduction::Frame if self.measure.frame == Some(frame) => self.value = Some(x),
            Reduction::Frame => {}
            Reduction::Mean => {
                self.sum += x;
                self.count += 1;
                self.value = Some(self.sum / f64::from(self.count));
            }
            Reduction::Time => {
                let level = self.measure.above.unwrap_or(f64::INFINITY);
                if self.value.is_none() && x >= level {
                    let (t0, x0) = self.before.unwrap_or((time, x));
                    let share = if x > x0 { (level - x0) / (x - x0) } else { 1.0 };
                    self.value = Some(t0 + share.clamp(0.0, 1.0) * (time - t0));
                }
                self.before = Some((time, x));
            }
        }
    }
}

/// The particles of the longest open edge of triangles, one after the other from that of the smallest number on.
fn outline(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    let sides = |[a, b, c]: &[u32; 3]| [[*a, *b], [*b, *c], [*c, *a]];
    let all: std::collections::BTreeSet<[u32; 2]> = triangles.iter().flat_map(sides).collect();
    next.extend(all.iter().filter(|[a, b]| !all.contains(&[*b, *a])).map(|[a, b]| (*a, *b)));
    let mut longest = Vec::new();
    while let Some((&first, _)) = next.iter().next() {
        let mut loop_of = vec![];
        let mut at = first;
        while let Some(following) = next.remove(&at) {
            loop_of.push(at);
            at = following;
        }
        if loop_of.len() > longest.len() {
            longest = loop_of;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(measure: Measure, numbers: &[f64]) -> Option<f64> {
        let mut readings = Readings::new(&[Measure { name: "it".into(), ..measure }]);
        for (frame, x) in (1..).zip(numbers) {
            readings.readings[0].take(frame, 0.5 * f64::from(frame), *x);
        }
        readings.done()["it"]
    }

    #[test]
    fn frames_become_one_number() {
        let numbers = [1.0, 4.0, 2.0, 5.0];
        let by = |by| Measure { by, ..Measure::default() };
        assert_eq!(read(by(Reduction::Last), &numbers), Some(5.0));
        assert_eq!(read(by(Reduction::Max), &numbers), Some(5.0));
        assert_eq!(read(by(Reduction::Min), &numbers), Some(1.0));
        assert_eq!(read(by(Reduction::Mean), &numbers), Some(3.0));
        assert_eq!(read(Measure { frame: Some(3), ..by(Reduction::Frame) }, &numbers), Some(2.0));
        // A height of 3 is two thirds of the way from 1 to 4: 0.5 s and two thirds of half a second.
        let time = read(Measure { above: Some(3.0), ..by(Reduction::Time) }, &numbers).unwrap();
        assert!((time - (0.5 + 1.0 / 3.0)).abs() < 1e-15);
        assert_eq!(read(Measure { above: Some(9.0), ..by(Reduction::Time) }, &numbers), None);
        assert_eq!(read(by(Reduction::Last), &[]), None);
    }

    #[test]
    fn the_outline_of_two_triangles_goes_once_around() {
        assert_eq!(outline(&[[0, 1, 2], [0, 2, 3]]), [0, 1, 2, 3]);
        assert!(outline(&[[0, 1, 2], [2, 1, 0]]).is_empty());
    }
}
