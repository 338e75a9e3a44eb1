//! Triangles against the laboratory: energy of uniform strain, and strips pulled along warp, weft and bias until they rest.

use super::meshes::irregular;
use taffeta::forces::baraff_witkin::MembraneTriangle;
use taffeta::forces::element::Element;
use taffeta::math::{DVec3, random::Random, trig};

const STIFFNESS: [f64; 3] = [900.0, 400.0, 60.0];

/// Triangles of cloth cut out at an angle to the warp.
fn cloth(points: &[[f64; 2]], triangles: &[[u32; 3]], angle: f64) -> Vec<MembraneTriangle> {
    let (sine, cosine) = (trig::sin(angle), trig::cos(angle));
    let material = |i: u32| {
        let [x, y] = points[i as usize];
        [cosine * x + sine * y, cosine * y - sine * x]
    };
    triangles.iter().map(|t| MembraneTriangle::new(t.map(material), STIFFNESS, 0.1).unwrap()).collect()
}

#[test]
fn uniform_strain_stores_the_exact_energy_on_any_triangulation() {
    let (points, triangles) = irregular([0.7, 0.4], [7, 5], 1);
    let cloth = cloth(&points, &triangles, 0.0);
    let mut random = Random::new(5);
    for _ in 0..50 {
        let mut any = || DVec3::from_array(std::array::from_fn(|_| random.between(-1.5, 1.5)));
        let (wu, wv) = (any(), any());
        let place = |i: u32| points[i as usize][0] * wu + points[i as usize][1] * wv + DVec3::ONE;
        let energy: f64 = cloth.iter().zip(&triangles).map(|(e, t)| e.energy(&t.map(place))).sum();
        let strains = [wu.length() - 1.0, wv.length() - 1.0, wu.dot(wv)];
        let density: f64 = STIFFNESS.iter().zip(strains).map(|(k, c)| 0.5 * k * c * c).sum();
        assert!((energy / (0.7 * 0.4 * density) - 1.0).abs() < 1e-12);
    }
}

/// Solves the dense system m y = b by elimination; m is positive definite.
fn solve(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = m[k].clone();
        for i in k + 1..n {
            let factor = m[i][k] / pivot[k];
            m[i].iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / m[k][k];
    }
    b
}

/// Newton steps with the safe matrix until the forces of the cloth hold `load`; how large a force is left over, against the load.
fn settle(cloth: &[MembraneTriangle], triangles: &[[u32; 3]], x: &mut [DVec3], load: &[DVec3]) -> f64 {
    let mut left = f64::INFINITY;
    for _ in 0..60 {
        let mut force = load.to_vec();
        let mut matrix = vec![vec![0.0; 3 * x.len()]; 3 * x.len()];
        for (element, t) in cloth.iter().zip(triangles) {
            let corners = t.map(|i| x[i as usize]);
            let (forces, blocks) = (element.forces(&corners), element.safe_derivative(&corners));
            for i in 0..3 {
                force[t[i] as usize] += forces[i];
                for j in 0..3 {
                    let columns = blocks[i][j].to_cols_array_2d();
                    for (c, column) in columns.iter().enumerate() {
                        for (r, entry) in column.iter().enumerate() {
                            matrix[3 * t[i] as usize + r][3 * t[j] as usize + c] -= entry;
                        }
                    }
                }
            }
        }
        // The load is in balance, so that a trace of stiffness is enough to hold the strip.
        (0..matrix.len()).for_each(|i| matrix[i][i] += 1e-6);
        left = force.iter().map(|f| f.length()).fold(0.0, f64::max);
        let step = solve(matrix, force.iter().flat_map(|f| f.to_array()).collect());
        x.iter_mut().zip(step.chunks(3)).for_each(|(x, s)| *x += DVec3::from_slice(s));
    }
    left / load.iter().map(|f| f.length()).fold(0.0, f64::max)
}

