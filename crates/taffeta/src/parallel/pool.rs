//! The threads of the current pool: alone, as a team, or forked and joined.

use super::team::{Team, share};
use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Jobs for every thread, if there are tasks for so many: enough for all to end together, few enough to cost nothing.
const JOBS: usize = 4;

/// What a thread does with a pass.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// It asks the pool.
    Free,
    /// It leads a team, which lives as long as it does.
    Leader(*const Team),
    /// It does all on its own.
    Alone,
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Free) };
}

/// Gives a thread back the role it had.
struct Before(Role);

impl Before {
    /// What the thread was before it took a role.
    fn taking(role: Role) -> Self {
        Self(ROLE.replace(role))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        ROLE.set(self.0);
    }
}

/// Threads of the pool that have a processor.
fn threads() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = *PROCESSORS.get_or_init(|| available_parallelism().map_or(usize::MAX, usize::from));
    rayon::current_num_threads().min(processors)
}

/// Does some work with the threads of the pool as a team.
pub fn together<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if threads() < 2 || !matches!(ROLE.get(), Role::Free) {
        return work();
    }
    let team = Team::new(threads());
    let lead = || {
        let _before = Before::taking(Role::Leader(&raw const team));
        let _end = EndOf(&team);
        work()
    };
    rayon::join(lead, || recruit(&team, 1..team.members())).0
}

/// Sends members home, also if the leader panics.
struct EndOf<'a>(&'a Team);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Lets threads of the pool that have nothing else to do be members.
fn recruit(team: &Team, members: Range<usize>) {
    if members.is_empty() || team.is_over() {
        return;
    }
    if members.len() == 1 {
        let _before = Before::taking(Role::Alone);
        return team.help(members.start);
    }
    let middle = members.start + members.len() / 2;
    rayon::join(|| recruit(team, members.start..middle), || recruit(team, middle..members.end));
}

/// How many threads take part in a pass, at most.
pub fn members() -> usize {
    match ROLE.get() {
        Role::Free | Role::Alone => 1,
        // SAFETY: `together` takes the role back before its team ends.
        Role::Leader(team) => unsafe { (*team).members() },
    }
}

/// Both, side by side if a thread is free.
pub fn both<'a>(a: &'a mut (dyn FnMut() + Send), b: &'a mut (dyn FnMut() + Send)) {
    match ROLE.get() {
        Role::Free => _ = rayon::join(a, b),
        Role::Alone => {
            a();
            b();
        }
        Role::Leader(_) => super::each(&mut [a, b], 1, |_, half| half()),
    }
}

/// Cuts tasks into jobs of at least `least`, each with tasks in a row and every task in one, and does them all. `work` is told who does a job: a number below
/// [`members`], which no two threads have at a time, unless passes are forked.
pub fn run(tasks: usize, least: usize, work: &(dyn Fn(usize, Range<usize>) + Sync)) {
    let (most, threads) = (tasks / least.max(1), threads());
    match ROLE.get() {
        Role::Leader(team) if most > 1 => {
            // SAFETY: `together` takes the role back before its team ends.
            let team = unsafe { &*team };
            let jobs = most.min(JOBS * team.members());
            let _before = Before::taking(Role::Alone);
            team.lead(jobs, &|member, job| work(member, share(tasks, jobs, job)));
        }
        Role::Free if threads > 1 => halve(0..tasks, least.max(tasks / (JOBS * threads)), work),
        _ => work(0, 0..tasks),
    }
}

fn halve(tasks: Range<usize>, least: usize, work: &(dyn Fn(usize, Range<usize>) + Sync)) {
    if tasks.len() < 2 || tasks.len() / 2 < least {
        return work(0, tasks);
    }
    let middle = tasks.start + tasks.len() / 2;
    rayon::join(|| halve(tasks.start..middle, least, work), || halve(middle..tasks.end, least, work));
}
