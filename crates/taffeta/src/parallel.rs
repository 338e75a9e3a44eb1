//! Work on chunks of particles by all threads of the current rayon pool. The split is the caller's, never the pool's.

use std::ops::Range;

/// Runs `work(chunk, own part of a, own part of b)` for every chunk, on as many threads as there are.
///
/// `range_of` tells which particles a chunk owns; the ranges follow one another and cover `a` and `b`.
pub fn for_each_chunk<C: Send, T: Send>(
    chunks: &mut [C],
    range_of: impl Fn(&C) -> Range<usize> + Sync,
    a: &mut [T],
    b: &mut [T],
    work: impl Fn(&mut C, &mut [T], &mut [T]) + Sync,
) {
    split(chunks, 0, &range_of, a, b, &work);
}

fn split<C: Send, T: Send>(
    chunks: &mut [C],
    first: usize,
    range_of: &(impl Fn(&C) -> Range<usize> + Sync),
    a: &mut [T],
    b: &mut [T],
    work: &(impl Fn(&mut C, &mut [T], &mut [T]) + Sync),
) {
    match chunks {
        [] => {}
        [chunk] => work(chunk, a, b),
        _ => {
            let (left, right) = chunks.split_at_mut(chunks.len() / 2);
            let cut = range_of(&right[0]).start;
            let (a_left, a_right) = a.split_at_mut(cut - first);
            let (b_left, b_right) = b.split_at_mut(cut - first);
            rayon::join(
                || split(left, first, range_of, a_left, b_left, work),
                || split(right, cut, range_of, a_right, b_right, work),
            );
        }
    }
}
