//! `taffeta render`: pictures and films of a recording, or of a scene that is simulated for it.

use crate::album::{Album, ColourBy};
use crate::certificate::counted;
use crate::progress::Progress;
use crate::run::simulate_into;
use crate::{Ending, Failure};
use std::path::{Path, PathBuf};
use taffeta_bench::tell::{aside, described, tell};
use taffeta_io::recording::meant;
use taffeta_render::film::{Film, Reel, save};
use taffeta_render::{Image, Picture, Quality};

/// Makes a picture or a film. The ending of FILE says which: .png, .gif or .mp4 (which needs ffmpeg).
#[derive(clap::Args)]
pub struct Args {
    /// A recording or the folder of a run; or a scene, which is simulated first.
    source: String,
    /// The file to write. With --all, a .png is animated.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The frame; the last, if left out.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    frame: Option<usize>,
    /// All frames, as a film.
    #[arg(long)]
    all: bool,
    /// Colour the cloth by a quantity, with a legend.
    #[arg(long, value_name = "QUANTITY", alias = "colour")]
    color: Option<ColourBy>,
    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_size)]
    size: (u32, u32),
    /// Four times the work for finer shadows and edges.
    #[arg(long)]
    r#final: bool,
    /// Say nothing unless something is wrong.
    #[arg(long)]
    quiet: bool,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').map(|(width, height)| (width.parse(), height.parse()));
    match sides {
        Some((Ok(width @ 1..=16384), Ok(height @ 1..=16384))) => Ok((width, height)),
        _ => Err("write width and height in pixels, such as 1280x720".into()),
    }
}

/// Makes the picture or film.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let found = meant(Path::new(&args.source));
    // A scene is simulated into a folder that is gone afterwards.
    let simulated = if found.is_some() { None } else { simulate_into(&args.source, args.quiet)? };
    let recording = match (&found, &simulated) {
        (Some(recording), _) | (None, Some((_, recording))) => recording.as_path(),
        (None, None) => return Ok(Ending::Interrupted),
    };
    let mut album = Album::open(recording)?;
    if let Some(damage) = album.damage() {
        aside(format_args!("{}: {damage}; frames from there on are not shown", recording.display()));
    }
    let count = album.frame_count();
    if count == 0 || args.frame.is_some_and(|frame| frame >= count) {
        return Err(Failure::input(NoFrame { asked: args.frame.unwrap_or(0), count }));
    }
    if args.all {
        film(&mut album, args)?
    } else {
        still(&mut album, args.frame.unwrap_or(count - 1), args)?
    }
    if !args.quiet {
        tell(described(&args.out))?;
    }
    Ok(Ending::Done)
}

/// A frame that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no frame {asked}; the recording has {}, counted from 0", counted(*count, "frame"))]
struct NoFrame {
    asked: usize,
    count: usize,
}

impl Args {
    fn picture(&self) -> Picture {
        let quality = if self.r#final { Quality::Final } else { Quality::Preview };
        Picture { width: self.size.0, height: self.size.1, quality, ..Picture::default() }
    }
}

fn still(album: &mut Album, frame: usize, args: &Args) -> Result<(), Failure> {
    let image = still_image(album, frame, args.picture(), args.color)?;
    save(&args.out, &image).map_err(Failure::work)
}

/// One frame, framed by itself.
pub fn still_image(
    album: &mut Album,
    frame: usize,
    mut picture: Picture,
    by: Option<ColourBy>,
) -> Result<Image, Failure> {
    let framing = album.framing(frame..frame + 1, (picture.width, picture.height))?;
    album.turn_to_coloured(frame, by)?;
    picture.camera = Some(album.camera(&framing));
    picture.scale = by.and_then(|by| Album::scale(by, largest(&album.numbers(by))));
    album.take(&picture, framing.ground(), by)
}

/// All frames, from one place, with one scale.
fn film(album: &mut Album, args: &Args) -> Result<(), Failure> {
    let count = album.frame_count();
    let mut picture = args.picture();
    let framing = album.framing(0..count, args.size)?;
    picture.camera = Some(album.camera(&framing));
    if let Some(by) = args.color {
        let mut most = 0.0_f64;
        for k in 0..count {
            album.turn_to_coloured(k, args.color)?;
            most = most.max(largest(&album.numbers(by)));
        }
        picture.scale = Album::scale(by, most);
    }
    let sample = sample(album, &picture, framing.ground(), args.color)?;
    let reel = Reel {
        width: args.size.0,
        height: args.size.1,
        frames: count as u32,
        frame_time: album.frame_time(),
    };
    let mut film = Film::create(&args.out, reel, &sample).map_err(Failure::input)?;
    let mut progress = Progress::new(args.quiet, 0, count as u32);
    for k in 0..count {
        album.turn_to_coloured(k, args.color)?;
        let image = album.take(&picture, framing.ground(), args.color)?;
        film.add(&image).map_err(Failure::work)?;
        progress.frame(k as u32 + 1, |_| "rendered".into());
    }
    drop(progress);
    film.finish().map_err(Failure::work)
}

/// The first, middle and last frame made small, from which a GIF learns its colours.
fn sample(
    album: &mut Album,
    picture: &Picture,
    floor: f64,
    by: Option<ColourBy>,
) -> Result<Vec<Image>, Failure> {
    let small = Picture {
        width: (picture.width / 4).max(1),
        height: (picture.height / 4).max(1),
        quality: Quality::Preview,
        ..picture.clone()
    };
    let count = album.frame_count();
    let mut images = Vec::new();
    for k in [0, count / 2, count - 1] {
        album.turn_to_coloured(k, by)?;
        images.push(album.take(&small, floor, by)?);
    }
    Ok(images)
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().filter(|n| n.is_finite()).fold(0.0, f64::max)
}
