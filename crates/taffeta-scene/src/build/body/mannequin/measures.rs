//! What a tailor measures on a mannequin.

use super::TALL;
use super::shape::{CHEST, COLLAR, Figure, HIPS, WAIST};
use crate::scene::Mannequin;
use taffeta::math::DVec3;

/// A joint of the skeleton and the thickness of the body around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Where it is [m].
    pub position: DVec3,
    /// From it to the skin, about [m].
    pub radius: f64,
}

/// A horizontal section through the trunk.
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
    /// The length of a tape around it [m].
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
    /// Of the mannequin that is asked for.
    pub fn of(asked: &Mannequin) -> Self {
        let s = asked.height / TALL;
        let figure = Figure::new(asked, asked.arms);
        let joint = |position: DVec3, radius: f64| Joint {
            position: s * position,
            radius: s * figure.stout * radius,
        };
        let section = |height: f64| {
            let Section { height, half_width, half_depth, middle, girth } = figure.section(height);
            let [height, half_width, half_depth, middle, girth] =
                [height, half_width, half_depth, middle, girth].map(|length| s * length);
            Section { height, half_width, half_depth, middle, girth }
        };
        Self {
            height: asked.height,
            arms: asked.arms,
            neck: joint(figure.joints.neck, 0.072),
            shoulder: joint(figure.joints.shoulder, 0.056),
            elbow: joint(figure.joints.elbow, 0.038),
            wrist: joint(figure.joints.wrist, 0.026),
            hip: joint(figure.joints.hip, 0.088),
            knee: joint(figure.joints.knee, 0.051),
            ankle: joint(figure.joints.ankle, 0.035),
            collar: section(COLLAR),
            chest: section(CHEST),
            waist: section(WAIST),
            hips: section(HIPS),
            crotch: 0.79 * s,
            armpit: 1.30 * s,
        }
    }
}
