//! From laboratory units to masses, springs and bends: the one place where a fabric becomes coefficients.

use crate::Mesh;
use taffeta::math::DVec3;
use taffeta::model::topology::{NO_FACE, Topology};
use taffeta::model::{Bends, Fabric, Springs, Twists};

/// In-plane shear stiffness G [N/m] of a fabric: a strip cut at 45° of a material with no Poisson effect has
/// 1/bias = (1/warp + 1/weft)/4 + 1/(4 G).
pub fn shear_stiffness(fabric: &Fabric) -> f64 {
    1.0 / (4.0 / fabric.bias - 1.0 / fabric.warp - 1.0 / fabric.weft)
}

/// The inverse of [`shear_stiffness`]: what a strip cut at 45° measures [N/m].
pub fn bias_stiffness(warp: f64, weft: f64, shear: f64) -> f64 {
    4.0 / (1.0 / shear + 1.0 / warp + 1.0 / weft)
}

/// Stiffness of springs along warp, weft and the diagonals of a square grid that pulls like the fabric [N/m].
///
/// Springs a and b along warp and weft with diagonals G make a sheet with the stiffness [[a + G, G], [G, b + G]]. A free strip along
/// the warp has warp = det / (b + G), one along the weft det / (a + G), which is solved for a and b.
fn spring_stiffness(fabric: &Fabric) -> (f64, f64, f64) {
    let (warp, weft, shear) = (fabric.warp, fabric.weft, shear_stiffness(fabric));
    let det = 0.5 * warp * weft * (1.0 + (1.0 + 4.0 * shear * shear / (warp * weft)).sqrt());
    (det / weft - shear, det / warp - shear, shear)
}

