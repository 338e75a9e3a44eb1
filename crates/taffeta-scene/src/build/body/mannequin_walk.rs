//! How the mannequin walks: feet on their way, legs that reach them, a trunk and arms that swing against them.

use super::mannequin::{Measures, TALL};
use super::mannequin_shape::{BONES, MannequinBone, SIDE};
use crate::scene::Walk;
use taffeta::math::{DAffine3, DMat3, DQuat, DVec3, Pose, trig};
use taffeta::model::skin::{Moment, SkinJoint};

/// Moments in a second of walking.
pub const RATE: f64 = 60.0;
/// How long it takes to set out, and to come to rest [s].
const EASE: f64 = 1.2;
/// Share of a cycle that a foot is on the ground.
const STANCE: f64 = 0.62;
/// The ball of the foot from the ankle, standing [m].
const BALL: DVec3 = DVec3::new(0.012, -0.065, 0.125);
/// How high a foot is lifted, and how far its heel is behind the ball [m].
const LIFT: f64 = 0.06;
const HEEL: f64 = 0.17;
/// Pitch of a foot over a cycle that begins where its heel comes down; positive where the toes point down [degrees].
const PITCH: [[f64; 2]; 7] =
    [[0.0, -14.0], [0.1, 0.0], [0.38, 0.0], [0.62, 40.0], [0.78, 18.0], [0.92, -12.0], [1.0, -14.0]];

/// Bones at all moments of a walk, [`RATE`] in a second; in the first and the last it stands.
pub fn moments(walk: &Walk, measures: &Measures) -> Vec<Moment> {
    let scale = measures.height / TALL;
    let body = Measures::new(TALL, measures.arms);
    // People who walk faster take longer strides, and more of them.
    let strides = 0.9 * (walk.speed / 1.1).sqrt();
    let length = walk.speed / strides;
    let count = (RATE * walk.duration).ceil() as usize;
    let (mut phase, mut way) = (0.0, 0.0);
    let mut moments = Vec::with_capacity(count + 1);
    for k in 0..=count {
        let time = k as f64 / RATE;
        let amount = ease(time / EASE) * ease((walk.duration - time) / EASE);
        phase += amount * strides / RATE;
        way += amount * walk.speed / RATE;
        let stand =
            Stand { amount, phase, length, arms: walk.arms, way: if walk.in_place { 0.0 } else { way } };
        moments.push(stand.moment(&body, scale));
    }
    moments
}

/// The one moment of a mannequin that stands.
pub fn standing() -> Moment {
    Moment { bones: vec![DAffine3::IDENTITY; BONES], morphs: vec![] }
}

/// A figure of 1.75 m with its arms stretched out lowers them so far [degrees].
pub fn lowered(arms: f64) -> Moment {
    let shoulder = Measures::new(TALL, 0.0).shoulder.position;
    let mut moment = standing();
    for (side, sign) in [(0, 1.0), (SIDE, -1.0)] {
        let turn = turned(0.0, 0.0, -sign * arms);
        let about = DVec3::new(sign * shoulder.x, shoulder.y, shoulder.z);
        let bone = DAffine3 { matrix3: DMat3::from_quat(turn), translation: about - turn * about };
        let arm = MannequinBone::UpperArm as usize + side;
        moment.bones[arm..=arm + 2].fill(bone);
    }
    moment
}

/// A moment of a walk.
struct Stand {
    /// How much of it is walking [1]; at 0 it stands with its arms out.
    amount: f64,
    /// Cycles so far; each begins where the left heel comes down.
    phase: f64,
    /// Length of a cycle [m].
    length: f64,
    /// How far below the horizontal the arms hang [degrees].
    arms: f64,
    /// How far it has come [m].
    way: f64,
}

/// Where joints are and how bones are turned.
struct Posed {
    joints: [DVec3; BONES],
    turns: [DQuat; BONES],
}

impl Stand {
    fn moment(&self, body: &Measures, scale: f64) -> Moment {
        let rest = joints(body);
        let posed = self.pose(body, &rest);
        let bone = |k: usize| {
            let shift = posed.joints[k] - posed.turns[k] * rest[k] + self.way * DVec3::Z;
            DAffine3 { matrix3: DMat3::from_quat(posed.turns[k]), translation: scale * shift }
        };
        Moment { bones: (0..BONES).map(bone).collect(), morphs: vec![] }
    }

