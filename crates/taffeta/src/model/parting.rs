//! What can part: cloth that tears, with spare particles for it, and pins that let go.
//!
//! Cloth tears along its edges: a particle is split in two, and of the faces around it those on one side get a spare particle. So no count ever changes, and
//! no face is lost. A word of [`State::parted`] tells of every spare whom it was split from, so that a state alone tells how the cloth is torn.

use super::topology::Topology;
use super::{Model, State};
use std::fmt::Debug;
use std::ops::Range;

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

/// Makes a model anew with cloth torn and pins come off. Who authored the model knows how.
pub trait TornModels: Debug + Send + Sync {
    /// The model that is torn as [`State::parted`] says; `None` if none can be.
    fn torn(&self, parted: &[u64]) -> Option<Model>;
}

/// A particle that was split, in the numbering of the model.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
