//! Strips that lead over seams: one that ends at a stitch goes on with one that ends at its other side.

use super::parts::Continuations;
use crate::math::DVec3;
use crate::model::Model;

/// The end of an edge: its number, and which end.
type EdgeEnd = (usize, usize);

/// Lets strips cross the seams of a model; `next` has its edges first, then its stitches.
pub(super) fn cross(model: &Model, next: &mut [Continuations]) {
    let around = SeamSides::new(model);
    for (stitch, ends) in model.links.ends.iter().enumerate() {
        let stitch = model.edges.len() + stitch;
        for side in 0..2 {
            if let Some((edge, end)) = around.leading_to(model, [ends[side], ends[1 - side]], next) {
                next[edge][end] = Some(stitch as u32);
                next[stitch][side] = Some(edge as u32);
            }
        }
    }
}

/// What is around every particle.
struct SeamSides {
    edges: Vec<Vec<EdgeEnd>>,
    sewn_to: Vec<Vec<u32>>,
}

impl SeamSides {
    fn new(model: &Model) -> Self {
        let n = model.particle_count();
        let (mut edges, mut sewn_to) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for (edge, ends) in model.edges.iter().enumerate() {
            (0..2).for_each(|end| edges[ends[end] as usize].push((edge, end)));
        }
        for &[a, b] in &model.links.ends {
            sewn_to[a as usize].push(b);
            sewn_to[b as usize].push(a);
        }
        Self { edges, sewn_to }
    }

    /// The edge that leads most straight from the inside of its cloth to the stitch between `own` and `other`, if one is not continued yet.
    fn leading_to(&self, model: &Model, [own, other]: [u32; 2], next: &[Continuations]) -> Option<EdgeEnd> {
        let ends = &self.edges[own as usize];
        let way = |(edge, end): &EdgeEnd| {
            let [from, to] = [own, model.edges[*edge][1 - end]].map(|i| model.rest_positions[i as usize]);
            (to - from).normalize_or_zero()
        };
        let inward: DVec3 = ends.iter().map(way).sum();
        let is_free = |(edge, end): &&EdgeEnd| {
            next[*edge][*end].is_none() && !self.is_along(model, model.edges[*edge][1 - end], other)
        };
        ends.iter().filter(is_free).max_by(|a, b| way(a).dot(inward).total_cmp(&way(b).dot(inward))).copied()
    }

    /// Whether an edge to the particle `to` goes along the seam of a stitch with `other`: `to` is sewn to a neighbour of that.
    fn is_along(&self, model: &Model, to: u32, other: u32) -> bool {
        let is_edge = |a: u32, b: u32| model.edges.binary_search(&[a.min(b), a.max(b)]).is_ok();
        self.sewn_to[to as usize].iter().any(|sewn| is_edge(*sewn, other))
    }
}
