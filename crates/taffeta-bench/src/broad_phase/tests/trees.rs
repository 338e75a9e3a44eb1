//! Trees of boxes: every way to follow motion and every question, against brute force.

use super::motions::{Swarm, brute, random_vector, within};
use crate::broad_phase::bvh::{Tree, Update};
use crate::broad_phase::bvh_queries::QueryWalk;
use taffeta::collide::broad_phase::wide_bvh::WideBvh;
use taffeta::math::random::Random;

#[test]
fn trees_follow_motion_and_find_all_pairs() {
    for count in [0, 1, 2, 3, 17, 300] {
        let mut swarm = Swarm::new(count, 3);
        let mut other = Swarm::new(40, 4);
        let mut trees = Update::ALL.map(|(way, name)| (way, name, Tree::new(&swarm.boxes())));
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
        }
        assert!(count < 300 || seen > 5_000, "{seen}");
    }
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
        let (point, mut way) = (random_vector(&mut random, 1.5), random_vector(&mut random, 1.0));
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
