//! A tree of boxes around triangles, four children to a node, that answers what a ray meets.
//!
//! Built top-down by the surface area heuristic over bins (Wald 2007); the same triangles always give the same tree.

use super::Ray;
use super::lanes::{self, Lanes, Lanes3};
use glam::Vec3;

/// Triangles in a leaf, and children of a node: what fits into the lanes.
const WIDTH: usize = 4;
/// Bins of the heuristic; more do not make better trees.
const BINS: usize = 12;
/// Below this depth ranges are halved, so that no input makes the tree deeper than this and log4 of its size.
const HEURISTIC_DEPTH: u32 = 15;
/// Each level leaves at most three boxes waiting: 3 × (15 + 16) levels and the one at hand.
const STACK: usize = 96;
/// Marks a child that is a leaf.
const LEAF: u32 = 1 << 31;
/// Triangles are widened by this share of their size, so that no ray slips between neighbours.
const WIDEN: f32 = 1e-5;

/// Where a ray meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleHit {
    /// Distance along the ray [m].
    pub t: f32,
    /// The triangle's number.
    pub triangle: u32,
    /// Weights of its second and third corner.
    pub weights: [f32; 2],
}

/// The tree.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    bounds: Bounds,
}

#[derive(Debug)]
struct Node {
    /// Low and high bound of every child along each axis [m].
    bounds: [[Lanes; 2]; 3],
    /// Numbers of nodes, or of leaves with [`LEAF`].
    children: [u32; WIDTH],
}

