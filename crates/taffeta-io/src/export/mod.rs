//! Exports: a recording as files that Blender, Houdini, USD and glTF pipelines read.
//!
//! Frames are streamed, so that memory does not depend on the length of the run. A file or folder appears whole under
//! its name or not at all, and equal recordings give equal bytes. `docs/export.md` says what to set in which program.
//!
//! ```no_run
//! use std::path::Path;
//! use taffeta_io::{export::{Format, Options, export}, recording::Reader};
//!
//! let mut reader = Reader::open("run.taffeta")?;
//! let done = export(&mut reader, Format::Usd, Path::new("run.usda"), &Options::default(), &mut |_, _| {})?;
//! println!("{} frames, {} bytes", done.frames, done.bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod abc;
pub mod alembic;
mod csv;
mod film;
mod gltf;
pub mod maps;
mod names;
mod obj;
pub mod pattern;
mod pending;
mod ply;
mod point_cache;
mod remesh;
mod sequence;
mod shaping;
mod skeleton;
mod solid;
mod subject;
mod usd;
mod usd_materials;
mod usdz;
mod weave;

use crate::recording::{Damage, NoPressure, Reader, RecordingError};
use film::Film;
use maps::FitMap;
use std::fmt;
use std::io::{BufWriter, Cursor};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use subject::Subject;

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A folder of Wavefront OBJ files, one per frame.
    Obj,
    /// A folder of binary PLY files, one per frame.
    Ply,
    /// A PC2 point cache, with the rest mesh as OBJ beside it.
    Pc2,
    /// An MDD point cache, with the rest mesh as OBJ beside it.
    Mdd,
    /// A USD layer as text (`.usda`).
    Usd,
    /// The same packed into one file (`.usdz`), as viewers want it.
    Usdz,
    /// A binary glTF 2.0 file (`.glb`) with morph targets.
    Gltf,
    /// An Alembic archive (`.abc`).
    Alembic,
    /// A table of the frames' reports.
    Csv,
}

impl Format {
    /// Every format, in the order of the list that users see.
    pub const ALL: [Format; 9] = [
        Format::Obj,
        Format::Ply,
        Format::Pc2,
        Format::Mdd,
        Format::Usd,
        Format::Usdz,
        Format::Gltf,
        Format::Alembic,
        Format::Csv,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Obj => "obj",
            Format::Ply => "ply",
            Format::Pc2 => "pc2",
            Format::Mdd => "mdd",
            Format::Usd => "usd",
            Format::Usdz => "usdz",
            Format::Gltf => "gltf",
            Format::Alembic => "alembic",
            Format::Csv => "csv",
        }
    }

    /// What its files end in.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Usd => "usda",
            Format::Gltf => "glb",
            Format::Alembic => "abc",
            other => other.name(),
        }
    }

    /// Whether all it holds is one mesh, which bodies have to be part of.
    pub fn is_one_mesh(self) -> bool {
        matches!(self, Format::Obj | Format::Ply | Format::Pc2 | Format::Mdd)
    }

    /// Whether its names are identifiers.
    fn has_identifiers(self) -> bool {
        matches!(self, Format::Usd | Format::Usdz)
    }

    /// The format that a path's extension names.
    pub fn of_path(path: &Path) -> Result<Format, UnknownFormat> {
        path.extension().and_then(|extension| extension.to_str()).unwrap_or("").parse()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let lower = name.to_ascii_lowercase();
        let known = Format::ALL.into_iter().find(|f| f.name() == lower || f.extension() == lower);
        known.ok_or(UnknownFormat { name: name.into() })
    }
}

/// A name or extension that is no format's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no export format; choose one of {}", Format::ALL.map(Format::name).join(", "))]
pub struct UnknownFormat {
    /// What was asked for.
    pub name: String,
}

/// Which axis of the file points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpAxis {
    /// y, as simulated.
    Y,
    /// z: (x, y, z) becomes (x, -z, y).
    Z,
}

/// How many bits a coordinate has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// Single.
    #[default]
    F32,
    /// Double, in OBJ and PLY alone.
    F64,
}

/// How bodies are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bodies {
    /// Those that deform by all their points in every frame; those that only move as a shape with its place.
    #[default]
    Points,
    /// The same, but those that hang on bones by their skeleton, in USD and glTF.
    Skeleton,
    /// Not at all.
    None,
}

