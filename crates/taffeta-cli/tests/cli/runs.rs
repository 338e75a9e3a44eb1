//! `taffeta run` from the start: files, report, threads, verdicts.

use crate::workplace::{SMALL, Workplace, bytes};
use serde_json::Value;
use std::io::BufRead;
use std::process::Stdio;
use taffeta_io::recording::{Frame, Reader};

#[test]
fn a_run_leaves_a_recording_and_a_report_as_promised() {
    let place = Workplace::new();
    let ended = place.succeed(&["run", "small.toml", "--threads", "2", "--report", "deep/er/copy.json"]);
    for words in [
        "small: 12 frames of 33.3 ms in",
        "certificate  largest strain",
        "smallest gap",
        "files        out/small/recording.taffeta (",
    ] {
        assert!(ended.out.contains(words), "{words:?} is missing in {}", ended.out);
    }
    let report = place.json("out/small/report.json");
    assert_eq!(report["frames"], place.json("deep/er/copy.json")["frames"]);
    assert_eq!((&report["scene"], &report["method"]), (&"small".into(), &"impulse-strips".into()));
    assert_eq!((&report["particles"], &report["triangles"]), (&100.into(), &162.into()));
    assert_eq!((&report["constraints"], &report["threads"]), (&180.into(), &2.into()));
    assert!((report["step_s"].as_f64().unwrap() - 1.0 / 30.0).abs() < 1e-15);
    assert!(report["taffeta"].is_string());

    let frames = report["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 12);
    for (i, frame) in frames.iter().enumerate() {
        assert_eq!(frame["frame"], i + 1);
        assert!((frame["time_s"].as_f64().unwrap() - (i + 1) as f64 / 30.0).abs() < 1e-12);
        for number in
            ["wall_ms", "iterations", "max_strain", "mean_strain", "contacts", "intersections", "min_gap_m"]
        {
            assert!(frame[number].is_number(), "{number}");
        }
        for stage in ["lengths and contact", "certificate", "recording"] {
            assert!(frame["stage_ms"][stage].is_number(), "{stage}");
        }
        for energy in ["kinetic", "gravity", "elastic"] {
            assert!(frame["energy_j"][energy].is_number(), "{energy}");
        }
        assert_eq!(frame["momentum"].as_array().unwrap().len(), 3);
        assert_eq!(frame["converged"], true);
        let hash = frame["state_hash"].as_str().unwrap();
        assert!(hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok());
    }
    let summary = &report["summary"];
    let most = frames.iter().map(|frame| frame["max_strain"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(summary["max_strain"], most);
    assert!(most > 0.0);
    assert_eq!((&summary["converged_frames"], &summary["complete"]), (&12.into(), &true.into()));
    let wall = summary["wall_ms_per_frame"].as_f64().unwrap();
    assert!((summary["realtime_factor"].as_f64().unwrap() * wall / (1000.0 / 30.0) - 1.0).abs() < 1e-9);
}

#[test]
fn the_recording_has_the_start_the_bodies_the_states_and_the_end() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    let mut reader = Reader::open(place.path("out/small/recording.taffeta")).unwrap();
    assert!(reader.complete() && reader.damage().is_none());
    // Frames 5 and 10 by the scene's wish, 12 because it is the last.
    let states: Vec<u32> =
        (0..reader.state_count()).map(|i| reader.state(i).unwrap().unwrap().frame).collect();
    assert_eq!(states, [5, 10, 12]);
    let about = &reader.header().about;
    assert_eq!(about["cloths"][0]["particles"], serde_json::json!([0, 100]));
    assert_eq!(
        about["colliders"][0],
        serde_json::json!({ "name": "ball", "shape": { "Sphere": { "radius": 0.3 } } })
    );
    assert!(reader.header().scene.contains("tolerance = 0.01"), "defaults are written out");
    let (mut frame, mut numbers) = (Frame::default(), Vec::new());
    while reader.next_frame(&mut frame).unwrap() {
        assert_eq!((frame.bodies.len(), frame.report["frame"].as_u64()), (1, Some(frame.number.into())));
        numbers.push(frame.number);
    }
    assert_eq!(numbers, (0..=12).collect::<Vec<_>>());
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let place = Workplace::new();
    // More than one chunk of particles, so that there is something to share out.
    let size = ["--set", "cloth[0].sheet.columns=40", "--set", "cloth[0].sheet.rows=40", "--frames", "3"];
    let run = |threads: &str| {
        let out = format!("with{threads}");
        place.succeed(
            &[&["run", "small.toml", "--quiet", "--threads", threads, "--out", &out][..], &size].concat(),
        );
        place.hashes(&out)
    };
    let one = run("1");
    assert_eq!(one.len(), 3);
    for threads in ["2", "3", "8"] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn a_finished_run_is_not_written_over_unasked_and_no_run_is_lost_to_the_next() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    let recording = || bytes(&place.path("out/small/recording.taffeta"));
    let first = recording();
    place
        .taffeta(&["run", "small.toml", "--frames", "2"])
        .refused(2, &["is a finished run", "--overwrite", "--out"]);
    assert_eq!(recording(), first);
    let ended = place.succeed(&["run", "small.toml", "--frames", "2", "--overwrite"]);
    assert!(ended.err.contains("recording.previous.taffeta"), "{}", ended.err);
    assert_eq!(bytes(&place.path("out/small/recording.previous.taffeta")), first);
    assert_eq!(place.json("out/small/report.previous.json")["frames"].as_array().unwrap().len(), 12);
    assert_eq!(place.hashes("out/small").len(), 2);
    // Its end cut off, the second is unfinished: it may be set aside, but not over the first.
    let cut = recording();
    std::fs::write(place.path("out/small/recording.taffeta"), &cut[..cut.len() - 32]).unwrap();
    place
        .taffeta(&["run", "small.toml"])
        .refused(2, &["recording.previous.taffeta", "would be lost", "--resume"]);
    std::fs::remove_file(place.path("out/small/recording.previous.taffeta")).unwrap();
    place.succeed(&["run", "small.toml", "--quiet"]);
    assert_eq!(bytes(&place.path("out/small/recording.previous.taffeta")), cut[..cut.len() - 32]);
}

#[test]
fn what_memory_cannot_hold_is_refused_and_what_outgrows_it_ends() {
    let place = Workplace::new();
    let sizes = ["--set", "cloth[0].sheet.columns=4000", "--set", "cloth[0].sheet.rows=4000"];
    place
        .taffeta(&[&["run", "small.toml", "--memory", "3G"][..], &sizes].concat())
        .refused(2, &["16000000 particles", "about 48 GB", "3.22 GB is the limit of --memory"]);
    assert!(!place.path("out").exists(), "nothing was begun");
    place.taffeta(&["run", "small.toml", "--memory", "lots"]).refused(2, &["such as 900M or 8G"]);
    // A process holds more than this before it has done anything.
    let words = ["run", "small.toml", "--frames", "2000", "--memory", "1M"];
    place.taffeta(&words).refused(2, &["the run holds", "--memory", "what is recorded is kept"]);
    let recording = place.path("out/small/recording.taffeta");
    let (mut reader, mut frame) = (Reader::open(recording).unwrap(), Frame::default());
    while reader.next_frame(&mut frame).unwrap() {}
    assert!(!reader.complete() && reader.damage().is_none() && frame.number < 2000);
    assert_eq!(reader.last_state().unwrap().unwrap().frame, frame.number);
}

#[test]
fn shorthands_mean_the_same_as_set() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--method", "verlet", "--frames", "2", "--out", "a"]);
    let sets = ["--set", "solver.method=verlet", "--set", "frames=2"];
    place.succeed(&[&["run", "small.toml", "--quiet", "--out", "b"][..], &sets].concat());
    assert_eq!(place.hashes("a"), place.hashes("b"));
}

#[test]
fn runs_fail_where_a_promise_is_missed_and_only_then() {
    let place = Workplace::new();
    let kept = ["run", "small.toml", "--frames", "3", "--overwrite"];
    place.succeed(&kept);
    let tight = [&kept[..], &["--method", "verlet", "--set", "solver.tolerance=1e-9"]].concat();
    let ended = place.taffeta(&tight);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("MISSED"), "{}", ended.out);
    // With --lenient it is told, and that is all.
    assert!(place.succeed(&[&tight[..], &["--lenient"]].concat()).out.contains("MISSED"));
}

