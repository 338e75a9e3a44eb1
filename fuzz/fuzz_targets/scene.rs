#![no_main]

use taffeta_io::scene_file::{from_text, to_toml};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match from_text("fuzz", text, &[]) {
        // What is written reads back as the same scene.
        Ok(scene) => assert_eq!(from_text("again", &to_toml(&scene), &[]).unwrap(), scene),
        Err(faults) => assert!(!faults.faults.is_empty() && !faults.to_string().is_empty()),
    }
});
