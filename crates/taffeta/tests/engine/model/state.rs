//! The bytes and the hash of a state.

use crate::common::{free_sheet, simulation};
use taffeta::math::DVec3;
use taffeta::model::memory::ImpulseMemory;
use taffeta::model::state::StateMismatch;
use taffeta::model::{Memory, State};
use taffeta::step::StepReport;
use taffeta_scene::Method;

#[test]
fn bytes_bring_back_every_bit_and_the_hash_sees_every_bit() {
    let state = State {
        time: 0.1,
        step: 7,
        positions: vec![DVec3::new(1.0, -0.0, f64::MIN_POSITIVE), DVec3::splat(3.0)],
        velocities: vec![DVec3::new(-1.0, 2.0, 1e300), DVec3::ZERO],
        parted: vec![1 << 32],
        anchors: vec![-0.0, 0.25],
        memory: Memory::Impulse(ImpulseMemory {
            substeps: 0.5,
            missed: false,
            tension: vec![-0.0, 1e-300],
            shear: vec![7.0],
            share: vec![1.0],
        }),
    };
    let bytes = state.to_bytes();
    let mut back = State::default();
    assert!(back.read_bytes(&bytes).is_err());
    back.copy_from(&state);
    assert_eq!(
        back.read_bytes(&[0; 8 * 24]),
        Err(StateMismatch::Method {
            expected: "the impulse methods",
            found: "a method that remembers nothing"
        })
    );
    back.read_bytes(&bytes).unwrap();
    assert_eq!((back.to_bytes(), back.hash()), (bytes.clone(), state.hash()));
    let missed = 8 * (2 + 12 + 1 + 2 + 1);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // Whose memory it is stands last. A flag is any number but 0.
        if bit / 64 == bytes.len() / 8 - 1 {
            assert!(back.read_bytes(&flipped).is_err());
        } else if bit / 8 < missed || bit / 8 >= missed + 8 {
            back.read_bytes(&flipped).unwrap();
            assert_ne!(back.hash(), state.hash(), "bit {bit}");
        }
    }
    assert_eq!(State::positions_in(&bytes, 2), Ok((state.positions.clone(), state.hash())));
    assert!(State::positions_in(&bytes, 20).is_err());
}

#[test]
fn states_reports_and_certificates_are_plain_data() {
    for method in Method::ALL {
        let mut scene = free_sheet(*method, 4);
        scene.gravity = [0.0, -9.81, 0.0];
        let mut simulation = simulation(&scene);
        let report = simulation.step().unwrap();
        let state = serde_json::to_value(simulation.state()).unwrap();
        assert_eq!(serde_json::from_value::<State>(state).unwrap(), *simulation.state());
        assert_eq!(
            serde_json::from_value::<StepReport>(serde_json::to_value(report).unwrap()).unwrap(),
            report
        );
        let certificate = simulation.certificate();
        let told = serde_json::to_value(certificate).unwrap();
        // Without bodies the gap is infinite, which JSON does not know.
        assert_eq!(told["max_strain"], certificate.max_strain);
    }
}
