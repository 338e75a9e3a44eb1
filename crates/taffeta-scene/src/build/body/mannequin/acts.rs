//! What the mannequin does: it stands, walks, takes poses one after the other, or dances.

use super::pose::{Arm, Attitude, Foot, turned};
use crate::scene::{Dance, Mannequin, PoseName, Posing, Walk};
use std::f64::consts::TAU;
use taffeta::math::{DVec3, trig};

/// Moments in a second of motion.
pub const RATE: f64 = 60.0;
/// How long it takes to set out, and to come to rest [s].
const EASE: f64 = 1.2;
/// Share of a cycle of walking that a foot is on the ground.
const STANCE: f64 = 0.62;
/// The ball of the foot from the ankle, standing [m].
const BALL: DVec3 = DVec3::new(0.012, -0.065, 0.125);
/// How high a foot is lifted, and how far its heel is behind the ball [m].
const LIFT: f64 = 0.06;
const HEEL: f64 = 0.17;
/// Pitch of a foot over a cycle that begins where its heel comes down; positive where the toes point down [degrees].
const PITCH: [[f64; 2]; 7] =
    [[0.0, -14.0], [0.1, 0.0], [0.38, 0.0], [0.62, 40.0], [0.78, 18.0], [0.92, -12.0], [1.0, -14.0]];

/// When a mannequin begins to move [s], and its attitudes from then on, [`RATE`] in a second; in the first it stands as it was laid out.
pub fn attitudes(asked: &Mannequin) -> (f64, Vec<Attitude>) {
    let start = asked.moves_from();
    let attitudes = match asked {
        Mannequin { walk: Some(walk), .. } => walking(walk, asked.arms),
        Mannequin { dance: Some(dance), .. } => dancing(dance, asked.arms),
        Mannequin { pose, .. } => posing(start, pose, asked.arms),
    };
    (if start.is_finite() { start } else { 0.0 }, attitudes)
}

/// How many moments a duration has beside the first [s].
fn count(duration: f64) -> usize {
    (RATE * duration).ceil() as usize
}

/// How much of a motion there is at a time of its duration [1].
fn amount(time: f64, duration: f64) -> f64 {
    ease(time / EASE) * ease((duration - time) / EASE)
}

/// Poses one after the other. It stands before the first, for which it has a second.
fn posing(start: f64, poses: &[Posing], arms: f64) -> Vec<Attitude> {
    let Some(last) = poses.last() else { return vec![Attitude::default()] };
    let keys: Vec<(f64, Attitude)> = std::iter::once((start, Attitude::default()))
        .chain(poses.iter().map(|key| (key.time, attitude(key.pose, arms))))
        .collect();
    let at = |k: usize| {
        let time = start + k as f64 / RATE;
        let next = keys.iter().position(|(at, _)| *at > time).unwrap_or(keys.len() - 1).max(1);
        let ((from, before), (to, after)) = (&keys[next - 1], &keys[next]);
        let share = if to > from { ease((time - from) / (to - from)) } else { 1.0 };
        before.towards(after, share)
    };
    (0..=count(last.time - start)).map(at).collect()
}

/// A pose of a mannequin whose arms hang so far below the horizontal as it stands [degrees].
fn attitude(pose: PoseName, arms: f64) -> Attitude {
    let both = |lowered: f64, swung: f64, bend: f64| [Arm { lowered: lowered - arms, swung, bend }; 2];
    let stand = Attitude::default();
    match pose {
        PoseName::Stand => stand,
        PoseName::ArmsDown => Attitude { arms: both(74.0, -4.0, 12.0), ..stand },
        PoseName::ArmsOut => Attitude { arms: both(0.0, 0.0, 0.0), ..stand },
        PoseName::ArmsUp => Attitude { arms: both(-66.0, 0.0, 8.0), ..stand },
        // On a seat of 0.45 m, the hands over the knees.
        PoseName::Sit => Attitude {
            shift: DVec3::new(0.0, -0.385, -0.40),
            pelvis: DVec3::new(-8.0, 0.0, 0.0),
            chest: DVec3::new(2.0, 0.0, 0.0),
            arms: both(70.0, -38.0, 38.0),
            ..stand
        },
    }
}

fn dancing(dance: &Dance, arms: f64) -> Vec<Attitude> {
    let at = |k: usize| {
        let time = k as f64 / RATE;
        let beats = time * dance.tempo / 60.0;
        Attitude::default().towards(&danced(beats, arms), amount(time, dance.duration))
    };
    (0..=count(dance.duration)).map(at).collect()
}

