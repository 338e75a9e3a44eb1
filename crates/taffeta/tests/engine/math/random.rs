//! Random numbers that are the same for ever.

use taffeta::math::random::Random;

#[test]
fn numbers_of_seed_one_never_change() {
    let mut random = Random::new(1);
    assert_eq!(random.bits(), 0x910a_2dec_8902_5cc1);
    let below: Vec<usize> = (0..1000).map(|_| random.below(7)).collect();
    assert!((0..7).all(|k| below.iter().filter(|b| **b == k).count() > 100));
    assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
}
