//! The largest eigenvalue, by which a stable step is found.

use taffeta::forces::stable_step::largest_eigenvalue;
use taffeta::math::{DVec3, random::Random};

#[test]
fn the_eigenvalue_is_the_largest_stretch_of_a_vector() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let mut m = [0.0; 6];
        for _ in 0..4 {
            let d = DVec3::new(random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5);
            let add = [d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.x * d.z, d.y * d.z];
            (0..6).for_each(|k| m[k] += add[k]);
        }
        let times = |v: DVec3| {
            DVec3::new(
                m[0] * v.x + m[3] * v.y + m[4] * v.z,
                m[3] * v.x + m[1] * v.y + m[5] * v.z,
                m[4] * v.x + m[5] * v.y + m[2] * v.z,
            )
        };
        let v = (0..2000).fold(DVec3::new(1.0, 0.9, 0.8), |v, _| times(v).normalize());
        assert!((largest_eigenvalue(&m) - times(v).length()).abs() < 1e-9);
    }
    assert_eq!(largest_eigenvalue(&[2.0, 2.0, 2.0, 0.0, 0.0, 0.0]), 2.0);
}
