//! Reads a recording: block by block in constant memory, or any frame by an index of the block heads.

use super::block::{self, Damage, Fault, Kind};
use super::order::Order;
use super::payload;
use super::torn;
use super::{Frame, FullState, Header, RecordingError};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use taffeta::model::Split;

/// Reads a recording, also one that is being written; it sees whole blocks only.
///
/// Memory: the header, the largest block read so far, and 28 bytes per block.
pub struct Reader {
    source: Source,
    header: Header,
    /// Every block behind the header; block `i` has the sequence number `i + 1`.
    pub(super) blocks: Vec<Place>,
    /// Which of the blocks are frames.
    frames: Vec<u32>,
    /// Which of the blocks are states.
    states: Vec<u32>,
    /// Where the next block, or the end block, begins [bytes].
    pub(super) end: u64,
    complete: bool,
    damage: Option<Damage>,
    /// Index of the frame to be read next, and what came directly before it.
    next: usize,
    order: Order,
    /// All splits of the last frame, once [`Reader::show_torn`] was called.
    torn: Vec<Split>,
}

/// Where a block lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub offset: u64,
    pub kind: Kind,
    /// Length of the payload [bytes].
    length: u64,
}

impl Place {
    /// Where the block behind this one begins [bytes].
    pub fn behind(&self) -> u64 {
        self.offset.saturating_add(block::size(self.length))
    }
}

/// Why a block did not come through.
pub(super) enum Trouble {
    /// The system's fault: reading it again may help.
    System(RecordingError),
    /// The file's fault.
    Damage(Damage),
}

