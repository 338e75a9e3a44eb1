//! Where a plane cuts triangles.

use std::collections::BTreeMap;
use taffeta::math::DVec3;

/// A cut through a surface: lines from point to point that hang together.
pub type Section = Vec<[DVec3; 2]>;

/// Where a plane through `at` cuts triangles, in parts that hang together.
pub fn sections(x: &[DVec3], triangles: &[[u32; 3]], at: DVec3, normal: DVec3) -> Vec<Section> {
    let side = |i: u32| (x[i as usize] - at).dot(normal);
    let mut groups: Vec<Section> = Vec::new();
    // The group that the cut of an edge belongs to.
    let mut of_edge: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for corners in triangles {
        let mut cuts = Vec::new();
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            let (p, q) = (side(a), side(b));
            if (p < 0.0) != (q < 0.0) {
                cuts.push(([a.min(b), a.max(b)], x[a as usize].lerp(x[b as usize], p / (p - q))));
            }
        }
        let [(first, p), (second, q)] = cuts[..] else { continue };
        let group = match (of_edge.get(&first).copied(), of_edge.get(&second).copied()) {
            (Some(a), Some(b)) if a != b => {
                let merged = std::mem::take(&mut groups[b]);
                groups[a].extend(merged);
                of_edge.values_mut().filter(|group| **group == b).for_each(|group| *group = a);
                a
            }
            (Some(group), _) | (_, Some(group)) => group,
            (None, None) => {
                groups.push(Vec::new());
                groups.len() - 1
            }
        };
        groups[group].push([p, q]);
        of_edge.insert(first, group);
        of_edge.insert(second, group);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The middle of a cut.
pub fn middle(section: &[[DVec3; 2]]) -> DVec3 {
    section.iter().map(|[a, b]| a.midpoint(*b)).sum::<DVec3>() / section.len().max(1) as f64
}
