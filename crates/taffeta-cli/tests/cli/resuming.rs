//! Interrupted runs, by whatever means, end with the bits of a run that was left alone.

use crate::workplace::{SMALL, Workplace, bytes};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;
use taffeta::math::random::Random;
use taffeta_io::recording::{Frame, Reader, Writer};

/// About two seconds of frames.
fn long_scene() -> String {
    SMALL.replace("frames = 12", "frames = 400").replace("full_state_every = 5", "full_state_every = 7")
}

#[test]
fn killed_again_and_again_a_run_ends_with_the_same_bits() {
    let place = Workplace::new();
    place.write("long.toml", &long_scene());
    place.succeed(&["run", "long.toml", "--quiet", "--out", "alone"]);
    let recorded = |folder: &str| {
        std::fs::metadata(place.path(folder).join("recording.taffeta")).map_or(0, |file| file.len())
    };
    let whole = recorded("alone");
    let mut random = Random::new(7);
    let mut killed = 0;
    for _ in 0..10 {
        let before = recorded("out/long");
        let mut command = place.command(&["run", "long.toml", "--quiet", "--resume"]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        // Anywhere within a part of the run, wherever the machine is by then.
        let enough = before + (0.15 * random.unit() * whole as f64) as u64;
        while recorded("out/long") < enough && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
    }
    assert!(killed >= 5, "only {killed} runs were killed before their end");
    place.succeed(&["run", "long.toml", "--quiet", "--resume", "--threads", "3"]);
    assert_eq!(place.hashes("out/long"), place.hashes("alone"));
    place.succeed(&["check", "out/long/recording.taffeta", "--tolerance", "1"]);
}

/// A strip that is drawn out until it tears.
const TEARS: &str = r#"
frames = 24
output = { full_state_every = 5 }
[solver]
tolerance = 1.0
[[cloth]]
tear = 0.1
strip = { length = 0.3, width = 0.1, segments = 12 }
pin = [{ sides = ["left"] }, { sides = ["right"], keyframe = [{ time = 0.0 }, { time = 0.8, move = [0.06, 0.0, 0.0] }] }]
"#;

#[test]
fn torn_cloth_is_resumed_checked_drawn_and_exported() {
    let place = Workplace::new();
    place.write("tears.toml", TEARS);
    place.succeed(&["run", "tears.toml", "--quiet", "--out", "alone"]);
    // The first part ends between two full states, after the tear.
    place.succeed(&["run", "tears.toml", "--quiet", "--frames", "18"]);
    place.succeed(&["run", "tears.toml", "--quiet", "--resume", "--threads", "2"]);
    assert_eq!(place.hashes("out/tears"), place.hashes("alone"));
    // Where cloth is torn the two sides of the crack lie apart, before it they are one: nothing intersects, and no edge spans the crack, which ends more than two
    // edges wide.
    place.succeed(&["check", "out/tears/recording.taffeta", "--tolerance", "0.25"]);

    let mut reader = Reader::open(place.path("out/tears/recording.taffeta")).unwrap();
    let whole = reader.header().clone();
    reader.show_torn().unwrap();
    let torn = reader.header().clone();
    assert_eq!(torn.triangles.len(), whole.triangles.len());
    assert!(torn.triangles != whole.triangles && torn.edges.len() > whole.edges.len());
    let mut frame = Frame::default();
    let mut furthest = Vec::new();
    while reader.next_frame(&mut frame).unwrap() {
        let at: Vec<_> = frame.absolute().collect();
        let long = |t: &[u32; 3]| at[t[0] as usize].distance(at[t[1] as usize]);
        furthest.push(torn.triangles.iter().map(long).fold(0.0, f64::max));
    }
    // With the triangles of the last frame every frame is drawn right: none has one that reaches to a spare particle elsewhere.
    assert!(furthest.iter().all(|length| *length < 0.05), "{furthest:?}");
    place.succeed(&["export", "out/tears/recording.taffeta", "--format", "obj", "--out", "objs"]);
    place.succeed(&[
        "render",
        "out/tears/recording.taffeta",
        "--frame",
        "24",
        "--size",
        "64x48",
        "--out",
        "torn.png",
    ]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_tells_how_to_go_on_and_does() {
    use crate::workplace::{Ended, signal};
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "1000", "--out", "alone"]);
    for name in ["INT", "TERM"] {
        let words = ["run", "small.toml", "--frames", "1000", "--out", name, "--set", "cloth[0].name=it"];
        let (child, lines) = place.start(&words);
        signal(&child, name);
        drop(lines);
        let ended = Ended::from(child.wait_with_output().unwrap());
        ended.refused(
            3,
            &[
                "interrupted after frame",
                &format!("--out {name} --set 'cloth[0].name=it' --no-picture --json --resume"),
            ],
        );
        let (mut reader, mut frame) =
            (Reader::open(place.path(&format!("{name}/recording.taffeta"))).unwrap(), Frame::default());
        while reader.next_frame(&mut frame).unwrap() {}
        assert!(!reader.complete() && frame.number < 1000);
        // The full state of the last frame is there: nothing has to be computed again.
        assert_eq!(reader.last_state().unwrap().unwrap().frame, frame.number);
        place.succeed(&[&words[..], &["--quiet", "--resume"]].concat());
        assert_eq!(place.hashes(name), place.hashes("alone"));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_frame_half_way_and_the_run_goes_on_exactly() {
    use crate::workplace::signal;
    let place = Workplace::new();
    // Frames of seconds, so that the signal comes within the first.
    let words = ["run", "small.toml", "--frames", "1", "--set", "solver.steps_per_frame=3000"];
    place.succeed(&[&words[..], &["--quiet", "--out", "alone"]].concat());
    let mut child = place.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let recording = place.path("out/small/recording.taffeta");
    let begun = || Reader::open(&recording).is_ok_and(|reader| reader.frame_count() > 0);
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, "INT");
    let heard: Vec<String> =
        BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(heard.iter().any(|line| line.contains("interrupted after frame 0")), "{heard:?}");
    let mut reader = Reader::open(&recording).unwrap();
    assert!(reader.frame_count() == 1 && reader.damage().is_none() && !reader.complete());
    assert_eq!(reader.last_state().unwrap().unwrap().frame, 0);
    place.succeed(&[&words[..], &["--quiet", "--resume"]].concat());
    assert_eq!(place.hashes("out/small"), place.hashes("alone"));
}

#[test]
fn a_finished_run_has_nothing_to_do_and_can_be_extended() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "20", "--out", "alone"]);
    place.succeed(&["run", "small.toml", "--quiet"]);
    let before = bytes(&place.path("out/small/recording.taffeta"));
    let ended = place.succeed(&["run", "small.toml", "--resume"]);
    assert!(ended.err.contains("nothing to do: all 12 frames are there"), "{}", ended.err);
    assert_eq!(bytes(&place.path("out/small/recording.taffeta")), before);
    // Fewer frames than there are take none away.
    place.succeed(&["run", "small.toml", "--resume", "--frames", "3"]);
    assert_eq!(bytes(&place.path("out/small/recording.taffeta")), before);
    place.succeed(&["run", "small.toml", "--resume", "--frames", "20", "--set", "output.full_state_every=1"]);
    assert_eq!(place.hashes("out/small"), place.hashes("alone"));
    // Without a recording, to resume is to begin.
    place.succeed(&["run", "small.toml", "--quiet", "--resume", "--frames", "20", "--out", "fresh"]);
    assert_eq!(place.hashes("fresh"), place.hashes("alone"));
}

