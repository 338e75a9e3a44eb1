//! Opens a recording to go on writing where a run stopped.

use super::block::{Damage, Fault, Kind};
use super::order::Order;
use super::reader::{Reader, Trouble};
use super::writer::{Locked, Writer};
use super::{Frame, FullState, Header, RecordingError};
use std::fs::OpenOptions;
use std::path::Path;

/// A recording opened for appending, and what is needed to compute on.
pub struct Resumed {
    /// Appends behind the last whole block.
    pub writer: Writer,
    /// The recording's header.
    pub header: Header,
    /// The last full state; without one the run starts from its scene.
    pub state: Option<FullState>,
    /// Number and state hash of every frame after that state: compute them anew and compare.
    pub frames_after: Vec<(u32, u64)>,
    /// Whether the recording was complete; its end mark is gone now.
    pub complete: bool,
    /// The half-written block that was cut off.
    pub damage: Option<Damage>,
}

impl Writer {
    /// Opens a recording for appending: verifies every block and cuts off a half-written one at the end.
    ///
    /// Damage anywhere else is refused, for cutting there could take whole frames with it.
    pub fn resume(path: impl AsRef<Path>) -> Result<Resumed, RecordingError> {
        let path = path.as_ref();
        let failure =
            |doing, offset| move |source| RecordingError::Io { path: path.into(), doing, offset, source };
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failure("opening", 0))?;
        let locked = Locked::new(file, path)?;
        let file = locked.file();
        let size = file.metadata().map_err(failure("reading", 0))?.len();
        let mut reader = Reader::over(Box::new(file.try_clone().map_err(failure("opening", 0))?), path)?;
        let Whole { order, state, frames_after, sequence, end, damage } = verify(&mut reader)?;
        // A killed process and a lost file system cache leave the front part of a block, nothing else.
        if let Some(damage) = damage.clone().filter(|damage| !matches!(damage.fault, Fault::Truncated { .. }))
        {
            let behind = size.saturating_sub(damage.offset);
            return Err(RecordingError::DamagedInside { path: path.into(), damage, behind });
        }
        if end < size {
            file.set_len(end).map_err(failure("cutting", end))?;
        }
        let header = reader.header().clone();
        let writer = Writer {
            sink: Box::new(locked),
            path: path.into(),
            end,
            torn: false,
            identity: reader.identity(),
            sequence,
            particles: header.rest_positions.len(),
            order,
            buffer: Vec::new(),
        };
        Ok(Resumed { writer, header, state, frames_after, complete: reader.complete(), damage })
    }
}

/// The part of a recording before its first damage.
struct Whole {
    order: Order,
    state: Option<FullState>,
    frames_after: Vec<(u32, u64)>,
    /// Sequence number of the block that comes next.
    sequence: u32,
    /// Where it ends [bytes]; an end block lies behind that.
    end: u64,
    damage: Option<Damage>,
}

/// Reads every block up to the first damaged one.
fn verify(reader: &mut Reader) -> Result<Whole, RecordingError> {
    let (mut order, mut frame) = (Order::default(), Frame::default());
    let mut whole = Whole {
        order,
        state: None,
        frames_after: Vec::new(),
        sequence: 1,
        end: reader.end,
        damage: reader.damage().cloned(),
    };
    for i in 0..reader.blocks.len() {
        let place = reader.blocks[i];
        let read = match place.kind {
            Kind::State => reader.state_block(i, &mut order).map(Some),
            _ => reader.frame_block(i, &mut frame, &mut order).map(|()| None),
        };
        match read {
            Ok(None) => whole.frames_after.push((frame.number, frame.state_hash)),
            Ok(state) => {
                whole.state = state;
                whole.frames_after.clear();
            }
            Err(Trouble::System(error)) => return Err(error),
            Err(Trouble::Damage(damage)) => {
                return Ok(Whole { end: place.offset, damage: Some(damage), ..whole });
            }
        }
        whole.order = order;
        whole.sequence += 1;
    }
    Ok(whole)
}
