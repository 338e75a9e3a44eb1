//! The elements that pull and bend, each a table of its own.

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
    /// The turn that it rests at, above 0 towards the outside of the cloth: 2 sin(θ/2) of the angle θ [1]. 0: straight.
    pub rest: Vec<f64>,
    /// Moment per turning angle [N·m].
    pub stiffness: Vec<f64>,
    /// Moment per rate of turning [N·m·s].
    pub damping: Vec<f64>,
}

/// Resistance of quads to twist: to a gap between their two diagonals where they cross at rest.
///
/// On a grid twice that gap is x00 - x10 - x01 + x11, which over the sides of the cell is the mixed second derivative x,12.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Twists {
    /// The corners around the quad.
    pub points: Vec<[u32; 4]>,
    /// Where the diagonals cross: the share of the way from the first corner to the third, and from the second to the fourth [1].
    pub crossings: Vec<[f64; 2]>,
    /// Twice the gap that it rests at, towards the outside of the cloth [m].
    pub rest: Vec<f64>,
    /// Force per gap, for twice the gap [N/m].
    pub stiffness: Vec<f64>,
    /// Force per speed of it [N·s/m].
    pub damping: Vec<f64>,
}

impl Twists {
    /// What every corner weighs in twice the gap between the diagonals of quad `t` [1].
    pub fn weights(&self, t: usize) -> [f64; 4] {
        let [first, second] = self.crossings[t];
        [2.0 * (1.0 - first), -2.0 * (1.0 - second), 2.0 * first, -2.0 * second]
    }

    /// Takes in the twists of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Twists, first: u32) {
        self.points.extend(other.points.iter().map(|points| points.map(|i| i + first)));
        self.crossings.extend(other.crossings);
        self.rest.extend(other.rest);
        self.stiffness.extend(other.stiffness);
        self.damping.extend(other.damping);
    }
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
        self.rest.extend(other.rest);
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

/// Triangles that resist bending and twist as an orthotropic plate does. Each has a patch: its particles and those of triangles around,
/// whose weighted sums are the second derivatives of the surface there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plates {
    /// The particles of all patches, one patch after the other.
    pub points: Vec<u32>,
    /// What each of them weighs in x,11, x,22 and 2 x,12, 1 along the warp and 2 along the weft [1/m²].
    pub weights: Vec<[f64; 3]>,
    /// Where every patch ends in these lists.
    pub ends: Vec<usize>,
    /// The second derivatives x,11, x,22 and 2 x,12 that every triangle rests at, towards the outside of the cloth [1/m]. 0: flat.
    pub rest: Vec<[f64; 3]>,
    /// D11, D22 and D66 times the area of every triangle [N·m³].
    pub stiffness: Vec<[f64; 3]>,
    /// Their dampers: the same times a Kelvin-Voigt time [N·m³·s].
    pub damping: Vec<[f64; 3]>,
}

/// One of [`Plates`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlatePatch<'a> {
    /// Its particles.
    pub points: &'a [u32],
    /// Their weights [1/m²].
    pub weights: &'a [[f64; 3]],
    /// The second derivatives that it rests at [1/m].
    pub rest: [f64; 3],
    /// D11, D22 and D66 times its area [N·m³].
    pub stiffness: [f64; 3],
    /// Their dampers [N·m³·s].
    pub damping: [f64; 3],
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

impl Plates {
    /// Adds a patch.
    pub fn push(&mut self, patch: PlatePatch) {
        self.points.extend_from_slice(patch.points);
        self.weights.extend_from_slice(patch.weights);
        self.ends.push(self.points.len());
        self.rest.push(patch.rest);
        self.stiffness.push(patch.stiffness);
        self.damping.push(patch.damping);
    }

    /// All patches.
    pub fn patches(&self) -> impl Iterator<Item = PlatePatch<'_>> + Clone {
        (0..self.ends.len()).map(|k| self.patch(k))
    }

    /// Patch `k`.
    pub fn patch(&self, k: usize) -> PlatePatch<'_> {
        let own = k.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[k];
        PlatePatch {
            points: &self.points[own.clone()],
            weights: &self.weights[own],
            rest: self.rest[k],
            stiffness: self.stiffness[k],
            damping: self.damping[k],
        }
    }

    /// Takes in the patches of another piece of cloth, whose particles follow from `first` on.
    pub fn append(&mut self, other: Plates, first: u32) {
        let shift = self.points.len();
        self.points.extend(other.points.iter().map(|i| i + first));
        self.weights.extend(other.weights);
        self.ends.extend(other.ends.iter().map(|end| end + shift));
        self.rest.extend(other.rest);
        self.stiffness.extend(other.stiffness);
        self.damping.extend(other.damping);
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
