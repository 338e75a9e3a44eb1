//! Nothing that meets is called free: known queries, contact_params made exactly on a grid, and passages beside a sampling twin.
//!
//! `TAFFETA_HITS=1000000 cargo test --release -p taffeta --test engine passage` makes as many contact_params of each kind and class: 14 million.

#[allow(dead_code)] // its main is not called here
#[path = "../../../examples/ccd_queries.rs"]
mod ccd_queries;

use taffeta::collide::ccd::distance::{PairKind, closest, lower_bound};
use taffeta::collide::ccd::separating_axis::apart;
use taffeta::collide::ccd::time_of_impact::{TimeOfImpact, time_of_impact};
use taffeta::math::lanes::InstructionSet;
use taffeta::math::random::Random;
use taffeta::math::{DVec3, Vec4};

const KINDS: [PairKind; 2] = [PairKind::PointTriangle, PairKind::EdgeEdge];

#[test]
fn known_queries_are_never_missed_and_never_late() {
    let Some(folder) = testing::reference_data("ccd-queries") else { return };
    for (name, close) in [("queries.csv", 315), ("queries_cloth.csv", 0)] {
        let queries = ccd_queries::read(folder.join(name).to_str().unwrap()).unwrap();
        for separation in [0.0, 1e-10, 1e-8, 1e-6, 1e-4] {
            let mut tally = ccd_queries::Tally::default();
            tally.add(&queries, separation);
            let told = format!(
                "{name} at {separation:e}: {} of {} hits missed, {} late, {} false positives, {} of them far",
                tally.misses, tally.hits, tally.late, tally.false_positives, tally.far_false_positives
            );
            eprintln!("{told}");
            assert!(tally.hits > 200 && tally.misses == 0 && tally.late == 0, "{told}");
            if separation == 1e-6 {
                // No more than those that truly come within the separation.
                assert_eq!((tally.false_positives, tally.far_false_positives), (close, 0), "{told}");
            }
        }
    }
}

/// Three axes at right angles, each 3 long, in whole numbers: what is whole in them is whole in the world, and three times as long.
const AXES: [[i64; 3]; 3] = [[1, 2, 2], [2, 1, -2], [2, -2, 1]];

/// Ways in which made queries go.
#[derive(Clone, Copy)]
enum Way {
    /// Through the other feature.
    Through,
    /// Down to so many units above it.
    Down(i64),
    /// Past its rim, so many units aside.
    Past(i64),
}

/// A query whose first contact and least distance are known exactly. One feature lies in a plane and all of it moves alike; the other comes down to it in
/// a parallel plane. All numbers are whole multiples of a power of two, and few bits long.
fn known_query(kind: PairKind, way: Way, random: &mut Random) -> ccd_queries::Query {
    let mut between = |low: i64, high: i64| low + random.below((high - low + 1) as usize) as i64;
    // The plane's feature reaches from x = 0 to the right; at x > 0 near the axis everything is inside of it.
    let (far, wide) = (between(1 << 12, 1 << 14), between(1 << 12, 1 << 14));
    let other = between(-wide / 2, wide / 2);
    // How high it is at the start and at the end; where it goes through, an eighth of the way is whole.
    let eighth = between(1, 7);
    let unit_of_height = between(1, 1 << 9);
    let (start, end, aside) = match way {
        Way::Through => (eighth * unit_of_height, (eighth - 8) * unit_of_height, 16),
        Way::Down(gap) => (gap + 8 * unit_of_height, gap, 16),
        Way::Past(gap) => (eighth * unit_of_height, (eighth - 8) * unit_of_height, -gap),
    };
    let at = |height: i64| -> [Whole; 4] {
        match kind {
            PairKind::PointTriangle => [[aside, 0, height], [0, -wide, 0], [0, wide, 0], [far, other, 0]],
            PairKind::EdgeEdge => [[aside, -wide, height], [aside, wide, height], [0, 0, 0], [far, 0, 0]],
        }
    };
    let (origin, drift) =
        ([(); 3].map(|_| between(-1 << 20, 1 << 20)), [(); 3].map(|_| between(-1 << 12, 1 << 12)));
    let unit = 0.5f64.powi(20);
    let world = |local: [Whole; 4], shift: Whole| {
        local.map(|[x, y, z]| {
            let place = combine(&[(1, shift), (x, AXES[0]), (y, AXES[1]), (z, AXES[2])]);
            unit * DVec3::from_array(place.map(|c| c as f64))
        })
    };
    let eighth = eighth as f64 / 8.0;
    let (contact, least) = match way {
        Way::Through | Way::Past(0) => (Some(eighth), 0),
        Way::Down(0) => (Some(1.0), 0),
        Way::Down(gap) | Way::Past(gap) => (None, gap),
    };
    ccd_queries::Query {
        kind,
        contact,
        least_distance: unit * 3.0 * least as f64,
        from: world(at(start), origin),
        to: world(at(end), combine(&[(1, origin), (1, drift)])),
    }
}

