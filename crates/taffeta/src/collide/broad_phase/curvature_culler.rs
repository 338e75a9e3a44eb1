//! Patches of cloth that do not meet themselves because they are nearly flat (`docs/contact.md`, Patches).
//!
//! The idea is that of Volino and Magnenat-Thalmann (1994): a surface whose normals lie in a cone need not be searched for self-contact. What they ask of its outline is
//! had here by the layout: patches fill convex pieces of a plane, and the motion maps such a piece to space so that a projection of it is strictly monotone at both ends
//! of a step. The proof is that for the triangles around a point ([`OneRingCuller`](super::one_ring_culler::OneRingCuller)).

use super::patches::{EIGHTS, LeafLayout, Patch, Patches, join};
use super::triangle_axis::TriangleMotion;
use super::wide_bvh::join_upwards;
use crate::collide::surface::CollisionSurface;
use crate::math::Vec4;
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};
use crate::parallel;

/// Tells which patches of cloth are flat in a motion. Patches are nodes of the tree over triangles as it was made at rest.
#[derive(Debug, Clone)]
pub struct CurvatureCuller {
    patches: Patches,
    is_idle: bool,
    /// Deformation gradients of the triangles in every node.
    gradients: Vec<Gradients>,
    /// Per node: whether it or one that it lies in is flat.
    flat: Vec<bool>,
    /// Per two leaves beside one another: whether they are flat together, though no node that has both is.
    flat_twos: Vec<bool>,
    set: InstructionSet,
}

/// Bounds of deformation gradients from a layout in the plane to space, at both ends of a motion: the least of each of six numbers, then the largest of each,
/// negated [1].
#[derive(Debug, Clone, Copy)]
struct Gradients([f64; 12]);

/// Part of the mean stretch that monotony must exceed: far more than all rounding.
const MARGIN: f64 = 1e-3;
/// Gradients so many times the mean stretch are not judged: rounding would matter.
const LARGEST: f64 = 1e4;
/// Where the sizes of gradients come to more than this they are taken for anything, so that squares of all others are numbers [1].
const HUGE: f64 = 1e30;
/// Leaves, and pairs of them, that a thread looks at at a time, at least.
const LEAVES: usize = 16;
const TWOS: usize = 64;

impl CurvatureCuller {
    /// For the triangles of cloths of a surface in the `order` in which a tree has them at rest, sixteen in a leaf.
    pub fn new(surface: &CollisionSurface, order: &[u32]) -> Self {
        let patches = Patches::new(surface, order);
        let nodes = patches.nodes.len();
        Self {
            gradients: vec![Gradients::NONE; nodes],
            flat: vec![false; nodes],
            flat_twos: vec![false; patches.twos.len()],
            is_idle: patches.is_empty(),
            patches,
            set: InstructionSet::available()[0],
        }
    }

    /// Judges all patches for a motion in which nothing may come within the pad of the distance it keeps.
    pub fn judge(&mut self, motion: TriangleMotion) {
        if self.is_idle {
            return;
        }
        let (first, set, leaves, [from, to]) =
            (self.gradients.len() / 2, self.set, &self.patches.leaves, motion.points);
        let of_leaves = &mut self.gradients[first..first + leaves.len()];
        parallel::each(of_leaves, LEAVES, |leaf, gradients| *gradients = leaf_gradients(set, &leaves[leaf], from, to));
        join_upwards(&mut self.gradients, Gradients::join);
        let (gradients, rims, flat) = (&self.gradients, &self.patches.rims, &mut self.flat);
        // Whether a patch is flat by itself.
        let is_flat = |own: Gradients, patch: &Patch| {
            let rim = || rims[patch.rim.clone()].iter().map(|leaf| &gradients[first + *leaf as usize]);
            patch.apart > 0.0
                && own.are_monotone(patch, motion.pad)
                && rim().fold(own, |all, leaf| all.join(leaf)).are_monotone(patch, motion.pad)
        };
        // Level by level from the root, which is node 1.
        let (patches, mut start) = (&self.patches.nodes, 1);
        while start < patches.len() {
            let (above, level) = flat.split_at_mut(start);
            let count = level.len().min(patches.len() - start).min(start);
            parallel::each(&mut level[..count], TWOS, |k, flat| {
                let node = start + k;
                *flat = above[node / 2] || is_flat(gradients[node], &patches[node]);
            });
            start *= 2;
        }
        let (twos, flat) = (&self.patches.twos, &self.flat);
        parallel::each(&mut self.flat_twos, TWOS, |k, is_flat_two| {
            let ([a, b], patch) = &twos[k];
            let own = || gradients[*a as usize].join(&gradients[*b as usize]);
            *is_flat_two = !flat[join(*a, *b) as usize] && is_flat(own(), patch);
        });
    }

    /// Whether a node of the tree, as it was made at rest, lies in a flat patch.
    #[inline]
    pub fn is_flat(&self, node: usize) -> bool {
        self.flat[node]
    }

    /// Every two leaves of that tree that are flat together though no node that has both is, by their nodes, sorted.
    pub fn flat_twos(&self) -> impl Iterator<Item = [u32; 2]> {
        self.patches.twos.iter().zip(&self.flat_twos).filter(|(_, is_flat)| **is_flat).map(|((two, _), _)| *two)
    }

