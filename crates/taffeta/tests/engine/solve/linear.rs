//! Block matrices and conjugate gradients against dense twins; what cannot be solved is told.

use super::systems::{
    Dense, bend_block, bits, cloth_matrix, dense_cloth_matrix, empty_matrix, flat, norm, random_vectors,
    sheet,
};
use taffeta::forces::bend;
use taffeta::math::{DMat3, DVec3, Vec4, random::Random};
use taffeta::solve::pcg::{Error, Info, Pcg, PcgParams};
use taffeta::solve::preconditioner::{BadDiagonal, PreconditionerKind};
use taffeta::solve::sparse::matrix::{Bending, BlockMatrix, ElementError, Elements, Pattern};

const KINDS: [PreconditionerKind; 2] = [PreconditionerKind::BlockJacobi, PreconditionerKind::Levels];

/// Solves with both preconditioners, and compares with the twin.
fn check_against_twin(matrix: &BlockMatrix, dense: &Dense, pinned: &[bool], random: &mut Random) {
    let count = pinned.len();
    let b = random_vectors(count, random);
    let start = random_vectors(count, random);
    let (reduced, rest) = dense.reduced(pinned, &flat(&b), &flat(&start));
    let expected = reduced.solve(rest);
    for preconditioner in KINDS {
        let params = PcgParams { tolerance: 1e-14, preconditioner, ..PcgParams::default() };
        let mut pcg = Pcg::new(matrix.pattern(), params);
        pcg.prepare(matrix, pinned).unwrap();
        let mut x = start.clone();
        let info = pcg.solve(matrix, &b, &mut x).unwrap();
        assert!(info.residual <= 1e-14 && info.iterations > 0, "{info:?}");
        let of = |held: bool| (0..count).filter(move |i| pinned[*i] == held);
        assert!(of(true).all(|i| x[i] == start[i]), "pinned particles keep their values");
        let found: Vec<Vec4> = of(false).map(|i| x[i]).collect();
        assert!(found.iter().all(|x| x.0[3] == 0.0));
        let error = norm(flat(&found).iter().zip(&expected).map(|(a, b)| a - b));
        let relative = error / norm(expected.iter().copied());
        assert!(relative < 1e-10, "{preconditioner:?}: {relative:e}, {info:?}");
    }
}

/// Adds elements of N particles with random semi-definite blocks to both twins.
fn add_random<const N: usize>(
    matrix: &mut BlockMatrix,
    dense: &mut Dense,
    elements: &[[u32; N]],
    random: &mut Random,
) {
    // Block (i, j) = Gᵢ Gⱼᵀ.
    let factors: Vec<[DMat3; N]> = elements
        .iter()
        .map(|_| {
            std::array::from_fn(|_| {
                DMat3::from_cols_array(&std::array::from_fn(|_| random.between(-1.0, 1.0)))
            })
        })
        .collect();
    let listed = Elements::new(matrix.pattern(), elements).unwrap();
    matrix.add(&listed, |e, sink| {
        for (i, j) in (0..N).flat_map(|i| (i..N).map(move |j| (i, j))) {
            sink.add(i, j, factors[e][i] * factors[e][j].transpose());
        }
    });
    for (element, g) in elements.iter().zip(&factors) {
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            dense.add(element[i] as usize, element[j] as usize, g[i] * g[j].transpose());
        }
    }
}

/// N particles, all different.
fn random_element<const N: usize>(particles: usize, random: &mut Random) -> [u32; N] {
    let mut element = [u32::MAX; N];
    for k in 0..N {
        while element[k] == u32::MAX || element[..k].contains(&element[k]) {
            element[k] = random.below(particles) as u32;
        }
    }
    element
}

