//! GIF: 255 colours for the whole film, and only what changed in every frame after the first.

use super::Reel;
use super::palette::{COLOURS, Palette};
use crate::picture::Image;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The entry that means "as before".
const AS_BEFORE: u8 = COLOURS as u8;

/// A GIF file being written.
pub struct GifFilm {
    reel: Reel,
    /// Until the colours are known there is a file alone.
    file: Option<BufWriter<File>>,
    palette: Option<Palette>,
    encoder: Option<gif::Encoder<BufWriter<File>>>,
    /// The last frame as shown.
    shown: Vec<u8>,
    frames: u32,
}

impl std::fmt::Debug for GifFilm {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("GifFilm").field("reel", &self.reel).finish_non_exhaustive()
    }
}

impl GifFilm {
    /// Learns the colours from `sample`, or from the first frame if that is empty.
    pub fn new(file: File, reel: Reel, sample: &[Image]) -> Self {
        let palette = (!sample.is_empty()).then(|| Palette::learn(sample.iter()));
        Self { reel, file: Some(BufWriter::new(file)), palette, encoder: None, shown: Vec::new(), frames: 0 }
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> io::Result<()> {
        let palette = self.palette.get_or_insert_with(|| Palette::learn([image].into_iter()));
        let size = [self.reel.width as u16, self.reel.height as u16];
        let encoder = match (&mut self.encoder, self.file.take()) {
            (Some(encoder), _) => encoder,
            (none, Some(file)) => none.insert(begin(file, size, palette)?),
            (None, None) => return Err(io::Error::other("the file is gone after an earlier failure")),
        };
        let width = self.reel.width as usize;
        let entry = |(i, c): (usize, &[u8])| palette.entry([c[0], c[1], c[2]], i % width, i / width);
        let new: Vec<u8> = image.data.chunks_exact(3).enumerate().map(entry).collect();
        let changed = |(new, old): (&u8, &u8)| if new == old { AS_BEFORE } else { *new };
        let buffer = match self.shown.len() == new.len() {
            true => new.iter().zip(&self.shown).map(changed).collect(),
            false => new.clone(),
        };
        let frame = gif::Frame {
            // Time is counted in hundredths; rounding the sum keeps the length of the film.
            delay: (hundredths(self.reel, self.frames + 1) - hundredths(self.reel, self.frames)) as u16,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(AS_BEFORE),
            width: size[0],
            height: size[1],
            buffer: Cow::Owned(buffer),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).map_err(io::Error::other)?;
        (self.shown, self.frames) = (new, self.frames + 1);
        Ok(())
    }

    /// Writes the end.
    pub fn finish(self) -> io::Result<()> {
        let Some(encoder) = self.encoder else { return Ok(()) };
        encoder.into_inner().map_err(io::Error::other)?.flush()
    }
}

fn hundredths(reel: Reel, frames: u32) -> u64 {
    (100.0 * reel.frame_time * f64::from(frames)).round() as u64
}

fn begin(
    file: BufWriter<File>,
    size: [u16; 2],
    palette: &Palette,
) -> io::Result<gif::Encoder<BufWriter<File>>> {
    // All 256 entries, so that "as before" is one of them.
    let mut colours: Vec<u8> = palette.colours.iter().flatten().copied().collect();
    colours.resize(3 * (COLOURS + 1), 0);
    let mut encoder = gif::Encoder::new(file, size[0], size[1], &colours).map_err(io::Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
    Ok(encoder)
}
