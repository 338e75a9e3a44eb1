//! Pressure inside closed meshes: exact volumes, forces that are slopes of an energy, derivatives that are symmetric once closed.

use super::meshes::sphere;
use std::f64::consts::PI;
use taffeta::forces::pressure::{PressureFilling, add_forces, derivative, symmetric_derivative, volume};
use taffeta::math::{DMat3, DVec3, random::Random};

/// A sphere with dents.
fn dented() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut x, triangles) = sphere(1);
    let mut random = Random::new(1);
    x.iter_mut().for_each(|p| *p *= random.between(0.6, 1.4));
    (x, triangles)
}

fn forces(x: &[DVec3], triangles: &[[u32; 3]], pressure: f64) -> Vec<DVec3> {
    let mut forces = vec![DVec3::ZERO; x.len()];
    add_forces(x, triangles, pressure, &mut forces);
    forces
}

fn fillings() -> [PressureFilling; 3] {
    // The last is crushed below its least volume.
    [
        PressureFilling::Constant { pressure: 300.0 },
        PressureFilling::gas(1200.0, 5.0, 1000.0),
        PressureFilling::gas(1200.0, 1e5, 1000.0),
    ]
}

#[test]
fn a_sphere_has_its_volume_and_a_gas_its_pressure() {
    let exact = 4.0 / 3.0 * PI;
    let missing = |times: u32| {
        let (x, triangles) = sphere(times);
        1.0 - volume(&x, &triangles) / exact
    };
    // Second order: a quarter of the error for half the side.
    let (coarse, fine) = (missing(4), missing(5));
    assert!(fine > 0.0 && fine < 2e-3 && (coarse / fine - 4.0).abs() < 0.05, "{coarse} {fine}");
    let (x, triangles) = sphere(5);
    let gas = PressureFilling::gas(101_325.0, exact, 0.0);
    assert!((gas.pressure(volume(&x, &triangles)) / 101_325.0 - 1.0 / (1.0 - fine)).abs() < 1e-12);

    // A box is exact, also far from the origin and inside out.
    let (corners, faces) = unit_box(DVec3::new(1e4, -2e4, 3e4));
    assert!((volume(&corners, &faces) - 1.0).abs() < 1e-9);
    let inverted: Vec<_> = faces.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!((volume(&corners, &inverted) + 1.0).abs() < 1e-9);
    assert_eq!(volume(&[], &[]), 0.0);
}

fn unit_box(at: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let x = (0..8).map(|i| at + DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (x, quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

#[test]
fn a_hemisphere_bears_the_pressure_on_its_opening() {
    let (x, triangles) = sphere(3);
    let upper: Vec<_> =
        triangles.iter().copied().filter(|t| t.iter().all(|i| x[*i as usize].y > -1e-9)).collect();
    let lift: DVec3 = forces(&x, &upper, 200.0).into_iter().sum();
    // The rim is a polygon of 32 corners.
    let opening = 16.0 * taffeta::math::trig::sin(PI / 16.0);
    assert!((lift - 200.0 * opening * DVec3::Y).length() < 1e-9 * lift.length());
}

#[test]
fn closed_meshes_keep_momentum_and_follow_the_slope_of_their_energy() {
    let (x, triangles) = dented();
    for filling in fillings() {
        let v = volume(&x, &triangles);
        let p = filling.pressure(v);
        let f = forces(&x, &triangles, p);
        let moment: DVec3 = x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
        let virial: f64 = x.iter().zip(&f).map(|(x, f)| x.dot(*f)).sum();
        assert!(f.iter().copied().sum::<DVec3>().length() < 1e-10 * p && moment.length() < 1e-10 * p);
        // A volume grows with the third power of its size.
        assert!((virial / (3.0 * p * v) - 1.0).abs() < 1e-12);
        for i in 0..x.len() {
            for axis in DVec3::AXES {
                let energy = |s: f64| {
                    let mut moved = x.clone();
                    moved[i] += s * axis;
                    filling.energy(volume(&moved, &triangles))
                };
                let slope = (energy(1e-4) - energy(-1e-4)) / 2e-4;
                assert!((f[i].dot(axis) + slope).abs() < 1e-5 * p, "{filling:?}: {} {slope}", f[i].dot(axis));
            }
        }
    }
    assert!(fillings().iter().all(|f| f.pressure_slope(1.0) <= 0.0 && f.pressure(-1.0).is_finite()));
}

type Triangle = [DVec3; 3];

/// A matrix over all particles from blocks of triangles.
fn assembled(
    x: &[DVec3],
    triangles: &[[u32; 3]],
    blocks: impl Fn(&Triangle) -> [[DMat3; 3]; 3],
) -> Vec<Vec<DMat3>> {
    let mut matrix = vec![vec![DMat3::ZERO; x.len()]; x.len()];
    for t in triangles {
        let blocks = blocks(&t.map(|i| x[i as usize]));
        for (i, row) in t.iter().zip(blocks) {
            t.iter().zip(row).for_each(|(j, block)| matrix[*i as usize][*j as usize] += block);
        }
    }
    matrix
}

fn far(a: &[Vec<DMat3>], b: &[Vec<DMat3>], i: usize, j: usize) -> f64 {
    (a[i][j] - b[i][j]).to_cols_array().iter().fold(0.0, |most: f64, c| most.max(c.abs()))
}

#[test]
fn the_derivative_is_that_of_the_force() {
    let (x, triangles) = dented();
    for filling in fillings() {
        let v = volume(&x, &triangles);
        let (p, slope) = (filling.pressure(v), filling.pressure_slope(v));
        let gradient = forces(&x, &triangles, 1.0);
        let matrix = assembled(&x, &triangles, |t| symmetric_derivative(t, p));
        for j in 0..x.len() {
            for axis in DVec3::AXES {
                let moved = |s: f64| {
                    let mut there = x.clone();
                    there[j] += s * axis;
                    forces(&there, &triangles, filling.pressure(volume(&there, &triangles)))
                };
                let (plus, minus) = (moved(1e-4), moved(-1e-4));
                for i in 0..x.len() {
                    let difference = (plus[i] - minus[i]) / 2e-4;
                    let ours = matrix[i][j] * axis + gradient[i] * (slope * gradient[j].dot(axis));
                    assert!((ours - difference).length() < 1e-5 * p, "{filling:?}: {ours} {difference}");
                }
            }
        }
    }
}

#[test]
fn the_part_that_is_not_symmetric_lives_on_the_boundary_alone() {
    let (x, triangles) = dented();
    let n = x.len();
    let both = |triangles: &[[u32; 3]]| {
        [
            assembled(&x, triangles, |t| derivative(t, 1.0)),
            assembled(&x, triangles, |t| symmetric_derivative(t, 1.0)),
        ]
    };
    let [exact, symmetric] = both(&triangles);
    assert!((0..n).all(|i| (0..n).all(|j| far(&exact, &symmetric, i, j) < 1e-14)));
    assert!((0..n).any(|i| (0..n).any(|j| symmetric[i][j] != DMat3::ZERO)));
    // With a hole, only corners of the hole differ.
    let hole = triangles[0];
    let [exact, symmetric] = both(&triangles[1..]);
    let mut differ = 0;
    for i in 0..n {
        for j in 0..n {
            let on_hole = hole.contains(&(i as u32)) && hole.contains(&(j as u32));
            assert!(on_hole || far(&exact, &symmetric, i, j) < 1e-14);
            differ += usize::from(far(&exact, &symmetric, i, j) > 1e-3);
        }
    }
    assert!(differ >= 6, "{differ}");
}