#[test]
fn random_systems_are_solved_like_the_twin_s() {
    let mut random = Random::new(1);
    for particles in [4, 5, 17, 90] {
        let pairs: Vec<[u32; 2]> = (0..particles).map(|_| random_element(particles, &mut random)).collect();
        let triples: Vec<[u32; 3]> =
            (0..particles / 2).map(|_| random_element(particles, &mut random)).collect();
        let quads: Vec<[u32; 4]> =
            (0..particles / 3).map(|_| random_element(particles, &mut random)).collect();
        let all = pairs
            .iter()
            .map(|e| &e[..])
            .chain(triples.iter().map(|e| &e[..]))
            .chain(quads.iter().map(|e| &e[..]));
        let mut matrix = BlockMatrix::new(Pattern::new(particles, all).unwrap());
        let mut dense = Dense::zero(particles);
        let mass: Vec<f64> = (0..particles).map(|_| random.between(0.01, 1.0)).collect();
        matrix.set_diagonal(&mass);
        mass.iter().enumerate().for_each(|(i, m)| dense.add(i, i, DMat3::IDENTITY * *m));
        add_random(&mut matrix, &mut dense, &pairs, &mut random);
        add_random(&mut matrix, &mut dense, &triples, &mut random);
        add_random(&mut matrix, &mut dense, &quads, &mut random);
        check_against_twin(&matrix, &dense, &vec![false; particles], &mut random);
        let pinned: Vec<bool> = (0..particles).map(|i| i % 4 == 1).collect();
        check_against_twin(&matrix, &dense, &pinned, &mut random);
    }
}

#[test]
fn cloth_is_assembled_and_multiplied_like_the_twin() {
    // More than one chunk, so that elements are cut by a border.
    let (model, x) = sheet(26);
    let (matrix, dense) = (cloth_matrix(&model, &x, 1.0 / 30.0), dense_cloth_matrix(&model, &x, 1.0 / 30.0));
    let largest = dense.numbers.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let count = model.particle_count();
    for (i, j) in (0..count).flat_map(|i| (0..count).map(move |j| (i, j))) {
        let block = matrix.block(i as u32, j as u32);
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            let expected = dense.numbers[(3 * i + r) * dense.size + 3 * j + c];
            assert!((block.col(c)[r] - expected).abs() <= 1e-15 * largest, "block ({i}, {j})");
        }
    }
    let v = random_vectors(count, &mut Random::new(3));
    let mut product = vec![Vec4::ZERO; count];
    matrix.multiply(&v, &mut product);
    let expected = dense.multiply(&flat(&v));
    for (a, b) in flat(&product).iter().zip(&expected) {
        assert!((a - b).abs() < 1e-13 * largest, "{a} {b}");
    }
}

#[test]
fn bending_is_summed_like_element_by_element() {
    let (model, x) = sheet(26);
    let (h, damping_time) = (1.0 / 30.0, 0.01);
    let x: Vec<Vec4> = x.into_iter().map(Vec4::from).collect();
    let (mut matrix, mut one_by_one) = (empty_matrix(&model), empty_matrix(&model));
    let bends = Elements::new(matrix.pattern(), &model.bends.points).unwrap();
    one_by_one.set_diagonal(&model.mass);
    one_by_one.add(&bends, |b, sink| {
        for (i, j) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
            sink.add(i, j, h * (h + damping_time) * bend_block(&model, b, i, j));
        }
    });
    let mut expected = vec![DVec3::new(1.0, 2.0, 3.0); x.len()];
    for (b, points) in model.bends.points.iter().enumerate() {
        let at = points.map(|i| x[i as usize].xyz());
        let (ia_ic, k) = (model.bends.inverse_lengths[b], model.bends.stiffness[b]);
        let forces = bend::forces(at, [DVec3::ZERO; 3], ia_ic, k, 0.0);
        points.iter().zip(forces).for_each(|(i, f)| expected[*i as usize] += h * f);
    }

    let mut bending = Bending::new(matrix.pattern());
    for (b, points) in model.bends.points.iter().enumerate() {
        let ([ia, ic], k) = (model.bends.inverse_lengths[b], model.bends.stiffness[b]);
        bending.add(matrix.pattern(), points, &[ia, -(ia + ic), ic], [k, k * damping_time]);
    }
    let mut forces = vec![Vec4::ZERO; x.len()];
    matrix.assemble(&mut forces, |part| {
        part.begin(&bending, h, &x, |i| (model.mass[i], Vec4([1.0, 2.0, 3.0, 0.0])));
    });
    let count = x.len() as u32;
    for (i, j) in (0..count).flat_map(|i| (0..count).map(move |j| (i, j))) {
        let (a, b) = (matrix.block(i, j), one_by_one.block(i, j));
        assert!(a.abs_diff_eq(b, 1e-14 * one_by_one.diagonal(i).x_axis.x), "block ({i}, {j}): {a} {b}");
    }
    for (force, expected) in forces.iter().zip(expected) {
        assert!((force.xyz() - expected).length() < 1e-14 * expected.length(), "{force:?} {expected}");
    }
}

