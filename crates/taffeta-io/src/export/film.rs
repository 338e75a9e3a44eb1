//! Plays the frames of a range, again and again, placed in the file's axes and units, in the memory of one frame.

use super::shaping::Shaping;
use super::{ExportError, Format, UpAxis};
use crate::recording::{Frame, Reader};
use std::f64::consts::FRAC_1_SQRT_2;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use taffeta::math::{DQuat, DVec3, Pose};

/// From the simulation's axes and metres to the file's axes and units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub up: UpAxis,
    /// Units per metre [1/m].
    pub scale: f64,
}

impl Placement {
    /// A point or direction, scaled.
    pub fn point(&self, p: DVec3) -> DVec3 {
        match self.up {
            UpAxis::Y => p * self.scale,
            UpAxis::Z => DVec3::new(p.x, -p.z, p.y) * self.scale,
        }
    }

    /// A pose; local axes stay what they are.
    pub fn pose(&self, pose: &Pose) -> Pose {
        let turn = DQuat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);
        let rotation = match self.up {
            UpAxis::Y => pose.rotation,
            UpAxis::Z => turn * pose.rotation,
        };
        Pose { position: self.point(pose.position), rotation }
    }
}

/// One frame in the file's axes and units.
#[derive(Default)]
pub(super) struct Moment {
    pub number: u32,
    /// Simulated time [s].
    pub time: f64,
    pub state_hash: u64,
    pub positions: Vec<DVec3>,
    /// Numbers of every point in every map of the fit, and colours that stand for one of them.
    pub maps: Vec<Vec<f64>>,
    pub colours: Vec<[f32; 3]>,
    pub poses: Vec<Pose>,
    pub report: serde_json::Value,
}

impl Moment {
    fn take(&mut self, frame: &mut Frame, placement: Placement, shaping: &mut Shaping) {
        (self.number, self.time, self.state_hash) = (frame.number, frame.time, frame.state_hash);
        shaping.place(frame, placement, &mut self.positions, &mut self.maps);
        self.colours = shaping.colours(&self.maps);
        self.poses.clear();
        self.poses.extend(frame.bodies.iter().map(|pose| placement.pose(pose)));
        self.report = std::mem::take(&mut frame.report);
    }

    /// What single precision cannot hold, if anything.
    fn unfit(&self, shaping: &Shaping) -> Option<(String, DVec3)> {
        let unfit = |p: &DVec3| !p.to_array().iter().all(|x| (*x as f32).is_finite());
        let point = self.positions.iter().position(unfit).map(|i| (shaping.words(i), self.positions[i]));
        let lost = |pose: &Pose| unfit(&pose.position) || !pose.rotation.is_finite();
        point.or_else(|| {
            let i = self.poses.iter().position(lost)?;
            Some((format!("collider {i}"), self.poses[i].position))
        })
    }
}

/// What one look at every frame of the range has found.
pub(super) struct Survey {
    /// Index of the first frame of the range in the recording.
    index: usize,
    /// Whole frames in the range.
    pub count: u32,
    /// Number of the first of them.
    pub first: u32,
    /// Number of the last of them.
    pub last: u32,
    /// Time of the first of them [s].
    pub first_time: f64,
    /// Numbers of the first two frames between which others are missing.
    pub gap: Option<(u32, u32)>,
    /// The corners of a box around all positions.
    pub low: DVec3,
    pub high: DVec3,
    /// Poses in the first frame of the colliders that all frames have.
    pub poses: Vec<Pose>,
    /// Whether each of them moves.
    pub moving: Vec<bool>,
}

impl Survey {
    fn add(&mut self, moment: &Moment) {
        if self.count == 0 {
            (self.first, self.last, self.first_time) = (moment.number, moment.number, moment.time);
            self.poses.clone_from(&moment.poses);
            self.moving.resize(self.poses.len(), false);
        } else if self.gap.is_none() && moment.number != self.last + 1 {
            self.gap = Some((self.last, moment.number));
        }
        self.count += 1;
        self.last = moment.number;
        for p in &moment.positions {
            (self.low, self.high) = (self.low.min(*p), self.high.max(*p));
        }
        self.poses.truncate(moment.poses.len());
        self.moving.truncate(moment.poses.len());
        for (i, moving) in self.moving.iter_mut().enumerate() {
            *moving |= self.poses[i] != moment.poses[i];
        }
    }
}

