//! The folder of a sweep: the plan, one file for every result, recordings. A file is whole or not there; one sweep at a time.
//!
//! ```text
//! DIR/plan.json                  the plan
//! DIR/results/ab/ab12….json      a result by its address
//! DIR/recordings/ab12….taffeta   its recording
//! DIR/samples/ab12…/             arrays of its frames
//! DIR/table.parquet              a row for every run; the same bytes from equal sweeps
//! DIR/times.parquet              what the runs took
//! ```

use crate::FleetError;
use crate::job::{Job, RunResult};
use crate::plan::{Address, Plan};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use taffeta_io::replacement::Replacement;

/// What recordings and samples end in while they are written.
const PART: &str = "part";

/// The folder of a sweep, locked against other sweeps until this is dropped.
pub struct Store {
    path: PathBuf,
    lock: File,
}

impl Drop for Store {
    fn drop(&mut self) {
        // A worker that is just being started has the same handle, and would keep the lock for a moment.
        let _ = self.lock.unlock();
    }
}

impl Store {
    /// Opens a folder for a plan. With another plan in it, or with results and without `resume`, it is refused.
    pub fn open(path: &Path, plan: &Plan, resume: bool) -> Result<Self, FleetError> {
        let store = Self::lock(path)?;
        let file = path.join("plan.json");
        let text = serde_json::to_string(&plan.portable())
            .map_err(|error| FleetError::io(&file, "writing the plan")(error.into()))?;
        match fs::read_to_string(&file) {
            Ok(there) if there == text && resume => {}
            Ok(there) if there == text => {
                return Err(FleetError::asked(
                    path,
                    "this sweep was begun here",
                    "go on with --resume, or name another folder with --out",
                ));
            }
            Ok(_) => {
                let remedy = "name another folder with --out; a sweep goes on only with the same file, scene and version of the program";
                return Err(FleetError::asked(path, "another sweep lies in this folder", remedy));
            }
            Err(_) => Replacement::write(&file, &text).map_err(FleetError::io(&file, "writing the plan"))?,
        }
        store.clean();
        Ok(store)
    }

