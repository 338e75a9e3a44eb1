//! A piece of cloth: its shape by numbers or from a file, its place, its pins.

use super::{Fold, Keyframe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A piece of cloth: one of `sheet`, `strip`, `disc`, `tube`, `ball`, `lattice`, `mesh`.
///
/// Shapes made by numbers lie flat, u along x (the warp) and v along -z (the weft), centred on their position; the outside looks up. A tube stands
/// on y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cloth {
    /// Its name in messages and reports.
    pub name: String,
    /// The fabric by name: one of `fabrics`, or a built-in one (`taffeta fabrics` lists them).
    pub fabric: String,
    /// A rectangle of particles in rows and columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<Sheet>,
    /// A long, narrow sheet along x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<Strip>,
    /// A disc of triangles in rings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disc: Option<Disc>,
    /// An open tube along y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tube: Option<Tube>,
    /// A closed ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ball: Option<Ball>,
    /// A soft solid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lattice: Option<Lattice>,
    /// A surface from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshShape>,
    /// What its elements are. Only implicit methods know others than springs.
    pub model: ClothModel,
    /// Lines of its mesh file (`l` of an OBJ) are seams that are sewn in this time [s]; left out, they are no more than lines.
    #[schemars(range(min = 0.0, max = 1000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sewing: Option<f64>,
    /// What fills it, if it is closed. Only implicit methods know this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filling: Option<Filling>,
    /// Makes a soft solid of a closed `ball` or `mesh`: its inside is filled with tetrahedra, whose outermost faces take the place of its surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solid: Option<SoftSolid>,
    /// Strain of an edge from which on the cloth tears [1]; left out, it never does.
    #[schemars(range(min = 1e-3, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tear: Option<f64>,
    /// Folds that were pressed in, as u and v from the lower left corner of a sheet, strip or tube, from the middle of a disc, or as the material of a mesh has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub fold: Vec<Fold>,
    /// Where its centre (for a mesh: its origin) lies [m].
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: [f64; 3],
    /// Turns about x, then y, then z [degrees]. [90, 0, 0] stands a sheet upright, its upper side up.
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: [f64; 3],
    /// Velocity of all its particles at the start [m/s].
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub velocity: [f64; 3],
    /// Random velocities at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kick: Option<Kick>,
    /// Particles that do not move, or move by keyframes.
    pub pin: Vec<Pin>,
}

impl Default for Cloth {
    fn default() -> Self {
        Self {
            name: String::new(),
            fabric: "cotton".into(),
            sheet: None,
            strip: None,
            disc: None,
            tube: None,
            ball: None,
            lattice: None,
            mesh: None,
            model: ClothModel::default(),
            sewing: None,
            filling: None,
            solid: None,
            tear: None,
            fold: Vec::new(),
            position: [0.0; 3],
            rotation: [0.0; 3],
            velocity: [0.0; 3],
            kick: None,
            pin: Vec::new(),
        }
    }
}

/// A rectangle of particles in rows and columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Size along u [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub width: f64,
    /// Size along v [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub height: f64,
    /// Particles along u.
    #[schemars(range(min = 2, max = 10_000))]
    pub columns: u32,
    /// Particles along v.
    #[schemars(range(min = 2, max = 10_000))]
    pub rows: u32,
    /// Distance of the left and right sides over the width [1]: 1 is flat, less is an arc that sags, every edge at rest.
    #[serde(default = "one")]
    #[schemars(range(min = 0.3, max = 1.0))]
    pub slack: f64,
}

pub(super) fn one() -> f64 {
    1.0
}

/// A long, narrow sheet along x, of square cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strip {
    /// Size along u [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub length: f64,
    /// Size along v [m].
    #[schemars(range(min = 1e-4, max = 1e4))]
    pub width: f64,
    /// Cells along u; across there are as many as keep the cells nearest to square.
    #[schemars(range(min = 1, max = 100_000))]
    pub segments: u32,
}

/// A disc of triangles in rings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Radius [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub radius: f64,
    /// Rings around the centre; the k-th has 6 k particles.
    #[schemars(range(min = 1, max = 2_000))]
    pub rings: u32,
}

/// An open tube along y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tube {
    /// Radius [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub radius: f64,
    /// Size along y [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub length: f64,
    /// Particles around.
    #[schemars(range(min = 3, max = 10_000))]
    pub segments: u32,
    /// Particles along y.
    #[schemars(range(min = 2, max = 10_000))]
    pub rows: u32,
}

/// A closed ball of triangles in rings about y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Radius [m].
    #[schemars(range(min = 1e-3, max = 1e4))]
    pub radius: f64,
    /// Rings from a pole to the equator; the k-th has 4 k particles.
    #[schemars(range(min = 1, max = 2_000))]
    pub rings: u32,
}