/// The frames of a range.
pub(super) struct Film<'a> {
    pub survey: Survey,
    /// Where the points come from.
    pub shaping: Shaping,
    pub reader: &'a mut Reader,
    progress: &'a mut dyn FnMut(u32, u32),
    target: &'a Path,
    placement: Placement,
    frame: Frame,
    moment: Moment,
    played: u32,
    planned: u32,
}

impl<'a> Film<'a> {
    /// Looks at all frames of the range once; those behind a damaged one are not part of it.
    pub fn survey(
        reader: &'a mut Reader,
        format: Format,
        target: &'a Path,
        placement: Placement,
        mut shaping: Shaping,
        range: Option<RangeInclusive<u32>>,
        progress: &'a mut dyn FnMut(u32, u32),
    ) -> Result<Film<'a>, ExportError> {
        let range = range.unwrap_or(0..=u32::MAX);
        let (low, high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (poses, moving) = (Vec::new(), Vec::new());
        let (mut frame, mut moment) = (Frame::default(), Moment::default());
        let mut survey = Survey {
            index: 0,
            count: 0,
            first: 0,
            last: 0,
            first_time: 0.0,
            gap: None,
            low,
            high,
            poses,
            moving,
        };
        let mut seen: Option<RangeInclusive<u32>> = None;
        reader.seek(0)?;
        while reader.next_frame(&mut frame)? {
            seen = Some(seen.map_or(frame.number, |seen| *seen.start())..=frame.number);
            if frame.number < *range.start() {
                survey.index += 1;
                continue;
            }
            if frame.number > *range.end() {
                break;
            }
            moment.take(&mut frame, placement, &mut shaping);
            if let Some((what, position)) = moment.unfit(&shaping).filter(|_| format != Format::Csv) {
                return Err(ExportError::NotFinite { frame: moment.number, what, position });
            }
            survey.add(&moment);
        }
        if survey.count == 0 {
            return Err(ExportError::NoFrames { seen });
        }
        Ok(Film {
            survey,
            shaping,
            reader,
            progress,
            target,
            placement,
            frame,
            moment,
            played: 0,
            planned: 0,
        })
    }

    /// Says how often the film will be played, for the progress.
    pub fn plan(&mut self, times: usize) {
        self.planned = u32::try_from(times).unwrap_or(u32::MAX).saturating_mul(self.survey.count);
    }

    /// Shows every frame to `visit`.
    pub fn play(&mut self, visit: &mut dyn FnMut(&Moment) -> io::Result<()>) -> Result<(), ExportError> {
        self.reader.seek(self.survey.index)?;
        for _ in 0..self.survey.count {
            // Whole when surveyed, with all its colliders, and nothing but another program can have changed that.
            let whole = self.reader.next_frame(&mut self.frame)?;
            if !whole || self.frame.bodies.len() < self.survey.moving.len() {
                return Err(ExportError::Changed { frame: self.frame.number });
            }
            self.moment.take(&mut self.frame, self.placement, &mut self.shaping);
            visit(&self.moment).map_err(self.failed())?;
            self.played = self.played.saturating_add(1);
            (self.progress)(self.played, self.planned.max(self.played));
        }
        Ok(())
    }

    /// An error of writing to the target.
    pub fn failed(&self) -> impl Fn(io::Error) -> ExportError + use<> {
        let path = self.target.to_path_buf();
        move |source| ExportError::Io { path: path.clone(), doing: "writing", source }
    }

    /// An error if frames are missing, for formats that only know equal distances.
    pub fn no_gap(&self, format: Format) -> Result<(), ExportError> {
        match self.survey.gap {
            Some((after, next)) => Err(ExportError::Gap { format, after, next }),
            None => Ok(()),
        }
    }
}
