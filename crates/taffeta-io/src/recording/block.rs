//! The frame around every payload: what block this is, how long, and whether it is still what was written.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// First bytes of every recording.
pub(super) const MAGIC: [u8; 8] = *b"TAFFETA\n";
/// The format this program writes and reads.
pub(super) const VERSION: u64 = 1;
/// Bytes before the first block: magic and version.
pub(super) const PROLOGUE: usize = 16;
/// Bytes of a block before its payload.
pub(super) const HEAD: usize = 24;
/// Bytes of a block after its payload.
pub(super) const TAIL: usize = 8;
/// Bytes of the head that its own check covers.
const CHECKED: usize = 16;

/// Where a recording stops being whole, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct Damage {
    /// Where the damaged block begins [bytes]; every block before it is whole.
    pub offset: u64,
    /// What is wrong there.
    pub fault: Fault,
}

/// What can be wrong with a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The file ends within the block, as after a killed process.
    #[error("the block is truncated: {there} of {needed} bytes are there")]
    Truncated {
        /// Bytes in the file.
        there: u64,
        /// Bytes of the block, or of the smallest block where the length itself is cut off.
        needed: u64,
    },
    /// The check of the block's head fails: damaged, or a block of another recording.
    #[error("no block of this recording begins here")]
    Head,
    /// A kind this version does not know.
    #[error("the block kind {:?} is unknown", String::from_utf8_lossy(.0))]
    Kind([u8; 4]),
    /// A block of this recording, but not at its place.
    #[error("block {found} stands where block {expected} belongs")]
    Sequence {
        /// Sequence number that belongs here.
        expected: u32,
        /// Sequence number that is here.
        found: u32,
    },
    /// The contents are not what was written.
    #[error("the block's checksum fails")]
    Checksum,
    /// Whole, but no writer of this version writes such a thing.
    #[error("the block is whole but its contents are impossible: {0}")]
    Contents(String),
    /// A finished recording goes on.
    #[error("something follows the end block")]
    AfterEnd,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Frame,
    State,
    End,
}

impl Kind {
    const ALL: [(Kind, [u8; 4]); 4] =
        [(Kind::Header, *b"HEAD"), (Kind::Frame, *b"FRAM"), (Kind::State, *b"STAT"), (Kind::End, *b"END ")];

    fn code(self) -> [u8; 4] {
        Self::ALL[self as usize].1
    }
}

/// Starts a block at the end of `buffer`; the payload follows, then [`seal`].
pub(super) fn begin(buffer: &mut Vec<u8>) {
    buffer.extend_from_slice(&[0; HEAD]);
}

/// Fills in the head of the block that starts at `start` and appends its checksum, which is returned.
pub(super) fn seal(buffer: &mut Vec<u8>, start: usize, kind: Kind, sequence: u32, identity: u64) -> u64 {
    let block = &mut buffer[start..];
    let length = (block.len() - HEAD) as u64;
    block[0..4].copy_from_slice(&kind.code());
    block[4..8].copy_from_slice(&sequence.to_le_bytes());
    block[8..16].copy_from_slice(&length.to_le_bytes());
    let check = xxh3_64_with_seed(&block[..CHECKED], identity);
    block[CHECKED..HEAD].copy_from_slice(&check.to_le_bytes());
    let checksum = xxh3_64_with_seed(block, identity);
    buffer.extend_from_slice(&checksum.to_le_bytes());
    checksum
}

/// Kind and payload length of the block whose head this is, if it is block `expected` of the recording `identity`.
pub(super) fn parse_head(head: &[u8; HEAD], expected: u32, identity: u64) -> Result<(Kind, u64), Fault> {
    let (code, found) = (word(head, 0), u32::from_le_bytes(word(head, 4)));
    let check = u64::from_le_bytes(word(head, CHECKED));
    if check != xxh3_64_with_seed(&head[..CHECKED], identity) {
        return Err(Fault::Head);
    }
    if found != expected {
        return Err(Fault::Sequence { expected, found });
    }
    let kind = Kind::ALL.iter().find(|known| known.1 == code).ok_or(Fault::Kind(code))?.0;
    Ok((kind, u64::from_le_bytes(word(head, 8))))
}

/// Checksum that stands at the end of a whole block, if it is right.
pub(super) fn verify(block: &[u8], identity: u64) -> Result<u64, Fault> {
    let (covered, tail) = block.split_last_chunk::<TAIL>().ok_or(Fault::Checksum)?;
    let checksum = u64::from_le_bytes(*tail);
    if checksum == xxh3_64_with_seed(covered, identity) { Ok(checksum) } else { Err(Fault::Checksum) }
}

/// Bytes of a block with this much payload; a lie too large for any file stays too large.
pub(super) fn size(payload: u64) -> u64 {
    payload.saturating_add((HEAD + TAIL) as u64)
}

/// `N` bytes of a head from `at` on; both are constants of the format.
fn word<const N: usize>(head: &[u8; HEAD], at: usize) -> [u8; N] {
    std::array::from_fn(|k| head[at + k])
}
