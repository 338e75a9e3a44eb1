//! Pairs of features by their numbers: as tasks find them, and in order.

use crate::parallel;

/// What a task finds, in no particular order.
#[derive(Debug, Clone, Default)]
pub struct PairList {
    /// Point and triangle.
    pub points: Vec<[u32; 2]>,
    /// Two edges, the smaller number first.
    pub edges: Vec<[u32; 2]>,
}

impl PairList {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.points.clear();
        self.edges.clear();
    }
}

/// Pairs of both kinds in the order of their numbers, each once.
#[derive(Debug, Clone, Default)]
pub struct Sorted {
    /// Point and triangle.
    pub points: Vec<[u32; 2]>,
    /// Two edges, the smaller number first.
    pub edges: Vec<[u32; 2]>,
    starts: [Vec<u32>; 2],
}

impl Sorted {
    /// Takes all that tasks have found among so many points and edges.
    pub fn take(&mut self, found: &[PairList], points: usize, edges: usize) {
        let [point_starts, edge_starts] = &mut self.starts;
        parallel::join(
            || sort(&mut self.points, point_starts, points, || found.iter().flat_map(|f| &f.points)),
            || sort(&mut self.edges, edge_starts, edges, || found.iter().flat_map(|f| &f.edges)),
        );
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.points.len() + self.edges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Counts pairs out by their first numbers, which are below `count`, then sorts by the second.
fn sort<'a, I: Iterator<Item = &'a [u32; 2]>>(
    list: &mut Vec<[u32; 2]>,
    starts: &mut Vec<u32>,
    count: usize,
    all: impl Fn() -> I,
) {
    list.clear();
    if all().next().is_none() {
        return;
    }
    starts.clear();
    starts.resize(count + 1, 0);
    all().for_each(|[first, _]| starts[*first as usize + 1] += 1);
    for k in 0..count {
        starts[k + 1] += starts[k];
    }
    list.resize(starts[count] as usize, [0; 2]);
    for pair in all() {
        let place = &mut starts[pair[0] as usize];
        list[*place as usize] = *pair;
        *place += 1;
    }
    // Each start has moved to the end of its run.
    let mut start = 0;
    for end in &starts[..count] {
        list[start..*end as usize].sort_unstable();
        start = *end as usize;
    }
    list.dedup();
}

/// Calls `tell` for every pair of two sorted lists that have none in common, in order.
pub fn merge(a: &[[u32; 2]], b: &[[u32; 2]], mut tell: impl FnMut([u32; 2])) {
    let mut rest = a;
    for pair in b {
        let before = rest.partition_point(|p| p < pair);
        rest[..before].iter().for_each(|p| tell(*p));
        rest = &rest[before..];
        tell(*pair);
    }
    rest.iter().for_each(|p| tell(*p));
}
