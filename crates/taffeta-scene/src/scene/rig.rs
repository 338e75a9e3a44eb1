//! A skeleton handed in with a surface: what holds each point, and clips that move it.

use taffeta::math::{DAffine3, DQuat, DVec3};
pub use taffeta::model::skin::{Morph, Share};

/// What makes a surface move: nodes in a tree, points that hang on them, and clips.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rig {
    /// The points of the surface, in its order, in the axes of their own mesh.
    pub points: Vec<DVec3>,
    /// Who holds each point: from the end of the one before to its own, in `shares`.
    pub ends: Vec<u32>,
    /// By how much; those of a point add up to 1.
    pub shares: Vec<Share>,
    /// What points hang on.
    pub bones: Vec<Bone>,
    /// The tree, parents before their children.
    pub nodes: Vec<Node>,
    /// Shapes that are added in parts.
    pub shapes: Vec<Shape>,
    /// What can be played.
    pub clips: Vec<Clip>,
}

impl Rig {
    /// Whether it is one for a surface of so many points, and all its parts name others that are there.
    pub fn fits(&self, points: usize) -> bool {
        let counts = self.points.len() == points && self.ends.len() == points;
        let rising = self.ends.is_sorted()
            && self.ends.last().map_or(self.shares.is_empty(), |end| *end as usize == self.shares.len());
        let before = |(k, node): (usize, &Node)| node.parent.is_none_or(|parent| (parent as usize) < k);
        let inside = |shape: &Shape| {
            let Morph { points: moved, ways } = &shape.morph;
            moved.len() == ways.len()
                && moved.is_sorted()
                && moved.last().is_none_or(|p| (*p as usize) < points)
        };
        counts
            && rising
            && self.shares.iter().all(|share| (share.bone as usize) < self.bones.len())
            && self.bones.iter().all(|bone| (bone.node as usize) < self.nodes.len())
            && self.nodes.iter().enumerate().all(before)
            && self.shapes.iter().all(inside)
    }
}

/// A node that points hang on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// The node.
    pub node: u32,
    /// From a point's own axes to those of the node, in the pose that it was bound in.
    pub unbound: DAffine3,
}

/// A node of the tree: where it is on its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name, perhaps empty.
    pub name: String,
    /// Its parent, which stands before it.
    pub parent: Option<u32>,
    /// Its place where no clip moves it.
    pub place: Place,
}

/// From a node to its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// In one; no clip can move it.
    Whole(DAffine3),
    /// Scaled, then turned, then shifted.
    Parts {
        /// By how much along x, y and z.
        scale: DVec3,
        /// How.
        turn: DQuat,
        /// How far.
        shift: DVec3,
    },
}

/// A shape of some points, which a node adds in a part that clips change.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The node.
    pub node: u32,
    /// Which of its shapes.
    pub number: u32,
    /// How much of it is added where no clip says so [1].
    pub part: f64,
    /// Where points go.
    pub morph: Morph,
}

/// What can be played.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clip {
    /// Its name, perhaps empty.
    pub name: String,
    /// What it moves.
    pub tracks: Vec<Track>,
}

/// One part of one node over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// The node.
    pub node: u32,
    /// What of it.
    pub moves: Moves,
    /// How it goes from key to key.
    pub between: Between,
    /// When keys are, rising [s].
    pub times: Vec<f64>,
    /// As many numbers for each key as the part has: 3, 4, 3, or one for each shape. With [`Between::Curve`] three times that: slope before, value, slope behind.
    pub values: Vec<f64>,
}

/// What a track moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// The shift of a node.
    Shift,
    /// Its turn, a quaternion, real part last.
    Turn,
    /// Its scale.
    Scale,
    /// The parts of all its shapes.
    Shapes,
}

/// How a track goes from key to key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Straight; turns along the shortest arc at constant speed.
    Straight,
    /// It keeps the value of the key before.
    Steps,
    /// On cubic curves with given slopes.
    Curve,
}
