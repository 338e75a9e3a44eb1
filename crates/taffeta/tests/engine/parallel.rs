//! Work on threads: every task is done once, with what belongs to it alone, and a panic comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use taffeta::parallel;

const THREADS: [usize; 3] = [1, 2, 7];
const LENGTHS: [usize; 7] = [0, 1, 2, 3, 64, 101, 1000];

/// Runs `work(length)` for several lengths on pools of several sizes.
fn everywhere(work: impl Fn(usize) + Sync) {
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LENGTHS.into_iter().for_each(&work));
    }
}

#[test]
fn every_item_is_worked_on_once_and_under_its_number() {
    everywhere(|length| {
        for least in [1, 3, 64, 5000] {
            let (mut a, mut b) = (vec![0; length], vec![0; length]);
            let numbers: Vec<usize> = (1..=length).collect();
            parallel::each(&mut a, least, |k, a| *a += k + 1);
            assert_eq!(a, numbers);
            parallel::each_two(&mut a, &mut b, least, |k, a, b| (*a, *b) = (*a + 1, *b + *a + k));
            assert!(numbers.iter().zip(a).zip(b).all(|((n, a), b)| (a, b) == (n + 1, 2 * n - 1)));
        }
    });
}

#[test]
fn every_chunk_is_worked_on_once_and_under_its_number() {
    everywhere(|length| {
        let read: Vec<usize> = (0..length).collect();
        for size in [1, 2, 7, 100, 3000] {
            let (mut items, mut lengths) = (vec![0; length], vec![0; length.div_ceil(size)]);
            parallel::each_chunk(&mut items, size, |c, own| {
                let same = parallel::chunk(&read, size, c);
                assert_eq!(own.len(), same.len());
                own.iter_mut().zip(same).for_each(|(own, same)| *own += same + c);
            });
            let found = items.iter().enumerate().all(|(k, item)| *item == k + k / size);
            assert!(found, "{length} items by {size}: {items:?}");
            parallel::each_chunk_with(&mut items, size, &mut lengths, |c, own, length| {
                own.iter_mut().for_each(|own| *own -= c);
                *length += own.len();
            });
            assert_eq!(items, read);
            assert_eq!(lengths, read.chunks(size).map(<[_]>::len).collect::<Vec<_>>());
        }
        assert!(parallel::chunk(&read, 7, length).is_empty());
    });
}

#[test]
fn chunks_of_their_own_lengths_are_worked_on_once() {
    everywhere(|length| {
        // Of 1, 2, 3 … items, and the rest.
        let starts: Vec<usize> = (0..).map(|k| k * (k + 1) / 2).take_while(|start| *start < length).collect();
        let end_of = |k: usize| starts.get(k + 1).copied().unwrap_or(length);
        let mut chunks: Vec<_> = (0..starts.len()).map(|k| (starts[k]..end_of(k), 0)).collect();
        let (mut a, mut b) = (vec![0; length], vec![0; length]);
        parallel::for_each_chunk(
            &mut chunks,
            |c| c.0.clone(),
            &mut a,
            &mut b,
            |(range, times), a, b| {
                assert!(a.len() == range.len() && b.len() == range.len());
                range.clone().zip(a).zip(b).for_each(|((k, a), b)| (*a, *b) = (*a + k, *b + 2 * k));
                *times += 1;
            },
        );
        assert!(chunks.iter().all(|(_, times)| *times == 1));
        assert!((0..length).all(|k| (a[k], b[k]) == (k, 2 * k)));
    });
}

#[test]
fn both_answers_of_a_join_come_back() {
    fn sum(of: &[usize]) -> usize {
        let (left, right) = of.split_at(of.len() / 2);
        if left.is_empty() {
            return of.iter().sum();
        }
        let (left, right) = parallel::join(|| sum(left), || sum(right));
        left + right
    }
    everywhere(|length| {
        let numbers: Vec<usize> = (0..length).collect();
        assert_eq!(sum(&numbers), length * length.saturating_sub(1) / 2);
    });
}

#[test]
#[should_panic(expected = "a fellow for every part")]
fn chunks_without_a_fellow_are_refused() {
    parallel::each_chunk_with(&mut [0; 5], 2, &mut [0; 2], |_, _, _| ());
}

#[test]
fn a_panic_reaches_the_caller_and_items_are_dropped_once() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let told = |work: &dyn Fn()| -> &'static str {
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("a panic");
        panic.downcast_ref::<&str>().expect("its words")
    };
    everywhere(|length| {
        let dropped = AtomicUsize::new(0);
        let fail = || {
            let mut items: Vec<_> = (0..length.max(1)).map(|_| Counted(&dropped)).collect();
            let last = items.len() - 1;
            parallel::each(&mut items, 1, |k, _| {
                if k == last {
                    panic!("of a task")
                }
            });
        };
        assert_eq!(told(&fail), "of a task");
        assert_eq!(dropped.into_inner(), length.max(1));
        assert_eq!(told(&|| _ = parallel::join(|| length, || -> usize { panic!("of a half") })), "of a half");
    });
}
