//! The order of rows on the coarsest level.

use taffeta::solve::preconditioner::coarse::{cost, order, spread};
use taffeta::solve::sparse::matrix::Pattern;

/// Rows on a grid of 24 by 6, numbered at random, and three that nothing joins.
fn grid() -> Pattern {
    let number = |x: u32, y: u32| (x * 6 + y) * 35 % 144;
    let quad = |x: u32, y: u32| [number(x, y), number(x + 1, y), number(x, y + 1), number(x + 1, y + 1)];
    let quads: Vec<_> = (0..23).flat_map(|x| (0..5).map(move |y| quad(x, y))).collect();
    Pattern::new(147, quads.iter().map(|quad| &quad[..])).unwrap()
}

#[test]
fn an_order_has_every_row_once_and_costs_no_more_than_a_breadth_first_one() {
    let pattern = grid();
    let found = order(&pattern);
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..147));
    let (mut seen, mut plain) = (vec![false; 147], Vec::new());
    (144..147).chain([0]).for_each(|i| spread(&pattern, i, &mut seen, &mut plain));
    let cost = |order: &[u32]| cost(&pattern, order, &mut [0; 147]);
    assert!(cost(&found) < cost(&plain), "{} and {}", cost(&found), cost(&plain));
    // No order of so long a strip reaches less far than across it.
    assert!(cost(&found) >= 120 * 6 * 6, "{}", cost(&found));
}
