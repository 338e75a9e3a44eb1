//! Patches of cloth, laid out in a plane: what [`CurvatureCuller`](super::curvature_culler::CurvatureCuller) knows for good.
//!
//! A cloth is laid out by leaving out the coordinate across it at rest. A node of the tree is a patch if the rectangle around its triangles in the plane is part of the
//! cloth, and lies there once: then a straight line between any two points of the patch does not leave the cloth.

use super::features::triangles_around;
use super::sixteen::WIDE;
use crate::collide::surface::CollisionSurface;
use crate::math::DVec3;
use crate::math::lanes::{LANES, Lanes};
use std::collections::BTreeMap;
use std::ops::Range;

/// All patches of all cloths.
#[derive(Debug, Clone)]
pub struct Patches {
    /// The triangles of every leaf of the tree.
    pub leaves: Vec<LeafLayout>,
    /// Per node of the tree its patch; node k has the children 2k and 2k + 1.
    pub nodes: Vec<Patch>,
    /// Patches of two leaves beside one another, by their nodes, sorted.
    pub twos: Vec<([u32; 2], Patch)>,
    /// Leaves at the rims of patches.
    pub rims: Vec<u32>,
    /// Per point the smallest node with all triangles around it; 0 if there is none.
    pub around: Vec<u32>,
    /// Per triangle the node of the leaf that has it.
    leaf: Vec<u32>,
}

/// Eights in a leaf.
pub const EIGHTS: usize = WIDE / LANES;

/// The triangles of a leaf, eight side by side; lanes without one repeat the last.
#[derive(Debug, Clone)]
pub struct LeafLayout {
    /// Their corners.
    pub corners: [[[u32; LANES]; 3]; EIGHTS],
    /// The inverse of their edges from the first corner: those edges in space times this is the deformation gradient [1/m].
    pub inverse: [[[Lanes; 2]; 2]; EIGHTS],
}

/// What is known of a node. The rectangle around its triangles is covered by them and by those of its rim.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Where its rim stands in the list.
    pub rim: Range<usize>,
    /// Least distance in the plane of features that share no point [m]; 0 if it is no patch.
    pub apart: f64,
    /// The distance that its cloth keeps from itself [m].
    pub keep: f64,
}

/// A triangle in the plane.
#[derive(Debug, Clone)]
struct Layout {
    corners: [u32; 3],
    inverse: [[f64; 2]; 2],
    /// Its corners in the plane [m].
    plane: [[f64; 2]; 3],
    /// Its least height [m]; 0 if it is turned over, a sliver, or no triangle.
    height: f64,
    /// At which of its edges there is not one neighbour that goes round as it does.
    ends: [bool; 3],
    object: u32,
}

/// A rectangle in the plane: least and largest coordinates [m].
type Rectangle = [[f64; 2]; 2];

/// Around nothing.
const NOWHERE: Rectangle = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
/// Leaves that the rim of a small patch has at most; that of a large one has no more than the patch. A larger one costs more than it saves.
const MOST_RIM: usize = 8;

/// Heights below so much of the longest edge make slivers [1].
const SLIVER: f64 = 1e-3;

impl Patches {
    /// Those of the cloths of a surface, whose triangles a tree has in `order`.
    pub fn new(surface: &CollisionSurface, order: &[u32]) -> Self {
        let layout = lay_out(surface, order);
        let leaves = layout.len().div_ceil(WIDE).max(1).next_power_of_two();
        let mut leaf = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, t)| leaf[*t as usize] = (leaves + place / WIDE) as u32);
        let mut maker = PatchMaker { surface, rectangles: rectangles(&layout, leaves), layout, rims: Vec::new() };
        // There is no node 0.
        let of_node = |node: usize| (node > 0).then(|| maker.patch(&[node])).flatten().unwrap_or(Patch::NONE);
        let nodes = (0..2 * leaves).map(of_node).collect();
        // Particles of cloth have triangles of cloth around them, those of bodies none.
        let (starts, mut around) = triangles_around(surface);
        around.truncate(starts[surface.particles] as usize);
        around.iter_mut().for_each(|t| *t = leaf[*t as usize]);
        let around = || starts[..=surface.particles].windows(2).map(|range| &around[range[0] as usize..range[1] as usize]);
        let of_two = |two: &[u32; 2]| maker.patch(&two.map(|node| node as usize)).map(|patch| (*two, patch));
        let twos = neighbours(around()).iter().filter_map(of_two).collect();
        Self {
            leaves: maker.layout.chunks(WIDE).map(LeafLayout::new).collect(),
            nodes,
            twos,
            rims: maker.rims,
            around: around().map(common).collect(),
            leaf,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.twos.is_empty() && self.nodes.iter().all(|patch| patch.apart == 0.0)
    }

    /// The nodes of the leaves that have two triangles, in their order.
    #[inline]
    pub fn leaves_of(&self, t: u32, u: u32) -> [u32; 2] {
        let [a, b] = [t, u].map(|t| self.leaf[t as usize]);
        [a.min(b), a.max(b)]
    }

    /// Where the patch of two leaves stands, given by their nodes, the smaller first.
    #[inline]
    pub fn place_of_two(&self, two: [u32; 2]) -> Option<usize> {
        self.twos.binary_search_by_key(&two, |(two, _)| *two).ok()
    }
}

