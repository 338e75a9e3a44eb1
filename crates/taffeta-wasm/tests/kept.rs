//! The kept hashes of built-in scenes after two frames and after thirty, which `npm/test.mjs` and the tests of the page find again in WebAssembly.
//!
//! Where a change of the engine changes bits on purpose, what is printed here replaces `kept.hashes`. Thirty frames take minutes and are run with
//! `TAFFETA_LONG=all`.

use taffeta_io::catalogue;
use taffeta_wasm::Simulation;

#[test]
fn built_in_scenes_have_their_hashes() {
    let kept = include_str!("kept.hashes");
    let thirty = |name: &str| {
        let of = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.split(' ').nth(1).map(String::from);
        kept.lines().find_map(of).unwrap_or_default()
    };
    let all = std::env::var("TAFFETA_LONG").is_ok_and(|asked| asked == "all");
    let found: String = catalogue::scenes()
        .iter()
        .map(|scene| {
            let mut simulation = Simulation::of(scene.name).unwrap();
            (0..2).for_each(|_| drop(simulation.step().unwrap()));
            let two = simulation.hash();
            if !all {
                return format!("{} {two} {}\n", scene.name, thirty(scene.name));
            }
            (2..30).for_each(|_| drop(simulation.step().unwrap()));
            format!("{} {two} {}\n", scene.name, simulation.hash())
        })
        .collect();
    assert_eq!(found, kept, "found:\n{found}");
}
