//! How far edges are stretched.

use taffeta::check::{Strain, strain};
use taffeta::math::DVec3;

const EDGES: [[u32; 2]; 3] = [[0, 1], [1, 2], [0, 2]];

fn corner() -> Vec<DVec3> {
    vec![DVec3::ZERO, DVec3::new(3.0, 0.0, 0.0), DVec3::new(3.0, 4.0, 0.0)]
}

#[test]
fn stretch_and_compression_count_alike() {
    let found = strain(&corner(), &EDGES, &[2.0, 5.0, 5.0]);
    assert_eq!(found, Strain { max: 0.5, mean: (0.5 + 0.2) / 3.0, worst_edge: Some(0) });
    let found = strain(&corner(), &EDGES, &[3.0, 16.0, 4.0]);
    assert_eq!((found.max, found.worst_edge), (0.75, Some(1)));
    assert_eq!(strain(&[], &[], &[]), Strain { max: 0.0, mean: 0.0, worst_edge: None });
    assert_eq!(strain(&corner(), &EDGES, &[3.0, 4.0, 5.0]).worst_edge, Some(0));
}

#[test]
fn what_cannot_be_measured_is_infinite() {
    let broken = |positions: &[DVec3], rest: &[f64]| {
        let found = strain(positions, &EDGES, rest);
        assert_eq!((found.max, found.mean), (f64::INFINITY, f64::INFINITY));
        found.worst_edge
    };
    let rest = [3.0, 4.0, 5.0];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut positions = corner();
        positions[2].y = bad;
        assert_eq!(broken(&positions, &rest), Some(1));
        assert_eq!(broken(&[DVec3::splat(bad); 3], &rest), Some(0));
    }
    assert_eq!(broken(&corner()[..2], &rest), Some(1), "missing particle");
    assert_eq!(broken(&corner(), &rest[..2]), Some(2), "missing rest length");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(broken(&corner(), &[3.0, bad, 5.0]), Some(1));
    }
}