/// Elongation of a strip cut at an angle to the warp and pulled with `pull` [N/m] at both ends.
fn elongation(angle: f64, pull: f64) -> f64 {
    let (length, width, cells) = (0.5, 0.2, [6, 3]);
    let (points, triangles) = irregular([length, width], cells, 2);
    let cloth = cloth(&points, &triangles, angle);
    let mut x: Vec<DVec3> = points.iter().map(|p| DVec3::new(p[0], p[1], 0.0)).collect();
    let mut load = vec![DVec3::ZERO; x.len()];
    for j in 0..cells[1] {
        for (column, sign) in [(0, -1.0), (cells[0], 1.0)] {
            let [a, b] = [j, j + 1].map(|j| j * (cells[0] + 1) + column);
            let share = 0.5 * sign * pull * (x[b] - x[a]).length();
            [a, b].iter().for_each(|i| load[*i].x += share);
        }
    }
    let left = settle(&cloth, &triangles, &mut x, &load);
    assert!(left < 1e-9, "not at rest: {left}");
    // The corners alone lie at the same height on both ends, which matters once the strip shears.
    let [a, b] = [0, cells[1] * (cells[0] + 1)];
    let along = |corner: usize| x[corner + cells[0]].x - x[corner].x;
    0.5 * (along(a) + along(b)) / length - 1.0
}

#[test]
fn a_strip_is_drawn_out_as_its_stiffness_says() {
    let [warp, weft, shear] = STIFFNESS;
    // Along the threads the law is linear at any load.
    for pull in [1.0, 100.0] {
        assert!((elongation(0.0, pull) / (pull / warp) - 1.0).abs() < 1e-6);
        assert!((elongation(std::f64::consts::FRAC_PI_2, pull) / (pull / weft) - 1.0).abs() < 1e-6);
    }
    // On the bias for small loads: 1/bias = (1/warp + 1/weft + 1/shear) / 4.
    let bias = 4.0 / (1.0 / warp + 1.0 / weft + 1.0 / shear);
    for angle in [std::f64::consts::FRAC_PI_4, -std::f64::consts::FRAC_PI_4] {
        let strain = 1e-4;
        assert!((elongation(angle, strain * bias) / strain - 1.0).abs() < 10.0 * strain);
    }
}

/// What is dropped of the damper's derivative is ∂C (...)ᵀ: it acts on no rigid motion. So against rigid motions, ours is the whole.
#[test]
fn the_damper_follows_the_shape_except_for_the_part_that_is_not_symmetric() {
    let mut random = Random::new(8);
    let mut any = || DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)));
    let element = MembraneTriangle::new([[0.0, 0.1], [0.9, 0.0], [0.2, 0.8]], STIFFNESS, 0.1).unwrap();
    for _ in 0..50 {
        let place = |[u, v]: [f64; 2], wu: DVec3, wv: DVec3| u * wu + v * wv;
        let (wu, wv) = (DVec3::X + 0.4 * any(), DVec3::Y + 0.4 * any());
        let x = [[0.0, 0.1], [0.9, 0.0], [0.2, 0.8]].map(|m| place(m, wu, wv));
        let v = [any(), any(), any()];
        let blocks = element.damping_by_position(&x, &v);
        let (spin, shift) = (any(), any());
        let rigid = x.map(|p| spin.cross(p) + shift);
        for j in 0..3 {
            for axis in DVec3::AXES {
                let moved = |s: f64| {
                    let mut there = x;
                    there[j] += s * axis;
                    let forces = element.damping(&there, &v);
                    (0..3).map(|i| rigid[i].dot(forces[i])).sum::<f64>()
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let ours: f64 = (0..3).map(|i| rigid[i].dot(blocks[i][j] * axis)).sum();
                assert!((difference - ours).abs() < 1e-5 * ours.abs().max(10.0), "{difference} {ours}");
                assert!(
                    (blocks[0][j] - blocks[j][0].transpose()).to_cols_array().iter().all(|c| c.abs() < 1e-9)
                );
            }
        }
    }
}

#[test]
fn corners_on_a_line_make_no_cloth() {
    for material in
        [[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.5, 0.5]; 3], [[0.0, 0.0], [1.0, 0.0], [f64::NAN, 1.0]]]
    {
        assert_eq!(MembraneTriangle::new(material, STIFFNESS, 0.0), None);
    }
}
