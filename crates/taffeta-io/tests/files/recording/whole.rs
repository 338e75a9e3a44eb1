//! Recordings that nothing bad happens to: what goes in comes out, once, in order, to whoever may have it.

use super::sample::{folder, frame, frames_and_states, header, recorded, state, steps};
use serde_json::json;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use taffeta::math::{DVec3, random::Random};
use taffeta_io::recording::{Fault, Frame, Header, Reader, RecordingError, Writer};

fn all_frames(reader: &mut Reader) -> Vec<Frame> {
    let (mut frame, mut frames) = (Frame::default(), Vec::new());
    while reader.next_frame(&mut frame).unwrap() {
        frames.push(frame.clone());
    }
    frames
}

#[test]
fn what_goes_in_comes_out() {
    let folder = folder();
    let path = folder.path().join("run");
    std::fs::write(&path, recorded()).unwrap();
    let (frames, states) = frames_and_states(&steps());
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(*reader.header(), header());
    assert_eq!((reader.frame_count(), reader.state_count()), (6, 2));
    assert_eq!((reader.complete(), reader.damage()), (true, None));
    assert_eq!(all_frames(&mut reader), frames);
    assert_eq!(reader.state(0).unwrap().as_ref(), Some(&states[0]));
    assert_eq!(reader.last_state().unwrap().as_ref(), Some(&states[1]));
    assert_eq!(reader.state(2).unwrap(), None);
    // Any frame in any order is what streaming gives.
    let mut one = Frame::default();
    for k in [5, 0, 3, 3, 1, 4, 2] {
        reader.seek(k).unwrap();
        assert!(reader.next_frame(&mut one).unwrap());
        assert_eq!(one, frames[k]);
        let state = reader.state_for(k).unwrap().unwrap();
        assert_eq!(state.frame, if frames[k].number < 3 { 0 } else { 3 });
    }
    reader.seek(6).unwrap();
    assert!(!reader.next_frame(&mut one).unwrap());
    assert!(matches!(reader.seek(7), Err(RecordingError::NoSuchFrame { index: 7, count: 6, .. })));
    assert_eq!(reader.damage(), None);
}

#[test]
fn bytes_of_version_one_never_change() {
    let bytes = recorded();
    assert_eq!((bytes.len(), xxhash_rust::xxh3::xxh3_64(&bytes)), (4608, 10265909998166694589));
}

#[test]
fn positions_are_off_by_half_a_unit_in_the_last_place_of_single_precision() {
    let mut random = Random::new(3);
    let mut frame = Frame::default();
    for scale in [1e-6, 1.0, 1e6] {
        let far = DVec3::new(1000.0, -5.0, 0.0);
        let extent = scale * DVec3::new(1.0, 2.0, 0.25);
        let mut unit = || DVec3::from(std::array::from_fn(|_| random.between(-0.5, 0.5)));
        let absolute: Vec<DVec3> = (0..1000).map(|_| far + extent * unit()).collect();
        frame.set_positions(&absolute);
        let mut worst = 0.0f64;
        for (before, after) in absolute.iter().zip(frame.absolute()) {
            // Double precision of the coordinates themselves comes on top.
            let bound = extent / f64::from(1 << 25) + (far.abs() + extent) * f64::EPSILON;
            let error = (*before - after).abs();
            assert!(error.cmple(bound).all(), "{error} against {bound}");
            worst = worst.max((error / bound).max_element());
        }
        assert!(worst > 0.4, "the bound must be one that is nearly reached: {worst}");
    }
}

#[test]
fn positions_of_a_failed_run_survive() {
    let folder = folder();
    let path = folder.path().join("run");
    let mut wild: Vec<DVec3> = vec![DVec3::ONE; 16];
    wild[3] = DVec3::new(f64::NAN, 0.0, f64::INFINITY);
    wild[4] = DVec3::new(1e300, -1e300, f64::MAX);
    let mut frame = frame(1, 16);
    frame.set_positions(&wild);
    assert!(frame.centre.is_finite());
    let mut writer = Writer::create(&path, &header()).unwrap();
    writer.frame(&frame).unwrap();
    frame.set_positions(&[DVec3::NAN; 16]);
    assert_eq!(frame.centre, DVec3::ZERO);
    (frame.number, frame.time) = (2, 2.0);
    writer.frame(&frame).unwrap();
    let frames = all_frames(&mut Reader::open(&path).unwrap());
    let read: Vec<DVec3> = frames[0].absolute().collect();
    assert!(read[3].x.is_nan() && read[3].z == f64::INFINITY && read[4].y == f64::NEG_INFINITY);
    assert!(frames[1].absolute().all(|p| p.is_nan_mask().all()));
}

