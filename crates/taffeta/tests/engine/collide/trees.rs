//! The tree of boxes follows motion and finds all pairs, against brute force.

use super::motions::{Swarm, brute, within};
use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::broad_phase::wide_bvh::{BvhTask, WideBvh};
use taffeta::math::DVec3;
use taffeta::math::lanes::InstructionSet;

#[test]
fn the_tree_follows_motion_and_finds_all_pairs() {
    for count in [0, 1, 2, 3, 17, 300] {
        let mut swarm = Swarm::new(count, 3);
        let mut other = Swarm::new(40, 4);
        let mut heap = WideBvh::new(&swarm.centres);
        let mut seen = 0;
        for step in 0..12 {
            swarm.wander([0.01, 0.3][step % 2]);
            other.wander(0.1);
            let (boxes, others) = (swarm.boxes(), other.boxes());
            let (inside, across) = (brute(&boxes, &boxes, |i, j| i < j), brute(&boxes, &others, |_, _| true));
            seen += inside.len() + across.len();
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
fn a_walk_is_cut_into_tasks_that_are_alike() {
    // A sheet of boxes, each of which meets those around it.
    let places: Vec<DVec3> =
        (0..64 * 64).map(|k| DVec3::new(f64::from(k % 64), 0.0, f64::from(k / 64))).collect();
    let mut heap = WideBvh::new(&places);
    heap.refit(|k| Bounds::around(places[k as usize], places[k as usize], 0.6));
    let mut tasks = Vec::new();
    heap.tasks_within(64, &mut tasks);
    let count = |task: &BvhTask| {
        let mut pairs = 0;
        heap.walk(&heap, *task, &mut Vec::new(), |_, _| pairs += 1);
        pairs
    };
    let counts: Vec<usize> = tasks.iter().map(count).collect();
    let (all, most) = (counts.iter().sum::<usize>(), counts.iter().max().unwrap());
    assert!(tasks.len() >= 64 && 10 * most < all, "{most} of {all} pairs in one of {} tasks", tasks.len());
}
