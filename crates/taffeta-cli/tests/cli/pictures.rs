//! `taffeta render` and `taffeta plot`: pictures, films and plots of runs.

use crate::workplace::{Ended, Workplace};
use std::fs;

const RECORDING: &str = "out/small/recording.taffeta";

#[test]
fn a_run_leaves_a_picture_unless_it_is_not_wanted() {
    let place = Workplace::new();
    let ended = Ended::from(place.bare_command(&["run", "small.toml", "--frames", "2"]).output().unwrap());
    assert!(ended.code == Some(0) && ended.out.contains("picture.png"), "{ended:?}");
    assert!(fs::read(place.path("out/small/picture.png")).unwrap().starts_with(b"\x89PNG"));
    place.succeed(&["run", "small.toml", "--frames", "2", "--out", "bare", "--quiet"]);
    assert!(!place.path("bare/picture.png").exists());
}

#[test]
fn stills_films_and_plots_are_written() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    for quantity in ["strain", "speed", "curvature", "contact"] {
        place.succeed(&[
            "render", RECORDING, "--out", "a.png", "--size", "96x54", "--frame", "7", "--color", quantity,
        ]);
        assert!(fs::read(place.path("a.png")).unwrap().starts_with(b"\x89PNG"));
    }
    place.succeed(&["render", RECORDING, "--all", "--out", "a.gif", "--size", "64x36", "--quiet"]);
    assert!(fs::read(place.path("a.gif")).unwrap().starts_with(b"GIF89a"));
    place.succeed(&["render", "small.toml", "--out", "b.png", "--size", "64x36", "--quiet"]);
    place.succeed(&["plot", "out/small/report.json", "out/small/report.json", "--out", "a.svg"]);
    assert!(fs::read_to_string(place.path("a.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    place.taffeta(&["render", RECORDING, "--out", "a.bmp"]).refused(1, &["a.bmp", ".png, .gif or .mp4"]);
    let none = ["render", RECORDING, "--out", "a.png", "--frame", "99"];
    place.taffeta(&none).refused(2, &["no frame 99", "13 frames"]);
    place.taffeta(&["render", "none.taffeta", "--out", "a.png"]).refused(2, &["none.taffeta"]);
    place
        .taffeta(&["render", RECORDING, "--out", "a.png", "--size", "0x9"])
        .refused(2, &["such as 1280x720"]);
    place.taffeta(&["plot", "small.toml", "--out", "a.svg"]).refused(2, &["small.toml", "report.json"]);
    assert!(!place.path("a.png").exists() && !place.path("a.svg").exists());
}

#[test]
fn the_scene_s_camera_is_used() {
    let place = Workplace::new();
    let camera = ["--set", "camera.position=[0, 3, 0.1]", "--set", "camera.target=[0, 0, 0]"];
    for (folder, words) in [("above", &camera[..]), ("framed", &[][..])] {
        let run = ["run", "small.toml", "--frames", "1", "--quiet", "--out", folder];
        place.succeed(&[&run[..], words].concat());
        let recording = format!("{folder}/recording.taffeta");
        place.succeed(&[
            "render",
            &recording,
            "--out",
            &format!("{folder}.png"),
            "--size",
            "96x54",
            "--quiet",
        ]);
    }
    assert_ne!(fs::read(place.path("above.png")).unwrap(), fs::read(place.path("framed.png")).unwrap());
}