/// Mass of every particle [kg]: a third of each of its triangles.
pub(super) fn masses(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Vec<f64> {
    let mut mass = vec![0.0; rest.positions.len()];
    for triangle in &topology.triangles {
        let third = 1e-3 * fabric.density * area(triangle, &rest.positions) / 3.0;
        triangle.iter().for_each(|&i| mass[i as usize] += third);
    }
    mass
}

/// Springs of a piece of cloth, structural edges first.
///
/// An edge of length L stands for a strip of the width A/L, A the area of its triangles: k = Y A / L² (van Gelder 1998), which on a
/// grid is that of the springs themselves. Diagonals of a square cell carry k = G each.
pub(super) fn springs(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Springs {
    let (warp, weft, shear) = spring_stiffness(fabric);
    let mut springs = Springs::default();
    let mut push = |ends: [u32; 2], stiffness: f64| {
        springs.ends.push(ends);
        springs.rest_length.push(length(ends, rest));
        springs.stiffness.push(stiffness);
        springs.damping.push(1e-3 * fabric.damping * stiffness);
    };
    for (&ends, triangles) in topology.edges.iter().zip(&topology.edge_triangles) {
        let c2 = warp_share(ends, rest);
        let strip = strip_area(triangles, topology, &rest.positions) / length(ends, rest).powi(2);
        push(ends, (warp * c2 + weft * (1.0 - c2)) * strip);
    }
    for quad in &topology.quads {
        // Two diagonals p, q of one quad: area / (|p| |q| / 2) is 1 for a square and falls as it is sheared.
        let [a, b, c, d] = *quad;
        let (p, q) = (length([a, c], rest), length([b, d], rest));
        let quad_area = area(&[a, b, c], &rest.positions) + area(&[a, c, d], &rest.positions);
        let stiffness = shear * 2.0 * quad_area / (p * q);
        push([a, c], stiffness);
        push([b, d], stiffness);
    }
    springs
}

/// Bends of a piece of cloth: energy B κ²/2 per area, κ = turning angle / mean length, on a strip as wide as its two edges'.
pub(super) fn bends(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Bends {
    let edge_number = |a: u32, b: u32| topology.edges.binary_search(&[a.min(b), a.max(b)]).ok();
    let width = |a: u32, b: u32| {
        let triangles = edge_number(a, b).map_or([NO_FACE; 2], |e| topology.edge_triangles[e]);
        strip_area(&triangles, topology, &rest.positions) / length([a, b], rest)
    };
    let mut bends = Bends::default();
    for &[a, b, c] in &topology.straights {
        let (la, lc) = (length([a, b], rest), length([b, c], rest));
        let c2 = 0.5 * (warp_share([a, b], rest) + warp_share([b, c], rest));
        let rigidity = 1e-6 * (fabric.bending_warp * c2 + fabric.bending_weft * (1.0 - c2));
        let stiffness = rigidity * (width(a, b) + width(b, c)) / (la + lc);
        bends.points.push([a, b, c]);
        bends.inverse_lengths.push([1.0 / la, 1.0 / lc]);
        bends.rest.push(0.0);
        bends.stiffness.push(stiffness);
        bends.damping.push(1e-3 * fabric.bending_damping * stiffness);
    }
    bends
}

/// Twists of a piece of cloth whose fabric has a twisting rigidity: energy ½ 4 D66 κ² per area of every quad, κ the twist between its sides. Triangles that found no partner have none.
///
/// A quad whose sides lie at an angle θ to the warp has the rigidity of a plate in these axes, (D11 + D22 - 2 D66) s² c² + D66 (s⁴ + c⁴) with
/// s = sin θ and c = cos θ (Jones, Mechanics of Composite Materials, eq. 2.85).
pub(super) fn twists(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Twists {
    let mut twists = Twists::default();
    let Some(twist) = fabric.bending_twist else { return twists };
    let [warp, weft, twist] = [fabric.bending_warp, fabric.bending_weft, twist].map(|d| 1e-6 * d);
    for &quad @ [a, b, c, d] in &topology.quads {
        let c2 = 0.5 * (warp_share([a, b], rest) + warp_share([d, c], rest));
        let s2 = 1.0 - c2;
        let rigidity = (warp + weft - 2.0 * twist) * s2 * c2 + twist * (s2 * s2 + c2 * c2);
        let sides = 0.25
            * (length([a, b], rest) + length([c, d], rest))
            * (length([b, c], rest) + length([d, a], rest));
        let quad_area = area(&[a, b, c], &rest.positions) + area(&[a, c, d], &rest.positions);
        // Twice the gap between the diagonals is the twist times the sides.
        let stiffness = 4.0 * rigidity * quad_area / (sides * sides);
        twists.points.push(quad);
        twists.crossings.push(crossing(quad.map(|i| rest.positions[i as usize])));
        twists.rest.push(0.0);
        twists.stiffness.push(stiffness);
        twists.damping.push(1e-3 * fabric.bending_damping * stiffness);
    }
    twists
}

/// Where the diagonals of a quad cross that is laid flat along the first: shares of the ways from its first corner to the third, and from the second to the fourth.
fn crossing([a, b, c, d]: [DVec3; 4]) -> [f64; 2] {
    let along = c - a;
    let foot = |p: DVec3| (p - a).dot(along) / along.length_squared();
    let height = |p: DVec3| along.cross(p - a).length();
    let second = height(b) / (height(b) + height(d));
    [foot(b) + second * (foot(d) - foot(b)), second]
}

/// cos² of the angle between an edge and the warp, in material coordinates where there are any, else against x.
fn warp_share([a, b]: [u32; 2], rest: &Mesh) -> f64 {
    let (a, b) = (a as usize, b as usize);
    let (along, squared) = match (rest.material.get(a), rest.material.get(b)) {
        (Some(p), Some(q)) => (q[0] - p[0], (q[0] - p[0]).powi(2) + (q[1] - p[1]).powi(2)),
        _ => {
            let e = rest.positions[b] - rest.positions[a];
            (e.x, e.length_squared())
        }
    };
    if squared > 0.0 { along * along / squared } else { 0.5 }
}

fn length([a, b]: [u32; 2], rest: &Mesh) -> f64 {
    rest.positions[a as usize].distance(rest.positions[b as usize])
}

fn strip_area(triangles: &[u32; 2], topology: &Topology, x: &[DVec3]) -> f64 {
    triangles.iter().filter(|t| **t != NO_FACE).map(|&t| area(&topology.triangles[t as usize], x)).sum()
}

fn area(triangle: &[u32; 3], x: &[DVec3]) -> f64 {
    let [a, b, c] = triangle.map(|i| x[i as usize]);
    0.5 * (b - a).cross(c - a).length()
}
