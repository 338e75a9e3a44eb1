//! Meshes that several tests of forces share.
#![allow(dead_code)] // every test file uses its own part

use std::collections::BTreeMap;
use taffeta::math::{DVec3, random::Random};

/// A rectangle of `size`, cut into triangles without order: points inside are shifted, diagonals fall either way.
pub fn irregular(size: [f64; 2], cells: [usize; 2], seed: u64) -> (Vec<[f64; 2]>, Vec<[u32; 3]>) {
    let mut random = Random::new(seed);
    let [columns, rows] = cells;
    let mut points = Vec::new();
    for j in 0..=rows {
        for i in 0..=columns {
            let mut along = |k: usize, of: usize| {
                let inside = k > 0 && k < of;
                (k as f64 + if inside { random.between(-0.3, 0.3) } else { 0.0 }) / of as f64
            };
            points.push([size[0] * along(i, columns), size[1] * along(j, rows)]);
        }
    }
    let mut triangles = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let a = (j * (columns + 1) + i) as u32;
            let [b, c, d] = [a + 1, a + columns as u32 + 2, a + columns as u32 + 1];
            let cut = if random.below(2) == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            triangles.extend(cut);
        }
    }
    (points, triangles)
}

/// A sphere of radius 1 from an octahedron whose triangles are cut in four, `times` over.
pub fn sphere(times: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut points = vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
    let mut triangles =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..times {
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        let cut = |&[a, b, c]: &[u32; 3]| {
            let [p, q, r] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, p, r], [p, b, q], [r, q, c], [p, q, r]]
        };
        triangles = triangles.iter().flat_map(cut).collect();
    }
    (points, triangles)
}
