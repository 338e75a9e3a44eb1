//! `taffeta export`: a recording as files for Blender, Houdini, USD and glTF pipelines.

use crate::certificate::counted;
use crate::progress::Progress;
use crate::{Ending, Failure};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use taffeta_bench::tell::{aside, described, tell};
use taffeta_io::export::maps::FitMap;
use taffeta_io::export::pattern::pattern_svg;
use taffeta_io::export::{Bodies, Format, Options, Precision, UpAxis, export};
use taffeta_io::recording::{Reader, meant};
use taffeta_io::replacement::Replacement;
use taffeta_io::scene_file::{self, SceneSource};
use taffeta_scene::Garment;

/// Writes a recording as files that other programs read, or the pattern of a garment at full size (`.svg`).
///
/// OBJ and PLY are folders of one file per frame; PC2 and MDD come with their rest mesh as OBJ. `docs/export.md` says what to set in
/// which program.
#[derive(clap::Args)]
pub struct Args {
    /// The recording, or the folder of a run; for a pattern also a scene.
    recording: PathBuf,
    /// The file or folder to write.
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// obj, ply, pc2, mdd, usd, usdz, gltf, alembic or csv. Left out: what the ending of PATH says.
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// The garment whose pattern is written; it need not be told if there is one.
    #[arg(long, value_name = "NAME")]
    garment: Option<String>,
    /// The axis that points up. Left out: what suits the format.
    #[arg(long, value_name = "y|z", value_parser = parse_axis)]
    up: Option<UpAxis>,
    /// Units of the file per metre: 100 writes centimetres.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_scale)]
    scale: f64,
    /// The first and last frame, such as 10-50.
    #[arg(long, value_name = "A-B", value_parser = parse_frames)]
    frames: Option<RangeInclusive<u32>>,
    /// Coordinates with double precision (OBJ and PLY).
    #[arg(long)]
    double: bool,
    /// Write smooth normals, or leave them out, against what suits the format.
    #[arg(long, value_name = "true|false")]
    normals: Option<bool>,
    /// Bodies that deform as points in every frame or, in USD and glTF, on their skeletons; or no bodies at all.
    #[arg(long, value_name = "points|skeleton|none", default_value = "points", value_parser = parse_bodies)]
    bodies: Bodies,
    /// Write floors too, as squares.
    #[arg(long)]
    floor: bool,
    /// Weld the panels of garments along seams that are closed in all frames.
    #[arg(long)]
    weld: bool,
    /// Divide every triangle of cloth into four, smoothly, so many times.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=3))]
    subdivide: u32,
    /// Write cloth as a shell of this thickness [mm].
    #[arg(long, value_name = "MM", value_parser = parse_thickness)]
    thickness: Option<f64>,
    /// Write strain of every point and the certificate of every frame, where the format has a place for them.
    #[arg(long)]
    certificate: bool,
    /// Colour cloth by strain, ease or pressure, and write the numbers where the format has a place for them. Of several, such as ease,pressure, the
    /// first gives the colours.
    #[arg(long, value_name = "QUANTITY,...", alias = "colour", value_delimiter = ',', value_parser = parse_map)]
    color: Vec<FitMap>,
    /// Show the weave of cloth as a texture, in USD and glTF.
    #[arg(long)]
    weave: bool,
    /// Replace an earlier export of that name.
    #[arg(long)]
    replace: bool,
    /// Say nothing unless something is wrong.
    #[arg(long)]
    quiet: bool,
}

fn parse_axis(text: &str) -> Result<UpAxis, String> {
    match text {
        "y" => Ok(UpAxis::Y),
        "z" => Ok(UpAxis::Z),
        _ => Err("write y or z".into()),
    }
}

fn parse_bodies(text: &str) -> Result<Bodies, String> {
    match text {
        "points" => Ok(Bodies::Points),
        "none" => Ok(Bodies::None),
        "skeleton" => Ok(Bodies::Skeleton),
        _ => Err("write points, skeleton or none".into()),
    }
}

fn parse_map(text: &str) -> Result<FitMap, String> {
    let known = FitMap::ALL.into_iter().find(|map| map.name() == text);
    known.ok_or_else(|| format!("write one or several of {}", FitMap::ALL.map(FitMap::name).join(", ")))
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("write a number above 0, such as 100 for centimetres".into()),
    }
}

