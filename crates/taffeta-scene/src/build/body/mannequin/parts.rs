//! What the mannequin is put together from: pieces of its body as fields, each on a bone, that flow into one another.

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

/// A piece of the body, and its mirror image.
#[derive(Debug, Clone)]
pub struct MannequinPart {
    pub bone: MannequinBone,
    pub form: PartForm,
    /// How far around the seam it flows into the others [m].
    pub blend: f64,
}

#[derive(Debug, Clone)]
pub enum PartForm {
    /// All within a radius of a segment, the radius going from one to another [m]; along `flat` it is less by the length of that.
    Cone { ends: [DVec3; 2], radii: [f64; 2], flat: DVec3 },
    /// The same with a radius at shares of the length, and how far the middle lies before the segment there: `[share, before, radius]` [1, m, m].
    Limb { ends: [DVec3; 2], profile: Vec<[f64; 3]> },
    /// An ellipsoid along x, y and z [m].
    Egg { centre: DVec3, half: DVec3 },
}

impl MannequinPart {
    /// An ellipsoid.
    pub fn egg(bone: MannequinBone, centre: DVec3, half: DVec3, blend: f64) -> Self {
        Self { bone, form: PartForm::Egg { centre, half }, blend }
    }

    /// A round cone.
    pub fn cone(bone: MannequinBone, ends: [DVec3; 2], radii: [f64; 2], blend: f64) -> Self {
        Self { bone, form: PartForm::Cone { ends, radii, flat: DVec3::ZERO }, blend }
    }

    /// Something like the distance of a point to it [m]: 0 on it, negative inside.
    pub fn distance(&self, p: DVec3) -> f64 {
        match &self.form {
            PartForm::Cone { ends: [a, b], radii, flat } => {
                let (t, out) = from_segment(p, *a, *b);
                (out + out.dot(*flat) * *flat).length() - (radii[0] + t * (radii[1] - radii[0]))
            }
            PartForm::Limb { ends: [a, b], profile } => {
                let (t, out) = from_segment(p, *a, *b);
                let [_, before, radius] = through(profile, t);
                (out - before * DVec3::Z).length() - radius
            }
            PartForm::Egg { centre, half } => from_ellipse(p - *centre, *half),
        }
    }

    /// Of the part and its mirror image.
    pub fn both_sides(&self, p: DVec3) -> f64 {
        soft_min(self.distance(p), self.distance(mirrored(p)), 0.05)
    }

    /// Points that it is around of, and how far it reaches from them at most [m].
    pub fn reach(&self) -> ([DVec3; 2], f64) {
        match &self.form {
            PartForm::Cone { ends, radii, .. } => (*ends, radii[0].max(radii[1])),
            PartForm::Limb { ends, profile } => {
                (*ends, profile.iter().map(|[_, before, radius]| before.abs() + radius).fold(0.0, f64::max))
            }
            PartForm::Egg { centre, half } => ([*centre; 2], half.max_element()),
        }
    }
}

/// A point of the other side.
pub fn mirrored(p: DVec3) -> DVec3 {
    DVec3::new(-p.x, p.y, p.z)
}

/// The share of a segment that is nearest to a point, and the way from there [1, m].
fn from_segment(p: DVec3, a: DVec3, b: DVec3) -> (f64, DVec3) {
    let along = b - a;
    let t = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    (t, p - a - t * along)
}

/// The distance to an ellipsoid around the origin, exact to first order near it [m].
pub fn from_ellipse(p: DVec3, half: DVec3) -> f64 {
    let (inner, outer) = ((p / half).length(), (p / (half * half)).length());
    if outer > 1e-9 { inner * (inner - 1.0) / outer } else { -half.min_element() }
}

/// Rows in between others at the place `at` of the first column, by cubic curves.
pub fn through<const N: usize>(rows: &[[f64; N]], at: f64) -> [f64; N] {
    let k = (1..rows.len() - 1).take_while(|k| rows[*k][0] <= at).last().unwrap_or(0);
    let row = |k: usize| rows[k.min(rows.len() - 1)];
    let (before, from, to, after) = (row(k.saturating_sub(1)), row(k), row(k + 1), row(k + 2));
    let s = (at - from[0]) / (to[0] - from[0]);
    std::array::from_fn(|c| {
        let slope = |a: [f64; N], b: [f64; N]| (b[c] - a[c]) / (b[0] - a[0]) * (to[0] - from[0]);
        let (start, end) = (slope(before, to), slope(from, after));
        let (s2, s3) = (s * s, s * s * s);
        (2.0 * s3 - 3.0 * s2 + 1.0) * from[c]
            + (s3 - 2.0 * s2 + s) * start
            + (3.0 * s2 - 2.0 * s3) * to[c]
            + (s3 - s2) * end
    })
}

/// The smaller of two numbers, rounded where they differ by less than `blend`; never larger than either.
pub fn soft_min(a: f64, b: f64, blend: f64) -> f64 {
    let near = (blend - (a - b).abs()).max(0.0);
    a.min(b) - near * near / (4.0 * blend)
}

/// From 0 below `low` to 1 above `high`, without a kink.
pub fn smooth_step(x: f64, low: f64, high: f64) -> f64 {
    let s = ((x - low) / (high - low)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}
