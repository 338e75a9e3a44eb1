//! Pairs of features: found fast and by brute force, and nothing that comes near is missing.

use super::motions::{Motion, Parts, crowd, published, random_vector, sheet};
use taffeta::collide::broad_phase::candidates::{Candidates, Pair, PairKind, brute_force};
use taffeta::collide::surface::NO_EDGE;
use taffeta::math::DVec3;
use taffeta::math::random::Random;

/// Pairs found with any number of threads, which must be those of brute force.
fn pairs(motion: &Motion, pad: f64) -> Vec<Pair> {
    let Motion { surface, movable, from, to } = motion;
    let slow = brute_force(surface, movable, from, to, pad);
    for threads in [1, 3] {
        let mut candidates = Candidates::new(surface, movable);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            candidates.find(surface, from, to, pad);
            // A second time, after something else: history must not matter.
            candidates.find(surface, to, from, 2.0 * pad);
            candidates.find(surface, from, to, pad);
        });
        assert_eq!(candidates.pairs(), slow);
    }
    slow
}

#[test]
fn crowds_are_found_as_by_brute_force() {
    let found: Vec<usize> =
        (0..24).map(|seed| pairs(&crowd(seed), 0.003 * (seed % 3) as f64).len()).collect();
    assert!(found.iter().sum::<usize>() > 10_000 && found.iter().any(|n| *n < 2000), "{found:?}");
}

#[test]
fn published_meshes_are_found_as_by_brute_force() {
    let mut all = 0;
    for name in ["cube.obj", "two-cubes-close.obj", "two-cubes-intersecting.obj", "thick-cloth/t0.obj"] {
        let Some((points, triangles)) = published(name) else { return };
        let mut parts = Parts::default();
        parts.add(&points, &triangles, 0.001, None);
        let to = if name.ends_with("t0.obj") { published("thick-cloth/t1.obj").unwrap().0 } else { points };
        all += pairs(&parts.moved(to, 1_000_000), 0.0).len();
    }
    assert!(all > 100, "{all} pairs");
}

/// The surface of a cube of side 1 m with `n` cells along each edge.
fn cube(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (face, faces) = sheet(n + 1);
    let mut points: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    // A face and the opposite one, about each axis. Multiples of 1/n are the same number on all faces.
    for turn in 0..3 {
        for lift in [0.0, 1.0] {
            let place = |p: &DVec3| match turn {
                0 => DVec3::new(p.x, lift, p.z),
                1 => DVec3::new(lift, p.z, p.x),
                _ => DVec3::new(p.z, p.x, lift),
            };
            let numbers: Vec<u32> = face
                .iter()
                .map(place)
                .map(|p| {
                    let known = points.iter().position(|q| *q == p);
                    known.unwrap_or_else(|| {
                        points.push(p);
                        points.len() - 1
                    }) as u32
                })
                .collect();
            triangles.extend(faces.iter().map(|t| t.map(|k| numbers[k as usize])));
        }
    }
    (points, triangles)
}

/// Two cubes beside each other in one piece of cloth, `gap` [m] apart, as they stand and after a motion; `copies` of them, far from one another.
fn cubes(gap: f64, motion: DVec3, copies: u32) -> Motion {
    let (points, triangles) = cube(4);
    let (mut all, mut corners, mut to) = (Vec::new(), Vec::new(), Vec::new());
    for copy in 0..copies {
        for (second, shift) in [(false, DVec3::ZERO), (true, DVec3::new(1.0 + gap, 0.125, 0.125))] {
            let first = all.len() as u32;
            let place = shift + 64.0 * f64::from(copy) * DVec3::Z;
            all.extend(points.iter().map(|p| *p + place));
            to.extend(points.iter().map(|p| *p + place + if second { motion } else { DVec3::ZERO }));
            corners.extend(triangles.iter().map(|t| t.map(|k| k + first)));
        }
    }
    let mut parts = Parts::default();
    parts.add(&all, &corners, 0.001, None);
    parts.moved(to, 1_000_000)
}

