//! Lists that are kept from step to step give the very pairs that a fresh search gives, over whole motions.

use super::motions::{Motion, Parts, random_vector, sheet, swaying};
use crate::broad_phase::fat_aabb_cache::{CoherentCandidates, Tally};
use taffeta::collide::broad_phase::candidates::Candidates;
use taffeta::math::random::Random;
use taffeta::math::{DVec3, trig};
use testing::memory::Meter;

/// Two sheets over a ball, a capsule and a block.
fn scene() -> Motion {
    let mut parts = Parts::default();
    let (points, triangles) = sheet(14);
    for (height, radius) in [(0.0, 0.004), (0.05, 0.002)] {
        let lifted: Vec<DVec3> = points.iter().map(|p| *p + DVec3::Y * height).collect();
        parts.add(&lifted, &triangles, radius, None);
    }
    parts.add(&[DVec3::new(0.5, -0.4, 0.5)], &[[0; 3]], 0.3, Some(0));
    parts.add(&[DVec3::new(0.0, -0.2, 0.2), DVec3::new(1.0, -0.2, 0.2)], &[[0, 1, 1]], 0.05, Some(1));
    let block = [DVec3::ZERO, DVec3::X, DVec3::Z, DVec3::NEG_Y].map(|p| p - DVec3::Y);
    parts.add(&block, &[[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], 0.01, Some(2));
    let to = parts.points.clone();
    parts.moved(to, 50)
}

/// Where a point is at a time: sheets fall, roll up, twist and tremble; bodies move and turn.
fn place(rest: DVec3, is_cloth: bool, time: f64, random: &mut Random) -> DVec3 {
    let (roll, twist, p) = (0.1 + 6.0 * time, 3.0 * time, rest - DVec3::new(0.5, 0.0, 0.5));
    if !is_cloth {
        let (s, c) = (trig::sin(time), trig::cos(time));
        return rest + DVec3::new(0.3 * s, 0.5 * time, 0.2 * c);
    }
    let radius = 1.0 / roll - p.y;
    let (x, y) = (radius * trig::sin(roll * p.x), 1.0 / roll - radius * trig::cos(roll * p.x));
    let (s, c) = (trig::sin(twist * p.z), trig::cos(twist * p.z));
    DVec3::new(c * x - s * y, s * x + c * y - 2.0 * time * time, p.z) + random_vector(random, 1e-4)
}

/// Runs through a motion and compares step by step; the gist of what the lists did.
fn follow(seed: u64, threads: usize) -> Tally {
    let Motion { surface, movable, .. } = scene();
    let mut random = Random::new(seed);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (mut plain, mut coherent) =
        (Candidates::new(&surface, &movable), CoherentCandidates::new(&surface, &movable));
    let mut time = 0.0;
    let at = |time: f64, random: &mut Random| -> Vec<DVec3> {
        let rest = surface.rest.iter().enumerate();
        rest.map(|(p, rest)| place(*rest, p < surface.particles, time, random)).collect()
    };
    let mut from = at(0.0, &mut random);
    let mut found = 0;
    for step in 0..150 {
        // Small steps, standing still, and now and then a leap.
        time += [0.002, 0.0, 0.004, 0.0, 0.0][step % 5] + if step % 60 == 59 { 0.1 } else { 0.0 };
        let to = at(time, &mut random);
        let pad = [0.0, 0.002][step / 50 % 2];
        pool.install(|| {
            plain.find(&surface, &from, &to, pad);
            coherent.find(&surface, &from, &to, pad);
        });
        assert_eq!(plain.pairs(), coherent.pairs(), "step {step}");
        found += plain.pairs().len();
        // A pipeline may have shortened the motion.
        let share = [1.0, 1.0, 0.5][step % 3];
        from.iter_mut().zip(&to).for_each(|(a, b)| *a = a.lerp(*b, share));
    }
    assert!(found > 10_000, "{found} pairs");
    coherent.tally()
}

/// A large sheet at rest, flakes that drift over it one after another, and a rail that comes to meet them: the lists grow and few points
/// move, those of cloth and body in the same steps. It ends when lists have come from another thread so many times.
fn drifting(threads: usize, times: usize) -> Tally {
    let mut parts = Parts::default();
    let (points, triangles) = sheet(24);
    parts.add(&points, &triangles, 0.01, None);
    for flake in 0..8 {
        let (points, triangles) = sheet(3);
        let small = |p: &DVec3| 0.2 * *p + DVec3::new(0.0, 0.025, 0.1 * f64::from(flake));
        parts.add(&points.iter().map(small).collect::<Vec<_>>(), &triangles, 0.01, None);
    }
    let rail =
        [[0.2, 0.03, -0.1], [0.2, 0.03, 1.1], [0.22, 0.05, 0.5], [0.2, 0.05, 0.5]].map(DVec3::from_array);
    parts.add(&rail, &[[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], 0.001, Some(0));
    let to = parts.points.clone();
    let Motion { surface, movable, mut from, .. } = parts.moved(to, 1_000_000);
    let (mut plain, mut coherent) =
        (Candidates::new(&surface, &movable), CoherentCandidates::new(&surface, &movable));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for step in 0..2000 {
        let mut to = from.clone();
        let flake = surface.objects[1 + step / 20 % 8].points.clone();
        to[flake].iter_mut().for_each(|p| p.x = (p.x + 0.005) % 1.2);
        to[surface.particles..].iter_mut().for_each(|p| p.x = (p.x + 1.195) % 1.2);
        pool.install(|| {
            plain.find(&surface, &from, &to, 0.0);
            coherent.find(&surface, &from, &to, 0.0);
        });
        assert_eq!(plain.pairs(), coherent.pairs(), "step {step}");
        // However busy the machine is: now and then the lists get the time to become ready. A thread answers once it has done what it had to do,
        // and what it took from another in between it has done at the second call.
        if step % 8 == 7 {
            (0..2).for_each(|_| _ = pool.broadcast(|_| ()));
        }
        if coherent.tally().taken_over == times {
            break;
        }
        from = to;
    }
    coherent.tally()
}

#[test]
fn lists_from_another_thread_change_nothing() {
    // A pool of one makes them when it has nothing else to do, between two steps. That, and lists that follow others from another thread, are for long runs.
    let (pools, times) = if testing::long() { (&[1, 4][..], 3) } else { (&[4][..], 1) };
    for &threads in pools {
        let tally = drifting(threads, times);
        assert_eq!(tally.taken_over, times, "{tally:?}");
    }
}

#[test]
fn lists_lose_and_add_nothing() {
    for (seed, threads) in [(1, 1), (2, 2), (3, 3)] {
        let tally = follow(seed, threads);
        assert!(tally.left > 100, "points leave: {tally:?}");
        assert!(tally.rebuilds + tally.afresh < tally.steps / 2, "lists are kept: {tally:?}");
        assert!(tally.examined < tally.listed * 3 / 4, "pairs sleep: {tally:?}");
        println!("{tally:?}");
    }
}

#[test]
fn steady_lists_allocate_nothing() {
    let (Motion { surface, movable, .. }, moments) = swaying();
    let meter = Meter::new(2);
    let mut coherent = CoherentCandidates::new(&surface, &movable);
    let mut go_round = || {
        for (from, to) in moments.iter().zip(&moments[1..]) {
            coherent.find(&surface, from, to, 0.001);
        }
    };
    meter.allocations(|| (0..3).for_each(|_| go_round()));
    assert_eq!(meter.allocations(go_round), 0);
    assert!(!coherent.pairs().is_empty());
}