#[test]
fn queries_made_with_their_truth_are_never_missed_never_late_and_seldom_called_in_vain() {
    let mut random = Random::new(17);
    let ways: Vec<Way> = [0, 1, 3, 20, 150, 3000, 40_000]
        .into_iter()
        .flat_map(|gap| [Way::Down(gap), Way::Past(gap)])
        .chain([Way::Through; 4])
        .collect();
    let queries: Vec<ccd_queries::Query> = KINDS
        .iter()
        .flat_map(|kind| ways.iter().flat_map(|way| [(*kind, *way); 100]))
        .map(|(kind, way)| known_query(kind, way, &mut random))
        .collect();
    // Through, down onto it, and along its rim.
    let hits = 2 * 100 * (4 + 1 + 1);
    for separation in [0.0, 1e-10, 1e-8, 1e-6, 1e-4] {
        let (mut near, mut free) = (0, 0);
        for query in &queries {
            let told = time_of_impact(query.kind, &query.from, &query.to, separation);
            let what =
                || format!("{:?} {:?} {:e}: {told:?}", query.kind, query.contact, query.least_distance);
            // What comes within the separation meets; what stays further than twice that away is free.
            if query.least_distance <= separation {
                assert!(
                    matches!(told, TimeOfImpact::At(time) if query.contact.is_none_or(|t| time <= t)),
                    "{}",
                    what()
                );
                near += 1;
            } else if query.least_distance > 2.0 * separation {
                assert_eq!(told, TimeOfImpact::Free, "{}", what());
                free += 1;
            }
        }
        // The time told is not much too early: they are down to twice the separation by then.
        for query in &queries {
            if let TimeOfImpact::At(time) = time_of_impact(query.kind, &query.from, &query.to, separation) {
                let there = std::array::from_fn(|k| query.from[k].lerp(query.to[k], time));
                let left = closest(query.kind, &there).vector.length();
                assert!(left < 2.0 * separation + 1e-12, "{left:e} at {time}");
                assert!(left > separation - 1e-12 || time == 0.0, "{left:e} at {time}");
            }
        }
        let mut tally = ccd_queries::Tally::default();
        tally.add(&queries, separation);
        assert_eq!(
            (tally.hits, tally.misses, tally.late, tally.far_false_positives),
            (hits, 0, 0, 0),
            "{separation:e}"
        );
        assert!(near >= hits && free >= 1200, "{separation:e}: {near} near, {free} free");
    }
}

/// How the features of a constructed meeting lie and move.
#[derive(Debug, Clone, Copy)]
enum Class {
    /// Any way.
    Generic,
    /// Far from the origin.
    Far,
    /// Moving a million times further than they are large.
    TinyFast,
    /// Edges, or an edge and a way, almost along each other.
    NearParallel,
    /// Almost without width.
    Sliver,
    /// All in one plane, always.
    Coplanar,
    /// With corners that coincide.
    Degenerate,
}

const CLASSES: [Class; 7] = [
    Class::Generic,
    Class::Far,
    Class::TinyFast,
    Class::NearParallel,
    Class::Sliver,
    Class::Coplanar,
    Class::Degenerate,
];

/// Features that are `distance` apart at `time`, exactly: all numbers are whole multiples of a power of two, and few bits long.
struct ContactParams {
    from: [DVec3; 4],
    to: [DVec3; 4],
    time: f64,
    distance: f64,
}

/// Shares of the closest points in sixteenths, so that they lie on the grid of corners that are multiples of 256.
fn sixteenths(random: &mut Random) -> i64 {
    match random.below(4) {
        0 => 0,
        1 => 16,
        _ => random.below(17) as i64,
    }
}

type Whole = [i64; 3];