#[test]
fn cubes_are_found_as_by_brute_force_and_many_as_many_times() {
    let (points, triangles) = cube(4);
    assert_eq!((points.len(), triangles.len()), (98, 192), "6 n² + 2 and 12 n²: closed");
    // Apart, close, one in the other, and one that flies through the other.
    let cases =
        [(0.5, DVec3::ZERO), (0.0005, DVec3::ZERO), (-0.3, DVec3::ZERO), (0.5, DVec3::new(-3.0, 0.0, 0.0))];
    let found = cases.map(|(gap, motion)| {
        let [once, thrice] = [1, 3].map(|copies| pairs(&cubes(gap, motion, copies), 0.0).len());
        assert_eq!(thrice, 3 * once, "{gap} {motion}");
        once
    });
    // One cube alone has what its own edges make.
    let mut alone = Parts::default();
    alone.add(&points, &triangles, 0.001, None);
    let own = pairs(&alone.moved(points, 1_000_000), 0.0).len();
    assert_eq!(found[0], 2 * own, "apart");
    assert!(found[1..].iter().all(|found| *found > 2 * own), "{found:?}, {own} in each");
}

/// A sheet that bends and stretches from one smooth shape to another: folds, twists and waves of random size.
fn smooth(seed: u64) -> Motion {
    let mut random = Random::new(seed);
    let (points, triangles) = sheet(12);
    let mut shape = |size: f64| {
        let waves = [(); 3].map(|_| (random_vector(&mut random, 9.0), random_vector(&mut random, size)));
        let bend = move |p: &DVec3| waves.iter().map(|(k, a)| libm::sin(k.dot(*p)) * *a).sum::<DVec3>() + *p;
        points.iter().map(bend).collect::<Vec<_>>()
    };
    let size = [0.05, 0.2, 0.5][seed as usize % 3];
    let (from, to) = (shape(size), shape(size));
    let mut parts = Parts::default();
    parts.add(&points, &triangles, 0.01, None);
    let nearly = from.iter().zip(&to).map(|(a, b)| a.lerp(*b, 0.2)).collect();
    Motion { from, ..parts.moved(nearly, 1_000_000) }
}

#[test]
fn what_is_not_listed_never_comes_near() {
    let mut near_and_listed = 0;
    // Sizes of waves take turns; more of them are for long runs.
    let (seeds, enough) = if testing::long() { (9, 300) } else { (3, 100) };
    for seed in 0..seeds {
        near_and_listed += near_and_listed_in(&smooth(seed), &format!("seed {seed}"));
    }
    assert!(near_and_listed > enough, "{near_and_listed}");
}

/// How many pairs of features of cloth that keeps 15 mm come near; all of them are listed.
fn near_and_listed_in(motion: &Motion, name: &str) -> usize {
    let (pad, mut count) = (0.002, 0);
    let listed: std::collections::BTreeSet<_> = pairs(motion, pad).iter().map(|p| p.points).collect();
    for [t, u] in pairs_of_triangles(motion) {
        for (kind, points) in features(motion, t, u) {
            let distance = (0..=16).map(|k| distance(motion, kind, points, f64::from(k) / 16.0));
            if distance.fold(f64::INFINITY, f64::min) < 0.015 + pad {
                count += 1;
                assert!(listed.contains(&points), "{name}: {points:?} come near and are not listed");
            }
        }
    }
    count
}

