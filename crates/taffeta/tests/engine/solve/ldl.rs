//! L D Lᵀ against dense elimination, and what the order of particles saves.

use taffeta::math::{DVec3, Vec4};
use taffeta::solve::sparse::elimination::order_of_particles;
use taffeta::solve::sparse::ldl::Ldl;

/// A net of so many particles along each side, each coupled to those up to two away along its lines, as by bends.
fn net(side: u32) -> (Vec<Vec<u32>>, Vec<DVec3>) {
    let at = |i: u32| [i % side, i / side];
    let near = |i: u32, j: u32| {
        let ([a, b], [c, d]) = (at(i), at(j));
        i != j && a.abs_diff(c).min(b.abs_diff(d)) == 0 && a.abs_diff(c).max(b.abs_diff(d)) <= 2
    };
    let all = 0..side * side;
    let coupled = all.clone().map(|i| all.clone().filter(|j| near(i, *j)).collect()).collect();
    (coupled, all.map(|i| DVec3::new(f64::from(at(i)[0]), f64::from(at(i)[1]), 0.0)).collect())
}

/// The number that couples two particles: any that is the same both ways. With 10 on the diagonal the matrix is positive definite.
fn coupling(i: u32, j: u32) -> f64 {
    -0.5 - 0.7 * (0.5 + 0.5 * f64::from(i * j + i + j).sin())
}
const DIAGONAL: f64 = 10.0;

/// Factors with particles in an order.
fn factors(coupled: &[Vec<u32>], order: &[u32]) -> Ldl {
    let mut row_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(r, i)| row_of[*i as usize] = r as u32);
    let left = |k: usize| -> Vec<u32> {
        coupled[order[k] as usize].iter().copied().filter(|j| row_of[*j as usize] < k as u32).collect()
    };
    let mut ldl = Ldl::new(order.len(), |k| left(k).into_iter().map(|j| row_of[j as usize]).collect());
    for _ in 0..2 {
        // The second time there is something to overwrite.
        let raised = ldl.factorise(|k, row| {
            left(k).into_iter().for_each(|j| row[row_of[j as usize] as usize] += coupling(order[k], j));
            DIAGONAL
        });
        assert_eq!(raised, 0);
    }
    ldl
}

#[test]
fn solves_as_dense_elimination_does() {
    let (coupled, positions) = net(7);
    let order = order_of_particles(&coupled, &positions);
    let n = order.len();
    let right = |i: usize| [(i as f64).sin(), (2.0 * i as f64).cos(), i as f64 * 0.1, 0.0];
    let mut solved: Vec<Vec4> = order.iter().map(|i| Vec4(right(*i as usize))).collect();
    factors(&coupled, &order).solve(&mut solved);

    let mut dense: Vec<Vec<f64>> = (0..n).map(|_| vec![0.0; n]).collect();
    for (i, row) in dense.iter_mut().enumerate() {
        row[i] = DIAGONAL;
        coupled[i].iter().for_each(|j| row[*j as usize] = coupling(i as u32, *j));
        row.extend(right(i));
    }
    for k in 0..n {
        let pivot = dense[k].clone();
        for row in dense.iter_mut().skip(k + 1) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= factor * b);
        }
    }
    for k in (0..n).rev() {
        for axis in 0..4 {
            let known: f64 = (k + 1..n).map(|j| dense[k][j] * dense[j][n + axis]).sum();
            dense[k][n + axis] = (dense[k][n + axis] - known) / dense[k][k];
        }
    }
    for (i, x) in order.iter().zip(solved) {
        let want = &dense[*i as usize][n..];
        assert!(x.0.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-13), "{i}: {x:?}, {want:?} expected");
    }
}

#[test]
fn an_order_has_every_particle_once_and_fills_less_than_line_by_line() {
    let (coupled, positions) = net(30);
    let order = order_of_particles(&coupled, &positions);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..900));
    let [found, plain] = [order, sorted].map(|order| factors(&coupled, &order).fill());
    assert!(3 * found < 2 * plain, "{found} and {plain}");
}
