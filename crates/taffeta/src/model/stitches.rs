//! Seams: pairs of particles that are drawn together over time, then held, until they are undone.

use crate::math::DVec3;

/// Springs that only pull, each between two particles. Their rest length shrinks from the distance at the start to that of a stitch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stitches {
    /// The two particles.
    pub ends: Vec<[u32; 2]>,
    /// Rest length at the start [m].
    pub start_length: Vec<f64>,
    /// Rest length once sewn [m]: what the contact keeps between the fabrics, so that a seam never presses them together.
    pub stitch_length: Vec<f64>,
    /// When the sewing begins [s].
    pub begin: Vec<f64>,
    /// How long it takes [s]; with 0 it is done where it begins.
    pub duration: Vec<f64>,
    /// When it is undone [s]; never, where that is infinite.
    pub end: Vec<f64>,
    /// Force per lengthening [N/m].
    pub stiffness: Vec<f64>,
}

/// Rest length of what is undone [m]: longer than anything gets, and finite.
const UNDONE: f64 = 1e4;

/// What all links of one seam have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stitch {
    /// Rest length once sewn [m].
    pub length: f64,
    /// When the sewing begins [s].
    pub begin: f64,
    /// How long it takes [s].
    pub duration: f64,
    /// When it is undone [s]; never, where that is infinite.
    pub end: f64,
    /// Force per lengthening [N/m].
    pub stiffness: f64,
}

impl Stitches {
    /// Adds a link between two particles that are where `positions` say [m].
    pub fn push(&mut self, ends: [u32; 2], positions: &[DVec3], stitch: Stitch) {
        let [a, b] = ends.map(|i| positions[i as usize]);
        self.ends.push(ends);
        self.start_length.push(a.distance(b).max(stitch.length));
        self.stitch_length.push(stitch.length);
        self.begin.push(stitch.begin);
        self.duration.push(stitch.duration);
        self.end.push(stitch.end);
        self.stiffness.push(stitch.stiffness);
    }

    /// The rest length of a link at `time` [s]; it starts and stops to shrink softly [m].
    pub fn rest_length(&self, link: usize, time: f64) -> f64 {
        if time >= self.end[link] {
            return UNDONE;
        }
        let sewn_for = time - self.begin[link];
        let s = match self.duration[link] {
            _ if sewn_for < 0.0 => 0.0,
            duration if sewn_for < duration => sewn_for / duration,
            _ => 1.0,
        };
        let left = 1.0 - s * s * (3.0 - 2.0 * s);
        self.stitch_length[link] + left * (self.start_length[link] - self.stitch_length[link])
    }
}
