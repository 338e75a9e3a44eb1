//! Trees of boxes: every way to follow motion and every question, against brute force.

use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::broad_phase::bvh::{Tree, Update};
use taffeta::collide::broad_phase::bvh_queries::QueryWalk;
use taffeta::collide::broad_phase::wide_bvh::{BvhTask, WideBvh};
use taffeta::math::DVec3;
use taffeta::math::lanes::InstructionSet;
use taffeta::math::random::Random;

/// Balls that wander about; a box belongs to each.
struct Swarm {
    centres: Vec<DVec3>,
    radii: Vec<f64>,
    random: Random,
}

impl Swarm {
    fn new(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let centres = (0..count).map(|_| vector(&mut random, 1.0)).collect();
        let radii = (0..count).map(|_| random.between(0.0, 0.25)).collect();
        Self { centres, radii, random }
    }

    fn wander(&mut self, far: f64) {
        // Some stay where they are.
        for k in 0..self.centres.len() {
            if self.random.below(4) > 0 {
                self.centres[k] += vector(&mut self.random, far);
            }
        }
    }

    fn boxes(&self) -> Vec<Bounds> {
        self.centres.iter().zip(&self.radii).map(|(c, r)| Bounds::around(*c, *c, *r)).collect()
    }
}

fn vector(random: &mut Random, size: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|_| random.between(-size, size)))
}

/// What a tree tells, sorted, smaller number first in pairs within.
fn within(walk: impl FnOnce(&mut dyn FnMut(u32, u32))) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    walk(&mut |i, j| pairs.push([i.min(j), i.max(j)]));
    pairs.sort_unstable();
    pairs
}

fn brute(a: &[Bounds], b: &[Bounds], good: impl Fn(usize, usize) -> bool) -> Vec<[u32; 2]> {
    let all = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    all.filter(|(i, j)| good(*i, *j) && a[*i].meets(&b[*j])).map(|(i, j)| [i as u32, j as u32]).collect()
}

#[test]
fn trees_follow_motion_and_find_all_pairs() {
    for count in [0, 1, 2, 3, 17, 300] {
        let mut swarm = Swarm::new(count, 3);
        let mut other = Swarm::new(40, 4);
        let mut trees = Update::ALL.map(|(way, name)| (way, name, Tree::new(&swarm.boxes())));
        let mut heap = WideBvh::new(&swarm.centres);
        let (mut seen, mut stack) = (0, Vec::new());
        for step in 0..12 {
            swarm.wander([0.01, 0.3][step % 2]);
            other.wander(0.1);
            let (boxes, others) = (swarm.boxes(), other.boxes());
            let (inside, across) = (brute(&boxes, &boxes, |i, j| i < j), brute(&boxes, &others, |_, _| true));
            seen += inside.len() + across.len();
            let far = Tree::new(&others);
            for (way, name, tree) in &mut trees {
                tree.update(&boxes, *way);
                assert_eq!(within(|found| tree.pairs_within(&mut stack, found)), inside, "{name}");
                let mut pairs = Vec::new();
                tree.pairs_between(&far, &mut stack, |i, j| pairs.push([i, j]));
                pairs.sort_unstable();
                assert_eq!(pairs, across, "{name}");
                assert!(tree.depth() <= count && (*way != Update::Rebuild || tree.depth() <= 10), "{name}");
            }
            heap.refit(|k| boxes[k as usize]);
            check_heap(&heap, &inside, &others, &across);
        }
        assert!(count < 300 || seen > 5_000, "{seen}");
    }
}

fn check_heap(heap: &WideBvh, inside: &[[u32; 2]], others: &[Bounds], across: &[[u32; 2]]) {
    let mut far = WideBvh::new(&vec![DVec3::ZERO; others.len()]);
    far.refit(|k| others[k as usize]);
    let (mut tasks, mut stack) = (Vec::new(), Vec::new());
    for set in InstructionSet::available() {
        let heap = heap.clone().with_instructions(*set);
        for count in [1, 50] {
            heap.tasks_within(count, &mut tasks);
            let walk = |found: &mut dyn FnMut(u32, u32)| {
                tasks.iter().for_each(|task| heap.walk(&heap, *task, &mut stack, &mut *found));
            };
            assert_eq!(within(walk), inside, "{set:?}");
            heap.tasks_between(&far, count, &mut tasks);
            let mut pairs = Vec::new();
            tasks.iter().for_each(|task| heap.walk(&far, *task, &mut stack, |i, j| pairs.push([i, j])));
            pairs.sort_unstable();
            assert_eq!(pairs, across, "{set:?}");
        }
    }
}

#[test]
fn pairs_that_are_left_out_are_not_told() {
    let swarm = Swarm::new(200, 9);
    let boxes = swarm.boxes();
    let mut heap = WideBvh::new(&swarm.centres);
    heap.refit(|k| boxes[k as usize]);
    let out = |i: u32, j: u32| (i + j).is_multiple_of(3);
    let all = (0..200).flat_map(|i| (0..i).map(move |j| [i, j]));
    heap.leave_out(all.filter(|[i, j]| out(*i, *j)));
    let told = within(|found| heap.walk(&heap, BvhTask::Within(1), &mut Vec::new(), found));
    assert_eq!(told, brute(&boxes, &boxes, |i, j| i < j && !out(i as u32, j as u32)));
}

#[test]
fn rays_and_nearest_agree_with_brute_force() {
    let mut swarm = Swarm::new(300, 5);
    let mut tree = Tree::new(&swarm.boxes());
    swarm.wander(0.2);
    tree.update(&swarm.boxes(), Update::Reinsert);
    let mut heap = WideBvh::new(&swarm.centres);
    let boxes = swarm.boxes();
    heap.refit(|k| boxes[k as usize]);
    let (mut random, mut hits) = (Random::new(6), 0);
    for round in 0..200 {
        let (point, mut way) = (vector(&mut random, 1.5), vector(&mut random, 1.0));
        if round % 5 == 0 {
            way.y = 0.0; // along a face of boxes
        }
        let hit = |k: u32| {
            let (to, r) = (swarm.centres[k as usize] - point, swarm.radii[k as usize]);
            let (a, b) = (way.length_squared(), to.dot(way));
            let root = (b * b - a * (to.length_squared() - r * r)).sqrt();
            Some((b - root) / a).filter(|t| (0.0..=2.0).contains(t))
        };
        let first = (0..300).filter_map(|k| Some((k, hit(k)?))).min_by(|a, b| a.1.total_cmp(&b.1));
        hits += usize::from(first.is_some());
        assert_eq!(tree.first_along(point, way, 2.0, hit), first);
        assert_eq!(heap.first_along(point, way, 2.0, hit), first);
        let far = |k: u32| (swarm.centres[k as usize].distance(point) - swarm.radii[k as usize]).max(0.0);
        let nearest = (0..300).map(|k| (k, far(k))).min_by(|a, b| a.1.total_cmp(&b.1));
        for limit in [0.1, f64::INFINITY] {
            let want = nearest.filter(|(_, d)| *d <= limit);
            assert_eq!(tree.nearest(point, limit, far), want);
            assert_eq!(heap.nearest(point, limit, far), want);
        }
    }
    assert!(hits > 50 && hits < 190, "{hits}");
}
