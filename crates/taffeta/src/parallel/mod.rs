//! Work on all threads of the current pool; nothing else in the engine knows of one.
//!
//! Callers cut work into tasks that share nothing they write, and threads only decide who does a task: their number changes no bit. Within
//! [`together`] the threads of the pool are a [`team`] that stays awake from pass to pass; elsewhere every pass is forked and joined. Tasks of a
//! pass of a team do what is parallel in them on their own thread. Without the feature `parallel` all runs on the calling thread.

#[cfg(feature = "parallel")]
mod pool;
#[cfg(feature = "parallel")]
pub mod team;

use std::marker::PhantomData;
use std::ops::Range;

#[cfg(not(feature = "parallel"))]
mod pool {
    use std::ops::Range;

    /// Does some work on this thread.
    pub fn together<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// One thread.
    pub fn members() -> usize {
        1
    }

    pub fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        a();
        b();
    }

    pub fn run(tasks: usize, _: usize, work: &(dyn Fn(usize, Range<usize>) + Sync)) {
        work(0, 0..tasks);
    }
}

pub use pool::{members, together};

/// The answers of both, which run side by side if a thread is free.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    pool::both(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    of_a.zip(of_b).expect("both have run")
}

/// Runs `work(number, item)` for every item, at least `least` of them in a row.
pub fn each<A: Send>(items: &mut [A], least: usize, work: impl Fn(usize, &mut A) + Sync) {
    let (tasks, items) = (items.len(), Disjoint::new(items, 1));
    pool::run(tasks, least, &|_, job| {
        // SAFETY: no task is in two jobs.
        for (k, item) in job.clone().zip(unsafe { items.of(&job) }) {
            work(k, item);
        }
    });
}

/// Runs `work(number, item, its fellow)` for every item and as many `fellows`, at least `least` of them in a row.
pub fn each_two<A: Send, B: Send>(
    items: &mut [A],
    fellows: &mut [B],
    least: usize,
    work: impl Fn(usize, &mut A, &mut B) + Sync,
) {
    let tasks = items.len();
    assert_eq!(tasks, fellows.len(), "a fellow for every item");
    let (items, fellows) = (Disjoint::new(items, 1), Disjoint::new(fellows, 1));
    pool::run(tasks, least, &|_, job| {
        // SAFETY: no task is in two jobs.
        let (items, fellows) = unsafe { (items.of(&job), fellows.of(&job)) };
        for ((k, item), fellow) in job.zip(items).zip(fellows) {
            work(k, item, fellow);
        }
    });
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
    let tasks = fellows.len();
    let (parts, fellows) = (Disjoint::new(items, size), Disjoint::new(fellows, 1));
    assert_eq!(parts.count(), tasks, "a fellow for every part");
    pool::run(tasks, 1, &|_, job| {
        // SAFETY: no task is in two jobs.
        let (items, fellows) = unsafe { (parts.of(&job), fellows.of(&job)) };
        for ((k, part), fellow) in job.zip(items.chunks_mut(parts.size)).zip(fellows) {
            work(k, part, fellow);
        }
    });
}

/// The chunk of what is only read that goes with chunk `number` of the same `size`; nothing beyond the end.
#[inline]
pub fn chunk<T>(items: &[T], size: usize, number: usize) -> &[T] {
    items.chunks(size).nth(number).unwrap_or_default()
}

/// A list cut into parts in a row.
#[derive(Debug, Clone, Default)]
pub struct Cut {
    /// Where every part ends.
    ends: Vec<usize>,
}

impl Cut {
    /// Into parts of these lengths.
    pub fn new(lengths: impl Iterator<Item = usize>) -> Self {
        let mut cut = Self::default();
        cut.renew(lengths);
        cut
    }

    /// Into other parts.
    pub fn renew(&mut self, lengths: impl Iterator<Item = usize>) {
        self.ends.clear();
        self.ends.extend(lengths.scan(0_usize, |end, length| {
            *end = end.checked_add(length).expect("a list has an end");
            Some(*end)
        }));
    }

    fn parts(&self) -> usize {
        self.ends.len()
    }

    fn length(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn part(&self, number: usize) -> Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }
}

/// Runs `work(item, own part of a, own part of b)` for every item and its part of both lists.
///
/// # Panics
/// If there is no item for every part, or a list has another length.
pub fn each_part<C: Send, T: Send>(
    items: &mut [C],
    cut: &Cut,
    a: &mut [T],
    b: &mut [T],
    work: impl Fn(&mut C, &mut [T], &mut [T]) + Sync,
) {
    assert!(cut.parts() == items.len(), "an item for every part");
    assert!([a.len(), b.len()] == [cut.length(); 2], "lists as long as their cut");
    let (items, a, b) = (Disjoint::new(items, 1), Disjoint::new(a, 1), Disjoint::new(b, 1));
    pool::run(cut.parts(), 1, &|_, job| {
        // SAFETY: no part is in two jobs.
        let items = unsafe { items.of(&job) };
        for (number, item) in job.zip(items) {
            // SAFETY: as above, and parts of a cut are in a row.
            let (a, b) = unsafe { (a.of(&cut.part(number)), b.of(&cut.part(number))) };
            work(item, a, b);
        }
    });
}

/// Runs `work(number, own part)` for every part of a list.
///
/// # Panics
/// If the list has another length.
pub fn each_part_alone<A: Send>(cut: &Cut, items: &mut [A], work: impl Fn(usize, &mut [A]) + Sync) {
    assert_eq!(items.len(), cut.length(), "a list as long as its cut");
    let items = Disjoint::new(items, 1);
    pool::run(cut.parts(), 1, &|_, job| {
        for number in job {
            // SAFETY: no part is in two jobs, and parts of a cut are in a row.
            work(number, unsafe { items.of(&cut.part(number)) });
        }
    });
}

/// Runs `work(number, own part, scratch)` for every part of a list, as a team if there is scratch for all [`members`]: no two threads have the same. Else on this
/// thread.
///
/// # Panics
/// If the list has another length, or there is no scratch.
pub fn each_part_with<A: Send, S: Send>(
    cut: &Cut,
    items: &mut [A],
    scratch: &mut [S],
    work: impl Fn(usize, &mut [A], &mut S) + Sync,
) {
    assert_eq!(items.len(), cut.length(), "a list as long as its cut");
    let (items, many) = (Disjoint::new(items, 1), (2..=scratch.len()).contains(&members()));
    let scratch = Disjoint::new(scratch, 1);
    let work = |member: usize, job: Range<usize>| {
        // SAFETY: no two threads are the same member at a time.
        let scratch = unsafe { &mut scratch.of(&(member..member + 1))[0] };
        for number in job {
            // SAFETY: no part is in two jobs, and parts of a cut are in a row.
            work(number, unsafe { items.of(&cut.part(number)) }, scratch);
        }
    };
    if many { pool::run(cut.parts(), 1, &work) } else { work(0, 0..cut.parts()) }
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