/// How to export; the default suits the program that the format is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The axis that points up; `None` is z for PLY and y for all others.
    pub up: Option<UpAxis>,
    /// Units of the file per metre [1/m]: 100 writes centimetres.
    pub scale: f64,
    /// Numbers of the first and last frame; `None` is all.
    pub frames: Option<RangeInclusive<u32>>,
    /// Bits of a coordinate.
    pub precision: Precision,
    /// Whether smooth normals are written; `None` writes them into USD and glTF, whose readers make none themselves.
    pub normals: Option<bool>,
    /// How bodies are written.
    pub bodies: Bodies,
    /// Whether half-spaces are written, as squares.
    pub floor: bool,
    /// Whether panels are welded where their seams are closed in every frame.
    pub weld: bool,
    /// How often every triangle of cloth is divided into four.
    pub subdivide: u32,
    /// Thickness of cloth [m]; 0 writes surfaces, all else shells.
    pub thickness: f64,
    /// Whether strain of every point and the certificate of every frame are written.
    pub certificate: bool,
    /// What is written of the fit of garments, for every point. The first is shown by colours too.
    pub maps: Vec<FitMap>,
    /// Whether cloth has its weave as a texture, in USD and glTF.
    pub weave: bool,
    /// Whether a file that has the name already is replaced, or a folder that holds nothing but an earlier export.
    pub replace: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            up: None,
            scale: 1.0,
            frames: None,
            precision: Precision::F32,
            normals: None,
            bodies: Bodies::Points,
            floor: false,
            weld: false,
            subdivide: 0,
            thickness: 0.0,
            certificate: false,
            maps: Vec::new(),
            weave: false,
            replace: false,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportSummary {
    /// The files, or the one folder.
    pub paths: Vec<PathBuf>,
    /// Size of all files [bytes].
    pub bytes: u64,
    /// How many frames.
    pub frames: u32,
    /// Number of the first frame.
    pub first: u32,
    /// Number of the last frame.
    pub last: u32,
    /// Whether the run had been recorded to its end.
    pub complete: bool,
    /// What the recording holds and the files do not, a line each.
    pub left_out: Vec<String>,
    /// What is wrong with the recording: frames from there on are not in the export.
    pub damage: Option<Damage>,
}

/// Why an export is not there.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The target would be overwritten.
    #[error(
        "{path}: exists already; remove it, choose another name, or, if it is an earlier export, ask to replace it"
    )]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// The target cannot be a file.
    #[error("{path}: names no file; give a name such as cloth.{extension}")]
    NoName {
        /// What was given.
        path: PathBuf,
        /// What would do.
        extension: &'static str,
    },
    /// The operating system refused.
    #[error("{path}: {doing} failed: {source}; nothing was left there, try again once the cause is gone")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Nobody knows what presses.
    #[error("{0}; leave out pressure, or export from the folder of the run")]
    Pressure(#[from] NoPressure),
    /// A frame that was whole is not any more.
    #[error("frame {frame} changed while it was exported; export again once nothing writes to the recording")]
    Changed {
        /// Its number, or that of the frame before.
        frame: u32,
    },
    /// Nothing to export in the range.
    #[error("no whole frame is in the range asked for; {}", .seen.clone().map_or(
        "the recording has none at all: simulate first".into(),
        |seen| format!("there are frames from {} to {}", seen.start(), seen.end())))]
    NoFrames {
        /// Numbers of the first and last whole frame that was looked at.
        seen: Option<RangeInclusive<u32>>,
    },
    /// A mesh without faces is of no use to anyone.
    #[error("the recording has no triangles, so there is nothing to draw; export its reports as csv")]
    NoTriangles,
    /// Numbers that no format holds.
    #[error(
        "frame {frame}: {what} is at {position}, which single precision cannot hold; export the frames before it"
    )]
    NotFinite {
        /// The frame's number.
        frame: u32,
        /// What is there.
        what: String,
        /// Where, in units of the file.
        position: taffeta::math::DVec3,
    },
    /// Frames are missing where the format wants equal distances.
    #[error(
        "frame {after} is followed by frame {next}, but {format} wants every frame; export to usd, or a range without the gap"
    )]
    Gap {
        /// The format.
        format: Format,
        /// Number of the frame before the gap.
        after: u32,
        /// Number of the frame behind it.
        next: u32,
    },
    /// More than the format is good for.
    #[error(
        "{frames} frames take {bytes} bytes in {format}, which is for at most {most_frames} frames and {most_bytes} bytes; export a range of frames, or to usd or alembic"
    )]
    TooLarge {
        /// The format.
        format: Format,
        /// Frames asked for.
        frames: u32,
        /// What they would take [bytes].
        bytes: u64,
        /// The most frames.
        most_frames: u32,
        /// The most bytes.
        most_bytes: u64,
    },
    /// An option that the format cannot follow.
    #[error("{format} cannot have {what}; {remedy}")]
    Unsupported {
        /// The format.
        format: Format,
        /// What it cannot have.
        what: String,
        /// What to do instead.
        remedy: &'static str,
    },
}

