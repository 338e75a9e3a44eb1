//! Work on all threads of the current pool; nothing else in the engine knows of one.
//!
//! Callers cut work into tasks that share nothing they write, and threads only decide who does a task: their number changes no bit. Behind
//! `pool::both` stands one copy of the pool's machinery for the whole engine, where generic code would make one for every caller.
//! Without the feature `parallel` all runs on the calling thread.

use std::marker::PhantomData;
use std::ops::Range;

#[cfg(feature = "parallel")]
mod pool {
    pub use rayon::current_num_threads as threads;

    pub fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        rayon::join(a, b);
    }
}

#[cfg(not(feature = "parallel"))]
mod pool {
    pub fn threads() -> usize {
        1
    }

    pub fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        a();
        b();
    }
}

/// Jobs for every thread, if there are tasks for so many: enough for all to end together, few enough to cost nothing.
const JOBS: usize = 4;

/// The answers of both, which run side by side if a thread is free.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    pool::both(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    of_a.zip(of_b).expect("both have run")
}

/// Runs `work(number, item)` for every item, at least `least` of them in a row.
pub fn each<A: Send>(items: &mut [A], least: usize, work: impl Fn(usize, &mut A) + Sync) {
    let fellows = &mut vec![(); items.len()];
    each_two(items, fellows, least, |k, a, _| work(k, a));
}

/// Runs `work(number, item, its fellow)` for every item and as many `fellows`, at least `least` of them in a row.
pub fn each_two<A: Send, B: Send>(
    items: &mut [A],
    fellows: &mut [B],
    least: usize,
    work: impl Fn(usize, &mut A, &mut B) + Sync,
) {
    zip(Disjoint::new(items, 1), fellows, least, |k, a, b| work(k, &mut a[0], b));
}

/// Runs `work(number, chunk)` for every chunk of `size` items; the last may have fewer.
pub fn each_chunk<A: Send>(items: &mut [A], size: usize, work: impl Fn(usize, &mut [A]) + Sync) {
    let fellows = &mut vec![(); items.len().div_ceil(size)];
    each_chunk_with(items, size, fellows, |c, a, _| work(c, a));
}

/// Runs `work(number, chunk, its fellow)` for every chunk of `size` items, of which the last may have fewer, and as many `fellows`.
pub fn each_chunk_with<A: Send, B: Send>(
    items: &mut [A],
    size: usize,
    fellows: &mut [B],
    work: impl Fn(usize, &mut [A], &mut B) + Sync,
) {
    zip(Disjoint::new(items, size), fellows, 1, work);
}

/// The chunk of what is only read that goes with chunk `number` of the same `size`; nothing beyond the end.
#[inline]
pub fn chunk<T>(items: &[T], size: usize, number: usize) -> &[T] {
    items.chunks(size).nth(number).unwrap_or_default()
}

/// Runs `work(chunk, own part of a, own part of b)` for every chunk.
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
            join(
                || split(left, first, range_of, a_left, b_left, work),
                || split(right, cut, range_of, a_right, b_right, work),
            );
        }
    }
}

/// Runs `work` for every part and its fellow.
fn zip<A: Send, B: Send>(
    parts: Disjoint<A>,
    fellows: &mut [B],
    least: usize,
    work: impl Fn(usize, &mut [A], &mut B) + Sync,
) {
    let tasks = fellows.len();
    assert_eq!(parts.count(), tasks, "a fellow for every part");
    let fellows = Disjoint::new(fellows, 1);
    run(tasks, least, &|job| {
        // SAFETY: no task is in two jobs.
        let (items, fellows) = unsafe { (parts.of(&job), fellows.of(&job)) };
        for ((k, part), fellow) in job.zip(items.chunks_mut(parts.size)).zip(fellows) {
            work(k, part, fellow);
        }
    });
}

/// Cuts tasks into jobs of at least `least`, each with tasks in a row and every task in one, and does them all.
fn run(tasks: usize, least: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let jobs = if pool::threads() > 1 { JOBS * pool::threads() } else { 1 };
    halve(0..tasks, least.max(tasks / jobs), work);
}

fn halve(tasks: Range<usize>, least: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    if tasks.len() < 2 || tasks.len() / 2 < least {
        return work(tasks);
    }
    let middle = tasks.start + tasks.len() / 2;
    let (left, right) = (tasks.start..middle, middle..tasks.end);
    pool::both(&mut || halve(left.clone(), least, work), &mut || halve(right.clone(), least, work));
}

/// A slice that threads get in parts of `size` items; the last may have fewer.
struct Disjoint<'a, T> {
    items: *mut T,
    length: usize,
    size: usize,
    lent: PhantomData<&'a mut [T]>,
}

// SAFETY: no two threads get the same part, so that items are sent, not shared.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    fn new(items: &'a mut [T], size: usize) -> Self {
        Self { items: items.as_mut_ptr(), length: items.len(), size, lent: PhantomData }
    }

    fn count(&self) -> usize {
        self.length.div_ceil(self.size)
    }

    /// The items of the parts of a job.
    ///
    /// # Safety
    ///
    /// No part may be asked for twice.
    unsafe fn of(&self, job: &Range<usize>) -> &'a mut [T] {
        let [from, to] = [job.start, job.end].map(|part| self.length.min(part * self.size));
        // SAFETY: the items are those of the slice that was lent, and nobody else gets them.
        unsafe { std::slice::from_raw_parts_mut(self.items.add(from), to - from) }
    }
}