#[test]
fn what_points_that_moved_may_meet_is_found_alone() {
    let (mut near_and_moved, mut stayed) = (0, 0);
    for seed in 0..3 {
        let (pad, mut motion, mut random) = (0.002, smooth(seed), Random::new(100 + seed));
        let mut candidates = Candidates::new(&motion.surface, &motion.movable);
        candidates.find(&motion.surface, &motion.from, &motion.to, pad);
        let before = candidates.pairs().to_vec();
        let mut waiting: Vec<bool> = (0..before.len()).map(|k| k % 3 == 0).collect();
        let moved: Vec<bool> = motion.to.iter().map(|_| random.between(0.0, 1.0) < 0.1).collect();
        for (to, _) in motion.to.iter_mut().zip(&moved).filter(|(_, moved)| **moved) {
            *to += random_vector(&mut random, 0.1);
        }
        candidates.find_moved(&motion.surface, [&motion.from, &motion.to], &moved, &mut waiting);
        // What has no point that moved is as it was.
        let has_moved = |pair: &Pair| pair.points.iter().any(|p| moved[*p as usize]);
        let kept: Vec<_> = (0..before.len()).filter(|k| !has_moved(&before[*k])).collect();
        let (old, new) = candidates.pairs().split_at(kept.len());
        assert!(old.iter().zip(&kept).all(|(pair, k)| *pair == before[*k]), "seed {seed}");
        assert!(kept.iter().zip(&waiting).all(|(k, waits)| *waits == (k % 3 == 0)), "seed {seed}");
        // What has is new, is there once, and waits.
        let listed: std::collections::BTreeSet<_> = new.iter().copied().collect();
        assert!(listed.len() == new.len() && new.iter().all(has_moved), "seed {seed}");
        assert_eq!(
            (&waiting[kept.len()..], waiting.len()),
            (&vec![true; new.len()][..], old.len() + new.len())
        );
        for [t, u] in pairs_of_triangles(&motion) {
            for (kind, points) in features(&motion, t, u) {
                let distance = (0..=16).map(|k| distance(&motion, kind, points, f64::from(k) / 16.0));
                let comes_near = distance.fold(f64::INFINITY, f64::min) < 0.015 + pad;
                let pair = Pair { kind, points };
                if comes_near && has_moved(&pair) {
                    assert!(listed.contains(&pair), "seed {seed}: {pair:?} comes near and is not listed");
                    near_and_moved += 1;
                }
            }
        }
        stayed += old.len();
    }
    assert!(near_and_moved > 100 && stayed > 100, "{near_and_moved} near, {stayed} stayed");
}

/// A sheet of which only some triangles are left, at rest and where it moves to.
fn cut_out(n: u32, keep: impl Fn(DVec3) -> bool, to: impl Fn(&DVec3) -> DVec3) -> Motion {
    let (points, triangles) = sheet(n);
    let centre = |t: &[u32; 3]| t.iter().map(|p| points[*p as usize]).sum::<DVec3>() / 3.0;
    let triangles: Vec<_> = triangles.into_iter().filter(|t| keep(centre(t))).collect();
    let mut parts = Parts::default();
    parts.add(&points, &triangles, 0.01, None);
    parts.moved(points.iter().map(to).collect(), 1_000_000)
}

#[test]
fn arms_of_a_flat_piece_may_meet() {
    // A gap between two arms closes while the piece stays in its plane, where every patch that lay across the gap would be monotone.
    let in_gap = |p: DVec3| p.x > 0.3 && (0.4..0.6).contains(&p.z);
    let to = |p: &DVec3| {
        let shift = if p.x > 0.25 { 0.095 * libm::copysign(1.0, 0.5 - p.z) } else { 0.0 };
        *p + DVec3::new(0.0, 0.0, shift)
    };
    let motion = cut_out(16, |p| !in_gap(p), to);
    // Where all moves alike, only the arms come near one another.
    let far = |pair: &&Pair| pair.points.iter().all(|p| motion.from[*p as usize].x > 0.7);
    assert!(pairs(&motion, 0.002).iter().filter(far).count() > 10);
    near_and_listed_in(&motion, "a gap");
}

#[test]
fn layers_of_a_rest_shape_that_lies_over_itself_may_meet() {
    // A strip that goes twice around, flat at rest; its second turn comes down on the first.
    let (n, rows) = (32, 12);
    let at = |k: u32| (k / rows, k % rows);
    let place = |k: u32, lift: f64| {
        let (along, across) = at(k);
        let (angle, radius) = (f64::from(along) * 0.4, 1.0 + 0.3 * f64::from(across));
        DVec3::new(radius * libm::cos(angle), lift * f64::from(along), radius * libm::sin(angle))
    };
    let quad = |k: u32| {
        let a = k / (rows - 1) * rows + k % (rows - 1);
        [[a, a + 1, a + rows + 1], [a, a + rows + 1, a + rows]]
    };
    let rest: Vec<_> = (0..n * rows).map(|k| place(k, 0.0)).collect();
    let triangles: Vec<_> = (0..(n - 1) * (rows - 1)).flat_map(quad).collect();
    let mut parts = Parts::default();
    parts.add(&rest, &triangles, 0.01, None);
    let from = (0..n * rows).map(|k| place(k, 0.004)).collect();
    let motion = Motion { from, ..parts.moved((0..n * rows).map(|k| place(k, 0.0003)).collect(), 1_000_000) };
    let count = near_and_listed_in(&motion, "two turns");
    assert!(count > 1000, "{count}");
}

