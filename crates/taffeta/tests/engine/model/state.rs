//! The bytes and the hash of a state.

use taffeta::math::DVec3;
use taffeta::model::State;

#[test]
fn bytes_bring_back_every_bit_and_the_hash_sees_every_bit() {
    let state = State {
        time: 0.1,
        step: 7,
        positions: vec![DVec3::new(1.0, -0.0, f64::MIN_POSITIVE), DVec3::splat(3.0)],
        velocities: vec![DVec3::new(-1.0, 2.0, 1e300), DVec3::ZERO],
        parted: vec![1 << 32],
        memory: vec![0.5, -0.0, 1e-300],
    };
    let bytes = state.to_bytes();
    let mut back = State::default();
    assert!(back.read_bytes(&bytes).is_err());
    back.copy_from(&state);
    back.read_bytes(&[0; 8 * 18]).unwrap();
    assert_ne!(back, state);
    back.read_bytes(&bytes).unwrap();
    assert_eq!((back.to_bytes(), back.hash()), (bytes.clone(), state.hash()));
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        back.read_bytes(&flipped).unwrap();
        assert_ne!(back.hash(), state.hash());
    }
}
