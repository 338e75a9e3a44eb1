//! Between two steps: cloth that is strained too far tears, and pins that are pulled too hard let go.
//!
//! A step opens one crack in a cloth at most: it begins at the edge that is strained most, across it, and runs on from particle to particle while the
//! edges across its way are strained too far as well. What has parted is part of the state; the model is that of the scene with it.

mod crack;

use crate::check;
use crate::forces::{self, element::Element, spring};
use crate::math::DVec3;
use crate::model::state::StateMismatch;
use crate::model::{BreakingPin, Environment, Memory, Model, Slider, Slides, Split, State, TornModels};
use crate::step::Simulation;
use crate::step::report::{Shortfall, StepReport};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sides of a crack start as far apart as contact keeps them, but no further than this share of the shortest edge.
const APART: f64 = 0.25;
/// Shares of that distance that are tried, where something is in the way. Contact lets cloth be squeezed as far.
const OPENINGS: [f64; 3] = [1.0, 0.5, 0.25];

/// What it takes to know who parts, and to make a model with what has.
#[derive(Debug, Clone)]
pub(super) struct Parting {
    torn_models: Arc<dyn TornModels>,
    /// Stiffness of every structural edge where impulses keep its length, else none [N/m].
    stiffness: Vec<f64>,
    /// Pull on every particle [N].
    pulls: Vec<DVec3>,
}

impl Parting {
    /// For a model in which something can part; `None` if nothing can.
    pub fn new(model: &Model, torn_models: Arc<dyn TornModels>) -> Option<Box<Self>> {
        let parts = !model.tearing.is_empty() || !model.clips.is_empty();
        let pulled = if model.clips.is_empty() { 0 } else { model.particle_count() };
        parts.then(|| {
            Box::new(Self {
                torn_models,
                stiffness: stiffness_of_hard_edges(model),
                pulls: vec![DVec3::ZERO; pulled],
            })
        })
    }

    /// How far an edge is strained [1]: by its length, or, where impulses keep that, as their pull would stretch it.
    pub fn strain(&self, model: &Model, state: &State, edge: usize) -> f64 {
        let [a, b] = model.edges[edge].map(|i| state.positions[i as usize]);
        let longer = a.distance(b) / model.rest_lengths[edge] - 1.0;
        let pulled = self.stiffness.get(edge).map_or(0.0, |k| tension_of(state, edge) / k);
        longer.max(pulled)
    }

    /// Adds up what pulls at every particle [N].
    fn find_pulls(&mut self, model: &Model, state: &State) {
        let pulls = &mut self.pulls;
        pulls.fill(DVec3::ZERO);
        let (x, v) = (|i: u32| state.positions[i as usize], |i: u32| state.velocities[i as usize]);
        let mut pull = |ends: &[u32], forces: &[DVec3]| {
            ends.iter().zip(forces).for_each(|(i, force)| pulls[*i as usize] += *force);
        };
        // Impulses that keep the lengths of edges pull instead of springs.
        for (edge, ends) in model.edges.iter().enumerate().take(self.stiffness.len()) {
            let force = tension_of(state, edge) * (x(ends[1]) - x(ends[0]));
            pull(ends, &[force, -force]);
        }
        let springs = &model.springs;
        let by_springs = if self.stiffness.is_empty() { springs.ends.len() } else { 0 };
        for (s, ends) in springs.ends.iter().enumerate().take(by_springs) {
            let [a, b] = *ends;
            let (k, c) = (springs.stiffness[s], springs.damping[s]);
            let force = spring::force(x(b) - x(a), v(b) - v(a), springs.rest_length[s], k, c);
            pull(ends, &[force, -force]);
        }
        for (s, ends) in model.stretches.ends.iter().enumerate() {
            pull(ends, &forces::stretch(model, s).forces(&ends.map(x)));
        }
        for (t, points) in model.membranes.points.iter().enumerate() {
            pull(points, &forces::membrane(model, t).forces(&points.map(x)));
        }
        for (l, ends) in model.links.ends.iter().enumerate() {
            pull(ends, &forces::link::link(model, l, state.time).forces(&ends.map(x)));
        }
    }

    /// The words of all that parts now, and where they stand in the state.
    fn find(&mut self, model: &Model, environment: &Environment, state: &State) -> Vec<(usize, u64)> {
        let mut found = Vec::new();
        for tearing in &model.tearing {
            let first = tearing.first_word + tearing.used(state);
            let words = crack::open(self, (model, environment), state, tearing);
            found.extend(words.into_iter().enumerate().map(|(k, word)| (first + k, word)));
        }
        if !model.clips.is_empty() {
            self.find_pulls(model, state);
        }
        let too_hard = |clip: &&BreakingPin| self.pulls[clip.particle as usize].length() > clip.limit;
        found.extend(model.clips.iter().filter(too_hard).map(|clip| (clip.word, 1)));
        found
    }
}

