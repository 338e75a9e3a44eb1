//! Edges cut into acyclic parts, parts into groups that are solved at once (P1 §3.3, §4).
//!
//! A part here is a strip: a path of edges through particles that are all different. Strips follow the straightest continuation at every particle,
//! which on a grid gives its rows and columns; long straight strips converge fastest. Strips of one group share no particle.

use super::seams;
use crate::model::{Model, topology};

/// A path of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeStrip {
    /// The particles along it, one more than edges.
    pub particles: Vec<u32>,
    /// The numbers of its edges.
    pub edges: Vec<u32>,
}

/// The edges that continue an edge beyond its first and its second end.
pub(super) type Continuations = [Option<u32>; 2];

impl EdgeStrip {
    /// Takes off what comes after the edge `at`, or the second half; or all but the last particle if that part has the particle `without`.
    fn split_off(&mut self, at: Option<usize>, without: u32) -> Self {
        let last = self.edges.len();
        let at = at.map_or(last / 2, |at| at + 1);
        let at = if self.particles[at..].contains(&without) { last } else { at };
        let rest = Self { particles: self.particles[at..].to_vec(), edges: self.edges.split_off(at) };
        self.particles.truncate(at + 1);
        rest
    }
}

/// Strips that share no particle, longest first.
pub type StripGroup = Vec<EdgeStrip>;

/// What a cut comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Groups, which are solved one after the other.
    pub groups: usize,
    /// Strips in all.
    pub strips: usize,
    /// Edges of the longest strip.
    pub longest: usize,
    /// Edges of a strip on average.
    pub mean: f64,
}

impl Statistics {
    /// Counts.
    pub fn of(groups: &[StripGroup]) -> Self {
        let lengths = || groups.iter().flatten().map(|strip| strip.edges.len());
        let strips = lengths().count();
        let mean = lengths().sum::<usize>() as f64 / strips.max(1) as f64;
        Self { groups: groups.len(), strips, longest: lengths().max().unwrap_or(0), mean }
    }
}

/// The structural edges of a model and its stitches, numbered after them, in strips; in strips of one edge each, if `single`.
pub fn of_model(model: &Model, single: bool) -> Vec<StripGroup> {
    let edges = [&model.edges[..], &model.links.ends[..]].concat();
    let mut next = vec![[None; 2]; edges.len()];
    if !single {
        let straights = topology::straight_pairs(&model.edges, &model.rest_positions);
        next = continuations(&model.edges, &straights);
        next.resize(edges.len(), [None; 2]);
        seams::cross(model, &mut next);
    }
    strips(&edges, model.edges.len(), &next, model.particle_count())
}

/// Cuts `edges` into strips and groups. `straights` names pairs of edges that continue one another: (end, middle, end).
pub fn cut(edges: &[[u32; 2]], straights: &[[u32; 3]], particles: usize) -> Vec<StripGroup> {
    strips(edges, edges.len(), &continuations(edges, straights), particles)
}

/// The strips of edges that are continued by those that `next` names beyond their first and their second end. Those from the number `stitches` on are
/// stitches.
fn strips(edges: &[[u32; 2]], stitches: usize, next: &[Continuations], particles: usize) -> Vec<StripGroup> {
    let mut strips = Vec::new();
    let mut used = vec![false; edges.len()];
    let is_stitch = |edge: u32| edge as usize >= stitches;
    // Ends of paths first; what is left after them are rings, which best end at a seam.
    for round in 0..3 {
        for edge in 0..edges.len() {
            for side in 0..2 {
                let begins = match round {
                    0 => next[edge][side].is_none(),
                    1 => next[edge][side].is_some_and(is_stitch),
                    _ => true,
                };
                if !used[edge] && begins {
                    walk(edge, side, (edges, next), is_stitch, &mut used, &mut strips);
                }
            }
        }
    }
    group(strips, particles)
}

/// For every edge the edge that continues it beyond its first and its second end.
fn continuations(edges: &[[u32; 2]], straights: &[[u32; 3]]) -> Vec<Continuations> {
    let number = |a: u32, b: u32| edges.binary_search(&[a.min(b), a.max(b)]).ok();
    let mut next = vec![[None; 2]; edges.len()];
    for &[a, middle, b] in straights {
        if let (Some(e), Some(f)) = (number(a, middle), number(middle, b)) {
            for (from, to) in [(e, f), (f, e)] {
                next[from][usize::from(edges[from][1] == middle)] = Some(to as u32);
            }
        }
    }
    next
}

/// Follows a path from the end `side` of an edge to its other end and on. Where a particle comes twice a new strip starts, at the last seam if there is one, else
/// half of the way back: an edge alone would undo what the strip before and after it does.
fn walk(
    start: usize,
    side: usize,
    (edges, next): (&[[u32; 2]], &[Continuations]),
    is_stitch: impl Fn(u32) -> bool,
    used: &mut [bool],
    strips: &mut Vec<EdgeStrip>,
) {
    let mut strip = EdgeStrip { particles: vec![edges[start][side]], edges: Vec::new() };
    let (mut edge, mut from) = (start, side);
    loop {
        let end = edges[edge][1 - from];
        if strip.particles.contains(&end) {
            let rest = strip.split_off(strip.edges.iter().rposition(|e| is_stitch(*e)), end);
            strips.push(std::mem::replace(&mut strip, rest));
        }
        used[edge] = true;
        strip.edges.push(edge as u32);
        strip.particles.push(end);
        match next[edge][1 - from].map(|e| e as usize) {
            Some(following) if !used[following] => {
                from = usize::from(edges[following][1] == end);
                edge = following;
            }
            _ => break,
        }
    }
    strips.push(strip);
}

/// Longest strips first, each into the first group in which it touches no other.
pub(super) fn group(mut strips: Vec<EdgeStrip>, particles: usize) -> Vec<StripGroup> {
    strips.sort_by_key(|s| (std::cmp::Reverse(s.edges.len()), s.edges[0]));
    let mut groups: Vec<(StripGroup, Vec<bool>)> = Vec::new();
    for strip in strips {
        let free = |taken: &[bool]| strip.particles.iter().all(|p| !taken[*p as usize]);
        let place = groups.iter().position(|(_, taken)| free(taken)).unwrap_or_else(|| {
            groups.push((Vec::new(), vec![false; particles]));
            groups.len() - 1
        });
        let (group, taken) = &mut groups[place];
        strip.particles.iter().for_each(|p| taken[*p as usize] = true);
        group.push(strip);
    }
    groups.into_iter().map(|(group, _)| group).collect()
}
