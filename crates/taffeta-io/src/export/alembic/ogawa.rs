//! The Ogawa container: blocks of bytes and groups that name them by offset. All numbers are little-endian.
//!
//! | byte | size | what                                                                      |
//! |-----:|-----:|---------------------------------------------------------------------------|
//! |    0 |    5 | the ASCII bytes `Ogawa`                                                   |
//! |    5 |    1 | 0xff once the file is whole, 0 before                                     |
//! |    6 |    2 | version, the bytes 0 and 1                                                |
//! |    8 |    8 | offset of the root group, `u64`                                           |
//! |   16 |      | blocks and groups                                                         |
//!
//! A block is its length, `u64`, and that many bytes. A group is the count of its children, `u64`, and one `u64` for each:
//! the offset of a group, or that of a block with the highest bit set. Offset 0 stands for an empty one.

use std::io::{self, Seek, SeekFrom, Write};

const DATA: u64 = 1 << 63;

/// A block or group that has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Child(u64);

impl Child {
    /// No bytes.
    pub const EMPTY_DATA: Child = Child(DATA);
    /// No children.
    pub const EMPTY_GROUP: Child = Child(0);
}

/// Writes a container from its start to its end.
pub struct Ogawa<W: Write + Seek> {
    out: W,
    /// Where the next block goes [bytes].
    end: u64,
}

impl<W: Write + Seek> Ogawa<W> {
    /// Starts a container in an empty file.
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(b"Ogawa\x00\x00\x01\0\0\0\0\0\0\0\0")?;
        Ok(Ogawa { out, end: 16 })
    }

    /// Writes a block made of several pieces.
    pub fn data(&mut self, pieces: &[&[u8]]) -> io::Result<Child> {
        let size: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
        if size == 0 {
            return Ok(Child::EMPTY_DATA);
        }
        let child = Child(self.end | DATA);
        self.out.write_all(&size.to_le_bytes())?;
        pieces.iter().try_for_each(|piece| self.out.write_all(piece))?;
        self.end += 8 + size;
        Ok(child)
    }

    /// Writes a group of blocks and groups that have been written.
    pub fn group(&mut self, children: &[Child]) -> io::Result<Child> {
        if children.is_empty() {
            return Ok(Child::EMPTY_GROUP);
        }
        let group = Child(self.end);
        self.out.write_all(&(children.len() as u64).to_le_bytes())?;
        children.iter().try_for_each(|child| self.out.write_all(&child.0.to_le_bytes()))?;
        self.end += 8 + 8 * children.len() as u64;
        Ok(group)
    }

    /// Names the root and marks the file as whole.
    pub fn finish(mut self, root: Child) -> io::Result<W> {
        self.out.seek(SeekFrom::Start(5))?;
        self.out.write_all(&[0xff, 0, 1])?;
        self.out.write_all(&root.0.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(self.end))?;
        Ok(self.out)
    }
}