/// Tension per length of a structural edge, where impulses keep its length [N/m].
fn tension_of(state: &State, edge: usize) -> f64 {
    match &state.memory {
        Memory::Impulse(memory) => memory.tension[edge],
        _ => 0.0,
    }
}

/// Stiffness of every structural edge, if impulses keep their lengths [N/m].
fn stiffness_of_hard_edges(model: &Model) -> Vec<f64> {
    if !model.method.keeps_lengths() {
        return Vec::new();
    }
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let springs = model.springs.ends.iter().zip(&model.springs.stiffness);
    let mut springs: Vec<([u32; 2], f64)> = springs.map(|(ends, k)| (sorted(*ends), *k)).collect();
    springs.sort_by_key(|(ends, _)| *ends);
    let of = |edge: &[u32; 2]| springs.binary_search_by_key(&sorted(*edge), |(ends, _)| *ends);
    model.edges.iter().map(|edge| of(edge).map_or(f64::INFINITY, |s| springs[s].1)).collect()
}

impl Simulation {
    /// Lets part what the state strains or pulls too far, and tells how many particles did.
    pub(super) fn part(&mut self, report: &mut StepReport) {
        let Some(limits) = &mut self.parting else { return };
        let found = limits.find(&self.model, &self.environment, &self.state);
        if found.is_empty() {
            return;
        }
        let mut parted = self.state.parted.clone();
        found.iter().for_each(|(at, word)| parted[*at] = *word);
        let Some(model) = limits.torn_models.torn(&parted) else { return };
        let is_new = |split: &&Split| !self.model.splits.iter().any(|old| old.spare == split.spare);
        let splits: Vec<Split> = model.splits.iter().filter(is_new).cloned().collect();
        // What has no room to come apart waits for the next step.
        let Some(positions) = self.opened(&model, &splits) else { return };
        self.state.positions = positions;
        for split in &splits {
            self.state.velocities[split.spare as usize] = self.state.velocities[split.twin as usize];
        }
        self.state.parted = parted;
        self.take_model(model);
        report.parted = found.len() as u32;
        let Model { method, tolerance, edges, rest_lengths, .. } = &*self.model;
        let strain = check::strain(&self.state.positions, edges, rest_lengths);
        if let Some(edge) = strain.worst_edge
            && !splits.is_empty()
            && method.keeps_lengths()
            && strain.max > *tolerance
        {
            report.fall_short(Shortfall::Torn {
                ends: edges[edge],
                strain: strain.max,
                tolerance: *tolerance,
            });
        }
    }

    /// Where particles are once those that are split stand apart [m], about their common centre of mass; `None` if something is in the way. Where lengths are
    /// kept they stand as far apart as these allow.
    fn opened(&mut self, model: &Model, splits: &[Split]) -> Option<Vec<DVec3>> {
        let mut narrowest = None;
        for share in OPENINGS {
            let before = &self.state.positions;
            // Both halves of every split, each as if it were the whole.
            let [mut own, mut other, mut opened] = [before.clone(), before.clone(), before.clone()];
            for split in splits {
                let (t, s) = (split.twin as usize, split.spare as usize);
                let away = share / (model.mass[t] + model.mass[s]) * self.way_apart(model, split);
                opened[t] -= model.mass[s] * away;
                opened[s] = before[t] + model.mass[t] * away;
                (own[t], other[t]) = (opened[t], opened[s]);
            }
            let cleared = self.is_free(&own) && self.is_free(&other) && {
                let crossing = || check::self_intersections(&opened, &model.triangles).len();
                !model.cloth_meets_cloth || crossing() <= self.tangled.of_cloth()
            };
            if splits.is_empty() || cleared {
                let strain = || check::strain(&opened, &model.edges, &model.rest_lengths).max;
                if !model.method.keeps_lengths() || strain() <= model.tolerance {
                    return Some(opened);
                }
                narrowest = Some(opened);
            }
        }
        narrowest
    }