#[test]
fn cloth_is_solved_like_the_twin() {
    let mut random = Random::new(4);
    let (model, x) = sheet(12);
    let mut pinned = vec![false; model.particle_count()];
    for h in [1.0 / 30.0, 1.0 / 300.0] {
        let (matrix, dense) = (cloth_matrix(&model, &x, h), dense_cloth_matrix(&model, &x, h));
        pinned.fill(false);
        check_against_twin(&matrix, &dense, &pinned, &mut random);
        (pinned[0], pinned[11]) = (true, true);
        check_against_twin(&matrix, &dense, &pinned, &mut random);
        // Whole aggregates.
        pinned[..60].fill(true);
        check_against_twin(&matrix, &dense, &pinned, &mut random);
    }
}

#[test]
fn cloth_of_several_chunks_is_solved_like_the_twin() {
    let (model, x) = sheet(24);
    let (matrix, dense) =
        (cloth_matrix(&model, &x, 1.0 / 100.0), dense_cloth_matrix(&model, &x, 1.0 / 100.0));
    let pinned: Vec<bool> = (0..model.particle_count()).map(|i| i < 3 || i == 550).collect();
    check_against_twin(&matrix, &dense, &pinned, &mut Random::new(5));
}

/// A solver and a large sheet under gravity that hangs from a row.
fn hanging(n: u32, h: f64, params: PcgParams) -> (BlockMatrix, Pcg, Vec<Vec4>) {
    let (model, x) = sheet(n);
    let matrix = cloth_matrix(&model, &x, h);
    let mut pcg = Pcg::new(matrix.pattern(), params);
    let pinned: Vec<bool> = (0..model.particle_count()).map(|i| i < n as usize).collect();
    pcg.prepare(&matrix, &pinned).unwrap();
    let weight = model.mass.iter().map(|m| DVec3::new(0.0, -9.81 * h * m, 0.0).into()).collect();
    (matrix, pcg, weight)
}

#[test]
fn the_thread_count_changes_no_bit() {
    for preconditioner in KINDS {
        let solved = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let params = PcgParams { tolerance: 1e-5, preconditioner, ..PcgParams::default() };
                let (matrix, mut pcg, b) = hanging(60, 1.0 / 60.0, params);
                let mut x = vec![Vec4::ZERO; b.len()];
                let info = pcg.solve(&matrix, &b, &mut x).unwrap();
                (info.iterations, info.residual.to_bits(), bits(&x))
            })
        };
        let alone = solved(1);
        for threads in if testing::long() { &[2, 3, 8][..] } else { &[3] } {
            assert!(solved(*threads) == alone, "{preconditioner:?} on {threads} threads");
        }
    }
}

#[test]
fn iterations_on_levels_grow_little_with_the_cloth() {
    let growth = |preconditioner: PreconditionerKind| {
        let iterations = [20, 80].map(|n| {
            let params = PcgParams { tolerance: 1e-3, preconditioner, ..PcgParams::default() };
            let (matrix, mut pcg, b) = hanging(n, 1.0 / 30.0, params);
            let mut x = vec![Vec4::ZERO; b.len()];
            f64::from(pcg.solve(&matrix, &b, &mut x).unwrap().iterations)
        });
        (iterations[1], iterations[1] / iterations[0])
    };
    let (jacobi, jacobi_growth) = growth(PreconditionerKind::BlockJacobi);
    let (levels, levels_growth) = growth(PreconditionerKind::Levels);
    assert!(jacobi_growth > 3.0 && levels_growth < 2.0, "{jacobi_growth} {levels_growth}");
    assert!(levels < 0.2 * jacobi, "{levels} {jacobi}");
}

