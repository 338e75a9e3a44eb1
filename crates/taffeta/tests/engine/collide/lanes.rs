//! Boxes against boxes by every instruction set.

use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::broad_phase::sixteen::{Sixteen, WIDE};
use taffeta::math::lanes::InstructionSet;
use taffeta::math::random::Random;

#[test]
fn every_instruction_set_meets_the_same_boxes() {
    let mut random = Random::new(5);
    let mut number = || random.below(6) as f32;
    let mut sixteen = || {
        let mut boxes = Sixteen::NOTHING;
        for lane in 0..WIDE - 1 {
            let low = [number(), number(), number()];
            boxes.set(lane, &Bounds::new(low, low.map(|x| x + number())));
        }
        boxes
    };
    let mut hits = 0;
    for _ in 0..200 {
        let (a, b) = (sixteen(), sixteen());
        let slow: [u16; WIDE] = std::array::from_fn(|l| {
            (0..WIDE).filter(|m| a.get(l).meets(&b.get(*m))).fold(0, |bits, m| bits | 1 << m)
        });
        hits += slow.iter().map(|bits| bits.count_ones()).sum::<u32>();
        for set in InstructionSet::available() {
            assert_eq!(a.meet(*set, !0, &b), slow, "{set:?}");
            assert!((0..WIDE).all(|l| b.meet_one(*set, &a.get(l)) == slow[l]), "{set:?}");
        }
    }
    assert!(hits > 1000 && hits < 40_000, "a fair sample: {hits}");
}
