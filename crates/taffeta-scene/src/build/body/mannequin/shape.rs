//! The mannequin's skin as the zero of a smooth field: a trunk of elliptic sections, limbs, hands, feet and a head, joined softly.

use super::TALL;
use super::measures::Section;
use super::parts::{
    BONES, MannequinBone, MannequinPart, PartForm, SIDE, from_ellipse, mirrored, smooth_step, soft_min,
    through,
};
use crate::scene::rig::Share;
use crate::scene::{Build, Mannequin};
use taffeta::math::{DVec3, trig};

/// Height, half width, half depth and middle of a trunk [m].
type Trunk = [[f64; 4]; 10];

const NEUTRAL: Trunk = [
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
const WOMAN: Trunk = [
    [0.800, 0.124, 0.088, -0.010],
    [0.860, 0.170, 0.110, -0.012],
    [0.910, 0.174, 0.113, -0.012],
    [0.980, 0.163, 0.103, -0.005],
    [1.100, 0.118, 0.086, 0.002],
    [1.190, 0.130, 0.093, 0.001],
    [1.280, 0.143, 0.100, -0.002],
    [1.360, 0.143, 0.093, -0.008],
    [1.420, 0.110, 0.073, -0.016],
    [1.470, 0.064, 0.056, -0.018],
];
const MAN: Trunk = [
    [0.800, 0.118, 0.086, -0.006],
    [0.860, 0.157, 0.106, -0.008],
    [0.910, 0.161, 0.110, -0.008],
    [0.980, 0.158, 0.107, -0.002],
    [1.100, 0.144, 0.104, 0.004],
    [1.190, 0.155, 0.112, 0.004],
    [1.280, 0.171, 0.118, 0.002],
    [1.360, 0.172, 0.108, -0.006],
    [1.420, 0.132, 0.083, -0.016],
    [1.470, 0.076, 0.064, -0.018],
];

/// Heights of what a tailor measures: hips, waist, chest, and where the neck is [m].
pub const HIPS: f64 = 0.90;
pub const WAIST: f64 = 1.10;
pub const CHEST: f64 = 1.28;
pub const COLLAR: f64 = 1.50;
/// Girths by the usual one of the build that a figure can have [1].
const GIRTHS: std::ops::RangeInclusive<f64> = 0.65..=1.7;
/// Rounds in which girths become those that are asked for.
const FITTINGS: usize = 8;
/// Directions in which a section is looked at.
const DIRECTIONS: usize = 360;

/// Skin further from a bone than from the nearest one by this hangs on it by 1/256 of the nearest one's weight [m].
const HOLD: f64 = 0.022;
/// Bones that hold less than this of a point do not hold it [1].
const LEAST: f64 = 0.02;
/// How far parts of one limb flow into one another [m]: more would make knots of its joints.
const EVEN: f64 = 0.006;

/// Joints of the left side [m].
#[derive(Debug, Clone, Copy)]
pub struct Joints {
    pub neck: DVec3,
    pub shoulder: DVec3,
    pub elbow: DVec3,
    pub wrist: DVec3,
    pub hip: DVec3,
    pub knee: DVec3,
    pub ankle: DVec3,
}

/// The body of a mannequin of 1.75 m.
#[derive(Debug, Clone)]
pub struct Figure {
    pub joints: Joints,
    /// How much thicker limbs are than those of the neutral figure [1].
    pub stout: f64,
    trunk: Trunk,
    parts: Vec<MannequinPart>,
}

impl Figure {
    /// The figure that is asked for, its arms so far below the horizontal [degrees].
    pub fn new(asked: &Mannequin, arms: f64) -> Self {
        let scale = TALL / asked.height;
        let girths = [asked.hips, asked.waist, asked.chest].map(|girth| girth.map(|girth| scale * girth));
        let mut factors = [1.0; 3];
        let mut figure = Self::of(asked.build, factors, arms);
        for _ in 0..FITTINGS * usize::from(girths.iter().any(Option::is_some)) {
            for (factor, (girth, height)) in factors.iter_mut().zip(girths.iter().zip([HIPS, WAIST, CHEST])) {
                *factor *= girth.map_or(1.0, |girth| girth / figure.section(height).girth);
            }
            figure = Self::of(asked.build, factors, arms);
        }
        figure
    }

    /// What of the girths that are asked for no figure has.
    pub fn refuse(asked: &Mannequin) -> Result<(), String> {
        let usual = Self::of(asked.build, [1.0; 3], asked.arms);
        for (name, girth, height) in
            [("chest", asked.chest, CHEST), ("waist", asked.waist, WAIST), ("hips", asked.hips, HIPS)]
        {
            let usual = asked.height / TALL * usual.section(height).girth;
            if let Some(girth) = girth.filter(|girth| !GIRTHS.contains(&(girth / usual))) {
                return Err(format!(
                    "{name} of {girth} m cannot be made, where {usual:.3} m are usual for this build and height"
                ));
            }
        }
        Ok(())
    }

    /// A figure whose hips, waist and chest are so many times as wide as usual [1].
    fn of(build: Build, factors: [f64; 3], arms: f64) -> Self {
        let (rows, across, own) = match build {
            Build::Neutral => (NEUTRAL, 0.165, 1.0),
            Build::Woman => (WOMAN, 0.155, 0.96),
            Build::Man => (MAN, 0.180, 1.08),
        };
        let joints = Joints::new(across, arms);
        let [hips, waist, chest] = factors;
        let stout = own * (1.0 + (hips + waist + chest - 3.0) / 6.0);
        let knots = [[0.0, hips], [HIPS, hips], [WAIST, waist], [CHEST, chest], [1.36, chest], [1.47, 1.0]];
        let trunk = rows.map(|[height, width, depth, middle]| {
            let [_, wider] = straight(&knots, height);
            [height, wider * width, wider * depth, middle]
        });
        let mut parts = torso(build, across, [hips, chest]);
        parts.extend(head(stout.min(1.05)));
        parts.extend(arm(&joints, stout));
        parts.extend(leg(&joints, stout));
        Self { joints, stout, trunk, parts }
    }

    /// Something like the distance of a point to the skin [m]: 0 on it, negative inside.
    pub fn field(&self, p: DVec3) -> f64 {
        let join = |sum: f64, part: &MannequinPart| soft_min(sum, part.both_sides(p), part.blend);
        let body = self.parts.iter().fold(self.trunk(p), join);
        // The soles are flat.
        -soft_min(-body, p.y, 0.016)
    }

    /// A box that holds all of it, with room around [m].
    pub fn bounds(&self) -> [DVec3; 2] {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for part in &self.parts {
            let (ends, reach) = part.reach();
            for end in ends.iter().flat_map(|end| [*end, mirrored(*end)]) {
                low = low.min(end - DVec3::splat(reach));
                high = high.max(end + DVec3::splat(reach));
            }
        }
        let room = DVec3::splat(0.05);
        [low - room, high + room]
    }

    /// The section through trunk or neck at a height [m].
    pub fn section(&self, height: f64) -> Section {
        let [_, _, _, middle] = through(&self.trunk, height.clamp(self.trunk[0][0], self.trunk[9][0]));
        let from = DVec3::new(0.0, height, middle);
        let way = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
            DVec3::new(trig::cos(angle), 0.0, trig::sin(angle))
        };
        let skin: Vec<DVec3> = (0..DIRECTIONS).map(|k| from + self.far(from, way(k)) * way(k)).collect();
        let furthest = |way: DVec3| skin.iter().map(|p| p.dot(way)).fold(f64::NEG_INFINITY, f64::max);
        // The length around a convex body is the mean of its widths times π (Cauchy); a tape is one.
        let around: f64 = (0..DIRECTIONS).map(|k| furthest(way(k))).sum();
        let (front, back) = (furthest(DVec3::Z), furthest(-DVec3::Z));
        Section {
            height,
            half_width: 0.5 * (furthest(DVec3::X) + furthest(-DVec3::X)),
            half_depth: 0.5 * (front + back),
            middle: 0.5 * (front - back),
            girth: around * std::f64::consts::TAU / DIRECTIONS as f64,
        }
    }

    /// How far the skin is from a point inside, along a direction [m].
    fn far(&self, from: DVec3, way: DVec3) -> f64 {
        let step = 0.004;
        let mut out = step;
        while self.field(from + out * way) < 0.0 && out < 1.0 {
            out += step;
        }
        let (mut low, mut high) = (out - step, out);
        for _ in 0..30 {
            let half = 0.5 * (low + high);
            if self.field(from + half * way) < 0.0 { low = half } else { high = half }
        }
        high
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
        let trunk = self.trunk(p);
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

    /// The trunk: an ellipse at every height, rounded at both ends.
    fn trunk(&self, p: DVec3) -> f64 {
        let (first, last) = (self.trunk[0], self.trunk[self.trunk.len() - 1]);
        let [_, width, depth, middle] = through(&self.trunk, p.y.clamp(first[0], last[0]));
        let sides = from_ellipse(DVec3::new(p.x, 0.0, p.z - middle), DVec3::new(width, 1.0, depth));
        let below = -soft_min(-sides, p.y - first[0], 0.08);
        -soft_min(-below, last[0] - p.y, 0.05)
    }
}

impl Joints {
    /// Shoulders so far from the middle [m], arms so far below the horizontal [degrees].
    fn new(across: f64, arms: f64) -> Self {
        let angle = arms.to_radians();
        let along = DVec3::new(trig::cos(angle), -trig::sin(angle), 0.0);
        let shoulder = DVec3::new(across, 1.405, -0.012);
        let elbow = shoulder + 0.285 * along;
        Self {
            neck: DVec3::new(0.0, 1.455, -0.018),
            shoulder,
            elbow,
            wrist: elbow + 0.25 * along,
            hip: DVec3::new(0.090, 0.925, -0.005),
            knee: DVec3::new(0.104, 0.495, 0.005),
            ankle: DVec3::new(0.120, 0.085, -0.022),
        }
    }
}

/// What the trunk has beside its sections; hips and chest so many times as wide as usual.
fn torso(build: Build, across: f64, [hips, chest]: [f64; 2]) -> Vec<MannequinPart> {
    let around = |factor: f64, [x, y, z]: [f64; 3]| DVec3::new(factor * x, y, factor * z);
    let egg = |bone, factor: f64, centre, [x, y, z]: [f64; 3], blend| {
        let half = DVec3::new(factor * x, y, factor * z);
        MannequinPart::egg(bone, around(factor, centre), half, blend)
    };
    let shoulder = [DVec3::new(0.020, 1.450, -0.024), DVec3::new(across - 0.035, 1.410, -0.016)];
    let mut parts = vec![
        egg(MannequinBone::Pelvis, hips, [0.074, 0.895, -0.052], [0.080, 0.085, 0.066], 0.05),
        MannequinPart::cone(MannequinBone::Chest, shoulder, [0.047, 0.046], 0.05),
    ];
    match build {
        Build::Neutral => (),
        Build::Woman => {
            parts.push(egg(MannequinBone::Chest, chest, [0.070, 1.262, 0.066], [0.064, 0.064, 0.058], 0.05));
        }
        Build::Man => {
            parts.push(egg(MannequinBone::Chest, chest, [0.078, 1.305, 0.066], [0.084, 0.056, 0.052], 0.05));
        }
    }
    parts
}

/// A head without a face on its neck.
fn head(stout: f64) -> Vec<MannequinPart> {
    let egg = |centre: [f64; 3], half: [f64; 3], blend| {
        MannequinPart::egg(MannequinBone::Head, DVec3::from(centre), DVec3::from(half), blend)
    };
    let neck = [DVec3::new(0.0, 1.440, -0.024), DVec3::new(0.0, 1.590, 0.000)];
    vec![
        MannequinPart::cone(MannequinBone::Neck, neck, [0.054 * stout, 0.047 * stout], 0.05),
        egg([0.0, 1.656, -0.008], [0.074, 0.092, 0.094], 0.02),
        egg([0.0, 1.618, 0.026], [0.060, 0.082, 0.066], 0.03),
        egg([0.0, 1.562, 0.052], [0.032, 0.028, 0.034], 0.045),
    ]
}

fn arm(joints: &Joints, stout: f64) -> Vec<MannequinPart> {
    let Joints { shoulder, elbow, wrist, .. } = *joints;
    let along = (wrist - shoulder).normalize();
    let palm = DVec3::Z.cross(along);
    let upper = [[0.0, 0.0, 0.052], [0.2, 0.0, 0.053], [0.55, 0.002, 0.045], [1.0, 0.0, 0.037]];
    let fore = [[0.0, 0.0, 0.037], [0.25, 0.002, 0.041], [0.6, 0.0, 0.034], [1.0, 0.0, 0.026]];
    let thick = |profile: [[f64; 3]; 4]| {
        profile.into_iter().map(|[share, before, radius]| [share, before, stout * radius]).collect()
    };
    let limb = |bone, ends, profile, blend| MannequinPart {
        bone,
        form: PartForm::Limb { ends, profile: thick(profile) },
        blend,
    };
    let at = |far: f64, forward: f64, up: f64| wrist + far * along + forward * DVec3::Z + up * palm;
    let hand = |from: DVec3, to: DVec3, radii: [f64; 2], flat: f64, blend: f64| MannequinPart {
        bone: MannequinBone::Hand,
        form: PartForm::Cone { ends: [from, to], radii: radii.map(|r| stout.sqrt() * r), flat: flat * palm },
        blend,
    };
    vec![
        limb(MannequinBone::UpperArm, [shoulder, elbow], upper, 0.05),
        limb(MannequinBone::Forearm, [elbow, wrist], fore, EVEN),
        // The palm, the fingers side by side, their tips, and the thumb.
        hand(at(0.01, 0.0, 0.0), at(0.075, 0.0, 0.0), [0.028, 0.041], 1.0, 0.015),
        hand(at(0.080, -0.001, -0.001), at(0.135, -0.003, -0.006), [0.040, 0.036], 0.95, 0.014),
        hand(at(0.135, -0.003, -0.006), at(0.163, -0.004, -0.011), [0.036, 0.027], 0.85, 0.010),
        hand(at(0.028, 0.022, -0.004), at(0.088, 0.047, -0.010), [0.018, 0.013], 0.0, 0.022),
    ]
}

fn leg(joints: &Joints, stout: f64) -> Vec<MannequinPart> {
    let Joints { hip, knee, ankle, .. } = *joints;
    let thick = |profile: &[[f64; 3]]| {
        profile.iter().map(|[share, before, radius]| [*share, *before, stout * radius]).collect::<Vec<_>>()
    };
    let limb = |bone, ends, profile: &[[f64; 3]], blend| MannequinPart {
        bone,
        form: PartForm::Limb { ends, profile: thick(profile) },
        blend,
    };
    let thigh =
        [[0.0, 0.0, 0.075], [0.12, 0.0, 0.076], [0.4, 0.004, 0.073], [0.75, 0.004, 0.056], [1.0, 0.0, 0.048]];
    let shin = [
        [0.0, 0.0, 0.048],
        [0.14, -0.006, 0.0475],
        [0.32, -0.016, 0.053],
        [0.6, -0.011, 0.042],
        [0.85, -0.002, 0.032],
        [1.0, 0.0, 0.033],
    ];
    // Toes point outwards a little.
    let at = |x: f64, y: f64, z: f64| DVec3::new(ankle.x + x, y, ankle.z + z);
    let egg = |centre: DVec3, half: [f64; 3], blend: f64| {
        MannequinPart::egg(MannequinBone::Foot, centre, DVec3::from(half), blend)
    };
    let instep = PartForm::Cone {
        ends: [at(0.0, 0.062, -0.002), at(0.010, 0.034, 0.105)],
        radii: [0.036, 0.031],
        flat: DVec3::ZERO,
    };
    vec![
        limb(MannequinBone::Thigh, [hip, knee], &thigh, 0.035),
        limb(MannequinBone::Shin, [knee, ankle], &shin, EVEN),
        MannequinPart::egg(
            MannequinBone::Shin,
            knee + DVec3::new(0.0, -0.002, 0.018),
            DVec3::new(0.034, 0.050, 0.034),
            0.03,
        ),
        egg(at(-0.002, 0.034, -0.034), [0.031, 0.040, 0.036], 0.02),
        MannequinPart { bone: MannequinBone::Foot, form: instep, blend: 0.03 },
        egg(at(0.010, 0.022, 0.092), [0.045, 0.026, 0.052], 0.03),
        egg(at(0.012, 0.019, 0.140), [0.042, 0.021, 0.034], 0.025),
    ]
}

/// Rows in between others, by straight lines.
fn straight(rows: &[[f64; 2]], at: f64) -> [f64; 2] {
    let k = (1..rows.len() - 1).take_while(|k| rows[*k][0] <= at).last().unwrap_or(0);
    let ([low, from], [high, to]) = (rows[k], rows[k + 1]);
    let s = ((at - low) / (high - low)).clamp(0.0, 1.0);
    [at, from + s * (to - from)]
}
