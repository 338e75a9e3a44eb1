//! Appends blocks to a recording; what does not get through is cut off again.

use super::block::{self, Kind};
use super::order::Order;
use super::payload;
use super::{Frame, FullState, Header, RecordingError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where bytes go: a file, or in tests something that fails like one.
pub(super) trait Sink: Send + Sync {
    /// Writes all bytes from `offset`, the end of the sink, on.
    fn append(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off everything from `offset` on.
    fn cut(&mut self, offset: u64) -> io::Result<()>;
    /// Returns once everything is on the disk itself.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file with the lock of its only writer. The lock ends with this: a child process that the program is just starting has the same handle for a
/// moment, and would keep it longer.
pub(super) struct Locked(File);

impl Locked {
    /// Makes this handle the only writer, or says that there is one already.
    pub fn new(file: File, path: &Path) -> Result<Locked, RecordingError> {
        match file.try_lock() {
            Ok(()) => Ok(Locked(file)),
            Err(TryLockError::WouldBlock) => Err(RecordingError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => {
                Err(RecordingError::Io { path: path.into(), doing: "locking", offset: 0, source })
            }
        }
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // The system ends it too, a little later.
        let _ = self.0.unlock();
    }
}

impl Sink for Locked {
    fn append(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.append(offset, bytes)
    }

    fn cut(&mut self, offset: u64) -> io::Result<()> {
        self.0.cut(offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

impl Sink for File {
    fn append(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }

    fn cut(&mut self, offset: u64) -> io::Result<()> {
        self.set_len(offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Sink for Arc<Mutex<Vec<u8>>> {
    fn append(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.cut(offset)?;
        self.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn cut(&mut self, offset: u64) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.lock().unwrap_or_else(PoisonError::into_inner).truncate(offset);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a recording; dropped without [`Writer::finish`] it leaves one that can be resumed.
///
/// It holds an exclusive lock on the file. Where locks bind everyone (Windows), readers have to wait for it too.
pub struct Writer {
    pub(super) sink: Box<dyn Sink>,
    pub(super) path: PathBuf,
    /// Where the next block goes [bytes].
    pub(super) end: u64,
    /// Whether part of a failed block may lie behind `end`.
    pub(super) torn: bool,
    pub(super) identity: u64,
    /// Sequence number of the next block.
    pub(super) sequence: u32,
    pub(super) particles: usize,
    pub(super) order: Order,
    pub(super) buffer: Vec<u8>,
}

impl Writer {
    /// Starts a recording in a file that must not exist yet.
    pub fn create(path: impl AsRef<Path>, header: &Header) -> Result<Writer, RecordingError> {
        let path = path.as_ref();
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(|source| {
                match source.kind() {
                    io::ErrorKind::AlreadyExists => RecordingError::Exists { path: path.into() },
                    _ => RecordingError::Io { path: path.into(), doing: "creating", offset: 0, source },
                }
            })?;
        let file = Locked::new(file, path)?;
        Writer::begin(Box::new(file), path, header).inspect_err(|_| {
            // A file without a header is worth nothing and would only stand in the way of the next attempt.
            let _ = std::fs::remove_file(path);
        })
    }

    /// Starts a recording in memory that is empty.
    pub fn to_memory(bytes: Arc<Mutex<Vec<u8>>>, header: &Header) -> Result<Writer, RecordingError> {
        Writer::begin(Box::new(bytes), Path::new("memory"), header)
    }

    /// Starts a recording in an empty sink.
    pub(super) fn begin(sink: Box<dyn Sink>, path: &Path, header: &Header) -> Result<Writer, RecordingError> {
        let mut writer = Writer {
            sink,
            path: path.into(),
            end: 0,
            torn: false,
            identity: 0,
            sequence: 0,
            particles: header.rest_positions.len(),
            order: Order::default(),
            buffer: Vec::new(),
        };
        writer.buffer.extend_from_slice(&block::MAGIC);
        writer.buffer.extend_from_slice(&block::VERSION.to_le_bytes());
        block::begin(&mut writer.buffer);
        let written = payload::write_header(&mut writer.buffer, header);
        written.map_err(|reason| writer.refusal(reason))?;
        writer.identity = writer.append(block::PROLOGUE, Kind::Header, false)?;
        Ok(writer)
    }

    /// Appends a frame; after an error the recording is as before, and the same frame may be tried again.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), RecordingError> {
        self.buffer.clear();
        block::begin(&mut self.buffer);
        let written = payload::write_frame(&mut self.buffer, frame, self.particles);
        let order = written.and_then(|()| self.order.after_frame(frame.number, frame.time));
        let order = order.map_err(|reason| self.refusal(reason))?;
        self.append(0, Kind::Frame, false)?;
        self.order = order;
        Ok(())
    }

    /// Appends the full state of the frame written last and waits until all is on the disk.
    ///
    /// Before the first frame it is the state from which the run starts.
    pub fn state(&mut self, state: &FullState) -> Result<(), RecordingError> {
        let order = self.order.after_state(state.frame).map_err(|reason| self.refusal(reason))?;
        self.buffer.clear();
        block::begin(&mut self.buffer);
        payload::write_state(&mut self.buffer, state);
        self.append(0, Kind::State, true)?;
        self.order = order;
        Ok(())
    }

    /// Marks the recording as complete and waits until all is on the disk.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.buffer.clear();
        block::begin(&mut self.buffer);
        self.append(0, Kind::End, true).map(|_| ())
    }

    /// Writes out the block that `buffer` holds from `start` on; returns its checksum.
    fn append(&mut self, start: usize, kind: Kind, sync: bool) -> Result<u64, RecordingError> {
        let sequence =
            self.sequence.checked_add(1).ok_or_else(|| self.refusal("2^32 blocks are written".into()))?;
        let checksum = block::seal(&mut self.buffer, start, kind, self.sequence, self.identity);
        if let Err(source) = self.store(sync) {
            // Where this fails as well, the next block tries again before it is written.
            self.torn = self.sink.cut(self.end).is_err();
            return Err(RecordingError::Io {
                path: self.path.clone(),
                doing: "writing",
                offset: self.end,
                source,
            });
        }
        self.end += self.buffer.len() as u64;
        self.sequence = sequence;
        Ok(checksum)
    }

    /// Writes the buffer in one go behind the last whole block.
    fn store(&mut self, sync: bool) -> io::Result<()> {
        if self.torn {
            self.sink.cut(self.end)?;
            self.torn = false;
        }
        self.sink.append(self.end, &self.buffer)?;
        if sync { self.sink.sync() } else { Ok(()) }
    }

    fn refusal(&self, reason: String) -> RecordingError {
        RecordingError::Refused { path: self.path.clone(), offset: self.end, reason }
    }
}
