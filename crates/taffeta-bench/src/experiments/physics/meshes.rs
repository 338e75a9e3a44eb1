//! Strips for methods that work on triangles: as a grid, skewed, and with points scattered.

use taffeta::math::{DVec3, random::Random};
use taffeta_scene::Mesh;

/// How the triangles of a strip lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lay {
    /// As the cells of a grid.
    Grid,
    /// The same, but columns lean by up to a third of a cell either way.
    Skewed,
    /// Points inside are up to 0.3 of a cell from where a grid has them, and cells are cut along their shorter diagonals.
    Scattered,
}

impl Lay {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Grid, Self::Skewed, Self::Scattered];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Skewed => "skewed",
            Self::Scattered => "scattered",
        }
    }
}

/// A flat strip of `size` [m] along x and z in `cells`, its points row by row. Its ends and the column after the first are straight, for clamps.
pub fn strip(lay: Lay, size: [f64; 2], cells: [u32; 2]) -> Mesh {
    let [along, across] = cells;
    let cell = [size[0] / f64::from(along), size[1] / f64::from(across)];
    let mut random = Random::new(5);
    let mut material = Vec::new();
    for j in 0..=across {
        for i in 0..=along {
            let (inside, inner) = ((2..along).contains(&i), (1..across).contains(&j));
            let lean = 2.0 * f64::from(j) / f64::from(across) - 1.0;
            let [u, v] = [random.between(-0.3, 0.3), random.between(-0.3, 0.3)];
            let (u, v) = match lay {
                Lay::Skewed if inside => (lean / 3.0, 0.0),
                Lay::Scattered if inside => (u, if inner { v } else { 0.0 }),
                _ => (0.0, 0.0),
            };
            material.push([cell[0] * (f64::from(i) + u), cell[1] * (f64::from(j) + v)]);
        }
    }
    let apart = |a: u32, b: u32| {
        let [p, q] = [a, b].map(|i| material[i as usize]);
        (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2)
    };
    let mut triangles = Vec::new();
    for a in (0..across).flat_map(|j| (0..along).map(move |i| j * (along + 1) + i)) {
        let [b, c, d] = [a + 1, a + along + 2, a + along + 1];
        let other = apart(b, d) < apart(a, c) * (1.0 - 1e-9);
        triangles.extend(if other { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] });
    }
    Mesh {
        positions: material.iter().map(|[u, v]| DVec3::new(*u, 0.0, -v)).collect(),
        triangles,
        material,
        ..Mesh::default()
    }
}
