//! The recording: one append-only file that holds a whole simulation run, frame by frame.
//!
//! A process killed while it writes loses at most the block being written. What a damaged file still holds is
//! read up to the damage, and the reader says where and what that is. All numbers are little-endian; `f32` and `f64`
//! are IEEE 754. `docs/recording.md` shows a reader in Python.
//!
//! # File
//!
//! | byte | size | what                                             |
//! |-----:|-----:|--------------------------------------------------|
//! |    0 |    8 | magic, the ASCII bytes `TAFFETA` and a line feed |
//! |    8 |    8 | format version, `u64` = 1                        |
//! |   16 |      | blocks, one directly after the other             |
//!
//! The first block is `HEAD`. Any number of `FRAM` and `STAT` follow. `END ` comes last and marks a finished run.
//!
//! # Block
//!
//! |  byte | size | what                                                           |
//! |------:|-----:|----------------------------------------------------------------|
//! |     0 |    4 | kind: the ASCII bytes `HEAD`, `FRAM`, `STAT` or `END `         |
//! |     4 |    4 | sequence number, `u32`: 0 for `HEAD`, then 1, 2, 3 ...         |
//! |     8 |    8 | payload length n, `u64`                                        |
//! |    16 |    8 | check, `u64`: XXH3-64 of bytes 0..16, seeded with the identity |
//! |    24 |    n | payload                                                        |
//! | 24+n  |    8 | checksum, `u64`: XXH3-64 of bytes 0..24+n, seeded likewise     |
//!
//! The identity of a recording is the checksum of its `HEAD` block, which is itself seeded with 0. So no block passes
//! for one of another kind, place or recording. The check lets a reader hop from block to block without reading payloads.
//!
//! # Payload of `HEAD`
//!
//! | size | what                                                                  |
//! |-----:|-----------------------------------------------------------------------|
//! |    8 | time from frame to frame \[s\], `f64`                                 |
//! | 7×8  | counts, `u64`: particles p, edges e, triangles t, material points m (0 or p), pinned q, bytes of scene s, bytes of about a |
//! | 24 p | rest positions \[m\], `f64` x y z                                     |
//! |  8 e | rest lengths \[m\], `f64`                                             |
//! | 16 m | material coordinates, `f64` u v                                       |
//! |  8 e | structural edges, two `u32` particles                                 |
//! | 12 t | triangles, three `u32` particles                                      |
//! |  4 q | pinned particles, `u32`                                               |
//! |    s | the scene file as run, UTF-8 TOML                                     |
//! |    a | about the run, UTF-8 JSON                                             |
//!
//! # Payload of `FRAM`
//!
//! | size | what                                                                              |
//! |-----:|-----------------------------------------------------------------------------------|
//! |    4 | frame number, `u32`, greater than that of the frame before                        |
//! |    4 | count of bodies b, `u32`                                                          |
//! |    8 | time \[s\], `f64`, finite and greater than that of the frame before               |
//! |    8 | hash of the full state, `u64`                                                     |
//! |   24 | centre \[m\], `f64` x y z                                                         |
//! | 12 p | positions less the centre \[m\], `f32` x y z, rounded to nearest                  |
//! | 56 b | poses: position \[m\] `f64` x y z, rotation `f64` x y z w (unit quaternion)       |
//! | rest | the frame's report, UTF-8 JSON                                                    |
//!
//! The centre is the middle of the particles' bounding box. A position read back is off by at most 2⁻²⁵ of that box's
//! extent along each axis: 0.03 µm for a cloth of one metre. Positions that are not finite stay so.
//!
//! Cloth that tears has spare particles in the header. The report then lists under `torn` all splits so far: the `twin` that was split, the `spare`
//! that stands in its place in some `triangles`, and those, to be applied one after the other.
//!
//! # Payload of `STAT` and `END `
//!
//! `STAT`: frame number, `u32`; the rest are bytes that mean something to the engine alone. A state stands behind the
//! frame it belongs to; one before the first frame has a smaller number than that frame. `END ` has no payload.

mod block;
/// The recording that a path means, if it means one: itself by its ending, or that in the folder of a run.
pub fn meant(path: &Path) -> Option<PathBuf> {
    let inside = path.join("recording.taffeta");
    match () {
        () if path.extension().is_some_and(|ending| ending == "taffeta") => Some(path.into()),
        () if inside.is_file() => Some(inside),
        () => None,
    }
}

#[cfg(test)]
mod faults;
mod of_run;
mod order;
mod payload;
mod pressing;
mod reader;
mod resume;
pub mod torn;
mod writer;

