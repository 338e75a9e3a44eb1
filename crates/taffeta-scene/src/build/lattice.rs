//! Soft solids as lattices of springs (P4's sponge).

use super::shapes::Blank;
use crate::scene::{Lattice, Mesh};
use taffeta::math::DVec3;
use taffeta::model::Springs;
use taffeta::model::topology::Topology;

/// The particles of a lattice, x fastest, centred; its surface as quads that look outwards.
pub(super) fn blank(lattice: &Lattice) -> Blank {
    let [nx, ny, nz] = lattice.cells;
    let [sx, sy, sz] = lattice.size;
    let mut mesh = Mesh::default();
    for k in 0..=nz {
        for j in 0..=ny {
            for i in 0..=nx {
                let share = |at: u32, cells: u32| f64::from(at) / f64::from(cells) - 0.5;
                mesh.positions.push(DVec3::new(sx * share(i, nx), sy * share(j, ny), sz * share(k, nz)));
            }
        }
    }
    let at = |i: u32, j: u32, k: u32| i + (nx + 1) * (j + (ny + 1) * k);
    for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
        mesh.quads.push([at(i, j, 0), at(i, j + 1, 0), at(i + 1, j + 1, 0), at(i + 1, j, 0)]);
        mesh.quads.push([at(i, j, nz), at(i + 1, j, nz), at(i + 1, j + 1, nz), at(i, j + 1, nz)]);
    }
    for (j, k) in (0..ny).flat_map(|j| (0..nz).map(move |k| (j, k))) {
        mesh.quads.push([at(0, j, k), at(0, j, k + 1), at(0, j + 1, k + 1), at(0, j + 1, k)]);
        mesh.quads.push([at(nx, j, k), at(nx, j + 1, k), at(nx, j + 1, k + 1), at(nx, j, k + 1)]);
    }
    for (i, k) in (0..nx).flat_map(|i| (0..nz).map(move |k| (i, k))) {
        mesh.quads.push([at(i, 0, k), at(i + 1, 0, k), at(i + 1, 0, k + 1), at(i, 0, k + 1)]);
        mesh.quads.push([at(i, ny, k), at(i, ny, k + 1), at(i + 1, ny, k + 1), at(i + 1, ny, k)]);
    }
    Blank::at_rest(mesh)
}

/// Mass of every particle [kg]: an eighth of each of its cells.
pub(super) fn masses(lattice: &Lattice) -> Vec<f64> {
    let [nx, ny, nz] = lattice.cells;
    let size: f64 = lattice.size.iter().product();
    let cell = lattice.density * size / (f64::from(nx) * f64::from(ny) * f64::from(nz));
    let mut mass = vec![0.0; ((nx + 1) * (ny + 1) * (nz + 1)) as usize];
    each_cell(lattice, |corners| corners.iter().for_each(|i| mass[*i as usize] += cell / 8.0));
    mass
}

/// Springs along the edges of cells and both diagonals of their faces.
///
/// On cubes of side a with the stiffness k for all of them the moduli are C11 = 3 k/a and C12 = C44 = k/a: the same in all directions, with
/// Poisson's ratio 1/4 and Young's modulus 5/2 k/a. So k = 2/5 E a, of which every cell around gives its share.
pub(super) fn springs(lattice: &Lattice, rest: &Mesh) -> Springs {
    let side = (0..3).map(|axis| lattice.size[axis] / f64::from(lattice.cells[axis]));
    let stiffness = 0.4 * lattice.modulus * side.product::<f64>().cbrt();
    let mut shares: Vec<([u32; 2], f64)> = Vec::new();
    each_cell(lattice, |corners| {
        for (p, q) in (0..8usize).flat_map(|p| (p + 1..8).map(move |q| (p, q))) {
            // Corners are numbered by three bits: an edge differs in one of them, a diagonal of a face in two.
            let share = match (p ^ q).count_ones() {
                1 => 0.25,
                2 => 0.5,
                _ => continue,
            };
            let (a, b) = (corners[p], corners[q]);
            shares.push(([a.min(b), a.max(b)], share));
        }
    });
    shares.sort_by_key(|(ends, _)| *ends);
    let mut springs = Springs::default();
    for same in shares.chunk_by(|a, b| a.0 == b.0) {
        let ends = same[0].0;
        let k = stiffness * same.iter().map(|(_, share)| share).sum::<f64>();
        let [a, b] = ends.map(|i| rest.positions[i as usize]);
        springs.ends.push(ends);
        springs.rest_length.push(a.distance(b));
        springs.stiffness.push(k);
        springs.damping.push(1e-3 * lattice.damping * k);
    }
    springs
}

/// The surface of a lattice has no edges of its own: their strain is that of a soft solid.
pub(super) fn surface(mut topology: Topology) -> Topology {
    topology.edges.clear();
    topology.edge_triangles.clear();
    topology.straights.clear();
    topology
}

fn each_cell(lattice: &Lattice, mut of: impl FnMut([u32; 8])) {
    let [nx, ny, nz] = lattice.cells;
    let at = |i: u32, j: u32, k: u32| i + (nx + 1) * (j + (ny + 1) * k);
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                of(std::array::from_fn(|c| {
                    let c = c as u32;
                    at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))
                }));
            }
        }
    }
}