#[test]
fn particles_without_elements_do_not_hinder() {
    // Pieces of three particles, and single ones between them, more than fit on the last level.
    let count = 2000;
    let pairs: Vec<[u32; 2]> = (0..count - 2).step_by(7).flat_map(|i| [[i, i + 1], [i + 1, i + 2]]).collect();
    let mut matrix = BlockMatrix::new(Pattern::new(count as usize, pairs.iter().map(|e| &e[..])).unwrap());
    let listed = Elements::new(matrix.pattern(), &pairs).unwrap();
    matrix.set_diagonal(&vec![2.0; count as usize]);
    matrix.add(&listed, |_, sink| sink.add(0, 1, DMat3::IDENTITY));
    for preconditioner in KINDS {
        let params = PcgParams { tolerance: 1e-12, preconditioner, ..PcgParams::default() };
        let mut pcg = Pcg::new(matrix.pattern(), params);
        pcg.prepare(&matrix, &vec![false; count as usize]).unwrap();
        let expected = random_vectors(count as usize, &mut Random::new(8));
        let (mut b, mut x) = (expected.clone(), vec![Vec4::ZERO; count as usize]);
        matrix.multiply(&expected, &mut b);
        pcg.solve(&matrix, &b, &mut x).unwrap();
        let error = norm(flat(&x).iter().zip(flat(&expected)).map(|(a, b)| a - b));
        assert!(error < 1e-10 * norm(flat(&expected).into_iter()), "{preconditioner:?}: {error:e}");
    }
}

#[test]
fn nothing_to_do_takes_no_iterations() {
    for preconditioner in KINDS {
        let params = PcgParams { preconditioner, ..PcgParams::default() };
        let (matrix, mut pcg, b) = hanging(10, 0.01, params);
        let zero = vec![Vec4::ZERO; b.len()];
        // A start that is not the solution is dropped; pinned particles rest.
        let mut x = zero.clone();
        x[50..].fill(Vec4([1.0, 2.0, 3.0, 0.0]));
        let done = pcg.solve(&matrix, &zero, &mut x);
        assert_eq!(done, Ok(Info { iterations: 0, residual: 0.0, scale: 0.0 }));
        assert_eq!(x, zero);
        // From the solution.
        pcg.solve(&matrix, &b, &mut x).unwrap();
        let solution = x.clone();
        assert_eq!(pcg.solve(&matrix, &b, &mut x).unwrap().iterations, 0);
        assert_eq!(x, solution);
        // All pinned.
        pcg.prepare(&matrix, &vec![true; b.len()]).unwrap();
        let mut x = random_vectors(b.len(), &mut Random::new(6));
        let before = x.clone();
        assert_eq!(pcg.solve(&matrix, &b, &mut x).unwrap().iterations, 0);
        assert_eq!(x, before);
        // No particles.
        let matrix = BlockMatrix::new(Pattern::new(0, std::iter::empty()).unwrap());
        let mut pcg = Pcg::new(matrix.pattern(), params);
        pcg.prepare(&matrix, &[]).unwrap();
        assert_eq!(pcg.solve(&matrix, &[], &mut []).unwrap().iterations, 0);
    }
}

#[test]
fn a_start_near_the_solution_saves_iterations() {
    let params = PcgParams { tolerance: 1e-8, ..PcgParams::default() };
    let (matrix, mut pcg, b) = hanging(20, 0.01, params);
    let mut x = vec![Vec4::ZERO; b.len()];
    let cold = pcg.solve(&matrix, &b, &mut x).unwrap().iterations;
    let more: Vec<Vec4> = b.iter().map(|b| *b * 1.001).collect();
    let warm = pcg.solve(&matrix, &more, &mut x).unwrap().iterations;
    assert!(warm < cold && warm > 0, "{warm} {cold}");
}

#[test]
fn too_few_iterations_tell_the_last_residual() {
    let params =
        PcgParams { tolerance: 1e-9, max_iterations: 4, preconditioner: PreconditionerKind::BlockJacobi };
    let (matrix, mut pcg, b) = hanging(10, 0.01, params);
    let mut x = vec![Vec4::ZERO; b.len()];
    let told = pcg.solve(&matrix, &b, &mut x);
    // (rᵀ D⁻¹ r)^½ of free particles, by hand.
    let mut product = x.clone();
    matrix.multiply(&x, &mut product);
    let size = |of: &dyn Fn(usize) -> DVec3| {
        let squared = |i: usize| of(i).dot(matrix.block(i as u32, i as u32).inverse() * of(i));
        (10..b.len()).map(squared).sum::<f64>().sqrt()
    };
    let expected = size(&|i| (b[i] - product[i]).xyz()) / size(&|i| b[i].xyz());
    let Err(Error::NotConverged { iterations: 4, residual, tolerance: 1e-9 }) = told else {
        panic!("{told:?}")
    };
    assert!((residual / expected - 1.0).abs() < 1e-9 && residual > 1e-9, "{residual} {expected}");
}