#[test]
fn reports_keep_every_bit_of_their_numbers() {
    let folder = folder();
    let path = folder.path().join("run");
    let mut random = Random::new(5);
    let numbers: Vec<f64> =
        (0..20_000).map(|_| f64::from_bits(random.bits())).filter(|x| x.is_finite()).collect();
    let sent = Frame { report: json!(numbers), ..frame(1, 16) };
    Writer::create(&path, &header()).unwrap().frame(&sent).unwrap();
    assert_eq!(all_frames(&mut Reader::open(&path).unwrap())[0].report, sent.report);
}

#[test]
fn what_cannot_be_recorded_is_refused_and_changes_nothing() {
    let folder = folder();
    let path = folder.path().join("run");
    let mut writer = Writer::create(&path, &header()).unwrap();
    assert!(matches!(Writer::create(&path, &header()), Err(RecordingError::Exists { .. })));
    writer.state(&state(0)).unwrap();
    writer.frame(&frame(5, 16)).unwrap();
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for wrong in [
        frame(5, 16),
        frame(4, 16),
        frame(6, 15),
        Frame { time: 0.0, ..frame(6, 16) },
        Frame { time: f64::NAN, ..frame(6, 16) },
        Frame { time: f64::INFINITY, ..frame(6, 16) },
        Frame { report: nested, ..frame(6, 16) },
    ] {
        assert!(matches!(writer.frame(&wrong), Err(RecordingError::Refused { .. })), "{wrong:?}");
    }
    for wrong in [0, 4, 6] {
        assert!(matches!(writer.state(&state(wrong)), Err(RecordingError::Refused { .. })));
    }
    writer.state(&state(5)).unwrap();
    assert!(writer.state(&state(5)).is_err());
    writer.frame(&frame(6, 16)).unwrap();
    writer.finish().unwrap();
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(all_frames(&mut reader), [frame(5, 16), frame(6, 16)]);
    assert!(reader.complete());
    // The first frame must not stand before the state it was computed from.
    let mut writer = Writer::create(folder.path().join("other"), &header()).unwrap();
    writer.state(&state(3)).unwrap();
    assert!(writer.frame(&frame(3, 16)).is_err());
}

#[test]
fn a_complete_recording_can_be_extended() {
    let folder = folder();
    let path = folder.path().join("run");
    std::fs::write(&path, recorded()).unwrap();
    let mut resumed = Writer::resume(&path).unwrap();
    assert!(resumed.complete && resumed.damage.is_none());
    assert_eq!(resumed.state, Some(state(3)));
    assert_eq!(resumed.frames_after.iter().map(|frame| frame.0).collect::<Vec<_>>(), [4, 5, 6]);
    assert!(!Reader::open(&path).unwrap().complete());
    assert!(resumed.writer.frame(&frame(6, 16)).is_err());
    resumed.writer.frame(&frame(7, 16)).unwrap();
    resumed.writer.finish().unwrap();
    let mut reader = Reader::open(&path).unwrap();
    assert!(reader.complete());
    assert_eq!(all_frames(&mut reader), (1..=7).map(|n| frame(n, 16)).collect::<Vec<_>>());
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let folder = folder();
    let path = folder.path().join("run");
    let writer = Writer::create(&path, &header()).unwrap();
    assert!(matches!(Writer::resume(&path), Err(RecordingError::InUse { .. })));
    drop(writer);
    let resumed = Writer::resume(&path).unwrap();
    assert!(matches!(Writer::resume(&path), Err(RecordingError::InUse { .. })));
    drop(resumed);
    assert!(Writer::resume(&path).is_ok());
}

#[test]
fn a_reader_follows_a_writer_and_sees_whole_frames_only() {
    let folder = folder();
    let (path, slow) = (folder.path().join("run"), folder.path().join("slow"));
    let mut writer = Writer::create(&path, &header()).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let mut seen = Vec::new();
    for (i, step) in steps().iter().enumerate() {
        step.write(&mut writer).unwrap();
        reader.refresh().unwrap();
        seen.extend(all_frames(&mut reader));
        assert_eq!(seen, frames_and_states(&steps()[..=i]).0);
    }
    writer.finish().unwrap();
    assert_eq!((seen.len(), reader.complete()), (6, false));
    assert_eq!((reader.refresh().unwrap(), reader.complete()), (6, true));
    // The same file once more, arriving byte by byte.
    let bytes = recorded();
    let start = super::sample::blocks(&bytes)[0].end;
    std::fs::write(&slow, &bytes[..start]).unwrap();
    let mut reader = Reader::open(&slow).unwrap();
    let mut seen = Vec::new();
    for end in start..=bytes.len() {
        std::fs::write(&slow, &bytes[..end]).unwrap();
        reader.refresh().unwrap();
        seen.extend(all_frames(&mut reader));
        assert!(reader.damage().is_none_or(|damage| matches!(damage.fault, Fault::Truncated { .. })));
    }
    assert_eq!((seen, reader.complete()), (frames_and_states(&steps()).0, true));
    // Extending takes the end mark away under the reader's eyes.
    Writer::resume(&slow).unwrap().writer.frame(&frame(7, 16)).unwrap();
    assert_eq!((reader.refresh().unwrap(), reader.complete()), (7, false));
    assert_eq!(all_frames(&mut reader), [frame(7, 16)]);
}

