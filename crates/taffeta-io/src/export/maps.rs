//! Numbers of every point that tell how a garment fits, and colours that stand for one of them.

use super::{ExportError, Options};
use crate::recording::{Frame, Header, Pressing, Reader};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use taffeta::collide::ccd::distance::{PairKind, closest};
use taffeta::collide::rigid::nearest::nearest;
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Form, PosedShape};
use taffeta_scene::colour::{round_above, viridis};

/// Cloth further from all bodies than this is as loose as can be [m].
pub const LOOSE: f64 = 0.1;
/// sRGB of bodies.
const BODIES: [f32; 3] = [0.735; 3];

/// What a map of a garment shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitMap {
    /// Strain of the edges around a point, the largest [1].
    Strain,
    /// Distance to the nearest body, up to [`LOOSE`] [m].
    Ease,
    /// How hard bodies press [kPa].
    Pressure,
}

impl FitMap {
    /// All of them.
    pub const ALL: [FitMap; 3] = [FitMap::Strain, FitMap::Ease, FitMap::Pressure];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FitMap::Strain => "strain",
            FitMap::Ease => "ease",
            FitMap::Pressure => "pressure",
        }
    }
}

impl fmt::Display for FitMap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The maps that are written.
#[derive(Default)]
pub(super) struct FitMaps {
    pub which: Vec<FitMap>,
    /// The place in `which` of the one that is shown by colours.
    coloured: Option<usize>,
    edges: Vec<[u32; 2]>,
    rest_lengths: Vec<f64>,
    /// Of every frame by its number what takes long to find, of every particle: ease [m] and pressure [kPa]. It is kept, since some formats go through the
    /// frames once for every attribute.
    kept: BTreeMap<u32, [Vec<f32>; 2]>,
    /// The largest number that is shown by a colour.
    most: f64,
}

impl FitMaps {
    /// Those that are asked for; strain is part of a certificate.
    pub fn of(header: &Header, options: &Options) -> Self {
        let mut which = options.maps.clone();
        if options.certificate && !which.contains(&FitMap::Strain) {
            which.push(FitMap::Strain);
        }
        let (edges, rest_lengths) = if which.contains(&FitMap::Strain) {
            (header.edges.clone(), header.rest_lengths.clone())
        } else {
            (Vec::new(), Vec::new())
        };
        let coloured = (!options.maps.is_empty()).then_some(0);
        Self { which, coloured, edges, rest_lengths, ..Self::default() }
    }

    /// Finds what takes long, in the frames of a range.
    pub fn keep(
        &mut self,
        reader: &mut Reader,
        range: Option<&RangeInclusive<u32>>,
    ) -> Result<(), ExportError> {
        let [ease, pressure] = [FitMap::Ease, FitMap::Pressure].map(|map| self.which.contains(&map));
        if !(ease || pressure) {
            return Ok(());
        }
        let colliders = reader.header().about["colliders"].as_array().cloned().unwrap_or_default();
        let forms: Vec<Option<Form>> =
            colliders.iter().map(|about| serde_json::from_value(about["shape"].clone()).ok()).collect();
        let mut pressing = if pressure { Some(Pressing::new(reader, &reader.folder())?) } else { None };
        let single = |numbers: Vec<f64>| numbers.into_iter().map(|x| x as f32).collect();
        let mut frame = Frame::default();
        for k in 0..reader.frame_count() {
            reader.seek(k)?;
            if !reader.next_frame(&mut frame)? || range.is_some_and(|range| frame.number > *range.end()) {
                break;
            }
            if range.is_some_and(|range| frame.number < *range.start()) {
                continue;
            }
            let mut kept = [Vec::new(), Vec::new()];
            if ease {
                kept[0] = single(gaps(&forms, &frame, LOOSE));
            }
            if let Some(pressing) = &mut pressing {
                kept[1] = single(pressing.at(reader, k)?);
            }
            self.kept.insert(frame.number, kept);
        }
        Ok(())
    }

