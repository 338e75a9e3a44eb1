//! The mannequin's skin as the zero of a smooth field: a trunk of elliptic sections and round limbs, joined softly.

use super::mannequin::{Measures, TALL};
use crate::scene::rig::Share;
use taffeta::math::DVec3;

/// Bones of the skeleton. Those of the right side come [`SIDE`] after those of the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MannequinBone {
    Pelvis,
    Chest,
    Neck,
    Head,
    UpperArm,
    Forearm,
    Hand,
    Thigh,
    Shin,
    Foot,
}

/// From a bone of the left side to that of the right.
pub const SIDE: usize = 6;
/// How many bones there are.
pub const BONES: usize = MannequinBone::Foot as usize + SIDE + 1;

impl MannequinBone {
    /// Whether there is one on either side.
    pub fn is_double(self) -> bool {
        self as usize >= MannequinBone::UpperArm as usize
    }
}

/// Height, half width, half depth and middle of the trunk [m].
const TRUNK: [[f64; 4]; 10] = [
    [0.800, 0.120, 0.085, -0.008],
    [0.860, 0.163, 0.106, -0.010],
    [0.910, 0.166, 0.112, -0.010],
    [0.980, 0.160, 0.104, -0.004],
    [1.100, 0.126, 0.094, 0.004],
    [1.190, 0.140, 0.104, 0.006],
    [1.280, 0.156, 0.116, 0.008],
    [1.360, 0.156, 0.104, -0.002],
    [1.420, 0.120, 0.078, -0.014],
    [1.470, 0.070, 0.060, -0.018],
];

/// Skin further from a bone than from the nearest one by this hangs on it by 1/256 of the nearest one's weight [m].
const HOLD: f64 = 0.014;
/// Bones that hold less than this of a point do not hold it [1].
const LEAST: f64 = 0.02;

/// How far pieces of one limb flow into one another [m]: more would make knots of its joints.
const EVEN: f64 = 0.004;

/// A piece of the body.
#[derive(Debug, Clone, Copy)]
struct MannequinPart {
    bone: MannequinBone,
    form: PartForm,
    /// How far around the seam it flows into the others [m].
    blend: f64,
}

#[derive(Debug, Clone, Copy)]
enum PartForm {
    /// All within a radius of a segment, the radius going from one to another [m]; along `flat` it is less by the length of that.
    Cone { ends: [DVec3; 2], radii: [f64; 2], flat: DVec3 },
    /// An ellipsoid along x, y and z [m].
    Egg { centre: DVec3, half: DVec3 },
}

/// The body of a mannequin of 1.75 m.
#[derive(Debug, Clone)]
pub struct Figure {
    parts: Vec<MannequinPart>,
}

impl Figure {
    /// A figure whose arms hang so far below the horizontal [degrees].
    pub fn new(arms: f64) -> Self {
        let m = Measures::new(TALL, arms);
        let mut parts = vec![
            egg(MannequinBone::Pelvis, [0.074, 0.895, -0.052], [0.080, 0.085, 0.066], 0.05),
            cone(MannequinBone::Neck, [0.0, 1.440, -0.022], [0.0, 1.570, 0.000], [0.054, 0.046], 0.03),
            egg(MannequinBone::Head, [0.0, 1.642, 0.006], [0.072, 0.107, 0.091], 0.02),
            egg(MannequinBone::Head, [0.0, 1.598, 0.036], [0.046, 0.062, 0.048], 0.03),
            // From the neck to the shoulder.
            cone(MannequinBone::Chest, [0.020, 1.445, -0.022], [0.145, 1.402, -0.014], [0.046, 0.040], 0.05),
        ];
        parts.extend(arm(&m));
        parts.extend(leg(&m));
        Self { parts }
    }

    /// Something like the distance of a point to the skin [m]: 0 on it, negative inside.
    pub fn field(&self, p: DVec3) -> f64 {
        let join = |sum: f64, part: &MannequinPart| soft_min(sum, part.both_sides(p), part.blend);
        let body = self.parts.iter().fold(trunk(p), join);
        // The soles are flat.
        -soft_min(-body, p.y, 0.02)
    }

    /// A box that holds all of it, with room around [m].
    pub fn bounds(&self) -> [DVec3; 2] {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for part in &self.parts {
            let (ends, reach) = match part.form {
                PartForm::Cone { ends, radii, .. } => (ends, radii[0].max(radii[1])),
                PartForm::Egg { centre, half } => ([centre; 2], half.max_element()),
            };
            for end in ends.iter().flat_map(|end| [*end, mirrored(*end)]) {
                low = low.min(end - DVec3::splat(reach));
                high = high.max(end + DVec3::splat(reach));
            }
        }
        let room = DVec3::splat(0.05);
        [low - room, high + room]
    }

