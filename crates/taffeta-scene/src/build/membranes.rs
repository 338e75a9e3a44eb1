//! Other ways to make elements of a fabric: triangles (P4), and Choi & Ko's springs (P3).

use super::elements::{bends, shear_stiffness, springs};
use crate::Mesh;
use taffeta::math::DVec3;
use taffeta::model::topology::Topology;
use taffeta::model::{Buckles, Fabric, Membranes, Springs};

/// Membranes of a piece of cloth: every triangle on its part of the fabric.
pub(super) fn membranes(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> Membranes {
    let count = topology.triangles.len();
    Membranes {
        points: topology.triangles.clone(),
        material: topology.triangles.iter().map(|t| on_fabric(t, rest)).collect(),
        stiffness: vec![[fabric.warp, fabric.weft, shear_stiffness(fabric)]; count],
        damping_time: vec![1e-3 * fabric.damping; count],
    }
}

/// Where a triangle lies on the fabric: by its material coordinates if they have its size, else laid flat with the warp along x.
pub(super) fn on_fabric(triangle: &[u32; 3], rest: &Mesh) -> [[f64; 2]; 3] {
    let [a, b, c] = triangle.map(|i| rest.positions[i as usize]);
    let normal = (b - a).cross(c - a);
    if let [Some(&p), Some(&q), Some(&r)] = triangle.map(|i| rest.material.get(i as usize)) {
        let doubled = (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]);
        if (doubled.abs() / normal.length() - 1.0).abs() < 0.1 {
            return [p, q, r];
        }
    }
    let n = normal.normalize_or(DVec3::Y);
    // Where the warp stands across the triangle any direction is as good.
    let warp = DVec3::X - n * n.x;
    let u = if warp.length_squared() > 1e-4 { warp.normalize() } else { n.any_orthonormal_vector() };
    let v = n.cross(u);
    [a, b, c].map(|p| [(p - a).dot(u), (p - a).dot(v)])
}

/// Choi & Ko's springs: stretch along edges and diagonals, buckling along pairs of edges.
///
/// Every edge is part of two strips, so each has half the rigidity. The ramp is as stiff as the stretch, as Choi & Ko advise.
pub(super) fn choi_ko(topology: &Topology, rest: &Mesh, fabric: &Fabric) -> (Springs, Buckles) {
    let stretches = springs(topology, rest, fabric);
    let bends = bends(topology, rest, fabric);
    let stiffest = stretches.stiffness[..topology.edges.len()].iter().copied().fold(0.0, f64::max);
    let mut buckles = Buckles::default();
    for (b, &[a, _, c]) in bends.points.iter().enumerate() {
        let length: f64 = bends.inverse_lengths[b].iter().map(|i| 1.0 / i).sum();
        buckles.ends.push([a, c]);
        buckles.rest_length.push(length);
        // Moment per angle × mean length is rigidity × width.
        buckles.bending.push(0.5 * bends.stiffness[b] * 0.5 * length);
        buckles.ramp.push(stiffest);
        buckles.damping.push(0.0);
    }
    (stretches, buckles)
}
