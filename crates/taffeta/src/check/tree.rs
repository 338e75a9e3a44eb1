//! Which triangles may meet: a tree of boxes over leaves of eight, walked against itself or another.
//!
//! Triangles stand in the order of their centres along a curve that fills space ([`super::curve`]), eight of them in a leaf, eight leaves in a node, and so on.
//! Boxes are those of the triangles that a node has, whatever their order, so huge coordinates and mixed sizes cost time, and nothing else.

use super::compare::LANES;
use super::curve::along_curve;
use super::eight::{Eight, EightBoxes};
use super::outer_box::OuterBox;
use super::walk::{Descent, TreeWalk};
use crate::math::DVec3;
use crate::math::lanes::InstructionSet;
use crate::parallel;

/// A triangle of a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    /// Which triangle of the surface.
    pub index: u32,
    /// Its particles.
    pub corners: [u32; 3],
}

/// Faces in leaves of eight, and boxes over them.
pub(super) struct CheckTree<'a> {
    pub points: &'a [DVec3],
    /// In the order of the curve.
    pub faces: Vec<Face>,
    /// Eight faces each.
    pub leaves: Vec<Eight>,
    /// The boxes of leaves, then of the nodes above them, and so on up to one node.
    levels: Vec<Vec<EightBoxes>>,
}

/// Judges two faces.
pub(super) type Test<'a> = dyn Fn(&Face, &Face) -> bool + Sync + 'a;

/// Measures two faces; what is not less than the last number may be told as just that number.
pub(super) type Measure<'a> = dyn Fn(&Face, &Face, f64) -> f64 + 'a;

/// Leaves that a thread fills in a row, at least.
const FILLED: usize = 64;
/// Pairs of nodes from which a walk is cut into tasks.
const WIDE_ENOUGH: usize = 256;
/// Pairs of nodes in a task.
const TASK: usize = 16;

impl<'a> CheckTree<'a> {
    /// A tree over faces between points. What is `smooth` of particles, if it is told, spares a walk within the tree most pairs.
    pub fn new(points: &'a [DVec3], faces: Vec<Face>, smooth: &[bool]) -> Self {
        let faces = along_curve(points, faces);
        let mut leaves = vec![Eight::NONE; faces.len().div_ceil(LANES).max(1)];
        parallel::each(&mut leaves, FILLED, |k, leaf| {
            let eight = parallel::chunk(&faces, LANES, k).iter();
            let is_smooth = |c: u32| smooth.get(c as usize) == Some(&true);
            leaf.fill(points, eight.map(|face| &face.corners), is_smooth);
        });
        let mut levels = vec![over(leaves.iter().map(|leaf| leaf.bounds))];
        while levels[levels.len() - 1].len() > 1 {
            levels.push(over(levels[levels.len() - 1].iter().map(EightBoxes::around)));
        }
        Self { points, faces, leaves, levels }
    }

    /// Every two faces of this tree that pass `test`, by their numbers; in no particular order.
    ///
    /// Only those whose boxes overlap are asked, and not those that certainly share no more than their common particles.
    pub fn pairs_within(&self, test: &Test) -> Vec<[u32; 2]> {
        self.pairs(TreeWalk { one: self, other: self, is_same: true }, test)
    }

    /// Every face of this tree and face of `other`, a tree over another surface, that pass `test`, by their numbers; in no particular order.
    ///
    /// Only those whose boxes overlap are asked, and not those that are clearly apart.
    pub fn pairs_with(&self, other: &Self, test: &Test) -> Vec<[u32; 2]> {
        self.pairs(TreeWalk { one: self, other, is_same: false }, test)
    }

    /// Goes for a walk, cut into tasks.
    fn pairs(&self, walk: TreeWalk, test: &Test) -> Vec<[u32; 2]> {
        let other = walk.other;
        let (mut level, mut nodes) = (self.levels.len().max(other.levels.len()), vec![[0, 0]]);
        while level > 0 && nodes.len() < WIDE_ENOUGH {
            level -= 1;
            nodes = walk.below(level, &nodes);
        }
        let mut found: Vec<Vec<[u32; 2]>> = vec![Vec::new(); nodes.len().div_ceil(TASK)];
        parallel::each(&mut found, 1, |task, found| {
            let nodes = parallel::chunk(&nodes, TASK, task).to_vec();
            let doubtful = InstructionSet::available()[0].run(Descent { walk: &walk, level, nodes });
            let faces = doubtful.iter().map(|[a, b]| [&self.faces[*a as usize], &other.faces[*b as usize]]);
            found.extend(faces.filter(|[f, g]| test(f, g)).map(|[f, g]| [f.index, g.index]));
        });
        found.concat()
    }

    /// The least `measure` of a face of this tree and a face of `other`, to a share of 1e-12; or `least` where none is less.
    pub fn least_with(&self, other: &Self, measure: &Measure, least: f64) -> f64 {
        self.least_below(other, self.levels.len().max(other.levels.len()), [0, 0], measure, least)
    }

    /// The same for what is below a node of each tree, both of a level; leaves are of level 0.
    fn least_below(
        &self,
        other: &Self,
        level: usize,
        [a, b]: [usize; 2],
        measure: &Measure,
        least: f64,
    ) -> f64 {
        let boxes = |tree: &Self, node: usize| match level.checked_sub(1) {
            Some(above) => tree.boxes(above, node),
            None => tree.leaves[node].boxes,
        };
        let (own, others) = (boxes(self, a), boxes(other, b));
        let lanes = (0..LANES * LANES).map(|k| [k / LANES, k % LANES]);
        let gap = |[i, j]: [usize; 2]| own.get(i).gap(&others.get(j));
        // What could be less by rounding alone is not looked for: surfaces that lie on each other are as far apart everywhere.
        let is_near = |gap: f64, least: f64| gap < least * (1.0 - 1e-12);
        let mut pairs: Vec<(f64, [usize; 2])> = lanes.map(|lanes| (gap(lanes), lanes)).collect();
        pairs.retain(|(gap, _)| is_near(*gap, least));
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.iter().fold(least, |least, (gap, [i, j])| {
            let (a, b) = (LANES * a + i, LANES * b + j);
            match level.checked_sub(1) {
                _ if !is_near(*gap, least) => least,
                Some(below) => self.least_below(other, below, [a, b], measure, least),
                None => least.min(measure(&self.faces[a], &other.faces[b], least)),
            }
        })
    }

    /// The boxes below a node of a level; above its own levels there is one node, over all of the tree.
    #[inline(always)]
    pub fn boxes(&self, level: usize, node: usize) -> EightBoxes {
        match self.levels.get(level) {
            Some(boxes) => boxes[node],
            None => {
                let mut boxes = EightBoxes::NONE;
                boxes.set(0, &self.levels[self.levels.len() - 1][0].around());
                boxes
            }
        }
    }
}

/// Boxes in eights.
fn over(bounds: impl Iterator<Item = OuterBox>) -> Vec<EightBoxes> {
    let mut eights = Vec::new();
    for (k, bounds) in bounds.enumerate() {
        if k % LANES == 0 {
            eights.push(EightBoxes::NONE);
        }
        eights[k / LANES].set(k % LANES, &bounds);
    }
    eights
}
