//! Contact barriers and smooth friction: forces against differences of energies, for every way in which features can be near each other.

use taffeta::collide::ccd::distance::{PairKind, closest};
use taffeta::collide::contact::barrier::PairBarrier;
use taffeta::collide::contact::smooth_friction::SmoothFriction;
use taffeta::math::log_barrier::log_barrier;
use taffeta::math::{DVec3, random::Random};

fn vector(random: &mut Random, most: f64) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| random.between(-most, most)))
}

#[test]
fn the_logarithm_begins_smoothly_and_has_no_end() {
    assert_eq!([log_barrier(-0.5), log_barrier(0.0)], [[0.0; 3]; 2]);
    assert!(log_barrier(1e-4).iter().zip([1e-11, 1e-7, 1e-3]).all(|(found, most)| *found < most));
    assert!(log_barrier(1.0 - 1e-12)[0] > 27.0);
    assert_eq!(log_barrier(1.0), [f64::INFINITY; 3]);
    for t in [0.1, 0.5, 0.9] {
        let step = 1e-6;
        let ([_, slope, curvature], [more, less]) = (log_barrier(t), [t + step, t - step].map(log_barrier));
        assert!(((more[0] - less[0]) / (2.0 * step) / slope - 1.0).abs() < 1e-7, "{t}");
        assert!(((more[1] - less[1]) / (2.0 * step) / curvature - 1.0).abs() < 1e-7, "{t}");
    }
}

/// Where two features are near: inside, at an edge or at a corner, as how many of their weights are not 0 tells.
fn kind_of_nearness(kind: PairKind, points: &[DVec3; 4]) -> usize {
    closest(kind, points).weights.iter().filter(|w| w.abs() > 1e-9).count()
}

#[test]
fn the_gradient_of_a_barrier_is_that_of_its_energy_however_features_meet() {
    let mut random = Random::new(7);
    let mut seen = [[0; 5]; 2];
    for round in 0..20_000 {
        let kind = [PairKind::PointTriangle, PairKind::EdgeEdge][round % 2];
        let points: [DVec3; 4] = std::array::from_fn(|_| vector(&mut random, 1.0));
        // Half of the edges are nearly parallel.
        let points = match kind {
            PairKind::EdgeEdge if round % 4 == 1 => {
                let aside = points[2] + vector(&mut random, 0.02);
                [points[0], points[1], aside, aside + (points[1] - points[0]) * random.between(0.5, 1.5)]
                    .map(|x| x + vector(&mut random, 0.01))
            }
            _ => points,
        };
        let distance = closest(kind, &points).vector.length();
        let parallel = if kind == PairKind::EdgeEdge { random.between(0.01, 1.0) } else { 0.0 };
        let (offset, reach) = (0.3 * distance, random.between(0.8, 3.0) * distance);
        let barrier = PairBarrier { kind, offset, reach, stiffness: 2.0, parallel };
        let Some(found) = barrier.at(&points) else { continue };
        let step = 1e-6 * distance;
        let energy = |at: &[DVec3; 4]| barrier.at(at).map_or(0.0, |found| found.energy);
        let largest = found.gradient.iter().map(|g| g.length()).fold(0.0, f64::max);
        let mut off = 0.0_f64;
        for (p, axis) in (0..4).flat_map(|p| [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (p, axis))) {
            let moved = |by: f64| {
                let mut at = points;
                at[p] += axis * by;
                energy(&at)
            };
            off = off.max(((moved(step) - moved(-step)) / (2.0 * step) - found.gradient[p].dot(axis)).abs());
        }
        // Where closest points change from one kind to another there is no second derivative; of edges that are parallel there is not even a first.
        let smooth = [step, -step].iter().all(|by| {
            (0..4).all(|p| {
                let mut at = points;
                at[p] += DVec3::splat(*by);
                kind_of_nearness(kind, &at) == kind_of_nearness(kind, &points)
            })
        });
        if smooth && distance > 0.01 {
            assert!(
                off < 1e-5 * (largest + found.curvature * step + found.energy / distance),
                "{round}: {kind:?} {off} of {largest}"
            );
            seen[round % 2][kind_of_nearness(kind, &points)] += 1;
        }
        let sum: DVec3 = found.gradient.into_iter().sum();
        assert!(sum.length() < 1e-9 * largest.max(1e-9), "{round}: forces add up to {sum}");
    }
    assert!(seen.iter().all(|kinds| kinds[2..].iter().all(|count| *count > 50)), "{seen:?}");
}

#[test]
fn smooth_friction_is_the_slope_of_its_energy_and_at_most_coulombs() {
    let mut random = Random::new(3);
    for round in 0..2000 {
        let normal = vector(&mut random, 1.0).normalize();
        let friction =
            SmoothFriction { normal, limit: random.between(0.1, 5.0), give: random.between(0.01, 1.0) };
        let way = vector(&mut random, 1.0);
        let (gradient, block, step) = (friction.gradient(way), friction.block(way), 1e-6);
        assert!(gradient.length() <= friction.limit * (1.0 + 1e-12) && gradient.dot(normal).abs() < 1e-12);
        let along = way - normal * normal.dot(way);
        if along.length() > friction.give {
            assert!((gradient.length() / friction.limit - 1.0).abs() < 1e-12, "{round}: it does not slide");
        }
        if (along.length() / friction.give - 1.0).abs() < 1e-3 {
            continue;
        }
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let [more, less] = [axis * step, axis * -step].map(|by| way + by);
            let slope = (friction.energy(more) - friction.energy(less)) / (2.0 * step);
            assert!((slope - gradient.dot(axis)).abs() < 1e-6 * friction.limit, "{round}");
            let bent = (friction.gradient(more) - friction.gradient(less)) / (2.0 * step);
            assert!((bent - block * axis).length() < 1e-4 * friction.limit / friction.give, "{round}");
            assert!(axis.dot(block * axis) >= -1e-12 * friction.limit / friction.give);
        }
    }
}
