//! Rest lengths of seams over time.

use taffeta::math::DVec3;
use taffeta::model::stitches::{Stitch, Stitches};

#[test]
fn rest_lengths_shrink_from_the_start_to_the_stitch() {
    let mut links = Stitches::default();
    let stitch = Stitch { length: 0.01, begin: 0.0, duration: 2.0, end: f64::INFINITY, stiffness: 1.0 };
    links.push([0, 1], &[DVec3::ZERO, 0.21 * DVec3::X], stitch);
    links.push([0, 1], &[DVec3::ZERO, DVec3::ZERO], Stitch { duration: 0.0, ..stitch });
    let at = |time| links.rest_length(0, time);
    assert_eq!([at(-1.0), at(0.0), at(2.0), at(9.0)], [0.21, 0.21, 0.01, 0.01]);
    assert!((at(1.0) - 0.11).abs() < 1e-15 && at(0.5) > at(1.0));
    assert_eq!([links.rest_length(1, 0.0), links.rest_length(1, 5.0)], [0.01; 2], "sewn from the start");
    let later = [Stitch { begin: 3.0, ..stitch }, Stitch { begin: 3.0, duration: 0.0, ..stitch }];
    later.iter().for_each(|stitch| links.push([0, 1], &[DVec3::ZERO, 0.21 * DVec3::X], *stitch));
    let waits = |link, times: [f64; 3]| times.map(|time| links.rest_length(link, time));
    assert_eq!(waits(2, [0.0, 3.0, 5.0]), [0.21, 0.21, 0.01]);
    assert_eq!(waits(3, [0.0, 2.9, 3.0]), [0.21, 0.21, 0.01]);
    links.push([0, 1], &[DVec3::ZERO, 0.21 * DVec3::X], Stitch { end: 4.0, ..stitch });
    let undone = [3.9, 4.0, 9.0].map(|time| links.rest_length(4, time));
    assert!(
        undone[0] == 0.01 && undone[1] > 1e3 && undone[2] > 1e3,
        "what is undone never pulls: {undone:?}"
    );
}