#[derive(Debug)]
struct Leaf {
    corner: Lanes3,
    edge1: Lanes3,
    edge2: Lanes3,
    triangles: [u32; WIDTH],
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    fn with(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether a ray passes within `margin` [m] of the box, before `far` [m].
    #[inline(always)]
    fn passed(&self, ray: &Ray, far: f32, margin: f32) -> bool {
        let (low, high) = (self.low - Vec3::splat(margin), self.high + Vec3::splat(margin));
        let (a, b) = ((low - ray.origin) * ray.inverse, (high - ray.origin) * ray.inverse);
        a.min(b).max_element() <= a.max(b).min_element().min(far) && a.max(b).min_element() >= 0.0
    }

    fn half_area(&self) -> f32 {
        let size = (self.high - self.low).max(Vec3::ZERO);
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

#[derive(Debug, Clone, Copy)]
struct Item {
    bounds: Bounds,
    /// Twice the middle of the bounds [m].
    centre: Vec3,
    triangle: u32,
}

impl Tree {
    /// Over triangles; those that are not finite are never met.
    pub fn new(triangles: &[[Vec3; 3]]) -> Self {
        let item = |(i, corners): (usize, &[Vec3; 3])| {
            let low = corners[0].min(corners[1]).min(corners[2]);
            let high = corners[0].max(corners[1]).max(corners[2]);
            Item { bounds: Bounds { low, high }, centre: low + high, triangle: i as u32 }
        };
        let finite = |(_, corners): &(usize, &[Vec3; 3])| corners.iter().all(|c| c.is_finite());
        let mut items: Vec<Item> = triangles.iter().enumerate().filter(finite).map(item).collect();
        let bounds = items.iter().fold(Bounds::EMPTY, |b, item| b.with(item.bounds));
        let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new(), bounds };
        if !items.is_empty() {
            tree.add_node(triangles, &mut items, 0);
        }
        tree
    }

    /// Adds the node over `items` and all below it; returns its number.
    fn add_node(&mut self, triangles: &[[Vec3; 3]], items: &mut [Item], depth: u32) -> u32 {
        let number = self.nodes.len();
        let empty = [Lanes::splat(f32::INFINITY), Lanes::splat(f32::NEG_INFINITY)];
        self.nodes.push(Node { bounds: [empty; 3], children: [0; WIDTH] });
        for (lane, part) in parts(items, depth).into_iter().enumerate() {
            let bounds = part.iter().fold(Bounds::EMPTY, |b, item| b.with(item.bounds));
            let child = if part.len() <= WIDTH {
                self.leaves.push(Leaf::new(triangles, part));
                (self.leaves.len() as u32 - 1) | LEAF
            } else {
                self.add_node(triangles, part, depth + 1)
            };
            let node = &mut self.nodes[number];
            node.children[lane] = child;
            for (axis, [low, high]) in node.bounds.iter_mut().enumerate() {
                (low.0[lane], high.0[lane]) = (bounds.low[axis], bounds.high[axis]);
            }
        }
        number as u32
    }

    /// The first triangle that the ray meets between `near` and `far` [m].
    pub fn closest(&self, ray: &Ray, near: f32, far: f32) -> Option<TriangleHit> {
        let mut best = None;
        let mut limit = far;
        self.walk(ray, near, far, |leaf| {
            if let Some(hit) = leaf.meet(ray, near, limit) {
                limit = hit.t;
                best = Some(hit);
            }
            Some(limit)
        });
        best
    }

    /// Whether the ray meets any triangle between `near` and `far` [m].
    pub fn occluded(&self, ray: &Ray, near: f32, far: f32) -> bool {
        let mut met = false;
        self.walk(ray, near, far, |leaf| {
            met = leaf.meet(ray, near, far).is_some();
            (!met).then_some(far)
        });
        met
    }

    /// Whether a ray that is `spread` wide at distance 1 touches the box around everything.
    pub fn near(&self, ray: &Ray, spread: f32) -> bool {
        let Bounds { low, high } = self.bounds;
        let furthest = (low - ray.origin).abs().max((high - ray.origin).abs()).length();
        !self.nodes.is_empty() && self.bounds.passed(ray, f32::INFINITY, spread * furthest)
    }

    /// Visits the leaves whose boxes the ray passes, nearest first; `visit` returns how far to look on, or `None` to stop.
    #[inline(always)]
    fn walk(&self, ray: &Ray, near: f32, mut far: f32, mut visit: impl FnMut(&Leaf) -> Option<f32>) {
        // Most rays of a picture miss everything; this spares them the stack.
        if self.nodes.is_empty()
            || !self.bounds.passed(ray, far, 1e-6 * self.bounds.high.distance(ray.origin))
        {
            return;
        }
        let mut stack = [(0_u32, 0.0_f32); STACK];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let (next, entry) = stack[waiting];
            if entry > far {
                continue;
            }
            if next & LEAF != 0 {
                match visit(&self.leaves[(next & !LEAF) as usize]) {
                    Some(limit) => far = limit,
                    None => return,
                }
                continue;
            }
            let node = &self.nodes[next as usize];
            let first = waiting;
            let entries = node.entries(ray, near, far);
            for (child, t) in node.children.into_iter().zip(entries) {
                if t < f32::INFINITY {
                    // Insertion by falling distance: the nearest is taken first.
                    let mut place = waiting;
                    while place > first && stack[place - 1].1 < t {
                        stack[place] = stack[place - 1];
                        place -= 1;
                    }
                    stack[place] = (child, t);
                    waiting += 1;
                }
            }
        }
    }
}

impl Node {
    /// Where the ray enters each child's box, infinity where it passes by.
    #[inline(always)]
    fn entries(&self, ray: &Ray, near: f32, far: f32) -> [f32; WIDTH] {
        let mut enter = Lanes::splat(near);
        let mut leave = Lanes::splat(far);
        for (axis, bounds) in self.bounds.iter().enumerate() {
            let inverse = Lanes::splat(ray.inverse[axis]);
            let origin = Lanes::splat(ray.origin[axis]);
            let back = usize::from(ray.inverse[axis] < 0.0);
            enter = ((bounds[back] - origin) * inverse).max(enter);
            leave = ((bounds[1 - back] - origin) * inverse).min(leave);
        }
        // Rounding must not lose a box that is only touched (Ize 2013).
        let leave = leave * Lanes::splat(1.000_000_5);
        std::array::from_fn(|lane| if enter.0[lane] <= leave.0[lane] { enter.0[lane] } else { f32::INFINITY })
    }
}

impl Leaf {
    fn new(triangles: &[[Vec3; 3]], items: &[Item]) -> Self {
        let mut leaf = Leaf {
            corner: lanes::splat(Vec3::ZERO),
            edge1: lanes::splat(Vec3::ZERO),
            edge2: lanes::splat(Vec3::ZERO),
            triangles: [0; WIDTH],
        };
        for (lane, item) in items.iter().enumerate() {
            let [a, b, c] = triangles[item.triangle as usize];
            leaf.triangles[lane] = item.triangle;
            for axis in 0..3 {
                leaf.corner[axis].0[lane] = a[axis];
                leaf.edge1[axis].0[lane] = (b - a)[axis];
                leaf.edge2[axis].0[lane] = (c - a)[axis];
            }
        }
        leaf
    }

