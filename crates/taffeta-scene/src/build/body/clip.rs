//! A clip of a skeleton as moments of a skin: every node at equal times, [`RATE`] of them in a second.
//!
//! Points move straight between moments, so a point that is accelerated by a [m/s²] is off its true way by at most a / (8 · 120²), 9 µm for each m/s².

use crate::scene::rig::{Between, Clip, Moves, Node, Place, Rig, Shape, Track};
use taffeta::math::{DAffine3, DQuat, DVec3, trig};
use taffeta::model::skin::Moment;

/// Moments in a second of a clip.
pub const RATE: f64 = 120.0;
/// The most bones of all moments together: some 400 MB.
const MOST_BONES: f64 = 4e6;

/// Why a clip cannot be played.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// There is no such clip.
    #[error("is no clip of this file, which has {count}: {names}")]
    Unknown {
        /// How many there are.
        count: usize,
        /// The first of them by name.
        names: String,
    },
    /// It lasts no time.
    #[error("is a clip of length zero: its last key is at {last} s")]
    Empty {
        /// The time of the last key [s].
        last: f64,
    },
    /// It would fill the memory.
    #[error("is a clip of {length} s for {bones} bones, which makes more than {MOST_BONES} places of bones")]
    TooLong {
        /// How long it is [s].
        length: f64,
        /// How many bones it moves.
        bones: usize,
    },
}

/// The clip of that name or, if there is none, of that number, counted from 0.
pub fn find<'r>(rig: &'r Rig, wanted: &str) -> Result<&'r Clip, ClipError> {
    let named = rig.clips.iter().find(|clip| clip.name == wanted);
    let numbered = || wanted.parse::<usize>().ok().and_then(|number| rig.clips.get(number));
    named.or_else(numbered).ok_or_else(|| {
        let names: Vec<String> = rig.clips.iter().take(20).map(|clip| format!("{:?}", clip.name)).collect();
        ClipError::Unknown { count: rig.clips.len(), names: names.join(", ") }
    })
}

/// The moments of a clip and the time from one to the next [s]; `outer` is applied to all of it.
pub fn moments(rig: &Rig, clip: &Clip, outer: DAffine3) -> Result<(Vec<Moment>, f64), ClipError> {
    let length = clip.tracks.iter().filter_map(|track| track.times.last()).copied().fold(0.0, f64::max);
    if length <= 0.0 {
        return Err(ClipError::Empty { last: length });
    }
    let count = (length * RATE).ceil();
    if count * (rig.bones.len() + rig.shapes.len()).max(1) as f64 > MOST_BONES {
        return Err(ClipError::TooLong { length, bones: rig.bones.len() });
    }
    let interval = length / count;
    let moment = |k: usize| pose(rig, clip, interval * k as f64, outer);
    Ok(((0..=count as usize).map(moment).collect(), interval))
}

/// Moments in which a skeleton goes from where no clip moves it to the first pose of a clip, softly; the first pose itself is none of them.
pub fn way_to(rig: &Rig, clip: &Clip, count: usize, outer: DAffine3) -> Vec<Moment> {
    let (places, parts) = placed(rig, clip, 0.0);
    let moment = |k: usize| {
        let s = k as f64 / count as f64;
        let share = s * s * (3.0 - 2.0 * s);
        let between = |(node, place): (&Node, &Place)| towards(&node.place, place, share);
        let places: Vec<Place> = rig.nodes.iter().zip(&places).map(between).collect();
        let part = |(shape, part): (&Shape, &f64)| shape.part + share * (part - shape.part);
        let parts = rig.shapes.iter().zip(&parts).map(part).collect();
        moved(rig, &places, parts, outer)
    };
    (0..count).map(moment).collect()
}

/// A share of the way from one place to another.
fn towards(from: &Place, to: &Place, share: f64) -> Place {
    match (from, to) {
        (
            Place::Parts { scale, turn, shift },
            Place::Parts { scale: scaled, turn: turned, shift: shifted },
        ) => Place::Parts {
            scale: scale.lerp(*scaled, share),
            turn: slerp(upright(turn.to_array()), *turned, share),
            shift: shift.lerp(*shifted, share),
        },
        _ => *to,
    }
}

/// Bones and shapes at a time of a clip [s].
pub fn pose(rig: &Rig, clip: &Clip, time: f64, outer: DAffine3) -> Moment {
    let (places, parts) = placed(rig, clip, time);
    moved(rig, &places, parts, outer)
}