    /// By how much each bone holds a point of the skin.
    pub fn shares(&self, p: DVec3) -> Vec<Share> {
        let mut distance = [f64::INFINITY; BONES];
        for part in &self.parts {
            let mut near = |bone: usize, d: f64| distance[bone] = distance[bone].min(d);
            near(part.bone as usize, part.distance(p));
            if part.bone.is_double() {
                near(part.bone as usize + SIDE, part.distance(mirrored(p)));
            } else {
                near(part.bone as usize, part.distance(mirrored(p)));
            }
        }
        let trunk = trunk(p);
        for bone in [MannequinBone::Pelvis, MannequinBone::Chest] {
            distance[bone as usize] = distance[bone as usize].min(trunk);
        }
        let nearest = distance.iter().copied().fold(f64::INFINITY, f64::min);
        // The spine bends around the waist; the legs are held each on its side.
        let upper = smooth_step(p.y, 1.02, 1.18);
        let left = smooth_step(p.x, -0.03, 0.03);
        let weight = |bone: usize| {
            let held = 1.0 / (1.0 + (distance[bone] - nearest) / HOLD);
            let fourth = held * held * (held * held);
            let part = match bone {
                0 => 1.0 - upper,
                1 => upper,
                2 | 3 => 1.0,
                4..10 => left,
                _ => 1.0 - left,
            };
            fourth * fourth * part
        };
        let all: [f64; BONES] = std::array::from_fn(weight);
        let sum: f64 = all.iter().sum();
        let kept = |weight: f64| if weight > LEAST * sum { weight } else { 0.0 };
        let sum: f64 = all.iter().map(|w| kept(*w)).sum();
        let held = all.iter().enumerate().filter(|(_, w)| kept(**w) > 0.0);
        held.map(|(bone, w)| Share { bone: bone as u32, weight: w / sum }).collect()
    }
}

impl MannequinPart {
    fn distance(&self, p: DVec3) -> f64 {
        match self.form {
            PartForm::Cone { ends: [a, b], radii, flat } => {
                let along = b - a;
                let t = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                let out = p - a - t * along;
                (out + out.dot(flat) * flat).length() - (radii[0] + t * (radii[1] - radii[0]))
            }
            PartForm::Egg { centre, half } => from_ellipse(p - centre, half),
        }
    }

    /// Of the part and its mirror image.
    fn both_sides(&self, p: DVec3) -> f64 {
        soft_min(self.distance(p), self.distance(mirrored(p)), 0.05)
    }
}

fn mirrored(p: DVec3) -> DVec3 {
    DVec3::new(-p.x, p.y, p.z)
}

fn cone(bone: MannequinBone, from: [f64; 3], to: [f64; 3], radii: [f64; 2], blend: f64) -> MannequinPart {
    let form = PartForm::Cone { ends: [DVec3::from(from), DVec3::from(to)], radii, flat: DVec3::ZERO };
    MannequinPart { bone, form, blend }
}

fn egg(bone: MannequinBone, centre: [f64; 3], half: [f64; 3], blend: f64) -> MannequinPart {
    MannequinPart {
        bone,
        form: PartForm::Egg { centre: DVec3::from(centre), half: DVec3::from(half) },
        blend,
    }
}

/// Parts along a limb, through points at shares of its length, each with a shift [m] and a radius [m]; the first flows into what it grows from.
fn limb(
    bone: MannequinBone,
    ends: [DVec3; 2],
    stations: &[(f64, DVec3, f64)],
    blend: f64,
) -> Vec<MannequinPart> {
    let place = |k: usize| ends[0].lerp(ends[1], stations[k].0) + stations[k].1;
    let piece = |k: usize| {
        let radii = [stations[k].2, stations[k + 1].2];
        let form = PartForm::Cone { ends: [place(k), place(k + 1)], radii, flat: DVec3::ZERO };
        MannequinPart { bone, form, blend: if k == 0 { blend } else { EVEN } }
    };
    (0..stations.len() - 1).map(piece).collect()
}