/// Two particles with the blocks [[a, b], [b, a]] times the unit matrix.
fn pair(a: f64, b: f64) -> BlockMatrix {
    let elements = [[0, 1]];
    let mut matrix = BlockMatrix::new(Pattern::new(2, elements.iter().map(|e| &e[..])).unwrap());
    matrix.set_diagonal(&[a, a]);
    let listed = Elements::new(matrix.pattern(), &elements).unwrap();
    matrix.add(&listed, |_, sink| sink.add(0, 1, DMat3::IDENTITY * b));
    matrix
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_told() {
    for preconditioner in KINDS {
        let params = PcgParams { preconditioner, ..PcgParams::default() };
        // Eigenvalues 3 and -1, the latter for opposite motions.
        let matrix = pair(1.0, 2.0);
        let mut pcg = Pcg::new(matrix.pattern(), params);
        pcg.prepare(&matrix, &[false; 2]).unwrap();
        let b = [Vec4([1.0, 0.0, 0.0, 0.0]), Vec4([-1.0, 0.0, 0.0, 0.0])];
        let told = pcg.solve(&matrix, &b, &mut [Vec4::ZERO; 2]);
        assert_eq!(told, Err(Error::NotPositiveDefinite { iteration: 1, curvature: -2.0, residual: 1.0 }));

        let matrix = pair(-1.0, 0.0);
        let mut pcg = Pcg::new(matrix.pattern(), params);
        let told = pcg.prepare(&matrix, &[true, false]);
        assert_eq!(told, Err(BadDiagonal { particle: 1, determinant: -1.0 }));
    }
}

#[test]
fn what_is_no_number_is_told() {
    for preconditioner in KINDS {
        let params = PcgParams { preconditioner, ..PcgParams::default() };
        let matrix = pair(2.0, 1.0);
        let mut pcg = Pcg::new(matrix.pattern(), params);
        pcg.prepare(&matrix, &[false; 2]).unwrap();
        let good = [Vec4([1.0, 0.0, 0.0, 0.0]), Vec4::ZERO];
        for wrong in [f64::NAN, f64::INFINITY] {
            let bad = [Vec4([0.0, wrong, 0.0, 0.0]), Vec4::ZERO];
            let told = Err(Error::NotFinite { iterations: 0, residual: 1.0 });
            assert_eq!(pcg.solve(&matrix, &bad, &mut [Vec4::ZERO; 2]), told);
            assert_eq!(pcg.solve(&matrix, &good, &mut bad.clone()), told);
            let off_diagonal = pair(2.0, wrong);
            pcg.prepare(&off_diagonal, &[false; 2]).unwrap();
            assert_eq!(pcg.solve(&off_diagonal, &good, &mut [Vec4::ZERO; 2]), told);
            assert!(pcg.prepare(&pair(wrong, 0.0), &[false; 2]).is_err());
            pcg.prepare(&matrix, &[false; 2]).unwrap();
            assert!(pcg.solve(&matrix, &good, &mut [Vec4::ZERO; 2]).is_ok());
        }
    }
}

#[test]
fn elements_that_do_not_fit_are_refused() {
    let wrong = [[0_u32, 1], [1, 3]];
    let told = ElementError::UnknownParticle { element: 1, particle: 3, particles: 3 };
    assert_eq!(Pattern::new(3, wrong.iter().map(|e| &e[..])), Err(told));
    let pattern = Pattern::new(3, wrong[..1].iter().map(|e| &e[..])).unwrap();
    assert_eq!(Elements::new(&pattern, &wrong).err(), Some(told));
    let told = ElementError::NotInPattern { element: 0, i: 0, j: 2 };
    assert_eq!(Elements::new(&pattern, &[[0, 2]]).err(), Some(told));
    assert_eq!((pattern.slot(0, 1), pattern.slot(0, 2), pattern.slot(7, 0)), (Some((0, 1)), None, None));
    assert_eq!((pattern.particles(), pattern.blocks()), (3, 5));
}
