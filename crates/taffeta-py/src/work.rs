//! Where work is done: on threads of our own, while Python runs on and Ctrl-C and cancels are heard.

use crate::errors::{Cancelled, refused};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

/// How often Ctrl-C and cancels are listened for.
const EAR: Duration = Duration::from_millis(50);

/// The threads of a process. A process that was forked off has none of its parent's, and makes its own.
#[derive(Clone)]
struct Threads {
    process: u32,
    asked: Option<usize>,
    pool: Arc<ThreadPool>,
    /// A pool of one thread for each of them, for simulations that are too small to share.
    lanes: Arc<Vec<ThreadPool>>,
}

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

impl Threads {
    fn new(asked: Option<usize>) -> PyResult<Self> {
        let count = asked.unwrap_or_else(|| available_parallelism().map_or(1, |n| n.get()));
        let pool = |threads: usize| {
            let made = ThreadPoolBuilder::new().num_threads(threads).build();
            made.map_err(|error| PyRuntimeError::new_err(format!("the system gives no threads: {error}")))
        };
        let lanes = (0..count).map(|_| pool(1)).collect::<PyResult<_>>()?;
        Ok(Self { process: process::id(), asked, pool: Arc::new(pool(count)?), lanes: Arc::new(lanes) })
    }
}

fn threads() -> PyResult<Threads> {
    let mut kept = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(threads) = kept.as_ref().filter(|threads| threads.process == process::id()) {
        return Ok(threads.clone());
    }
    let parents = kept.take();
    let made = Threads::new(parents.as_ref().and_then(|threads| threads.asked))?;
    // Threads that are not here cannot be ended.
    std::mem::forget(parents);
    Ok(kept.insert(made).clone())
}

/// Computes on so many threads from now on, in place of all cores. The result does not depend on it.
#[pyfunction]
#[pyo3(signature = (count=None))]
pub fn set_threads(count: Option<usize>) -> PyResult<()> {
    if count == Some(0) {
        return Err(refused(
            "threads = 0: somebody has to do the work; ask for 1 or more, or for None, which is all cores",
        ));
    }
    let made = Threads::new(count)?;
    *THREADS.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
    Ok(())
}

/// Does a job on all threads, which should end soon once it is told to stop.
pub fn on_all_threads<T: Send>(py: Python, job: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    until_cancelled(py, None, job)
}

/// The same, until `is_set()` of an event of Python is true.
pub fn until_cancelled<T: Send>(
    py: Python,
    event: Option<&Py<PyAny>>,
    job: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let heard = |py: Python| -> PyResult<()> {
        py.check_signals()?;
        match event {
            Some(event) if event.bind(py).call_method0("is_set")?.is_truthy()? => {
                Err(Cancelled::new_err("the step was cancelled"))
            }
            _ => Ok(()),
        }
    };
    let pool = threads()?.pool;
    let stop = &AtomicBool::new(false);
    py.detach(|| {
        let (mut done, mut interrupt) = (None, None);
        pool.in_place_scope(|scope| {
            let (tell, told) = sync_channel(1);
            let done = &mut done;
            scope.spawn(move |_| {
                *done = Some(job(stop));
                // Nobody hears it where a panic is on its way.
                let _ = tell.send(());
            });
            while told.recv_timeout(EAR) == Err(RecvTimeoutError::Timeout) {
                if let Err(raised) = Python::attach(heard) {
                    stop.store(true, Ordering::Relaxed);
                    interrupt = Some(raised);
                }
            }
        });
        match (interrupt, done) {
            (Some(raised), _) => Err(raised),
            (None, done) => done.ok_or_else(|| PyRuntimeError::new_err("the work was not done")),
        }
    })
}

/// Does `work(number, item)` for every item, each on one thread and as many at a time as there are threads. All are tried, unless Ctrl-C is heard.
pub fn on_one_thread_each<A: Send, T: Send>(
    py: Python,
    items: &mut [A],
    work: impl Fn(usize, &mut A, &AtomicBool) -> T + Sync,
) -> PyResult<Vec<T>> {
    let lanes = threads()?.lanes;
    on_all_threads(py, |stop| {
        let queue = Mutex::new(items.iter_mut().enumerate());
        let done = Mutex::new(Vec::new());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        rayon::scope(|scope| {
            for lane in lanes.iter() {
                scope.spawn(|_| {
                    lane.install(|| {
                        while let Some((number, item)) = next().filter(|_| !stop.load(Ordering::Relaxed)) {
                            let answer = work(number, item, stop);
                            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, answer));
                        }
                    });
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, answer)| answer).collect()
    })
}