#[test]
fn another_scene_is_not_gone_on_with() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    let before = bytes(&place.path("out/small/recording.taffeta"));
    let resume = ["run", "small.toml", "--resume", "--frames", "20", "--set"];
    let ended = place.taffeta(&[&resume[..], &["collider[0].sphere.radius=0.2"]].concat());
    ended.refused(
        2,
        &["collider[0].sphere.radius = 0.3", "collider[0].sphere.radius = 0.2", "recording.taffeta"],
    );
    let ended = place.taffeta(&[&resume[..], &["solver.substeps=5000"]].concat());
    ended.refused(2, &["solver.substeps"]);
    assert_eq!(bytes(&place.path("out/small/recording.taffeta")), before);
}

#[test]
fn a_scene_whose_mesh_has_changed_is_not_gone_on_with() {
    let place = Workplace::new();
    place.write("mesh.toml", "frames = 3\n[[cloth]]\nmesh = { file = \"cloth.obj\" }\n");
    let mesh = |x: f64| format!("v 0 0 0\nv 0 0 1\nv {x} 0 0\nv {x} 0 1\nf 1 2 4 3\n");
    place.write("cloth.obj", &mesh(1.0));
    place.succeed(&["run", "mesh.toml", "--quiet"]);
    place.succeed(&["run", "mesh.toml", "--quiet", "--resume", "--frames", "4"]);
    place.write("cloth.obj", &mesh(1.5));
    let ended = place.taffeta(&["run", "mesh.toml", "--quiet", "--resume", "--frames", "5"]);
    ended.refused(2, &["recording.taffeta", "a mesh of the scene has changed"]);
    // What is no cloth shows only when the scene is built.
    place.write("cloth.obj", &mesh(0.0));
    place.taffeta(&["run", "mesh.toml", "--overwrite"]).refused(2, &["cloth.obj", "has no area", "help:"]);
}

