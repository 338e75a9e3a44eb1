//! A recording: its frames as arrays, its pictures, its exports.

use crate::arrays::{columns, vectors};
use crate::errors::{failed, faulty, refused, unrecorded};
use crate::picture;
use crate::work::on_all_threads;
use numpy::{PyArray1, PyArray2, PyArray3, ToPyArray};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use taffeta::math::DVec3;
use taffeta_cli::album::{Album, ColourBy};
use taffeta_cli::still_image;
use taffeta_io::export::{Format, Options, UpAxis, export};
use taffeta_io::recording::{Frame, Header, Reader, meant};
use taffeta_io::scene_file;
use taffeta_render::{Picture, Quality};

/// A recording on disk; `taffeta.Recording` is this and what Python adds to it.
#[pyclass(module = "taffeta._taffeta", subclass)]
pub struct Recording {
    path: PathBuf,
    reader: Reader,
}

/// Number, time [s], positions [m], state hash and report, as JSON, of a frame.
type FrameParts<'py> = (u32, f64, Bound<'py, PyArray2<f64>>, String, String);

#[pymethods]
impl Recording {
    /// Opens the file, or that in the folder of a run.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let path = meant(&path).unwrap_or(path);
        let mut reader = Reader::open(&path).map_err(unrecorded)?;
        reader.show_torn().map_err(unrecorded)?;
        Ok(Self { path, reader })
    }

    fn __len__(&self) -> usize {
        self.reader.frame_count()
    }

    fn _frame<'py>(&mut self, py: Python<'py>, index: usize) -> PyResult<FrameParts<'py>> {
        let mut frame = Frame::default();
        self.reader.seek(index).map_err(unrecorded)?;
        if !self.reader.next_frame(&mut frame).map_err(unrecorded)? {
            let why = self.reader.damage().map_or("there is no such frame".into(), ToString::to_string);
            return Err(unrecorded(format!("{}: frame {index}: {why}", self.path.display())));
        }
        let positions: Vec<DVec3> = frame.absolute().collect();
        let hash = format!("{:016x}", frame.state_hash);
        Ok((frame.number, frame.time, vectors(py, &positions), hash, frame.report.to_string()))
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Whether the run was recorded to its end.
    #[getter]
    fn complete(&self) -> bool {
        self.reader.complete()
    }

    /// What is wrong with the file, in words; None where nothing is.
    #[getter]
    fn damage(&self) -> Option<String> {
        self.reader.damage().map(ToString::to_string)
    }

    /// The scene as it was run, TOML.
    #[getter]
    fn scene_toml(&self) -> String {
        self.header().scene.clone()
    }

    /// The scene as it was run, as JSON.
    fn _scene_json(&self, py: Python) -> PyResult<String> {
        let origin = format!("the scene in {}", self.path.display());
        let scene = scene_file::from_text(&origin, &self.header().scene, &[]);
        Ok(scene.map_err(|faults| faulty(py, &faults))?.to_json().to_string())
    }

    /// Largest strain that a frame may have [1], if the recording says so.
    #[getter]
    fn tolerance(&self) -> Option<f64> {
        self.header().about["tolerance"].as_f64()
    }

    /// Time from one frame to the next [s].
    #[getter]
    fn frame_time(&self) -> f64 {
        self.header().frame_time
    }

    /// Particles of every triangle, `(triangles, 3)`.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        columns(py, &self.header().triangles)
    }

    /// Particles of every structural edge, `(edges, 2)`.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        columns(py, &self.header().edges)
    }

    /// Lengths of structural edges at rest [m].
    #[getter]
    fn rest_lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.header().rest_lengths.to_pyarray(py)
    }

    /// Where every particle is when nothing pulls [m], `(particles, 3)`.
    #[getter]
    fn rest_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vectors(py, &self.header().rest_positions)
    }

    /// Looks for frames that were written since; how many there are now.
    fn refresh(&mut self) -> PyResult<usize> {
        self.reader.refresh().map_err(unrecorded)
    }

    /// Takes a picture of a frame, `(height, width, 3)` bytes, coloured by `strain`, `speed`, `curvature`, `contact` or `strips` if that is asked for.
    #[pyo3(signature = (frame=-1, width=640, height=360, color=None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        frame: isize,
        width: u32,
        height: u32,
        color: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let by = color.map(colour).transpose()?;
        let count = self.reader.frame_count();
        let index = if frame < 0 { count.checked_add_signed(frame) } else { usize::try_from(frame).ok() };
        let Some(index) = index.filter(|index| *index < count) else {
            return Err(refused(format!(
                "there is no frame {frame}; the recording has {count}, counted from 0"
            )));
        };
        let path = &self.path;
        let picture = Picture { width, height, quality: Quality::Preview, ..Picture::default() };
        let taken = on_all_threads(py, |_| {
            let mut album = Album::open(path)?;
            still_image(&mut album, index, picture, by)
        })?;
        picture::array(py, taken.map_err(|failure| failed(py, failure))?)
    }

    /// Writes frames as files that other programs read; the paths that were written. The format follows from the ending, unless it is given: `obj`, `ply`,
    /// `pc2`, `mdd`, `usd`, `gltf`, `alembic` or `csv`. `frames` is the first and the last, `up` the axis `"y"` or `"z"`, `scale` units per metre.
    #[pyo3(signature = (path, format=None, *, frames=None, up=None, scale=1.0, replace=false))]
    #[allow(clippy::too_many_arguments)]
    fn export(
        &mut self,
        py: Python,
        path: PathBuf,
        format: Option<&str>,
        frames: Option<(u32, u32)>,
        up: Option<&str>,
        scale: f64,
        replace: bool,
    ) -> PyResult<Vec<PathBuf>> {
        let format = format.map_or_else(|| Format::of_path(&path), str::parse).map_err(refused)?;
        let up = match up {
            None => None,
            Some("y") => Some(UpAxis::Y),
            Some("z") => Some(UpAxis::Z),
            Some(other) => return Err(refused(format!("up = {other:?}: choose \"y\" or \"z\""))),
        };
        let frames = frames.map(|(first, last)| first..=last);
        let options = Options { up, scale, frames, replace, ..Options::default() };
        let source: &Path = &self.path;
        // A reader of its own: that of the frames may show cloth as it is torn in the end.
        let written = on_all_threads(py, |_| {
            let mut reader = Reader::open(source)?;
            export(&mut reader, format, &path, &options, &mut |_, _| {})
        })?;
        Ok(written.map_err(unrecorded)?.paths)
    }
}

impl Recording {
    fn header(&self) -> &Header {
        self.reader.header()
    }
}

fn colour(name: &str) -> PyResult<ColourBy> {
    let all = [
        ("strain", ColourBy::Strain),
        ("speed", ColourBy::Speed),
        ("curvature", ColourBy::Curvature),
        ("contact", ColourBy::Contact),
        ("strips", ColourBy::Strips),
    ];
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, by)| *by).ok_or_else(|| {
        refused(format!("color = {name:?}: choose one of {}", all.map(|(known, _)| known).join(", ")))
    })
}