    /// How far and in which direction the halves of a split particle are to stand apart [m]: along the cloth, towards the triangles of the spare.
    fn way_apart(&self, model: &Model, split: &Split) -> DVec3 {
        let at = |i: u32| self.state.positions[self.model.origin_of(i, model)];
        let here = at(split.twin);
        let corners = split.triangles.iter().flat_map(|t| model.triangles[*t as usize]);
        let towards: DVec3 = corners.map(|i| at(i) - here).sum();
        let around = self.model.triangles.iter().filter(|t| t.contains(&split.twin)).map(|t| t.map(at));
        let normal = around.map(|[a, b, c]| (b - a).cross(c - a)).sum::<DVec3>().normalize_or_zero();
        let cloth = model.cloth_of(split.twin as usize);
        let apart = cloth.map_or(0.0, |cloth| {
            let lengths = model.rest_lengths[cloth.edges.clone()].iter();
            (1e-3 * cloth.fabric.thickness).min(APART * lengths.copied().fold(f64::INFINITY, f64::min))
        });
        apart * (towards - towards.dot(normal) * normal).normalize_or_zero()
    }

    /// Whether particles can move on to these places [m] without meeting anything.
    fn is_free(&mut self, ends: &[DVec3]) -> bool {
        self.scratch.pipeline.as_mut().is_none_or(|pipeline| {
            let positions = &self.state.positions;
            pipeline.place(&self.model, [self.state.time; 2], |i| positions[i], |_| DVec3::ZERO);
            pipeline.end(|i| ends[i]) == 0
        })
    }

    /// Goes on with the model of what has parted; what hands and the viewer have changed stays.
    fn take_model(&mut self, model: Model) {
        let (tensions, anchors) = (self.tensions_in(&model), self.anchors_in(&model));
        let pins = match &self.grip {
            None => model.pins.clone(),
            // Hands go on leading what they hold.
            Some(grip) => {
                let mut pins = grip.pins(&model);
                pins.truncate(model.pins.len());
                pins.extend_from_slice(&self.environment.pins[self.model.pins.len()..]);
                pins
            }
        };
        self.environment.hold(&model, pins);
        self.model = Arc::new(model);
        // What a method remembers is of the elements that were; it starts anew but for the sub-steps and what edges pull with.
        let before = std::mem::take(&mut self.state.memory);
        self.state.anchors = anchors;
        self.renew();
        if let (Memory::Impulse(memory), Memory::Impulse(before)) = (&mut self.state.memory, before) {
            (memory.substeps, memory.missed) = (before.substeps, before.missed);
            memory.tension = tensions;
        }
        if let Some(limits) = &mut self.parting {
            limits.stiffness = stiffness_of_hard_edges(&self.model);
        }
    }

    /// What the edges of a model torn further pull with, where impulses keep their lengths [N/m].
    fn tensions_in(&self, model: &Model) -> Vec<f64> {
        let hard = self.parting.as_ref().map_or(0, |limits| limits.stiffness.len());
        let origin = |i: u32| self.model.origin_of(i, model) as u32;
        let tension = |edge: &[u32; 2]| {
            let [a, b] = edge.map(origin);
            let known = self.model.edges.binary_search(&[a.min(b), a.max(b)]);
            known.map_or(0.0, |edge| tension_of(&self.state, edge))
        };
        model.edges.iter().take(if hard > 0 { usize::MAX } else { 0 }).map(tension).collect()
    }

    /// Where the sliders of a model torn further are anchored: those of elements that a crack has made start at rest.
    fn anchors_in(&self, model: &Model) -> Vec<f64> {
        let key = |model: &Model, of: Slides, origin: &dyn Fn(u32) -> u32| {
            let mut points: Vec<u32> =
                forces::slider::weights(model, of).iter().map(|(i, _)| origin(*i)).collect();
            points.sort_unstable();
            (of.kind(), points)
        };
        let known = self.model.sliders.iter().zip(&self.state.anchors);
        let known: BTreeMap<_, _> =
            known.map(|(slider, anchor)| (key(&self.model, slider.of, &|i| i), *anchor)).collect();
        let origin = |i: u32| self.model.origin_of(i, model) as u32;
        let anchor = |slider: &Slider| {
            known.get(&key(model, slider.of, &origin)).copied().unwrap_or_else(|| slider.start(model))
        };
        model.sliders.iter().map(anchor).collect()
    }

    /// Becomes torn as a state says.
    pub(super) fn take_parted(&mut self, parted: Vec<u64>) -> Result<(), StateMismatch> {
        let mismatch = || StateMismatch::Size { expected: self.state.len(), found: self.state.len() };
        let limits = self.parting.as_ref().ok_or_else(mismatch)?;
        let model = limits.torn_models.torn(&parted).ok_or_else(mismatch)?;
        self.state.parted = parted;
        self.take_model(model);
        Ok(())
    }
}
