//! The pool: processes of the same program, each of which carries out one run after the other.

use crate::FleetError;
use crate::job::{Job, Outcome, RunResult, RunTime};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a run is begun before it counts as lost.
const ATTEMPTS: u32 = 3;
/// Time between two looks at whether the user wants an end.
const PAUSE: Duration = Duration::from_millis(50);

/// Processes that carry out runs.
pub struct Pool {
    /// How many of them.
    pub workers: usize,
    /// What starts one.
    pub command: Vec<OsString>,
    /// What all of them together may hold [bytes], where that is known.
    pub memory: Option<u64>,
}

/// What happens in a pool.
pub enum Event {
    /// A run was begun.
    Begun,
    /// A run has ended.
    Ended(RunResult),
}

impl Pool {
    /// The command that starts this very program as a worker. Inside the package for Python, which tells its interpreter by
    /// `TAFFETA_PYTHON`, that is a module.
    pub fn own_command() -> Vec<OsString> {
        let mut command = match std::env::var_os("TAFFETA_PYTHON") {
            Some(python) => vec![python, "-m".into(), "taffeta".into()],
            None => {
                vec![std::env::current_exe().map_or_else(|_| "taffeta".into(), |path| path.into_os_string())]
            }
        };
        command.extend(["sweep".into(), "work".into()]);
        command
    }

    /// Carries out all jobs, in no order. `take` hears what happens, on this thread; its error ends everything, and so does `ended`: the
    /// processes are killed, and runs under way have no result.
    pub fn carry_out(
        &self,
        jobs: impl Iterator<Item = Result<Job, FleetError>> + Send,
        ended: &dyn Fn() -> bool,
        take: &mut dyn FnMut(Event) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let share = self.memory.map(|all| all / self.workers.max(1) as u64);
        let mut large = Vec::new();
        let jobs = jobs.map(|job| job.map(|job| Job { memory: share, ..job }));
        self.round(self.workers, jobs, ended, &mut |event, job| match (event, job) {
            (Event::Ended(result), Some(job))
                if matches!(result.outcome, Outcome::TooLarge { .. }) && self.workers > 1 =>
            {
                large.push(Ok(Job { memory: self.memory, ..job }));
                Ok(())
            }
            (event, _) => take(event),
        })?;
        if large.is_empty() || ended() {
            return Ok(());
        }
        self.round(1, large.into_iter(), ended, &mut |event, _| match event {
            // It was begun before.
            Event::Begun => Ok(()),
            event => take(event),
        })
    }

    fn round(
        &self,
        workers: usize,
        jobs: impl Iterator<Item = Result<Job, FleetError>> + Send,
        ended: &dyn Fn() -> bool,
        take: &mut dyn FnMut(Event, Option<Job>) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let queue = Mutex::new(jobs);
        let stop = AtomicBool::new(false);
        let children: Vec<Mutex<Option<Child>>> = (0..workers).map(|_| Mutex::new(None)).collect();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for child in &children {
                let (sender, queue, stop) = (sender.clone(), &queue, &stop);
                scope.spawn(move || self.serve(child, queue, stop, &sender));
            }
            drop(sender);
            let outcome = loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(Ok((event, job))) => match take(event, job) {
                        Ok(()) => {}
                        Err(error) => break Err(error),
                    },
                    Ok(Err(error)) => break Err(error),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break Ok(()),
                }
                if ended() {
                    break Ok(());
                }
            };
            stop.store(true, Ordering::Relaxed);
            for child in &children {
                if let Some(child) = child.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
            outcome
        })
    }

    /// One worker's share: job after job, a new process where one has died.
    fn serve(
        &self,
        slot: &Mutex<Option<Child>>,
        queue: &Mutex<impl Iterator<Item = Result<Job, FleetError>>>,
        stop: &AtomicBool,
        sender: &Sender<Result<(Event, Option<Job>), FleetError>>,
    ) {
        let mut pipes = None;
        while !stop.load(Ordering::Relaxed) {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let job = match next {
                None => break,
                Some(Ok(job)) => job,
                Some(Err(error)) => {
                    let _ = sender.send(Err(error));
                    break;
                }
            };
            let _ = sender.send(Ok((Event::Begun, None)));
            let mut reason = String::new();
            let mut attempts = 0;
            let result = loop {
                if attempts == ATTEMPTS {
                    let outcome = Outcome::Lost { reason: format!("{reason}; tried {ATTEMPTS} times") };
                    let took = RunTime { attempts, ..RunTime::default() };
                    break Some(RunResult { address: job.address.clone(), outcome, took });
                }
                attempts += 1;
                if stop.load(Ordering::Relaxed) {
                    break None;
                }
                let ready = match pipes.take() {
                    Some(ready) => Ok(ready),
                    None => self.start(slot, stop),
                };
                match ready {
                    Err(error) => reason = format!("a process could not be started: {error}"),
                    Ok((mut input, mut output)) => match exchange(&mut input, &mut output, &job) {
                        Some(mut result) => {
                            result.took.attempts = attempts;
                            pipes = Some((input, output));
                            break Some(result);
                        }
                        None => reason = died(slot),
                    },
                }
            };
            if let Some(result) = result {
                let _ = sender.send(Ok((Event::Ended(result), Some(job))));
            }
        }
        // A worker whose input ends has nothing left to do.
        drop(pipes);
        if let Some(mut child) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = child.wait();
        }
    }

    fn start(
        &self,
        slot: &Mutex<Option<Child>>,
        stop: &AtomicBool,
    ) -> std::io::Result<(ChildStdin, BufReader<ChildStdout>)> {
        let (program, words) = self.command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C is for the pool, which then ends its workers.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Under the lock, so that whoever ends all processes finds this one too.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.load(Ordering::Relaxed) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        *slot = Some(child);
        pipes
            .map(|(input, output)| (input, BufReader::new(output)))
            .ok_or(std::io::ErrorKind::BrokenPipe.into())
    }
}