#[test]
fn a_sheet_that_is_nearly_flat_has_no_pairs() {
    // Bent by 60 degrees in all, slanted, moving by two cells.
    let bent = |p: &DVec3| {
        let turned = DVec3::new(libm::sin(p.x), libm::cos(p.x), p.z);
        DVec3::new(turned.x - 0.6 * turned.y, turned.y + 0.6 * turned.x, turned.z)
    };
    let (points, triangles) = sheet(40);
    let mut parts = Parts::default();
    parts.add(&points, &triangles, 0.0005, None);
    let from: Vec<_> = points.iter().map(bent).collect();
    let to = from.iter().map(|p| *p + DVec3::new(0.05, 0.02 * p.x, 0.01)).collect();
    let motion = Motion { from, ..parts.moved(to, 1_000_000) };
    assert_eq!(pairs(&motion, 1e-4), []);
}

#[test]
fn a_smooth_sheet_has_few_pairs() {
    let (points, triangles) = sheet(40);
    let mut parts = Parts::default();
    let turned = |p: &DVec3| DVec3::new(p.x - 0.7 * p.z, 0.1 * libm::sin(5.0 * p.x), p.z + 0.7 * p.x);
    parts.add(&points.iter().map(turned).collect::<Vec<_>>(), &triangles, 0.0005, None);
    let to = parts.points.iter().map(|p| *p + DVec3::new(0.0, -0.5, 0.001 * p.x)).collect();
    let motion = parts.moved(to, 1_000_000);
    let mut candidates = Candidates::new(&motion.surface, &motion.movable);
    candidates.find(&motion.surface, &motion.from, &motion.to, 1e-4);
    let per_triangle = candidates.pairs().len() as f64 / triangles.len() as f64;
    assert!(per_triangle < 2.0, "{per_triangle} pairs per triangle");
}

fn pairs_of_triangles(motion: &Motion) -> impl Iterator<Item = [usize; 2]> {
    let n = motion.surface.triangles.len();
    (0..n).flat_map(move |t| (t..n).map(move |u| [t, u]))
}

/// Features that stand with two triangles and share no point.
fn features(motion: &Motion, t: usize, u: usize) -> Vec<(PairKind, [u32; 4])> {
    let s = &motion.surface;
    let (a, b) = (s.triangles[t], s.triangles[u]);
    let mut all = Vec::new();
    for k in 0..3 {
        if s.owned[t].corners[k] && !b.contains(&a[k]) {
            all.push((PairKind::PointTriangle, [a[k], b[0], b[1], b[2]]));
        }
        if s.owned[u].corners[k] && !a.contains(&b[k]) {
            all.push((PairKind::PointTriangle, [b[k], a[0], a[1], a[2]]));
        }
        for l in 0..3 {
            let (e, f) = (s.owned[t].edges[k], s.owned[u].edges[l]);
            if e != NO_EDGE && f != NO_EDGE {
                let ([a, b], [c, d]) = (s.edges[e.min(f) as usize], s.edges[e.max(f) as usize]);
                if a != c && a != d && b != c && b != d {
                    all.push((PairKind::EdgeEdge, [a, b, c, d]));
                }
            }
        }
    }
    all
}

/// The distance of two features at a time, by looking at many of their points: never less than it is.
fn distance(motion: &Motion, kind: PairKind, points: [u32; 4], time: f64) -> f64 {
    let [p, a, b, c] = points.map(|i| motion.from[i as usize].lerp(motion.to[i as usize], time));
    let steps = || (0..=8).map(|k| f64::from(k) / 8.0);
    let to_segment = |p: DVec3, a: DVec3, b: DVec3| {
        let s = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, s))
    };
    let all = steps().map(|s| match kind {
        PairKind::PointTriangle => to_segment(p, a, b.lerp(c, s)),
        PairKind::EdgeEdge => to_segment(p.lerp(a, s), b, c),
    });
    all.fold(f64::INFINITY, f64::min)
}
