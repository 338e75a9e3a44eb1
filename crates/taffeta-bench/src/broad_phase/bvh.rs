//! A binary tree of boxes with one box in every leaf, and four ways to let it follow motion (P5 §4).
//!
//! Nodes are allocated once. Contact uses [`WideBvh`](taffeta::collide::broad_phase::wide_bvh::WideBvh), which follows faster; this one is
//! what it is measured against, and serves where boxes come and go one by one.

use taffeta::collide::broad_phase::boxes::Bounds;

/// How a tree follows boxes that have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// The tree stays, its boxes are computed anew.
    Refit,
    /// All is built anew by halving.
    Rebuild,
    /// Moved leaves are put back at the first node that does not hold them (Selle's way, P5 §4).
    Selle,
    /// Moved leaves are put back beside the leaf that a descent into the nearer child ends at (P5 §4).
    Reinsert,
}

impl Update {
    /// All of them, as the paper names them.
    pub const ALL: [(Update, &str); 4] = [
        (Update::Refit, "refit"),
        (Update::Rebuild, "rebuild"),
        (Update::Selle, "selle"),
        (Update::Reinsert, "reinsert"),
    ];
}

/// A tree over boxes that are numbered from 0.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    root: u32,
    /// All nodes, parents before children, as of the last refit; scratch.
    order: Vec<u32>,
}

/// Leaves come first: node k is box k. The others follow.
#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: Bounds,
    parent: u32,
    children: [u32; 2],
}

/// No node.
const NONE: u32 = u32::MAX;

impl Tree {
    /// Builds a tree over `boxes`.
    pub fn new(boxes: &[Bounds]) -> Self {
        let count = (2 * boxes.len()).saturating_sub(1);
        let empty = Node { bounds: Bounds::NOTHING, parent: NONE, children: [NONE; 2] };
        let mut tree = Self { nodes: vec![empty; count], root: NONE, order: Vec::with_capacity(count) };
        tree.update(boxes, Update::Rebuild);
        tree
    }

    /// Takes the boxes as they are now, as many as before.
    pub fn update(&mut self, boxes: &[Bounds], way: Update) {
        assert_eq!((2 * boxes.len()).saturating_sub(1), self.nodes.len(), "a tree keeps its number of boxes");
        match way {
            Update::Refit => {
                self.nodes.iter_mut().zip(boxes).for_each(|(node, bounds)| node.bounds = *bounds);
                self.refit();
            }
            Update::Rebuild => self.rebuild(boxes),
            Update::Selle | Update::Reinsert => {
                for (leaf, bounds) in (0..).zip(boxes) {
                    if self.nodes[leaf as usize].bounds != *bounds {
                        self.put_again(leaf, *bounds, way);
                    }
                }
            }
        }
    }

