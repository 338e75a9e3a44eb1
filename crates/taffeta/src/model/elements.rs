//! The elements that pull and bend, each a table of its own.

use crate::math::DVec3;

/// Spring-dampers between two particles (P2 §3.3, P4, P5): structural edges first, then the diagonals of quads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Springs {
    /// The two particles.
    pub ends: Vec<[u32; 2]>,
    /// Length without force [m].
    pub rest_length: Vec<f64>,
    /// Force per lengthening [N/m].
    pub stiffness: Vec<f64>,
    /// Force per speed of lengthening [N·s/m].
    pub damping: Vec<f64>,
}

/// Resistance to a change of direction from edge (a, b) to edge (b, c).
///
/// P2 and P5 put a spring between a and c; in a flat sheet that resists nothing to first order, whatever its stiffness. The
/// difference of the two unit edge vectors is the turning angle, so that a bending rigidity in N·m has its meaning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bends {
    /// The particles a, b, c along the line.
    pub points: Vec<[u32; 3]>,
    /// One over the rest lengths of (a, b) and (b, c) [1/m].
    pub inverse_lengths: Vec<[f64; 2]>,
    /// Moment per turning angle [N·m].
    pub stiffness: Vec<f64>,
    /// Moment per rate of turning [N·m·s].
    pub damping: Vec<f64>,
}

impl Springs {
    /// Takes in the springs of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Springs, first: u32) {
        self.ends.extend(other.ends.iter().map(|ends| ends.map(|i| i + first)));
        self.rest_length.extend(other.rest_length);
        self.stiffness.extend(other.stiffness);
        self.damping.extend(other.damping);
    }
}

impl Bends {
    /// Takes in the bends of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Bends, first: u32) {
        self.points.extend(other.points.iter().map(|points| points.map(|i| i + first)));
        self.inverse_lengths.extend(other.inverse_lengths);
        self.stiffness.extend(other.stiffness);
        self.damping.extend(other.damping);
    }
}

/// Triangles that resist stretch and shear (Baraff & Witkin 1998, P4).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Membranes {
    /// The three particles.
    pub points: Vec<[u32; 3]>,
    /// Their places on the fabric (u, v) [m].
    pub material: Vec<[[f64; 2]; 3]>,
    /// Stiffness of warp, weft and shear [N/m].
    pub stiffness: Vec<[f64; 3]>,
    /// Kelvin-Voigt time [s].
    pub damping_time: Vec<f64>,
}

/// Pairs of triangles that resist bending across their common edge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hinges {
    /// The edge from a to b, the particle on its left and the one on its right.
    pub points: Vec<[u32; 4]>,
    /// Where they are at rest [m]; of this the lengths count.
    pub rest: Vec<[DVec3; 4]>,
    /// Bending rigidity [N·m].
    pub rigidity: Vec<f64>,
    /// Kelvin-Voigt time [s].
    pub damping_time: Vec<f64>,
}

/// Strips between particles two apart that buckle when their ends come together (Choi & Ko 2002, P3 §3).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Buckles {
    /// The two particles.
    pub ends: Vec<[u32; 2]>,
    /// Length of the strip [m].
    pub rest_length: Vec<f64>,
    /// Bending stiffness of the strip [N·m²].
    pub bending: Vec<f64>,
    /// The linear ramp that stands in near the rest length [N/m].
    pub ramp: Vec<f64>,
    /// Damping along it [N·s/m].
    pub damping: Vec<f64>,
}

impl Membranes {
    /// Takes in the membranes of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Membranes, first: u32) {
        self.points.extend(other.points.iter().map(|points| points.map(|i| i + first)));
        self.material.extend(other.material);
        self.stiffness.extend(other.stiffness);
        self.damping_time.extend(other.damping_time);
    }
}

impl Hinges {
    /// Takes in the hinges of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Hinges, first: u32) {
        self.points.extend(other.points.iter().map(|points| points.map(|i| i + first)));
        self.rest.extend(other.rest);
        self.rigidity.extend(other.rigidity);
        self.damping_time.extend(other.damping_time);
    }
}

impl Buckles {
    /// Takes in the strips of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Buckles, first: u32) {
        self.ends.extend(other.ends.iter().map(|ends| ends.map(|i| i + first)));
        self.rest_length.extend(other.rest_length);
        self.bending.extend(other.bending);
        self.ramp.extend(other.ramp);
        self.damping.extend(other.damping);
    }
}