pub use block::{Damage, Fault};
pub use pressing::{NoPressure, Pressing, pressure, pressures};
pub use reader::Reader;
pub use resume::Resumed;
pub use writer::Writer;

use std::io;
use std::path::{Path, PathBuf};
use taffeta::math::{DVec3, Pose};

/// What a recording says once, before its first frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The scene file's text (TOML) as run, with overrides applied.
    pub scene: String,
    /// Anything else worth keeping: program version, method, threads, names of objects.
    pub about: serde_json::Value,
    /// Time from one frame to the next [s].
    pub frame_time: f64,
    /// Particles of every triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Particles of every structural edge.
    pub edges: Vec<[u32; 2]>,
    /// Length of every structural edge at rest [m].
    pub rest_lengths: Vec<f64>,
    /// Where every particle is at rest [m]; their count is the particle count.
    pub rest_positions: Vec<DVec3>,
    /// Material coordinates of every particle, or none at all.
    pub material: Vec<[f64; 2]>,
    /// Particles held in place.
    pub pinned: Vec<u32>,
}

/// One frame; reading reuses its memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// Number of the frame; grows from frame to frame.
    pub number: u32,
    /// Simulated time [s]; grows from frame to frame.
    pub time: f64,
    /// Hash of the full state in this frame.
    pub state_hash: u64,
    /// What `positions` are relative to [m].
    pub centre: DVec3,
    /// Every particle's position less `centre` [m].
    pub positions: Vec<[f32; 3]>,
    /// Pose of every collider.
    pub bodies: Vec<Pose>,
    /// The frame's report.
    pub report: serde_json::Value,
}

impl Frame {
    /// Stores positions [m] relative to the middle of their bounding box, each rounded to the nearest `f32`.
    pub fn set_positions(&mut self, absolute: &[DVec3]) {
        let finite = || absolute.iter().filter(|p| p.is_finite());
        let low = finite().copied().reduce(DVec3::min).unwrap_or(DVec3::ZERO);
        let high = finite().copied().reduce(DVec3::max).unwrap_or(DVec3::ZERO);
        // Halved before the sum, which could overflow.
        self.centre = 0.5 * low + 0.5 * high;
        self.positions.clear();
        // The bits of a converted NaN are the compiler's choice, so they are fixed here.
        let round = |x: f64| if x.is_nan() { f32::NAN } else { x as f32 };
        self.positions.extend(absolute.iter().map(|p| (*p - self.centre).to_array().map(round)));
    }

    /// Every particle's position [m].
    pub fn absolute(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        self.positions.iter().map(|p| self.centre + DVec3::from(p.map(f64::from)))
    }
}

/// Everything needed to compute on from a frame with the same bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullState {
    /// Number of the frame this state belongs to.
    pub frame: u32,
    /// The engine's own serialisation.
    pub bytes: Vec<u8>,
}

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Creating would overwrite.
    #[error("{path}: exists already; resume it, remove it, or record under another name")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another writer holds the file.
    #[error("{path}: another process is writing to it; wait for that one or record under another name")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused; blocks before `offset` are intact.
    #[error(
        "{path}: {doing} at byte {offset} failed: {source}; what lies before that byte is intact, try again once the cause is gone"
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Where [bytes].
        offset: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The first bytes are not those of a recording.
    #[error("{path}: is no recording (byte 0: the magic is missing); check the name")]
    NotARecording {
        /// The file.
        path: PathBuf,
    },
    /// A version this program does not know.
    #[error(
        "{path}: is a recording of version {found} (byte 8), this program reads version {}; use the one that wrote it",
        block::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version it claims.
        found: u64,
    },
    /// The first block is damaged, and without it the others mean nothing.
    #[error("{path}: the header cannot be read: {damage}; record the run again")]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// Where and what.
        damage: Damage,
    },
    /// Resuming would cut off blocks that may be whole.
    #[error("{path}: {damage}, and the {behind} bytes from there on may hold whole frames; keep a copy, then cut the file there (`truncate -s {offset}`) and resume again", offset = damage.offset)]
    DamagedInside {
        /// The file.
        path: PathBuf,
        /// Where and what.
        damage: Damage,
        /// Size of the damaged block and all behind it [bytes].
        behind: u64,
    },
    /// The caller asked for something a recording cannot hold.
    #[error("{path}: cannot record this (at byte {offset}): {reason}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// Where the block would have gone [bytes].
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The caller asked for a frame that is not there.
    #[error("{path}: has {count} frames, so none can be read from index {index} on; ask for less")]
    NoSuchFrame {
        /// The file.
        path: PathBuf,
        /// Index asked for.
        index: usize,
        /// Frames there are.
        count: usize,
    },
}
