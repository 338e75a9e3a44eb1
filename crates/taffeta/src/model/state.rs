//! All that changes in a run, and all that a snapshot needs.

use crate::math::DVec3;
use xxhash_rust::xxh3::Xxh3Default;

/// All that changes in a run. Equal states continue equally, bit for bit.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// What the method remembers from step to step, in its own order and units.
    pub memory: Vec<f64>,
}

/// A state that is not one of the model at hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the state, {found} numbers, is none of this scene, whose states have {expected}; it is of another scene or version"
)]
pub struct StateMismatch {
    /// What the model's state holds.
    pub expected: usize,
    /// What was there.
    pub found: usize,
}

impl State {
    /// Becomes equal to `other`, in the memory it has.
    pub fn copy_from(&mut self, other: &State) {
        (self.time, self.step) = (other.time, other.step);
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.parted.clone_from(&other.parted);
        self.memory.clone_from(&other.memory);
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        2 + 3 * (self.positions.len() + self.velocities.len()) + self.parted.len() + self.memory.len()
    }

    /// Whether it has no particles.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// A fingerprint of every bit.
    pub fn hash(&self) -> u64 {
        let mut hasher = Xxh3Default::new();
        self.each_word(|word| hasher.update(&word));
        hasher.digest()
    }

    /// Every bit, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.len());
        self.each_word(|word| bytes.extend_from_slice(&word));
        bytes
    }

    /// The inverse of [`State::to_bytes`] for a model whose states are like this one, which is overwritten.
    pub fn read_bytes(&mut self, bytes: &[u8]) -> Result<(), StateMismatch> {
        if bytes.len() != 8 * self.len() {
            return Err(StateMismatch { expected: self.len(), found: bytes.len() / 8 });
        }
        let mut words = bytes.chunks_exact(8).map(|b| {
            let mut word = [0; 8];
            word.copy_from_slice(b);
            u64::from_le_bytes(word)
        });
        let mut next = || words.next().unwrap_or_default();
        (self.time, self.step) = (f64::from_bits(next()), next());
        for vector in self.positions.iter_mut().chain(&mut self.velocities) {
            *vector = DVec3::from_array(std::array::from_fn(|_| f64::from_bits(next())));
        }
        self.parted.iter_mut().for_each(|word| *word = next());
        self.memory.iter_mut().for_each(|number| *number = f64::from_bits(next()));
        Ok(())
    }

    /// What has parted in a state of this model that [`State::to_bytes`] has kept; what the method remembers may have another length there.
    pub fn parted_in(&self, bytes: &[u8]) -> Option<Vec<u64>> {
        let first = 8 * (2 + 3 * (self.positions.len() + self.velocities.len()));
        let (words, _) = bytes.get(first..first + 8 * self.parted.len())?.as_chunks();
        Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    fn each_word(&self, mut take: impl FnMut([u8; 8])) {
        take(self.time.to_bits().to_le_bytes());
        take(self.step.to_le_bytes());
        for vector in self.positions.iter().chain(&self.velocities) {
            vector.to_array().into_iter().for_each(|c| take(c.to_bits().to_le_bytes()));
        }
        self.parted.iter().for_each(|word| take(word.to_le_bytes()));
        self.memory.iter().for_each(|number| take(number.to_bits().to_le_bytes()));
    }
}
