//! A surface that hangs on bones: every point follows the bones that hold it, after its own shape has changed (linear blend skinning, morph targets).

use crate::math::{DAffine3, DVec3, Pose};

/// A surface, the bones that hold it, and where they are from moment to moment.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Skin {
    /// Points in the axes that bones turn from [m].
    pub rest: Vec<DVec3>,
    /// Who holds each point: from the end of the one before to its own, in `shares`.
    pub ends: Vec<u32>,
    /// By how much; those of a point add up to 1.
    pub shares: Vec<Share>,
    /// Shapes that are added in parts.
    pub morphs: Vec<Morph>,
    /// Bones and parts of shapes at every moment; at least one.
    pub moments: Vec<Moment>,
    /// What every bone is in the skeleton; empty where nobody knows.
    #[cfg_attr(feature = "serde", serde(default))]
    pub joints: Vec<SkinJoint>,
}

/// A bone in the skeleton.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SkinJoint {
    /// What its maker calls it, perhaps nothing.
    pub name: String,
    /// The bone that it hangs on.
    pub parent: Option<u32>,
    /// From `rest` to its own axes.
    pub unbound: DAffine3,
}

/// By how much a bone holds a point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Share {
    /// The bone.
    pub bone: u32,
    /// Its share [1].
    pub weight: f64,
}

/// Where points go when all of a shape is added.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Morph {
    /// The points that go anywhere, in rising order.
    pub points: Vec<u32>,
    /// How far each of them, in its own axes.
    pub ways: Vec<DVec3>,
}

/// Bones and shapes at a moment.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Moment {
    /// From `rest` to where each bone brings it.
    pub bones: Vec<DAffine3>,
    /// How much of every shape is added [1].
    pub morphs: Vec<f64>,
}

impl Skin {
    /// Whether all parts fit together; if not, what does not.
    pub fn check(&self) -> Result<(), String> {
        let (points, bones) = (self.rest.len(), self.moments.first().map_or(0, |m| m.bones.len()));
        let rising =
            self.ends.is_sorted() && self.ends.last().is_none_or(|end| *end as usize == self.shares.len());
        if self.ends.len() != points || !rising {
            return Err(format!("a skin of {points} points says of {} who holds them", self.ends.len()));
        }
        if let Some(share) = self.shares.iter().find(|share| share.bone as usize >= bones) {
            return Err(format!("a skin hangs on bone {} of {bones}", share.bone));
        }
        let whole = |m: &Morph| m.points.len() == m.ways.len() && m.points.is_sorted();
        let inside = |m: &Morph| m.points.last().is_none_or(|last| (*last as usize) < points);
        if !self.morphs.iter().all(|m| whole(m) && inside(m)) {
            return Err(format!("a shape of a skin is not one of {points} points"));
        }
        let fits = |m: &Moment| m.bones.len() == bones && m.morphs.len() == self.morphs.len();
        if self.moments.is_empty() || !self.moments.iter().all(fits) {
            return Err(format!("a skin on {bones} bones has moments of other numbers of bones or shapes"));
        }
        let hangs = |joint: &SkinJoint| joint.parent.is_none_or(|parent| (parent as usize) < bones);
        if !self.joints.is_empty() && (self.joints.len() != bones || !self.joints.iter().all(hangs)) {
            return Err(format!("a skin on {bones} bones has a skeleton of others"));
        }
        Ok(())
    }

    /// Puts all points where they are at `share` of the way from one moment to another, under `pose`.
    pub fn place(&self, from: usize, to: usize, share: f64, pose: &Pose, out: &mut [DVec3]) {
        let (before, after) = (&self.moments[from], &self.moments[to]);
        out.copy_from_slice(&self.rest);
        for (morph, (a, b)) in self.morphs.iter().zip(before.morphs.iter().zip(&after.morphs)) {
            let part = a + share * (b - a);
            // Most shapes are not there at most times.
            if part != 0.0 {
                morph.points.iter().zip(&morph.ways).for_each(|(p, way)| out[*p as usize] += part * *way);
            }
        }
        let mut start = 0;
        for (p, end) in out.iter_mut().zip(&self.ends) {
            let held = &self.shares[start..*end as usize];
            *p = pose.to_world(blend(held, *p, before, after, share));
            start = *end as usize;
        }
    }

    /// Where one point is.
    pub fn point(&self, index: usize, from: usize, to: usize, share: f64, pose: &Pose) -> DVec3 {
        let (before, after) = (&self.moments[from], &self.moments[to]);
        let mut p = self.rest[index];
        for (morph, (a, b)) in self.morphs.iter().zip(before.morphs.iter().zip(&after.morphs)) {
            if let Ok(k) = morph.points.binary_search(&(index as u32)) {
                p += (a + share * (b - a)) * morph.ways[k];
            }
        }
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let held = &self.shares[start..self.ends[index] as usize];
        pose.to_world(blend(held, p, before, after, share))
    }
}

/// A point under all bones that hold it. Bones in between moments are the straight mean, so that points move on straight lines.
fn blend(held: &[Share], p: DVec3, before: &Moment, after: &Moment, share: f64) -> DVec3 {
    let under = |bones: &[DAffine3], s: &Share| s.weight * bones[s.bone as usize].transform_point3(p);
    held.iter().fold(DVec3::ZERO, |sum, s| {
        let (from, to) = (under(&before.bones, s), under(&after.bones, s));
        sum + from + share * (to - from)
    })
}
