//! Lists on a card that others may look at and write to, while the batch lives.

/// Which list of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Where all particles are, `(members, particles, 3)` [m].
    Positions,
    /// How fast they move, likewise [m/s].
    Velocities,
    /// Where every handle is to be at the end of the next call that steps, `(members, handles, 3)` [m].
    Places,
    /// Whether every handle is held, `(members, handles)`.
    Held,
    /// The largest strain of every member at the end of any frame of the last call that stepped, `(members)` [1].
    Strains,
}

/// What a list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Doubles.
    Double,
    /// Bytes, 0 or 1.
    Byte,
}

/// A list in the memory of a card, last axis innermost. Whoever uses it does so on the default stream of the card, or waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// Where it is.
    pub address: u64,
    /// How long it is along every axis.
    pub shape: Vec<usize>,
    /// What it is of.
    pub number: Number,
}