fn parse_thickness(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x <= 1000.0 => Ok(x),
        _ => Err("write millimetres above 0, such as 0.5".into()),
    }
}

fn parse_frames(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err("write two numbers of frames, such as 10-50".into()),
    }
}

/// Why no pattern can be written.
#[derive(Debug, thiserror::Error)]
enum NoPattern {
    #[error("{0} has no garment, so there is no pattern of it")]
    NoGarment(String),
    #[error("there is no garment {asked:?}; name one of {} with --garment", known.join(", "))]
    Which { asked: String, known: Vec<String> },
    #[error("{} exists already; --replace writes over it", .0.display())]
    Exists(PathBuf),
}

/// Writes the pattern of a garment as SVG.
fn pattern(args: &Args) -> Result<Ending, Failure> {
    let named = args.recording.display().to_string();
    let scene = match meant(&args.recording) {
        Some(recording) => {
            let reader = Reader::open(recording).map_err(Failure::input)?;
            scene_file::from_text(&named, &reader.header().scene, &[])?
        }
        None => scene_file::load(&SceneSource::find(&named)?, &[])?.scene,
    };
    let name = |(k, garment): (usize, &Garment)| match garment.name.as_str() {
        "" => format!("garment[{k}]"),
        name => name.to_string(),
    };
    let known: Vec<String> = scene.garment.iter().enumerate().map(name).collect();
    let chosen = match (&args.garment, &scene.garment[..]) {
        (_, []) => return Err(Failure::input(NoPattern::NoGarment(named))),
        (None, [_]) => Some(0),
        (asked, _) => known.iter().position(|name| Some(name) == asked.as_ref()),
    };
    let Some(chosen) = chosen else {
        let asked = args.garment.clone().unwrap_or_default();
        return Err(Failure::input(NoPattern::Which { asked, known }));
    };
    if args.out.exists() && !args.replace {
        return Err(Failure::work(NoPattern::Exists(args.out.clone())));
    }
    Replacement::write(&args.out, &pattern_svg(&scene.garment[chosen])).map_err(Failure::work)?;
    if !args.quiet {
        tell(described(&args.out))?;
    }
    Ok(Ending::Done)
}

/// Exports a recording.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    if args.format.is_none() && args.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
    {
        return pattern(args);
    }
    let format = match args.format {
        Some(format) => format,
        None => Format::of_path(&args.out).map_err(Failure::input)?,
    };
    let mut reader = Reader::open(meant(&args.recording).unwrap_or_else(|| args.recording.clone()))
        .map_err(Failure::input)?;
    reader.show_torn().map_err(Failure::input)?;
    let options = Options {
        up: args.up,
        scale: args.scale,
        frames: args.frames.clone(),
        precision: if args.double { Precision::F64 } else { Precision::F32 },
        normals: args.normals,
        bodies: args.bodies,
        floor: args.floor,
        weld: args.weld,
        subdivide: args.subdivide,
        thickness: 1e-3 * args.thickness.unwrap_or(0.0),
        certificate: args.certificate,
        maps: args.color.clone(),
        weave: args.weave,
        replace: args.replace,
    };
    let mut progress: Option<Progress> = None;
    let done = export(&mut reader, format, &args.out, &options, &mut |frame, of| {
        let progress = progress.get_or_insert_with(|| Progress::new(args.quiet, 0, of));
        progress.frame(frame, |_| format!("to {format}"));
    });
    drop(progress);
    let done = done.map_err(Failure::work)?;
    if let Some(damage) = &done.damage {
        aside(format_args!("{}: {damage}; frames from there on are not exported", args.recording.display()));
    }
    if !args.quiet {
        done.left_out.iter().for_each(aside);
        let frames = counted(done.frames as usize, "frame");
        let files: Vec<String> = done.paths.iter().map(|path| described(path)).collect();
        tell(format_args!("{frames}, {} to {}: {}", done.first, done.last, files.join(", ")))?;
    }
    Ok(if done.damage.is_some() { Ending::Missed } else { Ending::Done })
}
