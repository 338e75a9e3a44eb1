//! What stands around every particle, in order: lists of all particles in one.

/// Items around every particle.
#[derive(Debug, Clone, Default)]
pub struct Around<T> {
    items: Vec<T>,
    /// Those of particle i stand from `from[i]` to `from[i + 1]`.
    from: Vec<u32>,
}

impl<T: Copy> Around<T> {
    /// From pairs of a particle and what is around it, in the order in which it is to stand there.
    pub fn new(particles: usize, mut pairs: Vec<(u32, T)>) -> Self {
        pairs.sort_by_key(|(particle, _)| *particle);
        let before = |i: usize| pairs.partition_point(|(particle, _)| (*particle as usize) < i) as u32;
        Self {
            from: (0..=particles).map(before).collect(),
            items: pairs.iter().map(|(_, item)| *item).collect(),
        }
    }

    /// What is around particle `i`.
    pub fn of(&self, i: usize) -> &[T] {
        &self.items[self.from[i] as usize..self.from[i + 1] as usize]
    }
}
