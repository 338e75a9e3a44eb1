//! What a scene will take of a machine's memory, told before it is built.

use super::Scene;
use super::cloth::Cloth;
use super::mesh::Mesh;
use std::collections::BTreeMap;

/// Bytes that a particle takes with its edges, triangles and copies of its state while its scene is built and steps are taken, and bytes for every pair of
/// things that may touch. Fitted to peaks of `drape` with 200 × 200 to 700 × 700 particles (2870 to 3340 a particle) and of `flag` with 500 to 2000 columns, whose
/// pairs take most of it. Implicit methods may take more.
const OF_PARTICLE: f64 = 2200.0;
const OF_PAIR: f64 = 200.0;

/// Pairs of a particle where cells are square.
const SQUARE: f64 = 4.0;

impl Scene {
    /// About how many bytes a simulation of it takes.
    pub fn memory_estimate(&self, meshes: &BTreeMap<String, Mesh>) -> u64 {
        let square = OF_PARTICLE + OF_PAIR * SQUARE;
        let narrow = self
            .cloth
            .iter()
            .filter_map(|cloth| Some(cloth.particle_count()? as f64 * OF_PAIR * (pairs(cloth) - SQUARE)));
        (self.particle_estimate(meshes) as f64 * square + narrow.sum::<f64>()) as u64
    }
}

/// Pairs of a particle: contacts are looked for as far as the longer side of a cell, which reaches over many cells that are narrow.
fn pairs(cloth: &Cloth) -> f64 {
    let Some(sheet) = &cloth.sheet else { return SQUARE };
    let spacing = |length: f64, count: u32| length / f64::from(count.max(2) - 1);
    let (across, along) = (spacing(sheet.width, sheet.columns), spacing(sheet.height, sheet.rows));
    let reach = across.max(along);
    (1.0 + reach / across) * (1.0 + reach / along)
}
