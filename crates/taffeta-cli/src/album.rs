//! The frames of a recording as pictures: what is in them, how it is coloured, from where it is seen.

use crate::Failure;
use std::ops::Range;
use std::path::{Path, PathBuf};
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Form, PosedShape};
use taffeta_io::export::maps::{LOOSE, gaps};
use taffeta_io::recording::{Frame, Header, Reader, pressure};
use taffeta_io::scene_file;
use taffeta_render::{BodyView, Camera, ClothView, Framing, Image, Picture, Scale, SceneView, Values};
use taffeta_render::{colour, render, values};
use taffeta_scene::colour::round_above;

/// Colour of cloth whose recording does not say.
const GREY: [f32; 3] = [0.5; 3];
/// Cloth further from all bodies than this has the last colour [m].
const FAR: f64 = 0.02;

/// What cloth can be coloured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColourBy {
    /// Largest strain of the edges around.
    Strain,
    /// Speed since the frame before.
    Speed,
    /// How strongly it is bent.
    Curvature,
    /// Distance to the nearest body, up to 2 cm.
    Contact,
    /// The same, up to 10 cm: how loosely a garment is worn.
    Ease,
    /// How hard bodies press on it; the frame is computed again for that.
    Pressure,
    /// The strips that structural edges are cut into.
    Strips,
}

/// A recording whose frames can be looked at.
pub struct Album {
    reader: Reader,
    cloths: Vec<(Range<usize>, [f32; 3])>,
    forms: Vec<Option<Form>>,
    /// Points of bodies that are meshes in the present frame [m].
    body_points: Vec<Vec<DVec3>>,
    camera: Option<Camera>,
    frame: Frame,
    positions: Vec<DVec3>,
    before: Vec<DVec3>,
    /// Where meshes of the recorded scene are looked for.
    folder: PathBuf,
    /// Pressure in the present frame, once it is asked for [kPa].
    pressure: Option<Vec<f64>>,
}