impl Reader {
    /// Opens a recording, reads its header and hops over the heads of all blocks.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, RecordingError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| RecordingError::Io {
            path: path.into(),
            doing: "opening",
            offset: 0,
            source,
        })?;
        Reader::over(Box::new(file), path)
    }

    /// The folder that it lies in.
    pub(crate) fn folder(&self) -> PathBuf {
        self.source.path.parent().unwrap_or(Path::new(".")).into()
    }

    /// Reads a recording that is in memory; `name` stands for its path in messages.
    pub fn from_bytes(bytes: Arc<[u8]>, name: &Path) -> Result<Reader, RecordingError> {
        Reader::over(Box::new(Cursor::new(bytes)), name)
    }

    /// Reads from an open file.
    pub(super) fn over(file: Box<dyn Store>, path: &Path) -> Result<Reader, RecordingError> {
        let mut source = Source { file, path: path.into(), identity: 0, buffer: Vec::new() };
        let size = source.size()?;
        source.prologue(size)?;
        let (header, end) = source.header(size).map_err(|trouble| match trouble {
            Trouble::System(error) => error,
            Trouble::Damage(damage) => RecordingError::NoHeader { path: path.into(), damage },
        })?;
        let mut reader = Reader {
            source,
            header,
            blocks: Vec::new(),
            frames: Vec::new(),
            states: Vec::new(),
            end,
            complete: false,
            damage: None,
            next: 0,
            order: Order::default(),
            torn: Vec::new(),
        };
        reader.refresh()?;
        Ok(reader)
    }

    /// Looks for blocks that were written since; returns how many frames there are now.
    pub fn refresh(&mut self) -> Result<usize, RecordingError> {
        (self.complete, self.damage) = (false, None);
        let size = self.source.size()?;
        match self.scan(size) {
            Ok(()) => {}
            Err(Trouble::Damage(damage)) => self.damage = Some(damage),
            Err(Trouble::System(error)) => return Err(error),
        }
        Ok(self.frames.len())
    }

    /// Adds the blocks from `end` on to the index, without reading what they hold.
    fn scan(&mut self, size: u64) -> Result<(), Trouble> {
        while self.end < size {
            let damage = |offset, fault| Trouble::Damage(Damage { offset, fault });
            let sequence = u32::try_from(self.blocks.len() + 1).unwrap_or(u32::MAX);
            let place = self.source.place(self.end, sequence, size)?;
            match place.kind {
                Kind::Header => return Err(damage(self.end, Fault::Contents("a second header".into()))),
                Kind::Frame => self.frames.push(sequence - 1),
                Kind::State => self.states.push(sequence - 1),
                Kind::End => {
                    // It stays outside the index: a writer that extends the recording puts other blocks in its place.
                    self.source.block(place, sequence)?;
                    self.complete = true;
                    let over = place.behind() < size;
                    return if over { Err(damage(place.behind(), Fault::AfterEnd)) } else { Ok(()) };
                }
            }
            self.blocks.push(place);
            self.end = place.behind();
        }
        Ok(())
    }

    /// What the recording says before its first frame.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// From now on the header is that of the last frame, and cloth that is torn there is drawn right by it in all frames: spare particles lie on
    /// their twins until they are used.
    pub fn show_torn(&mut self) -> Result<(), RecordingError> {
        let mut frame = Frame::default();
        for k in (0..self.frames.len()).rev() {
            self.seek(k)?;
            if self.next_frame(&mut frame)? {
                break;
            }
        }
        // What cannot be right is not drawn, and nothing is torn.
        self.torn = torn::splits(&frame.report, &self.header).unwrap_or_default();
        if !self.torn.is_empty() {
            self.header = self.header.torn(&self.torn);
        }
        self.seek(0)
    }

    /// How many frames the index found; whether each is whole shows when it is read.
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// How many full states the index found.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// The first damage met so far, be it by the index or while reading.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Whether the run was recorded to its end.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Reads the next frame; `false` at the end or at a damaged frame, which [`Reader::damage`] then names.
    ///
    /// Frames behind a damaged one can be had by [`Reader::seek`]. `frame` means nothing unless this returns `true`.
    pub fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RecordingError> {
        let Some(&block) = self.frames.get(self.next) else { return Ok(false) };
        let mut order = self.order;
        let read = self.frame_block(block as usize, frame, &mut order);
        if self.good(read)?.is_none() {
            return Ok(false);
        }
        self.next += 1;
        self.order = order;
        if !self.torn.is_empty() {
            let used = torn::splits(&frame.report, &self.header).unwrap_or_default();
            torn::gather(frame, &self.torn, &used);
        }
        Ok(true)
    }

    /// Makes frame `k`, counted from 0 in the file, the next one to be read.
    pub fn seek(&mut self, k: usize) -> Result<(), RecordingError> {
        if k > self.frames.len() {
            let (path, count) = (self.source.path.clone(), self.frames.len());
            return Err(RecordingError::NoSuchFrame { path, index: k, count });
        }
        (self.next, self.order) = (k, Order::default());
        Ok(())
    }

    /// Full state `i`, counted from 0 in the file; `None` if there is none or it is damaged.
    pub fn state(&mut self, i: usize) -> Result<Option<FullState>, RecordingError> {
        let Some(&block) = self.states.get(i) else { return Ok(None) };
        let read = self.state_block(block as usize, &mut Order::default());
        self.good(read)
    }

    /// The newest whole state from which frame `k`, counted from 0 in the file, can be computed.
    pub fn state_for(&mut self, k: usize) -> Result<Option<FullState>, RecordingError> {
        // A state stands behind its frame, so those before the next frame are those at or before this one.
        let limit = k.checked_add(1).and_then(|k| self.frames.get(k)).copied().unwrap_or(u32::MAX);
        for i in (0..self.states.partition_point(|block| *block < limit)).rev() {
            if let Some(state) = self.state(i)? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// The last whole state.
    pub fn last_state(&mut self) -> Result<Option<FullState>, RecordingError> {
        self.state_for(usize::MAX)
    }

    /// Reads and verifies a frame that must fit behind `order`.
    pub(super) fn frame_block(
        &mut self,
        i: usize,
        frame: &mut Frame,
        order: &mut Order,
    ) -> Result<(), Trouble> {
        let particles = self.header.rest_positions.len();
        self.contents(i, |payload| {
            payload::read_frame(payload, frame, particles)?;
            *order = order.after_frame(frame.number, frame.time)?;
            Ok(())
        })
    }

    /// Reads and verifies a state that must fit behind `order`.
    pub(super) fn state_block(&mut self, i: usize, order: &mut Order) -> Result<FullState, Trouble> {
        self.contents(i, |payload| {
            let state = payload::read_state(payload)?;
            *order = order.after_state(state.frame)?;
            Ok(state)
        })
    }

    /// What block `i` holds.
    fn contents<T>(
        &mut self,
        i: usize,
        decode: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<T, Trouble> {
        let place = self.blocks[i];
        let (payload, _) = self.source.block(place, i as u32 + 1)?;
        decode(payload).map_err(|reason| {
            Trouble::Damage(Damage { offset: place.offset, fault: Fault::Contents(reason) })
        })
    }

    /// Keeps the first damage and passes on what is good.
    fn good<T>(&mut self, read: Result<T, Trouble>) -> Result<Option<T>, RecordingError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Trouble::System(error)) => Err(error),
            Err(Trouble::Damage(damage)) => {
                if self.damage.as_ref().is_none_or(|first| damage.offset < first.offset) {
                    self.damage = Some(damage);
                }
                Ok(None)
            }
        }
    }

    /// What the checksums of this recording are seeded with.
    pub(super) fn identity(&self) -> u64 {
        self.source.identity
    }

    #[cfg(test)]
    pub(super) fn buffer_capacity(&self) -> usize {
        self.source.buffer.capacity()
    }
}

