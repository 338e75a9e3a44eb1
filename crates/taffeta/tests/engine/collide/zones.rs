//! Zones of points that move together.

use taffeta::collide::ccd::zones::Zones;

#[test]
fn zones_slow_once_a_round_and_grow() {
    let mut zones = Zones::new(10);
    assert!(zones.slow([4, 3, 2, 4]) && zones.slow([4, 5, 4, 5]));
    zones.close_round();
    assert_eq!([2, 3, 4, 5].map(|i| zones.of(i)), [(2, 0.5); 4]);
    assert_eq!(zones.of(6), (6, 1.0));
    for share in [0.25, 0.125, 0.0] {
        assert!(zones.slow([2, 3, 4, 5]) && zones.slow([3, 3, 4, 5]));
        zones.close_round();
        assert_eq!(zones.of(5), (2, share));
    }
    assert!(!zones.slow([2, 3, 4, 5]), "they move as one");
    assert!(zones.slow([2, 3, 4, 1]) && zones.slow([2, 3, 4, 5]), "the zone has grown");
    zones.close_round();
    assert_eq!(zones.of(5), (1, 0.0));
}
