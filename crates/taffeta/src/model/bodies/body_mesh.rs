//! A surface of triangles that cloth meets from either side: rigid, or deforming from one moment to the next.

use super::skin::Skin;
use crate::math::{DVec3, Pose};

/// A surface of triangles in its own axes. It has no inside: what is on one side of it stays there.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts"))]
pub struct BodyMesh {
    triangles: Vec<[u32; 3]>,
    moments: Moments,
    pace: Pace,
    thickness: f64,
}

/// Where its points are, from moment to moment.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Moments {
    /// Every point of every moment; at least one moment [m].
    Points(Vec<Vec<DVec3>>),
    /// By bones.
    Skin(Box<Skin>),
}

/// When moments come.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pace {
    /// When the first moment passes [s]; before, it lasts.
    pub start: f64,
    /// Time from one moment to the next [s].
    pub interval: f64,
    /// Whether the first moment follows on the last, which then is the same pose; if not, the last one lasts.
    pub repeats: bool,
    /// How many moments come once, before the first of those that repeat.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_none"))]
    pub once: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { start: 0.0, interval: 1.0, repeats: false, once: 0 }
    }
}

#[cfg(feature = "serde")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A surface as it stands in a file, not to be trusted.
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
struct Parts {
    triangles: Vec<[u32; 3]>,
    moments: Moments,
    pace: Pace,
    thickness: f64,
}

impl TryFrom<Parts> for BodyMesh {
    type Error = String;

    fn try_from(parts: Parts) -> Result<Self, String> {
        let Parts { triangles, moments, pace, thickness } = parts;
        Self::new(triangles, moments, pace, thickness)
    }
}

impl BodyMesh {
    /// A surface of parts that fit together; if they do not, what is wrong with them.
    pub fn new(
        triangles: Vec<[u32; 3]>,
        moments: Moments,
        pace: Pace,
        thickness: f64,
    ) -> Result<Self, String> {
        let points = match &moments {
            Moments::Points(lists) => {
                let points = lists.first().ok_or("a body without points")?.len();
                if let Some(other) = lists.iter().find(|points_then| points_then.len() != points) {
                    return Err(format!("a body of {points} points has {} later", other.len()));
                }
                points
            }
            Moments::Skin(skin) => {
                skin.check()?;
                skin.rest.len()
            }
        };
        if let Some(corner) = triangles.as_flattened().iter().find(|corner| **corner as usize >= points) {
            return Err(format!("a body names point {corner} of {points}"));
        }
        let Pace { start, interval, .. } = pace;
        if !(interval > 0.0 && interval.is_finite() && start.is_finite()) {
            return Err(format!("a body has its points every {interval} s from {start} s on"));
        }
        if !(thickness >= 0.0 && thickness.is_finite()) {
            return Err(format!("a body is {thickness} m thick"));
        }
        Ok(Self { triangles, moments, pace, thickness })
    }

    /// Its triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many points it has.
    pub fn point_count(&self) -> usize {
        match &self.moments {
            Moments::Points(lists) => lists[0].len(),
            Moments::Skin(skin) => skin.rest.len(),
        }
    }

    /// Cloth keeps half of this from it, on either side [m].
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Whether its points move against each other.
    pub fn deforms(&self) -> bool {
        self.moment_count() > 1
    }

    /// How many moments it has.
    pub fn moment_count(&self) -> usize {
        match &self.moments {
            Moments::Points(lists) => lists.len(),
            Moments::Skin(skin) => skin.moments.len(),
        }
    }

    /// Its bones, if it hangs on any.
    pub fn skin(&self) -> Option<&Skin> {
        match &self.moments {
            Moments::Points(_) => None,
            Moments::Skin(skin) => Some(skin),
        }
    }

    /// When its moments come.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Puts its points where they are at `time` [s] under `pose`: on straight lines between moments.
    pub fn place(&self, time: f64, pose: &Pose, out: &mut [DVec3]) {
        let (from, to, share) = self.moments_at(time);
        match &self.moments {
            Moments::Points(lists) => {
                for ((p, a), b) in out.iter_mut().zip(&lists[from]).zip(&lists[to]) {
                    *p = pose.to_world(*a + share * (*b - *a));
                }
            }
            Moments::Skin(skin) => skin.place(from, to, share, pose, out),
        }
    }

    /// Where one of its points is at `time` [s] under `pose`.
    pub fn point(&self, index: usize, time: f64, pose: &Pose) -> DVec3 {
        let (from, to, share) = self.moments_at(time);
        match &self.moments {
            Moments::Points(lists) => {
                let (a, b) = (lists[from][index], lists[to][index]);
                pose.to_world(a + share * (b - a))
            }
            Moments::Skin(skin) => skin.point(index, from, to, share, pose),
        }
    }

    /// Its points at `time` [s] under `pose`.
    pub fn points(&self, time: f64, pose: &Pose) -> Vec<DVec3> {
        let mut points = vec![DVec3::ZERO; self.point_count()];
        self.place(time, pose, &mut points);
        points
    }

    /// The moments before and after `time` [s], and how much of the way has passed.
    pub fn moments_at(&self, time: f64) -> (usize, usize, f64) {
        let last = self.moment_count() - 1;
        let Pace { start, interval, repeats, once } = self.pace;
        let passed = ((time - start) / interval).max(0.0);
        let passed = match (repeats, once.min(last) as f64) {
            (true, once) if once < last as f64 => {
                if passed > once {
                    once + (passed - once) % (last as f64 - once)
                } else {
                    passed
                }
            }
            _ => passed.min(last as f64),
        };
        let number = (passed as usize).min(last);
        (number, (number + 1).min(last), passed - number as f64)
    }
}