    /// Makes the folder if need be, and locks it. The lock is the system's: it ends with the process, however that ends.
    fn lock(path: &Path) -> Result<Self, FleetError> {
        fs::create_dir_all(path.join("results")).map_err(FleetError::io(path, "making the folder"))?;
        let file = path.join(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&file);
        let lock = lock.map_err(FleetError::io(&file, "opening the lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.into(), lock }),
            Err(TryLockError::WouldBlock) => {
                let remedy = "wait for it, or name another folder with --out";
                Err(FleetError::asked(path, "another sweep is writing to this folder", remedy))
            }
            Err(TryLockError::Error(source)) => Err(FleetError::io(file, "locking")(source)),
        }
    }

    /// The folder of a sweep that was begun, and its plan.
    pub fn reopen(path: &Path) -> Result<(Self, Plan), FleetError> {
        let plan = plan_of(path)?;
        Ok((Self::lock(path)?, plan))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes away what earlier workers left half done.
    fn clean(&self) {
        for folder in ["recordings", "samples"] {
            for entry in fs::read_dir(self.path.join(folder)).into_iter().flatten().flatten() {
                if entry.path().extension().is_some_and(|ending| ending == PART) {
                    let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
                }
            }
        }
    }

    /// A run with the places for what it leaves.
    pub fn place(&self, plan: &Plan, mut job: Job) -> Result<Job, FleetError> {
        let part = |folder: &str| {
            let folder = self.path.join(folder);
            fs::create_dir_all(&folder).map_err(FleetError::io(&folder, "making the folder"))?;
            let place = folder.join(format!("{}.{PART}", job.address));
            Ok::<_, FleetError>(std::path::absolute(&place).unwrap_or(place))
        };
        job.recording = plan.record.then(|| part("recordings")).transpose()?;
        job.samples = plan.samples.then(|| part("samples")).transpose()?;
        Ok(job)
    }

    /// Keeps a result: what the worker has left comes first, so that a result has all that belongs to it.
    pub fn keep(&self, plan: &Plan, result: &RunResult) -> Result<(), FleetError> {
        let done = result.outcome.status() == "done";
        for (wanted, folder, place) in [
            (plan.record, "recordings", recording(&self.path, &result.address)),
            (plan.samples, "samples", samples(&self.path, &result.address)),
        ] {
            let part = self.path.join(folder).join(format!("{}.{PART}", result.address));
            if wanted && done {
                let _ = fs::remove_dir_all(&place);
                fs::rename(&part, &place).map_err(FleetError::io(&place, "putting it in place"))?;
            } else if wanted {
                let _ = fs::remove_file(&part).or_else(|_| fs::remove_dir_all(&part));
            }
        }
        self.put(result)
    }

    fn put(&self, result: &RunResult) -> Result<(), FleetError> {
        let file = place(&self.path, &result.address);
        let folder = file.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(FleetError::io(folder, "making the folder"))?;
        let text =
            serde_json::to_string(result).map_err(|error| FleetError::io(&file, "writing")(error.into()))?;
        Replacement::write(&file, &text).map_err(FleetError::io(file, "writing the result"))
    }

    /// The result at an address, if it is there and whole, with all that belongs to it.
    pub fn result(&self, plan: &Plan, address: &Address) -> Option<RunResult> {
        result(&self.path, plan, address)
    }

    /// Takes over the results of another folder; how many were new.
    pub fn take_over(&self, plan: &Plan, other: &Path) -> Result<usize, FleetError> {
        let mut taken = 0;
        for run in 0..plan.runs() {
            let address = plan.address(run);
            let Some(found) = result(other, plan, &address) else { continue };
            if self
                .result(plan, &address)
                .is_some_and(|own| own.outcome.is_final() || !found.outcome.is_final())
            {
                continue;
            }
            if found.outcome.status() == "done" {
                for (wanted, from, to) in [
                    (plan.record, recording(other, &address), recording(&self.path, &address)),
                    (plan.samples, samples(other, &address), samples(&self.path, &address)),
                ] {
                    if wanted {
                        copy(&from, &to).map_err(FleetError::io(to, "copying"))?;
                    }
                }
            }
            self.put(&found)?;
            taken += 1;
        }
        Ok(taken)
    }
}

/// The plan of the sweep that lies in a folder.
pub fn plan_of(path: &Path) -> Result<Plan, FleetError> {
    let file = path.join("plan.json");
    let remedy = "name the folder of a sweep";
    let text =
        fs::read_to_string(&file).map_err(|error| FleetError::asked(&file, error.to_string(), remedy))?;
    serde_json::from_str(&text).map_err(|error| FleetError::asked(&file, error.to_string(), remedy))
}

/// The result at an address in a folder, if it is there and whole, with all that belongs to it.
pub fn result(folder: &Path, plan: &Plan, address: &Address) -> Option<RunResult> {
    let text = fs::read_to_string(place(folder, address)).ok()?;
    let result: RunResult = serde_json::from_str(&text).ok()?;
    let done = result.outcome.status() == "done";
    let whole = (!done || !plan.record || recording(folder, address).is_file())
        && (!done || !plan.samples || samples(folder, address).is_dir());
    (result.address == *address && whole).then_some(result)
}

/// Where the recording of a run lies.
pub fn recording(folder: &Path, address: &Address) -> PathBuf {
    folder.join("recordings").join(format!("{address}.taffeta"))
}

/// Where the arrays of the frames of a run lie.
pub fn samples(folder: &Path, address: &Address) -> PathBuf {
    folder.join("samples").join(address.as_str())
}

fn place(folder: &Path, address: &Address) -> PathBuf {
    let group = address.as_str().get(..2).unwrap_or_default();
    folder.join("results").join(group).join(format!("{address}.json"))
}

/// Copies a file, or a folder of files.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))
    })
}
