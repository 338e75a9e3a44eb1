//! Every force against differences of its energy, every derivative against differences of its force.

use taffeta::forces::{air, bend, spring};
use taffeta::math::{DVec3, random::Random};
use taffeta::model::AirModel;

const STEP: f64 = 1e-6;

fn random_vector(random: &mut Random) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)))
}

/// The gradient of `f` at `x` by central differences.
fn gradient(x: DVec3, f: impl Fn(DVec3) -> f64) -> DVec3 {
    let along = |axis: DVec3| (f(x + STEP * axis) - f(x - STEP * axis)) / (2.0 * STEP);
    DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
}

#[test]
fn a_spring_pulls_down_its_energy_and_its_derivative_is_that_of_the_force() {
    let mut random = Random::new(1);
    for _ in 0..500 {
        let (d, rest, k) = (random_vector(&mut random), random.between(0.1, 1.5), random.between(1.0, 100.0));
        // The force on the first particle is the gradient by the second one's place.
        let force = spring::force(d, DVec3::ZERO, rest, k, 0.0);
        assert!((force - gradient(d, |d| spring::energy(d, rest, k))).length() < 1e-6 * k);
        let derivative = spring::derivative(d, rest, k);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let at = |s: f64| spring::force(d + s * axis, DVec3::ZERO, rest, k, 0.0);
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((derivative * axis - difference).length() < 1e-4 * k);
        }
        // The damper works along the spring alone and takes energy out.
        let rate = random_vector(&mut random);
        let damped = spring::force(d, rate, rest, k, 2.0) - force;
        assert!((damped - 2.0 * d * (d.dot(rate) / d.length_squared())).length() < 1e-12);
    }
    assert_eq!(spring::force(DVec3::ZERO, DVec3::X, 1.0, 100.0, 1.0), DVec3::ZERO);
}

#[test]
fn a_bend_pushes_down_its_energy_and_keeps_momentum() {
    let mut random = Random::new(2);
    for _ in 0..500 {
        let points: [DVec3; 3] = std::array::from_fn(|_| random_vector(&mut random));
        let inverse = [random.between(0.5, 5.0), random.between(0.5, 5.0)];
        let forces = bend::forces(points, [DVec3::ZERO; 3], inverse, 3.0, 0.0);
        for i in 0..3 {
            let energy = |x: DVec3| {
                let mut moved = points;
                moved[i] = x;
                bend::energy(moved, inverse, 3.0)
            };
            assert!((forces[i] + gradient(points[i], energy)).length() < 1e-5);
        }
        assert!((forces[0] + forces[1] + forces[2]).length() < 1e-12);
        let velocities: [DVec3; 3] = std::array::from_fn(|_| random_vector(&mut random));
        let damped = bend::forces(points, velocities, inverse, 0.0, 1.0);
        let power: f64 = damped.iter().zip(&velocities).map(|(f, v)| f.dot(*v)).sum();
        assert!(power <= 0.0);
    }
}

#[test]
fn air_slows_and_never_reverses() {
    let model = AirModel { density: 1.2, drag: 1.3, skin_friction: 0.02, wind: DVec3::ZERO, damping: 0.0 };
    let mut random = Random::new(3);
    for _ in 0..500 {
        let (normal, stream) = (random_vector(&mut random), 20.0 * random_vector(&mut random));
        let area_mass = 0.1;
        let area = 0.5 * normal.length();
        // As the step goes to zero: ρ C A u² / 2 along the normal.
        let force = air::force(normal, stream, &model, area_mass, 0.0);
        let across = stream.dot(normal.normalize());
        let want = 0.5 * 1.2 * 1.3 * area * across.abs() * across;
        assert!((force.dot(normal.normalize()) - want).abs() < 1e-9 * want.abs().max(1.0));
        for h in [1e-3, 1.0, 1e6] {
            let gained = air::force(normal, stream, &model, area_mass, h) * h / (area * area_mass);
            assert!(gained.dot(stream) >= 0.0 && gained.length() <= stream.length() * (1.0 + 1e-12));
        }
    }
    assert_eq!(air::force(DVec3::ZERO, DVec3::X, &model, 0.1, 0.1), DVec3::ZERO);
}
