//! The walk through two trees, or through one against itself, level by level down to pairs of triangles that are not clearly apart.

use super::compare::LANES;
use super::pairs::at;
use super::tree::CheckTree;
use crate::math::lanes::{Wide, WideKernel};

/// Two trees, or one and itself.
pub(super) struct TreeWalk<'a> {
    pub one: &'a CheckTree<'a>,
    pub other: &'a CheckTree<'a>,
    pub is_same: bool,
}

/// A part of a walk: all that is below pairs of nodes, seen through the boxes of the levels below `level`. It gives pairs of faces by their places.
pub(super) struct Descent<'a> {
    pub walk: &'a TreeWalk<'a>,
    pub level: usize,
    pub nodes: Vec<[u32; 2]>,
}

impl WideKernel for Descent<'_> {
    type Output = Vec<[u32; 2]>;

    #[inline(always)]
    fn run<W: Wide>(self) -> Vec<[u32; 2]> {
        let Descent { walk, mut level, mut nodes } = self;
        while level > 0 {
            level -= 1;
            nodes = walk.below(level, &nodes);
        }
        let mut doubtful = Vec::new();
        nodes.iter().for_each(|leaves| walk.faces(*leaves, &mut doubtful));
        doubtful
    }
}

impl TreeWalk<'_> {
    /// The pairs of nodes, or of leaves, below pairs of nodes of a level whose boxes meet.
    #[inline(always)]
    pub fn below(&self, level: usize, nodes: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let mut found = Vec::with_capacity(8 * nodes.len());
        for &[a, b] in nodes {
            let own = self.one.boxes(level, a as usize);
            let others = self.other.boxes(level, b as usize);
            for lane in 0..LANES as u32 {
                let mut lanes = others.meet(&own.get(lane as usize));
                if self.is_same && a == b {
                    // Only lanes from each lane on, so that no pair comes twice.
                    lanes &= !0 << lane;
                }
                while lanes != 0 {
                    found.push([a * LANES as u32 + lane, b * LANES as u32 + lanes.trailing_zeros()]);
                    lanes &= lanes - 1;
                }
            }
        }
        found
    }

    /// Adds the pairs of faces of two leaves that are not clear.
    #[inline(always)]
    fn faces(&self, [a, b]: [u32; 2], doubtful: &mut Vec<[u32; 2]>) {
        let (own, others) = (&self.one.leaves[a as usize], &self.other.leaves[b as usize]);
        let reach = own.bounds.join(&others.bounds).reach();
        let mut rows = own.boxes.meet(&others.bounds);
        while rows != 0 {
            let lane = rows.trailing_zeros();
            rows &= rows - 1;
            let row = a * LANES as u32 + lane;
            let mut lanes = others.boxes.meet(&own.boxes.get(lane as usize));
            let corners = self.one.faces[row as usize].corners;
            if self.is_same {
                if a == b {
                    lanes &= !1 << lane;
                }
                lanes &= !others.have(corners);
            }
            if lanes != 0 {
                lanes &= !others.clear(&others.see(at(self.one.points, corners), reach));
            }
            while lanes != 0 {
                doubtful.push([row, b * LANES as u32 + lanes.trailing_zeros()]);
                lanes &= lanes - 1;
            }
        }
    }
}