/// What it takes to find patches.
struct PatchMaker<'a> {
    surface: &'a CollisionSurface,
    layout: Vec<Layout>,
    /// Around the triangles of every node.
    rectangles: Vec<Rectangle>,
    rims: Vec<u32>,
}

impl PatchMaker<'_> {
    /// The triangles of a node.
    fn own(&self, node: usize) -> &[Layout] {
        let level = node.ilog2();
        let each = (self.rectangles.len() / 2) >> level;
        let places = [node - (1 << level), node + 1 - (1 << level)].map(|k| (k * each * WIDE).min(self.layout.len()));
        &self.layout[places[0]..places[1]]
    }

    /// The patch that nodes of one level make, if they do; its rim is added to the list.
    fn patch(&mut self, nodes: &[usize]) -> Option<Patch> {
        let rectangle = nodes.iter().fold(NOWHERE, |all, node| around_both(all, self.rectangles[*node]));
        let own = || nodes.iter().flat_map(|node| self.own(*node));
        let first = own().next()?;
        let is_good = |layout: &Layout| layout.height > 0.0 && !layout.ends_in(&rectangle);
        if !own().all(|layout| layout.object == first.object && is_good(layout)) {
            return None;
        }
        let (mut height, mut layers, mut rim) = (f64::INFINITY, 0, Vec::new());
        let mut add = |layout: &Layout| {
            height = height.min(layout.height);
            layers += usize::from(layout.has(first.centre()));
        };
        own().for_each(&mut add);
        let (mut stack, leaves, most) = (vec![1], self.rectangles.len() / 2, MOST_RIM.max(own().count() / WIDE));
        while let Some(other) = stack.pop() {
            if nodes.contains(&other) || !overlap(&self.rectangles[other], &rectangle) {
                continue;
            }
            if other < leaves {
                stack.extend([2 * other, 2 * other + 1]);
                continue;
            }
            let reaches = |layout: &&Layout| layout.object == first.object && overlap(&layout.rectangle(), &rectangle);
            let mut reaching = self.own(other).iter().filter(reaches).peekable();
            if reaching.peek().is_none() {
                continue;
            }
            rim.push((other - leaves) as u32);
            if rim.len() > most || !reaching.clone().all(is_good) {
                return None;
            }
            reaching.for_each(&mut add);
        }
        // Across an edge of two triangles that are not turned over there are as many layers on either side: what lies once somewhere lies once everywhere.
        if layers != 1 {
            return None;
        }
        let (from, keep) = (self.rims.len(), self.surface.objects[first.object as usize].self_distance);
        self.rims.extend(rim);
        // A line from a corner to a feature that it is no part of crosses a triangle around it.
        Some(Patch { rim: from..self.rims.len(), apart: (1.0 - 1e-6) * height, keep })
    }
}

impl LeafLayout {
    fn new(triangles: &[Layout]) -> Self {
        let lane = |half: usize, l: usize| &triangles[(half * LANES + l).min(triangles.len() - 1)];
        let lanes = |half: usize, of: &dyn Fn(&Layout) -> f64| Lanes(std::array::from_fn(|l| of(lane(half, l))));
        Self {
            corners: std::array::from_fn(|h| [0, 1, 2].map(|k| std::array::from_fn(|l| lane(h, l).corners[k]))),
            inverse: std::array::from_fn(|h| {
                [0, 1].map(|row| [0, 1].map(|column| lanes(h, &|layout| layout.inverse[row][column])))
            }),
        }
    }
}

/// The smallest node with all of these leaves; 0 if there are none.
fn common(leaves: &[u32]) -> u32 {
    leaves.iter().copied().reduce(join).unwrap_or(0)
}

/// Every two leaves that stand around one point, by their nodes, sorted.
fn neighbours<'a>(around: impl Iterator<Item = &'a [u32]>) -> Vec<[u32; 2]> {
    let twos = |leaves: &'a [u32]| {
        leaves.iter().flat_map(move |a| leaves.iter().filter(move |b| a < *b).map(move |b| [*a, *b]))
    };
    let mut all: Vec<_> = around.flat_map(twos).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Around the triangles of every node of a tree.
