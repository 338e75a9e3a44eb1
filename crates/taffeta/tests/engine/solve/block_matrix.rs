//! Products of block matrices by every instruction set.

use taffeta::math::{DMat3, DVec3, Vec4, random::Random};
use taffeta::solve::sparse::matrix::{BlockMatrix, Elements, Pattern};

/// A row of a matrix times a vector in the registers that every processor has: columns of blocks are summed up one by one.
fn row_times(matrix: &BlockMatrix, i: u32, x: &[Vec4]) -> Vec4 {
    let mut sums = [Vec4::ZERO; 3];
    for j in (0..x.len() as u32).filter(|j| matrix.pattern().slot(i, *j).is_some()) {
        let block = matrix.block(i, j);
        (0..3).for_each(|c| sums[c] += Vec4::from(block.col(c)) * x[j as usize].0[c]);
    }
    sums[0] + sums[1] + sums[2]
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut random = Random::new(9);
    let count = 100;
    let pairs: Vec<[u32; 2]> = (0..600).map(|_| [0; 2].map(|_: u32| random.below(count) as u32)).collect();
    let pattern = Pattern::new(count, pairs.iter().map(|pair| &pair[..])).unwrap();
    let mut matrix = BlockMatrix::new(pattern.clone());
    let elements = Elements::new(&pattern, &pairs).unwrap();
    let mut vector = || DVec3::new(random.unit(), random.unit(), random.unit());
    let mut block = || DMat3::from_cols(vector(), vector(), vector());
    let blocks: Vec<[DMat3; 3]> = pairs.iter().map(|_| [block(), block(), block()]).collect();
    matrix.add(&elements, |e, sink| {
        let [own, joint, other] = blocks[e];
        [(0, 0, own), (0, 1, joint), (1, 1, other)].into_iter().for_each(|(i, j, b)| sink.add(i, j, b));
    });
    let x: Vec<Vec4> = (0..count).map(|_| vector().into()).collect();
    let plain: Vec<Vec4> = (0..count as u32).map(|i| row_times(&matrix, i, &x)).collect();
    let mut wide = vec![Vec4::ZERO; count];
    matrix.multiply(&x, &mut wide);
    let bits = |y: &[Vec4]| y.iter().map(|y| y.0.map(f64::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&plain), bits(&wide));
    assert!(plain.iter().any(|y| *y != Vec4::ZERO));
}
