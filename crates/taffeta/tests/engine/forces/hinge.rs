//! Hinges against closed answers: a known angle, and the energy of a cylinder.

use super::meshes::{hinges, irregular};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use taffeta::forces::element::Element;
use taffeta::forces::hinge::{AngleHinge, FlatHinge, angle};
use taffeta::math::{DVec3, trig};

#[test]
fn a_fold_has_the_angle_and_the_energy_that_were_put_in() {
    let fold = |theta: f64| {
        let c = DVec3::new(0.7, 0.8 * trig::cos(theta), 0.8 * trig::sin(theta));
        [DVec3::ZERO, 1.5 * DVec3::X, c, DVec3::new(0.2, -0.5, 0.0)]
    };
    let flat = fold(0.0);
    let (quadratic, exact) =
        (FlatHinge::new(&flat, 2.0, 0.0).unwrap(), AngleHinge::new(&flat, 2.0, 0.0).unwrap());
    // k = B |e|² / A with A = 1.5 (0.8 + 0.5) / 2.
    let k = 2.0 * 1.5 * 1.5 / (0.75 * 1.3);
    for theta in [-3.1, -1.0, -1e-3, 0.0, 0.5, 2.0, 3.1] {
        let x = fold(theta);
        assert!((angle(&x) - theta).abs() < 1e-14);
        let chord = 2.0 * trig::sin(0.5 * theta);
        assert!((quadratic.energy(&x) - 0.5 * k * chord * chord).abs() < 1e-14 * k);
        assert!((exact.energy(&x) - 0.5 * k * theta * theta).abs() < 1e-13 * k);
    }
    // A bent rest shape pushes back to itself, the short way round.
    let want = 0.5 * k * (2.0 * PI - 6.0_f64).powi(2);
    for rest in [3.0, -3.0] {
        let bent = AngleHinge::new(&fold(rest), 2.0, 0.0).unwrap();
        assert!((bent.energy(&fold(-rest)) / want - 1.0).abs() < 1e-12);
    }
    for bad in
        [[DVec3::ZERO; 4], [flat[0], flat[1], flat[0], flat[3]], [flat[0], flat[1], DVec3::NAN, flat[3]]]
    {
        assert_eq!((FlatHinge::new(&bad, 1.0, 0.0), AngleHinge::new(&bad, 1.0, 0.0)), (None, None));
    }
}

const RADIUS: f64 = 1.0;

/// Energy of flat hinges rolled onto a cylinder whose curved direction is at an angle to x, for a rigidity of 1; both kinds of hinge.
fn rolled(hinges: &[[[f64; 2]; 4]], direction: f64) -> [f64; 2] {
    let (sine, cosine) = (trig::sin(direction), trig::cos(direction));
    let roll = |[x, y]: [f64; 2]| {
        let (around, along) = ((cosine * x + sine * y) / RADIUS, cosine * y - sine * x);
        DVec3::new(RADIUS * trig::sin(around), along, RADIUS * (1.0 - trig::cos(around)))
    };
    let mut energy = [0.0; 2];
    for hinge in hinges {
        let flat = hinge.map(|[x, y]| DVec3::new(x, y, 0.0));
        let x = hinge.map(roll);
        energy[0] += FlatHinge::new(&flat, 1.0, 0.0).unwrap().energy(&x);
        energy[1] += AngleHinge::new(&flat, 1.0, 0.0).unwrap().energy(&x);
    }
    energy
}

