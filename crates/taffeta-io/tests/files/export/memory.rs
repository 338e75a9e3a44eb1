//! Exports take the memory of one frame, however long the recording is.

use super::readers::{header, record};
use taffeta_io::export::{Format, Options, export, export_bytes};
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

#[test]
fn a_file_in_memory_is_the_file_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    record(&path, &header(), 0..7);
    let mut reader = Reader::open(&path).unwrap();
    for (format, weave) in
        [(Format::Gltf, false), (Format::Gltf, true), (Format::Usdz, false), (Format::Usdz, true)]
    {
        let options = Options { weave, replace: true, ..Options::default() };
        let out = folder.path().join("it").with_extension(format.extension());
        let on_disk = export(&mut reader, format, &out, &options, &mut |_, _| {}).unwrap();
        let (bytes, told) = export_bytes(&mut reader, format, "it", &options).unwrap();
        assert!(std::fs::read(&out).unwrap() == bytes, "{format}");
        assert_eq!((told.bytes, told.frames, told.left_out), (on_disk.bytes, 7, on_disk.left_out));
    }
    let refused = export_bytes(&mut reader, Format::Alembic, "it", &Options::default()).unwrap_err();
    assert!(refused.to_string().contains("usdz or gltf"), "{refused}");
}
