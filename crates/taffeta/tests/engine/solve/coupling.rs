//! What joins particles beyond the pattern of a matrix, against the matrix written out.

use taffeta::math::{DMat3, DVec3, Vec4, random::Random};
use taffeta::solve::pcg::{Pcg, PcgParams};
use taffeta::solve::sparse::matrix::{BlockMatrix, Pattern};
use taffeta::solve::sparse::rank_one::Coupling;

const COUNT: usize = 12;

fn vector(random: &mut Random) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)))
}

/// A matrix with contacts of one, two and four particles and a rank_one, and all its blocks written out.
fn coupled() -> (BlockMatrix, Vec<Vec<DMat3>>) {
    let mut random = Random::new(6);
    let mut matrix = BlockMatrix::new(Pattern::new(COUNT, std::iter::empty()).unwrap());
    matrix.set_diagonal(&[1.0; COUNT]);
    let mut blocks = vec![vec![DMat3::ZERO; COUNT]; COUNT];
    (0..COUNT).for_each(|i| blocks[i][i] = DMat3::IDENTITY);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for weights in
        [[1.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0], [0.2, 0.3, 0.5, -1.0], [0.4, 0.6, -0.7, -0.3]]
    {
        let n = vector(&mut random);
        let particles = [1, 5, 7, 2 + random.below(3) as u32];
        matrix.couple(Coupling { particles, weights, block: outer(n, n) * 3.0 });
        for (i, a) in particles.iter().zip(weights) {
            for (j, b) in particles.iter().zip(weights) {
                blocks[*i as usize][*j as usize] += outer(n, n) * (3.0 * a * b);
            }
        }
    }
    let members: Vec<u32> = vec![0, 3, 4, 9];
    let gradient: Vec<DVec3> = members.iter().map(|_| vector(&mut random)).collect();
    let padded: Vec<Vec4> = gradient.iter().map(|g| Vec4::from(*g)).collect();
    matrix.add_rank_one(2.0, &members, &padded);
    for (i, a) in members.iter().zip(&gradient) {
        for (j, b) in members.iter().zip(&gradient) {
            blocks[*i as usize][*j as usize] += outer(*a, *b) * 2.0;
        }
    }
    (matrix, blocks)
}

#[test]
fn the_product_is_that_of_the_matrix_written_out() {
    let (matrix, blocks) = coupled();
    let mut random = Random::new(7);
    let x: Vec<Vec4> = (0..COUNT).map(|_| vector(&mut random).into()).collect();
    let mut y = x.clone();
    matrix.multiply(&x, &mut y);
    for (y, row) in y.iter().zip(&blocks) {
        let want = row.iter().zip(&x).fold(DVec3::ZERO, |sum, (block, x)| sum + *block * x.xyz());
        assert!((y.xyz() - want).length() < 1e-12);
    }
}

#[test]
fn conjugate_gradients_solve_what_reaches_beyond_the_pattern() {
    let (matrix, _) = coupled();
    let mut pcg = Pcg::new(matrix.pattern(), PcgParams { tolerance: 1e-12, ..PcgParams::default() });
    pcg.prepare(&matrix, &[false; COUNT]).unwrap();
    let mut random = Random::new(8);
    let b: Vec<Vec4> = (0..COUNT).map(|_| vector(&mut random).into()).collect();
    let mut x = vec![Vec4::ZERO; COUNT];
    pcg.solve(&matrix, &b, &mut x).unwrap();
    let mut back = b.clone();
    matrix.multiply(&x, &mut back);
    assert!(back.iter().zip(&b).all(|(a, b)| (*a - *b).xyz().length() < 1e-9));
}
