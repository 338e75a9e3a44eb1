//! Work on threads: every task is done once, with what belongs to it alone, and a panic comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use taffeta::parallel::team::Team;
use taffeta::parallel::{self, Cut};

const THREADS: [usize; 3] = [1, 2, 7];
const LENGTHS: [usize; 7] = [0, 1, 2, 3, 64, 101, 1000];

/// Runs `work(length)` for several lengths on pools of several sizes, forked and as a team.
fn everywhere(work: impl Fn(usize) + Sync) {
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LENGTHS.into_iter().for_each(&work));
        pool.install(|| parallel::together(|| LENGTHS.into_iter().for_each(&work)));
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
        let cut = Cut::new(chunks.iter().map(|(range, _)| range.len()));
        let (mut a, mut b) = (vec![0; length], vec![0; length]);
        parallel::each_part(&mut chunks, &cut, &mut a, &mut b, |(range, times), a, b| {
            assert!(a.len() == range.len() && b.len() == range.len());
            range.clone().zip(a).zip(b).for_each(|((k, a), b)| (*a, *b) = (*a + k, *b + 2 * k));
            *times += 1;
        });
        assert!(chunks.iter().all(|(_, times)| *times == 1));
        assert!((0..length).all(|k| (a[k], b[k]) == (k, 2 * k)));
        parallel::each_part_alone(&cut, &mut a, |number, own| {
            own.iter_mut().zip(starts[number]..).for_each(|(a, k)| *a -= k);
        });
        assert!(a.iter().all(|a| *a == 0));
        // Every member counts in a scratch of its own.
        let mut scratch = vec![0; parallel::members()];
        parallel::each_part_with(&cut, &mut b, &mut scratch, |number, own, scratch| {
            own.iter_mut().zip(starts[number]..).for_each(|(b, k)| *b -= 2 * k);
            *scratch += own.len();
        });
        assert!(b.iter().all(|b| *b == 0));
        assert_eq!(scratch.into_iter().sum::<usize>(), length);
    });
}

#[test]
fn lists_that_do_not_fit_their_cut_are_refused() {
    let cut = Cut::new([2, 3].into_iter());
    let refused = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).is_err();
    let part = |items: usize, a: usize, b: usize| {
        parallel::each_part(&mut vec![(); items], &cut, &mut vec![0; a], &mut vec![0; b], |_, _, _| ());
    };
    assert!(!refused(&|| part(2, 5, 5)));
    assert!(refused(&|| part(1, 5, 5)) && refused(&|| part(2, 4, 5)) && refused(&|| part(2, 5, 6)));
    assert!(refused(&|| parallel::each_part_alone(&cut, &mut [0; 6], |_, _| ())));
    assert!(refused(&|| parallel::each_part_with(&cut, &mut [0; 4], &mut [0], |_, _, _| ())));
    assert!(refused(&|| parallel::each_part_with(&cut, &mut [0; 5], &mut [0; 0], |_, _, _| ())));
}

/// Leads a team of so many, all of them there, and sends it home.
fn led(members: usize, lead: impl FnOnce(&Team)) {
    struct Home<'a>(&'a Team);
    impl Drop for Home<'_> {
        fn drop(&mut self) {
            self.0.end();
        }
    }
    let team = Team::new(members);
    std::thread::scope(|scope| {
        let team = &team;
        (1..members).for_each(|member| _ = scope.spawn(move || team.help(member)));
        let _home = Home(team);
        lead(team);
    });
}

#[test]
fn every_job_of_every_pass_is_done_once_before_the_next() {
    for members in [1, 2, 5, 16] {
        led(members, |team| {
            let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            for pass in 0..if testing::long() { 20_000 } else { 500 } {
                let jobs = pass % 101;
                let before: Vec<usize> = counts.iter().map(|c| c.load(Ordering::Relaxed)).collect();
                team.lead(jobs, &|member, job| {
                    assert!(member < members);
                    counts[job].fetch_add(1, Ordering::Relaxed);
                });
                for (job, (count, before)) in counts.iter().zip(before).enumerate() {
                    assert_eq!(
                        count.load(Ordering::Relaxed),
                        before + usize::from(job < jobs),
                        "pass {pass}"
                    );
                }
                // Long enough for members to go to sleep, now and then.
                if pass % 100 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            }
        });
    }
}

#[test]
fn no_two_jobs_have_the_same_member_at_a_time() {
    led(4, |team| {
        let busy: Vec<AtomicBool> = (0..4).map(|_| AtomicBool::new(false)).collect();
        for _ in 0..200 {
            team.lead(16, &|member, _| {
                assert!(!busy[member].swap(true, Ordering::Acquire));
                std::hint::black_box((0..100).sum::<usize>());
                busy[member].store(false, Ordering::Release);
            });
        }
    });
}

#[test]
fn nobody_waits_for_members_that_do_not_come() {
    let (team, done) = (Team::new(8), AtomicUsize::new(0));
    team.lead(100, &|member, _| _ = done.fetch_add(1 + member, Ordering::Relaxed));
    assert_eq!(done.into_inner(), 100);
}

#[test]
fn what_is_parallel_in_a_job_of_a_team_is_done_there() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| {
        parallel::together(|| {
            let mut sums = vec![0; 50];
            parallel::each(&mut sums, 1, |k, sum| {
                let here = std::thread::current().id();
                let mut own = vec![k; 20];
                parallel::each(&mut own, 1, |_, own| {
                    assert_eq!(std::thread::current().id(), here);
                    *own += 1;
                });
                *sum = own.iter().sum::<usize>() + parallel::together(|| parallel::join(|| 1, || 2)).1;
            });
            assert!(sums.into_iter().enumerate().all(|(k, sum)| sum == 20 * (k + 1) + 2));
        });
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