    fn pose(&self, body: &Measures, rest: &[DVec3; BONES]) -> Posed {
        let turn = std::f64::consts::TAU * self.phase.fract();
        let (sine, cosine) = (self.amount * trig::sin(turn), self.amount * trig::cos(turn));
        let pelvis = turned(0.0, -6.0 * cosine, 3.0 * sine);
        let chest = turned(3.0 * self.amount, 5.0 * cosine, -1.5 * sine);
        let mut posed = Posed { joints: *rest, turns: [DQuat::IDENTITY; BONES] };
        // Lowest where both feet are on the ground.
        let sway = DVec3::new(0.016 * sine, -self.amount * (0.030 + 0.014 * trig::cos(2.0 * turn)), 0.0);
        let joint = |bone: MannequinBone| rest[bone as usize];
        let on = |parent: DVec3, turn: DQuat, from: MannequinBone, to: MannequinBone| {
            parent + turn * (joint(to) - joint(from))
        };
        let root = joint(MannequinBone::Pelvis) + sway;
        let waist = on(root, pelvis, MannequinBone::Pelvis, MannequinBone::Chest);
        let neck = on(waist, chest, MannequinBone::Chest, MannequinBone::Neck);
        let nod = turned(0.0, 2.0 * cosine, 0.0);
        let spine = [
            (MannequinBone::Pelvis, root, pelvis),
            (MannequinBone::Chest, waist, chest),
            (MannequinBone::Neck, neck, nod),
            (MannequinBone::Head, on(neck, nod, MannequinBone::Neck, MannequinBone::Head), DQuat::IDENTITY),
        ];
        for (bone, place, turn) in spine {
            (posed.joints[bone as usize], posed.turns[bone as usize]) = (place, turn);
        }
        for side in [0, SIDE] {
            self.arm(side, body, rest, &mut posed);
            self.leg(side, rest, &mut posed);
        }
        posed
    }

    /// Of one side, half a cycle apart.
    fn phase_of(&self, side: usize) -> f64 {
        (self.phase + if side == 0 { 0.0 } else { 0.5 }).fract()
    }

    /// The arm goes against the leg of its side.
    fn arm(&self, side: usize, body: &Measures, rest: &[DVec3; BONES], posed: &mut Posed) {
        let swing = -trig::cos(std::f64::consts::TAU * self.phase_of(side));
        let [upper, fore, hand] = [MannequinBone::UpperArm, MannequinBone::Forearm, MannequinBone::Hand]
            .map(|bone| bone as usize + side);
        let chest = MannequinBone::Chest as usize;
        let shoulder = posed.joints[chest] + posed.turns[chest] * (rest[upper] - rest[chest]);
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let lowered = turned(0.0, 0.0, -sign * self.amount * (self.arms - body.arms));
        let swung = turned(-self.amount * (4.0 + 20.0 * swing), 0.0, 0.0);
        let arm = posed.turns[chest] * swung * lowered;
        let along = (rest[fore] - rest[upper]).normalize();
        let bend = self.amount * (20.0 + 12.0 * swing);
        let forearm = arm * about(along.cross(DVec3::Z).normalize(), bend);
        let elbow = shoulder + arm * (rest[fore] - rest[upper]);
        let wrist = elbow + forearm * (rest[hand] - rest[fore]);
        for (bone, place, turn) in [(upper, shoulder, arm), (fore, elbow, forearm), (hand, wrist, forearm)] {
            (posed.joints[bone], posed.turns[bone]) = (place, turn);
        }
    }