#[test]
fn what_is_missed_is_told_with_its_reason() {
    let place = Workplace::new();
    let drawn = r#"
frames = 6
[[cloth]]
sheet = { width = 0.5, height = 0.5, columns = 8, rows = 8 }
pin = [{ sides = ["left"] }, { sides = ["right"], keyframe = [{ time = 0 }, { time = 0.2, move = [0.1, 0, 0] }] }]
"#;
    place.write("drawn.toml", drawn);
    let ended = place.taffeta(&["run", "drawn.toml"]);
    assert_eq!(ended.code, Some(1));
    let frames = place.json("out/drawn/report.json")["frames"].clone();
    let told: Vec<&Value> = frames.as_array().unwrap().iter().filter(|f| f["converged"] == false).collect();
    assert!(!told.is_empty());
    for frame in &told {
        assert!(frame["shortfall"].as_str().unwrap().contains("pinned particles"), "{frame}");
    }
    let first = format!("frame {}: the pinned particles", told[0]["frame"]);
    assert!(ended.out.contains(&first), "{first:?} is missing in {}", ended.out);

    // Where every step has converged, it is the fabric that gives way.
    let soft = ["run", "drawn.toml", "--method", "backward-euler", "--overwrite"];
    let ended = place.taffeta(&soft);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("backward-euler strains cloth as far as its fabric"), "{}", ended.out);

    // What intersects from the start on is not the work of any frame.
    place.write("inside.toml", &SMALL.replace("0.33", "0.29"));
    let ended = place.taffeta(&["run", "inside.toml", "--frames", "1"]);
    assert!(ended.out.contains("the scene starts with"), "{}", ended.out);
}

