//! What is wrong is told all at once, with its place and a remedy, and nothing is written.

use crate::workplace::{SMALL, Workplace};

#[test]
fn a_bad_scene_has_all_its_faults_told_with_their_lines() {
    let place = Workplace::new();
    let text = SMALL
        .replace("frames = 12", "frames = 0\ngravty = [0.0, 0.0, 0.0]")
        .replace("columns = 10", "columns = \"ten\"");
    place.write("bad.toml", &text);
    let ended = place.taffeta(&["run", "bad.toml"]);
    ended.refused(
        2,
        &[
            "--> bad.toml:2:10",
            "frames = 0",
            "is too small",
            "write a whole number from 1 to 1000000",
            "gravty",
            "did you mean `gravity`?",
            "columns = \"ten\"",
            "has the wrong type",
            "3 faults",
        ],
    );
    assert!(!ended.err.contains('\x1b'), "no colours where no terminal is");
    assert!(!place.path("out").exists(), "nothing is written for a scene that cannot be run");
}

#[test]
fn a_long_line_does_not_flood_the_screen() {
    let place = Workplace::new();
    place.write("long.toml", &format!("{SMALL}\n[[cloth]]\nname = \"{}\"\nfrmes = 3\n", "x".repeat(100_000)));
    let ended = place.taffeta(&["run", "long.toml"]);
    ended.refused(2, &["long.toml:", "frmes", "1 fault"]);
    assert!(ended.err.len() < 5_000, "{} bytes", ended.err.len());
}

#[test]
fn faults_of_the_command_line_show_its_text() {
    let place = Workplace::new();
    let ended = place.taffeta(&["run", "small.toml", "--set", "solver.tolerance=much", "--set", "nonsense"]);
    ended.refused(2, &["command line", "--set solver.tolerance=much", "--set nonsense", "2 faults"]);
    place.taffeta(&["run", "small.toml", "--frames", "0"]).refused(2, &["--set frames=0", "1 fault"]);
    place.taffeta(&["run", "small.toml", "--method", "magic"]).refused(2, &["solver.method=magic", "verlet"]);
}

#[test]
fn scenes_that_are_not_there_are_named() {
    let place = Workplace::new();
    place.taffeta(&["run", "drap"]).refused(2, &["drap", "did you mean `drape`?"]);
    place.taffeta(&["run", "missing.toml"]).refused(2, &["missing.toml", "cannot be opened"]);
}

#[test]
fn wrong_usage_ends_with_two() {
    let place = Workplace::new();
    for words in [
        &["run"][..],
        &["run", "small.toml", "--threads", "0"],
        &["run", "small.toml", "--threads", "many"],
        &["run", "small.toml", "--bogus"],
        &["check"],
        &["check", "small.toml", "--tolerance", "-1"],
        &["bench", "nothing"],
        &["bench", "hang", "--method", "magic"],
        &["fly"],
    ] {
        assert_eq!(place.taffeta(words).code, Some(2), "{words:?}");
    }
    place.succeed(&["run", "--help"]);
}

#[test]
fn folders_that_cannot_be_written_to_are_refused_at_the_door() {
    let place = Workplace::new();
    place.write("file", "");
    place
        .taffeta(&["run", "small.toml", "--out", "file"])
        .refused(2, &["file: making the folder failed", "name another folder"]);
    place
        .taffeta(&["run", "small.toml", "--out", "good", "--report", "file/report.json"])
        .refused(2, &["file: making the folder failed"]);
    assert!(!place.path("good/recording.taffeta").exists());
}
