//! Threads that stay awake together while one of them leads through many short passes.
//!
//! The leader puts a pass on the board: how many jobs it has, and where its work is. Every member has jobs of its own, the same in all passes
//! with as many, so that what it needs is in its caches; whoever is through takes what is left of the others'. Nobody waits for a member that
//! has not come: a job that is not begun is done by another. Who finds nothing to do spins, then yields, then sleeps until the next pass.

use std::any::Any;
use std::hint::spin_loop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::yield_now;

/// What a pass does: `work(member, job)` for every job.
pub type Work<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// The most members, and the most jobs of a pass.
pub const MOST_MEMBERS: usize = 64;
const MOST_JOBS: usize = (1 << JOB_BITS) - 1;
/// Numbers of jobs stand in the lower bits of a word, the number of the pass above them.
const JOB_BITS: u32 = 16;
/// On the board when the leader is through.
const OVER: u64 = u64::MAX;
/// Looks at the board before a member yields, and before it sleeps.
const SPINS: u32 = 200;
const YIELDS: u32 = 2000;

/// A number that threads write has a cache line and its neighbour for itself.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// A leader, who is member 0, and others.
#[derive(Debug)]
pub struct Team {
    members: usize,
    /// The number of the pass under way, and how many jobs it has.
    board: Apart<AtomicU64>,
    /// Its work, as a pointer to a [`Work`] reference of the leader.
    work: AtomicPtr<()>,
    /// Its jobs that are not done.
    left: Apart<AtomicUsize>,
    /// Per member: the last pass in which one of its jobs was taken, and how many were.
    taken: [Apart<AtomicU64>; MOST_MEMBERS],
    sleeping: AtomicUsize,
    bed: Mutex<()>,
    morning: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Team {
    /// Room for so many, the leader among them.
    pub fn new(members: usize) -> Self {
        Self {
            members: members.clamp(1, MOST_MEMBERS),
            board: Apart::default(),
            work: AtomicPtr::new(ptr::null_mut()),
            left: Apart::default(),
            taken: std::array::from_fn(|_| Apart::default()),
            sleeping: AtomicUsize::new(0),
            bed: Mutex::new(()),
            morning: Condvar::new(),
            panic: Mutex::new(None),
        }
    }

    /// How many there are, the leader among them.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Does all jobs of a pass, and returns when they are done. Only one thread may lead, and not from within a job.
    ///
    /// # Panics
    /// With the panic of a job, when all others are done.
    pub fn lead(&self, jobs: usize, work: &Work<'_>) {
        assert!(jobs <= MOST_JOBS, "{jobs} jobs in a pass");
        let pass = (self.board.0.load(Ordering::Relaxed) >> JOB_BITS) + 1;
        let board = pass << JOB_BITS | jobs as u64;
        self.work.store(ptr::from_ref(&work).cast_mut().cast(), Ordering::Relaxed);
        self.left.0.store(jobs, Ordering::Relaxed);
        self.put_up(board);
        self.take_part(0, board);
        let mut looks = 0;
        while self.left.0.load(Ordering::Acquire) > 0 {
            looks += 1;
            if looks < SPINS { spin_loop() } else { yield_now() }
        }
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Sends all members home.
    pub fn end(&self) {
        self.put_up(OVER);
    }

    /// Whether the leader is through.
    pub fn is_over(&self) -> bool {
        self.board.0.load(Ordering::Relaxed) == OVER
    }

    fn put_up(&self, board: u64) {
        // Who goes to sleep counts first and then looks at the board; so one of both sees the other.
        self.board.0.store(board, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.morning.notify_all();
        }
    }

    /// Takes part in every pass until the leader is through; no two threads may be the same `member`.
    pub fn help(&self, member: usize) {
        let (mut last, mut looks) = (0, 0);
        loop {
            let board = self.board.0.load(Ordering::Acquire);
            if board == OVER {
                return;
            }
            if board != last {
                self.take_part(member, board);
                (last, looks) = (board, 0);
                continue;
            }
            looks += 1;
            match looks {
                ..SPINS => spin_loop(),
                SPINS..YIELDS => yield_now(),
                _ => {
                    self.sleep(board);
                    looks = 0;
                }
            }
        }
    }

    /// Until there is something else on the board.
    fn sleep(&self, board: u64) {
        let bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let same = |_: &mut ()| self.board.0.load(Ordering::SeqCst) == board;
        drop(self.morning.wait_while(bed, same).unwrap_or_else(PoisonError::into_inner));
        self.sleeping.fetch_sub(1, Ordering::Relaxed);
    }

    /// Does jobs of a pass until none is left: its own, then those of the members after it.
    fn take_part(&self, member: usize, board: u64) {
        for of in (member..self.members).chain(0..member) {
            let mut done = 0;
            while let Some(job) = self.take(of, board) {
                let work = self.work.load(Ordering::Relaxed).cast::<&Work<'_>>();
                // SAFETY: the leader has put up a reference that it holds until no job is left, and this one is not done. It is that of this pass: the board
                // was read after it was written, and it is written again when no job is left.
                let work = unsafe { *work };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(member, job))) {
                    self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                }
                done += 1;
            }
            // Who has done the last one lets the leader go on.
            if done > 0 && self.left.0.fetch_sub(done, Ordering::AcqRel) == done {
                break;
            }
        }
    }

    /// The next job of a member in a pass. None is taken twice: when a pass is over all of its jobs have been.
    fn take(&self, member: usize, board: u64) -> Option<usize> {
        let (pass, jobs) = (board >> JOB_BITS, board as usize & MOST_JOBS);
        let own = share(jobs, self.members, member);
        let taken = &self.taken[member].0;
        let mut seen = taken.load(Ordering::Relaxed);
        loop {
            let next = if seen >> JOB_BITS < pass { 0 } else { seen as usize & MOST_JOBS };
            if seen >> JOB_BITS > pass || next >= own.len() {
                return None;
            }
            let mine = pass << JOB_BITS | (next as u64 + 1);
            match taken.compare_exchange_weak(seen, mine, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(own.start + next),
                Err(now) => seen = now,
            }
        }
    }
}

/// Part `k` of `parts` of so many things in a row.
pub fn share(count: usize, parts: usize, k: usize) -> Range<usize> {
    count * k / parts..count * (k + 1) / parts
}
