//! Pairs of features by their numbers: as tasks find them, and in order.

use crate::parallel::{self, Cut};
use std::sync::atomic::{AtomicBool, Ordering};

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
    counts: [Counts; 2],
}

/// Room to put pairs in order.
#[derive(Debug, Clone, Default)]
struct Counts {
    /// Where the pairs of every first number start.
    starts: Vec<u32>,
    cut: Cut,
}

/// First numbers whose pairs one task puts in order.
const RUNS: usize = 256;

impl Sorted {
    /// Takes all that tasks have found among so many points and edges.
    pub fn take(&mut self, found: &[PairList], points: usize, edges: usize) {
        let [of_points, of_edges] = &mut self.counts;
        parallel::join(
            || count_out(&mut self.points, of_points, points, || found.iter().flat_map(|f| &f.points)),
            || count_out(&mut self.edges, of_edges, edges, || found.iter().flat_map(|f| &f.edges)),
        );
        sort_runs(&mut self.points, of_points);
        sort_runs(&mut self.edges, of_edges);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.points.clear();
        self.edges.clear();
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

/// Counts pairs out by their first numbers, which are below `count`.
fn count_out<'a, I: Iterator<Item = &'a [u32; 2]>>(
    list: &mut Vec<[u32; 2]>,
    Counts { starts, cut }: &mut Counts,
    count: usize,
    all: impl Fn() -> I,
) {
    list.clear();
    starts.clear();
    cut.renew(std::iter::empty());
    if all().next().is_none() {
        return;
    }
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
    starts.pop();
    let ends = starts.chunks(RUNS).map(|ends| ends[ends.len() - 1] as usize);
    cut.renew(ends.scan(0, |start, end| Some(end - std::mem::replace(start, end))));
}

/// Sorts the pairs of every first number by the second, and takes out those that come twice.
fn sort_runs(list: &mut Vec<[u32; 2]>, Counts { starts, cut }: &Counts) {
    let twice = AtomicBool::new(false);
    parallel::each_part_alone(cut, list, |number, own| {
        let ends = parallel::chunk(starts, RUNS, number);
        let before = ends.last().map_or(0, |end| *end as usize - own.len());
        let mut start = 0;
        for end in ends.iter().map(|end| *end as usize - before) {
            own[start..end].sort_unstable();
            start = end;
        }
        if own.windows(2).any(|two| two[0] == two[1]) {
            twice.store(true, Ordering::Relaxed);
        }
    });
    if twice.into_inner() {
        list.dedup();
    }
}

/// Pairs of two sorted lists that one task puts together.
const MERGED: usize = 1024;

/// Appends what `make` makes of every pair of two sorted lists that have none in common, in order. `cut` is room.
pub fn merge<T: Clone + Send>(
    [a, b]: [&[[u32; 2]]; 2],
    cut: &mut Cut,
    out: &mut Vec<T>,
    make: impl Fn([u32; 2]) -> T + Sync,
) {
    let Some(first) = a.first().or(b.first()) else { return };
    let tasks = a.len().div_ceil(MERGED).max(1);
    // A task takes what of `b` comes before the first of `a` that the next one has.
    let start = |task: usize| match a.get(task * MERGED) {
        _ if task == 0 => (0, 0),
        Some(next) => (task * MERGED, b.partition_point(|pair| pair < next)),
        None => (a.len(), b.len()),
    };
    cut.renew((0..tasks).map(|task| start(task + 1).0 + start(task + 1).1 - start(task).0 - start(task).1));
    let before = out.len();
    out.resize(before + a.len() + b.len(), make(*first));
    parallel::each_part_alone(cut, &mut out[before..], |task, own| {
        let (from, to) = (start(task), start(task + 1));
        let (mut left, right) = (&a[from.0..to.0], &b[from.1..to.1]);
        let mut next = own.iter_mut();
        let mut tell = |pair: &[u32; 2]| next.by_ref().take(1).for_each(|place| *place = make(*pair));
        for pair in right {
            let (first, rest) = left.split_at(left.partition_point(|p| p < pair));
            first.iter().for_each(&mut tell);
            tell(pair);
            left = rest;
        }
        left.iter().for_each(&mut tell);
    });
}
