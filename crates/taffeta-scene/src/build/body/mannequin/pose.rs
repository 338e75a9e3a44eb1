//! How the mannequin holds itself: from the places of its pelvis and feet and the turns of its joints to its bones.

use super::parts::{BONES, MannequinBone, SIDE};
use super::shape::Figure;
use taffeta::math::{DAffine3, DMat3, DQuat, DVec3, Pose, trig};
use taffeta::model::skin::{Moment, SkinJoint};

/// How a figure of 1.75 m holds itself, by how far that is from how it stands; sides are left and right.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attitude {
    /// How far all of it has come [m].
    pub way: DVec3,
    /// How far the pelvis has moved [m].
    pub shift: DVec3,
    /// Turns about x, then y, then z [degrees]: pelvis and chest in the room, the neck too.
    pub pelvis: DVec3,
    pub chest: DVec3,
    pub neck: DVec3,
    pub arms: [Arm; 2],
    pub feet: [Foot; 2],
}

/// An arm, by degrees.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arm {
    /// How much lower it hangs than as it stands.
    pub lowered: f64,
    /// How far back it is swung; forwards it is negative.
    pub swung: f64,
    /// How far its elbow is bent.
    pub bend: f64,
}

/// A foot.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foot {
    /// How far its ankle has moved [m].
    pub shift: DVec3,
    /// How far its toes point down [degrees].
    pub pitch: f64,
}

impl Attitude {
    /// A share of the way from this to another.
    pub fn towards(&self, other: &Self, share: f64) -> Self {
        let number = |a: f64, b: f64| a + share * (b - a);
        let vector = |a: DVec3, b: DVec3| a.lerp(b, share);
        let arm = |a: Arm, b: Arm| Arm {
            lowered: number(a.lowered, b.lowered),
            swung: number(a.swung, b.swung),
            bend: number(a.bend, b.bend),
        };
        let foot =
            |a: Foot, b: Foot| Foot { shift: vector(a.shift, b.shift), pitch: number(a.pitch, b.pitch) };
        Self {
            way: vector(self.way, other.way),
            shift: vector(self.shift, other.shift),
            pelvis: vector(self.pelvis, other.pelvis),
            chest: vector(self.chest, other.chest),
            neck: vector(self.neck, other.neck),
            arms: [0, 1].map(|side| arm(self.arms[side], other.arms[side])),
            feet: [0, 1].map(|side| foot(self.feet[side], other.feet[side])),
        }
    }
}

/// The joints that bones turn about, standing [m].
#[derive(Debug, Clone, Copy)]
pub struct Skeleton {
    rest: [DVec3; BONES],
}

/// Where joints are and how bones are turned.
struct Posed {
    joints: [DVec3; BONES],
    turns: [DQuat; BONES],
}

impl Skeleton {
    /// Of a figure.
    pub fn new(figure: &Figure) -> Self {
        let joints = &figure.joints;
        let mut rest = [DVec3::ZERO; BONES];
        rest[MannequinBone::Pelvis as usize] = DVec3::new(0.0, joints.hip.y, 0.0);
        rest[MannequinBone::Chest as usize] = DVec3::new(0.0, super::shape::WAIST, 0.0);
        rest[MannequinBone::Neck as usize] = joints.neck;
        rest[MannequinBone::Head as usize] = DVec3::new(0.0, 1.56, 0.0);
        let left = [
            (MannequinBone::UpperArm, joints.shoulder),
            (MannequinBone::Forearm, joints.elbow),
            (MannequinBone::Hand, joints.wrist),
            (MannequinBone::Thigh, joints.hip),
            (MannequinBone::Shin, joints.knee),
            (MannequinBone::Foot, joints.ankle),
        ];
        for (bone, place) in left {
            rest[bone as usize] = place;
            rest[bone as usize + SIDE] = DVec3::new(-place.x, place.y, place.z);
        }
        Self { rest }
    }

