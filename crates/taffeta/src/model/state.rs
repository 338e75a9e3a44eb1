//! All that changes in a run, and all that a snapshot needs.

use super::memory::{Memory, OWNERS};
use crate::math::DVec3;
use xxhash_rust::xxh3::Xxh3Default;

/// All that changes in a run. Equal states continue equally, bit for bit.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Time since the start [s].
    pub time: f64,
    /// Steps since the start.
    pub step: u64,
    /// Where every particle is [m].
    pub positions: Vec<DVec3>,
    /// How fast every particle moves [m/s].
    pub velocities: Vec<DVec3>,
    /// What has parted: a word for every spare particle, then one for every particle of a pin that breaks ([`super::parting`]).
    pub parted: Vec<u64>,
    /// Where every slider of the cloth's internal friction is anchored, in the units of its deformation ([`super::Slides`]).
    #[cfg_attr(feature = "serde", serde(default))]
    pub anchors: Vec<f64>,
    /// What the method remembers from step to step.
    pub memory: Memory,
}

/// Why a state is not one of the model at hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateMismatch {
    /// It has another size.
    #[error(
        "the state, {found} numbers, is none of this scene, whose states have {expected}; it is of another scene or version"
    )]
    Size {
        /// What the model's state holds.
        expected: usize,
        /// What was there.
        found: usize,
    },
    /// It was left by another method.
    #[error(
        "the state was left by {found}, and {expected} cannot go on from it; choose the method that it was made with"
    )]
    Method {
        /// Whose memory the model's state has.
        expected: &'static str,
        /// Whose it was.
        found: &'static str,
    },
}

impl State {
    /// Becomes equal to `other`, in the memory it has.
    pub fn copy_from(&mut self, other: &State) {
        (self.time, self.step) = (other.time, other.step);
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.parted.clone_from(&other.parted);
        self.anchors.clone_from(&other.anchors);
        self.memory.copy_from(&other.memory);
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        let words = self.parted.len() + self.anchors.len() + self.memory.len();
        3 + 3 * (self.positions.len() + self.velocities.len()) + words
    }

    /// Whether it has no particles.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// A fingerprint of every bit.
    pub fn hash(&self) -> u64 {
        let mut hasher = Xxh3Default::new();
        self.each_word(|word| hasher.update(&word));
        self.memory.each(|number| hasher.update(&number.to_bits().to_le_bytes()));
        hasher.digest()
    }

    /// Every bit, little-endian, and whose memory it is.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.len());
        self.each_word(|word| bytes.extend_from_slice(&word));
        self.memory.each(|number| bytes.extend_from_slice(&number.to_bits().to_le_bytes()));
        bytes.extend_from_slice(&self.memory.tag().to_le_bytes());
        bytes
    }

    /// The inverse of [`State::to_bytes`] for a model whose states are like this one, which is overwritten.
    pub fn read_bytes(&mut self, bytes: &[u8]) -> Result<(), StateMismatch> {
        let (words, _) = bytes.as_chunks();
        let tag = words.last().map_or(u64::MAX, |word| u64::from_le_bytes(*word));
        if tag != self.memory.tag() {
            let found = OWNERS.get(tag as usize).copied().unwrap_or("a method that is not known here");
            return Err(StateMismatch::Method { expected: self.memory.owner(), found });
        }
        if bytes.len() != 8 * self.len() {
            return Err(StateMismatch::Size { expected: self.len(), found: bytes.len() / 8 });
        }
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default();
        (self.time, self.step) = (f64::from_bits(next()), next());
        for vector in self.positions.iter_mut().chain(&mut self.velocities) {
            *vector = DVec3::from_array(std::array::from_fn(|_| f64::from_bits(next())));
        }
        self.parted.iter_mut().for_each(|word| *word = next());
        self.anchors.iter_mut().for_each(|anchor| *anchor = f64::from_bits(next()));
        self.memory.fill(|| f64::from_bits(next()));
        Ok(())
    }

    /// What has parted in a state of this model that [`State::to_bytes`] has kept; what the method remembers may have another length there.
    pub fn parted_in(&self, bytes: &[u8]) -> Option<Vec<u64>> {
        let first = 8 * (2 + 3 * (self.positions.len() + self.velocities.len()));
        let (words, _) = bytes.get(first..first + 8 * self.parted.len())?.as_chunks();
        Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// The positions [m] and the fingerprint of a state of so many particles that [`State::to_bytes`] has kept, whatever else it holds.
    pub fn positions_in(bytes: &[u8], particles: usize) -> Result<(Vec<DVec3>, u64), StateMismatch> {
        let (words, _) = bytes.as_chunks::<8>();
        let short = StateMismatch::Size { expected: 3 + 6 * particles, found: words.len() };
        let (_, hashed) = words.split_last().ok_or(short.clone())?;
        let number = |word: &[u8; 8]| f64::from_bits(u64::from_le_bytes(*word));
        let vectors = hashed.get(2..2 + 6 * particles).ok_or(short)?;
        let (positions, _) = vectors[..3 * particles].as_chunks::<3>();
        let positions = positions.iter().map(|p| DVec3::from_array(p.each_ref().map(number))).collect();
        let mut hasher = Xxh3Default::new();
        hasher.update(hashed.as_flattened());
        Ok((positions, hasher.digest()))
    }

    /// All but what the method remembers.
    fn each_word(&self, mut take: impl FnMut([u8; 8])) {
        take(self.time.to_bits().to_le_bytes());
        take(self.step.to_le_bytes());
        for vector in self.positions.iter().chain(&self.velocities) {
            vector.to_array().into_iter().for_each(|c| take(c.to_bits().to_le_bytes()));
        }
        self.parted.iter().for_each(|word| take(word.to_le_bytes()));
        self.anchors.iter().for_each(|anchor| take(anchor.to_bits().to_le_bytes()));
    }
}
