//! `taffeta check`: good is told from bad, for recordings and for meshes of others.

use crate::workplace::{SMALL, Workplace, bytes};
use serde_json::Value;
use std::fmt::Write;
use taffeta_io::recording::{Frame, FullState, Reader, Writer};

const RECORDING: &str = "out/small/recording.taffeta";

fn recorded() -> Workplace {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    place
}

#[test]
fn the_folder_of_a_run_stands_for_its_recording() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet", "--frames", "2"]);
    let named = place.succeed(&["check", "out/small/recording.taffeta"]);
    assert_eq!(place.succeed(&["check", "out/small"]).out, named.out);
    place.succeed(&["render", "out/small", "--size", "32x18", "--out", "a.png"]);
    place.succeed(&["export", "out/small", "--out", "a.obj"]);
}

#[test]
fn a_good_recording_passes_and_agrees_with_its_report() {
    let place = recorded();
    let ended = place.succeed(&["check", RECORDING, "-v"]);
    for words in
        ["13 frames", "(tolerance 1 %) - held", "3 of 3 full states", "frame 12 ", "verdict      good"]
    {
        assert!(ended.out.contains(words), "{words:?} is missing in {}", ended.out);
    }
    let checked: Value = serde_json::from_str(&place.succeed(&["check", RECORDING, "--json"]).out).unwrap();
    let frames = checked["checked"][0]["frames"].as_array().unwrap();
    let report = place.json("out/small/report.json");
    assert_eq!(frames.len(), 13);
    for (found, told) in frames[1..].iter().zip(report["frames"].as_array().unwrap()) {
        let strain = |frame: &Value| frame["max_strain"].as_f64().unwrap();
        let resolution = found["strain_resolution"].as_f64().unwrap();
        assert!((strain(found) - strain(told)).abs() <= resolution, "{found} {told}");
        assert_eq!((resolution == 0.0), [5, 10, 12].contains(&told["frame"].as_u64().unwrap()));
        assert_eq!(found["cloth_body"], told["cloth_body"]);
    }
    assert_eq!(checked["checked"][0]["held"], true);
}