#[test]
fn a_body_from_a_mesh_is_recorded_checked_drawn_and_exported_and_must_not_change() {
    let place = Workplace::new();
    let cloth = "position = [0.0, 0.3, 0.0]\nsheet = { width = 0.4, height = 0.4, columns = 5, rows = 5 }";
    let body = "mesh = { file = \"roof.obj\" }\nkeyframe = [{ time = 0.0 }, { time = 1.0, turn = [0.0, 90.0, 0.0] }]";
    place.write("roof.toml", &format!("frames = 3\n[[cloth]]\n{cloth}\n[[collider]]\n{body}\n"));
    let roof = |y: f64| {
        format!("v -1 0 1\nv 1 0 1\nv 1 {y} 0\nv -1 {y} 0\nv 1 0 -1\nv -1 0 -1\nf 1 2 3 4\nf 4 3 5 6\n")
    };
    place.write("roof.obj", &roof(0.1));
    place.succeed(&["run", "roof.toml", "--quiet"]);
    place.succeed(&["run", "roof.toml", "--quiet", "--resume", "--frames", "4"]);
    let recording = "out/roof/recording.taffeta";
    place.succeed(&["check", recording]);
    place.succeed(&[
        "render", recording, "--frame", "2", "--size", "64x48", "--color", "contact", "--out", "roof.png",
    ]);
    for file in ["roof.usda", "roof.glb", "roof.abc"] {
        place.succeed(&["export", recording, "--out", file]);
    }
    let layer = std::fs::read_to_string(place.path("roof.usda")).unwrap();
    assert!(layer.contains("point3f[] points = [(-1, 0, 1), (1, 0, 1), (1, 0.1, 0)"), "{layer}");
    place.write("roof.obj", &roof(0.2));
    let ended = place.taffeta(&["run", "roof.toml", "--quiet", "--resume", "--frames", "5"]);
    ended.refused(2, &["recording.taffeta", "a mesh of the scene has changed"]);
}

#[test]
fn frames_that_do_not_come_out_the_same_are_told_and_left_alone() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "9"]);
    let good = place.path("out/small/recording.taffeta");
    let mut reader = Reader::open(&good).unwrap();
    std::fs::create_dir(place.path("forged")).unwrap();
    let forged = place.path("forged/recording.taffeta");
    let mut writer = Writer::create(&forged, reader.header()).unwrap();
    let mut frame = Frame::default();
    // No full states, and frame 4 with another hash: all has to be computed again from the start.
    while reader.next_frame(&mut frame).unwrap() {
        if frame.number == 4 {
            frame.state_hash = 0x1234;
        }
        writer.frame(&frame).unwrap();
    }
    drop(writer);
    let before = bytes(&forged);
    let ended = place.taffeta(&["run", "small.toml", "--resume", "--out", "forged"]);
    let computed = &place.hashes("out/small")[3];
    ended.refused(1, &["frame 4", "0000000000001234", computed]);
    assert_eq!(bytes(&forged), before);
}

/// A limit on the size of files is what a full disk looks like to a program.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_no_frame_that_was_written() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "60", "--out", "alone"]);
    let line = format!(
        "trap '' XFSZ; ulimit -f 48; {} run small.toml --quiet --frames 60",
        env!("CARGO_BIN_EXE_taffeta")
    );
    let output =
        std::process::Command::new("bash").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let ended = crate::workplace::Ended::from(output);
    ended.refused(1, &["writing at byte", "recording.taffeta"]);
    let reader = Reader::open(place.path("out/small/recording.taffeta")).unwrap();
    assert!(reader.frame_count() > 3 && reader.damage().is_none(), "{} frames", reader.frame_count());
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "60", "--resume"]);
    assert_eq!(place.hashes("out/small"), place.hashes("alone"));
}
