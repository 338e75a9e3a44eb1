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
}

/// Bytes that are not a state of the model at hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a state of {expected} bytes was wanted, {found} were found; the recording is of another scene or version"
)]
pub struct StateBytesError {
    /// What the model's state takes.
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
    }

    /// A fingerprint of every bit.
    pub fn hash(&self) -> u64 {
        let mut hasher = Xxh3Default::new();
        self.each_word(|word| hasher.update(&word));
        hasher.digest()
    }

    /// Every bit, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::byte_length(self.positions.len()));
        self.each_word(|word| bytes.extend_from_slice(&word));
        bytes
    }

    /// The inverse of [`State::to_bytes`] for a model of that many particles.
    pub fn from_bytes(bytes: &[u8], particles: usize) -> Result<Self, StateBytesError> {
        let expected = Self::byte_length(particles);
        if bytes.len() != expected {
            return Err(StateBytesError { expected, found: bytes.len() });
        }
        let mut words = bytes.chunks_exact(8).map(|b| {
            let mut word = [0; 8];
            word.copy_from_slice(b);
            u64::from_le_bytes(word)
        });
        let mut next = || words.next().unwrap_or_default();
        let (time, step) = (f64::from_bits(next()), next());
        let mut vectors = || -> Vec<DVec3> {
            (0..particles)
                .map(|_| DVec3::from_array(std::array::from_fn(|_| f64::from_bits(next()))))
                .collect()
        };
        Ok(Self { time, step, positions: vectors(), velocities: vectors() })
    }

    fn byte_length(particles: usize) -> usize {
        8 * (2 + 6 * particles)
    }

    fn each_word(&self, mut take: impl FnMut([u8; 8])) {
        take(self.time.to_bits().to_le_bytes());
        take(self.step.to_le_bytes());
        for vector in self.positions.iter().chain(&self.velocities) {
            vector.to_array().into_iter().for_each(|c| take(c.to_bits().to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_bring_back_every_bit_and_the_hash_sees_every_bit() {
        let state = State {
            time: 0.1,
            step: 7,
            positions: vec![DVec3::new(1.0, -0.0, f64::MIN_POSITIVE), DVec3::splat(3.0)],
            velocities: vec![DVec3::new(-1.0, 2.0, 1e300), DVec3::ZERO],
        };
        let bytes = state.to_bytes();
        let back = State::from_bytes(&bytes, 2).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.hash(), state.hash());
        assert!(State::from_bytes(&bytes[1..], 2).is_err());
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(State::from_bytes(&flipped, 2).unwrap().hash(), state.hash());
        }
    }
}
