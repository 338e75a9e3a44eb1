//! The mannequin: a body that is ours, generated around a skeleton, with the measures that patterns of garments need.
//!
//! It stands on y = 0 above the origin, looks along +z, its left is +x. All numbers below are those of a height of 1.75 m and scale with it.

use super::mannequin_shape::Figure;
use super::mannequin_walk;
use super::surface_nets;
use crate::scene::Mannequin;
use taffeta::math::{DVec3, trig};
use taffeta::model::body_mesh::{BodyMesh, Moments, Pace};
use taffeta::model::skin::Skin;

/// The height that all numbers are given for [m].
pub(super) const TALL: f64 = 1.75;

/// A joint of the skeleton and the thickness of the body around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Where it is [m].
    pub position: DVec3,
    /// From it to the skin, about [m].
    pub radius: f64,
}

/// A horizontal section through the trunk, an ellipse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// How high it lies [m].
    pub height: f64,
    /// Half its width, along x [m].
    pub half_width: f64,
    /// Half its depth, along z [m].
    pub half_depth: f64,
    /// Where its centre is along z [m].
    pub middle: f64,
    /// Its length around [m].
    pub girth: f64,
}

/// What a tailor measures, on a mannequin that stands still. Joints are those of the left side; the right one has -x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// From the floor to the top of the head [m].
    pub height: f64,
    /// How far the arms hang below the horizontal [degrees].
    pub arms: f64,
    /// Where the neck leaves the shoulders.
    pub neck: Joint,
    /// Where the arm turns.
    pub shoulder: Joint,
    /// Between upper arm and forearm.
    pub elbow: Joint,
    /// Between forearm and hand.
    pub wrist: Joint,
    /// Where the leg turns.
    pub hip: Joint,
    /// Between thigh and shin.
    pub knee: Joint,
    /// Between shin and foot.
    pub ankle: Joint,
    /// The neck, where a collar lies.
    pub collar: Section,
    /// The chest, where it is widest, below the arms.
    pub chest: Section,
    /// The waist, where it is narrowest.
    pub waist: Section,
    /// The hips, where they are widest.
    pub hips: Section,
    /// How high the legs part [m].
    pub crotch: f64,
    /// How high the pits of the arms are [m].
    pub armpit: f64,
}

impl Measures {
    /// Of a mannequin of that height [m], whose arms hang so far below the horizontal [degrees].
    pub fn new(height: f64, arms: f64) -> Self {
        let s = height / TALL;
        let joint = |x: f64, y: f64, z: f64, radius: f64| Joint {
            position: s * DVec3::new(x, y, z),
            radius: s * radius,
        };
        let section = |height: f64, half_width: f64, half_depth: f64, middle: f64, girth: f64| Section {
            height: s * height,
            half_width: s * half_width,
            half_depth: s * half_depth,
            middle: s * middle,
            girth: s * girth,
        };
        let shoulder = joint(0.165, 1.405, -0.012, 0.056);
        let angle = arms.to_radians();
        let along = DVec3::new(trig::cos(angle), -trig::sin(angle), 0.0);
        let down = |from: &Joint, length: f64, radius: f64| Joint {
            position: from.position + s * length * along,
            radius: s * radius,
        };
        let elbow = down(&shoulder, 0.285, 0.040);
        Self {
            height,
            arms,
            neck: joint(0.0, 1.455, -0.018, 0.060),
            shoulder,
            elbow,
            wrist: down(&elbow, 0.25, 0.028),
            hip: joint(0.090, 0.925, -0.005, 0.088),
            knee: joint(0.104, 0.495, 0.005, 0.052),
            ankle: joint(0.120, 0.085, -0.022, 0.038),
            collar: section(1.50, 0.069, 0.066, -0.014, 0.426),
            chest: section(1.28, 0.156, 0.116, 0.008, 0.857),
            waist: section(1.10, 0.126, 0.094, 0.004, 0.694),
            hips: section(0.90, 0.177, 0.115, -0.013, 0.957),
            crotch: 0.79 * s,
            armpit: 1.30 * s,
        }
    }
}

/// The surface of a mannequin, on its bones; or what of its measures no surface can have.
pub fn mannequin(asked: &Mannequin) -> Result<BodyMesh, String> {
    let measures = Measures::new(asked.height, asked.arms);
    let figure = Figure::new(asked.arms);
    let (mut rest, triangles) = surface(&figure, asked);
    let (mut ends, mut shares) = (Vec::with_capacity(rest.len()), Vec::new());
    for p in &mut rest {
        shares.extend(figure.shares(*p));
        ends.push(shares.len() as u32);
        *p *= asked.height / TALL;
    }
    let (moments, pace) = match &asked.walk {
        None => (vec![mannequin_walk::standing()], Pace::default()),
        Some(walk) => {
            let pace = Pace { start: walk.start, interval: 1.0 / mannequin_walk::RATE, repeats: false };
            (mannequin_walk::moments(walk, &measures), pace)
        }
    };
    let joints = mannequin_walk::skeleton(&measures);
    let skin = Skin { rest, ends, shares, morphs: vec![], moments, joints };
    BodyMesh::new(triangles, Moments::Skin(Box::new(skin)), pace, asked.thickness)
}

/// Points and triangles of a figure of 1.75 m. They are laid out with the arms stretched out, along the grid, where rows of quads run around them;
/// then the arms are lowered, and the points spread on the surface that is asked for.
fn surface(figure: &Figure, asked: &Mannequin) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let cell = TALL / f64::from(asked.detail.max(1));
    let stretched = Figure::new(0.0);
    let (mut points, quads) = surface_nets::net(&|p| stretched.field(p), stretched.bounds(), cell);
    let lowered = mannequin_walk::lowered(asked.arms);
    for p in &mut points {
        let shares = stretched.shares(*p);
        *p = shares.iter().map(|s| s.weight * lowered.bones[s.bone as usize].transform_point3(*p)).sum();
    }
    surface_nets::spread(&|p| figure.field(p), cell, &mut points, &quads);
    let triangles = surface_nets::triangles(&points, &quads);
    (points, triangles)
}