/// All that the writer of a format gets.
struct Job<'a> {
    film: Film<'a>,
    subject: Subject,
    path: &'a Path,
    /// Name of the target without its extension.
    name: String,
    up: UpAxis,
    scale: f64,
    precision: Precision,
    normals: bool,
    certificate: bool,
    weave: bool,
    replace: bool,
    /// Time from frame to frame [s].
    frame_time: f64,
}

impl<'a> Job<'a> {
    /// Looks through the recording and makes ready what all formats need.
    fn begin(
        reader: &'a mut Reader,
        format: Format,
        path: &'a Path,
        options: &Options,
        progress: &'a mut dyn FnMut(u32, u32),
    ) -> Result<Self, ExportError> {
        check(format, options)?;
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let name = name
            .ok_or_else(|| ExportError::NoName { path: path.into(), extension: format.extension() })?
            .to_owned();
        let up = options.up.unwrap_or(if format == Format::Ply { UpAxis::Z } else { UpAxis::Y });
        let header = reader.header();
        if header.triangles.is_empty() && format != Format::Csv {
            return Err(ExportError::NoTriangles);
        }
        let placement = film::Placement { up, scale: options.scale };
        let (mut subject, mut shaping) = Subject::of(header, placement, options);
        let rest: Vec<_> = header.rest_positions.iter().map(|p| placement.point(*p)).collect();
        let frame_time = header.frame_time;
        shaping.maps.keep(reader, options.frames.as_ref())?;
        let mut film =
            Film::survey(reader, format, path, placement, shaping, options.frames.clone(), progress)?;
        subject.remesh(&mut film.shaping, format, options);
        subject.add_bodies(&mut film, &rest, format, options)?;
        Ok(Self {
            film,
            subject,
            path,
            name,
            up,
            scale: options.scale,
            precision: options.precision,
            normals: options.normals.unwrap_or(matches!(format, Format::Usd | Format::Usdz | Format::Gltf)),
            certificate: options.certificate,
            weave: options.weave,
            replace: options.replace,
            frame_time,
        })
    }

    /// What is told of the files that were written.
    fn end(mut self, format: Format, paths: Vec<PathBuf>, bytes: u64) -> ExportSummary {
        let mut left_out = match format {
            Format::Csv => Vec::new(),
            _ => std::mem::take(&mut self.subject.left_out),
        };
        left_out.extend(self.not_carried(format));
        left_out.extend(self.film.shaping.maps.words());
        let survey = &self.film.survey;
        let (frames, first, last) = (survey.count, survey.first, survey.last);
        let (complete, damage) = (self.film.reader.complete(), self.film.reader.damage().cloned());
        ExportSummary { paths, bytes, frames, first, last, complete, left_out, damage }
    }

    /// Frames per second, exactly whole where the rounding of the frame time alone stands in the way.
    fn rate(&self) -> f64 {
        let rate = self.frame_time.recip();
        if (rate - rate.round()).abs() < 1e-9 * rate { rate.round() } else { rate }
    }

    /// What is there and the format has no place for, in a line.
    fn not_carried(&self, format: Format) -> Option<String> {
        let rate = format!("the frame rate ({} per second)", self.rate());
        let rate = (self.film.survey.count > 1).then_some(rate.as_str());
        let pins = self.subject.pinned.contains(&true).then_some("pins");
        let origins = (!self.subject.origins.is_empty()).then_some("which particle a vertex is");
        let certificate = self.certificate.then_some("strain, the certificate of frames");
        let frames = self.certificate.then_some("the certificate of frames");
        let numbers = self.film.shaping.maps.is_coloured().then_some("numbers of the fit, but their colours");
        let missing: &[Option<&str>] = match format {
            Format::Obj => &[rate, pins, origins, numbers, frames],
            Format::Ply => &[rate, pins, Some("names"), Some("materials"), frames],
            Format::Pc2 => &[rate, pins, Some("materials"), origins, certificate],
            Format::Mdd => &[pins, Some("materials"), origins, certificate],
            Format::Gltf => &[pins, numbers, certificate],
            Format::Alembic => &[pins, Some("materials (colours are the attribute `Cd`)"), frames],
            Format::Usd | Format::Usdz | Format::Csv => &[],
        };
        let missing: Vec<&str> = missing.iter().copied().flatten().collect();
        (!missing.is_empty()).then(|| format!("{format} does not carry {}", missing.join(", ")))
    }
}

