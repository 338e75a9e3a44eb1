//! Gaps and normals of closed-form solids.

use taffeta::collide::rigid::nearest::nearest;
use taffeta::collide::rigid::touch::{Asked, touch, touch_one_by_one};
use taffeta::collide::{ContactParams, MovingBody};
use taffeta::math::lanes::InstructionSet;
use taffeta::math::{DVec3, Pose, Vec4, random::Random};
use taffeta::model::{PosedShape, Shape};

const SHAPES: [Shape; 4] = [
    Shape::Plane,
    Shape::Sphere { radius: 0.4 },
    Shape::Capsule { radius: 0.2, half_length: 0.3 },
    Shape::Box { half_size: DVec3::new(0.2, 0.3, 0.4) },
];

#[test]
fn the_normal_is_the_gradient_of_the_gap_and_leads_to_the_surface() {
    let pose = Pose::from_degrees(DVec3::new(0.1, -0.2, 0.3), DVec3::new(20.0, 50.0, -70.0));
    let mut random = Random::new(5);
    for shape in SHAPES {
        let body = PosedShape { shape, pose };
        let gap = |p| nearest(&body, p, 10.0).map(|n| n.gap).unwrap();
        for _ in 0..500 {
            let p = pose.position + DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)));
            let near = nearest(&body, p, 10.0).unwrap();
            assert!((near.normal.length() - 1.0).abs() < 1e-12);
            assert!(gap(p - near.gap * near.normal).abs() < 1e-12, "{shape:?}");
            let step = 1e-6;
            let slope = (gap(p + step * near.normal) - gap(p - step * near.normal)) / (2.0 * step);
            assert!((slope - 1.0).abs() < 1e-5, "{shape:?} {slope}");
            assert_eq!(nearest(&body, p, near.gap), None);
        }
    }
}

/// Particles around a solid that moves and turns, some of which are held already.
fn around(body: &MovingBody, random: &mut Random) -> [Vec<Vec4>; 3] {
    let mut vector = |size: f64| DVec3::from_array(std::array::from_fn(|_| random.between(-size, size)));
    let q: Vec<DVec3> = (0..101).map(|_| body.after.pose.position + vector(0.45)).collect();
    let x = q.iter().map(|q| Vec4::from(*q + vector(0.01))).collect();
    let grip = (0..q.len()).map(|_| vector(1e-3));
    let push = |k: usize| if k.is_multiple_of(3) { 0.02 } else { 0.0 };
    let grip = grip.enumerate().map(|(k, v)| Vec4([v.x, v.y, v.z, push(k)])).collect();
    // The fourth number is the method's own.
    [x, q.iter().map(|q| Vec4([q.x, q.y, q.z, 7.0])).collect(), grip]
}

#[test]
fn eight_particles_touch_a_solid_as_one_by_one_and_alike_on_every_instruction_set() {
    let mut random = Random::new(8);
    let at = |place: [f64; 3], turn: [f64; 3]| Pose::from_degrees(place.into(), turn.into());
    let rests = [at([0.1, -0.2, 0.3], [20.0, 50.0, -70.0]); 2];
    let moves = [rests[0], at([0.13, -0.21, 0.33], [24.0, 49.0, -63.0])];
    for (shape, [before, after]) in SHAPES.into_iter().flat_map(|shape| [(shape, rests), (shape, moves)]) {
        let [before, after] = [before, after].map(|pose| PosedShape { shape, pose });
        let (body, params) =
            (MovingBody { before, after }, ContactParams { distance: 0.03, inside: 0.01, friction: 0.4 });
        let [x, q, grip] = around(&body, &mut random);
        let inverse_mass: Vec<f64> = (0..q.len()).map(|k| if k % 7 == 0 { 0.0 } else { 2.0 }).collect();
        let loads: Vec<f64> = (0..q.len()).map(|k| 1e-4 * k as f64).collect();
        for (loads, touching, slips) in
            [(&loads[..], false, false), (&[], false, false), (&[], true, false), (&[], false, true)]
        {
            let asked = Asked { x: &x, inverse_mass: &inverse_mass, loads, touching, slips, parting: 2e-3 };
            let mut slow = (q.clone(), grip.clone());
            let count = touch_one_by_one(&body, &params, asked, (&mut slow.0, &mut slow.1));
            let fast = InstructionSet::available().iter().map(|set| {
                let mut fast = (q.clone(), grip.clone());
                assert_eq!(
                    touch(*set, &body, &params, asked, (&mut fast.0, &mut fast.1)),
                    count,
                    "{shape:?}"
                );
                fast
            });
            let fast: Vec<_> = fast.collect();
            assert!(fast.iter().all(|other| *other == fast[0]), "{shape:?}");
            let wrong =
                |(a, b): (&Vec4, &Vec4)| (*a - *b).0.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let pairs = || fast[0].0.iter().zip(&slow.0).chain(fast[0].1.iter().zip(&slow.1));
            assert!(pairs().map(wrong).fold(0.0, f64::max) < 1e-14, "{shape:?}");
            let (fewest, most) = if touching { (1, 40) } else { (10, 86) };
            assert!((fewest..=most).contains(&count), "{shape:?}: {count} touch");
        }
    }
}