fn combine(terms: &[(i64, Whole)]) -> Whole {
    std::array::from_fn(|axis| terms.iter().map(|(factor, point)| factor * point[axis]).sum())
}

fn meeting(kind: PairKind, class: Class, random: &mut Random) -> ContactParams {
    let corner = |random: &mut Random, range: i64| -> Whole {
        std::array::from_fn(|_| 256 * (random.below(2 * range as usize + 1) as i64 - range))
    };
    let mut p: [Whole; 4] = std::array::from_fn(|_| corner(random, 1 << 12));
    if matches!(class, Class::NearParallel | Class::Sliver) {
        // The others lie on the line of the first edge but for a little.
        let edge = combine(&[(1, p[2]), (-1, p[1])]);
        for k in [0, 3] {
            let along = random.below(17) as i64 - 8;
            p[k] = combine(&[(1, p[1]), (along, edge), (1, corner(random, 1 + k as i64 % 2))]);
        }
        if matches!((kind, class), (PairKind::EdgeEdge, Class::NearParallel)) {
            p.swap(0, 2);
        }
    }
    if matches!(class, Class::Degenerate) {
        p[3] = p[2];
        if random.below(2) == 0 {
            p[1] = p[if random.below(2) == 0 { 0 } else { 2 }];
        }
    }
    let fast = if matches!(class, Class::TinyFast) { 1 << 31 } else { 1 << 9 };
    let mut v: [Whole; 4] = std::array::from_fn(|_| corner(random, fast));
    if matches!(class, Class::NearParallel) && random.below(2) == 0 {
        let edge = combine(&[(1, p[2]), (-1, p[1])]);
        v = v.map(|v| combine(&[(2, edge), (1, v.map(|c| c / (1 << 8)))]));
    }
    if matches!(class, Class::Coplanar) {
        p.iter_mut().chain(&mut v).for_each(|w| w[2] = 0);
    }
    // The first feature is brought to where it touches, then away by a vector of whole length.
    let (s, t) = (sixteenths(random), sixteenths(random));
    let share = |whole: i64| combine(&[(16 - t, p[2]), (t, p[3])]).map(|c| c / 16 * whole);
    let gap = match kind {
        PairKind::PointTriangle => combine(&[(16, p[0]), (-s, p[1]), (s - 16, share(1))]).map(|c| c / 16),
        PairKind::EdgeEdge => combine(&[(16 - s, p[0]), (s, p[1]), (-16, share(1))]).map(|c| c / 16),
    };
    let aside = [0, 0, 1, 16][random.below(4)];
    let offset = [[3, 4, 0], [-4, 0, 3], [0, 0, 5], [0, -5, 0]][random.below(4)].map(|c| c * aside);
    let moved = if matches!(kind, PairKind::EdgeEdge) { 2 } else { 1 };
    for point in &mut p[..moved] {
        *point = combine(&[(1, *point), (-1, gap), (1, offset)]);
    }
    let origin = if matches!(class, Class::Far) { corner(random, 1 << 40) } else { [0; 3] };
    let eighth = random.below(9) as i64;
    let unit = 0.5f64.powi(20);
    let at = |steps: i64| {
        let place =
            |k: usize| DVec3::from_array(combine(&[(1, origin), (1, p[k]), (steps, v[k])]).map(|c| c as f64));
        std::array::from_fn(|k| unit * place(k))
    };
    ContactParams {
        from: at(-eighth),
        to: at(8 - eighth),
        time: eighth as f64 / 8.0,
        distance: unit * 5.0 * aside as f64,
    }
}

