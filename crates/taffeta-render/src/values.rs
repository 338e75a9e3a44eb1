//! What cloth can be coloured by: strain, speed, curvature, strips.

use taffeta::math::DVec3;
use taffeta::model::topology::straight_pairs;
use taffeta::solve::strips::parts::cut;

/// The largest |strain| of each particle's structural edges [1].
pub fn strain(positions: &[DVec3], edges: &[[u32; 2]], rest_lengths: &[f64]) -> Vec<f64> {
    let mut largest = vec![0.0_f64; positions.len()];
    for (ends, rest) in edges.iter().zip(rest_lengths) {
        let [a, b] = ends.map(|end| end as usize);
        let (Some(p), Some(q)) = (positions.get(a), positions.get(b)) else { continue };
        let strain = (p.distance(*q) / rest - 1.0).abs();
        for end in [a, b] {
            largest[end] = largest[end].max(strain);
        }
    }
    largest
}

/// For each particle the number of the strip that it is on when structural edges are cut into strips; of several strips the one in the first group.
/// `flat` is where particles are at rest [m].
pub fn strips(flat: &[DVec3], edges: &[[u32; 2]]) -> Vec<u32> {
    // A recording may hold anything.
    let sound = |e: &&[u32; 2]| e[0] < e[1] && (e[1] as usize) < flat.len();
    let mut edges: Vec<[u32; 2]> = edges.iter().filter(sound).copied().collect();
    edges.sort_unstable();
    edges.dedup();
    let mut of = vec![None; flat.len()];
    let groups = cut(&edges, &straight_pairs(&edges, flat), flat.len());
    for (number, strip) in groups.iter().flatten().enumerate() {
        strip.particles.iter().for_each(|p| _ = of[*p as usize].get_or_insert(number as u32));
    }
    of.into_iter().map(Option::unwrap_or_default).collect()
}

/// How fast each particle moved between two frames that are `time` apart [m/s].
pub fn speed(before: &[DVec3], after: &[DVec3], time: f64) -> Vec<f64> {
    before.iter().zip(after).map(|(a, b)| a.distance(*b) / time).collect()
}

/// How sharply the cloth is bent at each particle: |mean curvature| [1/m].
///
/// The mean curvature of a mesh lies in its edges, each with half its length times the angle between its two triangles
/// (Steiner's formula; e.g. Sullivan 2008, "Curvatures of smooth and discrete surfaces", sect. 4); a particle has
/// half of its edges' share and a third of its triangles' area. Edges of the rim have one triangle and no angle.
pub fn curvature(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<f64> {
    let mut area = vec![0.0; positions.len()];
    let mut bent = vec![0.0; positions.len()];
    // Both sides of an edge come to lie next to each other: low end, high end, triangle.
    let mut sides = Vec::with_capacity(3 * triangles.len());
    let mut normals = Vec::with_capacity(triangles.len());
    for (i, corners) in triangles.iter().enumerate() {
        let at = |k: usize| positions.get(corners[k] as usize).copied();
        let (Some(a), Some(b), Some(c)) = (at(0), at(1), at(2)) else { return bent };
        let normal = (b - a).cross(c - a);
        corners.iter().for_each(|corner| area[*corner as usize] += normal.length() / 6.0);
        normals.push(normal.normalize_or_zero());
        for (k, l) in [(0, 1), (1, 2), (2, 0)] {
            let (from, to) = (corners[k], corners[l]);
            sides.push((from.min(to), from.max(to), i, from < to));
        }
    }
    sides.sort_unstable();
    for pair in sides.windows(2) {
        let [(low, high, first, forward), (low2, high2, second, _)] = [pair[0], pair[1]];
        if (low, high) != (low2, high2) {
            continue;
        }
        let edge = positions[high as usize] - positions[low as usize];
        let (m, n) = (normals[first], normals[second]);
        // Positive where the cloth bends away from its normals, whichever triangle came first.
        let sine = m.cross(n).dot(edge.normalize_or_zero()) * if forward { 1.0 } else { -1.0 };
        let angle = libm::atan2(sine, m.dot(n));
        for end in [low, high] {
            bent[end as usize] += 0.25 * edge.length() * angle;
        }
    }
    bent.iter().zip(&area).map(|(bent, area)| if *area > 0.0 { (bent / area).abs() } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use taffeta::math::trig;

    /// A grid of `n` × `n` particles, cells `h` wide, bent into shape.
    fn sheet(n: u32, h: f64, bend: impl Fn(f64, f64) -> DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let at = |i: u32| bend(f64::from(i % n) * h, f64::from(i / n) * h);
        let cell = |i: u32| [[i, i + 1, i + n], [i + 1, i + n + 1, i + n]];
        let inside = |i: &u32| i % n < n - 1 && i / n < n - 1;
        ((0..n * n).map(at).collect(), (0..n * n).filter(inside).flat_map(cell).collect())
    }

    #[test]
    fn curvature_of_a_cylinder_a_ball_and_a_flat_sheet() {
        let radius = 0.3;
        let middle = |(positions, triangles): (Vec<DVec3>, Vec<[u32; 3]>)| {
            curvature(&positions, &triangles)[15 * 31 + 15]
        };
        let flat = middle(sheet(31, 0.01, |u, v| DVec3::new(u, 0.0, v)));
        assert!(flat < 1e-9, "{flat}");
        let bend =
            |u: f64, v: f64| DVec3::new(radius * trig::sin(u / radius), radius * trig::cos(u / radius), v);
        let cylinder = middle(sheet(31, 0.01, bend));
        assert!((cylinder * 2.0 * radius - 1.0).abs() < 0.01, "{cylinder}");
        let ball = |u: f64, v: f64| radius * DVec3::new(u - 0.15, 1.0, v - 0.15).normalize();
        let ball = middle(sheet(31, 0.01, ball));
        assert!((ball * radius - 1.0).abs() < 0.02, "{ball}");
    }

    #[test]
    fn strain_is_that_of_the_worst_edge_and_speed_is_distance_over_time() {
        let positions = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 0.9, 0.0)];
        let strain = strain(&positions, &[[0, 1], [1, 2], [2, 9]], &[1.02, 1.0, 1.0]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(strain[0], 0.02 / 1.02) && near(strain[1], 0.1) && near(strain[2], 0.1), "{strain:?}");
        assert_eq!(speed(&positions[..2], &[DVec3::Y, DVec3::X], 0.5), [2.0, 0.0]);
    }

    #[test]
    fn strips_of_a_grid_are_its_rows() {
        let (flat, _) = sheet(4, 1.0, |u, v| DVec3::new(u, 0.0, v));
        let across = (0..16_u32).filter(|i| i % 4 < 3).map(|i| [i, i + 1]);
        let edges: Vec<[u32; 2]> =
            across.chain((0..12).map(|i| [i, i + 4])).chain([[3, 99], [5, 5]]).collect();
        let found = strips(&flat, &edges);
        assert!(found.chunks(4).all(|row| row.iter().all(|s| *s == row[0])), "{found:?}");
        assert_eq!(found.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }

    #[test]
    fn triangles_of_missing_particles_do_no_harm() {
        assert_eq!(curvature(&[DVec3::ZERO], &[[0, 1, 2]]), [0.0]);
        assert!(curvature(&[], &[]).is_empty());
    }
}
