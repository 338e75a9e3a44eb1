//! PNG, animated where there is more than one frame.

use super::Reel;
use crate::picture::Image;
use std::fs::File;
use std::io::{self, BufWriter};

/// A PNG file being written.
pub struct PngFilm {
    writer: png::Writer<BufWriter<File>>,
}

impl std::fmt::Debug for PngFilm {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("PngFilm").finish_non_exhaustive()
    }
}

impl PngFilm {
    /// Writes the header.
    pub fn new(file: File, reel: Reel) -> io::Result<Self> {
        let mut encoder = png::Encoder::new(BufWriter::new(file), reel.width, reel.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        if reel.frames > 1 {
            encoder.set_animated(reel.frames, 0)?;
            // The format counts the time as a fraction of two small numbers.
            encoder.set_frame_delay((1000.0 * reel.frame_time).round().clamp(1.0, 65535.0) as u16, 1000)?;
        }
        Ok(Self { writer: encoder.write_header()? })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> io::Result<()> {
        Ok(self.writer.write_image_data(&image.data)?)
    }

    /// Writes the end.
    pub fn finish(self) -> io::Result<()> {
        Ok(self.writer.finish()?)
    }
}