#[test]
fn a_cylinder_stores_half_its_rigidity_by_its_radius_squared() {
    let want = 0.5 / (RADIUS * RADIUS);
    let side = 0.01;
    // Rolling is the same for all hinges of one kind, so that one cell of the lattice is enough.
    let height = side * f64::sqrt(3.0) / 2.0;
    let equilateral = [
        [[0.0, 0.0], [side, 0.0], [0.5 * side, height], [0.5 * side, -height]],
        [[0.0, 0.0], [0.5 * side, height], [-0.5 * side, height], [side, 0.0]],
        [[0.0, 0.0], [-0.5 * side, height], [-side, 0.0], [0.5 * side, height]],
    ];
    for step in 0..24 {
        for energy in rolled(&equilateral, 0.3 * f64::from(step)) {
            assert!((energy / (side * height) / want - 1.0).abs() < 1e-4);
        }
    }
    let s = side;
    let grid = [
        [[0.0, 0.0], [0.0, s], [-s, 0.0], [s, s]],
        [[0.0, 0.0], [s, 0.0], [s, s], [0.0, -s]],
        [[0.0, 0.0], [s, s], [0.0, s], [s, 0.0]],
    ];
    for (direction, factor) in [(0.0, 1.0), (FRAC_PI_2, 1.0), (FRAC_PI_4, 3.0), (-FRAC_PI_4, 1.0)] {
        for energy in rolled(&grid, direction) {
            assert!(
                (energy / (s * s) / want - factor).abs() < 1e-3,
                "{direction}: {}",
                energy / (s * s) / want
            );
        }
    }
}

/// Energy of a square metre of irregular mesh, two rings of which are held to a parabola of curvature 1, once the points inside have come to rest.
///
/// Heights alone are free. The hinge is quadratic, so that conjugate gradients end at the exact rest.
fn relaxed(cells: usize, direction: f64) -> f64 {
    let (points, triangles) = irregular([1.0; 2], [cells; 2], 3);
    let flat = |i: u32| DVec3::new(points[i as usize][0], points[i as usize][1], 0.0);
    let list = hinges(&triangles);
    let elements: Vec<_> = list.iter().map(|h| FlatHinge::new(&h.map(flat), 1.0, 0.0).unwrap()).collect();
    let resist = |z: &[f64]| {
        let mut resisting = vec![0.0; z.len()];
        for (element, hinge) in elements.iter().zip(&list) {
            let forces = element.forces(&hinge.map(|i| DVec3::Z * z[i as usize]));
            hinge.iter().zip(forces).for_each(|(i, f)| resisting[*i as usize] -= f.z);
        }
        resisting
    };
    let inner = |k: usize| {
        (2..=cells - 2).contains(&(k % (cells + 1))) && (2..=cells - 2).contains(&(k / (cells + 1)))
    };
    let free = |values: Vec<f64>| -> Vec<f64> {
        values.into_iter().enumerate().map(|(k, v)| if inner(k) { v } else { 0.0 }).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let along = |p: &[f64; 2]| trig::cos(direction) * p[0] + trig::sin(direction) * p[1];
    let mut z: Vec<f64> = points.iter().map(|p| 0.5 * along(p).powi(2)).collect();
    let mut left: Vec<f64> = free(resist(&z)).iter().map(|r| -r).collect();
    let (mut step, mut error) = (left.clone(), dot(&left, &left));
    for _ in 0..3000 {
        let resisted = free(resist(&step));
        let length = error / dot(&step, &resisted).max(f64::MIN_POSITIVE);
        z.iter_mut().zip(&step).for_each(|(z, s)| *z += length * s);
        left.iter_mut().zip(&resisted).for_each(|(l, r)| *l -= length * r);
        let last = std::mem::replace(&mut error, dot(&left, &left));
        step.iter_mut().zip(&left).for_each(|(s, l)| *s = l + error / last.max(f64::MIN_POSITIVE) * *s);
    }
    assert!(error < 1e-16, "not at rest: {error}");
    0.5 * dot(&z, &resist(&z))
}

#[test]
fn an_irregular_mesh_bends_like_its_rigidity_along_its_sides_and_up_to_twice_as_hard_across() {
    // Points shifted by up to 0.3 of a cell and diagonals at random: a mesh worse than any that one would use.
    for (direction, most) in [(0.0, 1.2), (FRAC_PI_2, 1.2), (0.5, 1.8), (FRAC_PI_4, 2.0), (-FRAC_PI_4, 2.0)] {
        let factor = relaxed(30, direction) / 0.5;
        println!("direction {direction:.2}: {factor:.3} times the rigidity");
        assert!(factor > 1.0 && factor < most, "{direction}: {factor}");
    }
}