/// A soft solid: a box of particles joined by springs along the edges of its cells and the diagonals of their faces. Of its fabric only thickness and
/// friction count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Size along x, y and z [m].
    #[schemars(inner(range(min = 1e-3, max = 1e4)))]
    pub size: [f64; 3],
    /// Cells along x, y and z; the nearer they are to cubes the better.
    #[schemars(inner(range(min = 1, max = 1_000)))]
    pub cells: [u32; 3],
    /// Mass per volume [kg/m³].
    #[schemars(range(min = 1e-3, max = 1e5))]
    pub density: f64,
    /// Young's modulus [Pa]; Poisson's ratio is that of such lattices, 1/4.
    #[schemars(range(min = 1.0, max = 1e9))]
    pub modulus: f64,
    /// Kelvin-Voigt time of its springs [ms].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub damping: f64,
}

/// A soft solid: tetrahedra that fill a closed surface, with springs along their edges. Of its fabric only thickness and friction count. A `filling` of gas at
/// pressure 0 keeps its volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftSolid {
    /// Side of the cubes of its lattice [m]; there are two particles for each.
    #[schemars(range(min = 1e-4, max = 1e4))]
    pub cell: f64,
    /// Mass per volume [kg/m³].
    #[schemars(range(min = 1e-3, max = 1e5))]
    pub density: f64,
    /// Young's modulus [Pa]; Poisson's ratio is that of networks of springs, 1/4.
    #[schemars(range(min = 1.0, max = 1e9))]
    pub modulus: f64,
    /// Kelvin-Voigt time of its springs [ms].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub damping: f64,
}

/// What elements a piece of cloth is made of. All of them have the fabric's stiffness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClothModel {
    /// Springs along edges and diagonals, bends along pairs of edges, twist of quads (P2, P4, P5).
    #[default]
    Springs,
    /// Triangles with warp, weft and shear that bend and twist as a plate does (P4; Baraff & Witkin).
    Triangles,
    /// Springs that only pull and strips that buckle (P3; Choi & Ko).
    ChoiKo,
}

/// What fills a closed piece of cloth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filling {
    /// Pressure above that of the outside, at the start [Pa].
    #[schemars(range(min = -1e6, max = 1e6))]
    pub pressure: f64,
    /// How the pressure goes on.
    #[serde(default)]
    pub kind: FillingKind,
}

/// How the pressure in a closed piece of cloth goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FillingKind {
    /// The gas stays in: its pressure rises as the volume falls.
    #[default]
    Gas,
    /// A pump keeps the pressure.
    Pump,
}

/// A surface from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshShape {
    /// The file, relative to the folder of the scene: OBJ, PLY, STL, glTF or GLB.
    pub file: String,
    /// What one unit of the file is [m].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub scale: f64,
    /// Which axis of the file points up; z is turned to y.
    #[serde(default)]
    pub up: UpAxis,
    /// Points closer than this become one [m]; 0 joins none.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weld: f64,
}

/// An axis that points up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpAxis {
    /// y, as here.
    #[default]
    Y,
    /// z: (x, y, z) becomes (x, z, -y).
    Z,
}

/// Random velocities at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kick {
    /// Share of the particles that are kicked [1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Largest speed, up or down along y [m/s].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub speed: f64,
}

/// Particles that do not move, move together by keyframes, or follow a body: those of all corners, sides and vertices named.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pin {
    /// Corners of a sheet or strip.
    pub corners: Vec<Corner>,
    /// Whole sides.
    pub sides: Vec<Side>,
    /// Particles by number, counted from 0 within this cloth: along u first, then v; for a mesh as the points in its file, joined or not.
    pub vertices: Vec<u32>,
    /// How they move, turning about their common centre; times must increase.
    pub keyframe: Vec<Keyframe>,
    /// The name of a collider that they follow: each keeps its place over the nearest point of it, as it moves and deforms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Only those follow that start as near to the collider as this [m], of all particles if none are named.
    #[schemars(range(min = 0.0, max = 1e4))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Pull of the cloth at which a particle comes off, each by itself [N]; left out, they hold whatever pulls.
    #[schemars(range(min = 1e-9, max = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks: Option<f64>,
}

impl Pin {
    /// Whether something leads its particles.
    pub fn moves(&self) -> bool {
        !self.keyframe.is_empty() || self.on.is_some()
    }

    /// Whether it names particles by itself.
    pub fn names_any(&self) -> bool {
        !(self.corners.is_empty() && self.sides.is_empty() && self.vertices.is_empty())
    }
}

/// A corner of a sheet or strip, seen from outside with u to the right and v up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Corner {
    /// u = 0, v = 0.
    LowerLeft,
    /// u largest, v = 0.
    LowerRight,
    /// u = 0, v largest.
    UpperLeft,
    /// u and v largest.
    UpperRight,
}

/// A side of a cloth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// u = 0 of a sheet or strip.
    Left,
    /// u largest of a sheet or strip.
    Right,
    /// v largest of a sheet or strip, the upper end of a tube.
    Upper,
    /// v = 0 of a sheet or strip, the lower end of a tube.
    Lower,
    /// The whole boundary of any shape.
    Rim,
}