/// A file, or what stands for one.
pub(super) trait Store: Read + Seek + Send + Sync {}

impl<T: Read + Seek + Send + Sync> Store for T {}

/// The file, and the one buffer through which all blocks pass.
struct Source {
    file: Box<dyn Store>,
    path: PathBuf,
    identity: u64,
    buffer: Vec<u8>,
}

impl Source {
    /// Size of the file now [bytes].
    fn size(&mut self) -> Result<u64, RecordingError> {
        self.file.seek(SeekFrom::End(0)).map_err(|source| self.failure(0, source))
    }

    /// Checks magic and version.
    fn prologue(&mut self, size: u64) -> Result<(), RecordingError> {
        let mut bytes = [0; block::PROLOGUE];
        if size >= block::PROLOGUE as u64 {
            self.fill(0, &mut bytes)?;
        }
        let (words, _) = bytes.as_chunks::<8>();
        if words[0] != block::MAGIC {
            return Err(RecordingError::NotARecording { path: self.path.clone() });
        }
        match u64::from_le_bytes(words[1]) {
            block::VERSION => Ok(()),
            found => Err(RecordingError::Version { path: self.path.clone(), found }),
        }
    }

    /// Reads the first block and takes on its identity; also returns where the next one begins.
    fn header(&mut self, size: u64) -> Result<(Header, u64), Trouble> {
        let place = self.place(block::PROLOGUE as u64, 0, size)?;
        let damage =
            |reason| Trouble::Damage(Damage { offset: place.offset, fault: Fault::Contents(reason) });
        let (payload, checksum) = self.block(place, 0)?;
        if place.kind != Kind::Header {
            return Err(damage("the first block is no header".into()));
        }
        let header = payload::read_header(payload).map_err(damage)?;
        self.identity = checksum;
        Ok((header, place.behind()))
    }

    /// The block at `offset`, by its head alone; it lies whole within the file.
    fn place(&mut self, offset: u64, sequence: u32, size: u64) -> Result<Place, Trouble> {
        let damage = |fault| Trouble::Damage(Damage { offset, fault });
        let there = size.saturating_sub(offset);
        if there < block::HEAD as u64 {
            return Err(damage(Fault::Truncated { there, needed: block::size(0) }));
        }
        let mut head = [0; block::HEAD];
        self.fill(offset, &mut head)?;
        let (kind, length) = block::parse_head(&head, sequence, self.identity).map_err(damage)?;
        let needed = block::size(length);
        if needed > there {
            return Err(damage(Fault::Truncated { there, needed }));
        }
        Ok(Place { offset, kind, length })
    }

    /// The verified payload and the checksum of a block that the index found.
    fn block(&mut self, place: Place, sequence: u32) -> Result<(&[u8], u64), Trouble> {
        let size = usize::try_from(block::size(place.length)).unwrap_or(usize::MAX);
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.load(place.offset, size, &mut buffer);
        self.buffer = buffer;
        read?;
        let block = &self.buffer[..size];
        let damage = |fault| Trouble::Damage(Damage { offset: place.offset, fault });
        // Read anew: the file may have changed since the index was made.
        let head = block.first_chunk().ok_or(damage(Fault::Head))?;
        if block::parse_head(head, sequence, self.identity).map_err(damage)? != (place.kind, place.length) {
            return Err(damage(Fault::Head));
        }
        let checksum = block::verify(block, self.identity).map_err(damage)?;
        Ok((&block[block::HEAD..size - block::TAIL], checksum))
    }

    /// Reads `size` bytes, known to be in the file, to the front of a buffer that grows but never shrinks.
    fn load(&mut self, offset: u64, size: usize, buffer: &mut Vec<u8>) -> Result<(), RecordingError> {
        if buffer.len() < size {
            let more = size - buffer.len();
            buffer
                .try_reserve_exact(more)
                .map_err(|e| self.failure(offset, io::Error::new(io::ErrorKind::OutOfMemory, e)))?;
            buffer.resize(size, 0);
        }
        self.fill(offset, &mut buffer[..size])
    }

    fn fill(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), RecordingError> {
        let read = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.read_exact(bytes));
        read.map_err(|source| self.failure(offset, source))
    }

    fn failure(&self, offset: u64, source: io::Error) -> RecordingError {
        RecordingError::Io { path: self.path.clone(), doing: "reading", offset, source }
    }
}

impl From<RecordingError> for Trouble {
    fn from(error: RecordingError) -> Self {
        Trouble::System(error)
    }
}
