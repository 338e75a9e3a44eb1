//! Makes every single write, cut and sync fail in turn: what was written before must survive.

use super::writer::Sink;
use super::*;
use sample::{folder, frames_and_states, header, steps};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../tests/files/recording/sample.rs"]
#[allow(dead_code)] // the tests beside it use the rest
mod sample;

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failure {
    /// Nothing is written.
    Nothing,
    /// Part of the block is written, then the disk is full.
    Short,
    /// All is written, yet an error is reported.
    All,
}

/// A file whose calls number `first` to `last` fail.
struct Faulty {
    file: File,
    calls: Arc<AtomicUsize>,
    first: usize,
    last: usize,
    failure: Failure,
}

impl Faulty {
    fn call(&mut self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        // 28 is ENOSPC.
        if (self.first..=self.last).contains(&call) { Err(io::Error::from_raw_os_error(28)) } else { Ok(()) }
    }
}

impl Sink for Faulty {
    fn append(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.call().or_else(|error| {
            let written = match self.failure {
                Failure::Nothing => 0,
                Failure::Short => bytes.len() / 2,
                Failure::All => bytes.len(),
            };
            self.file.append(offset, &bytes[..written])?;
            Err(error)
        })?;
        self.file.append(offset, bytes)
    }

    fn cut(&mut self, offset: u64) -> io::Result<()> {
        self.call()?;
        self.file.cut(offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.call()?;
        self.file.sync()
    }
}

fn file(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path).unwrap()
}

/// Runs the sample with failing calls `first..=last`; returns how many blocks were acknowledged, and the calls made.
///
/// A step that fails is tried again `retries` times.
fn run(path: &Path, (first, last): (usize, usize), failure: Failure, retries: usize) -> (usize, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let sink = Faulty { file: file(path), calls: calls.clone(), first, last, failure };
    let mut acknowledged = 0;
    if let Ok(mut writer) = Writer::begin(Box::new(sink), path, &header()) {
        acknowledged += 1;
        for step in steps() {
            let written = (0..=retries).any(|_| match step.write(&mut writer) {
                Ok(()) => true,
                Err(RecordingError::Io { offset, source, .. }) => {
                    assert_eq!((offset, source.kind()), (writer.end, io::ErrorKind::StorageFull));
                    false
                }
                Err(other) => panic!("{other}"),
            });
            if !written {
                return (acknowledged, calls.load(Ordering::Relaxed));
            }
            acknowledged += 1;
        }
        acknowledged += usize::from(writer.finish().is_ok());
    }
    (acknowledged, calls.load(Ordering::Relaxed))
}

/// Frames and states of the recording, all of which must be those of the sample.
fn whole(path: &Path) -> (usize, usize) {
    let (frames, states) = frames_and_states(&steps());
    let mut reader = Reader::open(path).unwrap();
    let mut frame = Frame::default();
    let mut count = 0;
    while reader.next_frame(&mut frame).unwrap() {
        assert_eq!(frame, frames[count]);
        count += 1;
    }
    let good = (0..reader.state_count()).filter(|i| {
        let state = reader.state(*i).unwrap();
        assert!(state.as_ref().is_none_or(|state| *state == states[*i]));
        state.is_some()
    });
    (count, good.count())
}

#[test]
fn whatever_call_fails_for_good_all_acknowledged_blocks_are_there() {
    let folder = folder();
    let path = folder.path().join("run");
    run(&path, (usize::MAX, usize::MAX), Failure::Nothing, 0);
    let want = std::fs::read(&path).unwrap();
    let blocks = steps().len() + 2;
    for failure in [Failure::Nothing, Failure::Short, Failure::All] {
        for first in 1.. {
            let (acknowledged, calls) = run(&path, (first, usize::MAX), failure, 0);
            if acknowledged == blocks {
                assert!(calls < first && first > 12, "the loop must have tried every call");
                break;
            }
            if acknowledged == 0 {
                // The header itself: a file that holds all of it is a recording, any other is none.
                assert!(Reader::open(&path).is_ok() == (failure == Failure::All));
                continue;
            }
            let (frames, states) = frames_and_states(&steps()[..acknowledged - 1]);
            let (read_frames, read_states) = whole(&path);
            assert!(read_frames >= frames.len() && read_states >= states.len());
            // A block may be there without having been acknowledged (its sync failed), but never more than one.
            assert!(read_frames + read_states <= acknowledged, "{failure:?} {first}");
            let mut writer = Writer::resume(&path).unwrap().writer;
            steps()[read_frames + read_states..].iter().for_each(|step| step.write(&mut writer).unwrap());
            writer.finish().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), want);
        }
    }
}