/// Writes the frames of a recording to `path`: a folder for OBJ and PLY, a file for all others.
///
/// `progress` is told how many frames are done and how many there are; a format that goes through the recording several
/// times counts every time. A damaged recording is exported up to the damage, which the summary names.
pub fn export(
    reader: &mut Reader,
    format: Format,
    path: &Path,
    options: &Options,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<ExportSummary, ExportError> {
    let mut job = Job::begin(reader, format, path, options, progress)?;
    let (paths, bytes) = match format {
        Format::Obj => obj::write(&mut job),
        Format::Ply => ply::write(&mut job),
        Format::Pc2 => point_cache::write_pc2(&mut job),
        Format::Mdd => point_cache::write_mdd(&mut job),
        Format::Usd => usd::write(&mut job),
        Format::Usdz => usdz::write(&mut job),
        Format::Gltf => gltf::write(&mut job),
        Format::Alembic => abc::write(&mut job),
        Format::Csv => csv::write(&mut job),
    }?;
    Ok(job.end(format, paths, bytes))
}

/// The same as the bytes of the file, for programs that have no disk: USDZ or glTF, whose files are whole by themselves. `name` is a file's.
pub fn export_bytes(
    reader: &mut Reader,
    format: Format,
    name: &str,
    options: &Options,
) -> Result<(Vec<u8>, ExportSummary), ExportError> {
    let path = Path::new(name);
    let mut unseen = |_, _| {};
    let mut job = Job::begin(reader, format, path, options, &mut unseen)?;
    let mut out = BufWriter::new(Cursor::new(Vec::new()));
    match format {
        Format::Usdz => usdz::fill(&mut job, &mut out)?,
        Format::Gltf => gltf::check_size(&job).and_then(|()| gltf::fill(&mut job, &mut out))?,
        _ => {
            let (what, remedy) = ("a file in memory".into(), "export to usdz or gltf, or to a disk");
            return Err(ExportError::Unsupported { format, what, remedy });
        }
    }
    let failed = job.film.failed();
    let bytes = out.into_inner().map_err(|error| failed(error.into_error()))?.into_inner();
    let size = bytes.len() as u64;
    Ok((bytes, job.end(format, vec![path.into()], size)))
}

/// Refuses options that the format cannot follow.
fn check(format: Format, options: &Options) -> Result<(), ExportError> {
    let refuse = |what: String, remedy| Err(ExportError::Unsupported { format, what, remedy });
    if !(options.scale.is_finite() && options.scale > 0.0) {
        return refuse(
            format!("{} units per metre", options.scale),
            "give a number above 0, such as 1 or 100",
        );
    }
    if options.precision == Precision::F64 && !matches!(format, Format::Obj | Format::Ply) {
        return refuse("double precision".into(), "leave the precision out, or export to obj or ply");
    }
    if format == Format::Gltf && options.up == Some(UpAxis::Z) {
        return refuse(
            "z pointing up".into(),
            "leave the axis out: glTF is y-up by definition and its readers know",
        );
    }
    if format == Format::Alembic && options.up == Some(UpAxis::Z) {
        return refuse(
            "z pointing up".into(),
            "leave the axis out: an archive does not name its axis, and readers turn it from y",
        );
    }
    if !options.maps.is_empty() && matches!(format, Format::Pc2 | Format::Mdd | Format::Csv) {
        return refuse(
            "maps of the fit".into(),
            "leave them out, or export to usd, usdz, alembic, gltf, ply or obj",
        );
    }
    if options.weave && !options.maps.is_empty() {
        return refuse("a weave and colours of the fit at once".into(), "leave out one of them");
    }
    let rich = matches!(format, Format::Usd | Format::Usdz | Format::Gltf);
    if options.weave && !rich {
        return refuse("a weave".into(), "leave it out, or export to usd, usdz or gltf");
    }
    if options.bodies == Bodies::Skeleton && !rich {
        return refuse("skeletons".into(), "write points, or export to usd, usdz or gltf");
    }
    Ok(())
}