fn rectangles(layout: &[Layout], leaves: usize) -> Vec<Rectangle> {
    let mut all = vec![NOWHERE; 2 * leaves];
    for (leaf, triangles) in layout.chunks(WIDE).enumerate() {
        all[leaves + leaf] = triangles.iter().map(Layout::rectangle).fold(all[leaves + leaf], around_both);
    }
    for node in (1..leaves).rev() {
        all[node] = around_both(all[2 * node], all[2 * node + 1]);
    }
    all
}

impl Patch {
    /// No patch.
    const NONE: Self = Self { rim: 0..0, apart: 0.0, keep: 0.0 };
}

impl Layout {
    fn rectangle(&self) -> Rectangle {
        let [a, b, c] = self.plane.map(|p| [p; 2]);
        around_both(around_both(a, b), c)
    }

    /// Whether the cloth ends inside a rectangle at one of its edges.
    fn ends_in(&self, rectangle: &Rectangle) -> bool {
        (0..3).any(|k| {
            let edge = around_both([self.plane[k]; 2], [self.plane[(k + 1) % 3]; 2]);
            self.ends[k] && overlap(&edge, rectangle)
        })
    }

    fn centre(&self) -> [f64; 2] {
        let [a, b, c] = self.plane;
        [0, 1].map(|k| (a[k] + b[k] + c[k]) / 3.0)
    }

    /// Whether a point of the plane lies in it or at its edge.
    fn has(&self, point: [f64; 2]) -> bool {
        (0..3).all(|k| across(self.plane[k], self.plane[(k + 1) % 3], point) >= 0.0)
    }
}

/// The triangles of cloths in the plane, in `order`.
fn lay_out(surface: &CollisionSurface, order: &[u32]) -> Vec<Layout> {
    let mut uses = BTreeMap::new();
    for t in &surface.triangles[..order.len()] {
        sides(t).into_iter().for_each(|side| *uses.entry(side).or_insert(0) += 1);
    }
    let is_inside = |[a, b]: [u32; 2]| [uses.get(&[a, b]), uses.get(&[b, a])] == [Some(&1); 2];
    let axes: Vec<_> = surface.objects.iter().map(|object| axes_of(surface, object.triangles.clone())).collect();
    let place = |t: &u32| {
        let corners = surface.triangles[*t as usize];
        let object = surface.object_of_point(corners[0]);
        let [x, y] = axes[object];
        let plane = corners.map(|p| [surface.rest[p as usize][x], surface.rest[p as usize][y]]);
        let ends = sides(&corners).map(|side| !is_inside(side));
        let edges = [1, 2].map(|k| [plane[k][0] - plane[0][0], plane[k][1] - plane[0][1]]);
        let area = across(plane[0], plane[1], plane[2]);
        let longest = (0..3).map(|k| distance(plane[k], plane[(k + 1) % 3])).fold(0.0, f64::max);
        let is_good = area > SLIVER * longest * longest;
        let inverse = [[edges[1][1], -edges[1][0]], [-edges[0][1], edges[0][0]]].map(|row| row.map(|x| x / area));
        Layout { corners, inverse, plane, height: if is_good { area / longest } else { 0.0 }, ends, object: object as u32 }
    };
    order.iter().map(place).collect()
}

/// The axes along which a cloth is laid out, so that most of it is not turned over.
fn axes_of(surface: &CollisionSurface, triangles: Range<usize>) -> [usize; 2] {
    let normal = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|p| surface.rest[p as usize]);
        (b - a).cross(c - a)
    };
    let sum: DVec3 = surface.triangles[triangles].iter().map(normal).sum();
    let across = sum.abs().max_position();
    let [x, y] = [(across + 1) % 3, (across + 2) % 3];
    if sum[across] >= 0.0 { [x, y] } else { [y, x] }
}

/// The edges of a triangle as it goes round.
fn sides(&[a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// The smallest node that two lie in.
#[inline]
pub fn join(a: u32, b: u32) -> u32 {
    let (a, b) = (a.min(b), a.max(b));
    let b = b >> (a.leading_zeros() - b.leading_zeros());
    a >> (u32::BITS - (a ^ b).leading_zeros())
}

/// Twice the area of a triangle, positive if it turns left [m²].
fn across(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let (x, y) = (b[0] - a[0], b[1] - a[1]);
    (x * x + y * y).sqrt()
}

fn around_both([a, b]: Rectangle, [c, d]: Rectangle) -> Rectangle {
    [[a[0].min(c[0]), a[1].min(c[1])], [b[0].max(d[0]), b[1].max(d[1])]]
}

/// Whether the inside of a rectangle meets another, which may be a line.
fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
    (0..2).all(|k| one[0][k] < other[1][k] && other[0][k] < one[1][k])
}
