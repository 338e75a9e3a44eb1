//! Contacts answered eight at a time are those answered one by one in the same order, to the bit.

use std::collections::BTreeSet;
use taffeta::collide::contact::blocks::{BlockMotion, ContactBlocks};
use taffeta::collide::contact::projection::{ContactMotion, Done, FeatureContact, Side, project};
use taffeta::math::lanes::InstructionSet;
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta::model::params::CollisionParams;

const PARTICLES: usize = 90;
const BODIES: usize = 9;

fn vector(random: &mut Random, size: f64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-size, size)))
}

/// A contact of a point and a triangle or of two edges, of which a corner may have no weight; some stand on what is below, some are of bodies, some learned.
fn contact(random: &mut Random, inverse_mass: &[f64]) -> FeatureContact {
    let mut points = [0; 4];
    for k in 0..4 {
        points[k] = loop {
            let all = if k == 3 { PARTICLES + BODIES } else { PARTICLES };
            let point = random.below(all) as u32;
            if !points[..k].contains(&point) {
                break point;
            }
        };
    }
    let t = if random.below(4) == 0 { 0.0 } else { random.between(0.0, 1.0) };
    let s = random.between(0.0, 1.0);
    let point_and_triangle = random.below(2) == 0;
    let weights =
        if point_and_triangle { [1.0, -t * s, t * s - t, t - 1.0] } else { [1.0 - s, s, -t, t - 1.0] };
    let inverse = points.map(|p| inverse_mass[p as usize]);
    let both: f64 = (0..4).map(|k| weights[k] * weights[k] * inverse[k]).sum();
    let drags = std::array::from_fn(|k| weights[k] * inverse[k] / both);
    let mut contact = FeatureContact {
        points,
        weights,
        moves: drags,
        drags,
        give: both,
        whole_give: both,
        upper: None,
        normal: vector(random, 1.0).normalize(),
        distance: 0.02,
        friction: 0.3,
        slowness: random.between(0.1, 1.0),
        learned: random.below(5) == 0,
        back: false,
    };
    if random.below(2) == 0 {
        contact.stand(Side::First, inverse_mass);
    }
    contact
}

#[test]
fn eight_contacts_at_once_are_answered_as_one_by_one() {
    let mut random = Random::new(3);
    let mut inverse_mass: Vec<f64> = (0..PARTICLES).map(|_| random.between(1.0, 5.0)).collect();
    inverse_mass.iter_mut().step_by(11).for_each(|w| *w = 0.0);
    inverse_mass.resize(PARTICLES + BODIES, 0.0);
    let contacts: Vec<FeatureContact> = (0..400)
        .map(|_| contact(&mut random, &inverse_mass))
        .filter(|contact| contact.give > 0.0 && contact.give.is_finite())
        .collect();
    // What nothing supports comes last.
    let levels: Vec<u16> =
        (0..contacts.len()).map(|k| if k < 300 { (k / 100) as u16 } else { u16::MAX }).collect();
    let before: Vec<Vec4> = (0..PARTICLES).map(|_| vector(&mut random, 0.05).into()).collect();
    let start: Vec<Vec4> = before.iter().map(|x| *x + Vec4::from(vector(&mut random, 0.01))).collect();
    let bodies: [Vec<DVec3>; 2] = [(); 2].map(|_| (0..BODIES).map(|_| vector(&mut random, 0.05)).collect());
    let bodies = [&bodies[0][..], &bodies[1][..]];
    let (h, params) = (1e-3, CollisionParams::default());
    let carried = DVec3::new(1e-4, -2e-4, 5e-5);
    let done: Vec<Done> =
        (0..contacts.len()).map(|k| Done { load: 1e-4 * (k % 3) as f64, ..Done::default() }).collect();

    let mut blocks = ContactBlocks::default();
    blocks.take(&contacts, &levels, PARTICLES);
    let order: Vec<usize> = blocks.order().collect();
    assert!(order.windows(2).all(|pair| levels[pair[0]] <= levels[pair[1]]), "from the supports upwards");
    let sorted: Vec<FeatureContact> = order.iter().map(|k| contacts[*k]).collect();
    let mut slow = (start.clone(), order.iter().map(|k| done[*k]).collect::<Vec<_>>());
    let mut told = [(); 3].map(|()| BTreeSet::new());
    let furthest = [0, 1, 2].map(|sweep| {
        let touched = |i: usize, _| _ = told[sweep].insert(i);
        let motion =
            ContactMotion { before: &before, bodies, from: 0, carried, h, slips: sweep == 2, params };
        project(&sorted, &mut slow.1, &motion, &mut slow.0, touched)
    });
    assert!(slow.1.iter().filter(|done| done.push > 0.0).count() > 50, "many push");
    assert!(slow.1.iter().any(|done| done.stopped > 0.0) && slow.1.iter().any(|done| done.push == 0.0));

    for (set, threads) in InstructionSet::available().iter().flat_map(|set| [(*set, 1), (*set, 3)]) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut after, mut fast) = (start.clone(), done.clone());
            blocks.begin(&contacts, Some(&done), bodies, PARTICLES);
            // Blocks tell of a contact once.
            let (mut touched, mut expected) = (BTreeSet::new(), BTreeSet::new());
            for sweep in 0..3 {
                expected.extend(&told[sweep]);
                let motion = BlockMotion { before: &before, h, slips: sweep == 2, carried, params };
                let most = blocks.project(set, motion, &mut after, |i| _ = touched.insert(i));
                assert_eq!((most, &touched), (furthest[sweep], &expected), "{set:?}, sweep {sweep}");
            }
            blocks.end(&mut fast);
            assert_eq!(after, slow.0, "{set:?}, {threads} threads");
            assert!(order.iter().zip(&slow.1).all(|(k, done)| fast[*k] == *done), "{set:?}");
        });
    }
}
