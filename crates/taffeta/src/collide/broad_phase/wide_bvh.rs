//! The default tree: an implicit heap over leaves of sixteen boxes side by side, in an order that is made once and refitted.
//!
//! Node k has the children 2k and 2k + 1; the leaves stand in the last level. Boxes are put in order by halving them along the longest side
//! of what they fill, at rest: what lies side by side in the cloth stays side by side when it moves.

use super::boxes::Bounds;
use super::sixteen::{Sixteen, WIDE};
use crate::math::DVec3;
use crate::math::lanes::InstructionSet;
use crate::parallel;

/// Leaves that a thread refits at a time, at least.
const LEAVES: usize = 64;
/// Nodes of a level that a thread joins in a row, at least.
const NODES: usize = 256;

/// A tree over boxes that are numbered from 0.
#[derive(Debug, Clone)]
pub struct WideBvh {
    /// Which box stands in every lane; leaf after leaf.
    order: Vec<u32>,
    leaves: Vec<Sixteen>,
    /// Node 1 is the root; as many as leaves, rounded up to a power of two, stand in the last level.
    nodes: Vec<Bounds>,
    /// Nodes within which there is nothing to tell.
    passed_over: Vec<bool>,
    /// Pairs that are never told: those of leaf k stand from `silent_from[k]` to `silent_from[k + 1]`.
    silent: Vec<Silent>,
    silent_from: Vec<u32>,
    set: InstructionSet,
}

/// Pairs between a leaf and `other`, the same or one after it: per lane of the first the lanes of the second, as bits.
#[derive(Debug, Clone, Copy)]
struct Silent {
    other: u32,
    lanes: [u16; WIDE],
    /// Whether there is nothing else to tell either.
    passed_over: bool,
}

/// A part of a walk through one tree or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BvhTask {
    /// All pairs within a node.
    Within(u32),
    /// All pairs between two nodes.
    Between(u32, u32),
}

impl WideBvh {
    /// A tree that holds one box at each of `places` [m]; boxes come with [`WideBvh::refit`].
    pub fn new(places: &[DVec3]) -> Self {
        let leaves = places.len().div_ceil(WIDE).max(1);
        let mut heap = Self {
            order: (0..places.len() as u32).collect(),
            leaves: vec![Sixteen::NOTHING; leaves],
            nodes: vec![Bounds::NOTHING; 2 * leaves.next_power_of_two()],
            passed_over: vec![false; 2 * leaves.next_power_of_two()],
            silent: Vec::new(),
            silent_from: vec![0; leaves + 1],
            set: InstructionSet::available()[0],
        };
        heap.renew(places);
        heap
    }

    /// Puts as many boxes as it has in the order of other `places` [m], and leaves out none.
    pub fn renew(&mut self, places: &[DVec3]) {
        self.order.iter_mut().zip(0..).for_each(|(item, i)| *item = i);
        put_in_order(&mut self.order, places, self.leaves.len().next_power_of_two() * WIDE / 2);
        self.silent.clear();
        self.silent_from.fill(0);
        self.passed_over.fill(false);
    }

    /// Passes over nodes in walks within this tree, and over every two leaves in a sorted list, given by their nodes, the smaller first, between which pairs are
    /// left out anyway: pairs of boxes that both stand there are not told.
    pub fn pass_over(&mut self, node: impl Fn(usize) -> bool, twos: impl Iterator<Item = [u32; 2]>) {
        self.passed_over.iter_mut().enumerate().skip(1).for_each(|(k, passed_over)| *passed_over = node(k));
        let (first, mut twos) = (self.nodes.len() as u32 / 2, twos.peekable());
        for (leaf, range) in (first..).zip(self.silent_from.windows(2)) {
            for silent in &mut self.silent[range[0] as usize..range[1] as usize] {
                silent.passed_over = twos.next_if_eq(&[leaf, first + silent.other]).is_some();
            }
        }
    }

    /// Which box stands in every lane, leaf after leaf.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The same tree compiled for another instruction set that the processor has; the answers are the same.
    pub fn with_instructions(self, set: InstructionSet) -> Self {
        Self { set, ..self }
    }

    /// Leaves out pairs of boxes in walks within this tree, each named once, in any order. The list of them is not kept: it would be the largest of all.
    pub fn leave_out(&mut self, pairs: impl Iterator<Item = [u32; 2]>) {
        let mut place = vec![0_u32; self.order.len()];
        (0..).zip(&self.order).for_each(|(at, item)| place[*item as usize] = at);
        let in_order = |[i, j]: [u32; 2]| {
            let (a, b) = (place[i as usize], place[j as usize]);
            [a.min(b), a.max(b)]
        };
        let leaves = |[a, b]: &[u32; 2]| [*a as usize / WIDE, *b as usize / WIDE];
        let mut places: Vec<[u32; 2]> = pairs.map(in_order).collect();
        places.sort_unstable_by_key(leaves);
        self.silent.clear();
        self.silent_from.fill(0);
        for run in places.chunk_by(|p, q| leaves(p) == leaves(q)) {
            let ([leaf, other], mut lanes) = (leaves(&run[0]), [0; WIDE]);
            run.iter().for_each(|[a, b]| lanes[*a as usize % WIDE] |= 1 << (*b as usize % WIDE));
            self.silent.push(Silent { other: other as u32, lanes, passed_over: false });
            self.silent_from[leaf + 1] += 1;
        }
        for k in 1..self.silent_from.len() {
            self.silent_from[k] += self.silent_from[k - 1];
        }
    }

