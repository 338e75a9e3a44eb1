//! Exports take the memory of one frame, however long the recording is.

use readers::{header, record};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use taffeta_io::export::{Format, Options, export};
use taffeta_io::recording::Reader;

#[allow(dead_code)]
#[path = "export_readers/mod.rs"]
mod readers;

thread_local! {
    /// What this thread holds and the most that it held [bytes].
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, with a count for every thread.
struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HELD.try_with(|held| {
            let (now, most) = held.get();
            let now = now + layout.size() as isize;
            held.set((now, most.max(now)));
        });
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set((held.get().0 - layout.size() as isize, held.get().1)));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most that an export of a recording held at a time, beyond what was there before [bytes].
fn peak(frames: u32, format: Format) -> isize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    // Without colliders, whose meshes would hide what grows.
    let header = taffeta_io::recording::Header { about: serde_json::Value::Null, ..header() };
    record(&path, &header, 0..frames);
    let mut reader = Reader::open(&path).unwrap();
    let before = HELD.get().0;
    HELD.set((before, before));
    export(&mut reader, format, &folder.path().join("out"), &Options::default(), &mut |_, _| {}).unwrap();
    HELD.get().1 - before
}

#[test]
fn buffers_do_not_grow_with_the_frames() {
    for format in Format::ALL {
        let (short, long) = (peak(20, format), peak(300, format));
        let grown = long - short;
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
