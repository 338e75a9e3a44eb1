//! A surface handed in as arrays.

use super::rig::Rig;
use taffeta::math::DVec3;
use taffeta::model::topology::{MeshProblem, Topology};

/// A surface of triangles and quads over one list of points, as a file or a program hands it in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Points [m].
    pub positions: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Quads, counter-clockwise seen from outside.
    pub quads: Vec<[u32; 4]>,
    /// Material coordinates of every point (u along the warp, v along the weft) [m], or empty.
    pub material: Vec<[f64; 2]>,
    /// Pairs of points joined by a line without a face: sewing edges.
    pub lines: Vec<[u32; 2]>,
    /// What makes it move, if it was asked for.
    pub rig: Option<Box<Rig>>,
}

impl Mesh {
    /// Who touches whom on it, or everything that is wrong with it.
    pub fn topology(&self) -> Result<Topology, Vec<MeshProblem>> {
        Topology::new(&self.positions, &self.triangles, &self.quads)
    }
}