    /// What is to be left out between two leaves of this tree, the first not after the second.
    #[inline]
    fn left_out(&self, leaf: usize, other: usize) -> Option<&Silent> {
        let range = self.silent_from[leaf] as usize..self.silent_from[leaf + 1] as usize;
        self.silent[range].iter().find(|s| s.other as usize == other)
    }

    /// How many boxes it holds.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The box in a lane of a leaf.
    pub fn item(&self, leaf: usize, lane: u32) -> u32 {
        self.order[leaf * WIDE + lane as usize]
    }

    /// Takes new boxes, box k from `of(k)`.
    pub fn refit(&mut self, of: impl Fn(u32) -> Bounds + Sync) {
        let first = self.nodes.len() / 2;
        let last = &mut self.nodes[first..][..self.leaves.len()];
        parallel::each_two(&mut self.leaves, last, LEAVES, |k, leaf, node| {
            *node = Bounds::NOTHING;
            for (lane, item) in parallel::chunk(&self.order, WIDE, k).iter().enumerate() {
                let bounds = of(*item);
                leaf.set(lane, &bounds);
                *node = node.join(&bounds);
            }
        });
        join_upwards(&mut self.nodes, |a, b| a.join(b));
    }

    /// How large the boxes of nodes are against those that it holds: what a walk costs [1].
    pub fn cost(&self) -> f64 {
        let size =
            |bounds: &Bounds| if bounds.low(0) <= bounds.high(0) { f64::from(bounds.size()) } else { 0.0 };
        let nodes: f64 = self.nodes[1..].iter().map(size).sum();
        let held: f64 = self.leaves.iter().flat_map(|leaf| (0..WIDE).map(|lane| size(&leaf.get(lane)))).sum();
        nodes / held.max(f64::MIN_POSITIVE)
    }

