//! What a tree of boxes is asked: which boxes meet within it and with another, what a ray hits first, what is nearest to a point.

use super::bvh::Tree;
use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::broad_phase::wide_bvh::WideBvh;
use taffeta::math::DVec3;

/// A tree of boxes that can be walked.
pub trait QueryWalk {
    /// The root, if there is any box.
    fn root(&self) -> Option<u32>;
    /// The box of a node.
    fn bounds(&self, node: u32) -> &Bounds;
    /// The children of a node; leaves have none.
    fn children(&self, node: u32) -> Option<[u32; 2]>;
    /// Calls `visit` with the number and the box of all that a leaf holds.
    fn boxes(&self, leaf: u32, visit: impl FnMut(u32, &Bounds));

    /// Calls `found` for every two boxes that meet, once each, in either order.
    fn pairs_within(&self, stack: &mut Vec<[u32; 2]>, mut found: impl FnMut(u32, u32))
    where
        Self: Sized,
    {
        stack.clear();
        stack.extend(self.root().map(|root| [root, root]));
        while let Some([a, b]) = stack.pop() {
            match (a == b, self.children(a), self.children(b)) {
                (true, Some([l, r]), _) => stack.extend([[l, l], [r, r], [l, r]]),
                (true, None, _) => self.boxes(a, |i, mine| {
                    self.boxes(a, |j, other| {
                        if i < j && mine.meets(other) {
                            found(i, j)
                        }
                    });
                }),
                _ => step_between(self, self, [a, b], stack, &mut found),
            }
        }
    }

    /// Calls `found(i, j)` for every box i of this tree and box j of `other` that meet.
    fn pairs_between(
        &self,
        other: &impl QueryWalk,
        stack: &mut Vec<[u32; 2]>,
        mut found: impl FnMut(u32, u32),
    ) where
        Self: Sized,
    {
        stack.clear();
        stack.extend(self.root().zip(other.root()).map(|(a, b)| [a, b]));
        while let Some(pair) = stack.pop() {
            step_between(self, other, pair, stack, &mut found);
        }
    }

    /// The box that a ray from `origin` hits first, and where along it [in lengths of `direction`], up to `limit`; `hit` tells for a box whose
    /// bounds the ray meets where it hits what is inside, if it does.
    fn first_along(
        &self,
        origin: DVec3,
        direction: DVec3,
        limit: f64,
        mut hit: impl FnMut(u32) -> Option<f64>,
    ) -> Option<(u32, f64)> {
        let (mut best, mut first, mut stack) = (None, limit, Vec::from_iter(self.root()));
        while let Some(node) = stack.pop() {
            if self.bounds(node).along(origin, direction, first).is_none() {
                continue;
            }
            if let Some(children) = self.children(node) {
                let enters = children.map(|child| self.bounds(child).along(origin, direction, first));
                let order = enters[0].unwrap_or(f64::INFINITY) <= enters[1].unwrap_or(f64::INFINITY);
                // The nearer one is looked at first: it may spare the other.
                for k in if order { [1, 0] } else { [0, 1] } {
                    stack.extend(enters[k].map(|_| children[k]));
                }
                continue;
            }
            self.boxes(node, |item, bounds| {
                let at = bounds.along(origin, direction, first).and_then(|_| hit(item));
                // The smaller number wins at the same place, whatever the tree.
                if let Some(at) = at.filter(|at| *at < first || *at == first && best.is_none_or(|b| item < b))
                {
                    (best, first) = (Some(item), at);
                }
            });
        }
        best.map(|item| (item, first))
    }

    /// What is nearest to `point`, and how far [m], if within `limit`; `distance` tells for what is in a box how far it is.
    fn nearest(&self, point: DVec3, limit: f64, mut distance: impl FnMut(u32) -> f64) -> Option<(u32, f64)> {
        let (mut best, mut least, mut stack) = (None, limit, Vec::from_iter(self.root()));
        while let Some(node) = stack.pop() {
            if self.bounds(node).distance(point) > least {
                continue;
            }
            if let Some([a, b]) = self.children(node) {
                let near = self.bounds(a).distance(point) <= self.bounds(b).distance(point);
                stack.extend(if near { [b, a] } else { [a, b] });
                continue;
            }
            self.boxes(node, |item, bounds| {
                if bounds.distance(point) <= least {
                    let far = distance(item);
                    if far < least || far == least && best.is_none_or(|b| item < b) {
                        (best, least) = (Some(item), far);
                    }
                }
            });
        }
        best.map(|item| (item, least))
    }
}

/// Looks at two different nodes: splits the larger one, or tells which boxes meet.
#[inline]
fn step_between<A: QueryWalk, B: QueryWalk>(
    one: &A,
    other: &B,
    [a, b]: [u32; 2],
    stack: &mut Vec<[u32; 2]>,
    found: &mut impl FnMut(u32, u32),
) {
    let (mine, theirs) = (one.bounds(a), other.bounds(b));
    if !mine.meets(theirs) {
        return;
    }
    match (one.children(a), other.children(b)) {
        (Some([l, r]), None) => stack.extend([[l, b], [r, b]]),
        (Some([l, r]), Some(_)) if mine.size() >= theirs.size() => stack.extend([[l, b], [r, b]]),
        (_, Some([l, r])) => stack.extend([[a, l], [a, r]]),
        (None, None) => one.boxes(a, |i, mine| {
            other.boxes(b, |j, theirs| {
                if mine.meets(theirs) {
                    found(i, j)
                }
            });
        }),
    }
}

impl QueryWalk for Tree {
    fn root(&self) -> Option<u32> {
        self.root()
    }
    #[inline]
    fn bounds(&self, node: u32) -> &Bounds {
        self.bounds(node)
    }
    #[inline]
    fn children(&self, node: u32) -> Option<[u32; 2]> {
        self.children(node)
    }
    #[inline]
    fn boxes(&self, leaf: u32, mut visit: impl FnMut(u32, &Bounds)) {
        visit(leaf, self.bounds(leaf));
    }
}

impl QueryWalk for WideBvh {
    fn root(&self) -> Option<u32> {
        (!self.is_empty()).then_some(1)
    }
    #[inline]
    fn bounds(&self, node: u32) -> &Bounds {
        self.node(node)
    }
    #[inline]
    fn children(&self, node: u32) -> Option<[u32; 2]> {
        self.leaf(node).is_none().then_some([2 * node, 2 * node + 1])
    }
    #[inline]
    fn boxes(&self, leaf: u32, mut visit: impl FnMut(u32, &Bounds)) {
        self.leaf(leaf).into_iter().for_each(|leaf| self.each(leaf, &mut visit));
    }
}