#[test]
fn a_step_that_fails_ends_the_run_with_what_was_there() {
    let place = Workplace::new();
    // Two sub-steps are far too few; the start is fine.
    let ended = place.taffeta(&["run", "small.toml", "--method", "verlet", "--set", "solver.substeps=2"]);
    ended.refused(1, &["frame 1: substeps = 2", "ask for at least", "kept in out/small/recording.taffeta"]);
    assert_eq!(place.json("out/small/report.json")["summary"]["complete"], false);
    assert_eq!(Reader::open(place.path("out/small/recording.taffeta")).unwrap().frame_count(), 1);
}

#[test]
fn json_lines_are_the_frames_and_quiet_is_quiet() {
    let place = Workplace::new();
    let ended = place.succeed(&["run", "small.toml", "--json"]);
    let lines: Vec<serde_json::Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, place.json("out/small/report.json")["frames"].as_array().unwrap());
    // What is no terminal gets no control codes.
    assert!(!ended.err.contains('\x1b'), "{}", ended.err);
    let ended = place.succeed(&["run", "small.toml", "--quiet", "--overwrite"]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
}

#[test]
fn a_reader_who_goes_away_does_not_stop_the_run() {
    let place = Workplace::new();
    let (child, lines) = place.start(&["run", "small.toml", "--frames", "40"]);
    drop(lines);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(place.hashes("out/small").len(), 40);
    // Lists end quietly too.
    let mut child = place
        .command(&["schema", "--markdown"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let place = Workplace::new();
    place.write("long.toml", &SMALL.replace("frames = 12", "frames = 100000"));
    let (mut child, mut lines) = place.start(&["run", "long.toml"]);
    for more in [&["--resume"][..], &[]] {
        let ended = place.taffeta(&[&["run", "long.toml"][..], more].concat());
        ended.refused(2, &["out/long", "another run is writing", "--out"]);
    }
    // The first one goes on undisturbed.
    assert!(lines.read_line(&mut String::new()).unwrap() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
}
