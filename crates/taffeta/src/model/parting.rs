//! What can part: cloth that tears, with spare particles for it, and pins that let go.
//!
//! Cloth tears along its edges: a particle is split in two, and of the faces around it those on one side get a spare particle. So no count ever changes, and
//! no face is lost. A word of [`State::parted`] tells of every spare whom it was split from, so that a state alone tells how the cloth is torn.

use super::shapes::Blank;
use super::topology::Topology;
use super::{Model, State};
use crate::scene::{Fault, Mesh, Pin};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Spare particles of a cloth that tears, over its own.
const SPARES: f64 = 0.5;

/// A piece of cloth that tears.
#[derive(Debug, Clone, PartialEq)]
pub struct Tearing {
    /// Its number.
    pub cloth: usize,
    /// Strain from which on it does [1].
    pub limit: f64,
    /// Its spare particles, in its own numbering.
    pub spares: Range<u32>,
    /// Where the words of its spares stand in [`State::parted`].
    pub first_word: usize,
    /// Its surface as it is torn now, in its own numbering.
    pub topology: Topology,
}

impl Tearing {
    /// How many of its spare particles a state uses.
    pub fn used(&self, state: &State) -> usize {
        state.parted[self.first_word..][..self.spares.len()].iter().take_while(|word| **word != 0).count()
    }
}

impl Model {
    /// The particle of this model that a particle of one torn further was split from; itself if it was there.
    pub fn origin_of(&self, particle: u32, torn: &Model) -> usize {
        let is_new = |spare: u32| !self.splits.iter().any(|split| split.spare == spare);
        let split = torn.splits.iter().find(|split| split.spare == particle && is_new(particle));
        split.map_or(particle, |split| split.twin) as usize
    }
}

/// A particle that was split, in the numbering of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The particle that it was.
    pub twin: u32,
    /// The one that it is as well since.
    pub spare: u32,
    /// The triangles that have the spare now.
    pub triangles: Vec<u32>,
}

/// A pinned particle that comes off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakingPin {
    /// The particle.
    pub particle: u32,
    /// Pull at which it does [N].
    pub limit: f64,
    /// Where its word stands in [`State::parted`]: 0 while it holds, then 1.
    pub word: usize,
}

/// The word of a spare: a particle that was split, and its neighbour on the side that the spare went to. No two are the same, so none is 0.
pub fn word(particle: u32, towards: u32) -> u64 {
    u64::from(particle) << 32 | u64::from(towards)
}

/// The inverse of [`word`].
pub fn split_of(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// The next word of a state under construction: as it was `recorded`, else 0.
fn next_word(state: &mut State, recorded: &[u64]) -> u64 {
    let word = recorded.get(state.parted.len()).copied().unwrap_or(0);
    state.parted.push(word);
    word
}

/// Gives a cloth that tears from a strain of `limit` on its spare particles, and tears it as it was `recorded`.
pub(super) fn reserve(
    model: &mut Model,
    state: &mut State,
    (blank, topology): (&mut Blank, &mut Topology),
    limit: f64,
    recorded: &[u64],
) -> Result<(), Fault> {
    let own = blank.start.len() as u32;
    let spares = own..own + (SPARES * f64::from(own)).ceil() as u32;
    let (first_word, first, first_triangle) =
        (state.parted.len(), model.particle_count() as u32, model.triangles.len() as u32);
    for spare in spares.clone() {
        let word = next_word(state, recorded);
        let (particle, towards) = split_of(word);
        // One that is not used yet lies on the first particle.
        let twin = particle.min(spare - 1);
        blank.start.push(blank.start[twin as usize]);
        let Mesh { positions, material, .. } = &mut blank.rest;
        positions.push(positions[twin as usize]);
        if !material.is_empty() {
            material.push(material[twin as usize]);
        }
        if word == 0 {
            continue;
        }
        let known = particle < spare && towards < spare && particle != towards;
        let moved = if known { topology.split(particle, towards, spare, positions) } else { Vec::new() };
        if moved.is_empty() {
            let reason = format!("the state splits particle {particle} towards {towards}, which nothing can");
            return Err(Fault::new("tear", limit, reason, "go on from a state of this scene"));
        }
        let triangles = moved.into_iter().map(|t| t + first_triangle).collect();
        model.splits.push(Split { twin: particle + first, spare: spare + first, triangles });
    }
    topology.find_edges(&blank.rest.positions);
    let cloth = model.cloths.len();
    model.tearing.push(Tearing { cloth, limit, spares, first_word, topology: topology.clone() });
    Ok(())
}

/// Notes particles of a pin that breaks; those that came off as `recorded` are taken out.
pub(super) fn clip(
    model: &mut Model,
    state: &mut State,
    pin: &Pin,
    particles: &mut Vec<u32>,
    recorded: &[u64],
) {
    let Some(limit) = pin.breaks else { return };
    particles.retain(|&particle| {
        let holds = next_word(state, recorded) == 0;
        if holds {
            model.clips.push(BreakingPin { particle, limit, word: state.parted.len() - 1 });
        }
        holds
    });
}
