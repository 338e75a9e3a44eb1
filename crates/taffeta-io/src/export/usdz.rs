//! USD packed for viewers (`.usdz`): a zip archive of one layer, not compressed, whose bytes begin at a multiple of 64.

use super::pending::{Pending, settle};
use super::usd::write_layer;
use super::{ExportError, Format, Job};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Where the layer begins [bytes].
const START: u64 = 64;
/// The head of a file in a zip archive without its name [bytes].
const HEAD: usize = 30;
/// The name of the layer: the first file of a package is what it shows.
const NAME: &[u8] = b"scene.usda";
/// The first of January 1980, from which zip counts days: equal recordings give equal bytes.
const DATE: u16 = 1 << 5 | 1;

/// Writes the package.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    let failed = job.film.failed();
    // What the layer is, is known when it is written.
    out.write_all(&[0; START as usize]).map_err(&failed)?;
    write_layer(job, &mut out)?;
    let end = out.stream_position().map_err(&failed)?;
    let Ok(size) = u32::try_from(end - START) else {
        let remedy = "at most 4 GiB: export a range of frames, or to usd or alembic";
        let what = format!("{} bytes", end - START);
        return Err(ExportError::Unsupported { format: Format::Usdz, what, remedy });
    };
    pack(&mut out, size).map_err(&failed)?;
    let bytes = settle(out).map_err(&failed)?;
    Ok((vec![pending.commit()?], bytes))
}

/// Makes an archive of a file that holds the layer: the head before it, the directory behind.
fn pack(out: &mut BufWriter<File>, size: u32) -> io::Result<()> {
    out.flush()?;
    let sum = checksum(out.get_mut())?;
    let padding = START as usize - HEAD - NAME.len();
    // Version 1.0, no flags, stored as it is; time, date, checksum, sizes, lengths of the name and of what pads it.
    let mut about: Vec<u8> = [10u16, 0, 0, 0, DATE].iter().flat_map(|n| n.to_le_bytes()).collect();
    about.extend([sum, size, size].iter().flat_map(|n| n.to_le_bytes()));
    about.extend((NAME.len() as u16).to_le_bytes());
    out.seek(SeekFrom::Start(0))?;
    out.write_all(b"PK\x03\x04")?;
    out.write_all(&about)?;
    out.write_all(&(padding as u16).to_le_bytes())?;
    out.write_all(NAME)?;
    // A block of an unknown kind, which readers skip: kind, length, zeros.
    out.write_all(&0x1986u16.to_le_bytes())?;
    out.write_all(&(padding as u16 - 4).to_le_bytes())?;
    let directory = START as u32 + size;
    out.seek(SeekFrom::Start(directory.into()))?;
    out.write_all(b"PK\x01\x02\x0a\0")?;
    out.write_all(&about)?;
    // No extra block, no comment, disk 0, no attributes, and the head at byte 0.
    out.write_all(&[0; 16])?;
    out.write_all(NAME)?;
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    [1u16, 1].iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
    [46 + NAME.len() as u32, directory].iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
    out.write_all(&[0; 2])
}

/// CRC-32 of all that lies from the layer's first byte on.
fn checksum(file: &mut File) -> io::Result<u32> {
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