impl Album {
    /// Opens a recording.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut reader = Reader::open(path).map_err(Failure::input)?;
        reader.show_torn().map_err(Failure::input)?;
        let header = reader.header();
        let colliders = header.about["colliders"].as_array().map_or(&[][..], Vec::as_slice);
        let forms = colliders.iter().map(|c| serde_json::from_value(c["shape"].clone()).ok()).collect();
        let recorded = scene_file::from_text("the recorded scene", &header.scene, &[]).ok();
        let camera = recorded.and_then(|scene| scene.camera).map(|c| Camera {
            position: DVec3::from(c.position),
            target: DVec3::from(c.target),
            field_of_view: c.field_of_view,
        });
        let (frame, positions, before, body_points) = (Frame::default(), Vec::new(), Vec::new(), Vec::new());
        let folder = path.parent().unwrap_or(Path::new(".")).into();
        let (cloths, pressure) = (cloths(header), None);
        Ok(Self { cloths, forms, body_points, camera, reader, frame, positions, before, folder, pressure })
    }

    /// Numbers of frames, from the first to the last whole one.
    pub fn frame_count(&self) -> usize {
        self.reader.frame_count()
    }

    /// Time from one frame to the next [s].
    pub fn frame_time(&self) -> f64 {
        self.reader.header().frame_time
    }

    /// What is wrong with the recording.
    pub fn damage(&self) -> Option<String> {
        self.reader.damage().map(ToString::to_string)
    }

    /// Turns to the `k`-th frame; `false` where there is none that is whole.
    pub fn turn_to(&mut self, k: usize) -> Result<bool, Failure> {
        // The frame before tells the speed.
        let first = k.saturating_sub(1);
        self.reader.seek(first).map_err(Failure::input)?;
        for _ in first..=k {
            std::mem::swap(&mut self.before, &mut self.positions);
            if !self.reader.next_frame(&mut self.frame).map_err(Failure::input)? {
                return Ok(false);
            }
            self.positions.clear();
            self.positions.extend(self.frame.absolute());
        }
        let points = self.known_bodies().map(|(form, pose)| match form {
            Form::Mesh(mesh) => mesh.points(self.frame.time, pose),
            Form::Closed(_) => Vec::new(),
        });
        self.body_points = points.collect();
        self.pressure = None;
        Ok(true)
    }

    /// The same, with what the frame is to be coloured by where the recording does not hold it.
    pub fn turn_to_coloured(&mut self, k: usize, by: Option<ColourBy>) -> Result<bool, Failure> {
        let turned = self.turn_to(k)?;
        // Nothing presses before the first step.
        if turned && by == Some(ColourBy::Pressure) && k > 0 {
            self.pressure = Some(pressure(&mut self.reader, k, &self.folder).map_err(Failure::work)?);
        }
        Ok(turned)
    }

    /// Where to stand and how low the floor is to see the frames `range` whole.
    pub fn framing(&mut self, range: Range<usize>, size: (u32, u32)) -> Result<Framing, Failure> {
        let mut framing = Framing::new(size.0, size.1);
        for k in range {
            if self.turn_to(k)? {
                framing.include(&self.view(None));
            }
        }
        Ok(framing)
    }

    /// The camera of the scene, else the one that sees everything.
    pub fn camera(&self, framing: &Framing) -> Camera {
        self.camera.unwrap_or_else(|| framing.camera())
    }

    /// A picture of the present frame.
    pub fn take(&self, picture: &Picture, floor: f64, by: Option<ColourBy>) -> Result<Image, Failure> {
        let strips = (by == Some(ColourBy::Strips)).then(|| self.strips());
        let numbers = by.filter(|by| *by != ColourBy::Strips).map(|by| self.numbers(by));
        let coloured = strips.as_deref().map(Values::ParticleGroups);
        let mut view = self.view(coloured.or(numbers.as_deref().map(Values::Particles)));
        view.ground = Some(floor);
        render(&view, picture).map_err(Failure::work)
    }

    fn view<'a>(&'a self, values: Option<Values<'a>>) -> SceneView<'a> {
        let header = self.reader.header();
        let cloth = |(triangles, colour): &(Range<usize>, [f32; 3])| ClothView {
            positions: &self.positions,
            triangles: &header.triangles[triangles.clone()],
            material: &header.material,
            colour: *colour,
            thread: None,
            values,
        };
        SceneView {
            cloths: self.cloths.iter().map(cloth).collect(),
            bodies: self.bodies().collect(),
            ground: None,
        }
    }

    fn known_bodies(&self) -> impl Iterator<Item = (&Form, &Pose)> {
        self.forms.iter().zip(&self.frame.bodies).filter_map(|(form, pose)| Some((form.as_ref()?, pose)))
    }

    fn bodies(&self) -> impl Iterator<Item = BodyView<'_>> {
        self.known_bodies().zip(&self.body_points).map(|((form, pose), positions)| match form {
            Form::Closed(shape) => BodyView::Shape(PosedShape { shape: *shape, pose: *pose }),
            Form::Mesh(mesh) => BodyView::Mesh { positions, triangles: mesh.triangles() },
        })
    }

    /// The number of every particle that its colour stands for.
    pub fn numbers(&self, by: ColourBy) -> Vec<f64> {
        let header = self.reader.header();
        match by {
            ColourBy::Strain => values::strain(&self.positions, &header.edges, &header.rest_lengths),
            ColourBy::Curvature => values::curvature(&self.positions, &header.triangles),
            ColourBy::Speed if self.before.len() == self.positions.len() => {
                values::speed(&self.before, &self.positions, header.frame_time)
            }
            ColourBy::Speed | ColourBy::Strips => vec![0.0; self.positions.len()],
            ColourBy::Contact => self.gaps(FAR),
            ColourBy::Ease => self.gaps(LOOSE),
            ColourBy::Pressure => self.pressure.clone().unwrap_or_else(|| vec![0.0; self.positions.len()]),
        }
    }

    /// How far every particle is from the nearest body, up to `far` [m], in millimetres.
    fn gaps(&self, far: f64) -> Vec<f64> {
        gaps(&self.forms, &self.frame, far).into_iter().map(|gap| 1e3 * gap).collect()
    }

    /// The strip of every particle, cut as the material lies flat.
    fn strips(&self) -> Vec<u32> {
        let header = self.reader.header();
        let flat: Vec<DVec3> = header.material.iter().map(|[u, v]| DVec3::new(*u, *v, 0.0)).collect();
        let known = flat.len() == self.positions.len();
        values::strips(if known { &flat } else { &self.positions }, &header.edges)
    }

    /// What the colours mean when the numbers reach up to `most`.
    pub fn scale(by: ColourBy, most: f64) -> Option<Scale> {
        let (title, unit, high) = match by {
            ColourBy::Strain => ("strain", "%", round_above(most)),
            ColourBy::Speed => ("speed", "m/s", round_above(most)),
            ColourBy::Curvature => ("curvature", "1/m", round_above(most)),
            ColourBy::Contact => ("distance to bodies", "mm", 1e3 * FAR),
            ColourBy::Ease => ("ease", "mm", 1e3 * LOOSE),
            ColourBy::Pressure => ("pressure", "kPa", round_above(most)),
            ColourBy::Strips => return None,
        };
        Some(Scale { title: title.into(), unit: unit.into(), low: 0.0, high })
    }
}

/// Triangles and colour of every piece of cloth; one grey piece where the recording does not tell.
fn cloths(header: &Header) -> Vec<(Range<usize>, [f32; 3])> {
    let count = header.triangles.len();
    let listed = header.about["cloths"].as_array().map_or(&[][..], Vec::as_slice);
    let piece = |about: &serde_json::Value| {
        let end = |k: usize| about["triangles"][k].as_u64().and_then(|n| usize::try_from(n).ok());
        let (first, last) = (end(0)?, end(1)?);
        let hue = about["colour"].as_str().and_then(colour::from_hex).unwrap_or(GREY);
        (first <= last && last <= count).then_some((first..last, hue))
    };
    let pieces: Option<Vec<_>> = listed.iter().map(piece).collect();
    pieces.filter(|pieces| !pieces.is_empty()).unwrap_or_else(|| vec![(0..count, GREY)])
}
