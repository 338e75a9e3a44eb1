//! The way of a crack through cloth: where it begins, and from particle to particle.

use super::Parting;
use crate::model::topology::Topology;
use crate::model::{Environment, Model, State, Tearing, parting};

/// Of the edges at the tip of a crack those are across it that make an angle of less than 60° with the last one across it.
const ACROSS: f64 = 0.5;

/// The crack that opens in a cloth, as the words of its splits; empty if the cloth holds.
pub fn open(
    limits: &Parting,
    (model, environment): (&Model, &Environment),
    state: &State,
    tearing: &Tearing,
) -> Vec<u64> {
    let cloth = &model.cloths[tearing.cloth];
    let first = cloth.particles.start as u32;
    let worst = |edges: &mut dyn Iterator<Item = usize>| {
        let mut worst = (tearing.limit, None);
        for edge in edges {
            let strain = limits.strain(model, state, edge);
            // Of several the first.
            worst = if strain > worst.0 { (strain, Some(edge)) } else { worst };
        }
        worst.1
    };
    let ends = |edge: usize| model.edges[edge].map(|i| i - first);
    let Some([a, b]) = worst(&mut cloth.edges.clone()).map(ends) else { return Vec::new() };
    let mut crack = Crack::new(model, environment, state, tearing);
    // It begins at an end of the edge, rather one where the cloth has a border: a crack goes on at its tip.
    let at_border = tearing.topology.boundary.binary_search(&b).is_ok();
    let [a, b] = if at_border { [b, a] } else { [a, b] };
    let mut waiting: Vec<_> = crack.split(a, b).or_else(|| crack.split(b, a)).into_iter().collect();
    let rest = |i: u32| model.rest_positions[(i + first) as usize];
    while let Some(Opened { particle, towards, spare }) = waiting.pop() {
        let across = (rest(towards) - rest(particle)).normalize_or_zero();
        for tip in crack.tips(particle, spare) {
            let is_across = |edge: &usize| {
                let [a, b] = ends(*edge);
                let along = (rest(a) - rest(b)).normalize_or_zero();
                (a == tip || b == tip) && along.dot(across).abs() > ACROSS
            };
            let Some([a, b]) = worst(&mut cloth.edges.clone().filter(is_across)).map(ends) else { continue };
            waiting.extend(crack.split(tip, if a == tip { b } else { a }));
        }
    }
    crack.words
}

/// A crack under way, in the numbering of its cloth.
struct Crack<'a> {
    model: &'a Model,
    environment: &'a Environment,
    tearing: &'a Tearing,
    topology: Topology,
    words: Vec<u64>,
    /// The first spare particle that is left.
    next: u32,
}

/// A particle that was split.
struct Opened {
    particle: u32,
    towards: u32,
    spare: u32,
}

impl<'a> Crack<'a> {
    fn new(model: &'a Model, environment: &'a Environment, state: &State, tearing: &'a Tearing) -> Self {
        let next = tearing.spares.start + tearing.used(state) as u32;
        Self { model, environment, tearing, topology: tearing.topology.clone(), words: Vec::new(), next }
    }

    /// Splits a particle that can move and that this crack has not split yet, if cloth is on both sides and a spare is left.
    fn split(&mut self, particle: u32, towards: u32) -> Option<Opened> {
        let own = self.model.cloths[self.tearing.cloth].particles.clone();
        let held = self.environment.inverse_mass[own.start + particle as usize] == 0.0;
        let again = self.words.iter().any(|word| parting::split_of(*word).0 == particle);
        let spare = self.next;
        let possible = !held && !again && spare < self.tearing.spares.end;
        let rest = &self.model.rest_positions[own];
        if !possible || self.topology.split(particle, towards, spare, rest).is_empty() {
            return None;
        }
        self.words.push(parting::word(particle, towards));
        self.next += 1;
        Some(Opened { particle, towards, spare })
    }

    /// Where the crack can go on from a particle that was split: neighbours that are on both sides of it.
    fn tips(&self, particle: u32, spare: u32) -> Vec<u32> {
        let around = |i: u32| {
            let of = self.topology.triangles.iter().filter(move |t| t.contains(&i)).flatten();
            of.copied().filter(move |other| *other != i)
        };
        let mut tips: Vec<u32> = around(particle).filter(|i| around(spare).any(|j| j == *i)).collect();
        tips.sort_unstable();
        tips.dedup();
        tips
    }
}
