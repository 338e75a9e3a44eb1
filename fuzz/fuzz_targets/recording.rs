#![no_main]

use std::path::Path;
use taffeta_io::recording::{Frame, Reader};

#[path = "../../crates/taffeta-io/tests/files/meshes/reseal.rs"]
mod reseal;

fn read(path: &Path) {
    let Ok(mut reader) = Reader::open(path) else { return };
    let mut frame = Frame::default();
    while let Ok(true) = reader.next_frame(&mut frame) {}
    let _ = reader.last_state();
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    let path = folder.join(format!("taffeta-fuzz-{}", std::process::id()));
    // Once as it is, and once with the checksums put right, which no fuzzer guesses.
    let mut bytes = bytes.to_vec();
    for _ in 0..2 {
        std::fs::write(&path, &bytes).unwrap();
        read(&path);
        reseal::reseal(&mut bytes);
    }
});