/// Hands over a job and waits for its result; nothing where the worker has died.
fn exchange(input: &mut ChildStdin, output: &mut BufReader<ChildStdout>, job: &Job) -> Option<RunResult> {
    let mut line = serde_json::to_string(job).ok()?;
    line.push('\n');
    input.write_all(line.as_bytes()).ok()?;
    input.flush().ok()?;
    line.clear();
    output.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok().filter(|result: &RunResult| result.address == job.address)
}

/// How the process in a slot has ended, in words.
fn died(slot: &Mutex<Option<Child>>) -> String {
    let child = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let status = child.and_then(|mut child| {
        let _ = child.kill();
        child.wait().ok()
    });
    match status {
        Some(status) => format!("its process ended: {}", in_words(status)),
        None => "its process has gone".into(),
    }
}

fn in_words(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            9 => "killed (signal 9), as the system does when memory is short".into(),
            signal => format!("signal {signal}"),
        };
    }
    format!("exit code {}", status.code().unwrap_or(-1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::plan::{Plan, SceneText};
    use std::collections::HashSet;
    use std::path::PathBuf;

    /// A worker that finds its share of 100 too small. What it may hold and who it is, is its reason.
    const WORKER: &str = r#"while read -r line; do
        address=$(printf '%s' "$line" | sed 's/.*"address":"\([0-9a-f]*\)".*/\1/')
        memory=$(printf '%s' "$line" | sed 's/.*"memory":\([0-9]*\).*/\1/')
        if [ "$memory" = 100 ]; then status=too-large; else status=refused; fi
        printf '{"address":"%s","outcome":{"status":"%s","reason":"%s of %s"},"took":{"wall_ms":0,"cpu_ms":0,"attempts":1}}\n' "$address" $status $$ $memory
    done"#;

    fn reasons(workers: usize, memory: u64) -> Vec<String> {
        let scene = |k: u32| SceneText {
            name: "it".into(),
            text: format!(
                "seed = {k}\n[[cloth]]\nsheet = {{ width = 1, height = 1, columns = 4, rows = 4 }}"
            ),
            folder: PathBuf::new(),
        };
        let job = |k: u32| Ok(Plan::new(scene(k), Vec::new(), Vec::new(), Vec::new(), false)?.job(0));
        let command = ["sh", "-c", WORKER].map(OsString::from).to_vec();
        let pool = Pool { workers, command, memory: Some(memory) };
        let mut reasons = Vec::new();
        pool.carry_out((0..6).map(job), &|| false, &mut |event| {
            if let Event::Ended(result) = event {
                reasons.push(format!("{} {}", result.outcome.status(), result.outcome.reason().unwrap()));
            }
            Ok(())
        })
        .unwrap();
        reasons
    }

    #[test]
    fn what_is_too_large_for_its_share_runs_alone_with_all_memory() {
        let alone = reasons(4, 400);
        assert!(
            alone.len() == 6 && alone.iter().all(|r| r.starts_with("refused") && r.ends_with("of 400")),
            "{alone:?}"
        );
        assert_eq!(alone.iter().collect::<HashSet<_>>().len(), 1, "one process after the others: {alone:?}");
        // What has all memory already and is too large stays so.
        let large = reasons(1, 100);
        assert!(large.len() == 6 && large.iter().all(|r| r.starts_with("too-large")), "{large:?}");
    }
}