#[test]
fn a_tolerance_that_is_missed_fails() {
    let place = recorded();
    let ended = place.taffeta(&["check", RECORDING, "--tolerance", "1e-5"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.out.contains("(tolerance 0.001 %) - MISSED") && ended.out.contains("NOT GOOD"),
        "{}",
        ended.out
    );
}

#[test]
fn cloth_inside_a_body_fails() {
    let place = Workplace::new();
    place.write("inside.toml", &SMALL.replace("0.33, 0.0]", "0.2, 0.0]"));
    place.succeed(&["run", "inside.toml", "--quiet", "--lenient", "--frames", "1"]);
    let ended = place.taffeta(&["check", "out/inside/recording.taffeta"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("cloth through bodies: at most"), "{}", ended.out);
}

#[test]
fn damage_is_told_and_what_comes_before_it_is_checked() {
    let place = recorded();
    let whole = bytes(&place.path(RECORDING));
    std::fs::write(place.path("cut.taffeta"), &whole[..whole.len() - 100]).unwrap();
    let ended = place.taffeta(&["check", "cut.taffeta"]);
    ended.refused(1, &["damaged: byte", "truncated"]);
    assert!(ended.out.contains("13 frames"), "{}", ended.out);

    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(place.path("flipped.taffeta"), &flipped).unwrap();
    place.taffeta(&["check", "flipped.taffeta"]).refused(1, &["damaged: byte", "checksum"]);

    place.taffeta(&["check", "no.taffeta"]).refused(2, &["no.taffeta"]);
    place.write("text.taffeta", "hello");
    place.taffeta(&["check", "text.taffeta"]).refused(2, &["is no recording"]);
}

#[test]
fn a_state_that_is_not_the_frame_s_fails() {
    let place = recorded();
    let mut reader = Reader::open(place.path(RECORDING)).unwrap();
    let mut frame = Frame::default();
    reader.seek(12).unwrap();
    assert!(reader.next_frame(&mut frame).unwrap());
    let state = reader.last_state().unwrap().unwrap();
    let forge = |name: &str, frame: &Frame, bytes: Vec<u8>| {
        let mut writer = Writer::create(place.path(name), reader.header()).unwrap();
        writer.frame(frame).unwrap();
        writer.state(&FullState { frame: 12, bytes }).unwrap();
        writer.finish().unwrap();
    };
    forge("same.taffeta", &frame, state.bytes.clone());
    place.succeed(&["check", "same.taffeta"]);

    let mut other = state.bytes.clone();
    other[100] ^= 1;
    forge("state.taffeta", &frame, other);
    place.taffeta(&["check", "state.taffeta"]).refused(1, &["frame 12: its state has the hash"]);
    forge("short.taffeta", &frame, state.bytes[..80].to_vec());
    place
        .taffeta(&["check", "short.taffeta"])
        .refused(1, &["frame 12: the state, 10 numbers, is none of this scene"]);
    frame.positions[7][1] += 1e-3;
    forge("moved.taffeta", &frame, state.bytes);
    place.taffeta(&["check", "moved.taffeta"]).refused(1, &["particle 7 is not where the full state has it"]);
}

/// A grid of 4 x 4 points as an OBJ file, stretched along x; `lift` gives the height of a point.
fn obj(stretch: f64, lift: impl Fn(usize) -> f64) -> String {
    let mut text = String::new();
    for i in 0..16 {
        writeln!(text, "v {} {} {}", stretch * (i % 4) as f64, lift(i), i / 4).unwrap();
    }
    for i in (0..11).filter(|i| i % 4 != 3) {
        writeln!(text, "f {} {} {} {}", i + 1, i + 2, i + 6, i + 5).unwrap();
    }
    text
}

#[test]
fn meshes_of_others_are_measured_against_the_first_or_the_one_named() {
    let place = Workplace::new();
    place.write("a.obj", &obj(1.0, |_| 0.0));
    place.write("b.obj", &obj(1.1, |_| 0.0));
    let ended = place.succeed(&["check", "a.obj", "b.obj"]);
    assert!(
        ended.out.contains("2 meshes of 16 points") && ended.out.contains("largest strain 10 % in b.obj"),
        "{}",
        ended.out
    );
    place.succeed(&["check", "a.obj", "b.obj", "--tolerance", "0.11"]);
    assert_eq!(place.taffeta(&["check", "a.obj", "b.obj", "--tolerance", "0.09"]).code, Some(1));
    let ended = place.succeed(&["check", "a.obj", "--rest", "b.obj"]);
    assert!(ended.out.contains("largest strain 9.09 % in a.obj"), "{}", ended.out);
    assert!(place.succeed(&["check", "b.obj"]).out.contains("--rest"));
}

#[test]
fn meshes_that_cross_themselves_fail_and_those_of_another_cloth_are_refused() {
    let place = Workplace::new();
    place.write("a.obj", &obj(1.0, |_| 0.0));
    // One corner is pulled through the middle of the sheet.
    place.write(
        "crossed.obj",
        &obj(1.0, |i| if i == 0 { -1.0 } else { 0.0 }).replacen("v 0 -1 0", "v 2.5 -1 2.5", 1).replacen(
            "v 1 0 0",
            "v 2.4 1 2.4",
            1,
        ),
    );
    let ended = place.taffeta(&["check", "crossed.obj", "--rest", "a.obj"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("cloth through cloth: at most"), "{}", ended.out);
    place.write("more.obj", &(obj(1.0, |_| 0.0) + "v 9 9 9\n"));
    place.taffeta(&["check", "a.obj", "more.obj"]).refused(2, &["more.obj: has 17 points", "a.obj has 16"]);
    place.write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    place.taffeta(&["check", "line.obj"]).refused(2, &["line.obj", "no area"]);
    place.taffeta(&["check", "nowhere.obj"]).refused(2, &["nowhere.obj"]);
}

/// A tube of cloth around the waist of a mannequin, with a friction that holds it for some frames.
fn belt(radius: f64) -> String {
    format!(
        "frames = 4\ngravity = [0, 0, 0]\n[output]\nfull_state_every = 2\n[[cloth]]\nname = \"belt\"\nposition = [0, 1.1, 0.004]\n\
         tube = {{ radius = {radius}, length = 0.1, segments = 60, rows = 6 }}\n[[collider]]\nmannequin = {{ detail = 60 }}\n"
    )
}

#[test]
fn ease_and_what_is_too_tight_are_told_of_the_last_frame() {
    let place = Workplace::new();
    place.write("belt.toml", &belt(0.16));
    place.succeed(&["run", "belt.toml", "--quiet"]);
    let ended = place.succeed(&["check", "out/belt", "--fit"]);
    assert!(
        ended.out.contains("waist (belt)") && ended.out.contains("nothing is too tight"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("chest (belt)") && !ended.out.contains("no pressure"), "{}", ended.out);
    let told: Value =
        serde_json::from_str(&place.succeed(&["check", "out/belt", "--fit", "--json"]).out).unwrap();
    let fit = &told["checked"][0]["fit"];
    let girth = &fit["girths"][0];
    let of = |key: &str| girth[key].as_f64().unwrap();
    // The tube as a polygon, and the waist that the mannequin is built with.
    assert!((of("cloth_m") - 0.16 * std::f64::consts::TAU).abs() < 0.01, "{girth}");
    assert!((of("body_m") - 0.694).abs() < 0.02, "{girth}");
    assert!((of("ease_m") - (of("cloth_m") - of("body_m"))).abs() < 1e-12);
    assert_eq!(fit["parts"][0]["max_pressure_kpa"].as_f64(), Some(0.0), "it touches nothing: {fit}");
    // It is the only cloth: its strain is that of the frame's certificate, but for rounding.
    let last = &told["checked"][0]["frames"][4];
    let strain = fit["parts"][0]["max_strain"].as_f64().unwrap();
    assert!((strain - last["max_strain"].as_f64().unwrap()).abs() < 1e-5, "{fit} {last}");
    for by in ["ease", "pressure"] {
        place.succeed(&[
            "render",
            "out/belt",
            "--color",
            by,
            "--size",
            "64x36",
            "--out",
            &format!("{by}.png"),
        ]);
    }
}

#[test]
fn pressure_is_that_of_the_weight_of_what_lies() {
    // A sheet that lies on a plane: every frame after it has come to rest presses by its weight, 0.15 kg/m² or so.
    let place = Workplace::new();
    place.write(
        "lies.toml",
        "frames = 12\n[output]\nfull_state_every = 5\n[[cloth]]\nposition = [0, 0.002, 0]\n\
         sheet = { width = 0.2, height = 0.2, columns = 8, rows = 8 }\n[[collider]]\nplane = {}\n\
         [[collider]]\nposition = [0, -5, 0]\nmannequin = { detail = 40 }\n",
    );
    place.taffeta(&["run", "lies.toml", "--quiet", "--lenient"]);
    let told: Value =
        serde_json::from_str(&place.taffeta(&["check", "out/lies", "--fit", "--json"]).out).unwrap();
    let fit = &told["checked"][0]["fit"];
    let pressure = fit["parts"][0]["max_pressure_kpa"].as_f64().unwrap_or_else(|| panic!("{fit}"));
    assert!(pressure > 0.0005 && pressure < 0.02, "{pressure} kPa");
}

#[test]
fn a_fit_is_told_of_recordings_alone() {
    let place = recorded();
    place.write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    place.taffeta(&["check", "a.obj", "--fit"]).refused(2, &["--fit is for recordings"]);
    let ended = place.succeed(&["check", RECORDING, "--fit"]);
    assert!(ended.out.contains("no body is a mesh"), "{}", ended.out);
}