#[test]
fn meetings_made_exactly_are_never_missed_and_never_late() {
    let count = std::env::var("TAFFETA_HITS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(if testing::long() { 72_000 } else { 15_000 });
    for kind in KINDS {
        for class in CLASSES {
            let mut random = Random::new(7);
            for _ in 0..count {
                let ContactParams { from, to, time, distance } = meeting(kind, class, &mut random);
                let told = time_of_impact(kind, &from, &to, distance);
                assert!(
                    matches!(told, TimeOfImpact::At(t) if t <= time),
                    "{kind:?} {class:?}: {told:?}, but {distance:e} apart at {time}: {from:?} {to:?}"
                );
                let TimeOfImpact::At(t) = told else { continue };
                let place = std::array::from_fn(|k| from[k] + t * (to[k] - from[k]));
                let near = closest(kind, &place).vector.length();
                // Up to the rounding of the places.
                let size: f64 = from.iter().chain(&to).map(|x| x.abs().max_element()).sum();
                assert!(t == 0.0 || near >= distance - 1e-15 * size, "{kind:?} {class:?}: {near:e} at {t}");
            }
        }
    }
}

/// Which motions of one kind one direction shows free, all at once, by every instruction set.
fn all_at_once(kind: PairKind, motions: &[[[DVec3; 4]; 2]], separations: &[f64]) -> Vec<bool> {
    let points = |end: usize| -> Vec<Vec4> { motions.iter().flat_map(|m| m[end].map(Vec4::from)).collect() };
    let (from, to) = (points(0), points(1));
    let pairs: Vec<[u32; 4]> = (0..motions.len() as u32).map(|i| [0, 1, 2, 3].map(|k| 4 * i + k)).collect();
    let mut told = Vec::new();
    for set in InstructionSet::available() {
        let mut out = vec![true; pairs.len()];
        apart(*set, kind, &pairs, separations, [&from, &to], &mut out);
        told.push(out);
    }
    assert!(told.iter().all(|out| *out == told[0]), "every instruction set gives the same bits");
    told.swap_remove(0)
}

#[test]
fn many_at_once_are_as_sound_and_seldom_stricter_than_one_by_one() {
    for kind in KINDS {
        for class in CLASSES {
            let mut random = Random::new(13);
            let contact_params: Vec<ContactParams> =
                (0..3_003).map(|_| meeting(kind, class, &mut random)).collect();
            let motions: Vec<_> = contact_params.iter().map(|m| [m.from, m.to]).collect();
            let distances: Vec<f64> = contact_params.iter().map(|m| m.distance).collect();
            assert!(!all_at_once(kind, &motions, &distances).contains(&true), "{kind:?} {class:?}");
        }
        let (motions, separations) = random_motions(1_003);
        let told = all_at_once(kind, &motions, &separations);
        let (mut free, mut apart) = (0, 0);
        for (([from, to], separation), told) in motions.iter().zip(&separations).zip(told) {
            assert!(!told || sampled(kind, from, to) > *separation, "{kind:?}: {from:?} {to:?}");
        }
        // Where motions are a tenth of what the features are large, as in cloth, one direction nearly always does.
        let motions: Vec<_> = motions
            .iter()
            .map(|[from, to]| [*from, std::array::from_fn(|k| from[k].lerp(to[k], 0.1))])
            .collect();
        for (([from, to], separation), told) in
            motions.iter().zip(&separations).zip(all_at_once(kind, &motions, &separations))
        {
            free += usize::from(time_of_impact(kind, from, to, *separation) == TimeOfImpact::Free);
            apart += usize::from(told);
        }
        assert!(10 * apart > 9 * free, "{kind:?}: {apart} of {free}");
    }
}

/// Motions as far as the features are large, and what they shall keep apart.
fn random_motions(count: usize) -> (Vec<[[DVec3; 4]; 2]>, Vec<f64>) {
    let mut random = Random::new(11);
    let mut vector = |size: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-size, size)));
    let motion = |_| {
        let from: [DVec3; 4] = std::array::from_fn(|_| vector(1.0));
        [from, from.map(|x| x + vector(1.5))]
    };
    ((0..count).map(motion).collect(), (0..count).map(|k| [0.0, 1e-4, 1e-2, 0.1][k % 4]).collect())
}

/// The least distance during a motion by looking often, then more closely where it was least.
fn sampled(kind: PairKind, from: &[DVec3; 4], to: &[DVec3; 4]) -> f64 {
    let at =
        |t: f64| closest(kind, &std::array::from_fn(|k| (1.0 - t) * from[k] + t * to[k])).vector.length();
    let (mut best, mut least, mut reach) = (0.5, f64::INFINITY, 0.5);
    for _ in 0..4 {
        let middle = best;
        for k in -128..=128 {
            let t = (middle + reach * f64::from(k) / 128.0).clamp(0.0, 1.0);
            if at(t) < least {
                (least, best) = (at(t), t);
            }
        }
        reach /= 64.0;
    }
    least
}