/// After so many beats: hips go from side to side in two of them, the chest against them, arms wave over the head one after the other in four, and the
/// foot that carries nothing leaves the ground.
fn danced(beats: f64, arms: f64) -> Attitude {
    let wave =
        |beats_in_a_cycle: f64, after: f64| trig::sin(TAU * ((beats - after) / beats_in_a_cycle).fract());
    let (sway, twist) = (wave(2.0, 0.0), wave(4.0, 0.5));
    let arm = |side: f64| {
        let up = wave(4.0, 1.0 - side);
        Arm {
            lowered: -10.0 + 48.0 * up - arms,
            swung: -18.0 + 14.0 * wave(2.0, side),
            bend: 34.0 - 22.0 * up,
        }
    };
    let foot = |side: f64| {
        let free = (-side * sway - 0.3).max(0.0);
        Foot { shift: DVec3::new(0.0, 0.07 * free, 0.03 * free), pitch: 24.0 * free }
    };
    Attitude {
        way: DVec3::ZERO,
        shift: DVec3::new(0.055 * sway, -0.035 - 0.020 * wave(1.0, 0.25), 0.0),
        pelvis: DVec3::new(0.0, 14.0 * twist, -7.0 * sway),
        chest: DVec3::new(4.0, -16.0 * twist, 6.0 * sway),
        neck: DVec3::new(0.0, -6.0 * twist, 5.0 * sway),
        arms: [arm(0.0), arm(2.0)],
        feet: [foot(1.0), foot(-1.0)],
    }
}

fn walking(walk: &Walk, arms: f64) -> Vec<Attitude> {
    // People who walk faster take longer strides, and more of them.
    let strides = 0.9 * (walk.speed / 1.1).sqrt();
    let length = walk.speed / strides;
    let (mut phase, mut way) = (0.0, 0.0);
    let at = |k: usize| {
        let amount = amount(k as f64 / RATE, walk.duration);
        phase += amount * strides / RATE;
        way += amount * walk.speed / RATE;
        let stride = Stride { amount, phase, length, lower: walk.arms - arms };
        let way = if walk.in_place { 0.0 } else { way };
        Attitude { way: way * DVec3::Z, ..stride.attitude() }
    };
    (0..=count(walk.duration)).map(at).collect()
}

/// A moment of a walk.
struct Stride {
    /// How much of it is walking [1]; at 0 it stands.
    amount: f64,
    /// Cycles so far; each begins where the left heel comes down.
    phase: f64,
    /// Length of a cycle [m].
    length: f64,
    /// How much lower the arms hang than as it stands [degrees].
    lower: f64,
}

impl Stride {
    fn attitude(&self) -> Attitude {
        let turn = TAU * self.phase.fract();
        let (sine, cosine) = (self.amount * trig::sin(turn), self.amount * trig::cos(turn));
        Attitude {
            way: DVec3::ZERO,
            // Lowest where both feet are on the ground.
            shift: DVec3::new(0.016 * sine, -self.amount * (0.030 + 0.014 * trig::cos(2.0 * turn)), 0.0),
            pelvis: DVec3::new(0.0, -6.0 * cosine, 3.0 * sine),
            chest: DVec3::new(3.0 * self.amount, 5.0 * cosine, -1.5 * sine),
            neck: DVec3::new(0.0, 2.0 * cosine, 0.0),
            arms: [0, 1].map(|side| self.arm(self.phase_of(side))),
            feet: [(0, 1.0), (1, -1.0)].map(|(side, sign)| self.foot(self.phase_of(side), sign)),
        }
    }

    /// Of one side, half a cycle apart.
    fn phase_of(&self, side: usize) -> f64 {
        (self.phase + if side == 0 { 0.0 } else { 0.5 }).fract()
    }

    /// The arm goes against the leg of its side.
    fn arm(&self, phase: f64) -> Arm {
        let swing = -trig::cos(TAU * phase);
        Arm {
            lowered: self.amount * self.lower,
            swung: -self.amount * (4.0 + 20.0 * swing),
            bend: self.amount * (20.0 + 12.0 * swing),
        }
    }

    fn foot(&self, phase: f64, sign: f64) -> Foot {
        let ball = DVec3::new(sign * BALL.x, BALL.y, BALL.z);
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
        let moved = DVec3::new(0.0, lift, self.amount * self.length * forward);
        Foot { shift: ball + moved - turned(DVec3::new(pitch, 0.0, 0.0)) * ball, pitch }
    }
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
