//! Pictures and films as files: PNG, animated PNG, GIF, and MP4 where `ffmpeg` is installed. One frame is in memory at a time.

mod gif_film;
mod mp4_film;
mod palette;
mod part;
mod png_film;

use crate::picture::Image;
use part::Part;
use std::io;
use std::path::{Path, PathBuf};

/// What a film is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reel {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// How many frames there will be.
    pub frames: u32,
    /// How long each is shown [s].
    pub frame_time: f64,
}

/// A film being written. It appears under its name when it is finished, and not at all if it is not.
#[derive(Debug)]
pub struct Film {
    path: PathBuf,
    reel: Reel,
    added: u32,
    // Dropped in this order: nothing may hold the file open when it is removed.
    encoder: Encoder,
    part: Part,
}

#[derive(Debug)]
enum Encoder {
    Png(Box<png_film::PngFilm>),
    Gif(Box<gif_film::GifFilm>),
    Mp4(mp4_film::Mp4Film),
}

/// Why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// The name says nothing about the kind.
    #[error("{path}: end the name in .png, .gif or .mp4")]
    Kind {
        /// The name.
        path: PathBuf,
    },
    /// A film that no format holds.
    #[error(
        "{path}: a film of {frames} frames of {width} x {height} pixels, {frame_time} s each, was asked for; {remedy}"
    )]
    Reel {
        /// The file.
        path: PathBuf,
        /// How many frames.
        frames: u32,
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
        /// How long each is shown [s].
        frame_time: f64,
        /// What to ask for.
        remedy: &'static str,
    },
    /// A picture of another size, one too many, or one too few.
    #[error("{path}: {added} frames of {frames} were added, {what}")]
    Frames {
        /// The file.
        path: PathBuf,
        /// How many frames were added.
        added: u32,
        /// How many were promised.
        frames: u32,
        /// What went wrong, and the remedy.
        what: &'static str,
    },
    /// The operating system refused.
    #[error("{path}: cannot be written: {source}; nothing was left behind")]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
    /// There is no `ffmpeg`.
    #[error(
        "{path}: MP4 is written by ffmpeg, and {program} cannot be started ({source}); install ffmpeg, or end the name in .gif or .png"
    )]
    NoFfmpeg {
        /// The film.
        path: PathBuf,
        /// What was tried.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// `ffmpeg` gave up.
    #[error("{path}: ffmpeg failed ({status}): {said}")]
    Ffmpeg {
        /// The film.
        path: PathBuf,
        /// How it ended.
        status: String,
        /// Its last words.
        said: String,
    },
}

impl Film {
    /// Starts a film; the end of the name tells its kind. `sample` are pictures like those to come, such as the first,
    /// middle and last one made small, from which a GIF learns its 255 colours; without any it learns them from the first frame.
    pub fn create(path: &Path, reel: Reel, sample: &[Image]) -> Result<Self, FilmError> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        if !["png", "apng", "gif", "mp4"].contains(&end.as_str()) {
            return Err(FilmError::Kind { path: path.into() });
        }
        let Reel { width, height, frames, frame_time } = reel;
        let refuse =
            |remedy| Err(FilmError::Reel { path: path.into(), frames, width, height, frame_time, remedy });
        if frames == 0 || width == 0 || height == 0 {
            return refuse("ask for one frame and one pixel or more");
        }
        if !(1e-3..=60.0).contains(&frame_time) {
            return refuse("show each frame for 0.001 s to 60 s");
        }
        if end == "gif" && width.max(height) > 65535 {
            return refuse("a GIF has at most 65535 pixels on a side");
        }
        let failure = |source| FilmError::Io { path: path.into(), source };
        let (part, file) = Part::begin(path).map_err(failure)?;
        let encoder = match end.as_str() {
            "gif" => Encoder::Gif(Box::new(gif_film::GifFilm::new(file, reel, sample))),
            "mp4" => Encoder::Mp4(mp4_film::Mp4Film::start("ffmpeg", path, part.beside(), reel)?),
            _ => Encoder::Png(Box::new(png_film::PngFilm::new(file, reel).map_err(failure)?)),
        };
        Ok(Self { path: path.into(), reel, added: 0, encoder, part })
    }

    /// Adds the next frame.
    pub fn add(&mut self, image: &Image) -> Result<(), FilmError> {
        let (path, size) = (&self.path, 3 * image.width as usize * image.height as usize);
        let refuse = |what| {
            Err(FilmError::Frames { path: path.clone(), added: self.added, frames: self.reel.frames, what })
        };
        if (image.width, image.height) != (self.reel.width, self.reel.height) || image.data.len() != size {
            return refuse("and the next has another size; make all frames of one size");
        }
        if self.added == self.reel.frames {
            return refuse("and one more came; say how many there are when the film is started");
        }
        let failure = |source| FilmError::Io { path: path.clone(), source };
        match &mut self.encoder {
            Encoder::Png(film) => film.add(image).map_err(failure)?,
            Encoder::Gif(film) => film.add(image).map_err(failure)?,
            Encoder::Mp4(film) => film.add(image)?,
        }
        self.added += 1;
        Ok(())
    }

    /// Ends the film and puts it in its place.
    pub fn finish(self) -> Result<(), FilmError> {
        if self.added != self.reel.frames {
            let what = "and no more came; say how many there are when the film is started";
            return Err(FilmError::Frames {
                path: self.path,
                added: self.added,
                frames: self.reel.frames,
                what,
            });
        }
        let path = self.path;
        let failure = |source| FilmError::Io { path: path.clone(), source };
        match self.encoder {
            Encoder::Png(film) => film.finish().map_err(failure)?,
            Encoder::Gif(film) => film.finish().map_err(failure)?,
            Encoder::Mp4(film) => film.finish()?,
        }
        self.part.put_in_place().map_err(failure)
    }
}

/// Writes one picture; the end of the name tells its kind.
pub fn save(path: &Path, image: &Image) -> Result<(), FilmError> {
    let reel = Reel { width: image.width, height: image.height, frames: 1, frame_time: 1.0 };
    let mut film = Film::create(path, reel, &[])?;
    film.add(image)?;
    film.finish()
}