#[test]
fn after_a_passing_failure_the_same_steps_give_the_same_file() {
    let folder = folder();
    let (path, calm) = (folder.path().join("run"), folder.path().join("calm"));
    run(&calm, (usize::MAX, usize::MAX), Failure::Nothing, 0);
    let want = std::fs::read(&calm).unwrap();
    // The header is call 1; with two failures in a row the cut fails too, with three the next attempt's cut.
    for (failure, long) in
        [(Failure::Nothing, 0), (Failure::Short, 0), (Failure::Short, 1), (Failure::All, 2)]
    {
        let mut tried = 0;
        for first in 2.. {
            let (acknowledged, calls) = run(&path, (first, first + long), failure, 3);
            if calls < first {
                break;
            }
            // Finishing consumes the writer, so it cannot be tried again.
            if acknowledged == steps().len() + 2 {
                assert_eq!(std::fs::read(&path).unwrap(), want, "{failure:?} {first}");
                tried += 1;
            } else {
                assert_eq!(acknowledged, steps().len() + 1);
            }
        }
        assert!(tried >= steps().len());
    }
}

#[test]
fn a_block_that_fails_is_cut_off_at_once() {
    let folder = folder();
    let path = folder.path().join("run");
    let mut failed = 0;
    for first in 2.. {
        let (acknowledged, calls) = run(&path, (first, first), Failure::Short, 0);
        if calls < first {
            break;
        }
        let reader = Reader::open(&path).unwrap();
        assert_eq!((reader.damage(), reader.complete()), (None, false));
        assert_eq!(reader.frame_count() + reader.state_count(), acknowledged - 1);
        failed += 1;
    }
    // Eight steps and the end block, three of which are synced.
    assert_eq!(failed, 12);
}

#[test]
fn the_rest_of_a_long_block_does_not_stick_out_behind_a_short_one() {
    let folder = folder();
    let path = folder.path().join("run");
    // Call 1 is the header, 2 the state, 3 its cut.
    let calls = Arc::new(AtomicUsize::new(0));
    let sink = Faulty { file: file(&path), calls, first: 2, last: 3, failure: Failure::All };
    let mut writer = Writer::begin(Box::new(sink), &path, &header()).unwrap();
    assert!(writer.state(&sample::state(0)).is_err());
    writer.finish().unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!((reader.damage(), reader.complete(), reader.state_count()), (None, true, 0));
}

#[test]
fn a_full_device_is_an_error_like_any_other() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("SKIPPED: there is no /dev/full here");
        return;
    };
    let Err(RecordingError::Io { offset: 0, source, .. }) =
        Writer::begin(Box::new(full), "full".as_ref(), &header())
    else {
        panic!("a full device takes no header");
    };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn reading_many_frames_takes_no_more_memory_than_reading_two() {
    let folder = folder();
    let path = folder.path().join("run");
    let mut writer = Writer::create(&path, &header()).unwrap();
    (1..=500).for_each(|number| {
        // Larger than the header, and all of one size: no digits in the report.
        let (report, bodies) = (serde_json::Value::Null, vec![Pose::IDENTITY; 200]);
        writer.frame(&Frame { report, bodies, ..sample::frame(number, 16) }).unwrap();
    });
    let mut reader = Reader::open(&path).unwrap();
    let mut frame = Frame::default();
    let mut capacities = Vec::new();
    while reader.next_frame(&mut frame).unwrap() {
        capacities.push((reader.buffer_capacity(), frame.positions.capacity(), frame.bodies.capacity()));
    }
    assert_eq!(capacities.len(), 500);
    assert!(capacities.iter().all(|capacity| *capacity == capacities[0]));
    // The writer's buffer too is used again.
    assert!(writer.buffer.capacity() < 1 << 15);
}