fn arm(m: &Measures) -> Vec<MannequinPart> {
    let [shoulder, elbow, wrist] = [m.shoulder, m.elbow, m.wrist].map(|joint| joint.position);
    let along = (wrist - shoulder).normalize();
    let palm = DVec3::Z.cross(along);
    let straight = DVec3::ZERO;
    let upper = [(0.0, straight, 0.052), (0.45, straight, 0.046), (1.0, straight, 0.038)];
    let fore = [(0.0, straight, 0.038), (0.25, straight, 0.040), (1.0, straight, 0.027)];
    let mut parts = limb(MannequinBone::UpperArm, [shoulder, elbow], &upper, 0.05);
    parts.extend(limb(MannequinBone::Forearm, [elbow, wrist], &fore, EVEN));
    let hand = |from: f64, to: f64, radii: [f64; 2]| MannequinPart {
        bone: MannequinBone::Hand,
        form: PartForm::Cone { ends: [wrist + from * along, wrist + to * along], radii, flat: 0.6 * palm },
        blend: 0.012,
    };
    parts.extend([hand(0.0, 0.07, [0.030, 0.042]), hand(0.07, 0.145, [0.042, 0.036])]);
    parts
}

fn leg(m: &Measures) -> Vec<MannequinPart> {
    let [hip, knee, ankle] = [m.hip, m.knee, m.ankle].map(|joint| joint.position);
    let z = |z: f64| DVec3::new(0.0, 0.0, z);
    let thigh = [(0.06, z(0.0), 0.078), (0.35, z(0.004), 0.075), (1.0, z(0.0), 0.050)];
    let shin =
        [(0.0, z(0.0), 0.050), (0.28, z(-0.012), 0.053), (0.6, z(-0.010), 0.043), (1.0, z(0.0), 0.034)];
    let mut parts = limb(MannequinBone::Thigh, [hip, knee], &thigh, 0.035);
    parts.extend(limb(MannequinBone::Shin, [knee, ankle], &shin, EVEN));
    let at = |y: f64, z: f64| DVec3::new(ankle.x, y, ankle.z + z);
    let foot = |ends: [DVec3; 2], radii: [f64; 2], flat: f64, blend: f64| MannequinPart {
        bone: MannequinBone::Foot,
        form: PartForm::Cone { ends, radii, flat: flat * DVec3::Y },
        blend,
    };
    parts.extend([
        foot([at(0.040, -0.018), at(0.060, 0.020)], [0.038, 0.040], 0.0, 0.02),
        foot([at(0.048, 0.020), at(0.030, 0.140)], [0.044, 0.040], 0.5, 0.03),
    ]);
    parts
}

/// The trunk: an ellipse at every height, rounded at both ends.
fn trunk(p: DVec3) -> f64 {
    let (first, last) = (TRUNK[0], TRUNK[TRUNK.len() - 1]);
    let [_, width, depth, middle] = section(p.y.clamp(first[0], last[0]));
    let sides = from_ellipse(DVec3::new(p.x, 0.0, p.z - middle), DVec3::new(width, 1.0, depth));
    let below = -soft_min(-sides, p.y - first[0], 0.08);
    -soft_min(-below, last[0] - p.y, 0.05)
}

/// The section of the trunk at a height [m], by cubic curves through those that are given.
fn section(y: f64) -> [f64; 4] {
    let k = (1..TRUNK.len() - 1).take_while(|k| TRUNK[*k][0] <= y).last().unwrap_or(0);
    let row = |k: usize| TRUNK[k.min(TRUNK.len() - 1)];
    let (before, from, to, after) = (row(k.saturating_sub(1)), row(k), row(k + 1), row(k + 2));
    let s = (y - from[0]) / (to[0] - from[0]);
    std::array::from_fn(|c| {
        let slope = |a: [f64; 4], b: [f64; 4]| (b[c] - a[c]) / (b[0] - a[0]) * (to[0] - from[0]);
        let (start, end) = (slope(before, to), slope(from, after));
        let (s2, s3) = (s * s, s * s * s);
        (2.0 * s3 - 3.0 * s2 + 1.0) * from[c]
            + (s3 - 2.0 * s2 + s) * start
            + (3.0 * s2 - 2.0 * s3) * to[c]
            + (s3 - s2) * end
    })
}

/// The distance to an ellipsoid around the origin, exact to first order near it [m].
fn from_ellipse(p: DVec3, half: DVec3) -> f64 {
    let (inner, outer) = ((p / half).length(), (p / (half * half)).length());
    if outer > 1e-9 { inner * (inner - 1.0) / outer } else { -half.min_element() }
}

/// The smaller of two numbers, rounded where they differ by less than `blend`; never larger than either.
fn soft_min(a: f64, b: f64, blend: f64) -> f64 {
    let near = (blend - (a - b).abs()).max(0.0);
    a.min(b) - near * near / (4.0 * blend)
}

/// From 0 below `low` to 1 above `high`, without a kink.
fn smooth_step(x: f64, low: f64, high: f64) -> f64 {
    let s = ((x - low) / (high - low)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}