    /// The bones of an attitude, of a figure so many times as tall as 1.75 m.
    pub fn moment(&self, attitude: &Attitude, scale: f64) -> Moment {
        let posed = self.pose(attitude);
        let bone = |k: usize| {
            let shift = posed.joints[k] - posed.turns[k] * self.rest[k] + attitude.way;
            DAffine3 { matrix3: DMat3::from_quat(posed.turns[k]), translation: scale * shift }
        };
        Moment { bones: (0..BONES).map(bone).collect(), morphs: vec![] }
    }

    /// The bones of a figure whose arms alone are lowered, from the shoulders [degrees].
    pub fn lowered(&self, arms: f64) -> Vec<DAffine3> {
        let mut bones = vec![DAffine3::IDENTITY; BONES];
        for (side, sign) in [(0, 1.0), (SIDE, -1.0)] {
            let arm = MannequinBone::UpperArm as usize + side;
            let (turn, about) = (turned(DVec3::new(0.0, 0.0, -sign * arms)), self.rest[arm]);
            let bone = DAffine3 { matrix3: DMat3::from_quat(turn), translation: about - turn * about };
            bones[arm..=arm + 2].fill(bone);
        }
        bones
    }

    /// The joints by name, and which each hangs on.
    pub fn joints(&self, scale: f64) -> Vec<SkinJoint> {
        let joint = |k: usize| {
            let right = k >= TREE.len();
            let (name, parent) = TREE[if right { k - SIDE } else { k }];
            let double = k >= MannequinBone::UpperArm as usize;
            let side = match (double, right) {
                (_, true) => "_R",
                (true, false) => "_L",
                (false, false) => "",
            };
            let beside = |parent: MannequinBone| if right && parent.is_double() { SIDE } else { 0 };
            let parent = parent.map(|parent| (parent as usize + beside(parent)) as u32);
            let unbound = DAffine3::from_translation(-scale * self.rest[k]);
            SkinJoint { name: format!("{name}{side}"), parent, unbound }
        };
        (0..BONES).map(joint).collect()
    }

    fn pose(&self, attitude: &Attitude) -> Posed {
        let rest = &self.rest;
        let [pelvis, chest, nod] = [attitude.pelvis, attitude.chest, attitude.neck].map(turned);
        let mut posed = Posed { joints: *rest, turns: [DQuat::IDENTITY; BONES] };
        let joint = |bone: MannequinBone| rest[bone as usize];
        let on = |parent: DVec3, turn: DQuat, from: MannequinBone, to: MannequinBone| {
            parent + turn * (joint(to) - joint(from))
        };
        let root = joint(MannequinBone::Pelvis) + attitude.shift;
        let waist = on(root, pelvis, MannequinBone::Pelvis, MannequinBone::Chest);
        let neck = on(waist, chest, MannequinBone::Chest, MannequinBone::Neck);
        let spine = [
            (MannequinBone::Pelvis, root, pelvis),
            (MannequinBone::Chest, waist, chest),
            (MannequinBone::Neck, neck, nod),
            (MannequinBone::Head, on(neck, nod, MannequinBone::Neck, MannequinBone::Head), DQuat::IDENTITY),
        ];
        for (bone, place, turn) in spine {
            (posed.joints[bone as usize], posed.turns[bone as usize]) = (place, turn);
        }
        for side in [0, 1] {
            self.arm(side, attitude.arms[side], &mut posed);
            self.leg(side, attitude.feet[side], &mut posed);
        }
        posed
    }

