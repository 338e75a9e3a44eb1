//! The kept hashes of built-in scenes after two frames, which `npm/test.mjs` finds again in WebAssembly.
//!
//! Where a change of the engine changes bits on purpose, what is printed here replaces `kept.hashes`.

use taffeta_io::catalogue;
use taffeta_wasm::Simulation;

#[test]
fn built_in_scenes_have_their_hashes() {
    let found: String = catalogue::scenes()
        .iter()
        .map(|scene| {
            let mut simulation = Simulation::of(scene.name).unwrap();
            (0..2).for_each(|_| drop(simulation.step().unwrap()));
            format!("{} {}\n", scene.name, simulation.hash())
        })
        .collect();
    assert_eq!(found, include_str!("kept.hashes"), "found:\n{found}");
}
