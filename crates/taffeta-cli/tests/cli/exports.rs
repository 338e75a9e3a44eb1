//! `taffeta export`: files for other programs, and clear words where there can be none.

use crate::workplace::Workplace;

const RECORDING: &str = "out/small/recording.taffeta";

#[test]
fn every_format_is_written_and_nothing_is_overwritten_unasked() {
    let place = Workplace::new();
    place.succeed(&["run", "small.toml", "--quiet"]);
    for name in ["a.usda", "a.usdz", "a.glb", "a.abc", "a.pc2", "b.mdd", "a.csv"] {
        let ended = place.succeed(&["export", RECORDING, "--out", name]);
        assert!(ended.out.starts_with("13 frames, 0 to 12: "), "{}", ended.out);
        assert!(place.path(name).metadata().unwrap().len() > 100);
    }
    place.succeed(&[
        "export", RECORDING, "--format", "obj", "--out", "frames", "--frames", "3-5", "--up", "z",
    ]);
    // And their materials.
    assert_eq!(place.path("frames").read_dir().unwrap().count(), 3 + 1);
    let made = ["--weld", "--subdivide", "1", "--thickness", "0.5", "--certificate"];
    let ended = place.succeed(&[&["export", RECORDING, "--out", "made.usda"][..], &made].concat());
    assert!(ended.err.contains("nothing is welded: the recording has no seams"), "{}", ended.err);
    let ended = place.succeed(&["export", RECORDING, "--out", "fit.glb", "--color", "pressure,ease"]);
    assert!(ended.err.contains("colours are of pressure, from dark at 0 to yellow at "), "{}", ended.err);
    place
        .taffeta(&["export", RECORDING, "--out", "c.usda", "--color", "warmth"])
        .refused(2, &["write one or several of strain, ease, pressure"]);
    place
        .taffeta(&["export", RECORDING, "--out", "b.abc", "--bodies", "skeleton"])
        .refused(1, &["alembic cannot have skeletons; write points"]);
    place.taffeta(&["export", RECORDING, "--out", "a.usda"]).refused(1, &["a.usda", "exists already"]);
    place.succeed(&["export", RECORDING, "--out", "a.usda", "--replace"]);
}

#[test]
fn what_cannot_be_exported_is_told() {
    let place = Workplace::new();
    place.taffeta(&["export", "none.taffeta", "--out", "a.usda"]).refused(2, &["none.taffeta"]);
    place.succeed(&["run", "small.toml", "--quiet"]);
    place.taffeta(&["export", RECORDING, "--out", "a.xyz"]).refused(2, &["`xyz` is no export format", "usd"]);
    place.taffeta(&["export", RECORDING, "--out", "a.csv", "--frames", "9-2"]).refused(2, &["such as 10-50"]);
    place
        .taffeta(&["export", RECORDING, "--out", "a.usda", "--frames", "90-99"])
        .refused(1, &["from 0 to 12"]);
}

#[test]
fn the_pattern_of_a_garment_is_written_at_full_size_and_can_be_worn() {
    let place = Workplace::new();
    place.succeed(&["export", "shirt", "--out", "shirt.svg"]);
    place.taffeta(&["export", "shirt", "--out", "shirt.svg"]).refused(1, &["shirt.svg", "--replace"]);
    place.succeed(&["export", "shirt", "--out", "shirt.svg", "--replace"]);
    place.taffeta(&["export", "layers", "--out", "a.svg"]).refused(2, &["skirt, shirt", "--garment"]);
    place.succeed(&["export", "layers", "--garment", "skirt", "--out", "skirt.svg"]);
    place.taffeta(&["export", "drape", "--out", "a.svg"]).refused(2, &["has no garment"]);
    place.write("worn.toml", "frames = 1\n[[garment]]\npattern = \"shirt.svg\"\nedge_length = 0.05\n");
    place.taffeta(&["run", "worn.toml", "--quiet", "--lenient"]);
    place.succeed(&["export", "out/worn", "--out", "again.svg"]);
    let names = |file: &str| {
        let text = std::fs::read_to_string(place.path(file)).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("<path id=\"")?.split('"').next().map(String::from))
            .collect::<Vec<_>>()
    };
    assert_eq!(names("again.svg"), names("shirt.svg"));
    assert_eq!(names("shirt.svg").len(), 4);
}