    /// Whether two triangles of cloth lie in one flat patch: none of their features that share no point come near one another.
    #[inline]
    pub fn have_flat_patch(&self, t: u32, u: u32) -> bool {
        let [a, b] = self.patches.leaves_of(t, u);
        self.flat[join(a, b) as usize] || self.patches.place_of_two([a, b]).is_some_and(|k| self.flat_twos[k])
    }

    /// Whether all triangles around a point of cloth lie in one flat patch.
    #[inline]
    pub fn is_flat_around(&self, point: u32) -> bool {
        self.patches.around.get(point as usize).is_some_and(|node| self.flat[*node as usize])
    }
}

impl Gradients {
    /// Of no triangle.
    const NONE: Gradients = Gradients([f64::INFINITY; 12]);
    /// Of a triangle that may be anywhere.
    const ANY: Gradients = Gradients([-HUGE; 12]);

    /// Those of both.
    #[inline]
    fn join(&self, other: &Self) -> Self {
        Gradients(std::array::from_fn(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] }))
    }

    /// The condition of `docs/contact.md`, Patches: A is the middle of all gradients.
    fn are_monotone(&self, patch: &Patch, pad: f64) -> bool {
        let middle: [f64; 6] = std::array::from_fn(|k| 0.5 * (self.0[k] - self.0[6 + k]));
        let reach: [f64; 6] = std::array::from_fn(|k| (-self.0[6 + k] - middle[k]).max(middle[k] - self.0[k]));
        let dot = |a: &[f64], b: &[f64]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let around = |a: &[f64], b: &[f64]| a[0].abs() * b[0] + a[1].abs() * b[1] + a[2].abs() * b[2];
        let ((f, g), (around_f, around_g)) = (middle.split_at(3), reach.split_at(3));
        // The least of both numbers on the diagonal of Aᵀ F, and the largest beside it.
        let (ff, gg) = (dot(f, f) - around(f, around_f), dot(g, g) - around(g, around_g));
        let fg = dot(f, g).abs() + 0.5 * (around(f, around_g) + around(g, around_f));
        // An upper bound of the largest eigenvalue of Aᵀ A.
        let stretch = dot(f, f).max(dot(g, g)) + dot(f, g).abs();
        let share = (patch.keep + pad) / patch.apart;
        let mu = share * stretch.sqrt() * (1.0 + 1e-6) + MARGIN * stretch;
        let is_small = reach.iter().all(|reach| reach * reach < LARGEST * LARGEST * stretch);
        // What overflows or is not a number is never monotone.
        is_small && ff > mu && gg > mu && (ff - mu) * (gg - mu) > fg * fg
    }
}

by_instruction_set! {
    /// Those of the triangles of a leaf.
    fn leaf_gradients = gradients_of(leaf: &LeafLayout, from: &[Vec4], to: &[Vec4]) -> Gradients
}

// Closures and iterators over lanes would not be compiled for the instruction set, so everything below is a function that is inlined.

#[inline(always)]
fn gradients_of<W: Wide>(leaf: &LeafLayout, from: &[Vec4], to: &[Vec4]) -> Gradients {
    let most = from.len().min(to.len());
    assert!(leaf.corners.as_flattened().as_flattened().iter().all(|&point| (point as usize) < most));
    let mut least = [W::splat(f64::INFINITY); 12];
    // Comparisons pass over what is not a number, but the sum has every number in it.
    let mut size = W::splat(0.0);
    for half in 0..EIGHTS {
        for points in [from, to] {
            let [a, b, c] = &leaf.corners[half];
            let corner = gather::<W>(a, points);
            let edges = [gather(b, points) - corner, gather(c, points) - corner];
            for column in 0..2 {
                let by = [W::load(&leaf.inverse[half][0][column]), W::load(&leaf.inverse[half][1][column])];
                let Wide3([x, y, z]) = edges[0].scaled(by[0]) + edges[1].scaled(by[1]);
                widen(&mut least, &mut size, 3 * column, x);
                widen(&mut least, &mut size, 3 * column + 1, y);
                widen(&mut least, &mut size, 3 * column + 2, z);
            }
        }
    }
    let (mut all, mut sizes, mut lanes) = ([0.0; 12], Lanes::ZERO, Lanes::ZERO);
    size.store(&mut sizes);
    for k in 0..12 {
        least[k].store(&mut lanes);
        all[k] = lanes.0[0];
        for lane in 1..LANES {
            all[k] = if lanes.0[lane] < all[k] { lanes.0[lane] } else { all[k] };
        }
    }
    let mut sum = 0.0;
    for lane in 0..LANES {
        sum += sizes.0[lane];
    }
    if sum < HUGE { Gradients(all) } else { Gradients::ANY }
}

/// Lets bounds hold a number, and adds its size.
#[inline(always)]
fn widen<W: Wide>(least: &mut [W; 12], size: &mut W, place: usize, number: W) {
    let negative = W::splat(0.0) - number;
    least[place] = least[place].min(number);
    least[6 + place] = least[6 + place].min(negative);
    *size = *size + number.max(negative);
}

#[inline(always)]
fn gather<W: Wide>(at: &[u32; LANES], points: &[Vec4]) -> Wide3<W> {
    // SAFETY: `gradients_of` has checked all places.
    let [x, y, z, _] = unsafe { W::gather(points.as_ptr(), at) };
    Wide3([x, y, z])
}