/// Not a test of its own: the process that the next test kills.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os("TAFFETA_TEST_RECORD_TO") else { return };
    // It ends with the one that started it, however that ends.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(1);
    });
    let mut writer = Writer::create(path, &header_of(2000)).unwrap();
    for number in 1.. {
        writer.frame(&frame(number, 2000)).unwrap();
        if number % 7 == 0 {
            writer.state(&state(number)).unwrap();
        }
    }
}

fn header_of(particles: usize) -> Header {
    let flat = Header { rest_positions: vec![DVec3::ZERO; particles], material: Vec::new(), ..header() };
    Header { triangles: Vec::new(), edges: Vec::new(), rest_lengths: Vec::new(), ..flat }
}

fn spawn_child(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["recording::whole::child_that_writes_until_it_is_killed", "--exact", "--nocapture"]);
    command.env("TAFFETA_TEST_RECORD_TO", path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_killed_process_leaves_whole_frames_and_another_may_go_on() {
    let folder = folder();
    for round in 0..12u64 {
        let path = folder.path().join(format!("run {round}"));
        let mut child = spawn_child(&path);
        while std::fs::metadata(&path).map_or(0, |data| data.len()) < 200_000 {
            assert!(child.try_wait().unwrap().is_none(), "the child has ended");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(Writer::resume(&path), Err(RecordingError::InUse { .. })));
        let live = all_frames(&mut Reader::open(&path).unwrap());
        assert!(live.iter().enumerate().all(|(k, read)| *read == frame(k as u32 + 1, 2000)));
        std::thread::sleep(Duration::from_micros(370 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut reader = Reader::open(&path).unwrap();
        let frames = all_frames(&mut reader);
        assert!(frames.len() >= live.len() && !reader.complete());
        assert!(frames.iter().enumerate().all(|(k, read)| *read == frame(k as u32 + 1, 2000)));
        assert!(reader.damage().is_none_or(|damage| matches!(damage.fault, Fault::Truncated { .. })));
        let mut resumed = Writer::resume(&path).unwrap();
        let last = frames.len() as u32;
        assert_eq!(resumed.frames_after.last().map_or(resumed.state.unwrap().frame, |frame| frame.0), last);
        resumed.writer.frame(&frame(last + 1, 2000)).unwrap();
        assert_eq!(Reader::open(&path).unwrap().frame_count(), frames.len() + 1);
    }
}

#[test]
fn the_reader_in_the_manual_reads_what_this_one_reads() {
    let manual = include_str!("../../../../../docs/recording.md");
    let script = manual.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(script.lines().filter(|line| !line.trim().is_empty()).count() <= 25);
    let folder = folder();
    let path = folder.path().join("run");
    let mut bytes = recorded();
    // The last frame is cut off in its middle: both readers give the other five.
    bytes.truncate(super::sample::blocks(&bytes)[8].start + 100);
    std::fs::write(&path, bytes).unwrap();
    let python = std::env::var_os("TAFFETA_PYTHON").unwrap_or("python3".into());
    let Ok(output) = Command::new(python).args(["-c", script]).arg(&path).output() else {
        return testing::skipped::tell("there is no python3 here");
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let frames = all_frames(&mut Reader::open(&path).unwrap());
    assert_eq!((frames.len(), text.lines().count()), (5, 5));
    for (frame, line) in frames.iter().zip(text.lines()) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], frame.number.to_string());
        assert_eq!(words[1].parse::<f64>().unwrap(), frame.time);
        assert_eq!(words[2], frame.state_hash.to_string());
        let mean = frame.absolute().map(|p| p.z).sum::<f64>() / 16.0;
        assert!((words[3].parse::<f64>().unwrap() - mean).abs() < 1e-12);
        assert_eq!(words[4], "3");
    }
}