    /// Longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        self.nodes.len().ilog2() as usize
    }

    /// The box of a node.
    #[inline]
    pub fn node(&self, node: u32) -> &Bounds {
        &self.nodes[node as usize]
    }

    /// Which leaf a node is, if it is one; the last ones may be empty.
    #[inline]
    pub fn leaf(&self, node: u32) -> Option<usize> {
        (node as usize).checked_sub(self.nodes.len() / 2)
    }

    /// Number and box of all that a leaf holds.
    pub fn each(&self, leaf: usize, mut visit: impl FnMut(u32, &Bounds)) {
        let items = self.order.chunks(WIDE).nth(leaf).unwrap_or_default();
        items.iter().enumerate().for_each(|(lane, item)| visit(*item, &self.leaves[leaf].get(lane)));
    }

    /// At least `count` tasks that together find all pairs, if there is work for so many; they depend on the boxes alone.
    pub fn tasks_within(&self, count: usize, tasks: &mut Vec<BvhTask>) {
        tasks.clear();
        tasks.push(BvhTask::Within(1));
        self.split(self, count, tasks);
    }

    /// The same for all pairs between two trees.
    pub fn tasks_between(&self, other: &WideBvh, count: usize, tasks: &mut Vec<BvhTask>) {
        tasks.clear();
        if self.nodes[1].meets(&other.nodes[1]) {
            tasks.push(BvhTask::Between(1, 1));
        }
        self.split(other, count, tasks);
    }

    /// Splits tasks, first come first served, until there are enough or none can be split.
    fn split(&self, other: &WideBvh, count: usize, tasks: &mut Vec<BvhTask>) {
        // Those before `next` are split; of those after it so many of the last cannot be.
        let (mut next, mut whole) = (0, 0);
        while tasks.len() - next < count && tasks.len() - next > whole {
            let task = tasks[next];
            next += 1;
            match self.halves(other, task) {
                Some(parts) => {
                    tasks.extend(parts.into_iter().flatten());
                    whole = 0;
                }
                None => {
                    tasks.push(task);
                    whole += 1;
                }
            }
        }
        tasks.drain(..next);
    }

    /// The parts of a task, or nothing if it stands at the leaves.
    #[inline]
    fn halves(&self, other: &WideBvh, task: BvhTask) -> Option<[Option<BvhTask>; 3]> {
        let (mine, theirs) = (self.nodes.len() as u32 / 2, other.nodes.len() as u32 / 2);
        let between = |a: u32, b: u32| {
            let meets = self.nodes[a as usize].meets(&other.nodes[b as usize]);
            meets.then_some(BvhTask::Between(a, b))
        };
        match task {
            BvhTask::Within(a) if self.passed_over[a as usize] => Some([None; 3]),
            BvhTask::Within(a) if a < mine => {
                let (l, r) = (2 * a, 2 * a + 1);
                Some([Some(BvhTask::Within(l)), Some(BvhTask::Within(r)), between(l, r)])
            }
            // The side that has more levels left is split.
            BvhTask::Between(a, b) if a < mine && (b >= theirs || mine / a >= theirs / b) => {
                Some([between(2 * a, b), between(2 * a + 1, b), None])
            }
            BvhTask::Between(a, b) if b < theirs => Some([between(a, 2 * b), between(a, 2 * b + 1), None]),
            _ => None,
        }
    }

    /// Calls `found(i, j)` for every two boxes that meet, box i of this tree and box j of `other`, which is this tree for tasks within it: then
    /// every pair comes once, in either order.
    #[inline]
    pub fn walk(
        &self,
        other: &WideBvh,
        task: BvhTask,
        stack: &mut Vec<BvhTask>,
        mut found: impl FnMut(u32, u32),
    ) {
        stack.clear();
        stack.push(task);
        while let Some(task) = stack.pop() {
            if let Some(parts) = self.halves(other, task) {
                stack.extend(parts.into_iter().flatten());
                continue;
            }
            match task {
                BvhTask::Within(a) => {
                    let leaf = a as usize - self.nodes.len() / 2;
                    let Some(boxes) = self.leaves.get(leaf) else { continue };
                    // Only lanes after each lane, so that no pair comes twice.
                    let out = self.left_out(leaf, leaf).map_or([0; WIDE], |silent| silent.lanes);
                    let mut met = boxes.meet(self.set, !0, boxes);
                    (0..WIDE).for_each(|lane| met[lane] &= !(!0 >> (15 - lane)) & !out[lane]);
                    self.tell(leaf, &met, self, leaf, &mut found);
                }
                BvhTask::Between(a, b) => {
                    let (leaf, far) = (a as usize - self.nodes.len() / 2, b as usize - other.nodes.len() / 2);
                    let silent = if std::ptr::eq(self, other) { self.left_out(leaf, far) } else { None };
                    if silent.is_some_and(|silent| silent.passed_over) {
                        continue;
                    }
                    let (boxes, others) = (&self.leaves[leaf], &other.leaves[far]);
                    let rows = boxes.meet_one(self.set, &other.nodes[b as usize]);
                    let mut met = boxes.meet(self.set, rows, others);
                    if let Some(silent) = silent {
                        (0..WIDE).for_each(|lane| met[lane] &= !silent.lanes[lane]);
                    }
                    self.tell(leaf, &met, other, far, &mut found);
                }
            }
        }
    }

    /// Calls `found` for every box that meets `one`.
    pub fn touching(&self, one: &Bounds, mut found: impl FnMut(u32)) {
        // One node of every level waits at most, and there are no more than 32 levels.
        let (mut stack, mut waiting) = ([1; 33], usize::from(self.nodes[1].meets(one)));
        while waiting > 0 {
            waiting -= 1;
            let node = stack[waiting];
            if node < self.nodes.len() / 2 {
                for child in [2 * node + 1, 2 * node] {
                    if self.nodes[child].meets(one) {
                        stack[waiting] = child;
                        waiting += 1;
                    }
                }
                continue;
            }
            let leaf = node - self.nodes.len() / 2;
            let mut bits = self.leaves[leaf].meet_one(self.set, one);
            while bits != 0 {
                found(self.item(leaf, bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }

    #[inline(always)]
    fn tell(
        &self,
        leaf: usize,
        met: &[u16; WIDE],
        other: &WideBvh,
        far: usize,
        found: &mut impl FnMut(u32, u32),
    ) {
        for (lane, mut bits) in (0..).zip(*met) {
            while bits != 0 {
                found(self.item(leaf, lane), other.item(far, bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }
}

/// Makes every node of a binary tree of what `join` makes of its two children, from the leaves, which are the second half of the list, to the root, which is node 1.
pub fn join_upwards<T: Send + Sync>(nodes: &mut [T], join: impl Fn(&T, &T) -> T + Sync) {
    let mut first = nodes.len() / 2;
    while first > 1 {
        let (above, children) = nodes.split_at_mut(first);
        first /= 2;
        parallel::each(&mut above[first..], NODES, |k, node| *node = join(&children[2 * k], &children[2 * k + 1]));
    }
}

/// Puts items into an order in which the first `half`, their first quarter and so on lie together.
fn put_in_order(items: &mut [u32], places: &[DVec3], half: usize) {
    if half < WIDE {
        return;
    }
    if items.len() <= half {
        return put_in_order(items, places, half / 2);
    }
    let at = |item: &u32| places[*item as usize];
    let low = items.iter().fold(DVec3::INFINITY, |low, i| low.min(at(i)));
    let high = items.iter().fold(DVec3::NEG_INFINITY, |high, i| high.max(at(i)));
    let axis = (high - low).max_position();
    items.select_nth_unstable_by(half, |i, j| at(i)[axis].total_cmp(&at(j)[axis]).then(i.cmp(j)));
    let (left, right) = items.split_at_mut(half);
    parallel::join(|| put_in_order(left, places, half / 2), || put_in_order(right, places, half / 2));
}