    /// Longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        let (mut deepest, mut stack) = (0, vec![(self.root, 1)]);
        while let Some((node, depth)) = stack.pop().filter(|(node, _)| *node != NONE) {
            deepest = deepest.max(depth);
            stack.extend(self.children(node).into_iter().flatten().map(|child| (child, depth + 1)));
        }
        deepest
    }

    /// The root, if there is any box.
    pub fn root(&self) -> Option<u32> {
        (self.root != NONE).then_some(self.root)
    }

    /// The box of a node.
    pub fn bounds(&self, node: u32) -> &Bounds {
        &self.nodes[node as usize].bounds
    }

    /// The children of a node; a leaf has none, and its number is that of its box.
    #[inline]
    pub fn children(&self, node: u32) -> Option<[u32; 2]> {
        let children = self.nodes[node as usize].children;
        (children[0] != NONE).then_some(children)
    }

    fn refit(&mut self) {
        self.order.clear();
        self.order.extend(self.root());
        let mut next = 0;
        while let Some(node) = self.order.get(next) {
            let children = self.children(*node);
            self.order.extend(children.into_iter().flatten());
            next += 1;
        }
        for k in (0..self.order.len()).rev() {
            self.join(self.order[k]);
        }
    }

    /// Computes the box of a node from those of its children, if it has any.
    fn join(&mut self, node: u32) {
        if let Some([a, b]) = self.children(node) {
            self.nodes[node as usize].bounds = self.bounds(a).join(self.bounds(b));
        }
    }

    fn rebuild(&mut self, boxes: &[Bounds]) {
        let mut items = std::mem::take(&mut self.order);
        items.clear();
        items.extend(0..boxes.len() as u32);
        self.nodes.iter_mut().zip(boxes).for_each(|(node, bounds)| node.bounds = *bounds);
        let mut free = boxes.len() as u32;
        self.root = if items.is_empty() { NONE } else { self.halve(boxes, &mut items, &mut free) };
        if let Some(root) = self.nodes.get_mut(self.root as usize) {
            root.parent = NONE;
        }
        self.order = items;
    }

    /// Builds the tree over `items` from inner nodes `free` on; as deep as the logarithm of their number.
    fn halve(&mut self, boxes: &[Bounds], items: &mut [u32], free: &mut u32) -> u32 {
        if let [item] = items {
            return *item;
        }
        let around = items.iter().fold(Bounds::NOTHING, |all, i| all.join(&boxes[*i as usize]));
        let axis = around.longest_axis();
        let middle = items.len() / 2;
        items.select_nth_unstable_by(middle, |i, j| {
            let centre = |item: &u32| boxes[*item as usize].twice_centre(axis);
            centre(i).total_cmp(&centre(j)).then(i.cmp(j))
        });
        let node = *free;
        *free += 1;
        let (left, right) = items.split_at_mut(middle);
        let children = [self.halve(boxes, left, free), self.halve(boxes, right, free)];
        children.iter().for_each(|child| self.nodes[*child as usize].parent = node);
        (self.nodes[node as usize].children, self.nodes[node as usize].bounds) = (children, around);
        node
    }

    /// Takes a leaf out and puts it back where its new box belongs.
    fn put_again(&mut self, leaf: u32, bounds: Bounds, way: Update) {
        self.nodes[leaf as usize].bounds = bounds;
        let Some(freed) = self.take_out(leaf) else { return };
        let mut at = self.root;
        while let Some(children) = self.children(at) {
            if way == Update::Selle && !self.bounds(at).holds(&bounds) {
                break;
            }
            let far = |child: u32| self.bounds(child).distance_to(&bounds);
            at = if far(children[1]) < far(children[0]) { children[1] } else { children[0] };
        }
        self.pair_up(at, leaf, freed);
    }

    /// Takes a leaf out: its sibling moves up, and its parent, which is returned, is free. The only leaf stays.
    fn take_out(&mut self, leaf: u32) -> Option<u32> {
        let parent = self.nodes[leaf as usize].parent;
        let [a, b] = self.nodes.get(parent as usize)?.children;
        let sibling = if a == leaf { b } else { a };
        let above = self.nodes[parent as usize].parent;
        self.nodes[sibling as usize].parent = above;
        self.replace_child(above, parent, sibling);
        // Boxes above shrink, up to the first that does not.
        let mut node = above;
        while node != NONE {
            let before = *self.bounds(node);
            self.join(node);
            if *self.bounds(node) == before {
                break;
            }
            node = self.nodes[node as usize].parent;
        }
        Some(parent)
    }

    /// Makes `freed` the parent of a leaf and the node at which it is put in.
    fn pair_up(&mut self, at: u32, leaf: u32, freed: u32) {
        let above = self.nodes[at as usize].parent;
        let bounds = self.bounds(at).join(self.bounds(leaf));
        self.nodes[freed as usize] = Node { bounds, parent: above, children: [at, leaf] };
        self.nodes[at as usize].parent = freed;
        self.nodes[leaf as usize].parent = freed;
        self.replace_child(above, at, freed);
        let (mut node, added) = (above, *self.bounds(leaf));
        while node != NONE && !self.bounds(node).holds(&added) {
            self.nodes[node as usize].bounds = self.bounds(node).join(&added);
            node = self.nodes[node as usize].parent;
        }
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        match self.nodes.get_mut(parent as usize) {
            Some(node) => node.children = node.children.map(|child| if child == old { new } else { child }),
            None => self.root = new,
        }
    }
}
