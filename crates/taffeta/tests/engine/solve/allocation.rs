//! Assembling and solving again allocates nothing.

use taffeta::math::{DMat3, Vec4};
use taffeta::solve::pcg::{Pcg, PcgParams};
use taffeta::solve::preconditioner::PreconditionerKind;
use taffeta::solve::sparse::matrix::{BlockMatrix, Elements, Pattern};
use testing::memory::Meter;

#[test]
fn assembling_and_solving_again_allocates_nothing() {
    // A chain of several chunks.
    let count = 3000;
    let pairs: Vec<[u32; 2]> = (1..count).map(|i| [i - 1, i]).collect();
    let mut matrix = BlockMatrix::new(Pattern::new(count as usize, pairs.iter().map(|e| &e[..])).unwrap());
    let chain = Elements::new(matrix.pattern(), &pairs).unwrap();
    let (mass, b) = (vec![1.0; count as usize], vec![Vec4([1.0, 2.0, 3.0, 0.0]); count as usize]);
    let pinned: Vec<bool> = (0..count).map(|i| i == 0).collect();
    let mut x = vec![Vec4::ZERO; count as usize];
    for preconditioner in [PreconditionerKind::BlockJacobi, PreconditionerKind::Levels] {
        for threads in [1, 2] {
            let mut pcg = Pcg::new(matrix.pattern(), PcgParams { preconditioner, ..PcgParams::default() });
            let mut again = |stiffness: f64| {
                matrix.set_diagonal(&mass);
                matrix.add(&chain, |_, sink| {
                    sink.add(0, 0, DMat3::IDENTITY * stiffness);
                    sink.add(1, 1, DMat3::IDENTITY * stiffness);
                    sink.add(0, 1, DMat3::IDENTITY * -stiffness);
                });
                pcg.prepare(&matrix, &pinned).unwrap();
                x.fill(Vec4::ZERO);
                assert!(pcg.solve(&matrix, &b, &mut x).unwrap().iterations > 3);
            };
            let meter = Meter::new(threads);
            meter.allocations(|| (0..30).for_each(|_| again(10.0)));
            let allocated = meter.allocations(|| [20.0, 30.0].into_iter().for_each(&mut again));
            assert_eq!(allocated, 0, "{preconditioner:?} on {threads} threads");
        }
    }
}