    fn arm(&self, side: usize, arm: Arm, posed: &mut Posed) {
        let rest = &self.rest;
        let [upper, fore, hand] = [MannequinBone::UpperArm, MannequinBone::Forearm, MannequinBone::Hand]
            .map(|bone| bone as usize + side * SIDE);
        let chest = MannequinBone::Chest as usize;
        let shoulder = posed.joints[chest] + posed.turns[chest] * (rest[upper] - rest[chest]);
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let lowered = turned(DVec3::new(0.0, 0.0, -sign * arm.lowered));
        let turn = posed.turns[chest] * turned(DVec3::new(arm.swung, 0.0, 0.0)) * lowered;
        let along = (rest[fore] - rest[upper]).normalize();
        let forearm = turn * about(along.cross(DVec3::Z).normalize(), arm.bend);
        let elbow = shoulder + turn * (rest[fore] - rest[upper]);
        let wrist = elbow + forearm * (rest[hand] - rest[fore]);
        for (bone, place, turn) in [(upper, shoulder, turn), (fore, elbow, forearm), (hand, wrist, forearm)] {
            (posed.joints[bone], posed.turns[bone]) = (place, turn);
        }
    }

    /// The leg reaches from the hip to where the foot is; the knee gives way forwards.
    fn leg(&self, side: usize, at: Foot, posed: &mut Posed) {
        let rest = &self.rest;
        let [thigh, shin, foot] = [MannequinBone::Thigh, MannequinBone::Shin, MannequinBone::Foot]
            .map(|bone| bone as usize + side * SIDE);
        let (pelvis, root) = (posed.turns[0], posed.joints[0]);
        let hip = root + pelvis * (rest[thigh] - rest[0]);
        let goal = rest[foot] + at.shift;
        let [upper, lower] = [rest[shin] - rest[thigh], rest[foot] - rest[shin]];
        let (long, short) = (upper.length(), lower.length());
        let reach = (goal - hip).length().min((rest[foot] - rest[thigh]).length());
        let down = (goal - hip).normalize();
        let straight = (rest[foot] - rest[thigh]).normalize();
        // Where the knee stands out when it stands.
        let out = pelvis * (upper - upper.dot(straight) * straight);
        let out = (out - out.dot(down) * down).normalize();
        let depth = (long * long + reach * reach - short * short) / (2.0 * reach);
        let knee = hip + depth * down + (long * long - depth * depth).max(0.0).sqrt() * out;
        let ankle = hip + reach * down;
        let bone = |rest: DVec3, now: DVec3| {
            let turned = (pelvis * rest).normalize();
            DQuat::from_rotation_arc(turned, now.normalize()) * pelvis
        };
        let placed = [
            (thigh, hip, bone(upper, knee - hip)),
            (shin, knee, bone(lower, ankle - knee)),
            (foot, ankle, turned(DVec3::new(at.pitch, 0.0, 0.0))),
        ];
        for (bone, place, turn) in placed {
            (posed.joints[bone], posed.turns[bone]) = (place, turn);
        }
    }
}

/// The names of the bones, and which each hangs on.
const TREE: [(&str, Option<MannequinBone>); MannequinBone::Foot as usize + 1] = [
    ("pelvis", None),
    ("chest", Some(MannequinBone::Pelvis)),
    ("neck", Some(MannequinBone::Chest)),
    ("head", Some(MannequinBone::Neck)),
    ("upper_arm", Some(MannequinBone::Chest)),
    ("forearm", Some(MannequinBone::UpperArm)),
    ("hand", Some(MannequinBone::Forearm)),
    ("thigh", Some(MannequinBone::Pelvis)),
    ("shin", Some(MannequinBone::Thigh)),
    ("foot", Some(MannequinBone::Shin)),
];

/// Turns about x, then y, then z [degrees].
pub fn turned(degrees: DVec3) -> DQuat {
    Pose::from_degrees(DVec3::ZERO, degrees).rotation
}

/// A turn about an axis of length 1 [degrees].
fn about(axis: DVec3, degrees: f64) -> DQuat {
    let half = 0.5 * degrees.to_radians();
    let v = trig::sin(half) * axis;
    DQuat::from_xyzw(v.x, v.y, v.z, trig::cos(half))
}
