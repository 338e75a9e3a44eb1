//! Exports take the memory of one frame, however long the recording is.

use super::readers::{header, record};
use taffeta_io::export::{Format, Options, export};
use taffeta_io::recording::Reader;
use testing::memory::used;

/// The most that an export of a recording held at a time, beyond what was there before [bytes].
fn peak(frames: u32, format: Format) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    // Without colliders, whose meshes would hide what grows.
    let header = taffeta_io::recording::Header { about: serde_json::Value::Null, ..header() };
    record(&path, &header, 0..frames);
    let mut reader = Reader::open(&path).unwrap();
    let out = folder.path().join("out");
    let (exported, used) = used(|| export(&mut reader, format, &out, &Options::default(), &mut |_, _| {}));
    exported.unwrap();
    used.peak()
}

#[test]
fn buffers_do_not_grow_with_the_frames() {
    for format in Format::ALL {
        let (short, long) = (peak(20, format), peak(300, format));
        let grown = long.saturating_sub(short);
        let limit = match format {
            // Offsets of positions, their dimensions and bounds; lists double as they grow.
            Format::Alembic => 280 * 8 * 3 * 2,
            // All that the document says of each frame, and only up to a limit of frames.
            Format::Gltf => 280 * 16 * 1024,
            // A few digits more.
            _ => 256,
        };
        assert!(grown <= limit, "{format}: {short} bytes for 20 frames, {long} for 300");
        // A frame is 216 bytes and the file's buffer 64 KiB, so there is something to see.
        assert!(short > 1 << 12, "{format}: {short}");
    }
}
