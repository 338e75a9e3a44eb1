//! USD packed for viewers (`.usdz`): a zip archive of one layer and its picture, not compressed, whose bytes begin at multiples of 64.

use super::pending::{Pending, settle};
use super::usd::write_layer;
use super::{ExportError, Format, Job, weave};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Where the layer begins; all files of a package begin at a multiple of this [bytes].
const START: u64 = 64;
/// The head of a file in a zip archive without its name [bytes].
const HEAD: u32 = 30;
/// The name of the layer: the first file of a package is what it shows.
const LAYER: &str = "scene.usda";
/// The name of the picture of the weave.
const PICTURE: &str = "weave.png";
/// The first of January 1980, from which zip counts days: equal recordings give equal bytes.
const DATE: u16 = 1 << 5 | 1;

/// Writes the package.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    fill(job, &mut out)?;
    let bytes = settle(out).map_err(job.film.failed())?;
    Ok((vec![pending.commit()?], bytes))
}

/// Writes all of it to something that is empty.
pub(super) fn fill<S: Read + Write + Seek>(job: &mut Job, out: &mut BufWriter<S>) -> Result<(), ExportError> {
    let failed = job.film.failed();
    // What the layer is, is known when it is written.
    out.write_all(&[0; START as usize]).map_err(&failed)?;
    write_layer(job, out, job.weave.then_some(PICTURE))?;
    let end = out.stream_position().map_err(&failed)?;
    let Ok(size) = u32::try_from(end) else {
        let remedy = "at most 4 GiB: export a range of frames, or to usd or alembic";
        let what = format!("{end} bytes");
        return Err(ExportError::Unsupported { format: Format::Usdz, what, remedy });
    };
    let picture = if job.weave { weave::picture() } else { Vec::new() };
    pack(out, size, &picture).map_err(&failed)
}

/// A file in the archive.
struct Packed {
    name: &'static str,
    /// Where its head and its content begin [bytes].
    head: u32,
    start: u32,
    sum: u32,
    size: u32,
}

impl Packed {
    /// Version 1.0, no flags, stored as it is; time, date, checksum, sizes, length of the name.
    fn about(&self) -> Vec<u8> {
        let mut about: Vec<u8> = [10u16, 0, 0, 0, DATE].iter().flat_map(|n| n.to_le_bytes()).collect();
        about.extend([self.sum, self.size, self.size].iter().flat_map(|n| n.to_le_bytes()));
        about.extend((self.name.len() as u16).to_le_bytes());
        about
    }

    /// Writes its head, padded to where its content begins.
    fn write_head(&self, out: &mut impl Write) -> io::Result<()> {
        let padding = (self.start - self.head - HEAD) as usize - self.name.len();
        out.write_all(b"PK\x03\x04")?;
        out.write_all(&self.about())?;
        out.write_all(&(padding as u16).to_le_bytes())?;
        out.write_all(self.name.as_bytes())?;
        // A block of an unknown kind, which readers skip: kind, length, zeros.
        out.write_all(&0x1986u16.to_le_bytes())?;
        out.write_all(&(padding as u16 - 4).to_le_bytes())?;
        out.write_all(&vec![0; padding - 4])
    }
}

/// Makes an archive of a file that holds the layer and ends at `end`: the head before it, the picture and the directory behind.
fn pack<S: Read + Write + Seek>(out: &mut BufWriter<S>, end: u32, picture: &[u8]) -> io::Result<()> {
    out.flush()?;
    let (start, sum) = (START as u32, checksum(out.get_mut())?);
    let mut packed = vec![Packed { name: LAYER, head: 0, start, sum, size: end - start }];
    out.seek(SeekFrom::Start(0))?;
    packed[0].write_head(out)?;
    out.seek(SeekFrom::Start(end.into()))?;
    let mut directory = end;
    if !picture.is_empty() {
        // With room for the block that pads it.
        let start = (end + HEAD + PICTURE.len() as u32 + 4).next_multiple_of(start);
        let (sum, size) = (crc32fast::hash(picture), picture.len() as u32);
        let second = Packed { name: PICTURE, head: end, start, sum, size };
        second.write_head(out)?;
        out.write_all(picture)?;
        directory = start + size;
        packed.push(second);
    }
    let mut length = 0;
    for file in &packed {
        out.write_all(b"PK\x01\x02\x0a\0")?;
        out.write_all(&file.about())?;
        // No extra block, no comment, disk 0, no attributes.
        out.write_all(&[0; 12])?;
        out.write_all(&file.head.to_le_bytes())?;
        out.write_all(file.name.as_bytes())?;
        length += 46 + file.name.len() as u32;
    }
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    [packed.len() as u16; 2].iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
    [length, directory].iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
    out.write_all(&[0; 2])
}

/// CRC-32 of all that lies from the layer's first byte on.
fn checksum(file: &mut (impl Read + Seek)) -> io::Result<u32> {
    file.seek(SeekFrom::Start(START))?;
    let mut sum = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.finalize()),
            read => sum.update(&buffer[..read]),
        }
    }
}