    /// The nearest of its triangles that the ray meets (Möller & Trumbore 1997). Empty lanes and slivers without area make
    /// numbers that are not numbers, which pass no comparison.
    #[inline(always)]
    fn meet(&self, ray: &Ray, near: f32, far: f32) -> Option<TriangleHit> {
        let direction = lanes::splat(ray.direction);
        let p = lanes::cross(&direction, &self.edge2);
        let scale = lanes::dot(&self.edge1, &p).recip();
        let s = lanes::sub(&lanes::splat(ray.origin), &self.corner);
        let q = lanes::cross(&s, &self.edge1);
        let u = (lanes::dot(&s, &p) * scale).0;
        let v = (lanes::dot(&direction, &q) * scale).0;
        let t = (lanes::dot(&self.edge2, &q) * scale).0;
        let mut best: Option<TriangleHit> = None;
        let mut limit = far;
        for lane in 0..WIDTH {
            let inside = u[lane] >= -WIDEN && v[lane] >= -WIDEN && u[lane] + v[lane] <= 1.0 + WIDEN;
            if inside && t[lane] > near && t[lane] < limit {
                limit = t[lane];
                let weights = [u[lane], v[lane]];
                best = Some(TriangleHit { t: limit, triangle: self.triangles[lane], weights });
            }
        }
        best
    }
}

/// Cuts items into two to four parts: always the part with the largest box next.
fn parts(items: &mut [Item], depth: u32) -> Vec<&mut [Item]> {
    let mut parts = vec![items];
    while parts.len() < WIDTH {
        let cost = |part: &[Item]| {
            let bounds = part.iter().fold(Bounds::EMPTY, |b, item| b.with(item.bounds));
            if part.len() > WIDTH { bounds.half_area() } else { -1.0 }
        };
        let costs: Vec<f32> = parts.iter().map(|part| cost(part)).collect();
        let largest = (0..parts.len()).fold(0, |best, i| if costs[i] > costs[best] { i } else { best });
        if costs[largest] < 0.0 {
            break;
        }
        let part = parts.swap_remove(largest);
        let cut = partition(part, depth);
        let (left, right) = part.split_at_mut(cut);
        parts.extend([left, right]);
    }
    parts
}

/// Orders items so that those before the returned place make one child and the rest another; both are non-empty.
fn partition(items: &mut [Item], depth: u32) -> usize {
    let (low, high) = items.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), item| {
        (low.min(item.centre), high.max(item.centre))
    });
    let size = high - low;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let half = items.len() / 2;
    if depth < HEURISTIC_DEPTH && size[axis] > 0.0 {
        let scale = BINS as f32 * (1.0 - 1e-6) / size[axis];
        let bin = |item: &Item| (((item.centre[axis] - low[axis]) * scale) as usize).min(BINS - 1);
        let cut = cheapest_cut(items, bin);
        let mut count = 0;
        for i in 0..items.len() {
            if bin(&items[i]) < cut {
                items.swap(i, count);
                count += 1;
            }
        }
        if count > 0 && count < items.len() {
            return count;
        }
    }
    let order =
        |a: &Item, b: &Item| a.centre[axis].total_cmp(&b.centre[axis]).then(a.triangle.cmp(&b.triangle));
    items.select_nth_unstable_by(half, order);
    half
}