/// Where every node is on its parent, and how much of every shape there is, at a time of a clip [s].
fn placed(rig: &Rig, clip: &Clip, time: f64) -> (Vec<Place>, Vec<f64>) {
    let mut places: Vec<Place> = rig.nodes.iter().map(|node| node.place).collect();
    let mut parts: Vec<f64> = rig.shapes.iter().map(|shape| shape.part).collect();
    for track in &clip.tracks {
        if track.moves == Moves::Shapes {
            let shapes = rig.shapes.iter().zip(&mut parts);
            for (shape, part) in shapes.filter(|(shape, _)| shape.node == track.node) {
                *part = track.number(time, shape.number as usize);
            }
        } else if let Some(Place::Parts { scale, turn, shift }) = places.get_mut(track.node as usize) {
            match track.moves {
                Moves::Shift => *shift = track.vector(time),
                Moves::Scale => *scale = track.vector(time),
                _ => *turn = track.turn(time),
            }
        }
    }
    (places, parts)
}

/// Bones of nodes that are so on their parents, with such parts of shapes.
fn moved(rig: &Rig, places: &[Place], parts: Vec<f64>, outer: DAffine3) -> Moment {
    // Parents stand before their children.
    let mut world: Vec<DAffine3> = Vec::with_capacity(places.len());
    for (node, place) in rig.nodes.iter().zip(places) {
        let parent = node.parent.and_then(|parent| world.get(parent as usize)).copied().unwrap_or(outer);
        world.push(parent * local(place));
    }
    let bones = rig.bones.iter().map(|bone| world[bone.node as usize] * bone.unbound).collect();
    Moment { bones, morphs: parts }
}

fn local(place: &Place) -> DAffine3 {
    match *place {
        Place::Whole(matrix) => matrix,
        Place::Parts { scale, turn, shift } => DAffine3::from_scale_rotation_translation(scale, turn, shift),
    }
}

impl Track {
    /// The keys before and after a time [s], how much of the way between them has passed, and how long it is [s].
    fn keys(&self, time: f64) -> (usize, usize, f64, f64) {
        let last = self.times.len().saturating_sub(1);
        let after = self.times.partition_point(|key| *key <= time).min(last);
        let before = if self.times.get(after).is_some_and(|key| *key > time) {
            after.saturating_sub(1)
        } else {
            after
        };
        let at = |key: usize| self.times.get(key).copied().unwrap_or(0.0);
        let length = at(after) - at(before);
        let passed = if length > 0.0 { ((time - at(before)) / length).clamp(0.0, 1.0) } else { 0.0 };
        (before, after, if self.between == Between::Steps { 0.0 } else { passed }, length)
    }

    /// Numbers of one key.
    fn width(&self) -> usize {
        let rows = if self.between == Between::Curve { 3 } else { 1 };
        self.values.len() / (rows * self.times.len()).max(1)
    }

    /// One of a key's numbers; `row` is 0 for the slope before a curve's key, 1 for its value, 2 for the slope behind it.
    fn value(&self, key: usize, row: usize, component: usize) -> f64 {
        let at = if self.between == Between::Curve { 3 * key + row } else { key };
        self.values.get(at * self.width() + component).copied().unwrap_or(0.0)
    }

    /// One of its numbers at a time [s].
    fn number(&self, time: f64, component: usize) -> f64 {
        let (before, after, s, length) = self.keys(time);
        let (a, b) = (self.value(before, 1, component), self.value(after, 1, component));
        if self.between != Between::Curve {
            return a + s * (b - a);
        }
        let (s2, s3) = (s * s, s * s * s);
        let slopes = [self.value(before, 2, component), self.value(after, 0, component)];
        (2.0 * s3 - 3.0 * s2 + 1.0) * a
            + (3.0 * s2 - 2.0 * s3) * b
            + length * ((s3 - 2.0 * s2 + s) * slopes[0] + (s3 - s2) * slopes[1])
    }

    fn vector(&self, time: f64) -> DVec3 {
        DVec3::from(std::array::from_fn(|component| self.number(time, component)))
    }

    fn turn(&self, time: f64) -> DQuat {
        if self.between == Between::Curve {
            return upright(std::array::from_fn(|component| self.number(time, component)));
        }
        let (before, after, s, _) = self.keys(time);
        let of = |key: usize| upright(std::array::from_fn(|component| self.value(key, 1, component)));
        slerp(of(before), of(after), s)
    }
}

/// A quaternion of length 1; none where it has no direction.
fn upright(numbers: [f64; 4]) -> DQuat {
    let turn = DQuat::from_array(numbers);
    let length = turn.length();
    if length > 1e-12 { turn / length } else { DQuat::IDENTITY }
}

/// Along the shorter arc at constant speed, with the trigonometry that has the same bits everywhere.
fn slerp(a: DQuat, b: DQuat, s: f64) -> DQuat {
    let (b, cosine) = if a.dot(b) < 0.0 { (-b, -a.dot(b)) } else { (b, a.dot(b)) };
    // So near that the arc is straight to the last digits.
    if cosine > 1.0 - 1e-9 {
        return (a + (b - a) * s).normalize();
    }
    let angle = trig::acos(cosine);
    (a * trig::sin((1.0 - s) * angle) + b * trig::sin(s * angle)) / trig::sin(angle)
}