#[test]
fn passages_agree_with_sampling_up_to_the_tolerance_told() {
    let (mut free, mut early, mut called) = (0, 0, 0);
    let (motions, separations) = random_motions(2_000);
    for kind in KINDS {
        for ([from, to], &separation) in motions.iter().zip(&separations) {
            let (least, apart) = (sampled(kind, from, to), closest(kind, from).vector.length());
            match time_of_impact(kind, from, to, separation) {
                TimeOfImpact::Free => {
                    assert!(least > separation, "{kind:?}: free, but {least:e} apart");
                    free += 1;
                }
                // Sampling finds no crossing of width zero, so it is given a little.
                TimeOfImpact::At(_) if least > separation + (apart - separation) / 64.0 + 1e-5 => early += 1,
                TimeOfImpact::At(_) => called += 1,
            }
        }
    }
    eprintln!("{free} free, {called} meet, {early} false positives beyond the tolerance");
    assert!(free > 1_000 && called > 300 && early == 0, "{free} {called} {early}");
}

#[test]
fn what_is_not_a_number_is_never_free() {
    for kind in KINDS {
        let far = [DVec3::ZERO, DVec3::Y, DVec3::X * 10.0, DVec3::X * 10.0 + DVec3::Y];
        let far = if kind == PairKind::EdgeEdge { far } else { [far[0], far[2], far[3], far[2] + DVec3::Z] };
        assert_eq!(time_of_impact(kind, &far, &far, 0.1), TimeOfImpact::Free);
        assert_eq!(time_of_impact(kind, &far, &far, f64::NAN), TimeOfImpact::At(0.0));
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in 0..24 {
                let mut both = [far, far];
                both[place / 12][place % 12 / 3][place % 3] = wrong;
                let told = time_of_impact(kind, &both[0], &both[1], 0.1);
                assert!(!all_at_once(kind, &[both], &[0.1])[0], "{kind:?} {place}");
                assert!(matches!(told, TimeOfImpact::At(_)), "{kind:?} {wrong} at {place}: {told:?}");
                assert!(lower_bound(kind, &both[0]) <= if place < 12 { 0.0 } else { 10.0 });
            }
        }
    }
}

/// The least distance by looking at many points of both features.
fn brute_force(kind: PairKind, p: &[DVec3; 4]) -> f64 {
    const PARTS: i32 = 24;
    let part = |k: i32| f64::from(k) / f64::from(PARTS);
    let mut least = f64::INFINITY;
    for i in 0..=PARTS {
        for j in 0..=PARTS {
            let vector = match kind {
                PairKind::EdgeEdge => p[0].lerp(p[1], part(i)) - p[2].lerp(p[3], part(j)),
                PairKind::PointTriangle if i + j <= PARTS => {
                    p[0] - (p[1] + part(i) * (p[2] - p[1]) + part(j) * (p[3] - p[1]))
                }
                PairKind::PointTriangle => continue,
            };
            least = least.min(vector.length());
        }
    }
    least
}

#[test]
fn closest_points_are_the_closest_and_the_certain_distance_is_below() {
    let mut random = Random::new(3);
    for kind in KINDS {
        for class in CLASSES {
            for _ in 0..1_000 {
                let points = meeting(kind, class, &mut random).from;
                let found = closest(kind, &points);
                let w = found.weights;
                let split = if kind == PairKind::EdgeEdge { 2 } else { 1 };
                let (first, second) = w.split_at(split);
                assert!((first.iter().sum::<f64>() - 1.0).abs() < 1e-12 && first.iter().all(|w| *w >= 0.0));
                assert!((second.iter().sum::<f64>() + 1.0).abs() < 1e-12 && second.iter().all(|w| *w <= 0.0));
                let size = points.iter().map(|p| (*p - points[0]).length()).fold(1e-3, f64::max);
                let sum: DVec3 = (0..4).map(|k| w[k] * (points[k] - points[0])).sum();
                assert!((sum - found.vector).length() < 1e-12 * size, "{kind:?} {class:?}: {sum} {found:?}");
                let distance = found.vector.length();
                assert!(
                    distance <= brute_force(kind, &points) + 1e-12 * size,
                    "{kind:?} {class:?} {points:?}"
                );
                // The least projected gap is the distance exactly if the points are the closest.
                let certain = lower_bound(kind, &points);
                assert!(certain <= distance, "{kind:?} {class:?}");
                // Its direction is as good as the smallest difference is against the largest.
                let turned = 1e-14 * size * size / distance;
                assert!(certain >= distance - turned, "{kind:?} {class:?}: {certain:e} {distance:e}");
            }
        }
    }
}
