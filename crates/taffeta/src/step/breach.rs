//! Where cloth cuts into bodies, found by the code of the certificate.

use crate::check::{Surface, against_body, cuts};
use crate::collide::ccd::tangles::{Breach, side};
use crate::model::PosedShape;
use crate::solve::coloring::connect;
use std::collections::BTreeMap;

/// Where cloth cuts into a closed-form solid.
pub fn into_solid(cloth: Surface, body: &PosedShape) -> Breach {
    let triangles = against_body(cloth.positions, cloth.triangles, body).intersecting;
    let corners = || triangles.iter().map(|t| cloth.triangles[*t as usize]);
    // Points and edges are triangles whose corners coincide.
    let meeting = |mut features: Vec<[u32; 3]>| {
        features.sort_unstable();
        features.dedup();
        let found = against_body(cloth.positions, &features, body).intersecting;
        found.into_iter().map(move |k| features[k as usize])
    };
    let points = corners().flat_map(|t| t.map(|i| [i; 3])).collect();
    let sides = corners().flat_map(|t| [0, 1, 2].map(|k| side(t, k))).map(|[a, b]| [a, b, b]).collect();
    let inside = meeting(points).map(|[i, ..]| i).collect();
    let edges = meeting(sides).map(|[a, b, _]| [a, b]).collect();
    Breach { triangles, edges, inside }
}

/// Where cloth goes through a surface. That has no inside: what it cuts off from the larger part of a piece of cloth counts as inside (the flood fill of Baraff, Witkin
/// and Kass, Untangling Cloth, 2003, sec. 4).
pub fn through_surface(cloth: Surface, body: Surface) -> Breach {
    let (triangles, edges) = cuts(cloth, body);
    let particles = cloth.positions.len();
    let mut inside = Vec::new();
    if !edges.is_empty() {
        let whole = connect(cloth.triangles.iter().map(|t| &t[..]), particles);
        let sides = cloth.triangles.iter().flat_map(|t| [0, 1, 2].map(|k| side(*t, k)));
        let uncut: Vec<[u32; 2]> = sides.filter(|side| edges.binary_search(side).is_err()).collect();
        let parts = connect(uncut.iter().map(|side| &side[..]), particles);
        let mut sizes = vec![0; particles];
        parts.iter().for_each(|part| sizes[*part as usize] += 1);
        let mut largest: BTreeMap<u32, u32> = BTreeMap::new();
        for (piece, part) in whole.iter().zip(&parts) {
            let known = largest.entry(*piece).or_insert(*part);
            if sizes[*part as usize] > sizes[*known as usize] {
                *known = *part;
            }
        }
        let cut_off = |i: &u32| parts[*i as usize] != largest[&whole[*i as usize]];
        inside = (0..particles as u32).filter(cut_off).collect();
    }
    Breach { triangles, edges, inside }
}
