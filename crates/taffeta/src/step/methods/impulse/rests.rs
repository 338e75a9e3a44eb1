//! Bends that do not rest straight, by internal friction or folds: their pulls are part of the systems along strips.
//!
//! Held as a force they would move particles first, the further the finer the cells, and only what is left of that would be answered along other strips.

use super::elements::bend_one;
use crate::forces::slider::HeldSliders;
use crate::math::{DVec3, Vec4};
use crate::model::{Model, Slides};
use crate::solve::strips::blocks::Strips;
use crate::solve::strips::rests::BendPlace;
use std::collections::BTreeMap;

/// A bend along a strip, its slider, and one over the rest length of its second edge [1/m].
#[derive(Debug)]
struct PulledBend {
    slider: usize,
    place: BendPlace,
    inverse_length: f64,
}

/// A bend that no strip has, and its slider.
#[derive(Debug)]
struct LoneBend {
    bend: usize,
    slider: Option<usize>,
}

/// All of a model.
#[derive(Debug)]
pub struct Rests {
    along_strips: Vec<PulledBend>,
    lone: Vec<LoneBend>,
    /// Whether some rest at an angle: their directions turn with the cloth in every sub-step.
    pub are_bent: bool,
}

impl Rests {
    /// Of bends in strips, and of `lone` ones.
    pub fn new(model: &Model, strips: &Strips, lone: &[usize]) -> Self {
        let sliders: BTreeMap<usize, usize> = model.sliders.iter().enumerate().filter_map(by_bend).collect();
        let key = |[a, b, c]: [u32; 3]| [b, a.min(c), a.max(c)];
        let points = |bend: usize| model.bends.points[bend];
        let known: BTreeMap<[u32; 3], usize> = sliders.keys().map(|b| (key(points(*b)), *b)).collect();
        let pulled = |(along, place): ([u32; 3], BendPlace)| {
            let bend = *known.get(&key(along))?;
            let [first, second] = model.bends.inverse_lengths[bend];
            let inverse_length = if along[2] == points(bend)[2] { second } else { first };
            Some(PulledBend { slider: sliders[&bend], place, inverse_length })
        };
        let places = strips.bend_places().filter(|_| !known.is_empty());
        Self {
            are_bent: model.sliders.iter().any(|slider| slider.start(model) != 0.0),
            along_strips: places.filter_map(pulled).collect(),
            lone: lone.iter().map(|b| LoneBend { bend: *b, slider: sliders.get(b).copied() }).collect(),
        }
    }

    /// Hands the pulls of sliders to the strips.
    pub fn hand_over(&self, sliders: &HeldSliders, strips: &mut Strips) {
        for PulledBend { slider, place, inverse_length } in &self.along_strips {
            strips.set_pull(*place, sliders.pull(*slider) * *inverse_length);
        }
    }

    /// Bends that no strip has, in a sub-step of `h` [s] from `x` to `q`.
    pub fn bend_lone(&self, model: &Model, sliders: &HeldSliders, h: f64, x: &[Vec4], q: &mut [Vec4]) {
        for LoneBend { bend, slider } in &self.lone {
            let pull = slider.map_or(DVec3::ZERO, |s| sliders.pull(s));
            bend_one(model, *bend, pull, h, x, q);
        }
    }
}

fn by_bend((slider, of): (usize, &crate::model::Slider)) -> Option<(usize, usize)> {
    let Slides::Bend(bend) = of.of else { return None };
    Some((bend as usize, slider))
}