    /// The numbers of all particles in a frame.
    pub fn numbers(&self, map: FitMap, frame: u32, positions: &[DVec3]) -> Vec<f64> {
        let kept = |k: usize| {
            let numbers = self.kept.get(&frame).map_or(&[][..], |kept| &kept[k]);
            let mut numbers: Vec<f64> = numbers.iter().map(|x| f64::from(*x)).collect();
            numbers.resize(positions.len(), 0.0);
            numbers
        };
        match map {
            FitMap::Strain => self.strain(positions),
            FitMap::Ease => kept(0),
            FitMap::Pressure => kept(1),
        }
    }

    /// The largest strain of the edges of every particle, too short is below 0 [1].
    fn strain(&self, positions: &[DVec3]) -> Vec<f64> {
        let mut largest = vec![0.0; positions.len()];
        for (edge, rest) in self.edges.iter().zip(&self.rest_lengths) {
            let [a, b] = edge.map(|i| i as usize);
            let strain = positions[a].distance(positions[b]) / rest - 1.0;
            for i in [a, b] {
                if strain.abs() > f64::abs(largest[i]) {
                    largest[i] = strain;
                }
            }
        }
        largest
    }

    /// Whether one of them is shown by colours.
    pub fn is_coloured(&self) -> bool {
        self.coloured.is_some()
    }

    /// Takes note of how far the numbers reach that are shown by colours.
    pub fn survey(&mut self, numbers: &[Vec<f64>]) {
        let shown = self.coloured.map_or(&[][..], |map| &numbers[map]);
        self.most = shown.iter().map(|x| x.abs()).fold(self.most, f64::max);
    }

    /// What the last colour stands for.
    fn high(&self) -> f64 {
        match self.coloured.map(|map| self.which[map]) {
            Some(FitMap::Ease) => LOOSE,
            _ => round_above(self.most),
        }
    }

    /// sRGB of all points, of which so many are cloth; none where nothing is coloured.
    pub fn colours(&self, numbers: &[Vec<f64>], cloth: usize) -> Vec<[f32; 3]> {
        let (Some(map), high) = (self.coloured, self.high()) else { return Vec::new() };
        let colour =
            |(i, x): (usize, &f64)| if i < cloth { viridis((x.abs() / high) as f32) } else { BODIES };
        numbers[map].iter().enumerate().map(colour).collect()
    }

    /// What the colours stand for, in words.
    pub fn words(&self) -> Option<String> {
        let map = self.which[self.coloured?];
        let end = match map {
            FitMap::Strain => format!("{:.3} %", 100.0 * self.high()),
            FitMap::Ease => format!("{} mm and more", 1e3 * LOOSE),
            FitMap::Pressure => format!("{} kPa", self.high()),
        };
        Some(format!("colours are of {map}, from dark at 0 to yellow at {end}"))
    }
}

/// How far every particle of a frame is from the nearest of its bodies, up to `far` [m].
pub fn gaps(forms: &[Option<Form>], frame: &Frame, far: f64) -> Vec<f64> {
    let known = || forms.iter().zip(&frame.bodies).filter_map(|(form, pose)| Some((form.as_ref()?, pose)));
    let points = |(form, pose): (&Form, &Pose)| match form {
        Form::Mesh(mesh) => mesh.points(frame.time, pose),
        Form::Closed(_) => Vec::new(),
    };
    let points: Vec<Vec<DVec3>> = known().map(points).collect();
    let gap = |x: DVec3| {
        let to = |((form, pose), points): ((&Form, &Pose), &Vec<DVec3>)| match form {
            Form::Closed(shape) => {
                nearest(&PosedShape { shape: *shape, pose: *pose }, x, far).map_or(far, |near| near.gap)
            }
            Form::Mesh(mesh) => distance(x, points, mesh.triangles(), far),
        };
        known().zip(&points).map(to).fold(far, f64::min)
    };
    frame.absolute().map(gap).collect()
}

/// How far a point is from triangles, up to `far` [m].
fn distance(x: DVec3, points: &[DVec3], triangles: &[[u32; 3]], far: f64) -> f64 {
    let to = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|corner| points[corner as usize]);
        let beyond = (a.min(b).min(c) - x).max(x - a.max(b).max(c));
        // Most triangles are far away.
        let near = beyond.max_element() < far;
        near.then(|| closest(PairKind::PointTriangle, &[x, a, b, c]).vector.length())
    };
    triangles.iter().filter_map(to).fold(far, f64::min)
}