/// The bin before which a cut costs least: area times count on both sides.
fn cheapest_cut(items: &[Item], bin: impl Fn(&Item) -> usize) -> usize {
    let mut bins = [(Bounds::EMPTY, 0_u32); BINS];
    for item in items {
        let (bounds, count) = &mut bins[bin(item)];
        (*bounds, *count) = (bounds.with(item.bounds), *count + 1);
    }
    let add = |side: (Bounds, u32), bin: &(Bounds, u32)| (side.0.with(bin.0), side.1 + bin.1);
    let cost = |side: &(Bounds, u32)| side.0.half_area() * side.1 as f32;
    let mut right = [0.0; BINS];
    let mut side = (Bounds::EMPTY, 0);
    for i in (1..BINS).rev() {
        side = add(side, &bins[i]);
        right[i] = cost(&side);
    }
    let mut best = (f32::INFINITY, 1);
    side = (Bounds::EMPTY, 0);
    for i in 1..BINS {
        side = add(side, &bins[i - 1]);
        let total = cost(&side) + right[i];
        if total < best.0 {
            best = (total, i);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use taffeta::math::random::Random;

    fn vector(random: &mut Random, size: f64) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|_| random.between(-size, size) as f32))
    }

    /// Every triangle, one after the other: the slow twin of the tree.
    fn brute_force(triangles: &[[Vec3; 3]], ray: &Ray, far: f32) -> Option<(f32, u32)> {
        let mut best = None;
        for (i, [a, b, c]) in triangles.iter().enumerate() {
            let (e1, e2, s) = (*b - *a, *c - *a, ray.origin - *a);
            let p = ray.direction.cross(e2);
            let q = s.cross(e1);
            let det = e1.dot(p);
            let (u, v, t) = (s.dot(p) / det, ray.direction.dot(q) / det, e2.dot(q) / det);
            let inside = u >= -WIDEN && v >= -WIDEN && u + v <= 1.0 + WIDEN;
            if inside && t > 0.0 && t < best.map_or(far, |(t, _)| t) {
                best = Some((t, i as u32));
            }
        }
        best
    }

    #[test]
    fn the_tree_finds_what_brute_force_finds() {
        let mut random = Random::new(7);
        for (count, size) in [(0, 0.1), (1, 1.0), (3, 0.5), (5, 0.5), (300, 0.3), (2000, 0.1)] {
            let triangle = |random: &mut Random| {
                let at = vector(random, 1.0);
                [at, at + vector(random, size), at + vector(random, size)]
            };
            let triangles: Vec<_> = (0..count).map(|_| triangle(&mut random)).collect();
            let tree = Tree::new(&triangles);
            let mut met = 0;
            for k in 0..1000 {
                let direction = match k % 10 {
                    0 => Vec3::X,
                    1 => Vec3::NEG_Y,
                    _ => vector(&mut random, 1.0).normalize(),
                };
                let ray = Ray::new(vector(&mut random, 1.5), direction);
                let far = if k % 2 == 0 { f32::INFINITY } else { 1.0 };
                let expected = brute_force(&triangles, &ray, far);
                let found = tree.closest(&ray, 0.0, far);
                assert_eq!(
                    found.map(|hit| hit.triangle),
                    expected.map(|(_, i)| i),
                    "{count} triangles, ray {k}"
                );
                assert_eq!(tree.occluded(&ray, 0.0, far), expected.is_some());
                met += usize::from(expected.is_some());
            }
            assert!(count < 300 || met > 100, "only {met} rays of 1000 met one of {count} triangles");
        }
    }

    #[test]
    fn equal_and_broken_triangles_do_no_harm() {
        let one = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let broken = [Vec3::NAN, Vec3::X, Vec3::Y];
        let sliver = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
        let mut triangles = vec![one; 5000];
        triangles.extend([broken, sliver]);
        let tree = Tree::new(&triangles);
        let ray = Ray::new(Vec3::new(0.2, 0.2, 1.0), Vec3::NEG_Z);
        assert_eq!(tree.closest(&ray, 0.0, f32::INFINITY).map(|hit| hit.t), Some(1.0));
        assert!(!tree.occluded(&Ray::new(Vec3::ONE, Vec3::Z), 0.0, f32::INFINITY));
    }
}
