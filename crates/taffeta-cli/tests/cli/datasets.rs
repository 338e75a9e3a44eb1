//! Data sets: whole ones, and ones whose arrays were changed.

use crate::workplace::{Workplace, bytes};
use std::path::PathBuf;

const DATASET: &str = r#"
scene = "small.toml"
[set]
frames = 6
[axis]
"cloth[0].fabric" = ["silk", "wool"]
"collider[0].sphere.radius" = [0.3, 0.25]
[dataset]
title = "Sheets on balls"
license = "CC0-1.0"
sequences = ["usd"]
splits = { train = 0.75, test = 0.25 }
"#;

fn frames(place: &Workplace) -> Vec<PathBuf> {
    let inside = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    inside(place.path("set/samples")).flat_map(inside).collect()
}

#[test]
fn a_data_set_is_whole_and_its_verifier_sees_what_was_changed() {
    let place = Workplace::new();
    place.write("set.toml", DATASET);
    place.succeed(&["dataset", "set.toml", "--out", "set", "--quiet"]);
    let all = frames(&place);
    assert_eq!(all.len(), 4 * 7);
    assert_eq!(std::fs::read_dir(place.path("set/sequences")).unwrap().count(), 4);
    let splits = place.json("set/splits.json");
    assert_eq!((splits["train"].as_array().unwrap().len(), splits["test"].as_array().unwrap().len()), (3, 1));
    let card = String::from_utf8(bytes(&place.path("set/card.md"))).unwrap();
    assert!(
        ["Sheets on balls", "CC0-1.0", "`cloth[0].fabric` | 2", "frames=6"]
            .iter()
            .all(|word| card.contains(word)),
        "{card}"
    );
    let ended = place.succeed(&["dataset", "verify", "set", "--count", "4"]);
    assert!(ended.out.contains("4 of 4 runs"), "{}", ended.out);
    let mut changed = bytes(&all[5]);
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&all[5], changed).unwrap();
    let ended = place.taffeta(&["dataset", "verify", "set", "--count", "4"]);
    ended.refused(1, &["frame_", "differs"]);
    assert!(ended.out.contains("3 of 4 runs"), "{}", ended.out);
    // A sample that is gone is made again.
    std::fs::remove_dir_all(all[5].parent().unwrap()).unwrap();
    place.succeed(&["dataset", "set.toml", "--out", "set", "--quiet", "--resume"]);
    assert!(place.succeed(&["dataset", "verify", "set", "--count", "4"]).out.contains("4 of 4 runs"));
}

#[test]
fn a_file_that_is_no_data_set_is_refused() {
    let place = Workplace::new();
    for (from, to, words) in [
        ("[dataset]", "[measure]", &["there is no [dataset]"][..]),
        ("train = 0.75", "train = 0.5", &["set.toml", "not 1 together"]),
        ("\"usd\"", "\"vhs\"", &["vhs", "export format"]),
        ("license", "licence", &["licence", "docs/sweeps.md"]),
    ] {
        let text = DATASET.replace(from, to);
        let text = if to == "[measure]" { text.split("[measure]").next().unwrap().to_string() } else { text };
        place.write("set.toml", &text);
        place.taffeta(&["dataset", "set.toml", "--out", "set"]).refused(2, words);
    }
}