    /// The leg reaches from the hip to where the foot is; the knee gives way forwards.
    fn leg(&self, side: usize, rest: &[DVec3; BONES], posed: &mut Posed) {
        let [thigh, shin, foot] =
            [MannequinBone::Thigh, MannequinBone::Shin, MannequinBone::Foot].map(|bone| bone as usize + side);
        let (pelvis, root) = (posed.turns[0], posed.joints[0]);
        let hip = root + pelvis * (rest[thigh] - rest[0]);
        let (goal, pitch) = self.foot(rest[foot], self.phase_of(side));
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
            (foot, ankle, turned(pitch, 0.0, 0.0)),
        ];
        for (bone, place, turn) in placed {
            (posed.joints[bone], posed.turns[bone]) = (place, turn);
        }
    }

    /// Where the ankle of a foot is that stands at `rest`, and its pitch [degrees].
    fn foot(&self, rest: DVec3, phase: f64) -> (DVec3, f64) {
        let side = if rest.x < 0.0 { -1.0 } else { 1.0 };
        let ball = DVec3::new(side * BALL.x, BALL.y, BALL.z);
        let far = 0.5 * STANCE;
        let (forward, lift) = if phase < STANCE {
            (far - phase, 0.0)
        } else {
            let q = (phase - STANCE) / (1.0 - STANCE);
            let slope = STANCE - 1.0;
            let (q2, q3) = (q * q, q * q * q);
            let back = far * (2.0 * (3.0 * q2 - 2.0 * q3) - 1.0) + slope * (2.0 * q3 - 3.0 * q2 + q);
            (back, LIFT * 6.75 * q * (1.0 - q) * (1.0 - q))
        };
        let pitch = self.amount * pitch(phase);
        // The heel does not go into the ground.
        let lift = self.amount * lift + HEEL * trig::sin((-pitch).max(0.0).to_radians());
        let ball_now = rest + ball + DVec3::new(0.0, lift, self.amount * self.length * forward);
        (ball_now - turned(pitch, 0.0, 0.0) * ball, pitch)
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

/// The skeleton of a mannequin.
pub fn skeleton(measures: &Measures) -> Vec<SkinJoint> {
    let scale = measures.height / TALL;
    let rest = joints(&Measures::new(TALL, measures.arms));
    let joint = |k: usize| {
        let right = k >= TREE.len();
        let (name, parent) = TREE[if right { k - SIDE } else { k }];
        let double = k >= MannequinBone::UpperArm as usize;
        let name = format!(
            "{name}{}",
            if right {
                "_R"
            } else if double {
                "_L"
            } else {
                ""
            }
        );
        let beside = |parent: MannequinBone| if right && parent.is_double() { SIDE } else { 0 };
        let parent = parent.map(|parent| (parent as usize + beside(parent)) as u32);
        SkinJoint { name, parent, unbound: DAffine3::from_translation(-scale * rest[k]) }
    };
    (0..BONES).map(joint).collect()
}

/// Joints that the bones turn about, standing [m].
fn joints(body: &Measures) -> [DVec3; BONES] {
    let [shoulder, elbow, wrist] = [body.shoulder, body.elbow, body.wrist].map(|j| j.position);
    let [hip, knee, ankle] = [body.hip, body.knee, body.ankle].map(|j| j.position);
    let mut joints = [DVec3::ZERO; BONES];
    joints[MannequinBone::Pelvis as usize] = DVec3::new(0.0, hip.y, 0.0);
    joints[MannequinBone::Chest as usize] = DVec3::new(0.0, body.waist.height, 0.0);
    joints[MannequinBone::Neck as usize] = body.neck.position;
    joints[MannequinBone::Head as usize] = DVec3::new(0.0, 1.56, 0.0);
    let left = [
        (MannequinBone::UpperArm, shoulder),
        (MannequinBone::Forearm, elbow),
        (MannequinBone::Hand, wrist),
        (MannequinBone::Thigh, hip),
        (MannequinBone::Shin, knee),
        (MannequinBone::Foot, ankle),
    ];
    for (bone, place) in left {
        joints[bone as usize] = place;
        joints[bone as usize + SIDE] = DVec3::new(-place.x, place.y, place.z);
    }
    joints
}

fn pitch(phase: f64) -> f64 {
    let after = (1..PITCH.len() - 1).find(|k| phase < PITCH[*k][0]).unwrap_or(PITCH.len() - 1);
    let ([from, low], [to, high]) = (PITCH[after - 1], PITCH[after]);
    low + (high - low) * ease((phase - from) / (to - from))
}

/// From 0 to 1 without a kink.
fn ease(s: f64) -> f64 {
    let s = s.clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// Turns about x, then y, then z [degrees].
fn turned(x: f64, y: f64, z: f64) -> DQuat {
    Pose::from_degrees(DVec3::ZERO, DVec3::new(x, y, z)).rotation
}

/// A turn about an axis of length 1 [degrees].
fn about(axis: DVec3, degrees: f64) -> DQuat {
    let half = 0.5 * degrees.to_radians();
    let v = trig::sin(half) * axis;
    DQuat::from_xyzw(v.x, v.y, v.z, trig::cos(half))
}
