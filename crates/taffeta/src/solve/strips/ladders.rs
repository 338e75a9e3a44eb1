//! Quads cut into ladders: rows of quads, each of which shares a rung with the next. On a grid they are its rows of cells, in two groups.
//!
//! A ladder is a strip over the particles of its rungs, one rung after the other, first its left end, then its right one. Every ladder takes quads on while they
//! have the side beyond as a rung too and none of its particles.

use super::parts::{EdgeStrip, StripGroup, group};
use crate::math::DVec3;
use std::collections::BTreeMap;

/// Ladders over quads with corners in order around, which are at `x` [m] when at rest; the numbers of quads stand for those of edges.
///
/// Rungs are those two sides that lie across the numbering: ladders then lead along particles that are neighbours in memory.
pub fn ladders(quads: &[[u32; 4]], x: &[DVec3]) -> Vec<StripGroup> {
    let rungs: Vec<[[u32; 2]; 2]> = quads.iter().map(rungs_of).collect();
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let mut at_rung: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for (q, both) in rungs.iter().enumerate() {
        both.iter().for_each(|rung| at_rung.entry(sorted(*rung)).or_default().push(q as u32));
    }
    let mut used = vec![false; quads.len()];
    let mut strips = Vec::new();
    // Those that begin at a rung which no other quad has; what is left after them are rings.
    for ends_only in [true, false] {
        for q in 0..quads.len() {
            for side in 0..2 {
                let begins = !ends_only || at_rung[&sorted(rungs[q][side])].len() == 1;
                if !used[q] && begins {
                    strips.push(climb(q, side, &rungs, &at_rung, &mut used));
                }
            }
        }
    }
    group(strips, x.len())
}

/// The two sides of a quad that are its rungs, from left to right.
fn rungs_of(&[a, b, c, d]: &[u32; 4]) -> [[u32; 2]; 2] {
    let across = |p: u32, q: u32| p.abs_diff(q);
    // Of a row of a grid, neighbours are one apart along it.
    let along_first = across(a, b).max(across(c, d)) <= across(b, c).max(across(d, a));
    if along_first { [[a, d], [b, c]] } else { [[b, a], [c, d]] }
}

/// The ladder from the rung `side` of a quad on.
fn climb(
    start: usize,
    side: usize,
    rungs: &[[[u32; 2]; 2]],
    at_rung: &BTreeMap<[u32; 2], Vec<u32>>,
    used: &mut [bool],
) -> EdgeStrip {
    let (mut quad, mut from) = (start, side);
    let mut strip = EdgeStrip { particles: rungs[start][side].to_vec(), edges: Vec::new() };
    loop {
        used[quad] = true;
        strip.edges.push(quad as u32);
        // As this quad sees both rungs they lead the same way; the rung before may have been seen from the other side.
        let (entered, left) = (rungs[quad][from], rungs[quad][1 - from]);
        let turned = strip.particles[strip.particles.len() - 2] != entered[0];
        let rung = if turned { [left[1], left[0]] } else { left };
        strip.particles.extend(rung);
        let beyond = at_rung[&[rung[0].min(rung[1]), rung[0].max(rung[1])]].iter().map(|q| *q as usize);
        let follows = |next: &usize| {
            let far = rungs[*next].iter().find(|r| !(r.contains(&rung[0]) && r.contains(&rung[1])));
            !used[*next] && far.is_some_and(|r| r.iter().all(|i| !strip.particles.contains(i)))
        };
        let Some(next) = beyond.filter(|next| *next != quad).find(follows) else { return strip };
        from = usize::from(rungs[next][1].contains(&rung[0]) && rungs[next][1].contains(&rung[1]));
        quad = next;
    }
}
